#include "cli/verbs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/selected.h"
#include "exchange/bar.h"
#include "exchange/exit_status.h"
#include "record/config_key.h"
#include "record/times.h"

struct printing {
    int price_scale, qty_scale;
    bool json, any;
};

struct asked {
    struct db_selection selection;
    const char *source;
    bool split;
};

static void print_bar(void *ctx, const struct bar *bar)
{
    struct printing *p = ctx;
    char open[STORED_CELL], high[STORED_CELL], low[STORED_CELL], close[STORED_CELL], volume[STORED_CELL];
    const char *const names[] = {"open", "high", "low", "close", "volume"};
    const char *const values[] = {
        cli_stored_decimal(STORED_CSV, open, bar->open, p->price_scale),
        cli_stored_decimal(STORED_CSV, high, bar->high, p->price_scale),
        cli_stored_decimal(STORED_CSV, low, bar->low, p->price_scale),
        cli_stored_decimal(STORED_CSV, close, bar->close, p->price_scale),
        cli_stored_decimal(STORED_CSV, volume, bar->volume, p->qty_scale),
    };
    if (p->json)
        printf("%s{\"open_time_ms\":", p->any ? "," : "");
    printf("%lld", (long long)(bar->open_ns / 1000000));
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        p->json ? printf(",\"%s\":%s", names[i], values[i]) : printf(",%s", values[i]);
    char iso[RECORD_TIME_ISO_MAX];
    if (p->json)
        printf(",\"session\":\"%s\"}", bar_session_names[bar->session]);
    else
        printf(",%s,%s\n", bar_session_names[bar->session], record_time_iso(bar->open_ns, iso));
    p->any = true;
}

static void on_stored(void *ctx, const struct bar *bar)
{
    (void)bar;
    *(bool *)ctx = true;
}

/* Says on stderr which intervals of the symbol are stored at all, where the one asked for has no bar. */
static int note_stored(struct db_reader *reader, const char *symbol, const struct bar_interval *asked,
                       enum bar_source source)
{
    char names[400] = "not stored; stored are";
    size_t start = strlen(names), n = start;

    for (size_t i = 0; i < BAR_INTERVALS; i++)
        for (int k = 0; k < 2; k++) {
            enum bar_source from = k ? BAR_TRADES : BAR_VENUE;
            int64_t interval_ns = bar_intervals[i].ns;
            bool any = false;
            int r = db_reader_last_bars(reader, symbol, interval_ns, from, 1, on_stored, &any);
            if (r < 0)
                return r;
            if (any && interval_ns == asked->ns && from == source)
                return 0; /* only not at those times */
            if (any && n < sizeof names)
                n += (size_t)snprintf(names + n, sizeof names - n, "%s %s%s", n > start ? "," : "",
                                      bar_intervals[i].name, k ? " of --source trades" : "");
        }
    char what[SYMBOL_NAME_MAX + 16];
    snprintf(what, sizeof what, "%s %.8s", symbol, asked->name);
    cli_stored_fail(EXIT_OK, "bars", what, n > start ? names : "no bar of this symbol is stored");
    return 0;
}

static const struct db_selected selected = {NULL}; /* the query has the period */

static int run(struct option_call *call)
{
    const struct asked *asked = call->into;
    const struct db_selection *period = &asked->selection;
    struct db_reader *reader;
    struct db_symbol_row symbol;
    char name[SYMBOL_NAME_MAX];
    char why[CONFIG_WHY_MAX];
    enum bar_source source = asked->source && strcmp(asked->source, "trades") == 0 ? BAR_TRADES : BAR_VENUE;
    int interval = config_key_word(call->arguments[1], BAR_INTERVAL_NAMES, why);

    if (interval < 0)
        return option_fail(call, EXIT_USAGE, "%s", why);
    int r = cli_selected_open("bars", call->state, call->into, &selected, &reader);
    if (r != EXIT_OK)
        return r;
    r = db_reader_symbol(reader, cli_stored_symbol(call->arguments[0], name), &symbol);
    if (r == 0) {
        struct printing printing = {symbol.symbol.price_scale, symbol.symbol.qty_scale, call->json, false};
        fputs(call->json ? "{\"schema\":\"papertape.bars/1\",\"bars\":["
                         : "open_time_ms,open,high,low,close,volume,session,open_time_iso\n",
              stdout);
        r = (asked->split ? db_reader_split_bars : db_reader_bars)(
            reader, name, bar_intervals[interval].ns, source, period->from_ns,
            period->to_ns == INT64_MAX ? INT64_MAX : period->to_ns - 1, print_bar, &printing);
        if (call->json)
            puts("]}");
        if (r == 0 && !printing.any)
            r = note_stored(reader, name, &bar_intervals[interval], source);
    }
    return cli_stored_close("bars", reader, r);
}

static const struct option_action actions[] = {{.arguments = "SYMBOL INTERVAL",
                                                .example = "BTCUSDT 1m",
                                                .need = OPTION_NEEDS_STATE,
                                                OPTION_LISTS,
                                                .run = run}};

static const struct option_row options[] = {
    {"source", "venue|trades", "the venue's closed klines (default), or bars built here from trades",
     offsetof(struct asked, source)},
    {"split", NULL,
     "in the shares of now: what was reported before a split, divided by it, as backtests and charts read it",
     offsetof(struct asked, split)},
    SELECTED_PERIOD("opened"),
    SELECTED_MOMENT(),
};
static const struct option_refusal refused[] = {
    SELECTED_REFUSED_ACCOUNT("bars are of a market, not of an account")};

CLI_VERB(cli_bars) = {
    .name = "bars",
    .words = "a symbol's stored prices and volumes, as CSV",
    .about =
        "Stored bars as CSV, in exact decimals: open_time_ms,open,high,low,close,volume; session, which is "
        "none, pre, regular, post, closed or mixed: in which part of its market's day the bar is; none where it "
        "trades at all times; and last open_time_iso, the open time in ISO 8601. --bars of papertape backtest reads it. Gaps stay gaps. "
        "INTERVAL is one of " BAR_INTERVAL_NAMES ". What the venue corrected since "
        "is in them; papertape revisions says what it was.",
    .page = "market",
    OPTION_ACTIONS(actions),
    OPTION_OPTIONS(options),
    OPTION_REFUSED(refused),
    .size = sizeof(struct asked),
    .init = cli_selected_init,
};
