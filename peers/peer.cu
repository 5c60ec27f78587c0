// The CUDA C++ side of warplab's comparisons. One part per call, one line of JSON per result:
//
//     nvcc -O3 -std=c++17 -arch=native -o peer peers/peer.cu
//     ./peer add --block 256 --elements 268435456
//
// Exit status: 0 every result verified, 1 a CUDA error or a wrong result, 2 usage.
#include <string>
#include "measure.cuh"
#include "options.cuh"
#include "add.cuh"
#include "grid_sync.cuh"
#include "reduce.cuh"

struct Part {
    const char *name, *what;
    bool (*run)(int, char**);
};

static const Part parts[] = {
    {"add", "vector add by block size, scalar and float4", run_add},
    {"reduce", "cub::DeviceReduce::Sum by number of elements", run_reduce},
    {"gridsync", "cooperative groups' grid barrier", run_gridsync},
};

int main(int argc, char** argv) {
    for (const Part& part : parts)
        if (argc > 1 && part.name == std::string(argv[1])) return part.run(argc, argv) ? 0 : 1;
    fprintf(stderr, "usage: peer PART [--option value]...\nparts:\n");
    for (const Part& part : parts) fprintf(stderr, "  %-9s %s\n", part.name, part.what);
    return 2;
}
