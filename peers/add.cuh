// Vector add, c = a + b: one float per thread (`scalar`) and one float4 per thread (`float4`).
#pragma once
#include "data.cuh"
#include "options.cuh"

__global__ void add_scalar(size_t n, const float* a, const float* b, float* c) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

__global__ void add_float4(size_t n, const float4* a, const float4* b, float4* c) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float4 x = a[i], y = b[i];
        c[i] = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
    }
}

inline bool run_add(int argc, char** argv) {
    Options options(argc, argv,
                    {{"kernel", "scalar,float4"},
                     {"block", "32,64,128,256,512,1024"},
                     {"elements", "268435456"},
                     {"launches", "8"},
                     {"replays", "30"}});
    size_t n = options.number("elements");
    for (auto& kernel : options.items("kernel")) {
        if (kernel != "scalar" && kernel != "float4") Options::fail("--kernel takes scalar and float4, given '" + kernel + "'");
        if (kernel == "float4" && n % 4) Options::fail("float4 needs --elements divisible by 4");
    }
    for (size_t block : options.numbers("block"))
        if (block > 1024) Options::fail("--block takes 1 to 1024 threads, given " + std::to_string(block));

    Array<float> a(n), b(n), c(n);
    randomise(a, 1);
    randomise(b, 2);
    Clock clock;
    bool good = true;
    for (auto& kernel : options.items("kernel")) {
        size_t threads = kernel == "scalar" ? n : n / 4;
        for (size_t block : options.numbers("block")) {
            size_t grid = (threads + block - 1) / block;
            if (grid > 0x7fffffff) Options::fail("the grid would have more than 2^31 - 1 blocks: use a larger --block");
            auto launch = [&] {
                if (kernel == "scalar") add_scalar<<<grid, block, 0, clock.stream>>>(n, a.data, b.data, c.data);
                else add_float4<<<grid, block, 0, clock.stream>>>(threads, (float4*)a.data, (float4*)b.data, (float4*)c.data);
            };
            c.poison();
            launch();
            CHECK(cudaGetLastError());
            CHECK(cudaStreamSynchronize(clock.stream));
            bool verified = nothing_wrong([&](auto* wrong) { count_wrong_sums<<<blocks_of_256(n), 256>>>(c.data, n, wrong); });
            auto timing = clock.graph(options.number("launches"), options.number("replays"), launch);
            good &= report("add", kernel.c_str(), field("elements", n) + field("block", block) + field("grid", grid), timing,
                           12.0 * n, verified);
        }
    }
    return good;
}
