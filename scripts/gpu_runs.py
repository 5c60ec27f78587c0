"""What scripts/gpu-check runs of warplab's programs, beside `--device gpu`. Adding a step of a program that writes a
report means adding its entry to PROGRAM_STEPS.

A run that comes back is the name of its files with its command and their endings; one that is small enough for
compute-sanitizer is a name with its command.
"""

# The book's launches, more blocks than SMs, the map.
CLOCKS = {
    "clocks": ("clocks", "json svg"),
    "clocks-grid": ("clocks --grid 16x8x4 --block 14x8", "json svg"),
    "thread-map": ("clocks --map", "json svg"),
}

# Small because the tools slow a kernel down up to a hundredfold; odd, so that every guard and tail runs. No shape of
# clocks whose threads are a multiple of 32 alone: short last warps, two and three dimensions.
SMALL = {
    "sweep": "sweep --kernel all --size 100003 --block 32,96,1024 --min-samples 1 --timeout 1",
    "clocks": "clocks --grid 3x2x2 --block 14x8,33x2,7x5x3,16x16",
    "clocks --map": "clocks --map --block 28,66,7x5x3",
}

# Each a step of gpu-check: its runs, then small ones for the tools, and the limits in seconds for one of them.
PROGRAM_STEPS = {
    "geometry": {"limit": 150, "runs": {
        # Samples of a few microseconds: at the default cap its rows take five minutes.
        "geometry": ("geometry --timeout 4", "json csv md"),
        "order": ("order", "json svg md"),
        "tile": ("tile", "json md"),
    }, "tool_limit": 60, "small_runs": {
        "geometry": "geometry --size 97x45,33x17x9 --min-samples 1 --timeout 1",
        "order": "order --grid 300 --rounds 100 --launches 1",
        "tile": "tile --size 10000 --launches 1",
    }},
    "shuffle": {"limit": 60, "runs": {
        # Of every part the figure, of the defaults everything.
        "shuffle": ("shuffle", "json svg md"),
        "shuffle-all": ("shuffle --show all", "json svg"),
    }, "tool_limit": 60, "small_runs": {
        "shuffle": "shuffle --show all --type i32,f64 --width 8,32 --argument 0..3",
    }},
    "grid_sync": {"limit": 90, "runs": {
        "grid_sync": ("grid_sync", "json svg md"),
    }, "tool_limit": 60, "small_runs": {
        # Few rounds, since a block that spins under a tool is slow; short last warps, one block and several.
        "grid_sync": "grid_sync --blocks 1,5,40 --threads 33,256 --rounds 20 --min-samples 1 --timeout 0.2",
    }},
    "reduce": {"limit": 150, "runs": {
        # The ladder at one large size; what small sums cost; types and operations; more than 2^32 elements.
        "reduce": ("reduce --cache hot --timeout 0.4", "json svg md"),
        "reduce-sizes": ("reduce --variant vectorized,last_block,grid_barrier,gather,cluster,overlapped --block auto --cache hot "
                         "--size 2^10,2^12,2^14,2^16,2^18,2^20,2^22,2^24,2^26 --timeout 0.25", "json md"),
        "reduce-types": ("reduce --variant last_block,gather,redux,cluster,overlapped --type i32,u32,i64,f32,f64 --operation "
                         "sum,min,max --block auto --cache hot --size 2^20,2^26 --timeout 0.1", "json md"),
        "reduce-large": ("reduce --variant all --type f32,i32 --block 512 --size 2^32+1 --timeout 0.2", "json md"),
    }, "tool_limit": 90, "small_runs": {
        "reduce": "reduce --block 33,256 --size 0,1,100003 --min-samples 1 --timeout 0.01",
        "reduce of integers": "reduce --variant last_block,gather,redux,cluster,overlapped,grid_barrier,atomic --type i32,i64 "
                              "--operation sum,max --block 45,512 --size 200001 --min-samples 1 --timeout 0.01",
    }},
}
