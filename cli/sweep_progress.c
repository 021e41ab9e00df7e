/* A sweep's progress as lines of JSON, for a program that watches it, as the dashboard does. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/sweep_run.h"
#include "exchange/clock.h"
#include "record/json.h"

static const double least_s = 0.5;
enum { LINES_MOST = 1000 };

/* What a run alone is measured by: a deflated Sharpe ratio is known once all are done. */
static enum sweep_metric metric_of(const struct sweep *sweep)
{
    return sweep->metric == SWEEP_DSR ? SWEEP_SHARPE : sweep->metric;
}

void cli_sweep_watch_rows(const struct sweep *sweep, struct sweep_watch *watch,
                          const struct sweep_result *rows, size_t n)
{
    enum sweep_metric metric = metric_of(sweep);
    for (size_t i = 0; i < n; i++) {
        double value = rows[i].metrics[metric];
        if (isnan(value) || rows[i].trades < (size_t)sweep->min_trades ||
            (watch->any && value <= watch->best.metrics[metric]))
            continue;
        watch->best = rows[i];
        watch->any = true;
    }
}

static json_t *best_object(const struct sweep *sweep, const struct sweep_watch *watch)
{
    enum sweep_metric metric = metric_of(sweep);
    char text[SWEEP_VALUES_MAX], name[SWEEP_METRIC_NAME_MAX];
    if (!watch->any)
        return json_null();
    return json_pack("{s:o, s:s, s:s, s:o, s:I}", "params", cli_sweep_params_json(sweep, &watch->best),
                     "text", cli_sweep_text(sweep, watch->best.combination, text), "metric",
                     cli_sweep_metric_name(metric, name), "value",
                     record_json_real(cli_sweep_metric(metric, &watch->best)), "trades",
                     (json_int_t)watch->best.trades);
}

/* What is left takes as long as what was done here; what an earlier run did took no time. */
static double left_s(const struct sweep_watch *watch, size_t of, double share, double seconds)
{
    double known = (double)watch->known / (double)(of ? of : 1), done = share - known;
    if (share >= 1)
        return 0;
    return done > 0 ? seconds * (1 - share) / done : NAN;
}

void cli_sweep_watch_say(const struct sweep *sweep, struct sweep_watch *watch, const char *stage,
                         double share, bool last)
{
    double now_s = clock_now_s(), seconds = now_s - watch->started_s;
    double step_s = fmax(least_s, seconds / LINES_MOST);
    if (!last && watch->said_s > 0 && now_s - watch->said_s < step_s)
        return;
    watch->said_s = now_s;
    size_t of = sweep->sets.n;
    json_t *object = json_pack(
        "{s:s, s:s, s:I, s:I, s:f, s:o, s:o}", "schema", "papertape.sweep_progress/1", "stage", stage, "done",
        (json_int_t)(share * (double)of), "of", (json_int_t)of, "seconds", seconds, "left_s",
        record_json_real(left_s(watch, of, share, seconds)), "best", best_object(sweep, watch));
    char *line = object ? json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(6)) : NULL;
    if (line)
        fprintf(stderr, "%s\n", line);
    free(line);
    json_decref(object);
}
