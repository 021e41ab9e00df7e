/* float32 to 16 bits and back, in integer arithmetic without branches on the data, so that the loops become
 * SIMD on any processor. */
#include <string.h>

#include "indicators_gpu/features/features.h"

static inline uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof(bits));
    return bits;
}

static inline float float_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof(x));
    return x;
}

enum {
    F16_LARGEST = 0x7bff,  /* 65504 */
    F16_NAN = 0x7e00,      /* quiet */
    F16_EXPONENT_BIAS = 15 /* float32: 127 */
};

static inline uint16_t to_f16(float x)
{
    uint32_t bits = bits_of(x), sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;

    /* Normal: move the bias, round to nearest even at the 13 bits that go. */
    uint32_t rebased = magnitude - ((127u - F16_EXPONENT_BIAS) << 23);
    uint32_t normal = (rebased + 0xfffu + (rebased >> 13 & 1u)) >> 13;

    /* Subnormal: adding 2^-24 * 2^23 = 1/2 lets float32 itself round at the right place. */
    uint32_t subnormal = bits_of(float_of(magnitude) + 0.5f) - bits_of(0.5f);

    uint32_t half = magnitude < 0x38800000u ? subnormal : normal; /* 2^-14 */
    half = half > F16_LARGEST || magnitude >= 0x477ff000u ? F16_LARGEST : half;
    half = magnitude > 0x7f800000u ? F16_NAN : half;
    return (uint16_t)(sign | half);
}

static inline uint16_t to_bf16(float x)
{
    uint32_t bits = bits_of(x);
    uint32_t rounded = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
    bool is_nan = (bits & 0x7fffffffu) > 0x7f800000u;
    return (uint16_t)(is_nan ? bits >> 16 | 0x40u : rounded);
}

static inline float from_f16(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000u) << 16, magnitude = half & 0x7fffu;
    uint32_t normal = (magnitude << 13) + ((127u - F16_EXPONENT_BIAS) << 23);
    uint32_t subnormal = bits_of((float)magnitude * 0x1p-24f);
    uint32_t special = 0x7f800000u | (magnitude & 0x3ffu) << 13;
    uint32_t value = magnitude < 0x400u ? subnormal : magnitude >= 0x7c00u ? special : normal;
    return float_of(sign | value);
}

void feature_to_f16(const float *in, size_t n, uint16_t *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = to_f16(in[i]);
}

void feature_to_bf16(const float *in, size_t n, uint16_t *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = to_bf16(in[i]);
}

void feature_from_f16(const uint16_t *in, size_t n, float *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = from_f16(in[i]);
}

void feature_from_bf16(const uint16_t *in, size_t n, float *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = float_of((uint32_t)in[i] << 16);
}
