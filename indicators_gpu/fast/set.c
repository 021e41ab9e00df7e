/* The kernels of one instruction set and precision, and the executor's vector functions. */
#include "indicators_gpu/fast/set.h"
#include "indicators_gpu/fast/simd.h"

/* Of a row of indicator_rows.h that has a kernel in this precision. */
#define FAST_IF_BOTH(...) __VA_ARGS__
#if FAST_F32
#define FAST_IF_F64(...)
#else
#define FAST_IF_F64(...) __VA_ARGS__
#endif
#define FAST_IF_WINDOW(...)                     FAST_IF_F64(__VA_ARGS__)
#define FAST_IF_STEPS(...)                      FAST_IF_F64(__VA_ARGS__)

#define FAST_DECLARE(number, ID, name, kernels) FAST_IF_##kernels(extern const struct fast_kernel FAST(name);)
INDICATOR_ROWS(FAST_DECLARE)

enum { LINE = 64, LINE_VALUES = LINE / REAL_BYTES };

static bool all_finite(const void *values, size_t n)
{
    const real *x = values;
    vec a = {0}, b = {0}, c = {0}, d = {0}; /* become NaN */
    size_t i = 0;
    for (; i + 4 * W <= n; i += 4 * W) {
        a += vec_load(x + i) * vec_all(0);
        b += vec_load(x + i + W) * vec_all(0);
        c += vec_load(x + i + 2 * W) * vec_all(0);
        d += vec_load(x + i + 3 * W) * vec_all(0);
    }
    a = (a + b) + (c + d);
    real sum = 0;
    for (int j = 0; j < W; j++)
        sum += a[j];
    for (; i < n; i++)
        sum += x[i] * 0;
    return sum == 0;
}

/* One line, past the cache; both are there in whole. */
static inline void stream_line(real *to, const real *from)
{
    for (int i = 0; i < LINE_VALUES; i += W)
        VEC_STREAM(to + i, vec_load(from + i));
}

static void deliver(void *to_values, const void *from_values, size_t n, bool stream, struct fast_ahead *ahead)
{
    real *to = to_values;
    const real *from = from_values;
    size_t head = ((LINE - (uintptr_t)to % LINE) % LINE) / REAL_BYTES;

    if (!stream || n < head + LINE_VALUES) {
        memcpy(to, from, n * sizeof(real));
        return;
    }
    memcpy(to, from, head * sizeof(real));
    size_t i = head;
    for (; i + LINE_VALUES <= n; i += LINE_VALUES) {
        fast_ahead_line(ahead);
        stream_line(to + i, from + i);
    }
    memcpy(to + i, from + i, (n - i) * sizeof(real));
}

static void widen(double *to, const float *from, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] = (double)from[i];
}

/* Group by group, so that the compiler cannot reorder writes over unread input. */
static void narrow(float *to, const double *from, size_t n)
{
    enum { GROUP = 16 };
    float group[GROUP];
    size_t i = 0;
    for (; i + GROUP <= n; i += GROUP) {
        for (size_t j = 0; j < GROUP; j++)
            group[j] = (float)from[i + j];
        memcpy(to + i, group, sizeof(group));
    }
    for (; i < n; i++)
        to[i] = (float)from[i];
}

#define FAST_ENTRY(number, ID, name, kernels) FAST_IF_##kernels([number] = &FAST(name), )
extern const struct fast_set FAST(set);
const struct fast_set FAST(set) = {{all_finite, deliver, widen, narrow}, {INDICATOR_ROWS(FAST_ENTRY)}};
