/* The status object as the model takes it: whole, with holes, and hostile; ages, and what they do to
 * freshness. */
#include "tui/model.h"

#include <errno.h>
#include <locale.h>
#include <stdlib.h>

#include "fixtures/dashboard.h"
#include "tests/check.h"
#include "tui/print.h"

static int take(struct model *model, const char *text, struct moment now)
{
    json_t *object = json_loads(text, 0, NULL);

    CHECK(object != NULL);
    int r = tui_model_take_status(model, object, now);
    json_decref(object);
    return r;
}

static void check_parity_is(struct model *model, const char *parity, struct moment now, const char *words,
                            enum freshness freshness)
{
    json_t *object = json_loads(fixture_status, 0, NULL);
    char text[MODEL_PARITY_MAX];

    json_object_set_new(object, "parity", json_loads(parity, JSON_DECODE_ANY, NULL));
    CHECK_INT(tui_model_take_status(model, object, now), 0);
    json_decref(object);
    CHECK_INT(tui_model_parity(model, now, text), freshness);
    CHECK_STR(text, words);
}

static void check_parity(void)
{
    struct model *model = tui_model_create(1000);
    struct moment now = {fixture_now_ns, 1000000}; /* 1723161255 s */
    char text[MODEL_PARITY_MAX];

    CHECK_INT(tui_model_parity(model, now, text), GONE);
    CHECK_STR(text, "parity -");
    check_parity_is(model, "{\"state\":\"ok\",\"days\":31,\"checked_ns\":1723084200000000000}", now,
                    "parity ok 31d", FRESH);
    check_parity_is(model, "{\"state\":\"ok\",\"days\":null,\"checked_ns\":1723084200000000000}", now,
                    "parity ok", FRESH);
    check_parity_is(model, "{\"state\":\"ok\",\"days\":0,\"checked_ns\":1722800000000000000}", now,
                    "parity STALE 4d", STALE);
    check_parity_is(model, "{\"state\":\"ok\",\"days\":31,\"checked_ns\":1722000000000000000}", now,
                    "parity -", GONE);
    check_parity_is(model, "{\"state\":\"failed\",\"days\":null,\"checked_ns\":1722000000000000000}", now,
                    "parity FAILED", FRESH);
    check_parity_is(model, "{\"state\":\"running\",\"days\":31}", now, "parity runs", FRESH);
    check_parity_is(model, "{\"state\":\"none\",\"days\":null,\"checked_ns\":null}", now, "parity -", GONE);
    check_parity_is(model, "{\"state\":7}", now, "parity -", GONE);
    check_parity_is(model, "null", now, "parity -", GONE);
    check_parity_is(model, "[1]", now, "parity -", GONE);
    tui_model_destroy(model);
}

/* Two accounts, a short, an OCO and a bracket. */
static void check_several(void)
{
    struct model *model = tui_model_create(1000);
    struct moment now = {fixture_now_ns, 1000000};
    json_t *object = json_loads(fixture_status, 0, NULL), *more = json_loads(fixture_several, 0, NULL);
    const struct status *s = &model->status;

    CHECK_INT(json_object_update(object, more), 0);
    CHECK_INT(tui_model_take_status(model, object, now), 0);
    CHECK_NEAR(s->accounts[1].short_value, 4310.48, 1e-9);
    CHECK(s->accounts[1].shorts && !s->accounts[0].shorts);
    CHECK_NEAR(s->positions[1].qty, -0.06971, 1e-12);
    CHECK_NEAR(s->positions[0].fifo_entry, 61812.25, 1e-9);
    CHECK_STR(s->orders[1].tif, "DAY");
    CHECK_INT(s->orders[0].group, -1);
    CHECK_INT(s->orders[2].group, 11);
    CHECK_INT(s->orders[4].parent, 13);
    CHECK_NEAR(s->orders[5].trail_pct, 1.5, 1e-12);
    CHECK(isnan(s->orders[5].trail));
    CHECK_STR(s->parity.detail, "fills 42: price: 61837.63 replayed, 61837.64 recorded");
    json_decref(object);
    json_decref(more);
    tui_model_destroy(model);
}

static void check_whole(void)
{
    struct model *model = tui_model_create(1000);
    struct moment now = {fixture_now_ns, 1000000}, later;

    CHECK_INT(tui_model_freshness(model, now), GONE);
    CHECK(isnan(tui_model_total(model).equity));
    CHECK_INT(tui_model_alerts_open(model), -1);
    CHECK_INT(take(model, fixture_status, now), 0);
    const struct status *s = &model->status;
    CHECK_INT(s->pid, 4242);
    CHECK_STR(s->trading, "on");
    CHECK_STR(s->trading_reason, "");
    CHECK_INT(s->feed.retry_in_ms, -1);
    CHECK_INT(s->n_streams, 4);
    CHECK_INT(s->n_symbols, 2);
    CHECK_NEAR(s->symbols[0].ask, 61837.64, 1e-9);
    CHECK_INT(s->symbols[0].limit_ms, 15000);
    CHECK_INT(s->symbols[0].n_indicators, 3);
    CHECK_STR(s->symbols[0].indicators[2].name, "rsi_14");
    CHECK(isnan(s->symbols[1].indicators[1].value));
    CHECK(isnan(s->symbols[1].change_24h_pct));
    CHECK(isnan(s->symbols[1].bar_close));
    CHECK_INT(s->symbols[1].bar_open_ms, -1);
    CHECK_INT(s->n_positions, 2);
    CHECK(isnan(s->positions[1].stop));
    CHECK_INT(s->orders[0].id, 7);
    CHECK(isnan(s->orders[0].price));
    CHECK_INT(s->n_refusals, 1);
    CHECK_INT(s->refusals[0].count, 1);
    CHECK_INT(s->n_trainings, 0);
    CHECK_STR(s->log.state, "ok");
    CHECK_INT(s->log.seq, 9130);
    CHECK_NEAR(s->log.bytes_per_event, 9.7, 1e-12);
    CHECK_STR(s->recovery.from, "log");
    CHECK_INT(s->recovery.played, 1204);
    CHECK_NEAR(tui_model_total(model).equity, 10243.11, 1e-9);
    CHECK_INT(tui_model_alerts_open(model), 2);

    /* Ages continue; three intervals late is stale, ten is gone. */
    CHECK_INT(tui_model_freshness(model, now), FRESH);
    CHECK_INT(tui_model_symbol_freshness(model, &s->symbols[0], now), FRESH);
    CHECK_INT(tui_model_symbol_freshness(model, &s->symbols[1], now), STALE);
    CHECK_INT(tui_model_position_freshness(model, &s->positions[1], now), STALE);
    later = (struct moment){fixture_now_ns + 3000000000, now.mono_ms + 3000};
    CHECK_INT(tui_model_age(model, 12, later), 3012);
    CHECK_INT(tui_model_age(model, -1, later), -1);
    CHECK_INT(tui_model_freshness(model, later), FRESH);
    CHECK_INT(tui_model_clock_ns(model, later), fixture_now_ns + 3000000000);
    later.mono_ms = now.mono_ms + 3001;
    CHECK_INT(tui_model_freshness(model, later), STALE);
    CHECK_INT(tui_model_symbol_freshness(model, &s->symbols[0], later), STALE);
    CHECK(tui_print_is_stale(model, later));
    later.mono_ms = now.mono_ms + 10001;
    CHECK_INT(tui_model_freshness(model, later), GONE);
    CHECK_INT(tui_model_accounts_freshness(model, later), GONE);

    CHECK_INT(model->holdings, MODEL_DAEMON);

    /* Another schema, or no status at all, leaves what was known alone. */
    CHECK_INT(take(model, "{\"schema\":\"papertape.status/2\"}", later), -EPROTO);
    CHECK_INT(take(model, "[1,2]", later), -EPROTO);
    CHECK_INT(model->status.pid, 4242);
    tui_model_destroy(model);
}

static void check_holes(void)
{
    struct model *model = tui_model_create(1000);
    struct moment now = {fixture_now_ns, 5};

    CHECK_INT(take(model, "{\"schema\":\"papertape.status/1\"}", now), 0);
    CHECK_INT(model->source, MODEL_DAEMON);
    CHECK_INT(model->status.n_symbols, 0);
    CHECK_INT(model->status.feed.age_ms, -1);
    CHECK_INT(model->status.counters.fills, -1);
    CHECK(isnan(model->status.db.commit_p99_ms));
    CHECK_INT(tui_model_clock_ns(model, now), 0);
    CHECK_INT(
        take(model,
             "{\"schema\":\"papertape.status/1\",\"now_ns\":null,\"feed\":7,\"symbols\":{\"a\":1},"
             "\"accounts\":[null,3,{\"equity\":\"x\",\"account\":9}],\"positions\":[{}],\"orders\":\"\","
             "\"counters\":[],\"gpu\":null,\"db\":{\"commit_p50_ms\":true},\"alerts_open\":-4}",
             now),
        0);
    CHECK_INT(model->status.n_accounts, 1);
    CHECK(isnan(model->status.accounts[0].equity));
    CHECK_STR(model->status.accounts[0].account, "");
    CHECK_INT(model->status.n_positions, 1);
    CHECK(isnan(model->status.positions[0].qty));
    CHECK_INT(model->status.alerts_open, -1);
    tui_model_destroy(model);
}

/* The reason does not say the state again; what no commit has timed is not 0 ms. */
static void check_words(void)
{
    static const struct {
        const char *trading, *reason, *words;
        bool paused;
    } cases[] = {
        {"paused", "paused by the user", "by the user", true},
        {"halted", "halted: drawdown 20 %", "drawdown 20 %", false},
        {"paused", "pausedly", "pausedly", true},
        {"paused", "paused", "", true},
        {"on", "", "", false},
        {"", "", "", false},
    };
    struct model *model = tui_model_create(1000);
    struct moment now = {fixture_now_ns, 5};
    char *text = NULL;
    size_t size;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        strcpy(model->status.trading, cases[i].trading);
        strcpy(model->status.trading_reason, cases[i].reason);
        CHECK_STR(tui_model_trading_reason(model), cases[i].words);
        CHECK_INT(tui_model_trading_paused(model), cases[i].paused);
    }
    CHECK_INT(take(model,
                   "{\"schema\":\"papertape.status/1\",\"accounts\":[],\"symbols\":[{\"symbol\":\"X\"}],"
                   "\"db\":{\"state\":\"ok\",\"commits\":0,\"commit_p50_ms\":0,\"commit_p99_ms\":0}}",
                   now),
              0);
    FILE *out = open_memstream(&text, &size);
    tui_print_status(out, model, now);
    fclose(out);
    CHECK(strstr(text, "orders    n/a, fills n/a, rejected n/a\n") != NULL);
    CHECK(strstr(text, "commits 0, queue n/a, commit p50 n/a, p99 n/a\n") != NULL);
    CHECK(strstr(text, " bars n/a ") != NULL);
    CHECK(strstr(text, "-1") == NULL);
    free(text);
    tui_model_destroy(model);
}

static void check_hostile(void)
{
    struct model *model = tui_model_create(1000);
    struct moment now = {fixture_now_ns, 5};
    json_t *object = json_loads(fixture_status, 0, NULL), *symbols = json_array();
    char name[400];

    for (int i = 0; i < 1000; i++)
        json_array_append_new(symbols,
                              json_pack("{s:s, s:f, s:I, s:i}", "symbol", "\033[2J\033]0;x\aBTC", "last",
                                        1e308, "age_ms", (json_int_t)INT64_MIN, "price_decimals", 99));
    json_object_set_new(object, "symbols", symbols);
    memset(name, 'x', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    json_object_set_new(object, "trading", json_string(name));
    json_object_set_new(object, "trading_reason", json_string("\xe2\x80\xaegnp\r\n\t"));
    CHECK_INT(tui_model_take_status(model, object, now), 0);
    CHECK_INT(model->status.n_symbols, 1000); /* all of them */
    CHECK_STR(model->status.symbols[0].symbol, "?[2J?]0;x?BTC");
    CHECK_INT(model->status.symbols[0].age_ms, -1);
    CHECK_INT(model->status.symbols[0].price_decimals, 12);
    CHECK_INT(strlen(model->status.trading), STATUS_WORD_MAX - 1);
    CHECK_STR(model->status.trading_reason, "?gnp???");
    json_decref(object);
    tui_model_destroy(model);
}

/* What a daemon that has not started does not know comes from the database, and only that. */
static void check_not_started(void)
{
    struct model *model = tui_model_create(1000);
    struct status *stored = malloc(sizeof(*stored));
    struct moment now = {fixture_now_ns, 5};
    struct status_position position = {.symbol = "BTCUSDT", .qty = 2, .age_ms = 4000};
    char *text = NULL;
    size_t size;

    CHECK_INT(take(model,
                   "{\"schema\":\"papertape.status/1\",\"pid\":7,\"trading\":null,\"accounts\":null,"
                   "\"symbols\":null,\"positions\":null,\"orders\":null,\"counters\":null,"
                   "\"feed\":{\"state\":\"retry\",\"retry_in_ms\":900}}",
                   now),
              0);
    CHECK_INT(model->source, MODEL_DAEMON);
    CHECK_INT(model->holdings, MODEL_NOTHING);
    CHECK_INT(tui_model_accounts_freshness(model, now), GONE);
    FILE *out = open_memstream(&text, &size);
    tui_print_status(out, model, now);
    CHECK_INT(tui_print_json(out, model, NULL), 0);
    fclose(out);
    CHECK(strstr(text, "trading   n/a\n") != NULL);
    CHECK(strstr(text, "account   n/a\nprice     n/a\nposition  n/a\n") != NULL);
    CHECK(strstr(text, "flat") == NULL);
    CHECK(strstr(text, "\"positions\":null") != NULL);
    free(text);

    tui_status_init(stored);
    stored->pid = 1;
    *(struct status_position *)tui_status_add(stored, STATUS_POSITIONS) = position;
    tui_model_take_stored(model, stored, 70000, now);
    CHECK_INT(stored->n_positions, 0); /* they are the model's */
    CHECK_INT(model->source, MODEL_DAEMON);
    CHECK_INT(model->holdings, MODEL_DATABASE);
    CHECK_INT(model->status.pid, 7);
    CHECK_STR(model->status.feed.state, "retry");
    CHECK_INT(model->status.n_positions, 1);
    CHECK_INT(tui_model_accounts_freshness(model, now), STALE);
    CHECK_INT(tui_model_position_freshness(model, &model->status.positions[0], now), FRESH);

    CHECK_INT(take(model, fixture_status, now), 0); /* it has started: its word alone */
    CHECK_INT(model->holdings, MODEL_DAEMON);
    CHECK_INT(model->status.n_positions, 2);
    CHECK_INT(tui_model_accounts_freshness(model, now), FRESH);

    CHECK(!tui_model_wants_stored(model));
    CHECK_INT(take(model,
                   "{\"schema\":\"papertape.status/1\",\"accounts\":[],\"symbols\":["
                   "{\"symbol\":\"BTCUSDT\",\"last\":null,\"age_ms\":null},"
                   "{\"symbol\":\"ETHUSDT\",\"last\":5,\"age_ms\":1}],"
                   "\"positions\":[{\"account\":\"\",\"symbol\":\"BTCUSDT\",\"qty\":3,\"mark\":null}]}",
                   now),
              0); /* it has started, and received one price of two */
    CHECK(tui_model_wants_stored(model));
    *(struct status_symbol *)tui_status_add(stored, STATUS_SYMBOLS) =
        (struct status_symbol){.symbol = "ETHUSDT", .last = 4, .mark = 4, .age_ms = 9000};
    *(struct status_symbol *)tui_status_add(stored, STATUS_SYMBOLS) =
        (struct status_symbol){.symbol = "BTCUSDT", .last = 6, .mark = 7, .age_ms = 9000};
    position.mark = 7;
    *(struct status_position *)tui_status_add(stored, STATUS_POSITIONS) = position;
    tui_model_take_stored(model, stored, 70000, now);
    CHECK_INT(model->holdings, MODEL_DAEMON);
    CHECK_NEAR(model->status.symbols[0].last, 6, 1e-9);
    CHECK_INT(model->status.symbols[0].age_ms, 9000);
    CHECK_NEAR(model->status.symbols[1].last, 5, 1e-9);
    CHECK_NEAR(model->status.positions[0].qty, 3, 1e-9);
    CHECK_NEAR(model->status.positions[0].mark, 7, 1e-9);
    CHECK_INT(model->status.positions[0].age_ms, 4000);

    model->source = MODEL_NOTHING; /* no daemon: everything is the database's */
    tui_model_take_stored(model, stored, 70000, now);
    CHECK_INT(model->source, MODEL_DATABASE);
    CHECK_INT(model->status.pid, 1);
    CHECK_INT(model->status.n_symbols, 2);
    tui_status_finish(stored);
    free(stored);
    tui_model_destroy(model);
}

static void check_accounts(void)
{
    struct model *model = tui_model_create(1000);
    struct moment now = {fixture_now_ns, 5};

    CHECK_INT(
        take(model,
             "{\"schema\":\"papertape.status/1\",\"accounts\":["
             "{\"account\":\"a\",\"currency\":\"USDT\",\"equity\":110,\"deposits\":100,\"drawdown_pct\":-1},"
             "{\"account\":\"b\",\"currency\":\"USDT\",\"equity\":90,\"deposits\":100,\"drawdown_pct\":-12},"
             "{\"account\":\"c\",\"currency\":\"USD\",\"equity\":1000,\"deposits\":1,\"drawdown_pct\":-50}]}",
             now),
        0);
    struct model_total total = tui_model_total(model);
    CHECK_NEAR(total.equity, 200, 1e-9);
    CHECK_NEAR(total.return_pct, 0, 1e-9);
    CHECK_NEAR(total.drawdown_pct, -12, 1e-9); /* of that currency */
    CHECK_STR(total.worst, "b");
    CHECK(total.some);
    tui_model_destroy(model);
}

int main(void)
{
    if (!setlocale(LC_CTYPE, "C.UTF-8"))
        return CHECK_SKIP;
    check_parity();
    check_several();
    check_whole();
    check_holes();
    check_words();
    check_hostile();
    check_not_started();
    check_accounts();
    return check_done("tui/model");
}
