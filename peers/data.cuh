// Inputs and their verification. Element i of an array is a hash of (i, seed), uniform in [0, 1) with
// all 24 bits of the significand in use, so a check can recompute any element without keeping a copy.
#pragma once
#include "measure.cuh"

__host__ __device__ inline float element(size_t i, unsigned seed) {
    unsigned x = (unsigned)i * 2654435761u + seed * 0x9e3779b9u + (unsigned)(i >> 32);
    x ^= x >> 16;
    x *= 0x85ebca6bu;
    x ^= x >> 13;
    x *= 0xc2b2ae35u;
    x ^= x >> 16;
    return (x >> 8) * 0x1p-24f;
}

__global__ void fill(float* values, size_t n, unsigned seed) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) values[i] = element(i, seed);
}

// Counts elements of `sum` that are not exactly element(i, 1) + element(i, 2).
__global__ void count_wrong_sums(const float* sum, size_t n, unsigned long long* wrong) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && !(sum[i] == element(i, 1) + element(i, 2))) atomicAdd(wrong, 1ull);
}

inline unsigned blocks_of_256(size_t n) { return (unsigned)((n + 255) / 256); }

// Device memory for `count` values of T, freed at the end of its scope.
template <class T> struct Array {
    T* data;
    size_t count;
    explicit Array(size_t count) : count(count) { CHECK(cudaMalloc(&data, count * sizeof(T))); }
    Array(const Array&) = delete;
    ~Array() { cudaFree(data); }
    // Every byte 0xff: a NaN in every float, so that what a kernel leaves out is seen.
    void poison() { CHECK(cudaMemset(data, 0xff, count * sizeof(T))); }
};

inline void randomise(Array<float>& values, unsigned seed) {
    fill<<<blocks_of_256(values.count), 256>>>(values.data, values.count, seed);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
}

// Runs a counting kernel (`count` gets the counter's address) and gives whether nothing was counted.
inline bool nothing_wrong(const std::function<void(unsigned long long*)>& count) {
    Array<unsigned long long> wrong(1);
    CHECK(cudaMemset(wrong.data, 0, sizeof(unsigned long long)));
    count(wrong.data);
    CHECK(cudaGetLastError());
    unsigned long long result;
    CHECK(cudaMemcpy(&result, wrong.data, sizeof(result), cudaMemcpyDeviceToHost));
    return result == 0;
}
