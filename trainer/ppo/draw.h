/* Numbers from Philox's words for drawing actions, in float32: the same bits on every CPU and device, since
 * every operation is an IEEE one in a pinned order (files that include this must not contract:
 * -ffp-contract=off, nvcc: -fmad=false). Without branches, so that loops of it become vectors.
 *
 * Uniforms have 24 bits. Normals are Box and Muller's (1958), n0 = r cos(2 pi v), n1 = r sin(2 pi v),
 * r = sqrt(-2 ln u), u in (0, 1], v in [0, 1): at most 5.77 from 0. The logarithm is 2 atanh((m - 1) /
 * (m + 1)) + k ln 2 of u = m 2^k; sine and cosine are Taylor's on an eighth of a turn. r is within 2e-7 of
 * itself, sine and cosine within 1e-7 (tests/trainer/ppo/draw.c goes through all of them). */
#ifndef TRAINER_PPO_DRAW_H
#define TRAINER_PPO_DRAW_H

#include <math.h>
#include <string.h>

#include "exchange/fill_rules.h"

/* [0, 1) */
FILL_RULE float ppo_uniform(uint32_t word)
{
    return (float)(int32_t)(word >> 8) * 0x1p-24f;
}

/* sqrt(-2 ln u), u = (word's 24 bits + 1) 2^-24. */
FILL_RULE float ppo_radius(uint32_t word)
{
    const float u = (float)(int32_t)((word >> 8) + 1); /* 1 .. 2^24 */
    uint32_t bits;
    memcpy(&bits, &u, sizeof bits);
    /* m in [sqrt(1/2), sqrt 2) */
    const uint32_t offset = bits - 0x3F3504F3u;
    const int32_t exponent = (int32_t)(offset >> 23);
    bits = (offset & 0x007FFFFFu) + 0x3F3504F3u;
    float m;
    memcpy(&m, &bits, sizeof m);
    const float s = (m - 1.0f) / (m + 1.0f), q = s * s;
    const float series =
        1.0f + q * (0x1.555556p-2f + q * (0x1.99999ap-3f + q * (0x1.24924ap-3f + q * 0x1.c71c72p-4f)));
    const float log_m = 2.0f * s * series;
    const float log_u = log_m + (float)(exponent - 24) * 0x1.62e430p-1f; /* ln 2 */
    return sqrtf(-2.0f * log_u);
}

/* Cosine and sine of a share of a whole turn. */
FILL_RULE void ppo_turn(uint32_t word, float *ret_cos, float *ret_sin)
{
    const int32_t v = (int32_t)(word >> 8); /* 2^24 a turn */
    const int32_t quarter = (v + (1 << 21)) >> 22;
    const float angle = (float)(v - quarter * (1 << 22)) * 0x1.921fb6p-22f; /* 2 pi / 2^24 */
    const float q = angle * angle;
    const float sine =
        angle *
        (1.0f - q * (0x1.555556p-3f - q * (0x1.111112p-7f - q * (0x1.a01a02p-13f - q * 0x1.71de3ap-19f))));
    const float cosine =
        1.0f - q * (0.5f - q * (0x1.555556p-5f - q * (0x1.6c16c2p-10f - q * 0x1.a01a02p-16f)));
    const float c = quarter & 1 ? sine : cosine, s = quarter & 1 ? cosine : sine;
    *ret_cos = (quarter + 1) & 2 ? -c : c;
    *ret_sin = quarter & 2 ? -s : s;
}

/* Of a pair of words. */
FILL_RULE void ppo_normals(uint32_t first, uint32_t second, float *ret_first, float *ret_second)
{
    float c, s;
    const float r = ppo_radius(first);
    ppo_turn(second, &c, &s);
    *ret_first = r * c;
    *ret_second = r * s;
}

#endif
