//! The kernels' device side (`kernels/src/gpu`) through its probe kernels: what each facet gives is
//! compared with what CUDA says it must be, on the simulator and, where there is one, on the GPU.

mod support;

use std::rc::Rc;

use bytemuck::Pod;
use support::on_every_device;
use warplab::{
    device::{Buffer, Device},
    launch::LaunchConfig,
};

const WARP: usize = 32;

/// An output whose bytes no probe writes by chance.
fn poisoned<T: Pod>(device: &Rc<dyn Device>, len: usize) -> Buffer<T> {
    let mut buffer = Buffer::new(device, len).unwrap();
    buffer.fill(0xcd).unwrap();
    buffer
}

fn input<T: Pod>(device: &Rc<dyn Device>, values: &[T]) -> Buffer<T> {
    Buffer::from_slice(device, values).unwrap()
}

#[test]
fn indices_of_every_axis() {
    let ([bx, by, bz], [gx, gy, gz]) = ([7_u64, 3, 2], [3_u64, 2, 2]);
    let pack = |[x, y, z]: [u64; 3]| x | y << 20 | z << 40;
    let threads = bx * by * bz;
    let mut expected = Vec::new();
    for block in 0..gx * gy * gz {
        for thread in 0..threads {
            let t = [thread % bx, thread / bx % by, thread / (bx * by)];
            let b = [block % gx, block / gx % gy, block / (gx * gy)];
            expected.extend([
                b[0] * bx + t[0],
                b[1] * by + t[1],
                b[2] * bz + t[2],
                block * threads + thread,
                thread,
                threads,
                block,
                gx * bx,
                thread % WARP as u64,
                pack(t),
                pack(b),
                pack([bx, by, bz]),
                pack([gx, gy, gz]),
            ]);
        }
    }
    on_every_device(|device| {
        let mut out = poisoned::<u64>(device, expected.len());
        let config = LaunchConfig::new((3, 2, 2), (7, 3, 2));
        device
            .launch(kernels::PROBE_INDICES, config, (&mut out,))
            .unwrap();
        assert_eq!(out.to_vec().unwrap(), expected);
    });
}

#[test]
fn barriers_count_and_combine_over_the_block() {
    // Blocks of two warps and a part: some predicates hold, all, none.
    let block = 70;
    let predicates: Vec<u32> = (0..3 * block)
        .map(|i| [u32::from(i % 3 == 0), 5, 0][i / block])
        .collect();
    let expected: Vec<u32> = predicates
        .chunks(block)
        .flat_map(|block| {
            let count = block.iter().filter(|&&p| p != 0).count();
            let record = [
                count as u32,
                u32::from(count == block.len()),
                u32::from(count > 0),
                3,
            ];
            record.repeat(block.len())
        })
        .collect();
    on_every_device(|device| {
        let predicates = input(device, &predicates);
        let mut out = poisoned(device, expected.len());
        let config = LaunchConfig::new(3, block as u32);
        device
            .launch(kernels::PROBE_BARRIERS, config, (&predicates, &mut out))
            .unwrap();
        assert_eq!(out.to_vec().unwrap(), expected);
    });
}

#[test]
fn one_barrier_between_two_branches_stays_one() {
    on_every_device(|device| {
        let half = 48_u32;
        let mut x = input(device, &(0..2 * half).collect::<Vec<_>>());
        let config = LaunchConfig::new(1, 100);
        device
            .launch(
                kernels::PROBE_BARRIER_BETWEEN_BRANCHES,
                config,
                (half, &mut x),
            )
            .unwrap();
        let expected: Vec<u32> = (half..2 * half).chain(0..half).collect();
        assert_eq!(x.to_vec().unwrap(), expected);
    });
}

#[test]
fn clocks_advance_and_sms_are_numbered() {
    on_every_device(|device| {
        let (rounds, threads) = (1000_u32, 4 * 64);
        let mut out = poisoned::<u64>(device, 6 * threads);
        let config = LaunchConfig::new(4, 64);
        device
            .launch(kernels::PROBE_CLOCKS, config, (rounds, &mut out))
            .unwrap();
        for record in out.to_vec().unwrap().chunks(6) {
            let [cycles, cycles64, nanoseconds, sm, sms, _] = record else {
                unreachable!("chunks of 6");
            };
            assert!((1000..1 << 30).contains(cycles), "{record:?}");
            assert!((1000..1 << 30).contains(cycles64), "{record:?}");
            assert!(*nanoseconds < 1_000_000_000, "{record:?}");
            assert!(sm < sms, "{record:?}");
        }
    });
}

/// Value and flag that lane `this` gets by idx, up, down and xor.
fn shuffled(this: usize, lane: usize, width: usize) -> [(usize, bool); 4] {
    let first = this / width * width;
    let last = first + width - 1;
    let own = |source: usize, in_range: bool| (if in_range { source } else { this }, in_range);
    [
        (first + lane % width, true),
        own(this.wrapping_sub(lane), this >= first + lane),
        own(this + lane, this + lane <= last),
        own(this ^ lane, this ^ lane <= last),
    ]
}

macro_rules! shuffles {
    ($($test:ident $handle:ident $ty:ty;)*) => {$(
        #[test]
        fn $test() {
            on_every_device(|device| {
                let values: Vec<$ty> = (0..2 * WARP).map(|i| <$ty>::MAX / 64 as $ty * i as $ty).collect();
                let given = input(device, &values);
                for (lane, width) in [(0, 32), (1, 32), (5, 16), (3, 8), (1, 4), (1, 2), (31, 32)] {
                    let mut got = poisoned::<$ty>(device, 4 * values.len());
                    let mut flags = poisoned::<u32>(device, 4 * values.len());
                    let arguments = (lane as u32, width as u32, &given, &mut got, &mut flags);
                    device
                        .launch(kernels::$handle, LaunchConfig::new(1, 64), arguments)
                        .unwrap();
                    let (got, flags) = (got.to_vec().unwrap(), flags.to_vec().unwrap());
                    for i in 0..values.len() {
                        let expected = shuffled(i % WARP, lane, width);
                        for (k, (source, in_range)) in expected.into_iter().enumerate() {
                            let value = values[i / WARP * WARP + source];
                            assert_eq!(
                                (got[4 * i + k], flags[4 * i + k]),
                                (value, u32::from(in_range)),
                                "thread {i}, way {k}, lane {lane}, width {width}"
                            );
                        }
                    }
                }
            });
        }
    )*};
}

shuffles! {
    shuffles_of_u32 PROBE_SHUFFLES_U32 u32;
    shuffles_of_i32 PROBE_SHUFFLES_I32 i32;
    shuffles_of_f32 PROBE_SHUFFLES_F32 f32;
    shuffles_of_u64 PROBE_SHUFFLES_U64 u64;
    shuffles_of_i64 PROBE_SHUFFLES_I64 i64;
    shuffles_of_f64 PROBE_SHUFFLES_F64 f64;
}

macro_rules! matches {
    ($($test:ident $handle:ident $ty:ty;)*) => {$(
        #[test]
        fn $test() {
            // Three values in the first warp, one in the second; 64-bit ones differ in both halves.
            let class = |i: usize| if i < WARP { i % 3 } else { 7 };
            let values: Vec<$ty> = (0..2 * WARP).map(|i| <$ty>::MAX / 8 as $ty * class(i) as $ty).collect();
            on_every_device(|device| {
                let given = input(device, &values);
                let mut any = poisoned::<u32>(device, values.len());
                let mut all = poisoned::<u32>(device, values.len());
                device
                    .launch(kernels::$handle, LaunchConfig::new(1, 64), (&given, &mut any, &mut all))
                    .unwrap();
                let (any, all) = (any.to_vec().unwrap(), all.to_vec().unwrap());
                for i in 0..values.len() {
                    let warp = i / WARP * WARP;
                    let same = (0..WARP)
                        .filter(|lane| class(warp + lane) == class(i))
                        .fold(0, |mask, lane| mask | 1 << lane);
                    let whole = if same == u32::MAX { same } else { 0 };
                    assert_eq!((any[i], all[i]), (same, whole), "thread {i}");
                }
            });
        }
    )*};
}

matches! {
    matches_of_u32 PROBE_MATCH_U32 u32;
    matches_of_i32 PROBE_MATCH_I32 i32;
    matches_of_f32 PROBE_MATCH_F32 f32;
    matches_of_u64 PROBE_MATCH_U64 u64;
    matches_of_i64 PROBE_MATCH_I64 i64;
    matches_of_f64 PROBE_MATCH_F64 f64;
}

#[test]
fn votes_over_the_warp_and_over_a_part_of_it() {
    let warps = [0b1011_u32 << 7, u32::MAX, 0];
    let predicates: Vec<u32> = (0..3 * WARP)
        .map(|i| warps[i / WARP] >> (i % WARP) & 1)
        .collect();
    on_every_device(|device| {
        let given = input(device, &predicates);
        let mut out = poisoned::<u32>(device, 8 * predicates.len());
        let config = LaunchConfig::new(1, predicates.len() as u32);
        device
            .launch(kernels::PROBE_VOTES, config, (&given, &mut out))
            .unwrap();
        for (i, record) in out.to_vec().unwrap().chunks(8).enumerate() {
            let (ballot, lane) = (warps[i / WARP], (i % WARP) as u32);
            let (all, none) = (ballot == u32::MAX, ballot == 0);
            let expected = [
                u32::from(all),
                u32::from(!none),
                u32::from(all || none),
                ballot,
                if lane % 2 == 0 {
                    ballot & 0x5555_5555
                } else {
                    0
                },
                1,
                lane,
                ballot,
            ];
            assert_eq!(record, expected, "thread {i}");
        }
    });
}

#[test]
fn shared_memory_static_and_dynamic() {
    on_every_device(|device| {
        for block in [1_usize, 96, 1024] {
            let config = LaunchConfig::new(2, block as u32);
            let values: Vec<u32> = (0..2 * block as u32).collect();
            let mut x = input(device, &values);
            device
                .launch(kernels::PROBE_SHARED_STATIC, config, (&mut x,))
                .unwrap();
            let reversed: Vec<u32> = values
                .chunks(block)
                .flat_map(|block| block.iter().rev().copied())
                .collect();
            assert_eq!(x.to_vec().unwrap(), reversed);

            let given = 8 * block as u32;
            let mut x = input(
                device,
                &values.iter().map(|&v| v.into()).collect::<Vec<f64>>(),
            );
            let mut bytes = poisoned::<u32>(device, 1);
            device
                .launch(
                    kernels::PROBE_SHARED_DYNAMIC,
                    config.with_dynamic_shared(given),
                    (&mut x, &mut bytes),
                )
                .unwrap();
            let reversed: Vec<f64> = reversed.into_iter().map(f64::from).collect();
            assert_eq!(x.to_vec().unwrap(), reversed);
            assert_eq!(bytes.to_vec().unwrap(), [given]);
        }
    });
}

#[test]
fn every_cache_hint_copies() {
    macro_rules! copies {
        ($device:ident: $($handle:ident $ty:ty;)*) => {$(
            let values: Vec<$ty> = (0..64).map(|i| i as $ty * 3 as $ty).collect();
            let given = input($device, &values);
            let mut out = poisoned::<$ty>($device, 10 * values.len());
            $device
                .launch(kernels::$handle, LaunchConfig::new(2, 32), (&given, &mut out))
                .unwrap();
            let expected: Vec<$ty> = values.iter().flat_map(|&value| [value; 10]).collect();
            assert_eq!(out.to_vec().unwrap(), expected);
        )*};
    }
    on_every_device(|device| {
        copies! { device:
            PROBE_CACHE_U32 u32;
            PROBE_CACHE_F32 f32;
            PROBE_CACHE_U64 u64;
            PROBE_CACHE_F64 f64;
        }
        let values: Vec<f32> = (0..4 * 64).map(|i| i as f32).collect();
        let given = input(device, &values);
        let mut out = poisoned::<f32>(device, 44 * 64);
        let config = LaunchConfig::new(2, 32);
        device
            .launch(
                kernels::PROBE_CACHE_FLOAT4,
                config,
                (64_u64, &given, &mut out),
            )
            .unwrap();
        let mut expected: Vec<f32> = values.chunks(4).flat_map(|v| v.repeat(10)).collect();
        expected.extend(&values);
        assert_eq!(out.to_vec().unwrap(), expected);
    });
}

#[test]
fn messages_between_blocks_arrive() {
    on_every_device(|device| {
        let mut flags = input(device, &[0_u32; 5]);
        let mut data = poisoned::<u32>(device, 10);
        let config = LaunchConfig::new(2, 64);
        device
            .launch(
                kernels::PROBE_MESSAGES,
                config,
                (77_u32, &mut flags, &mut data),
            )
            .unwrap();
        assert_eq!(data.to_vec().unwrap(), [77; 10]);
    });
}

const ATOMIC: (u32, u32) = (4, 96);
const THREADS: usize = 4 * 96;

macro_rules! integer_atomics {
    ($($test:ident $handle:ident $ty:ty;)*) => {$(
        #[test]
        fn $test() {
            on_every_device(|device| {
                let launch = |values: &[$ty], x: &[$ty; 9]| {
                    let given = input(device, values);
                    let (mut x, mut old) = (input(device, x), poisoned::<$ty>(device, THREADS));
                    device
                        .launch(
                            kernels::$handle,
                            LaunchConfig::new(ATOMIC.0, ATOMIC.1),
                            (&given, &mut x, &mut old),
                        )
                        .unwrap();
                    (x.to_vec().unwrap(), old.to_vec().unwrap())
                };
                let (_, mut old) = launch(&[1; THREADS], &[0; 9]);
                old.sort_unstable();
                assert!(old.into_iter().eq(0..THREADS as $ty), "each sum was seen once");

                // Some of them negative, where the type has them, and some beyond 32 bits.
                let values: Vec<$ty> = (0..THREADS as $ty)
                    .map(|i| (i + 7).wrapping_mul(0x9e37_79b9_7f4a_7c15_u64 as $ty))
                    .collect();
                let start: [$ty; 9] = [5, 100, 100, !0, 0, 9, 11, 13, 15];
                let (x, _) = launch(&values, &start);
                let fold = |k: usize, f: fn($ty, $ty) -> $ty| values.iter().fold(start[k], |a, &v| f(a, v));
                assert_eq!(x[0], fold(0, <$ty>::wrapping_add));
                assert_eq!(x[1], fold(1, |a, v| a.min(v)));
                assert_eq!(x[2], fold(2, |a, v| a.max(v)));
                assert_eq!(x[3], fold(3, |a, v| a & v));
                assert_eq!(x[4], fold(4, |a, v| a | v));
                assert_eq!(x[5], fold(5, |a, v| a ^ v));
                assert!(values.contains(&x[6]), "one of the values stays");
                assert_eq!(
                    x[6].wrapping_add(x[7]),
                    fold(6, <$ty>::wrapping_add).wrapping_add(start[7])
                );
                assert_eq!(x[8], fold(8, <$ty>::wrapping_add));
            });
        }
    )*};
}

integer_atomics! {
    atomics_on_u32 PROBE_ATOMICS_U32 u32;
    atomics_on_i32 PROBE_ATOMICS_I32 i32;
    atomics_on_u64 PROBE_ATOMICS_U64 u64;
    atomics_on_i64 PROBE_ATOMICS_I64 i64;
}

macro_rules! float_atomics {
    ($($test:ident $handle:ident $ty:ty;)*) => {$(
        #[test]
        fn $test() {
            on_every_device(|device| {
                let values: Vec<$ty> = (0..THREADS).map(|i| i as $ty - 50.0).collect();
                let given = input(device, &values);
                let mut x = input::<$ty>(device, &[1.0, 2.0, 3.0, 4.0]);
                let config = LaunchConfig::new(ATOMIC.0, ATOMIC.1);
                device.launch(kernels::$handle, config, (&given, &mut x)).unwrap();
                let (x, sum) = (x.to_vec().unwrap(), values.iter().sum::<$ty>());
                assert_eq!((x[0], x[1] + x[2], x[3]), (1.0 + sum, 5.0 + sum, 4.0 + sum));
                assert!(values.contains(&x[1]), "one of the values stays");
            });
        }
    )*};
}

float_atomics! {
    atomics_on_f32 PROBE_ATOMICS_F32 f32;
    atomics_on_f64 PROBE_ATOMICS_F64 f64;
}

#[test]
fn atomics_in_every_order_and_scope_and_in_shared_memory() {
    on_every_device(|device| {
        let mut x = input(device, &[9_u32; 12]);
        let config = LaunchConfig::new(1, 96);
        device
            .launch(kernels::PROBE_ATOMIC_SCOPES, config, (&mut x,))
            .unwrap();
        assert_eq!(x.to_vec().unwrap(), [9 + 96; 12]);

        let start = 1_u64 << 40 | 50;
        let mut out = poisoned::<u64>(device, 32);
        device
            .launch(
                kernels::PROBE_ATOMIC_SHARED,
                LaunchConfig::new(2, 96),
                (start, &mut out),
            )
            .unwrap();
        for block in out.to_vec().unwrap().chunks(16) {
            assert_eq!(block[..12], [start + 96; 12]);
            assert_eq!(block[12..15], [0, start, start | 127]);
            assert!(block[15] < 96, "one of the threads' numbers stays");
        }
    });
}

/// Runs a test in clusters on the simulated H200, and on the GPU if it has them.
fn on_every_device_with_clusters(test: impl Fn(&Rc<dyn Device>)) {
    on_every_device(|device| {
        let properties = device.properties();
        if properties.limits.max_cluster == 0 {
            let (major, minor) = properties.compute_capability;
            eprintln!(
                "skipped on {}: clusters need compute capability 9.0, it has {major}.{minor}",
                properties.name
            );
            return;
        }
        test(device);
    });
}

#[test]
fn clusters_number_their_blocks() {
    let grid = [8_u32, 4, 2];
    on_every_device_with_clusters(|device| {
        for cluster in [
            None,
            Some([2_u32, 1, 1]),
            Some([2, 2, 2]),
            Some([4, 2, 2]),
            Some([1, 4, 1]),
        ] {
            let [cx, cy, cz] = cluster.unwrap_or([1; 3]);
            if cx * cy * cz > device.properties().limits.max_cluster {
                continue;
            }
            let mut expected = Vec::new();
            for block in 0..grid.iter().product() {
                let [x, y, z] = [
                    block % grid[0],
                    block / grid[0] % grid[1],
                    block / (grid[0] * grid[1]),
                ];
                let inside = [x % cx, y % cy, z % cz];
                let record = [
                    inside,
                    [cx, cy, cz],
                    [x / cx, y / cy, z / cz],
                    [grid[0] / cx, grid[1] / cy, grid[2] / cz],
                    [
                        (inside[2] * cy + inside[1]) * cx + inside[0],
                        cx * cy * cz,
                        cx * cy * cz - 1,
                    ],
                ]
                .concat();
                expected.extend(record.repeat(3));
            }
            let mut out = poisoned::<u32>(device, expected.len());
            let config = LaunchConfig {
                cluster: cluster.map(|[x, y, z]| (x, y, z).into()),
                ..LaunchConfig::new((grid[0], grid[1], grid[2]), 3)
            };
            device
                .launch(kernels::PROBE_CLUSTER_RANKS, config, (&mut out,))
                .unwrap();
            assert_eq!(out.to_vec().unwrap(), expected, "{cluster:?}");
        }
    });
}

#[test]
fn blocks_of_a_cluster_exchange_through_their_shared_memory() {
    on_every_device_with_clusters(|device| {
        for (cluster, block) in [
            (1_u32, 512_u32),
            (2, 1),
            (2, 100),
            (4, 512),
            (8, 33),
            (16, 64),
        ] {
            if cluster > device.properties().limits.max_cluster {
                continue;
            }
            let blocks = 3 * cluster;
            let values: Vec<u32> = (0..blocks * block)
                .map(|i| i.wrapping_mul(0x9e37_79b9))
                .collect();
            let mut x = input(device, &values);
            let config = LaunchConfig::new(blocks, block).with_cluster(cluster);
            device
                .launch(kernels::PROBE_CLUSTER_EXCHANGE, config, (&mut x,))
                .unwrap();
            let expected: Vec<u32> = (0..blocks * block)
                .map(|i| {
                    let (at, thread) = (i / block, i % block);
                    let first = at / cluster * cluster;
                    let before = first + (at - first + cluster - 1) % cluster;
                    values[(before * block + thread) as usize]
                })
                .collect();
            assert_eq!(
                x.to_vec().unwrap(),
                expected,
                "clusters of {cluster}, blocks of {block}"
            );
        }
    });
}

#[test]
fn the_clusters_barrier_works_in_halves() {
    on_every_device_with_clusters(|device| {
        for (cluster, block, rounds, work) in [
            (1_u32, 96_u32, 5_u32, 3_u32),
            (2, 64, 50, 0),
            (4, 33, 20, 7),
            (8, 128, 20, 1),
        ] {
            let blocks = 2 * cluster;
            let values: Vec<u64> = (0..u64::from(blocks * block)).map(|i| i * i + 1).collect();
            let given = input(device, &values);
            let mut out = poisoned::<u64>(device, values.len());
            let config = LaunchConfig::new(blocks, block).with_cluster(cluster);
            device
                .launch(
                    kernels::PROBE_CLUSTER_SPLIT,
                    config,
                    (rounds, work, &given, &mut out),
                )
                .unwrap();
            let (rounds, work) = (u64::from(rounds), u64::from(work));
            let expected: Vec<u64> = values
                .chunks((cluster * block) as usize)
                .flat_map(|cluster| {
                    let sum = rounds * (cluster.iter().sum::<u64>() + work);
                    vec![sum; cluster.len()]
                })
                .collect();
            assert_eq!(out.to_vec().unwrap(), expected, "clusters of {cluster}");
        }
    });
}

#[test]
fn atomics_on_another_blocks_shared_memory() {
    on_every_device_with_clusters(|device| {
        for (cluster, block) in [(1_u32, 32_u32), (2, 70), (8, 256)] {
            let blocks = 4 * cluster;
            let values: Vec<u64> = (0..u64::from(blocks * block))
                .map(|i| i * 7919 % 1009 + 1)
                .collect();
            let given = input(device, &values);
            let mut out = poisoned::<u64>(device, 4 * blocks as usize);
            let config = LaunchConfig::new(blocks, block).with_cluster(cluster);
            device
                .launch(kernels::PROBE_CLUSTER_ATOMICS, config, (&given, &mut out))
                .unwrap();
            let out = out.to_vec().unwrap();
            for (values, out) in values
                .chunks((cluster * block) as usize)
                .zip(out.chunks(4 * cluster as usize))
            {
                // One block gets the sum, the others what it put there.
                let mut sums: Vec<u64> = out.iter().step_by(4).copied().collect();
                sums.sort_unstable();
                let mut expected = vec![0; cluster as usize];
                expected[cluster as usize - 1] = values.iter().sum();
                assert_eq!(sums, expected);
                for record in out.chunks(4) {
                    let largest = *values.iter().max().unwrap();
                    assert_eq!(record[1..], [largest, values.len() as u64, 7]);
                }
            }
        }
    });
}
