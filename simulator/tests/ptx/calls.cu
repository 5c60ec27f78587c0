// Source of calls.ptx; built with nvcc -O1 -arch=compute_80 -ptx.
struct alignas(16) Mixed { float a; double b; int c[5]; };
__device__ int counter = 7;
__device__ int *counter_pointer = &counter;
__constant__ float table[4] = {1.0f, 2.5f, 3.0f, -4.0f};
__device__ const char message[] = "hello";
__device__ const char *tail = message + 1;
extern __shared__ float dynamic[];

__noinline__ __device__ Mixed change(Mixed m, int k) { m.a += k; m.c[k & 3] = k; return m; }
__noinline__ __device__ double nested(double x, const float *p) {
  return x * p[0] + change(Mixed{(float)x, x, {1, 2, 3, 4, 5}}, (int)x).a;
}
extern "C" __global__ void __launch_bounds__(256, 2) calls(Mixed m, double *out, const float *p) {
  __shared__ double buffer[32];
  const int t = threadIdx.x;
  buffer[t] = nested(m.b + t, p) + table[t & 3];
  dynamic[t] = m.a;
  __syncthreads();
  out[t] = buffer[31 - t] + dynamic[t ^ 1] + *counter_pointer + tail[t & 3];
}
extern "C" __global__ void choose(int *x) {
  int r = x[threadIdx.x], local[8];
  for (int i = 0; i < 8; i++) local[i] = x[i] * i;
  switch (r) {
    case 0: r = local[threadIdx.x & 7]; break;
    case 1: r = __clz(local[1]); break;
    case 2: r = __popc(local[2]); break;
    case 3: r = local[(r + threadIdx.x) & 7] * 7; break;
    case 4: r = atomicAdd(x + 64, 1) >= 0 ? 44 : 0; break;
    case 5: r ^= 55; break;
    default: r = -1;
  }
  x[32 + threadIdx.x] = r;
}
