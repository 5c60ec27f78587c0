//! Device memory: what fits, what does not, and copies that leave their allocation.

mod support;

use support::on_every_device;
use warplab::device::{Buffer, DeviceError};

#[test]
fn contents_survive_a_round_trip() {
    on_every_device(|device| {
        let values: Vec<u64> = (0_u64..10_007)
            .map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15))
            .collect();
        let mut buffer = Buffer::from_slice(device, &values).unwrap();
        assert_eq!(buffer.address() % 256, 0);
        assert_eq!(buffer.to_vec().unwrap(), values);
        buffer.fill(0xab).unwrap();
        assert!(
            buffer
                .to_vec()
                .unwrap()
                .iter()
                .all(|&value| value == 0xabab_abab_abab_abab)
        );
    });
}

#[test]
fn empty_buffers_are_allowed() {
    on_every_device(|device| {
        let mut buffer = Buffer::<f32>::new(device, 0).unwrap();
        buffer.fill(0).unwrap();
        assert!(buffer.is_empty());
        assert_eq!(buffer.to_vec().unwrap(), Vec::<f32>::new());
    });
}

#[test]
fn more_than_is_free_is_refused_and_nothing_is_allocated() {
    on_every_device(|device| {
        for len in [1_usize << 44, usize::MAX] {
            let error = Buffer::<f64>::new(device, len)
                .err()
                .expect("no device has so much");
            let DeviceError::OutOfMemory {
                required,
                available,
                hint,
            } = error
            else {
                panic!("{error:?}");
            };
            assert_eq!(required, (len as u64).saturating_mul(8));
            assert!(available > 0 && available <= device.properties().memory_bytes);
            assert!(hint.contains("fewer elements"), "{hint}");
        }
    });
    // Only the simulator's memory is this test's alone.
    let device = support::simulated("h200");
    let before = device.free_memory().unwrap();
    assert!(Buffer::<u8>::new(&device, before as usize + 1).is_err());
    assert_eq!(device.free_memory().unwrap(), before);
    let buffer = Buffer::<u8>::new(&device, 1 << 20).unwrap();
    assert!(device.free_memory().unwrap() <= before - (1 << 20));
    drop(buffer);
    assert_eq!(device.free_memory().unwrap(), before);
}

#[test]
fn copies_outside_a_live_allocation_are_refused_alike() {
    on_every_device(|device| {
        let buffer = Buffer::from_slice(device, &[0_u8; 100]).unwrap();
        let address = buffer.address();
        let mut data = [0; 101];
        for result in [
            device.write_bytes(address, &data),
            device.read_bytes(address, &mut data),
            device.fill_bytes(address + 1, 100, 0),
        ] {
            let text = result.unwrap_err().to_string();
            assert!(
                text.contains("are not inside one live allocation"),
                "{text}"
            );
            assert!(
                text.contains(&format!("100 bytes at {address:#x}")),
                "{text}"
            );
        }
        device.read_bytes(address + 1, &mut data[..99]).unwrap();
        drop(buffer);
        assert!(device.read_bytes(address, &mut data[..1]).is_err(), "freed");
        device.free_bytes(address);
    });
}
