#include "trainer/command/eval_show.h"

#include <errno.h>
#include <stdlib.h>

#include "exchange/calendar_file.h"

static const struct policy_runtime_ops *ops_of(const struct eval_market *market)
{
    return market->ensemble->policy.runtime;
}

static int create(const struct eval_market *market, struct policy_runtime **ret)
{
    int r = ops_of(market)->create(&market->ensemble->policy, ret);
    if (r == 0 && market->calendar)
        ops_of(market)->use(*ret, calendar_file_view(market->calendar));
    return r;
}

/* The bars of a row of market->bars, in the order of symbols. */
static void show_row(const struct eval_market *market, struct policy_runtime *runtime, size_t row)
{
    const struct market *bars = market->bars;
    int64_t open_ns = market_open_ns(bars, row);
    for (int i = 0; i < bars->n_symbols; i++) {
        const struct market_series *series = &bars->series[i];
        const struct indicator_bar bar = {.open = series->open[row],
                                          .high = series->high[row],
                                          .low = series->low[row],
                                          .close = series->close[row],
                                          .volume = series->volume[row],
                                          .time = (double)open_ns / 1e9};
        if (market_present(series, row))
            ops_of(market)->see(runtime, i, open_ns, &bar);
    }
}

int trainer_eval_show_first(const struct eval_market *market, size_t *ret_row)
{
    const struct market *bars = market->bars;
    const struct policy *policy = &market->ensemble->policy;
    struct policy_runtime *runtime;
    int r = create(market, &runtime);
    if (r < 0)
        return r;
    for (size_t row = 0; row < bars->rows && policy->runtime->first(runtime) == 0; row++)
        show_row(market, runtime, row);
    int64_t first_ns = policy->runtime->first(runtime);
    policy->runtime->destroy(runtime);
    size_t rows = trainer_data_source(market->data)->rows, at = 0;
    while (at < rows && (first_ns == 0 || env_market_open_ns(market->env_market, at) < first_ns))
        at++;
    *ret_row = at;
    return 0;
}

int trainer_eval_show_open(const struct eval_market *market, size_t from, struct eval_show *ret)
{
    const struct policy *policy = &market->ensemble->policy;
    struct eval_show show = {.market = market};
    int64_t from_ns = env_market_open_ns(market->env_market, from);
    show.held = calloc((size_t)policy->n_assets, sizeof *show.held);
    int r = show.held ? create(market, &show.runtime) : -ENOMEM;
    if (r < 0) {
        trainer_eval_show_close(&show);
        return r;
    }
    for (; show.next < market->bars->rows && market_open_ns(market->bars, show.next) < from_ns; show.next++) {
        show_row(market, show.runtime, show.next);
        ensemble_shadows_pass(show.runtime, market_open_ns(market->bars, show.next));
    }
    *ret = show;
    return 0;
}

void trainer_eval_show_close(struct eval_show *show)
{
    if (show->runtime)
        ops_of(show->market)->destroy(show->runtime);
    free(show->held);
    *show = (struct eval_show){0};
}

bool trainer_eval_show_act(struct eval_show *show, float *ret)
{
    const struct eval_market *market = show->market;
    double cash;
    int32_t row;
    env_info(market->env, &(struct env_info){.cash = &cash, .row = &row});
    env_positions(market->env, 0, show->held, NULL, NULL);
    int64_t open_ns = env_market_open_ns(market->env_market, (size_t)row);
    for (; show->next < market->bars->rows && market_open_ns(market->bars, show->next) <= open_ns;
         show->next++) {
        show_row(market, show->runtime, show->next);
        if (market_open_ns(market->bars, show->next) < open_ns)
            ensemble_shadows_pass(show->runtime, market_open_ns(market->bars, show->next));
    }
    return ops_of(market)->act(show->runtime, open_ns, cash, show->held, ret);
}
