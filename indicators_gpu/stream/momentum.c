#include "indicators_gpu/step/oscillators.h"

#include "indicators_gpu/stream/visit.h"

static void visit_rsi(const struct indicator_stream_fields *fields, struct rsi_state *s)
{
    visit_number(fields, &s->before);
    visit_number(fields, &s->gain);
    visit_number(fields, &s->loss);
    visit_u32(fields, &s->seen, (uint64_t)s->period + 1);
}

void visit_row_rsi(void *state, const struct indicator_stream_fields *fields)
{
    visit_rsi(fields, &((struct step_rsi *)state)->rsi);
}

void visit_row_cmo(void *state, const struct indicator_stream_fields *fields)
{
    visit_rsi(fields, &((struct step_cmo *)state)->rsi);
}

static void visit_macd(const struct indicator_stream_fields *fields, struct macd_state *s)
{
    visit_ema(fields, &s->fast);
    visit_ema(fields, &s->slow);
    visit_ema(fields, &s->signal);
    visit_u32(fields, &s->wait, (uint64_t)(s->slow.period - s->fast.period));
}

void visit_row_macd(void *state, const struct indicator_stream_fields *fields)
{
    visit_macd(fields, &((struct step_macd *)state)->macd);
}

void visit_row_macdfix(void *state, const struct indicator_stream_fields *fields)
{
    visit_macd(fields, &((struct step_macdfix *)state)->macd);
}

void visit_row_macdext(void *state, const struct indicator_stream_fields *fields)
{
    struct step_macdext *s = state;
    double *closes = (double *)(s + 1);
    visit_ring(fields, &s->closes, closes);
    visit_ring(fields, &s->signal, closes + s->closes.length);
}

void visit_row_ppo(void *state, const struct indicator_stream_fields *fields)
{
    struct step_ppo *s = state;
    if (s->exponential) {
        visit_ema(fields, &s->fast);
        visit_ema(fields, &s->slow);
    } else {
        visit_ring(fields, &s->window, (double *)(s + 1));
    }
}

void visit_row_apo(void *state, const struct indicator_stream_fields *fields)
{
    visit_row_ppo(state, fields);
}

void visit_row_roc(void *state, const struct indicator_stream_fields *fields)
{
    struct step_roc *s = state;
    visit_ring(fields, &s->window, (double *)(s + 1));
}

void visit_row_mom(void *state, const struct indicator_stream_fields *fields)
{
    struct step_mom *s = state;
    visit_ring(fields, &s->window, (double *)(s + 1));
}

void visit_row_trix(void *state, const struct indicator_stream_fields *fields)
{
    struct step_trix *s = state;
    for (int i = 0; i < 3; i++)
        visit_ema(fields, &s->ema[i]);
    visit_number(fields, &s->before);
    fields->count(fields->ctx, &s->any, 1);
}

void visit_row_cci(void *state, const struct indicator_stream_fields *fields)
{
    struct step_cci *s = state;
    visit_ring(fields, &s->window, (double *)(s + 1));
}

void visit_row_ultosc(void *state, const struct indicator_stream_fields *fields)
{
    struct step_ultosc *s = state;
    double *cells = (double *)(s + 1);
    visit_number(fields, &s->before);
    visit_u32(fields, &s->any, 1);
    visit_ring(fields, &s->pressure, cells);
    visit_ring(fields, &s->range, cells + s->pressure.length);
}

static void visit_range_window(const struct indicator_stream_fields *fields, struct range_window *s,
                               double cells[])
{
    visit_ring(fields, &s->high, cells);
    visit_ring(fields, &s->low, cells + s->high.length);
}

void visit_row_willr(void *state, const struct indicator_stream_fields *fields)
{
    struct step_willr *s = state;
    visit_range_window(fields, &s->window, (double *)(s + 1));
}

void visit_row_stoch(void *state, const struct indicator_stream_fields *fields)
{
    struct step_stoch *s = state;
    double *cells = (double *)(s + 1), *k_cells = cells + range_window_cells(s->window.length);
    visit_range_window(fields, &s->window, cells);
    visit_ring(fields, &s->k, k_cells);
    visit_ring(fields, &s->d, k_cells + s->k.length);
}

void visit_row_stochf(void *state, const struct indicator_stream_fields *fields)
{
    struct step_stochf *s = state;
    double *cells = (double *)(s + 1);
    visit_range_window(fields, &s->window, cells);
    visit_ring(fields, &s->d, cells + range_window_cells(s->window.length));
}

void visit_row_stochrsi(void *state, const struct indicator_stream_fields *fields)
{
    struct step_stochrsi *s = state;
    double *cells = (double *)(s + 1);
    visit_number(fields, &s->rsi.before);
    visit_number(fields, &s->rsi.gain);
    visit_number(fields, &s->rsi.loss);
    visit_u32(fields, &s->rsi.seen, (uint64_t)s->rsi.period + 1);
    visit_ring(fields, &s->window, cells);
    visit_ring(fields, &s->d, cells + s->window.length);
}

static void visit_blau(const struct indicator_stream_fields *fields, struct blau_state *s)
{
    for (int i = 0; i < 2; i++) {
        visit_ema(fields, &s->value[i]);
        visit_ema(fields, &s->measure[i]);
    }
}

void visit_row_tsi(void *state, const struct indicator_stream_fields *fields)
{
    struct step_tsi *s = state;
    visit_blau(fields, &s->smooth);
    visit_delta(fields, &s->close);
}

void visit_row_smi(void *state, const struct indicator_stream_fields *fields)
{
    struct step_smi *s = state;
    visit_range_window(fields, &s->window, (double *)(s + 1));
    visit_blau(fields, &s->smooth);
    visit_ema(fields, &s->signal);
}

void visit_row_kdj(void *state, const struct indicator_stream_fields *fields)
{
    struct step_kdj *s = state;
    visit_range_window(fields, &s->window, (double *)(s + 1));
    visit_wilder(fields, &s->k);
    visit_wilder(fields, &s->d);
}

void visit_row_rvi(void *state, const struct indicator_stream_fields *fields)
{
    struct step_rvi *s = state;
    visit_ring(fields, &s->closes, (double *)(s + 1));
    visit_wilder(fields, &s->up);
    visit_wilder(fields, &s->down);
}
