/* Kernels as block functions: the work of one block, written as phases between barriers, in source that gcc,
 * clang and nvcc all compile. On the device a phase is one pass of every thread and a __syncthreads(); on the
 * CPU it is a loop over the threads, so that the tests run the kernels' own code, under the sanitizers,
 * without a GPU.
 *
 * Rules for a block function: between a write by one thread and a read by another is a phase boundary;
 * values that a thread keeps from one phase to the next are BLOCK_OWN; control flow around phases is the same
 * for every thread; no return or break leaves a phase (continue does: it ends the thread's part). The CPU can
 * run the threads of each phase, and the blocks of a launch, in reverse: a result that changes then was a
 * race. BLOCK_UNROLL before a loop keeps what it indexes in registers, BLOCK_FOUR unrolls it by four; before
 * one that runs seldom, BLOCK_ROLLED keeps the code small, as BLOCK_APART does, a function out of line. */
#ifndef INDICATORS_GPU_CUDA_BLOCK_H
#define INDICATORS_GPU_CUDA_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __CUDACC__

#define BLOCK_FN    static __device__ __forceinline__
#define BLOCK_APART static __device__ __noinline__
#define BLOCK_PHASE(t, threads) \
    for (unsigned t = threadIdx.x, block_once = 1; block_once; block_once = 0, __syncthreads())
#define BLOCK_UNROLL                   _Pragma("unroll")
#define BLOCK_ROLLED                   _Pragma("unroll 1")
#define BLOCK_FOUR                     _Pragma("unroll 4")
#define BLOCK_OWN(type, name, threads) type name[1]
#define BLOCK_MINE(name, t)            name[0]

/* The next number of a launch's counter: blocks start in the order of their tickets. */
BLOCK_FN uint32_t block_ticket(uint32_t *counter)
{
    return atomicAdd(counter, 1u);
}

/* Called by each thread whose writes other blocks wait for, in a phase before block_raise(). */
BLOCK_FN void block_written(void)
{
    __threadfence();
}

/* Raises a flag; block_await() in a block of a later ticket returns when it is raised. */
BLOCK_FN void block_raise(uint32_t *flag)
{
    __threadfence();
    *(volatile uint32_t *)flag = 1;
}

BLOCK_FN void block_await(const uint32_t *flag)
{
    while (*(const volatile uint32_t *)flag == 0)
        __nanosleep(32);
    __threadfence();
}

/* Reads another block's write: not from this processor's own cache. */
BLOCK_FN double block_fresh(const double *at)
{
    return __ldcg(at);
}

/* a * b + c, rounded once. */
BLOCK_FN double block_fma(double a, double b, double c)
{
    return __fma_rn(a, b, c);
}

/* 1 / x to some twenty bits, which differ from device to device, of a normal number below 2^1022. */
BLOCK_FN double block_inverse(double x)
{
    double inverse;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(inverse) : "d"(x));
    return inverse;
}

/* Keeps the least value of all threads of a launch. */
BLOCK_FN void block_least(uint64_t *at, uint64_t value)
{
    atomicMin((unsigned long long *)at, (unsigned long long)value);
}

#else

#include <math.h>
#include <stdlib.h>

#define BLOCK_FN    static inline
#define BLOCK_APART static inline
#define BLOCK_PHASE(t, threads) \
    for (unsigned block_i = 0, t = block_thread(0, threads); block_i < (threads); \
         t = block_thread(++block_i, threads))
#define BLOCK_UNROLL
#define BLOCK_ROLLED
#define BLOCK_FOUR
#define BLOCK_OWN(type, name, threads) type name[threads]
#define BLOCK_MINE(name, t)            name[t]

/* Blocks run one after the other here: what a ticket before this one publishes is there. */
BLOCK_FN uint32_t block_ticket(uint32_t *counter)
{
    return (*counter)++;
}

BLOCK_FN void block_written(void)
{
}

BLOCK_FN void block_raise(uint32_t *flag)
{
    *flag = 1;
}

BLOCK_FN double block_fresh(const double *at)
{
    return *at;
}

BLOCK_FN double block_fma(double a, double b, double c)
{
    return fma(a, b, c);
}

BLOCK_FN void block_least(uint64_t *at, uint64_t value)
{
    if (value < *at)
        *at = value;
}

/* Aborts the test where a flag is down: on a device that block would wait for ever. */
BLOCK_FN void block_await(const uint32_t *flag)
{
    if (*flag == 0)
        abort();
}

/* CPU only: the order in which the threads of a phase run. Set by the tests' runner. */
static bool block_reversed;

static inline unsigned block_thread(unsigned i, unsigned threads)
{
    return block_reversed ? threads - 1 - i : i;
}

/* As inexact as a device's, and differently in the other order: no result may depend on it. */
BLOCK_FN double block_inverse(double x)
{
    return 1.0 / x * (1.0 + (block_reversed ? -0x1p-21 : 0x1p-20));
}

#endif

#endif
