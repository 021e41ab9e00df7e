#include "trainer/env/internal.h"

#include "indicators_gpu/isa.h"
#include "trainer/env/scalar/kernels.h"

const char *env_backend_name(enum env_backend backend)
{
    static const char *const names[] = {"best", "scalar", "baseline", "avx2", "avx512"};
    return (size_t)backend < sizeof names / sizeof *names ? names[backend] : "unknown";
}

bool env_backend_works(enum env_backend backend)
{
    return backend == ENV_BEST || env_backend_kernels(backend) != NULL;
}

enum env_backend env_backend_best(void)
{
    enum env_backend backend = ENV_AVX512;
    while (backend > ENV_SCALAR && !env_backend_kernels(backend))
        backend--;
    return backend;
}

const struct env_kernels *env_backend_kernels(enum env_backend backend)
{
    switch (backend) {
    case ENV_SCALAR:
        return &env_scalar_kernels;
    case ENV_BASELINE:
        return &env_baseline_kernels;
#if HAVE_AVX_SETS
    case ENV_AVX2:
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? &env_avx2_kernels : NULL;
    case ENV_AVX512:
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                       __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                       env_backend_works(ENV_AVX2)
                   ? &env_avx512_kernels
                   : NULL;
#endif
    default:
        return NULL;
    }
}
