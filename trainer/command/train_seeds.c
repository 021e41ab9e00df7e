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
        if (isfinite(training_return(&seeds->each[i].evaluation)))
            returns[n++] = training_return(&seeds->each[i].evaluation);
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
    json_t *json =
        json_pack("{s:I, s:I, s:I, s:o, s:o, s:o}", "seed", (json_int_t)seed->seed, "steps",
                  (json_int_t)seed->steps, "kept_steps", (json_int_t)seed->kept_steps, "validation_return",
                  record_json_real(isnan(seed->score) ? NAN : expm1(seed->score)), "return",
                  record_json_real(training_return(evaluation)), "benchmark_return",
                  record_json_real(training_benchmark_return(evaluation)));
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

/* ---- Their ends. ---- */

void train_seed_ended(struct train_run *run, bool failed, json_t *fields)
{
    struct kept_policy own = {0};
    char err[KEEP_ERROR_MAX];
    int64_t steps;
    int r;
    bool best = train_keeps_best(run);
    const struct train_seed seed = {.seed = run->config.ppo.seed,
                                    .steps = run->steps,
                                    .kept_steps = train_kept_steps(run),
                                    .score = best ? run->best.score : NAN,
                                    .evaluated = run->evaluated,
                                    .evaluation = run->evaluation};
    if (fields)
        json_object_set_new(fields, "seed", json_integer((json_int_t)seed.seed));
    telemetry_report_event(&run->report, "seed", fields);
    if (failed || run->steps == 0 || !run->making.learner)
        return;
    if (!train_find_kept(run, &own, &steps, &r, err)) {
        telemetry_report_warning(&run->report, err);
        return;
    }
    train_seeds_add(run->seeds, &seed, best ? &run->best.policy : &own);
    if (run->seeds->best == run->seeds->done - 1)
        train_page_keep(run->page);
    training_kept_policy_drop(&own);
}

static void print_seeds(const struct train_seeds *seeds, const char *output, const char *name,
                        const struct verdict *verdict)
{
    double median, low, high;
    char text[VERDICT_TEXT_MAX];
    printf("%s: %d of %d seeds", name, seeds->done, seeds->n);
    if (train_seeds_returns(seeds, &median, &low, &high))
        printf("; return %+.2f %% in the median, from %+.2f %% to %+.2f %%", 100 * median, 100 * low,
               100 * high);
    if (seeds->best >= 0)
        printf("; seed %llu is kept\n%s/%s.safetensors", (unsigned long long)seeds->each[seeds->best].seed,
               output, name);
    if (verdict->kind != VERDICT_NONE)
        printf("\n%s", metrics_verdict_text(verdict, text));
    putchar('\n');
}

void train_seeds_ended(struct train_run *run, const char *name, const char *result)
{
    char path[PATH_MAX], err[KEEP_ERROR_MAX];
    const struct train_seeds *seeds = run->seeds;
    const struct verdict verdict = train_seeds_verdict(seeds);
    const struct verdict *known = verdict.kind != VERDICT_NONE ? &verdict : NULL;
    json_t *last = json_pack("{s:s, s:n, s:s}", "result", result, "cause", "output", run->config.output);
    snprintf(path, sizeof path, "%s/%s.safetensors", run->config.output, name);
    if (seeds->best >= 0) {
        run->config.ppo.seed = seeds->each[seeds->best].seed;
        int r = training_kept_policy_write(&seeds->policy, &run->source, seeds->each[seeds->best].kept_steps,
                                           known, path, err);
        train_not_written(run, &run->policy_error, r, err);
        if (r == 0)
            telemetry_report_event(&run->report, "policy",
                                   json_pack("{s:I, s:s}", "steps",
                                             (json_int_t)seeds->each[seeds->best].kept_steps, "path", path));
    }
    snprintf(run->config.name, sizeof run->config.name, "%s", name);
    train_report(run, name, result);
    if (last && train_seeds_json(seeds, last))
        metrics_verdict_json(known, last);
    telemetry_report_last(&run->report, last);
    if (!run->report.lines)
        print_seeds(seeds, run->config.output, name, &verdict);
}
