#include "indicators_gpu/exact/exact.h"

#include <math.h>

#include "indicators_gpu/exact/walks.h"
#include "indicators_gpu/indicator_rows.h"
#include "indicators_gpu/isa.h"

#if HAVE_AVX_SETS
extern const struct exact_set fast_exact_set_baseline, fast_exact_set_avx2, fast_exact_set_avx512;
#else
extern const struct exact_set fast_exact_set_baseline;
#endif

static const struct exact_set *set_of(enum indicator_isa isa)
{
    switch (isa) {
#if HAVE_AVX_SETS
    case INDICATOR_ISA_AVX512:
        return &fast_exact_set_avx512;
    case INDICATOR_ISA_AVX2:
        return &fast_exact_set_avx2;
#endif
    default:
        return &fast_exact_set_baseline;
    }
}

bool exact_serves(const struct indicator_spec *spec)
{
    switch (spec->row->id) {
    case INDICATOR_SMA:
    case INDICATOR_EMA:
    case INDICATOR_RSI:
    case INDICATOR_MACD:
    case INDICATOR_ATR:
        return true;
    default:
        return false;
    }
}

size_t exact_lanes(const struct indicator_spec *spec, enum indicator_isa isa)
{
    return spec->row->id == INDICATOR_SMA ? 1 : set_of(isa)->lanes;
}

static void clear_warm_up(const struct exact_task *task)
{
    size_t first = indicator_lookback(task->spec);
    for (size_t k = 0; k < task->spec->row->n_outputs; k++)
        for (size_t i = 0; task->done + i < first && i < task->n; i++)
            task->out[k][i] = NAN;
}

void exact_compute(const struct exact_task *tasks, size_t n_tasks, enum indicator_isa isa)
{
    const struct exact_set *set = set_of(isa);
    for (size_t t = 0; t < n_tasks; t++)
        clear_warm_up(&tasks[t]);
    switch (tasks[0].spec->row->id) {
    case INDICATOR_SMA:
        set->sma(tasks, n_tasks);
        break;
    case INDICATOR_EMA:
        set->ema(tasks, n_tasks);
        break;
    case INDICATOR_RSI:
        set->rsi(tasks, n_tasks);
        break;
    case INDICATOR_MACD:
        set->macd(tasks, n_tasks);
        break;
    default:
        set->atr(tasks, n_tasks);
        break;
    }
}
