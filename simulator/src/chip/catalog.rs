//! The described chips, with the source of every figure.
//!
//! "Data sheet" is NVIDIA's page or data sheet of the product, "whitepaper" NVIDIA's architecture
//! whitepaper, "measured" this project's own measurements on an H200 (`results/`), "fitted" a figure
//! chosen so that the model shows those measurements, and "estimate" a figure nobody published:
//! it is taken over from the nearest chip with a known one. Papers and collections:
//!
//! - \[dewing\] github.com/markdewing/AI_kernels, `latency/README.md`: pointer chasing on V100,
//!   RTX 4090 and GH200 (the H100's die).
//! - \[luo\] Luo et al., "Benchmarking and Dissecting the Nvidia Hopper GPU Architecture via
//!   Microbenchmarking", arXiv 2402.13499: A100, RTX 4090, H100 PCIe.
//! - \[jia18\] Jia et al., "Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking",
//!   arXiv 1804.06826.
//! - \[jia19\] Jia et al., "Dissecting the NVidia Turing T4 GPU via Microbenchmarking",
//!   arXiv 1903.07486: T4, and P4 (the GTX 1080's die).

use super::{
    Chip, Latencies,
    limits::{CC_6_1, CC_7_0, CC_7_5, CC_8_0, CC_8_9, CC_9_0},
};

/// Since Volta a dependent integer or single precision instruction issues after 4 cycles, an
/// integer multiply-add after 5 \[jia18\]. What memory and L2 take differs; the rest are estimates
/// near what \[jia18\], \[jia19\] and \[luo\] list for single instructions.
const SINCE_VOLTA: Latencies = Latencies {
    integer: 4,
    integer_multiply: 5,
    float32: 4,
    float64: 8,
    special: 18,
    convert: 14,
    shared: 23,
    peer_shared: 0,
    l2: 0,
    memory: 0,
    parameter: 8,
    shuffle: 23,
    barrier: 20,
    cluster_barrier: 0,
    control: 8,
};

/// H200 SXM.
pub static H200: Chip = Chip {
    name: "h200",
    product: "NVIDIA H200 SXM 141 GB",
    compute_capability: (9, 0),
    sms: 132,                    // data sheet of the same die's H100 SXM; measured
    gpcs: 8,                     // whitepaper
    clock_ghz: 1.98,             // driver's maximum SM clock
    schedulers: 4,               // whitepaper
    block_dispatch_per_ns: 1.66, // measured
    launch_latency_ns: 500.0,    // measured: an empty kernel in a graph takes 550 ns
    block_turnaround: 100,       // fitted
    warp_start: 4,               // fitted
    l2_bytes: 60 << 20,          // as the driver reports it
    memory_bytes: 143_156 << 20, // as the driver reports it: 141 GB of stacks and more
    memory_gb_per_s: 4800.0,     // data sheet
    memory_efficiency: 0.965,    // measured: 4.63 of 4.8 TB/s, reading or writing
    memory_turnaround: 0.17,     // fitted: 4384 GB/s at two reads per write, 4201 at one
    memory_loaded_wait: 390,     // fitted
    l2_gb_per_s: 7000.0,         // estimate
    latency: Latencies {
        shared: 29,           // [luo]
        peer_shared: 180,     // [luo]
        cluster_barrier: 180, // estimate: a message to another SM, as above
        l2: 281,              // [dewing] GH200
        memory: 690,          // [dewing] GH200
        ..SINCE_VOLTA
    },
    limits: CC_9_0,
};

/// H100 SXM5, 80 GB.
pub static H100: Chip = Chip {
    name: "h100",
    product: "NVIDIA H100 SXM5 80 GB",
    l2_bytes: 50 << 20,      // data sheet
    memory_bytes: 80 << 30,  // data sheet
    memory_gb_per_s: 3352.0, // data sheet: 3.35 TB/s
    memory_efficiency: 0.93, // estimate
    // Everything else is the H200's: the same die at the same maximum clock.
    ..H200
};

/// A100 SXM4, 40 GB.
pub static A100: Chip = Chip {
    name: "a100",
    product: "NVIDIA A100 SXM4 40 GB",
    compute_capability: (8, 0),
    sms: 108, // whitepaper
    gpcs: 0,
    clock_ghz: 1.41,            // data sheet: boost
    schedulers: 4,              // whitepaper
    block_dispatch_per_ns: 1.2, // estimate: the H200's at this clock
    launch_latency_ns: 700.0,   // estimate: the H200's at this clock
    block_turnaround: 100,      // estimate: the H200's
    warp_start: 4,              // estimate: the H200's
    l2_bytes: 40 << 20,         // whitepaper
    memory_bytes: 40 << 30,     // data sheet
    memory_gb_per_s: 1555.0,    // data sheet
    memory_efficiency: 0.92,    // estimate
    memory_turnaround: 0.17,    // estimate: the H200's
    memory_loaded_wait: 390,    // estimate: the H200's
    l2_gb_per_s: 4500.0,        // estimate; the whitepaper's 5120 bytes per clock are 7219
    latency: Latencies {
        shared: 29,  // [luo]
        l2: 262,     // [luo]
        memory: 466, // [luo]
        ..SINCE_VOLTA
    },
    limits: CC_8_0,
};

/// V100 SXM2, 16 GB.
pub static V100: Chip = Chip {
    name: "v100",
    product: "NVIDIA V100 SXM2 16 GB",
    compute_capability: (7, 0),
    sms: 80, // whitepaper
    gpcs: 0,
    clock_ghz: 1.53,            // whitepaper: boost
    block_dispatch_per_ns: 1.3, // estimate: the H200's at this clock
    launch_latency_ns: 650.0,   // estimate: the H200's at this clock
    l2_bytes: 6 << 20,          // whitepaper
    memory_bytes: 16 << 30,     // data sheet
    memory_gb_per_s: 900.0,     // data sheet
    memory_efficiency: 0.90,    // estimate
    l2_gb_per_s: 2155.0,        // [jia18]
    latency: Latencies {
        shared: 19,  // [jia18]
        l2: 221,     // [dewing]
        memory: 460, // [dewing]
        ..SINCE_VOLTA
    },
    limits: CC_7_0,
    // Estimates where the A100 has them; schedulers: whitepaper.
    ..A100
};

/// GeForce RTX 4090.
pub static RTX4090: Chip = Chip {
    name: "rtx4090",
    product: "NVIDIA GeForce RTX 4090",
    compute_capability: (8, 9),
    sms: 128, // whitepaper
    gpcs: 0,
    clock_ghz: 2.52,            // data sheet: boost
    block_dispatch_per_ns: 2.1, // estimate: the H200's at this clock
    launch_latency_ns: 400.0,   // estimate: the H200's at this clock
    l2_bytes: 72 << 20,         // whitepaper
    memory_bytes: 24 << 30,     // data sheet
    memory_gb_per_s: 1008.0,    // data sheet
    memory_efficiency: 0.93,    // estimate; adds reach 0.91 (github.com/xytpai/nvbench)
    l2_gb_per_s: 5000.0,        // estimate
    latency: Latencies {
        float64: 48, // estimate: two lanes per SM
        shared: 30,  // [luo]
        l2: 296,     // [dewing]
        memory: 636, // [dewing]
        ..SINCE_VOLTA
    },
    limits: CC_8_9,
    // Estimates where the A100 has them; schedulers: whitepaper.
    ..A100
};

/// Tesla T4.
pub static T4: Chip = Chip {
    name: "t4",
    product: "NVIDIA T4 16 GB",
    compute_capability: (7, 5),
    sms: 40, // whitepaper
    gpcs: 0,
    clock_ghz: 1.59, // data sheet: boost, which its 70 W do not allow for long
    block_dispatch_per_ns: 1.3, // estimate: the H200's at this clock
    launch_latency_ns: 620.0, // estimate: the H200's at this clock
    l2_bytes: 4 << 20, // [jia19]
    memory_bytes: 16 << 30, // data sheet
    memory_gb_per_s: 320.0, // data sheet
    memory_efficiency: 0.80, // estimate
    l2_gb_per_s: 1270.0, // [jia19]
    latency: Latencies {
        float64: 48, // estimate: two lanes per SM
        shared: 19,  // [jia19]
        l2: 188,     // [jia19]
        memory: 434, // estimate
        ..SINCE_VOLTA
    },
    limits: CC_7_5,
    // Estimates where the A100 has them; schedulers: whitepaper.
    ..A100
};

/// GeForce GTX 1080. Its compute capability is 6.1, while the PTX of this project is built for
/// `sm_70`: times for it answer what such a chip would do, not what it can load.
pub static GTX1080: Chip = Chip {
    name: "gtx1080",
    product: "NVIDIA GeForce GTX 1080",
    compute_capability: (6, 1),
    sms: 20, // whitepaper
    gpcs: 0,
    clock_ghz: 1.733,           // whitepaper: boost
    block_dispatch_per_ns: 1.4, // estimate: the H200's at this clock
    launch_latency_ns: 570.0,   // estimate: the H200's at this clock
    l2_bytes: 2 << 20,          // whitepaper
    memory_bytes: 8 << 30,      // data sheet
    memory_gb_per_s: 320.0,     // data sheet
    memory_efficiency: 0.80,    // estimate
    l2_gb_per_s: 1000.0,        // estimate
    latency: Latencies {
        integer: 6,           // [jia18], Pascal
        integer_multiply: 18, // estimate: three dependent XMADs
        float32: 6,           // [jia18], Pascal
        float64: 48,          // estimate: four lanes per SM
        shared: 24,           // estimate
        l2: 216,              // estimate
        memory: 480,          // estimate
        ..SINCE_VOLTA
    },
    limits: CC_6_1,
    // Estimates where the A100 has them; schedulers: whitepaper.
    ..A100
};
