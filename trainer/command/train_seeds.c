#include "trainer/command/train_seeds.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "record/json.h"
#include "strategy/metrics/verdict_json.h"

int train_seeds_init(struct train_seeds *seeds, int n)
{
    *seeds = (struct train_seeds){.n = n, .best = -1, .each = calloc((size_t)n, sizeof *seeds->each)};
    return seeds->each ? 0 : -ENOMEM;
}

void train_seeds_finish(struct train_seeds *seeds)
{
    training_kept_policy_drop(&seeds->policy);
    free(seeds->each);
    *seeds = (struct train_seeds){0};
}

void train_seeds_add(struct train_seeds *seeds, const struct train_seed *seed, struct kept_policy *policy)
{
    seeds->each[seeds->done] = *seed;
    if (seeds->best < 0 || seed->score > seeds->each[seeds->best].score) {
        training_kept_policy_drop(&seeds->policy);
        seeds->policy = *policy;
        *policy = (struct kept_policy){0};
        seeds->best = seeds->done;
    }
    seeds->done++;
}

struct verdict train_seeds_verdict(const struct train_seeds *seeds)
{
    struct verdict verdict = {0}, *each = calloc((size_t)seeds->n, sizeof *each);
    int n = 0;
    for (int i = 0; each && i < seeds->done; i++)
        if (seeds->each[i].evaluated && seeds->each[i].evaluation.verdict.kind != VERDICT_NONE)
            each[n++] = seeds->each[i].evaluation.verdict;
    if (n > 0)
        verdict = metrics_verdict_of_seeds(each, n);
    free(each);
    return verdict;
}

/* ---- Returns. ---- */

static double return_of(const struct evaluation *evaluation)
{
    return evaluation->equity / evaluation->initial - 1;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

bool train_seeds_returns(const struct train_seeds *seeds, double *ret_median, double *ret_low,
                         double *ret_high)
{
    double *returns = malloc((size_t)seeds->n * sizeof *returns);
    size_t n = 0;
    for (int i = 0; returns && i < seeds->done; i++)
        if (seeds->each[i].evaluated)
            returns[n++] = return_of(&seeds->each[i].evaluation);
    if (n > 0) {
        qsort(returns, n, sizeof *returns, by_value);
        *ret_low = returns[0];
        *ret_median = (returns[(n - 1) / 2] + returns[n / 2]) / 2;
        *ret_high = returns[n - 1];
    }
    free(returns);
    return n > 0;
}

/* ---- JSON. ---- */

static json_t *seed_json(const struct train_seed *seed)
{
    const struct evaluation *evaluation = &seed->evaluation;
    const bool market = seed->evaluated && evaluation->initial > 0;
    json_t *json =
        json_pack("{s:I, s:I, s:I, s:o, s:o, s:o}", "seed", (json_int_t)seed->seed, "steps",
                  (json_int_t)seed->steps, "kept_steps", (json_int_t)seed->kept_steps, "validation_return",
                  record_json_real(isnan(seed->score) ? NAN : expm1(seed->score)), "return",
                  record_json_real(market ? return_of(evaluation) : NAN), "benchmark_return",
                  record_json_real(market ? evaluation->benchmark / evaluation->initial - 1 : NAN));
    if (json)
        metrics_verdict_json(seed->evaluated ? &evaluation->verdict : NULL, json);
    return json;
}

bool train_seeds_json(const struct train_seeds *seeds, json_t *object)
{
    double median = NAN, low = NAN, high = NAN;
    json_t *each = json_array();
    bool whole = each != NULL;
    for (int i = 0; i < seeds->done && whole; i++)
        whole = json_array_append_new(each, seed_json(&seeds->each[i])) == 0;
    train_seeds_returns(seeds, &median, &low, &high);
    json_t *fields =
        json_pack("{s:o, s:o, s:o, s:o, s:o}", "seeds", each, "return_median", record_json_real(median),
                  "return_low", record_json_real(low), "return_high", record_json_real(high), "best_seed",
                  seeds->best < 0 ? json_null() : json_integer((json_int_t)seeds->each[seeds->best].seed));
    whole = whole && fields && json_object_update(object, fields) == 0;
    json_decref(fields);
    return whole;
}
