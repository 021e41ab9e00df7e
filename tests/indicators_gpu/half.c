/* 16-bit forms: every pattern back and forth, rounding against the compiler's own float16 where it has one
 * and against the definition, and how far values move. */
#include "indicators_gpu/features/features.h"
#include "tests/check.h"
#include "tests/random.h"

enum { DRAWS = 2000000, CHUNK = 1000 };

static float float_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof(x));
    return x;
}

static uint16_t f16_of(float x)
{
    uint16_t half;
    feature_to_f16(&x, 1, &half);
    return half;
}

static float of_f16(uint16_t half)
{
    float x;
    feature_from_f16(&half, 1, &x);
    return x;
}

static uint16_t bf16_of(float x)
{
    uint16_t half;
    feature_to_bf16(&x, 1, &half);
    return half;
}

static float of_bf16(uint16_t half)
{
    float x;
    feature_from_bf16(&half, 1, &x);
    return x;
}

static void test_every_pattern(void)
{
    size_t bad = 0;
    for (uint32_t bits = 0; bits <= UINT16_MAX; bits++) {
        bool is_nan = (bits & 0x7c00u) == 0x7c00u && (bits & 0x3ffu),
             is_infinity = (bits & 0x7fffu) == 0x7c00u;
        float x = of_f16((uint16_t)bits);
        if (is_nan)
            bad += !isnan(x) || (f16_of(x) & 0x7fffu) <= 0x7c00u;
        else if (is_infinity)
            bad += !isinf(x) || f16_of(x) != (bits & 0x8000u) + 0x7bffu;
        else
            bad += x != ldexpf((bits & 0x7c00u ? 1024.0f : 0.0f) + (float)(bits & 0x3ffu),
                               (bits & 0x7c00u ? (int)(bits >> 10 & 31u) : 1) - 25) *
                            (bits & 0x8000u ? -1.0f : 1.0f) ||
                   f16_of(x) != bits;
        float y = of_bf16((uint16_t)bits);
        bad += isnan(y) ? !isnan(of_bf16(bf16_of(y))) : bf16_of(y) != bits;
    }
    CHECK_INT(bad, 0);
}

/* The nearest of a format's values, the even pattern of two that are equally near. */
static bool is_nearest(double x, uint16_t got, float (*value)(uint16_t))
{
    double off = fabs((double)value(got) - x);
    for (int step = -1; step <= 1; step += 2) {
        uint16_t other = (uint16_t)(got + step);
        if ((other & 0x8000u) != (got & 0x8000u) || !isfinite(value(other)))
            continue;
        double beside = fabs((double)value(other) - x);
        if (beside < off || (beside == off && (got & 1u)))
            return false;
    }
    return true;
}

static void test_rounding(struct random *random)
{
    double worst_f16 = 0, worst_bf16 = 0;
    size_t bad = 0;
    for (size_t i = 0; i < DRAWS; i++) {
        uint32_t bits = (uint32_t)random_next(random);
        if (i % 2) /* where float16 has values */
            bits = (bits & 0x807fffffu) | (uint32_t)(100 + i / 2 % 46) << 23;
        if (i % 8 == 1) /* half way between two of them */
            bits = (bits & ~0x1fffu) | 0x1000u;
        if (i % 8 == 2)
            bits = (bits & ~0xffffu) | 0x8000u;
        float x = float_of(bits);
        if (!isfinite(x))
            continue;
        uint16_t f16 = f16_of(x), bf16 = bf16_of(x);
        bad += fabsf(x) > 65504.0f ? (f16 & 0x7fffu) != 0x7bffu : !is_nearest(x, f16, of_f16);
        bad += fabsf(x) > 0x1.fep127f ? 0 : !is_nearest(x, bf16, of_bf16);
#ifdef __FLT16_MAX__
        _Float16 own = (_Float16)x;
        uint16_t own_bits;
        memcpy(&own_bits, &own, sizeof(own_bits));
        bad += fabsf(x) < 65520.0f && own_bits != f16;
#endif
        if (fabsf(x) >= 0x1p-14f && fabsf(x) <= 65504.0f)
            worst_f16 = fmax(worst_f16, fabs((double)of_f16(f16) - x) / fabs((double)x));
        if (fabsf(x) >= 0x1p-126f && fabsf(x) <= 0x1.fep127f)
            worst_bf16 = fmax(worst_bf16, fabs((double)of_bf16(bf16) - x) / fabs((double)x));
    }
    CHECK_INT(bad, 0);
    CHECK(worst_f16 <= 0x1p-11);
    CHECK(worst_bf16 <= 0x1p-8);
    printf("%d draws: float16 moves normal values by at most %.4f %%, bfloat16 by %.4f %%\n", DRAWS,
           100 * worst_f16, 100 * worst_bf16);
    CHECK(worst_f16 < 0.001 && worst_bf16 < 0.004);
}

static void test_special(void)
{
    CHECK_INT(f16_of(0.0f), 0);
    CHECK_INT(f16_of(-0.0f), 0x8000);
    CHECK_INT(f16_of(65519.0f), 0x7bff);
    CHECK_INT(f16_of(1e30f), 0x7bff);
    CHECK_INT(f16_of(-INFINITY), 0xfbff);
    CHECK_INT(f16_of(0x1p-25f), 0);
    CHECK_INT(f16_of(0x1.8p-25f), 1);
    CHECK_INT(f16_of(0x1p-24f), 1);
    CHECK(isnan(of_f16(f16_of(NAN))) && isnan(of_bf16(bf16_of(NAN))) && isnan(of_bf16(bf16_of(-NAN))));
    CHECK_INT(bf16_of(INFINITY), 0x7f80);
    float in[CHUNK];
    uint16_t one[CHUNK], f16[CHUNK], bf16[CHUNK];
    for (size_t i = 0; i < CHUNK; i++)
        in[i] = (float)(((double)i - 500.0) * 0.01234);
    for (size_t n = 0; n < 70; n++) { /* whole runs as cell by cell, and nothing behind them */
        memset(f16, 0xee, sizeof(f16));
        memset(bf16, 0xee, sizeof(bf16));
        feature_to_f16(in, n, f16);
        feature_to_bf16(in, n, bf16);
        for (size_t i = 0; i < n; i++) {
            one[i] = f16_of(in[i]);
            CHECK(f16[i] == one[i] && bf16[i] == bf16_of(in[i]));
        }
        CHECK(f16[n] == 0xeeee && bf16[n] == 0xeeee);
    }
}

int main(void)
{
    struct random random = random_seeded("indicators_gpu/half", 16);
    test_every_pattern();
    test_rounding(&random);
    test_special();
    return check_done("indicators_gpu/half");
}
