#include "trainer/command/replay_print.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>

bool trainer_replay_row_init(struct replay_row *row, const char *const assets[], int n_assets,
                             const char *const actions[], int n_actions, bool exact)
{
    size_t n = (size_t)n_assets;
    *row = (struct replay_row){
        .n_assets = n_assets, .n_actions = n_actions, .assets = assets, .actions = actions, .exact = exact};
    row->qty = calloc(n, sizeof(double));
    row->held = calloc(n, sizeof(double));
    row->peak = calloc(n, sizeof(double));
    return row->qty && row->held && row->peak;
}

void trainer_replay_row_finish(struct replay_row *row)
{
    free(row->qty);
    free(row->held);
    free(row->peak);
}

static void print_names(FILE *out, const char *prefix, const char *const names[], int n)
{
    for (int i = 0; i < n; i++)
        fprintf(out, ",%s_%s", prefix, names[i]);
}

void trainer_replay_print_header(FILE *out, const struct replay_row *row)
{
    fputc('t', out);
    print_names(out, "action", row->actions, row->n_actions);
    fputs(",cash", out);
    print_names(out, "qty", row->assets, row->n_assets);
    print_names(out, "held", row->assets, row->n_assets);
    print_names(out, "peak", row->assets, row->n_assets);
    fputs(",equity,equity_benchmark,reward,done,fees,buys,sells\n", out);
}

/* A comma and the number: the fewest digits that read back to the same double, or nine. */
static void print_number(FILE *out, double x, bool exact)
{
    char text[32];
    int digits = exact ? 15 : 9, n = snprintf(text, sizeof text, "%.*g", digits, x);
    for (; exact && digits < 17 && strtod(text, NULL) != x; digits++)
        n = snprintf(text, sizeof text, "%.*g", digits + 1, x);
    fprintf(out, ",%.*s", n, text);
}

void trainer_replay_print_row(FILE *out, struct replay_row *row, const struct env *env, const float *actions,
                              float reward, bool done)
{
    double equity, cash, benchmark, fees;
    int32_t at, buys, sells;
    const struct env_info info = {.equity = &equity,
                                  .cash = &cash,
                                  .benchmark = &benchmark,
                                  .fees = &fees,
                                  .row = &at,
                                  .buys = &buys,
                                  .sells = &sells};
    env_info(env, &info);
    env_positions(env, 0, row->qty, row->held, row->peak);
    fprintf(out, "%d", at - row->first);
    for (int i = 0; i < row->n_actions; i++)
        fprintf(out, ",%.9g", (double)actions[i]);
    print_number(out, cash, row->exact);
    const double *columns[] = {row->qty, row->held, row->peak};
    for (int c = 0; c < 3; c++)
        for (int i = 0; i < row->n_assets; i++)
            print_number(out, columns[c][i], row->exact);
    print_number(out, equity, row->exact);
    print_number(out, benchmark, row->exact);
    fprintf(out, ",%.9g,%d", (double)reward, done);
    print_number(out, fees, row->exact);
    fprintf(out, ",%d,%d\n", buys, sells);
}

static json_t *array(const float *values, int n)
{
    json_t *ret = json_array();
    for (int i = 0; i < n; i++)
        json_array_append_new(ret, json_real((double)values[i]));
    return ret;
}

int trainer_replay_print_json(FILE *out, const struct replay_summary *summary)
{
    json_t *json =
        json_pack("{s:s, s:s, s:I, s:b, s:f, s:o, s:o}", "schema", "papertape.env-replay/1", "backend",
                  summary->backend, "steps", (json_int_t)summary->steps, "done", summary->done, "reward_sum",
                  summary->reward, "first_observation", array(summary->first, summary->observation_size),
                  "last_observation", array(summary->last, summary->observation_size));
    if (!json)
        return -ENOMEM;
    int r = json_dumpf(json, out, JSON_INDENT(1)) < 0 || fputc('\n', out) == EOF ? -EIO : 0;
    json_decref(json);
    return r;
}
