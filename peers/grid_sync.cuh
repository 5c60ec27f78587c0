// Cooperative groups' grid barrier.
#pragma once
#include <cooperative_groups.h>
#include <cstdio>
#include <vector>
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

struct GridShape { size_t grid, block; };

// `132x32,264x256`: blocks times threads; empty: one, two and eight blocks on each of so many SMs.
inline std::vector<GridShape> grid_shapes(const Options& options, size_t sms) {
    std::vector<GridShape> shapes;
    if (options.text("shape").empty()) {
        for (GridShape per_sm : {GridShape{1, 32}, {1, 256}, {1, 1024}, {2, 256}, {2, 1024}, {8, 256}})
            shapes.push_back({per_sm.grid * sms, per_sm.block});
        return shapes;
    }
    for (auto& item : options.items("shape")) {
        GridShape shape{};
        char end = 0;
        if (sscanf(item.c_str(), "%zux%zu%c", &shape.grid, &shape.block, &end) != 2 || shape.grid == 0 ||
            shape.grid > 0x7fffffff || shape.block == 0 || shape.block > 1024)
            Options::fail("--shape takes blocks x threads such as 132x32, at most 1024 threads, given '" + item + "'");
        shapes.push_back(shape);
    }
    return shapes;
}

inline bool run_gridsync(int argc, char** argv) {
    Options options(argc, argv, {{"rounds", "2000"}, {"replays", "7"}, {"shape", ""}});
    unsigned rounds = options.number("rounds");
    int sms = 0;
    CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    Clock clock;
    bool good = true;
    for (GridShape shape : grid_shapes(options, sms)) {
        unsigned grid = shape.grid, block = shape.block;
        int resident = 0;
        CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, count_early_passes, block, 0));
        if ((size_t)resident * sms < shape.grid) {
            fprintf(stderr, "peer: gridsync: skipped %u blocks of %u threads: %d fit\n", grid, block, resident * sms);
            continue;
        }
        Array<unsigned> done(1), arrived(1);
        done.poison();
        unsigned* done_pointer = done.data;
        void* arguments[] = {&done_pointer, &rounds};
        auto timing = clock.repeat(rounds, options.number("replays"), [&] {
            CHECK(cudaLaunchCooperativeKernel((void*)synchronise, dim3(grid), dim3(block), arguments, 0, clock.stream));
        });
        unsigned finished;
        CHECK(cudaMemcpy(&finished, done.data, sizeof(finished), cudaMemcpyDeviceToHost));
        CHECK(cudaMemset(arrived.data, 0, sizeof(unsigned)));
        bool verified = finished == rounds && nothing_wrong([&](unsigned long long* early) {
            unsigned *arrived_pointer = arrived.data, some_rounds = 100;
            void* arguments[] = {&arrived_pointer, &some_rounds, &early};
            CHECK(cudaLaunchCooperativeKernel((void*)count_early_passes, dim3(grid), dim3(block), arguments, 0, 0));
        });
        good &= report("gridsync", "cooperative_groups", field("block", block) + field("grid", grid), timing, 0, verified);
    }
    return good;
}
