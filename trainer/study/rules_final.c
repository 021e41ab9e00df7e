/* The proposal of a study of a strategy: its parameters, tested on the holdout. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/decimal.h"
#include "strategy/risk_keys.h"
#include "trainer/study/internal.h"

/* ---- The verdict. ---- */

/* Row of the block in which a fill was. */
static size_t row_of(const struct backtest_config *config, const struct fill *fill)
{
    const size_t row = market_store_row_at(config->market, fill->ts_ns + 1), rows = config->to - config->from;
    const size_t at = row > config->from + 1 ? row - 1 - config->from : 0;
    return at < rows ? at : rows - 1;
}

/* Of one symbol: what its position was at the close before each row, as a share of equity, and its moves. */
static void fill_symbol(const struct study_market *market, struct split_rows block,
                        const struct backtest_config *config, const struct backtest *backtest, int symbol,
                        double initial, double *weights, double *moves, struct verdict_input *input)
{
    const struct backtest_account *ran = &backtest->accounts[0];
    const struct symbol *of = &config->market->series[symbol].symbol;
    const double *close =
        market->closes + (size_t)symbol * trainer_data_source(market->grid)->rows + block.from;
    int64_t held = 0;
    size_t next = 0;
    for (size_t i = 0; i < input->n; i++) {
        const double equity = i > 0 ? ran->equity[i - 1] : initial;
        weights[i] = decimal_to_double(held, of->qty_scale) * close[(ptrdiff_t)i - 1] / equity;
        moves[i] = close[i] / close[(ptrdiff_t)i - 1] - 1;
        for (; next < ran->n_fills && row_of(config, &ran->fills[next]) <= i; next++) {
            const struct fill *fill = &ran->fills[next];
            const bool buys = fill->side == ORDER_BUY;
            if (fill->symbol != symbol)
                continue;
            *((buys ? held >= 0 : held <= 0) ? &input->opened : &input->closed) +=
                decimal_to_double(fill->notional, of->quote_scale);
            held += buys ? fill_moves(fill) : -fill->qty;
            *(buys ? &input->buys : &input->sells) += 1;
        }
    }
}

/* Holding is bought in equal parts at the close before the block, as a study's other benchmarks. */
static void hold(const struct study_market *market, struct split_rows block, double initial, double *ret)
{
    const size_t n = (size_t)market->source.market->n_symbols, rows = trainer_data_source(market->grid)->rows;
    for (size_t r = block.from; r < block.to; r++) {
        double worth = 0;
        for (size_t i = 0; i < n; i++)
            worth += market->closes[i * rows + r] / market->closes[i * rows + block.from - 1] / (double)n;
        ret[r - block.from] = worth * initial;
    }
}

static int judge(const struct study_market *market, struct split_rows block,
                 const struct backtest_config *config, const struct backtest *backtest, struct verdict *ret,
                 char err[static TRIAL_ERROR_MAX])
{
    const size_t n = block.to - block.from, symbols = (size_t)config->market->n_symbols;
    const int scale = config->accounts->currency_scale;
    double *room = malloc((n + 2 * n * symbols) * sizeof *room), *weights = room + n,
           *moves = weights + n * symbols;
    if (!room)
        return study_error(err, -ENOMEM, "out of memory: the verdict");
    struct verdict_input input = {.n = n,
                                  .n_assets = (int)symbols,
                                  .initial = decimal_to_double(config->accounts->cash, scale),
                                  .equity = backtest->accounts[0].equity,
                                  .benchmark = room,
                                  .weights = weights,
                                  .moves = moves,
                                  .fees = decimal_to_double(backtest->accounts[0].fees, scale)};
    hold(market, block, input.initial, room);
    for (size_t i = 0; i < symbols; i++)
        fill_symbol(market, block, config, backtest, (int)i, input.initial, weights + i * n, moves + i * n,
                    &input);
    int r = metrics_verdict(&input, ret);
    free(room);
    if (r == -EINVAL) /* an account that was ruined has no verdict */
        *ret = (struct verdict){.kind = VERDICT_NONE};
    return r == -ENOMEM ? study_error(err, r, "out of memory: the verdict") : 0;
}

/* ---- The holdout. ---- */

static bool show(void *ctx, double share)
{
    const struct trial_calls *const *at = ctx, *calls = *at;
    return !calls || !calls->progress || calls->progress(calls->ctx, share, 0) == TRIAL_GO;
}

static int keep(const struct study_market *market, const struct backtest_config *config,
                const struct backtest *backtest, const char *folder, struct trial_split *ret,
                char err[static TRIAL_ERROR_MAX])
{
    const struct split_rows rows = market->holdout;
    struct study_tested tested;
    double *returns = malloc((rows.to - rows.from) * sizeof *returns);
    if (!returns)
        return study_error(err, -ENOMEM, "out of memory: the holdout");
    study_rules_returns(config, backtest, returns, &tested);
    int r = study_write_returns(market, rows, returns, 1, folder, "holdout.csv", err);
    if (r == 0 && study_rules_figures(market, rows, config, backtest, returns, &tested, ret) < 0)
        r = study_error(err, -ENOMEM, "out of memory: figures");
    if (r == 0)
        r = judge(market, rows, config, backtest, &ret->verdict, err);
    free(returns);
    return r;
}

static int test(const struct study_market *market, const double *params, const char *folder,
                const struct trial_calls *calls, struct trial_split *ret, char err[static TRIAL_ERROR_MAX])
{
    struct account_spec spec;
    struct backtest_config config;
    struct backtest backtest;
    if (market->holdout.to <= market->holdout.from)
        return 0;
    int r =
        study_rules_backtest(market, market->holdout, params, show, &calls, &spec, &config, &backtest, err);
    if (r == 1)
        return study_error(err, 1, "stopped");
    if (r < 0)
        return r;
    r = keep(market, &config, &backtest, folder, ret, err);
    backtest_finish(&backtest);
    return r;
}

/* ---- The account. ---- */

struct writing {
    FILE *out;
    const char *section;            /* of papertaped.ini, whose keys are written now */
    const struct study_rules *none; /* the defaults */
};

/* Of [engine] there; every account's. */
static bool is_of_engine(const char *key)
{
    return strcmp(key, backtest_terms_keys[BACKTEST_SLIPPAGE].name) == 0 ||
           strcmp(key, backtest_terms_keys[BACKTEST_LATENCY].name) == 0;
}

static bool is_default(const struct study_rules *none, const char *key, const char *value)
{
    char text[256];
    const bool limit = strncmp(key, "risk.", 5) == 0;
    const struct config_key *row = limit ? config_key_find(risk_keys, RISK_KEYS_N, NULL, key + 5)
                                         : config_key_find(backtest_terms_keys, BACKTEST_TERMS, NULL, key);
    const void *base = limit ? (const void *)&none->terms.risk : &none->terms;
    if (!row)
        return strcmp(value, "off") == 0; /* shorts */
    return config_key_text(row, base, text, sizeof text) && strcmp(text, value) == 0;
}

/* Parameters come from the trial. Money is always written. */
static bool write_key(void *ctx, const char *section, const char *key, const char *value)
{
    const struct writing *writing = ctx;
    const bool money = strcmp(key, "cash") == 0 || strncmp(key, "fee_", 4) == 0, engine = is_of_engine(key);
    if (strcmp(section, "account") != 0 || strncmp(key, RULES_PARAM, strlen(RULES_PARAM)) == 0 ||
        engine != (strcmp(writing->section, "engine") == 0))
        return true;
    if (money || engine || !is_default(writing->none, key, value))
        fprintf(writing->out, "%s = %s\n", key, value);
    return true;
}

static bool write_param(void *ctx, const char *section, const char *key, const char *value)
{
    (void)section;
    fprintf(ctx, "%s = %s\n", key, value);
    return true;
}

static void write_all(FILE *out, const struct study_market *market, const double *params)
{
    const struct study_rules *rules = &market->settings->rules;
    struct study_rules none;
    study_rules_init(&none);
    struct writing writing = {out, "account", &none};
    fprintf(
        out,
        "# Proposed by a study, for papertaped.ini: its best trial's parameters, and the terms of all.\n");
    fprintf(out, "[account %s]\nstrategy = %s\n", market->config->name, rules->name);
    (void)study_rules_each_param(rules->strategy, params, write_param, out);
    (void)study_rules_each(rules, &market->settings->space, write_key, &writing);
    fprintf(out, "\n[engine]\n");
    writing.section = "engine";
    (void)study_rules_each(rules, &market->settings->space, write_key, &writing);
}

static int write_account(const struct study_market *market, const double *params, const char *folder,
                         char err[static TRIAL_ERROR_MAX])
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return study_error(err, -ENOMEM, "out of memory: strategy.ini");
    write_all(out, market, params);
    bool whole = !ferror(out);
    whole = fclose(out) == 0 && whole;
    int r = whole ? study_write_file(folder, "strategy.ini", text, size, err)
                  : study_error(err, -ENOMEM, "out of memory: strategy.ini");
    free(text);
    return r;
}

int study_rules_final(const struct study_market *market, const struct space *space, const double *values,
                      const char *folder, const struct trial_calls *calls, struct trial_split *ret,
                      char err[static TRIAL_ERROR_MAX])
{
    double params[STRATEGY_PARAMS_MAX];
    char why[CONFIG_ERROR_MAX];
    struct trial_split split = {0};
    int r = study_rules_params(&market->settings->rules, space, values, params, why);
    if (r < 0)
        return study_error(err, r, "%s", why);
    r = test(market, params, folder, calls, &split, err);
    if (r == 0)
        r = write_account(market, params, folder, err);
    if (r == 0)
        *ret = split;
    return r;
}
