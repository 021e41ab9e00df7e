/* Two indicators: a mean with a batch of its own, which is TA-Lib's SMA; and a band of highs and lows without
 * one, whose second option is a fraction. */
#include <math.h>
#include <papertape/indicator.h>
#include <string.h>

#include "tests/indicators_gpu/plugin_cases.h"

static volatile struct {
    char mark[16];
    uint32_t which;
} chosen = {PLUGIN_MARK, 0};

/* ---- mean:period ---- */

static size_t window_lookback(const double *options)
{
    return (size_t)options[0] - 1;
}

struct window {
    uint64_t next;
    double values[]; /* [period] */
};

static size_t mean_size(const double *options)
{
    return sizeof(struct window) + (size_t)options[0] * sizeof(double);
}

/* The oldest value first, as the built-in does: the same bits. */
static void mean_update(const double *options, void *state, const struct papertape_bar *bar, double *outputs)
{
    struct window *window = state;
    size_t period = (size_t)options[0];
    double sum = 0;
    window->values[window->next++ % period] = bar->close;
    for (size_t i = 0; i < period; i++)
        sum += window->values[(window->next + i) % period];
    outputs[0] = sum / (double)period;
}

static void mean_batch(const double *options, const struct papertape_bars *bars, size_t n,
                       double *const *outputs)
{
    size_t period = (size_t)options[0];
    for (size_t i = period - 1; i < n; i++) {
        double sum = 0;
        for (size_t k = i + 1 - period; k <= i; k++)
            sum += bars->close[k];
        outputs[0][i] = sum / (double)period;
    }
}

/* ---- band:period,part ---- */

static size_t band_size(const double *options)
{
    return sizeof(struct window) + 2 * (size_t)options[0] * sizeof(double);
}

static void band_update(const double *options, void *state, const struct papertape_bar *bar, double *outputs)
{
    struct window *window = state;
    size_t period = (size_t)options[0], n = window->next + 1 < period ? window->next + 1 : period;
    double *highs = window->values, *lows = highs + period, high = -INFINITY, low = INFINITY;
    highs[window->next % period] = bar->high;
    lows[window->next++ % period] = bar->low;
    for (size_t i = 0; i < n; i++) {
        high = fmax(high, highs[i]);
        low = fmin(low, lows[i]);
    }
    double part = (high - low) * options[1];
    outputs[0] = high - part;
    outputs[1] = low + part;
}

/* ---- broken:at, which is not finite at some bars ---- */

static size_t count_size(const double *options)
{
    (void)options;
    return sizeof(uint64_t);
}

static size_t none(const double *options)
{
    (void)options;
    return 0;
}

static void broken_update(const double *options, void *state, const struct papertape_bar *bar,
                          double *outputs)
{
    uint64_t *bars = state;
    (void)bar;
    outputs[0] = ++*bars == (uint64_t)options[0] ? (double)INFINITY : (double)*bars;
}

static const struct papertape_option band_options[] = {
    {.name = "period", .value = 10, .min = 1, .max = 1000, .whole = 1},
    {.name = "part", .value = 0.25, .min = 0, .max = 0.5}};
static const struct papertape_option broken_options[] = {
    {.name = "at", .value = 5, .min = 1, .max = 1000, .whole = 1}};
static const char *const only[] = {""}, *const bands[] = {"upper", "lower"};

static const struct papertape_indicator broken = {.size = sizeof broken,
                                                  .version = PAPERTAPE_INDICATOR_VERSION,
                                                  .name = "broken",
                                                  .summary = "the number of the bar, except one",
                                                  .inputs = PAPERTAPE_CLOSE,
                                                  .n_options = 1,
                                                  .options = broken_options,
                                                  .n_outputs = 1,
                                                  .outputs = only,
                                                  .lookback = none,
                                                  .state_size = count_size,
                                                  .update = broken_update};

static const struct papertape_indicator band = {.size = sizeof band,
                                                .version = PAPERTAPE_INDICATOR_VERSION,
                                                .next = &broken,
                                                .name = "band",
                                                .summary = "a part of the range inside its highs and lows",
                                                .inputs = PAPERTAPE_HIGH | PAPERTAPE_LOW,
                                                .n_options = 2,
                                                .options = band_options,
                                                .n_outputs = 2,
                                                .outputs = bands,
                                                .lookback = window_lookback,
                                                .state_size = band_size,
                                                .update = band_update};

static struct papertape_option options[8] = {
    {.name = "period", .value = 20, .min = 1, .max = 1000, .whole = 1}};
static const char *outputs[8] = {""};

static const struct papertape_indicator later = {.size = sizeof later, .version = 9, .name = "later"};

static size_t huge(const double *of)
{
    (void)of;
    return (size_t)1 << 40;
}

static struct papertape_indicator mean = {.size = sizeof mean,
                                          .version = PAPERTAPE_INDICATOR_VERSION,
                                          .next = &band,
                                          .name = "mean",
                                          .summary = "the mean of the last closes",
                                          .inputs = PAPERTAPE_CLOSE,
                                          .n_options = 1,
                                          .options = options,
                                          .n_outputs = 1,
                                          .outputs = outputs,
                                          .lookback = window_lookback,
                                          .state_size = mean_size,
                                          .update = mean_update,
                                          .batch = mean_batch};

/* What is wrong with the options. */
static void spoil_options(void)
{
    if (chosen.which == PLUGIN_OPTION_NAME)
        options[0].name = "Period";
    if (chosen.which == PLUGIN_OPTION_RANGE)
        options[0].min = 2000;
    if (chosen.which == PLUGIN_OPTION_NEGATIVE)
        options[0].min = -1;
    if (chosen.which == PLUGIN_OPTION_DEFAULT)
        options[0].value = 0;
    if (chosen.which == PLUGIN_OPTION_NAN)
        options[0].value = (double)NAN;
    if (chosen.which == PLUGIN_OPTION_WHOLE)
        options[0].value = 2.5;
    if (chosen.which == PLUGIN_OPTION_TWICE) {
        options[1] = options[0];
        mean.n_options = 2;
    }
    if (chosen.which == PLUGIN_OPTIONS_MANY)
        mean.n_options = 5;
    if (chosen.which == PLUGIN_OPTIONS_MISSING)
        mean.options = NULL;
}

static void spoil_outputs(void)
{
    if (chosen.which == PLUGIN_OUTPUTS_NONE)
        mean.n_outputs = 0;
    if (chosen.which == PLUGIN_OUTPUTS_MANY)
        mean.n_outputs = 5;
    if (chosen.which == PLUGIN_OUTPUT_ONLY)
        outputs[0] = "A B";
    if (chosen.which == PLUGIN_OUTPUT_NAME)
        mean.n_outputs = 2;
    if (chosen.which == PLUGIN_OUTPUT_TWICE) {
        outputs[0] = outputs[1] = "same";
        mean.n_outputs = 2;
    }
}

const struct papertape_indicator *papertape_indicator_v1(void)
{
    spoil_options();
    spoil_outputs();
    if (chosen.which == PLUGIN_VERSION)
        mean.version = 7;
    if (chosen.which == PLUGIN_NEXT_VERSION)
        mean.next = &later;
    if (chosen.which == PLUGIN_NAME)
        mean.name = "Mean!";
    if (chosen.which == PLUGIN_NAME_TWICE)
        mean.name = "band";
    if (chosen.which == PLUGIN_SUMMARY)
        mean.summary = NULL;
    if (chosen.which == PLUGIN_INPUTS)
        mean.inputs = 64;
    if (chosen.which == PLUGIN_LOOKBACK)
        mean.lookback = NULL;
    if (chosen.which == PLUGIN_UPDATE)
        mean.update = NULL;
    if (chosen.which == PLUGIN_HUGE_STATE)
        mean.state_size = huge;
    if (chosen.which == PLUGIN_HUGE_LOOKBACK)
        mean.lookback = huge;
    return &mean;
}
