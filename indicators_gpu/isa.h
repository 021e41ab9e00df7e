/* HAVE_AVX_SETS: kernels for AVX2 and AVX-512 are built, beside the baseline's: on x86-64, but with
 * -Dinstruction_sets=baseline. */
#ifndef INDICATORS_GPU_ISA_H
#define INDICATORS_GPU_ISA_H

#if defined(__x86_64__) && !defined(BASELINE_ALONE)
#define HAVE_AVX_SETS 1
#else
#define HAVE_AVX_SETS 0
#endif

#endif
