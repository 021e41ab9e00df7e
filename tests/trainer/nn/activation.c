/* The activations against libm's float64 over all of float32 (in steps; shorter ones with PAPERTAPE_LONG),
 * and vectors against numbers, to the bit. Compiled once for each instruction set. */
#include "strategy/policy/activation.h"

#include <stdbool.h>

#include "tests/check.h"

#if defined(__AVX512F__)
#define SET "avx512"
#elif defined(__AVX2__)
#define SET "avx2"
#else
#define SET "baseline"
#endif

static double reference_exp(double x)
{
    return exp(x < ACTIVATION_LEAST ? ACTIVATION_LEAST : x > ACTIVATION_MOST ? ACTIVATION_MOST : x);
}

static double reference_sigmoid(double x)
{
    return 1 / (1 + exp(-(x < ACTIVATION_LEAST ? ACTIVATION_LEAST : x)));
}

static double reference_silu(double x)
{
    return (x < ACTIVATION_LEAST ? ACTIVATION_LEAST : x) * reference_sigmoid(x);
}

enum { BLOCK = 16 };

#define FOR_LANES(name, lanes) \
    static void name##_by_##lanes(const float *x, float *ret) \
    { \
        for (int i = 0; i < BLOCK; i += lanes) { \
            activation_float##lanes v; \
            memcpy(&v, x + i, sizeof v); \
            v = activation_##name##lanes(v); \
            memcpy(ret + i, &v, sizeof v); \
        } \
    }
#define FOR_ONE(name) \
    static float name##_by_1(float x) \
    { \
        return activation_##name(x); \
    }
#if defined(__AVX512F__)
#define WIDE(name) FOR_LANES(name, 4) FOR_LANES(name, 8) FOR_LANES(name, 16)
#define WIDE_OF(name) \
    { \
        name##_by_4, name##_by_8, name##_by_16 \
    }
#elif defined(__AVX2__)
#define WIDE(name) FOR_LANES(name, 4) FOR_LANES(name, 8)
#define WIDE_OF(name) \
    { \
        name##_by_4, name##_by_8 \
    }
#else
#define WIDE(name) FOR_LANES(name, 4)
#define WIDE_OF(name) \
    { \
        name##_by_4 \
    }
#endif
#define BOTH(name) FOR_ONE(name) WIDE(name)
BOTH(tanh)
BOTH(sigmoid)
BOTH(silu)
BOTH(exp)
BOTH(relu)
BOTH(tanh_slope)
BOTH(sigmoid_slope)
BOTH(silu_slope)

static const struct function {
    const char *name;
    float (*one)(float x);
    void (*wide[3])(const float *x, float *ret);
    double (*reference)(double x); /* NULL: bits only */
    double ulp;
} functions[] = {
    {"tanh", tanh_by_1, WIDE_OF(tanh), tanh, 2.7},
    {"sigmoid", sigmoid_by_1, WIDE_OF(sigmoid), reference_sigmoid, 2.5},
    {"silu", silu_by_1, WIDE_OF(silu), reference_silu, 2.9},
    {"exp", exp_by_1, WIDE_OF(exp), reference_exp, 1.1},
    {"relu", relu_by_1, WIDE_OF(relu), NULL, 0},
    {"tanh_slope", tanh_slope_by_1, WIDE_OF(tanh_slope), NULL, 0},
    {"sigmoid_slope", sigmoid_slope_by_1, WIDE_OF(sigmoid_slope), NULL, 0},
    {"silu_slope", silu_slope_by_1, WIDE_OF(silu_slope), NULL, 0},
};

/* In units of the last place of the float32 nearest to the reference. */
static double ulps(float value, double reference)
{
    int exponent;
    frexp(reference, &exponent);
    double unit = ldexp(1, (exponent < -125 ? -125 : exponent) - 24);
    return fabs((double)value - reference) / unit;
}

static void check_block(const struct function *f, const float *x, double *worst, float *ret_at)
{
    float one[BLOCK], wide[BLOCK];
    for (int i = 0; i < BLOCK; i++)
        one[i] = f->one(x[i]);
    for (int k = 0; k < 3 && f->wide[k]; k++) {
        f->wide[k](x, wide);
        bool same = true;
        for (int i = 0; i < BLOCK; i++)
            same = same && (memcmp(&one[i], &wide[i], 4) == 0 || (isnan(one[i]) && isnan(wide[i])));
        CHECK(same);
        if (!same)
            fprintf(stderr, "%s of %a …, %d lanes\n", f->name, (double)x[0], 4 << k);
    }
    for (int i = 0; i < BLOCK && f->reference; i++) {
        double error =
            isnan(x[i]) ? (isnan(one[i]) ? 0 : INFINITY) : ulps(one[i], f->reference((double)x[i]));
        if (!(error <= *worst)) {
            *worst = error;
            *ret_at = x[i];
        }
    }
}

static void check_function(const struct function *f, uint32_t step)
{
    double worst = 0;
    float at = 0;
    uint32_t bits = 0;
    size_t n = 0;
    for (uint64_t i = 0; i < (UINT64_C(1) << 32); n += BLOCK) {
        float x[BLOCK];
        for (int k = 0; k < BLOCK; k++, i += step) {
            bits = (uint32_t)i;
            memcpy(&x[k], &bits, sizeof bits);
            if (isinf(x[k]) && x[k] > 0 && strcmp(f->name, "silu") == 0)
                x[k] = 1; /* stays, below */
        }
        check_block(f, x, &worst, &at);
    }
    if (f->reference) {
        printf("%s %s: largest error %.3f ulp, at %a, of %zu numbers\n", SET, f->name, worst, (double)at, n);
        CHECK(worst <= f->ulp);
    }
}

/* What the headers promise beside accuracy. */
static void properties(void)
{
    for (double x = 1e-6; x < 100; x *= 1.003) {
        float y = (float)x;
        CHECK(activation_tanh(-y) == -activation_tanh(y)); /* odd */
        CHECK(activation_tanh(y) <= 1.0f && activation_sigmoid(y) <= 1.0f);
        CHECK(activation_sigmoid(-y) >= 0x1p-126f); /* no denormal comes out */
        CHECK(activation_exp(-y) >= 0x1p-126f);
    }
    CHECK(activation_tanh(10.0f) == 1.0f && activation_tanh(INFINITY) == 1.0f);
    CHECK(activation_tanh(0.0f) == 0.0f && signbit(activation_tanh(-0.0f)));
    CHECK(activation_sigmoid(0.0f) == 0.5f && activation_exp(0.0f) == 1.0f && activation_silu(0.0f) == 0.0f);
    CHECK(activation_silu(INFINITY) == INFINITY && activation_silu_slope(INFINITY) == 1.0f);
    for (float x = -88.0f; x<0; x = x> - 1e38f ? x * 2 : x > -INFINITY ? -INFINITY : 0) {
        CHECK_NEAR((double)activation_silu(x), 0, 1.2e-36);
        CHECK_NEAR((double)activation_silu_slope(x), 0, 1.2e-36);
    }
    CHECK(isfinite(activation_exp(INFINITY)) && activation_exp(-INFINITY) >= 0x1p-126f);
    CHECK(isnan(activation_tanh(NAN)) && isnan(activation_exp(NAN)) && isnan(activation_sigmoid(NAN)));
}

static bool supported(void)
{
#if defined(__AVX512F__)
    return __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
#elif defined(__AVX2__)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
    return true;
#endif
}

int main(void)
{
    if (!supported())
        return CHECK_SKIP;
    const uint32_t step = getenv("PAPERTAPE_LONG") ? 127 : 8191;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        check_function(&functions[i], step);
    properties();
    return check_done("trainer/nn/activation " SET);
}
