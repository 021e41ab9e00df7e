#include <errno.h>
#include <openssl/evp.h>
#include <string.h>

#include "engine/backtest/sweep.h"
#include "engine/backtest/universe.h"
#include "engine/record.h"
#include "engine/visit.h"
#include "strategy/external.h"

static void visit_text(struct codec *codec, const char *text)
{
    char copy[128] = "";
    if (text)
        strncpy(copy, text, sizeof copy - 1);
    codec_text(codec, copy, sizeof copy);
}

/* Parameters that axes move do not count: the sets have their values. */
static void visit_account(struct codec *codec, const struct backtest_sweep *sweep)
{
    struct account_spec spec = *sweep->account;
    for (int a = 0; a < sweep->grid->n_axes; a++)
        spec.params[sweep->grid->axes[a].param] = 0;
    const struct strategy_external *external = spec.strategy->external;
    engine_visit_spec(codec, &spec);
    if (external) {
        uint8_t hash[STRATEGY_HASH_SIZE];
        memcpy(hash, external->hash, sizeof hash);
        codec_bytes(codec, hash, sizeof hash);
    }
}

/* Nothing where there are none. */
static void visit_backtest_actions(struct codec *codec, const struct backtest_config *config)
{
    uint64_t n = config->n_actions;
    if (n > 0)
        codec_u64(codec, &n);
    for (size_t i = 0; i < config->n_actions; i++) {
        struct backtest_action of = config->actions[i];
        int64_t symbol = of.symbol, kind = of.action.kind;
        codec_text(codec, of.action.id, sizeof of.action.id);
        codec_i64s(codec, &symbol, &kind, &of.at_ns, &of.action.ex_ns, &of.action.shares, &of.action.per,
                   &of.action.cash);
    }
}

/* Nothing without one. One that never changes leaves every symbol out, and is not none. */
static void visit_universe(struct codec *codec, const struct backtest_universe *universe)
{
    if (!universe)
        return;
    uint64_t n = universe->n;
    codec_u64(codec, &n);
    for (size_t i = 0; i < universe->n; i++) {
        int64_t at_ns = universe->changes[i].at_ns, symbol = universe->changes[i].symbol;
        bool in = universe->changes[i].in;
        codec_i64s(codec, &at_ns, &symbol);
        codec_bool(codec, &in);
    }
}

static void visit_config(struct codec *codec, const struct backtest_config *config)
{
    uint8_t content[MARKET_HASH_SIZE];
    uint64_t from = config->from, to = config->to;
    int64_t latency_ns = config->latency_ns, slippage_e6 = config->slippage_e6;
    bool by_calendar = config->class_by_calendar, limits = config->limits_outside;
    memcpy(content, config->market->content, sizeof content);
    codec_bytes(codec, content, sizeof content);
    codec_u64s(codec, &from, &to);
    codec_i64s(codec, &latency_ns, &slippage_e6);
    codec_bools(codec, &by_calendar, &limits);
    visit_text(codec, config->venue);
    visit_text(codec, config->calendar ? config->calendar->name : NULL);
    for (size_t i = 0; config->calendar && i < config->calendar->n; i++) {
        struct trading_day day = config->calendar->days[i];
        engine_visit_days(codec, &day, 1);
    }
    visit_backtest_actions(codec, config);
    visit_universe(codec, config->universe);
}

/* Nothing where there are none. */
static void visit_external(struct codec *codec, const struct external_columns *external)
{
    for (size_t i = 0; external && i < external->n; i++) {
        const struct external_column *column = &external->columns[i];
        uint64_t n = column->n;
        visit_text(codec, column->name);
        visit_text(codec, column->symbol);
        codec_u64(codec, &n);
        for (size_t k = 0; k < column->n; k++) {
            struct column_value value = column->values[k];
            engine_visit_column_value(codec, &value);
        }
    }
}

static void visit_sets(struct codec *codec, const struct backtest_sweep *sweep)
{
    const struct backtest_grid *grid = sweep->grid;
    int64_t n_axes = grid->n_axes;
    codec_i64(codec, &n_axes);
    for (int a = 0; a < grid->n_axes; a++) {
        int64_t param = grid->axes[a].param, n = (int64_t)grid->axes[a].n;
        codec_i64s(codec, &param, &n);
        for (size_t i = 0; i < grid->axes[a].n; i++) {
            double value = grid->axes[a].values[i];
            codec_double(codec, &value);
        }
    }
    size_t drawn = sweep->sets && sweep->sets->drawn ? sweep->sets->n * (size_t)grid->n_axes : 0;
    for (size_t i = 0; i < drawn; i++) {
        double value = sweep->sets->drawn[i];
        codec_double(codec, &value);
    }
}

int backtest_sweep_key(const struct backtest_sweep *sweep, const void *program, size_t program_len,
                       uint8_t ret[static SWEEP_KEY])
{
    struct codec codec = {0};
    uint64_t size = sizeof(struct sweep_result);
    codec_save(&codec);
    codec.version = EVENT_RECORD_VERSION;
    codec_u64(&codec, &size);
    visit_account(&codec, sweep);
    visit_config(&codec, sweep->config);
    visit_sets(&codec, sweep);
    visit_external(&codec, sweep->config->external);
    EVP_MD_CTX *hash = EVP_MD_CTX_new();
    bool ok = hash && !codec.failed && EVP_DigestInit_ex(hash, EVP_sha256(), NULL) == 1 &&
              EVP_DigestUpdate(hash, program, program_len) == 1 &&
              EVP_DigestUpdate(hash, codec.bytes, codec.len) == 1 && EVP_DigestFinal_ex(hash, ret, NULL) == 1;
    EVP_MD_CTX_free(hash);
    codec_finish(&codec);
    return ok ? 0 : -ENOMEM;
}
