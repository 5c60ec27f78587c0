// Cooperative groups' grid barrier, and the cost of an empty kernel in a graph.
#pragma once
#include <cooperative_groups.h>
#include "data.cuh"
#include "options.cuh"

__global__ void synchronise(unsigned* done, unsigned rounds) {
    auto grid = cooperative_groups::this_grid();
    for (unsigned round = 0; round < rounds; round++) grid.sync();
    if (grid.thread_rank() == 0) *done = rounds;
}

// Every block arrives, passes the barrier and must then see every block's arrival.
__global__ void count_early_passes(unsigned* arrived, unsigned rounds, unsigned long long* early) {
    auto grid = cooperative_groups::this_grid();
    for (unsigned round = 1; round <= rounds; round++) {
        if (threadIdx.x == 0) atomicAdd(arrived, 1u);
        grid.sync();
        if (threadIdx.x == 0 && *(volatile unsigned*)arrived < round * gridDim.x) atomicAdd(early, 1ull);
        grid.sync();
    }
}

__global__ void empty() {}

inline bool run_gridsync(int argc, char** argv) {
    Options options(argc, argv, {{"rounds", "2000"}, {"replays", "7"}});
    unsigned rounds = options.number("rounds");
    int sms = 0;
    CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    struct Shape { unsigned per_sm, block; };
    Clock clock;
    bool good = true;
    for (Shape shape : {Shape{1, 32}, {1, 256}, {1, 1024}, {2, 256}, {2, 1024}, {8, 256}}) {
        unsigned grid = sms * shape.per_sm;
        int resident = 0;
        CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, count_early_passes, shape.block, 0));
        if ((unsigned)resident < shape.per_sm) {
            fprintf(stderr, "peer: gridsync: skipped %u blocks of %u threads per SM: %d fit\n", shape.per_sm, shape.block, resident);
            continue;
        }
        Array<unsigned> done(1), arrived(1);
        done.poison();
        unsigned* done_pointer = done.data;
        void* arguments[] = {&done_pointer, &rounds};
        auto timing = clock.repeat(rounds, options.number("replays"), [&] {
            CHECK(cudaLaunchCooperativeKernel((void*)synchronise, dim3(grid), dim3(shape.block), arguments, 0, clock.stream));
        });
        unsigned finished;
        CHECK(cudaMemcpy(&finished, done.data, sizeof(finished), cudaMemcpyDeviceToHost));
        CHECK(cudaMemset(arrived.data, 0, sizeof(unsigned)));
        bool verified = finished == rounds && nothing_wrong([&](unsigned long long* early) {
            unsigned *arrived_pointer = arrived.data, some_rounds = 100;
            void* arguments[] = {&arrived_pointer, &some_rounds, &early};
            CHECK(cudaLaunchCooperativeKernel((void*)count_early_passes, dim3(grid), dim3(shape.block), arguments, 0, 0));
        });
        good &= report("gridsync", "cooperative_groups", field("block", shape.block) + field("grid", grid), timing, 0, verified);
    }
    return good;
}

inline bool run_launch(int argc, char** argv) {
    Options options(argc, argv, {{"launches", "200"}, {"replays", "30"}});
    Clock clock;
    auto timing = clock.graph(options.number("launches"), options.number("replays"), [&] { empty<<<1, 32, 0, clock.stream>>>(); });
    CHECK(cudaGetLastError());
    // There is no result to verify beyond the launches' success.
    return report("launch", "empty", field("block", 32) + field("grid", 1), timing, 0, true);
}
