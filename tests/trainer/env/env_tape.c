/* What the environment does with recorded actions, `execution = market`, as two CSV files, for
 * tests/system/policy_three_ways.py: TRADES has ts_ns,symbol,side,price,qty,fee, and EQUITY ts_ns,equity, a
 * row a step, at the close that it reaches.
 *
 *     env-tape PARAMS.json ACTIONS.csv TRADES.csv EQUITY.csv BARS… */
#include <jansson.h>

#include "engine/market/market.h"
#include "exchange/bars_file.h"
#include "strategy/policy/recorded.h"
#include "trainer/env/env.h"

#define SHOWN "%.8f"

struct tape {
    json_t *json;
    struct policy *policy; /* the actions, as they were read for the engine */
    struct market *bars;
    struct env_params params;
    struct env_market *market;
    struct env *env;
    FILE *trades, *equity;
    int64_t first; /* the market's row of the first bar */
};

static int fail(const char *what, const char *why)
{
    fprintf(stderr, "env-tape: %s: %s\n", what, why);
    return EXIT_FAILURE;
}

static void on_trade(void *ctx, size_t copy, const struct env_trade *trade)
{
    const struct tape *tape = ctx;
    int64_t open_ns = market_open_ns(tape->bars, (size_t)trade->row);
    int64_t ts_ns = trade->at_open ? open_ns : open_ns + tape->bars->interval_ns - 1;
    (void)copy;
    fprintf(tape->trades, "%lld,%s,%s," SHOWN "," SHOWN "," SHOWN "\n", (long long)ts_ns,
            env_market_asset(tape->market, trade->asset), trade->qty > 0 ? "BUY" : "SELL", trade->price,
            trade->qty > 0 ? trade->qty : -trade->qty, trade->fee);
}

/* The JSON's parameters, over the preset of the paper exchange. */
static int set_params(struct tape *tape, int64_t first)
{
    char err[ENV_ERROR_MAX], text[64];
    const char *key;
    json_t *value;
    if (env_params_preset("market", &tape->params, err) < 0)
        return fail("params", err);
    json_object_foreach(json_object_get(tape->json, "params"), key, value)
    {
        snprintf(text, sizeof text, "%.17g", json_number_value(value));
        if (env_params_set(&tape->params, key, json_is_string(value) ? json_string_value(value) : text, err) <
            0)
            return fail(key, err);
    }
    tape->params.start = first;
    tape->params.episode_bars = json_integer_value(json_object_get(tape->json, "bars"));
    tape->params.autoreset = ENV_NO_RESET;
    return EXIT_SUCCESS;
}

static int make(struct tape *tape)
{
    const struct market *bars = tape->bars;
    const struct policy *policy = tape->policy;
    struct env_asset_source assets[ENV_ASSETS_MAX] = {{0}};
    struct symbol symbols[SYMBOLS_MAX];
    char err[ENV_ERROR_MAX];
    for (int s = 0; s < bars->n_symbols; s++)
        symbols[s] = bars->series[s].symbol;
    for (int i = 0; i < policy->n_assets; i++) {
        int s = policy_find_symbol(&policy->assets[i], "USDT", symbols, bars->n_symbols);
        if (s < 0)
            return fail(policy->assets[i].name, "there are no bars of it");
        const struct market_series *series = &bars->series[s];
        assets[i] = (struct env_asset_source){.name = series->symbol.name,
                                              .min_order_qty = policy->assets[i].least,
                                              .symbol = &series->symbol,
                                              .open = series->open,
                                              .high = series->high,
                                              .low = series->low,
                                              .close = series->close,
                                              .volume = series->volume,
                                              .present = series->present};
    }
    const struct env_market_source source = {.rows = bars->rows,
                                             .n_assets = policy->n_assets,
                                             .assets = assets,
                                             .start_ns = bars->start_ns,
                                             .interval_ns = bars->interval_ns};
    const struct env_options options = {.copies = 1, .backend = ENV_SCALAR};
    if (env_market_create(&source, &tape->params, &tape->market, err) < 0 ||
        env_create(&tape->params, tape->market, &options, &tape->env, err) < 0 ||
        env_trades(tape->env, on_trade, tape) < 0)
        return fail("environment", err);
    return EXIT_SUCCESS;
}

static int play(struct tape *tape)
{
    const struct market *bars = tape->bars;
    float actions[ENV_ASSETS_MAX], reward;
    uint8_t ruined, over = 0;
    double equity;
    int32_t row;
    char err[ENV_ERROR_MAX];
    const struct env_info info = {.equity = &equity, .row = &row};
    const struct env_io io = {
        .actions = actions, .rewards = &reward, .terminated = &ruined, .truncated = &over};
    env_reset(tape->env, NULL);
    env_info(tape->env, &info);
    while (!over) {
        if (!tape->policy->act(tape->policy, market_open_ns(bars, (size_t)row), actions))
            return fail("actions", "they end before the episode");
        if (env_step(tape->env, &io, err) < 0)
            return fail("step", err);
        env_info(tape->env, &info);
        fprintf(tape->equity, "%lld," SHOWN "\n",
                (long long)(market_open_ns(bars, (size_t)row) + bars->interval_ns), equity);
    }
    return EXIT_SUCCESS;
}

static int load(struct tape *tape, char **argv, int n_bars)
{
    char err[MARKET_ERROR_MAX];
    const struct market_options options = {.no_cache = true};
    tape->json = json_load_file(argv[1], 0, NULL);
    tape->trades = fopen(argv[3], "we");
    tape->equity = fopen(argv[4], "we");
    if (!tape->json || !tape->trades || !tape->equity)
        return fail(argv[1], "the files cannot be opened");
    if (policy_recorded_load(argv[1], argv[2], &tape->policy, err) < 0 ||
        market_load_files((const char *const *)argv + 5, (size_t)n_bars, &options, &tape->bars, NULL, err) <
            0)
        return fail("load", err);
    tape->first = (int64_t)market_row_at(tape->bars, tape->policy->first_ns);
    fputs("ts_ns,symbol,side,price,qty,fee\n", tape->trades);
    fputs("ts_ns,equity\n", tape->equity);
    return set_params(tape, tape->first);
}

int main(int argc, char **argv)
{
    struct tape tape = {0};
    if (argc < 6)
        return fail("usage", "env-tape PARAMS.json ACTIONS.csv TRADES.csv EQUITY.csv BARS…");
    int status = load(&tape, argv, argc - 5);
    if (status == EXIT_SUCCESS)
        status = make(&tape);
    if (status == EXIT_SUCCESS)
        status = play(&tape);
    if ((tape.trades && fclose(tape.trades) != 0) || (tape.equity && fclose(tape.equity) != 0))
        status = fail(argv[3], "it could not be written");
    env_destroy(tape.env);
    env_market_destroy(tape.market);
    market_close(tape.bars);
    policy_recorded_destroy(tape.policy);
    json_decref(tape.json);
    return status;
}
