/* One set of kernels, compiled once for each instruction set: INFER_SET is its name. Memory bandwidth of a
 * core is the limit: a layer reads each weight once, 64 outputs of one input after the other, and prefetches
 * INFER_AHEAD bytes ahead, across the ends of panels and layers, so that the stream never stalls. 64 outputs
 * are 4, 8 or 16 independent sums, as many as hide the latency of one. */
#include <string.h>

#include "strategy/policy/activation.h"
#include "strategy/policy/infer.h"

#if defined(__AVX512F__)
enum { LANES = 16 };
typedef activation_float16 vec;
#define ACTIVATE(name) activation_##name##16
#elif defined(__AVX2__)
enum { LANES = 8 };
typedef activation_float8 vec;
#define ACTIVATE(name) activation_##name##8
#else
enum { LANES = 4 };
typedef activation_float4 vec;
#define ACTIVATE(name) activation_##name##4
#endif

/* Sums in registers at once: more than half of the registers would leave too few for weights. */
enum { INFER_AHEAD = 4096, LINE = 64, SUMS = LANES == 4 ? 8 : INFER_PANEL / LANES, CHUNK = 64 };

#define INLINE static inline __attribute__((always_inline))

INLINE vec load(const float *at)
{
    return *(const vec *)__builtin_assume_aligned(at, sizeof(vec));
}

INLINE void store(float *at, vec x)
{
    *(vec *)__builtin_assume_aligned(at, sizeof(vec)) = x;
}

/* Adds inputs' products to n vectors of outputs; `width` floats from one row of weights to the next. */
INLINE void add_rows(const float *w, size_t width, const float *x, size_t in, float *y, int n)
{
    vec sums[SUMS];
#pragma GCC unroll 8
    for (int v = 0; v < n; v++)
        sums[v] = load(y + v * LANES);
    for (size_t i = 0; i < in; i++, w += width) {
        vec xi = x[i] - (vec){0};
        const char *ahead = (const char *)w + INFER_AHEAD;
#pragma GCC unroll 8
        for (int line = 0; line < n * LANES * 4; line += LINE)
            __builtin_prefetch(ahead + line);
#pragma GCC unroll 8
        for (int v = 0; v < n; v++)
            sums[v] = sums[v] + load(w + v * LANES) * xi;
    }
#pragma GCC unroll 8
    for (int v = 0; v < n; v++)
        store(y + v * LANES, sums[v]);
}

/* A panel of `width` outputs, whose biases are already in y. */
INLINE void add_panel(const float *w, int width, const float *x, size_t in, float *y)
{
    if (width <= SUMS * LANES) {
        add_rows(w, (size_t)width, x, in, y, width / LANES);
        return;
    }
    /* Two halves, a chunk of rows at a time, so that the second one finds its rows in the cache. */
    for (size_t i = 0; i < in; i += CHUNK) {
        size_t rows = in - i < CHUNK ? in - i : CHUNK;
        const float *at = w + i * (size_t)width;
        add_rows(at, (size_t)width, x + i, rows, y, SUMS);
        add_rows(at + SUMS * LANES, (size_t)width, x + i, rows, y + SUMS * LANES, width / LANES - SUMS);
    }
}

static void layer(const float *packed, const float *bias, const float *x, size_t in, size_t out, float *ret)
{
    memcpy(ret, bias, out * sizeof *ret);
    for (; out >= INFER_PANEL; out -= INFER_PANEL) {
        add_panel(packed, INFER_PANEL, x, in, ret);
        packed += in * INFER_PANEL;
        ret += INFER_PANEL;
    }
    if (out == 3 * NET_LANES)
        add_panel(packed, 3 * NET_LANES, x, in, ret);
    else if (out == 2 * NET_LANES)
        add_panel(packed, 2 * NET_LANES, x, in, ret);
    else if (out == NET_LANES)
        add_panel(packed, NET_LANES, x, in, ret);
}

static void activate(enum net_activation activation, float *x, size_t n)
{
    switch (activation) {
    case NET_TANH:
        for (size_t i = 0; i < n; i += LANES)
            store(x + i, ACTIVATE(tanh)(load(x + i)));
        break;
    case NET_RELU:
        for (size_t i = 0; i < n; i += LANES)
            store(x + i, ACTIVATE(relu)(load(x + i)));
        break;
    case NET_SILU:
        for (size_t i = 0; i < n; i += LANES)
            store(x + i, ACTIVATE(silu)(load(x + i)));
        break;
    }
}

static void gate(const float *zc, size_t r, const float *before, float *ret)
{
    for (size_t i = 0; i < r; i += LANES) {
        vec z = ACTIVATE(sigmoid)(load(zc + i));
        store(ret + i, (1.0f - z) * load(before + i) + z * load(zc + r + i));
    }
}

static void normalise(const float *x, const float *mean, const float *scale, float clip, size_t n, float *ret)
{
    for (size_t i = 0; i < n; i++) {
        float y = (x[i] - mean[i]) * scale[i];
        y = y > clip ? clip : y;
        ret[i] = y < -clip ? -clip : y;
    }
}

const struct infer_kernels INFER_SET = {layer, activate, gate, normalise};
