/* How the guards' verdicts read: what differs, when, where, in both versions; as text and as JSON. */
#include "cli/guard_args.h"
#include "tests/check.h"

static struct guard_args args = {.seed = 7};
static char *text;

/* What a function prints on stdout. */
static FILE *capture(void)
{
    static size_t size;
    static FILE *out;
    if (!out) {
        out = stdout;
        free(text);
        stdout = open_memstream(&text, &size);
        return stdout;
    }
    fclose(stdout);
    stdout = out;
    out = NULL;
    return stdout;
}

static struct guard_difference difference(void)
{
    const struct market *market = args.market;
    struct guard_difference found = {.change = GUARD_PERTURBED,
                                     .way = BACKTEST_COLUMNS,
                                     .cut = 20,
                                     .row = 17,
                                     .symbol = 1,
                                     .cut_ns = market_open_ns(market, 21),
                                     .ts_ns = market_open_ns(market, 18),
                                     .in_whole = true,
                                     .decision = {.row = 17, .symbol = 1, .n_intents = 2}};
    found.decision.intents[0] = (struct intent){.kind = INTENT_ENTER, .fraction = 0.1, .stop = 41000.5};
    found.decision.intents[1] = (struct intent){.kind = INTENT_STOP, .stop = 2};
    snprintf(found.decision.whys[0], sizeof found.decision.whys[0], "cross up");
    snprintf(found.decision.whys[1], sizeof found.decision.whys[1], "trail");
    return found;
}

static void test_lookahead(void)
{
    struct guard_lookahead verdict = {
        .cuts = 32, .runs = 130, .decisions = 5, .orders = 6, .columns = true, .found = true};
    verdict.first = difference();
    capture();
    cli_lookahead_print(&args, &verdict);
    capture();
    CHECK(strstr(text, "strategy   sma-cross fast=3\n"));
    CHECK(strstr(text, "BTCUSDT ETHUSDT 1m, 64 rows, synthetic\n"));
    CHECK(strstr(text, "cuts       32, seed 7: 130 runs, by the engine and vectorised\n"));
    CHECK(strstr(text, "LOOKS AHEAD at 2024-01-01 00:18:00.000Z, ETHUSDT, vectorised\n"));
    CHECK(strstr(text, "  cut        2024-01-01 00:21:00.000Z: the bars after it are others\n"));
    CHECK(strstr(text, "  whole      ENTER fraction 0.10000000000000001 stop 41000.5 (cross up); STOP stop 2 "
                       "(trail)\n  changed    nothing\n"));
    CHECK(!strstr(text, "lookahead ok"));

    capture();
    CHECK_INT(cli_lookahead_print_json(&args, &verdict), 0);
    capture();
    json_t *object = json_loads(text, 0, NULL);
    const json_t *first = json_object_get(object, "first");
    CHECK_STR(json_string_value(json_object_get(object, "schema")), "papertape.lookahead/1");
    CHECK(json_is_false(json_object_get(object, "ok")));
    CHECK_STR(json_string_value(json_object_get(first, "symbol")), "ETHUSDT");
    CHECK_STR(json_string_value(json_object_get(first, "changed")), "nothing");
    CHECK_INT(json_integer_value(json_object_get(first, "cut_row")), 20);
    json_decref(object);

    verdict.first.of_order = true;
    verdict.first.in_whole = false;
    verdict.first.in_changed = true;
    verdict.first.changed_order = (struct order){.id = 9,
                                                 .symbol = 1,
                                                 .side = ORDER_SELL,
                                                 .type = ORDER_STOP,
                                                 .qty = 150000000,
                                                 .stop_price = 229900000000,
                                                 .tag = "stop"};
    capture();
    cli_lookahead_print(&args, &verdict);
    capture();
    CHECK(strstr(text, "  whole      no order\n  changed    order 9: SELL STOP 1.5 at 2299 (stop)\n"));

    verdict.found = false;
    capture();
    cli_lookahead_print(&args, &verdict);
    capture();
    CHECK(strstr(text, "lookahead ok\n") && !strstr(text, "LOOKS"));

    verdict.decisions = 0; /* which proves nothing */
    capture();
    cli_lookahead_print(&args, &verdict);
    CHECK_INT(cli_lookahead_print_json(&args, &verdict), 0);
    capture();
    CHECK(strstr(text, "nothing was decided") && strstr(text, "\"ok\":false") &&
          !strstr(text, "lookahead ok"));
}

static void test_warmup(void)
{
    struct guard_warmup verdict = {.bars = 12,
                                   .settles = true,
                                   .most = 500,
                                   .predicted = 11,
                                   .lookback = 9,
                                   .windows = 8,
                                   .window_rows = 64,
                                   .runs = 40,
                                   .decisions = 3,
                                   .last_bars = 11};
    verdict.last = difference();
    capture();
    cli_warmup_print(&args, &verdict);
    capture();
    CHECK(strstr(text, "predicted  11 bars") && strstr(text, "lookback   9 bars"));
    CHECK(strstr(text, "with 11   at 2024-01-01 00:18:00.000Z, ETHUSDT\n  all        ENTER"));
    CHECK(strstr(text, "  11         nothing\nwarmup     12 bars\n"));

    verdict.decisions = 0;
    capture();
    cli_warmup_print(&args, &verdict);
    capture();
    CHECK(strstr(text, "nothing was decided") && !strstr(text, "\nwarmup     "));

    verdict.decisions = 3;
    verdict.settles = false;
    verdict.predicted = INDICATOR_FOREVER;
    capture();
    cli_warmup_print(&args, &verdict);
    capture();
    CHECK(strstr(text, "predicted  never: one of its indicators remembers its first bar\n"));
    CHECK(strstr(text, "NEVER SETTLES: with 11 bars of history"));
    capture();
    CHECK_INT(cli_warmup_print_json(&args, &verdict), 0);
    capture();
    json_t *object = json_loads(text, 0, NULL);
    CHECK(json_is_false(json_object_get(object, "settles")));
    CHECK(json_is_null(json_object_get(object, "bars")) &&
          json_is_null(json_object_get(object, "predicted_bars")));
    CHECK_INT(json_integer_value(json_object_get(object, "too_short_bars")), 11);
    json_decref(object);
}

int main(void)
{
    struct guard_bars bars;
    cli_run_init(&args.run, "lookahead", 1);
    if (backtest_guard_bars_make(7, 2, 64, 60 * INT64_C(1000000000), &bars) < 0 ||
        cli_strategy_args_choose("lookahead", "sma-cross:fast=3", &args.run.choices[0]) != 0)
        return EXIT_FAILURE;
    args.run.n_choices = 1;
    args.market = &bars.market;
    if (cli_run_account(&args.run, args.market, 0, &args.account) != 0)
        return EXIT_FAILURE;
    test_lookahead();
    test_warmup();
    free(text);
    backtest_guard_bars_finish(&bars);
    cli_run_finish(&args.run);
    return check_done("cli/guards");
}
