// CUB's sum of floats, the reduction that any other is compared with.
#pragma once
#include <cub/device/device_reduce.cuh>
#include "reference.cuh"
#include "options.cuh"

inline bool run_reduce(int argc, char** argv) {
    Options options(argc, argv,
                    {{"elements", "1024,4096,16384,65536,262144,1048576,4194304,16777216,67108864,268435456"},
                     {"replays", "30"}});
    Clock clock;
    bool good = true;
    for (size_t n : options.numbers("elements")) {
        Array<float> values(n), sum(1);
        randomise(values, 1);
        size_t bytes = 0;
        CHECK(cub::DeviceReduce::Sum(nullptr, bytes, values.data, sum.data, n, clock.stream));
        Array<char> scratch(bytes);
        sum.poison();
        // Short reductions need more of them in a graph to outlast the events' cost.
        size_t launches = n > (1 << 24) ? 8 : 40;
        auto timing = clock.graph(launches, options.number("replays"), [&] {
            CHECK(cub::DeviceReduce::Sum(scratch.data, bytes, values.data, sum.data, n, clock.stream));
        });
        bool verified = close_to(sum_of(sum), reference_sum(n, 1), n);
        good &= report("reduce", "cub::DeviceReduce::Sum", field("elements", n), timing, 4.0 * n, verified);
    }
    return good;
}
