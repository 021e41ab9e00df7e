/* Histograms of an evaluation's actions. */
#include <math.h>
#include <stdio.h>

#include "trainer/report/evaluation.h"

enum { BARS = 40, CHARTS_MAX = 6, BARS_MAX = 101 /* a bar a level, ENV_LEVELS_MAX */ };

_Static_assert(BARS_MAX >= (int)ENV_LEVELS_MAX, "a bar a level");

struct histogram {
    double bars[BARS_MAX];
    int n;
    double low, high;
};

/* A bar a level, around the action that it stands for: from -action_span to it, of a day trade's size from 0
 * to 1. */
static void of_levels(const struct trainer_evaluated *evaluated, int action, struct histogram *ret)
{
    const struct trainer_trace *trace = evaluated->trace;
    int levels = evaluated->params->levels;
    bool is_size = evaluated->params->task == ENV_DAY_TRADE && action == 1;
    double high = is_size ? 1 : evaluated->params->action_span, low = is_size ? 0 : -high;
    double half = (high - low) / (levels - 1) / 2;
    *ret = (struct histogram){.n = levels, .low = low - half, .high = high + half};
    for (size_t i = 0; i < trace->n_steps; i++) {
        int level = (int)trace->actions[i * (size_t)trace->n_actions + (size_t)action];
        if (level >= 0 && level < levels)
            ret->bars[level]++;
    }
}

static void of_numbers(const struct trainer_evaluated *evaluated, int action, struct histogram *ret)
{
    const struct trainer_trace *trace = evaluated->trace;
    const float *actions = trace->actions + action;
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < trace->n_steps; i++) {
        low = fmin(low, (double)actions[i * (size_t)trace->n_actions]);
        high = fmax(high, (double)actions[i * (size_t)trace->n_actions]);
    }
    if (!(high - low > 1e-6 * fmax(fabs(low), fabs(high)))) {
        double around = fmax(fabs(low), 1);
        low = (isfinite(low) ? low : 0) - around;
        high = (isfinite(high) ? high : 0) + around;
    }
    *ret = (struct histogram){.n = BARS, .low = low, .high = high};
    for (size_t i = 0; i < trace->n_steps; i++) {
        double at = ((double)actions[i * (size_t)trace->n_actions] - low) / (high - low) * BARS;
        ret->bars[at < BARS ? (int)at : BARS - 1]++;
    }
}

static const char *action_name(const struct trainer_evaluated *evaluated, int action)
{
    static const char *const day_trade[] = {"direction", "size"};
    return evaluated->params->task == ENV_DAY_TRADE ? day_trade[action]
                                                    : env_market_asset(evaluated->market, action);
}

static void draw(struct text *text, const struct trainer_evaluated *evaluated, int action)
{
    struct histogram histogram;
    bool discrete = evaluated->params->actions == ENV_DISCRETE;
    char title[96], caption[256];
    if (discrete)
        of_levels(evaluated, action, &histogram);
    else
        of_numbers(evaluated, action, &histogram);
    snprintf(title, sizeof title, "Actions: %.64s", action_name(evaluated, action));
    snprintf(caption, sizeof caption,
             "How often the policy chose each%s in %zu steps, before the environment clips and refuses.",
             discrete ? " level" : "", evaluated->trace->n_steps);
    const struct report_bars bars = {.size = REPORT_HALF,
                                     .title = title,
                                     .x_name = "action",
                                     .y_name = "steps",
                                     .bars = histogram.bars,
                                     .n = histogram.n,
                                     .low = histogram.low,
                                     .high = histogram.high,
                                     .until = NAN};
    report_page_bars(text, &bars, caption);
}

void trainer_report_actions(struct text *text, const struct trainer_evaluated *evaluated)
{
    int n = evaluated->trace->n_actions, drawn = n < CHARTS_MAX ? n : CHARTS_MAX;
    const struct env_params *params = evaluated->params;
    char words[192];
    if (params->task == ENV_DAY_TRADE)
        snprintf(words, sizeof words,
                 "A direction beyond %g trades; the size is a share of what may be traded.",
                 params->threshold);
    else
        snprintf(
            words, sizeof words,
            "An action of 1 trades the capital / norm_action, which is %.4g %% of it: above 0 a purchase, "
            "below a sale.",
            100 / params->norm_action);
    report_page_paragraph(text, words);
    report_page_pair(text);
    for (int i = 0; i < drawn; i++)
        draw(text, evaluated, i);
    report_page_pair_end(text);
    if (drawn < n) {
        snprintf(words, sizeof words, "The first %d of %d actions are drawn.", drawn, n);
        report_page_paragraph(text, words);
    }
}
