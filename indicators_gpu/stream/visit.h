/* How each row's memory (step/) is taken apart and put together: what it holds beside what step_NAME_start()
 * derives from the options. Any value that the visitor may set leaves it safe to go on with. The order of
 * fields is saved in states: it never changes. */
#ifndef INDICATORS_GPU_STREAM_VISIT_H
#define INDICATORS_GPU_STREAM_VISIT_H

#include "indicators_gpu/indicators.h"
#include "indicators_gpu/step/ring.h"

typedef void stream_visit_fn(void *state, const struct indicator_stream_fields *fields);

/* A counter of 32 bits, up to `most`. */
static inline void visit_u32(const struct indicator_stream_fields *fields, uint32_t *value, uint64_t most)
{
    uint64_t wide = *value;
    fields->count(fields->ctx, &wide, most);
    *value = (uint32_t)wide;
}

static inline void visit_number(const struct indicator_stream_fields *fields, double *value)
{
    fields->number(fields->ctx, value);
}

/* A window and the values that it holds. */
static inline void visit_ring(const struct indicator_stream_fields *fields, struct ring *r, double cells[])
{
    visit_u32(fields, &r->next, r->length - 1);
    visit_u32(fields, &r->seen, r->length);
    for (uint32_t i = 0; i < r->seen; i++)
        visit_number(fields, &cells[i]);
}

static inline void visit_ema(const struct indicator_stream_fields *fields, struct ema_state *s)
{
    visit_number(fields, &s->value);
    visit_u32(fields, &s->seen, (uint64_t)s->period);
}

static inline void visit_atr(const struct indicator_stream_fields *fields, struct atr_state *s)
{
    visit_number(fields, &s->before);
    visit_number(fields, &s->value);
    visit_u32(fields, &s->seen, (uint64_t)s->period + 1);
}

/* Highs and lows side by side (step/extremes.h). */
static inline void visit_range(const struct indicator_stream_fields *fields, struct ring *r, double cells[])
{
    visit_ring(fields, r, cells);
    for (uint32_t i = 0; i < r->seen; i++)
        visit_number(fields, &cells[r->length + i]);
}

/* moving_averages.c */
extern stream_visit_fn visit_row_sma, visit_row_ema, visit_row_wma, visit_row_dema, visit_row_tema;
extern stream_visit_fn visit_row_kama, visit_row_hma;

/* statistics.c */
extern stream_visit_fn visit_row_stddev, visit_row_var, visit_row_linreg_slope, visit_row_linreg_angle;
extern stream_visit_fn visit_row_log_return, visit_row_zscore, visit_row_quantile, visit_row_rank;

/* momentum.c */
extern stream_visit_fn visit_row_rsi, visit_row_macd, visit_row_ppo, visit_row_roc, visit_row_mom;
extern stream_visit_fn visit_row_trix, visit_row_cci, visit_row_ultosc, visit_row_willr, visit_row_stoch;
extern stream_visit_fn visit_row_stochf, visit_row_stochrsi;

/* volume.c */
extern stream_visit_fn visit_row_mfi, visit_row_obv, visit_row_ad, visit_row_adosc, visit_row_vwap;

/* volatility.c */
extern stream_visit_fn visit_row_atr, visit_row_natr, visit_row_trange, visit_row_bbands, visit_row_keltner,
    visit_row_donchian, visit_row_realvol, visit_row_parkinson, visit_row_garman_klass;

/* trend.c */
extern stream_visit_fn visit_row_plus_di, visit_row_minus_di, visit_row_dx, visit_row_adx, visit_row_adxr,
    visit_row_aroon, visit_row_sar, visit_row_supertrend, visit_row_ichimoku, visit_row_heikin_ashi;

#endif
