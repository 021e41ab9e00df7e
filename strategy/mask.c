#include "strategy/mask.h"

#include <math.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

static void compare_some(const double *a, const double *b, size_t n, uint64_t *above, uint64_t *below)
{
    uint64_t up = 0, down = 0;
    for (size_t i = 0; i < n; i++) {
        up |= (uint64_t)(a[i] > b[i]) << i;
        down |= (uint64_t)(a[i] < b[i]) << i;
    }
    *above = up;
    *below = down;
}

static void compare_plain(const double *a, const double *b, size_t b_step, size_t words, uint64_t *above,
                          uint64_t *below)
{
    for (size_t w = 0; w < words; w++)
        compare_some(a + w * MASK_BITS, b + w * b_step, MASK_BITS, &above[w], &below[w]);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static void compare_avx2(const double *a, const double *b, size_t b_step,
                                                         size_t words, uint64_t *above, uint64_t *below)
{
    for (size_t w = 0; w < words; w++, a += MASK_BITS, b += b_step) {
        uint64_t up = 0, down = 0;
        for (unsigned i = 0; i < MASK_BITS; i += 4) {
            __m256d x = _mm256_loadu_pd(a + i), y = _mm256_loadu_pd(b + i);
            up |= (uint64_t)_mm256_movemask_pd(_mm256_cmp_pd(x, y, _CMP_GT_OQ)) << i;
            down |= (uint64_t)_mm256_movemask_pd(_mm256_cmp_pd(x, y, _CMP_LT_OQ)) << i;
        }
        above[w] = up;
        below[w] = down;
    }
}

__attribute__((target("avx512f"))) static void compare_avx512(const double *a, const double *b, size_t b_step,
                                                              size_t words, uint64_t *above, uint64_t *below)
{
    for (size_t w = 0; w < words; w++, a += MASK_BITS, b += b_step) {
        uint64_t up = 0, down = 0;
        for (unsigned i = 0; i < MASK_BITS; i += 8) {
            __m512d x = _mm512_loadu_pd(a + i), y = _mm512_loadu_pd(b + i);
            up |= (uint64_t)_mm512_cmp_pd_mask(x, y, _CMP_GT_OQ) << i;
            down |= (uint64_t)_mm512_cmp_pd_mask(x, y, _CMP_LT_OQ) << i;
        }
        above[w] = up;
        below[w] = down;
    }
}
#endif

size_t mask_kernels(mask_compare *ret[static MASK_KERNELS])
{
    size_t n = 0;
    ret[n++] = compare_plain;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2"))
        ret[n++] = compare_avx2;
    if (__builtin_cpu_supports("avx512f"))
        ret[n++] = compare_avx512;
#endif
    return n;
}

static void compare(const double *a, const double *b, size_t b_step, size_t n, uint64_t *above,
                    uint64_t *below)
{
    size_t words = n / MASK_BITS, rest = n % MASK_BITS;
    mask_compare *kernels[MASK_KERNELS];
    kernels[mask_kernels(kernels) - 1](a, b, b_step, words, above, below);
    if (rest > 0)
        compare_some(a + words * MASK_BITS, b + words * b_step, rest, &above[words], &below[words]);
}

void mask_columns(const double *a, const double *b, size_t n, uint64_t *above, uint64_t *below)
{
    compare(a, b, MASK_BITS, n, above, below);
}

void mask_level(const double *a, double level, size_t n, uint64_t *above, uint64_t *below)
{
    double levels[MASK_BITS];
    for (size_t i = 0; i < MASK_BITS; i++)
        levels[i] = level;
    compare(a, levels, 0, n, above, below);
}

size_t mask_known_from(const struct strategy_columns *columns, size_t n_outputs)
{
    size_t from = 0;
    for (size_t k = 0; k < n_outputs; k++)
        while (from < columns->n && isnan(columns->indicators[k][from]))
            from++;
    return from;
}
