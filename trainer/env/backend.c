#include "trainer/env/backend.h"

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
    return backend == ENV_SCALAR ? &env_scalar_kernels : NULL;
}
