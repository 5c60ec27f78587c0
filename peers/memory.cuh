// What memory alone reaches: the runtime's copy and memset, float4 reads and float4 writes.
#pragma once
#include "data.cuh"
#include "options.cuh"
#include "reference.cuh"

// Four loads in flight per thread; every thread keeps its sum, so that each load counts and the total
// can be verified.
__global__ void read_float4(size_t n, const float4* values, float* sums) {
    size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x, stride = (size_t)gridDim.x * blockDim.x, i = thread;
    float sum = 0;
    for (; i + 3 * stride < n; i += 4 * stride) {
        float4 x = values[i], y = values[i + stride], z = values[i + 2 * stride], w = values[i + 3 * stride];
        sum += ((x.x + x.y) + (x.z + x.w)) + ((y.x + y.y) + (y.z + y.w)) + ((z.x + z.y) + (z.z + z.w)) +
               ((w.x + w.y) + (w.z + w.w));
    }
    for (; i < n; i += stride) {
        float4 x = values[i];
        sum += (x.x + x.y) + (x.z + x.w);
    }
    sums[thread] = sum;
}

__global__ void write_float4(size_t n, float4* values, float value) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x, stride = (size_t)gridDim.x * blockDim.x;
    for (; i < n; i += stride) values[i] = make_float4(value, value, value, value);
}

inline const std::map<std::string, std::string>& memory_defaults() {
    static const std::map<std::string, std::string> defaults{{"elements", "268435456"}, {"launches", "8"}, {"replays", "30"}};
    return defaults;
}

inline bool run_copy(int argc, char** argv) {
    Options options(argc, argv, memory_defaults());
    size_t n = options.number("elements"), launches = options.number("launches"), replays = options.number("replays");
    Array<float> from(n), to(n), other(n);
    randomise(from, 1);
    randomise(other, 2);
    to.poison();
    Clock clock;
    auto copy = clock.graph(launches, replays, [&] {
        CHECK(cudaMemcpyAsync(to.data, from.data, n * sizeof(float), cudaMemcpyDeviceToDevice, clock.stream));
    });
    // Verified as a sum with the second input, in place.
    add_in_place<<<blocks_of_256(n), 256>>>(to.data, other.data, n);
    bool copied = nothing_wrong([&](auto* wrong) { count_wrong_sums<<<blocks_of_256(n), 256>>>(to.data, n, wrong); });
    bool good = report("copy", "cudaMemcpyAsync", field("elements", n), copy, 8.0 * n, copied);

    auto set = clock.graph(launches, replays, [&] { CHECK(cudaMemsetAsync(to.data, 1, n * sizeof(float), clock.stream)); });
    bool filled = nothing_wrong(
        [&](auto* wrong) { count_other_words<<<blocks_of_256(n), 256>>>((unsigned*)to.data, n, 0x01010101u, wrong); });
    good &= report("copy", "cudaMemsetAsync", field("elements", n), set, 4.0 * n, filled);
    return good;
}

inline bool run_read(int argc, char** argv) {
    Options options(argc, argv, memory_defaults());
    size_t n = options.number("elements"), launches = options.number("launches"), replays = options.number("replays");
    if (n % 4) Options::fail("read needs --elements divisible by 4");
    Array<float> values(n);
    randomise(values, 1);
    double expected = reference_sum(n, 1);
    int sms = 0;
    CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    Clock clock;
    bool good = true;
    for (size_t per_sm : {1, 2, 4, 8})
        for (size_t block : {256, 512, 1024}) {
            if (per_sm * block > 2048) continue;
            size_t grid = sms * per_sm;
            Array<float> sums(grid * block);
            sums.poison();
            auto timing = clock.graph(launches, replays, [&] {
                read_float4<<<grid, block, 0, clock.stream>>>(n / 4, (const float4*)values.data, sums.data);
            });
            bool verified = close_to(sum_of(sums), expected, n);
            good &= report("read", "float4", field("elements", n) + field("block", block) + field("grid", grid), timing,
                           4.0 * n, verified);
        }
    return good;
}

inline bool run_write(int argc, char** argv) {
    Options options(argc, argv, memory_defaults());
    size_t n = options.number("elements"), launches = options.number("launches"), replays = options.number("replays");
    if (n % 4) Options::fail("write needs --elements divisible by 4");
    Array<float> values(n);
    Clock clock;
    bool good = true;
    for (size_t block : {256, 1024}) {
        size_t grid = (n / 4 + block - 1) / block;
        values.poison();
        auto timing = clock.graph(launches, replays,
                                  [&] { write_float4<<<grid, block, 0, clock.stream>>>(n / 4, (float4*)values.data, 1.0f); });
        bool verified = nothing_wrong(
            [&](auto* wrong) { count_other_words<<<blocks_of_256(n), 256>>>((unsigned*)values.data, n, 0x3f800000u, wrong); });
        good &= report("write", "float4", field("elements", n) + field("block", block) + field("grid", grid), timing, 4.0 * n,
                       verified);
    }
    return good;
}
