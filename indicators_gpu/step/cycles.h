/* Cycles by the Hilbert transform, written once, bar by bar (STEPS in indicator_rows.h). See step/dispatch.h
 * for a row's functions.
 *
 * Source: J. F. Ehlers, Rocket Science for Traders, 2001, as TA-Lib computes it (ta_HT_*.c and ta_MAMA.c
 * describe it): filters of the smoothed price for even and odd bars apart, which are 0 at the beginning and
 * run for 20 or 26 bars before the first output. */
#ifndef INDICATORS_GPU_STEP_CYCLES_H
#define INDICATORS_GPU_STEP_CYCLES_H

#include <stddef.h>

#include "indicators_gpu/indicators.h"
#include "indicators_gpu/step/exact_math.h"
#include "indicators_gpu/step/ring.h"

#define CYCLE_DEGREES (180.0 / 0x1.921fb54442d18p+1)

enum {
    CYCLE_FIRST = 32, /* bar of the first output of what needs the period */
    CYCLE_BEGIN = 12, /* bar at which the filters begin for these */
    PHASE_FIRST = 63, /* the same for what needs the phase */
    PHASE_BEGIN = 37,
    CYCLE_LONGEST = 50 /* bars of the longest period */
};

/* One filter's memory for the even bars or the odd ones. */
struct hilbert_half {
    double taps[3]; /* in the order of `tap` */
    double scaled, input;
};

struct hilbert {
    struct hilbert_half half[2];
};

/* The common part. Numbers only, then counts. */
struct cycle {
    double price[3]; /* the last ones, the newest first */
    struct hilbert detrender, quadrature, ahead_inphase, ahead_quadrature;
    double inphase_next[2], inphase_of[2]; /* of odd bars and even ones */
    double i2, q2, re, im, period, smooth_period;
    double smooth, inphase, q1; /* this bar's */
    alignas(8) uint32_t seen;   /* bars, up to CYCLE_SEEN, which keeps even and odd apart */
    uint32_t tap, begin;
};

enum { CYCLE_SEEN = 128, CYCLE_NUMBERS = offsetof(struct cycle, seen) / sizeof(double) };

STEP void cycle_start(struct cycle *s, uint32_t begin)
{
    double *numbers = (double *)s;
    for (unsigned i = 0; i < CYCLE_NUMBERS; i++)
        numbers[i] = 0.0;
    s->seen = s->tap = 0;
    s->begin = begin;
}

STEP double hilbert_next(struct hilbert_half *h, unsigned tap, double x, double adjust)
{
    double scaled = 0.0962 * x, y = -h->taps[tap];
    h->taps[tap] = scaled;
    y += scaled;
    y -= h->scaled;
    h->scaled = 0.5769 * h->input;
    y += h->scaled;
    h->input = x;
    return y * adjust;
}

/* The period from the phase's turn between two bars, within bounds, smoothed. */
STEP double cycle_period(const struct cycle *s)
{
    double before = s->period, period = before;
    if (s->im != 0.0 && s->re != 0.0)
        period = 360.0 / (exact_atan(s->im / s->re) * CYCLE_DEGREES);
    if (period > 1.5 * before)
        period = 1.5 * before;
    if (period < 0.67 * before)
        period = 0.67 * before;
    if (period < 6.0)
        period = 6.0;
    else if (period > CYCLE_LONGEST)
        period = CYCLE_LONGEST;
    return 0.2 * period + 0.8 * before;
}

/* The filters of one bar. */
STEP void cycle_filter(struct cycle *s, unsigned odd)
{
    double adjust = 0.075 * s->period + 0.54, inphase = s->inphase_of[odd];
    double detrender = hilbert_next(&s->detrender.half[odd], s->tap, s->smooth, adjust);
    double q1 = hilbert_next(&s->quadrature.half[odd], s->tap, detrender, adjust);
    double ji = hilbert_next(&s->ahead_inphase.half[odd], s->tap, inphase, adjust);
    double jq = hilbert_next(&s->ahead_quadrature.half[odd], s->tap, q1, adjust);
    if (!odd)
        s->tap = s->tap >= 2 ? 0 : s->tap + 1;
    double q2 = 0.2 * (q1 + ji) + 0.8 * s->q2, i2 = 0.2 * (inphase - jq) + 0.8 * s->i2;

    s->inphase_of[!odd] = s->inphase_next[!odd];
    s->inphase_next[!odd] = detrender;
    s->re = 0.2 * (i2 * s->i2 + q2 * s->q2) + 0.8 * s->re;
    s->im = 0.2 * (i2 * s->q2 - q2 * s->i2) + 0.8 * s->im;
    s->q2 = q2;
    s->i2 = i2;
    s->inphase = inphase;
    s->q1 = q1;
}

/* Takes a price; true once the filters run. */
STEP bool cycle_step(struct cycle *s, double price)
{
    uint32_t bar = s->seen;
    s->smooth = (4.0 * price + 3.0 * s->price[0] + 2.0 * s->price[1] + s->price[2]) * 0.1;
    s->price[2] = s->price[1];
    s->price[1] = s->price[0];
    s->price[0] = price;
    s->seen = bar + 1 < CYCLE_SEEN ? bar + 1 : CYCLE_SEEN - 2 + (bar + 1) % 2;
    if (bar < s->begin)
        return false;
    cycle_filter(s, bar % 2);
    s->period = cycle_period(s);
    s->smooth_period = 0.33 * s->period + 0.67 * s->smooth_period;
    return true;
}

/* Whether bar `first` or a later one was the last. */
STEP bool cycle_reached(const struct cycle *s, uint32_t first)
{
    return s->seen > first;
}

/* The period in whole bars. */
STEP uint32_t cycle_bars(const struct cycle *s)
{
    double bars = s->smooth_period + 0.5;
    return bars >= 1.0 ? bars < CYCLE_LONGEST + 1.0 ? (uint32_t)bars : CYCLE_LONGEST : 0;
}

struct step_ht_dcperiod {
    struct cycle cycle;
};

struct step_ht_phasor {
    struct cycle cycle;
};

STEP size_t step_ht_dcperiod_cells(const double options[])
{
    (void)options;
    return 0;
}

STEP size_t step_ht_phasor_cells(const double options[])
{
    (void)options;
    return 0;
}

STEP void step_ht_dcperiod_start(struct step_ht_dcperiod *s, const double options[])
{
    (void)options;
    cycle_start(&s->cycle, CYCLE_BEGIN);
}

STEP bool step_ht_dcperiod_next(struct step_ht_dcperiod *s, const struct indicator_bar *bar, double out[])
{
    cycle_step(&s->cycle, bar->close);
    if (!cycle_reached(&s->cycle, CYCLE_FIRST))
        return false;
    out[0] = s->cycle.smooth_period;
    return true;
}

STEP void step_ht_phasor_start(struct step_ht_phasor *s, const double options[])
{
    (void)options;
    cycle_start(&s->cycle, CYCLE_BEGIN);
}

STEP bool step_ht_phasor_next(struct step_ht_phasor *s, const struct indicator_bar *bar, double out[])
{
    cycle_step(&s->cycle, bar->close);
    if (!cycle_reached(&s->cycle, CYCLE_FIRST))
        return false;
    out[0] = s->cycle.inphase;
    out[1] = s->cycle.q1;
    return true;
}

/* The average that follows fast where the phase turns fast, and its follower. */
struct step_mama {
    double phase, mama, fama;
    double fast, slow;
    struct cycle cycle;
};

STEP size_t step_mama_cells(const double options[])
{
    (void)options;
    return 0;
}

STEP void step_mama_start(struct step_mama *s, const double options[])
{
    s->phase = s->mama = s->fama = 0.0;
    s->fast = options[0];
    s->slow = options[1];
    cycle_start(&s->cycle, CYCLE_BEGIN);
}

STEP bool step_mama_next(struct step_mama *s, const struct indicator_bar *bar, double out[])
{
    if (!cycle_step(&s->cycle, bar->close))
        return false;
    double inphase = s->cycle.inphase, before = s->phase;
    s->phase = inphase != 0.0 ? exact_atan(s->cycle.q1 / inphase) * CYCLE_DEGREES : 0.0;
    double turn = before - s->phase, weight = s->fast;
    if (turn > 1.0) {
        weight = s->fast / turn;
        if (weight < s->slow)
            weight = s->slow;
    }
    s->mama = weight * bar->close + (1.0 - weight) * s->mama;
    weight *= 0.5;
    s->fama = weight * s->mama + (1.0 - weight) * s->fama;
    if (!cycle_reached(&s->cycle, CYCLE_FIRST))
        return false;
    out[0] = s->mama;
    out[1] = s->fama;
    return true;
}

/* The cycle's phase by a Fourier sum over one period of smoothed prices, and the trend line. */
struct cycle_phase {
    double degrees;
    double line[3]; /* means of a period of closes, the newest first */
    double smooth[CYCLE_LONGEST], close[CYCLE_LONGEST];
    alignas(8) uint32_t at; /* of the newest in both */
    struct cycle cycle;
};

STEP void phase_start(struct cycle_phase *s)
{
    s->degrees = 0.0;
    for (int i = 0; i < 3; i++)
        s->line[i] = 0.0;
    for (int i = 0; i < CYCLE_LONGEST; i++)
        s->smooth[i] = s->close[i] = 0.0;
    s->at = 0;
    cycle_start(&s->cycle, PHASE_BEGIN);
}

/* Takes a price; true once the filters run. */
STEP bool phase_push(struct cycle_phase *s, double price)
{
    bool runs = cycle_step(&s->cycle, price);
    s->at = s->at + 1 < CYCLE_LONGEST ? s->at + 1 : 0;
    s->smooth[s->at] = runs ? s->cycle.smooth : 0.0;
    s->close[s->at] = price;
    return runs;
}

/* The place of the bar before that at `at`. */
STEP uint32_t phase_before(uint32_t at)
{
    return at > 0 ? at - 1 : CYCLE_LONGEST - 1;
}

STEP void phase_turn(struct cycle_phase *s)
{
    uint32_t bars = cycle_bars(&s->cycle), at = s->at;
    double sines = 0.0, cosines = 0.0;
    for (uint32_t i = 0; i < bars; i++, at = phase_before(at)) {
        double sine, cosine;
        exact_sin_cos((double)i * (0x1.921fb54442d18p+2) / (double)bars, &sine, &cosine);
        sines += sine * s->smooth[at];
        cosines += cosine * s->smooth[at];
    }
    double size = fabs(cosines);
    if (size > 0.0)
        s->degrees = exact_atan(sines / cosines) * CYCLE_DEGREES;
    else
        s->degrees += s->degrees < 0.0 ? -90.0 : s->degrees > 0.0 ? 90.0 : 0.0;
    s->degrees += 90.0;
    s->degrees += 360.0 / s->cycle.smooth_period;
    if (cosines < 0.0)
        s->degrees += 180.0;
    if (s->degrees > 315.0)
        s->degrees -= 360.0;
}

STEP void phase_sines(const struct cycle_phase *s, double *ret_sine, double *ret_lead)
{
    double unused;
    exact_sin_cos(s->degrees / CYCLE_DEGREES, ret_sine, &unused);
    exact_sin_cos((s->degrees + 45.0) / CYCLE_DEGREES, ret_lead, &unused);
}

/* The mean of one period of closes, weighted with the three before. */
STEP double phase_line(struct cycle_phase *s)
{
    uint32_t bars = cycle_bars(&s->cycle), at = s->at;
    double sum = 0.0;
    for (uint32_t i = 0; i < bars; i++, at = phase_before(at))
        sum += s->close[at];
    double mean = bars > 0 ? sum / (double)bars : 0.0;
    double line = (4.0 * mean + 3.0 * s->line[0] + 2.0 * s->line[1] + s->line[2]) / 10.0;
    s->line[2] = s->line[1];
    s->line[1] = s->line[0];
    s->line[0] = mean;
    return line;
}

struct step_ht_dcphase {
    struct cycle_phase phase;
};

struct step_ht_sine {
    struct cycle_phase phase;
};

struct step_ht_trendline {
    struct cycle_phase phase;
};

struct step_ht_trendmode {
    double sine, lead, in_trend; /* the last bar's sines; bars since they crossed */
    struct cycle_phase phase;
};

STEP size_t step_ht_dcphase_cells(const double options[])
{
    (void)options;
    return 0;
}

STEP size_t step_ht_sine_cells(const double options[])
{
    (void)options;
    return 0;
}

STEP size_t step_ht_trendline_cells(const double options[])
{
    (void)options;
    return 0;
}

STEP size_t step_ht_trendmode_cells(const double options[])
{
    (void)options;
    return 0;
}

STEP void step_ht_dcphase_start(struct step_ht_dcphase *s, const double options[])
{
    (void)options;
    phase_start(&s->phase);
}

STEP bool step_ht_dcphase_next(struct step_ht_dcphase *s, const struct indicator_bar *bar, double out[])
{
    if (phase_push(&s->phase, bar->close))
        phase_turn(&s->phase);
    if (!cycle_reached(&s->phase.cycle, PHASE_FIRST))
        return false;
    out[0] = s->phase.degrees;
    return true;
}

STEP void step_ht_sine_start(struct step_ht_sine *s, const double options[])
{
    (void)options;
    phase_start(&s->phase);
}

STEP bool step_ht_sine_next(struct step_ht_sine *s, const struct indicator_bar *bar, double out[])
{
    if (phase_push(&s->phase, bar->close))
        phase_turn(&s->phase);
    if (!cycle_reached(&s->phase.cycle, PHASE_FIRST))
        return false;
    phase_sines(&s->phase, &out[0], &out[1]);
    return true;
}

STEP void step_ht_trendline_start(struct step_ht_trendline *s, const double options[])
{
    (void)options;
    phase_start(&s->phase);
}

STEP bool step_ht_trendline_next(struct step_ht_trendline *s, const struct indicator_bar *bar, double out[])
{
    double line = phase_push(&s->phase, bar->close) ? phase_line(&s->phase) : 0.0;
    if (!cycle_reached(&s->phase.cycle, PHASE_FIRST))
        return false;
    out[0] = line;
    return true;
}

STEP void step_ht_trendmode_start(struct step_ht_trendmode *s, const double options[])
{
    (void)options;
    s->sine = s->lead = s->in_trend = 0.0;
    phase_start(&s->phase);
}

/* A trend, unless the sines crossed within half a period or the phase turns as a cycle's does; a trend
 * anyway where the price is far from the line. */
STEP bool step_ht_trendmode_next(struct step_ht_trendmode *s, const struct indicator_bar *bar, double out[])
{
    double before = s->phase.degrees, sine = s->sine, lead = s->lead;
    if (!phase_push(&s->phase, bar->close))
        return false;
    phase_turn(&s->phase);
    phase_sines(&s->phase, &s->sine, &s->lead);
    double line = phase_line(&s->phase), period = s->phase.cycle.smooth_period, trend = 1.0;
    if ((s->sine > s->lead && sine <= lead) || (s->sine < s->lead && sine >= lead)) {
        s->in_trend = 0.0;
        trend = 0.0;
    }
    s->in_trend += 1.0;
    if (s->in_trend < 0.5 * period)
        trend = 0.0;
    double turn = s->phase.degrees - before;
    if (period != 0.0 && turn > 0.67 * 360.0 / period && turn < 1.5 * 360.0 / period)
        trend = 0.0;
    if (line != 0.0 && fabs((s->phase.cycle.smooth - line) / line) >= 0.015)
        trend = 1.0;
    if (!cycle_reached(&s->phase.cycle, PHASE_FIRST))
        return false;
    out[0] = trend;
    return true;
}

#endif
