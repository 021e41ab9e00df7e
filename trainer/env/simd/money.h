/* Money of a vector of copies: LANES floats where LANES_MONEY32 is 1, else LANES doubles, and m_ functions
 * over either, so that a kernel is written once; lanes.h has the contract. */
#ifndef TRAINER_ENV_SIMD_MONEY_H
#define TRAINER_ENV_SIMD_MONEY_H

#include "trainer/env/simd/lanes.h"

#if LANES_MONEY32
typedef lane_f money;
typedef mask_f mask_m;
typedef float money_one;
#define m_load         f_load
#define m_store        f_store
#define m_all(x)       f_all((float)(x))
#define m_add(a, b)    ((a) + (b))
#define m_sub(a, b)    ((a) - (b))
#define m_mul(a, b)    ((a) * (b))
#define m_div(a, b)    ((a) / (b))
#define m_max          f_max
#define m_min          f_min
#define m_select       f_select
#define m_of(v)        (v) /* of floats */
#define f_of_m(v)      (v)
#define m_lt           f_lt
#define m_le           f_le
#define m_gt           f_gt
#define m_ge           f_ge
#define m_to_dd        dd_of
#define m_of_dd        f_of
#define m_both(a, b)   ((a) & (b))
#define m_mask(m)      (m) /* of floats' */
#define f_mask_of_m(m) (m)
#else
typedef lane_dd money;
typedef mask_dd mask_m;
typedef double money_one;
#define m_load      dd_load
#define m_store     dd_store
#define m_all       dd_all
#define m_add       dd_add
#define m_sub       dd_sub
#define m_mul       dd_mul
#define m_div       dd_div
#define m_max       dd_max
#define m_min       dd_min
#define m_select    dd_pick
#define m_of        dd_of
#define f_of_m      f_of
#define m_lt        dd_lt
#define m_le        dd_le
#define m_gt        dd_gt
#define m_ge        dd_ge
#define m_to_dd(v)  (v)
#define m_of_dd(v)  (v)
#define m_both      dd_both
#define m_mask      dd_mask
#define f_mask_of_m f_mask_of
#endif

#endif
