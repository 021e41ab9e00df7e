/* The kernels of blocks/list.h and their launches. */
#include "trainer/ppo/cuda/blocks/list.h"

#define KERNEL(name, type, threads, shared_bytes, across, down) \
    static __global__ void __launch_bounds__(threads) name##_kernel(const __grid_constant__ type k) \
    { \
        extern __shared__ __align__(16) unsigned char shared[]; \
        block_##name(&k, blockIdx.x, blockIdx.y, shared); \
    } \
    static void queue_##name(const type *k, void *stream) \
    { \
        const dim3 blocks(across, down); \
        if (blocks.x > 0 && blocks.y > 0) \
            name##_kernel<<<blocks, threads, shared_bytes, (cudaStream_t)stream>>>(*k); \
    }

KERNEL_LIST(KERNEL)
extern "C" {
LAUNCH_ALL
}
