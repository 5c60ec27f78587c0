// Sums in double precision, and how far a float sum may be from them.
#pragma once
#include <cmath>
#include "data.cuh"

__global__ void sum_elements(size_t n, unsigned seed, double* total) {
    double sum = 0;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
        sum += element(i, seed);
    atomicAdd(total, sum);
}

// The exact sum of element(0..n, seed), but for double's rounding.
inline double reference_sum(size_t n, unsigned seed) {
    Array<double> total(1);
    CHECK(cudaMemset(total.data, 0, sizeof(double)));
    sum_elements<<<1024, 256>>>(n, seed, total.data);
    CHECK(cudaGetLastError());
    double result;
    CHECK(cudaMemcpy(&result, total.data, sizeof(double), cudaMemcpyDeviceToHost));
    return result;
}

// Sum of a small array, on the host.
inline double sum_of(const Array<float>& values) {
    std::vector<float> copy(values.count);
    CHECK(cudaMemcpy(copy.data(), values.data, copy.size() * sizeof(float), cudaMemcpyDeviceToHost));
    double sum = 0;
    for (float value : copy) sum += value;
    return sum;
}

// A sum of positive floats in which no value passes through more than `depth` additions is off by at
// most depth * 2^-24 of the total (Higham, Accuracy and Stability of Numerical Algorithms, 4.2). The
// reductions here give every thread at most n / 2^18 values (at least one batch of 64) and combine the
// threads in trees. NaN is never close.
inline bool close_to(double sum, double expected, size_t n) {
    double depth = 64 + (double)n / (1 << 18) + 2 * std::log2((double)n + 1);
    return std::abs(sum - expected) <= depth * 0x1p-24 * expected;
}
