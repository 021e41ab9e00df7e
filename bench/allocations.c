#include "bench/allocations.h"

#include <stddef.h>

static uint64_t count;

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
int __real_posix_memalign(void **ret, size_t alignment, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);
int __wrap_posix_memalign(void **ret, size_t alignment, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

uint64_t allocations(void)
{
    return count;
}

void *__wrap_malloc(size_t size)
{
    count++;
    return __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
    count++;
    return __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t size)
{
    count++;
    return __real_realloc(p, size);
}

int __wrap_posix_memalign(void **ret, size_t alignment, size_t size)
{
    count++;
    return __real_posix_memalign(ret, alignment, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    count++;
    return __real_aligned_alloc(alignment, size);
}
