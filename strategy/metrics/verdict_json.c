#include "strategy/metrics/verdict_json.h"

#include <math.h>

#include "record/print.h"

struct shown {
    struct verdict of;
    double confidence;
    int64_t n_steps, n_random, n_seeds, n_above;
};

PRINT_OBJECT(figures_object, struct shown, PRINT_AS(SIGNED, REQUIRED, n_steps, "steps"),
             PRINT_PERCENT(of.total_return, "return_pct"),
             PRINT_PERCENT(of.benchmark_return, "benchmark_return_pct"),
             PRINT_PERCENT(of.excess, "excess_points"), PRINT_PERCENT(of.low, "excess_low_points"),
             PRINT_PERCENT(of.high, "excess_high_points"), PRINT_REAL(confidence),
             PRINT_AS(REAL, OPTIONAL, of.p, "p"), PRINT_AS(SIGNED, REQUIRED, n_random, "random_policies"),
             PRINT_AS(REAL, OPTIONAL, of.block, "block_steps"), PRINT_AS(REAL, OPTIONAL, of.gain, "gain"),
             PRINT_AS(REAL, OPTIONAL, of.fees, "fees"), PRINT_AS(SIGNED, REQUIRED, of.buys, "buys"),
             PRINT_AS(SIGNED, REQUIRED, of.sells, "sells"), PRINT_AS(SIGNED, UNKNOWN, n_seeds, "seeds"),
             PRINT_AS(SIGNED, UNKNOWN, n_above, "seeds_above"));

static json_t *figures(const struct verdict *verdict)
{
    bool seeds = verdict->n_seeds > 0;
    const struct shown shown = {.of = *verdict,
                                .confidence = VERDICT_CONFIDENCE,
                                .n_steps = (int64_t)verdict->n_steps,
                                .n_random = verdict->n_random,
                                .n_seeds = seeds ? verdict->n_seeds : -1,
                                .n_above = seeds ? verdict->n_above : -1};
    return figures_object(&shown, NULL);
}

bool metrics_verdict_json(const struct verdict *verdict, json_t *object)
{
    char text[VERDICT_TEXT_MAX];
    bool made = verdict && verdict->kind != VERDICT_NONE;
    json_t *word = made ? json_string(metrics_verdict_word(verdict->kind)) : json_null();
    json_t *sentence = made ? json_string(metrics_verdict_text(verdict, text)) : json_null();
    return json_object_set_new(object, "verdict", word) == 0 &&
           json_object_set_new(object, "verdict_text", sentence) == 0 &&
           json_object_set_new(object, "verdict_figures", made ? figures(verdict) : json_null()) == 0;
}
