/* Trying PPO's kernels on the CPU: buffers that are poisoned and guarded, and launches that are done twice,
 * with blocks and threads in order and in reverse, whose results must be the same bytes. */
#ifndef TESTS_TRAINER_PPO_BLOCKS_TRY_H
#define TESTS_TRAINER_PPO_BLOCKS_TRY_H

#include "tests/check.h"
#include "tests/random.h"
#include "trainer/ppo/cuda/kernels.h"

#if defined(__SANITIZE_ADDRESS__)
enum { TRY_GUARD = 0 }; /* the sanitizer's own are exact */
#else
enum { TRY_GUARD = 64 };
#endif
enum { TRY_BUFFERS = 128, TRY_POISON = 0xFF /* a NaN in all precisions */, TRY_ALIGN = 16 };

struct try_buffer {
    unsigned char *at, *before, *result;
    size_t bytes;
};

struct
try {
    struct random random;
    int n;
    struct try_buffer buffers[TRY_BUFFERS];
};

static inline void *try_memory(size_t bytes)
{
    void *at;
    if (posix_memalign(&at, TRY_ALIGN, bytes > 0 ? bytes : 1) != 0)
        abort();
    return at;
}

static inline void *try_room(struct try *t, size_t bytes)
{
    if (t->n == TRY_BUFFERS)
        abort();
    struct try_buffer *b = &t->buffers[t->n++];
    *b = (struct try_buffer){.at = try_memory(bytes + TRY_GUARD), .bytes = bytes};
    b->before = try_memory(bytes);
    b->result = try_memory(bytes);
    memset(b->at, TRY_POISON, bytes + TRY_GUARD);
    return b->at;
}

static inline void *try_zeros(struct try *t, size_t bytes)
{
    return memset(try_room(t, bytes), 0, bytes);
}

static inline double try_number(struct try *t, double low, double high)
{
    return low + (high - low) * (double)(random_next(&t->random) >> 11) * 0x1p-53;
}

static inline float *try_floats(struct try *t, size_t n, double low, double high)
{
    float *ret = try_room(t, n * sizeof(float));
    for (size_t i = 0; i < n; i++)
        ret[i] = (float)try_number(t, low, high);
    return ret;
}

/* Guards stand, and everything is freed. */
static inline void try_end(struct try *t)
{
    for (int i = 0; i < t->n; i++) {
        struct try_buffer *b = &t->buffers[i];
        bool stands = true;
        for (int k = 0; k < TRY_GUARD; k++)
            stands = stands && b->at[b->bytes + (size_t)k] == TRY_POISON;
        CHECK(stands);
        free(b->at);
        free(b->before);
        free(b->result);
    }
    t->n = 0;
}

/* One launch, or several. */
#define TRY_RUN(t, launches) \
    do { \
        for (int try_i = 0; try_i < (t)->n; try_i++) \
            memcpy((t)->buffers[try_i].before, (t)->buffers[try_i].at, (t)->buffers[try_i].bytes); \
        CHECK_INT(setenv("BLOCKS_REVERSED", "1", 1), 0); \
        launches; \
        for (int try_i = 0; try_i < (t)->n; try_i++) { \
            struct try_buffer *try_b = &(t)->buffers[try_i]; \
            memcpy(try_b->result, try_b->at, try_b->bytes); \
            memcpy(try_b->at, try_b->before, try_b->bytes); \
        } \
        CHECK_INT(setenv("BLOCKS_REVERSED", "0", 1), 0); \
        launches; \
        for (int try_i = 0; try_i < (t)->n; try_i++) \
            CHECK(memcmp((t)->buffers[try_i].result, (t)->buffers[try_i].at, (t)->buffers[try_i].bytes) == \
                  0); \
    } while (0)

/* ---- rows ---- */

static inline float try_whole(uint16_t half)
{
    uint32_t bits = (uint32_t)half << 16;
    float x;
    memcpy(&x, &bits, sizeof(x));
    return x;
}

static inline float try_at(const struct kernel_matrix *m, size_t row, size_t column)
{
    size_t i = row * m->stride + column;
    return m->half ? try_whole(((const uint16_t *)m->at)[i]) : ((const float *)m->at)[i];
}

static inline void try_set(const struct kernel_matrix *m, size_t row, size_t column, float x)
{
    size_t i = row * m->stride + column;
    uint32_t bits;
    memcpy(&bits, &x, sizeof(bits));
    if (m->half)
        ((uint16_t *)m->at)[i] = (uint16_t)((bits + 0x8000u) >> 16);
    else
        ((float *)m->at)[i] = x;
}

static inline struct kernel_matrix try_rows(struct try *t, size_t rows, uint32_t stride, bool half)
{
    return (struct kernel_matrix){try_room(t, kernel_matrix_bytes(rows, stride, half)), stride, half};
}

/* Random in columns [0, cols), 0 behind. */
static inline struct kernel_matrix try_random_rows(struct try *t, size_t rows, uint32_t cols, uint32_t stride,
                                                   bool half, double low, double high)
{
    struct kernel_matrix m = try_rows(t, rows, stride, half);
    for (size_t row = 0; row < rows; row++)
        for (uint32_t c = 0; c < stride; c++)
            try_set(&m, row, c, c < cols ? (float)try_number(t, low, high) : 0);
    return m;
}

static inline uint32_t try_stride(uint32_t cols, uint32_t unit)
{
    return (cols + unit - 1) / unit * unit;
}

/* What a kernel of float32, or one that wrote bfloat16, may be off: `size` is that of what was added up. */
static inline double try_tolerance(bool half, double value, double size)
{
    return half ? 0x1p-8 * fabs(value) + 2e-6 * size : 1e-5 * fabs(value) + 2e-6 * size;
}

#endif
