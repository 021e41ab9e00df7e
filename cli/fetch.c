#include "cli/fetch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/stored.h"
#include "cli/verbs.h"
#include "daemon/config_values.h"
#include "exchange/early_stop.h"
#include "exchange/exit_status.h"
#include "exchange/fail.h"
#include "exchange/folder.h"
#include "exchange/venues.h"
#include "record/config_key.h"

/* The fixed ones, as bar_intervals has them, and the month. */
#define FETCH_INTERVALS BAR_INTERVAL_NAMES " " BAR_MONTH_NAME

/* ---- the line ---- */

static int take_venue(struct fetch *fetch)
{
    const char *name = fetch->asked->venue;
    char why[CONFIG_WHY_MAX];
    fetch->venue = name ? venue_find(name) : venue_default();
    if (fetch->venue)
        return EXIT_OK;
    (void)daemon_config_unknown_venue(name, why);
    return fail_with(EXIT_USAGE, fetch->err, sizeof fetch->err, "--venue: %s", why);
}

/* "BTCUSDT,ETHUSDT", each once. */
static int take_symbols(struct fetch *fetch)
{
    for (const char *word = fetch->asked->symbols; *word;) {
        size_t len = strcspn(word, ", ");
        if (len >= SYMBOL_NAME_MAX)
            return fail_with(EXIT_USAGE, fetch->err, sizeof fetch->err, "--symbol %.40s…: too long", word);
        if (len > 0 && fetch->n == FETCH_SYMBOLS_MAX)
            return fail_with(EXIT_USAGE, fetch->err, sizeof fetch->err, "--symbol: at most %d symbols",
                             FETCH_SYMBOLS_MAX);
        char text[SYMBOL_NAME_MAX], *name = fetch->symbols[fetch->n].name;
        snprintf(text, sizeof text, "%.*s", (int)len, word);
        cli_stored_symbol(text, name);
        for (size_t i = 0; i < fetch->n && len > 0; i++)
            if (strcmp(fetch->symbols[i].name, name) == 0)
                return fail_with(EXIT_USAGE, fetch->err, sizeof fetch->err, "--symbol: %s twice", name);
        fetch->n += len > 0;
        word += len + strspn(word + len, ", ");
    }
    return fetch->n > 0 ? EXIT_OK
                        : fail_with(EXIT_USAGE, fetch->err, sizeof fetch->err,
                                    "--symbol: a name is needed, as BTCUSDT");
}

/* Options that are a venue's own: its name of each, and where it is. */
static const struct {
    const char *option, *name;
    size_t at;
} settings[FETCH_SETTINGS] = {
    {"feed", "feed", offsetof(struct fetch_asked, feed)},
    {"crypto", "crypto", offsetof(struct fetch_asked, crypto)},
    {"trading-url", "trading_url", offsetof(struct fetch_asked, trading_url)},
};

/* Another scheme, or no URL, is known before anything is asked. */
static int check_url(struct fetch *fetch, const char *option, const char *text)
{
    struct url url;
    return !text || net_url_parse_as(text, "https", &url) == 0
               ? EXIT_OK
               : fail_with(EXIT_USAGE, fetch->err, sizeof fetch->err,
                           "--%s %.200s: a URL like https://HOST:PORT is needed", option, text);
}

/* Is it an option of the venue's, and a value of that? */
static int take_setting(struct fetch *fetch, int which)
{
    const struct venue *venue = fetch->venue;
    const char *option = settings[which].option,
               *value = *(const char *const *)((const char *)fetch->asked + settings[which].at);
    char why[CONFIG_WHY_MAX];
    size_t i = 0;
    if (!value)
        return EXIT_OK;
    while (i < venue->n_options && strcmp(venue->options[i].name, settings[which].name) != 0)
        i++;
    if (i == venue->n_options)
        return fail_with(EXIT_USAGE, fetch->err, sizeof fetch->err, "%s has no --%s", venue->title, option);
    if (venue->options[i].values && config_key_word(value, venue->options[i].values, why) < 0)
        return fail_with(EXIT_USAGE, fetch->err, sizeof fetch->err, "--%s: %s", option, why);
    fetch->settings[fetch->n_settings++] = (struct venue_setting){venue->options[i].name, value};
    return EXIT_OK;
}

const char *cli_fetch_row(const struct fetch *fetch)
{
    return fetch->trades ? "trade" : "bar";
}

const char *cli_fetch_rows(const struct fetch *fetch)
{
    return fetch->trades ? "trades" : bar_interval_name(fetch->interval_ns);
}

/* Of bars the interval, and the first that opens in the range. */
static int take_rows(struct fetch *fetch)
{
    const struct fetch_asked *asked = fetch->asked;
    char why[CONFIG_WHY_MAX];
    fetch->trades = asked->trades;
    if (!asked->symbols || (!asked->interval && !asked->trades) || asked->from_ns == INT64_MIN)
        return fail_with(EXIT_USAGE, fetch->err, sizeof fetch->err, "%s is needed",
                         !asked->symbols                      ? "--symbol"
                         : !asked->interval && !asked->trades ? "--interval, or --trades,"
                                                              : "--from");
    fetch->from_ns = asked->from_ns;
    if (asked->trades)
        return EXIT_OK;
    if (bar_interval_parse_any(asked->interval, &fetch->interval_ns) < 0 &&
        config_key_word(asked->interval, FETCH_INTERVALS, why) < 0)
        return fail_with(EXIT_USAGE, fetch->err, sizeof fetch->err, "--interval: %s", why);
    fetch->from_ns = bar_open_time(asked->from_ns, fetch->interval_ns);
    if (fetch->from_ns < asked->from_ns)
        fetch->from_ns = bar_end_time(fetch->from_ns, fetch->interval_ns);
    return EXIT_OK;
}

int cli_fetch_take(struct fetch *fetch)
{
    const struct fetch_asked *asked = fetch->asked;
    int status = take_rows(fetch);
    if (status != EXIT_OK)
        return status;
    for (int i = 0; i < VENUE_ADJUSTMENTS && asked->adjustment; i++)
        if (strcmp(asked->adjustment, venue_adjustment_names[i]) == 0)
            fetch->adjustment = (enum venue_adjustment)i;
    if (fetch->from_ns < 0)
        return fail_with(EXIT_USAGE, fetch->err, sizeof fetch->err, "--from: a time since 1970 is needed");
    status = take_venue(fetch);
    if (status == EXIT_OK && fetch->trades && fetch->venue->trades_span_ns == 0)
        status = fail_with(EXIT_USAGE, fetch->err, sizeof fetch->err, "--trades: those of %s are not fetched",
                           fetch->venue->title);
    if (status == EXIT_OK && fetch->venue->always_open && asked->adjustment)
        status = fail_with(EXIT_USAGE, fetch->err, sizeof fetch->err, "%s has no --adjustment",
                           fetch->venue->title);
    if (status == EXIT_OK && asked->archive && !fetch->venue->archives)
        status = fail_with(EXIT_USAGE, fetch->err, sizeof fetch->err, "--archive: files of %s are not read",
                           fetch->venue->title);
    for (int i = 0; i < FETCH_SETTINGS && status == EXIT_OK; i++)
        status = take_setting(fetch, i);
    if (status == EXIT_OK)
        status = check_url(fetch, "rest-url", asked->rest_url);
    if (status == EXIT_OK)
        status = check_url(fetch, "trading-url", asked->trading_url);
    return status == EXIT_OK ? take_symbols(fetch) : status;
}

/* ---- what is printed ---- */

static int64_t missing_of(const struct fetch_symbol *symbol, enum history_why why)
{
    int64_t n = 0;
    for (size_t i = 0; i < symbol->n_missing; i++)
        n += symbol->missing[i].why == why ? symbol->missing[i].rows : 0;
    return n;
}

static json_t *symbol_object(const struct fetch *fetch, size_t i)
{
    const struct fetch_symbol *symbol = &fetch->symbols[i];
    const struct history_job *job = &fetch->jobs[i];
    const char *rows = fetch->trades ? "trades" : "bars";
    json_t *missing = json_array();
    for (size_t k = 0; k < symbol->n_missing; k++)
        json_array_append_new(missing, json_pack("{s:I, s:I, s:I, s:s}", "from_ns",
                                                 (json_int_t)symbol->missing[k].from_ns, "to_ns",
                                                 (json_int_t)symbol->missing[k].end_ns, rows,
                                                 (json_int_t)symbol->missing[k].rows, "why",
                                                 history_why_words[symbol->missing[k].why]));
    return json_pack("{s:s, s:s?, s:s?, s:I, s:I, s:I, s:I, s:I, s:I, s:o}", "symbol", symbol->name, "file",
                     job->error ? NULL : symbol->path, "error", job->error ? job->why : NULL, "to_ns",
                     (json_int_t)job->end_ns, rows, (json_int_t)symbol->rows, "fetched",
                     (json_int_t)job->rows, "requests", (json_int_t)job->pages, "archived",
                     (json_int_t)symbol->archived, "changed", (json_int_t)job->changed, "missing", missing);
}

static int print_json(const struct fetch *fetch)
{
    json_t *symbols = json_array();
    for (size_t i = 0; i < fetch->n; i++)
        json_array_append_new(symbols, symbol_object(fetch, i));
    return cli_stored_print("fetch",
                            json_pack("{s:s, s:s, s:s?, s:s, s:I, s:o}", "schema", "papertape.fetch/1",
                                      "venue", fetch->venue->format->name, "interval",
                                      fetch->trades ? NULL : cli_fetch_rows(fetch), "adjustment",
                                      venue_adjustment_names[fetch->adjustment], "from_ns",
                                      (json_int_t)fetch->from_ns, "symbols", symbols),
                            6);
}

static const char *plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

/* Gaps one by one, of what is usual only the numbers. `to`: not into bars that go to stdout. */
static void print_symbol(const struct fetch *fetch, size_t i, FILE *to)
{
    const struct fetch_symbol *symbol = &fetch->symbols[i];
    const struct history_job *job = &fetch->jobs[i];
    char from[STORED_CELL], end[STORED_CELL];
    fprintf(to, "%s: %llu %s%s, %llu of them fetched in %llu request%s", symbol->path,
            (unsigned long long)symbol->rows, cli_fetch_row(fetch), plural(symbol->rows),
            (unsigned long long)job->rows, (unsigned long long)job->pages, plural(job->pages));
    if (symbol->archived > 0)
        fprintf(to, ", %llu from archive files", (unsigned long long)symbol->archived);
    if (job->changed > 0)
        fprintf(to, ", %zu other%s than before", job->changed, plural(job->changed));
    for (int why = 0; why < HISTORY_WHYS; why++)
        if (missing_of(symbol, (enum history_why)why) > 0)
            fprintf(to, "; %s %lld", history_why_words[why],
                    (long long)missing_of(symbol, (enum history_why)why));
    fputc('\n', to);
    for (size_t k = 0; k < symbol->n_missing; k++) {
        const struct history_missing *run = &symbol->missing[k];
        cli_stored_time(STORED_TABLE, from, run->from_ns);
        cli_stored_time(STORED_TABLE, end, run->end_ns);
        if (run->why == HISTORY_GAP)
            fprintf(to, "%s: gap of %lld %s%s, %s to %s\n", symbol->name, (long long)run->rows,
                    cli_fetch_row(fetch), plural((uint64_t)run->rows), from, end);
        else if (run->rows == 0)
            fprintf(to, "%s: %s, %s to %s\n", symbol->name, history_why_words[run->why], from, end);
    }
}

/* ---- all of it ---- */

/* Those that are not whole, a line each. */
int cli_fetch_say(const char *verb, const struct fetch *fetch)
{
    int status = EXIT_OK;
    for (size_t i = 0; i < fetch->n; i++) {
        const struct history_job *job = &fetch->jobs[i];
        if (job->error && job->pages > 0)
            fprintf(stderr, "papertape: %s: %s: %llu %ss so far: %s\n", verb, fetch->symbols[i].name,
                    (unsigned long long)job->rows, cli_fetch_row(fetch), job->why);
        else if (job->error)
            fprintf(stderr, "papertape: %s: %s: %s\n", verb, fetch->symbols[i].name, job->why);
        if (job->error || fetch->symbols[i].status != EXIT_OK)
            status = EXIT_ERROR;
    }
    return status;
}

static int run_fetch(struct option_call *call, struct fetch *fetch)
{
    const bool streamed = strcmp(fetch->asked->out, "-") == 0;
    int status = cli_fetch_take(fetch);
    if (status == EXIT_OK && streamed && call->json)
        return option_fail(call, EXIT_USAGE, "--output -: without --json");
    if (status == EXIT_OK)
        status = cli_fetch_place(fetch);
    if (status != EXIT_OK)
        return option_fail(call, status, "%s", fetch->err);
    fetch->over = cli_fetch_write;
    early_stop_catch();
    int r = cli_fetch_from_venue(fetch);
    if (r < 0)
        return option_fail(call, r == -EINVAL ? EXIT_USAGE : EXIT_ERROR, "%s", fetch->err);
    for (size_t i = 0; i < fetch->n && !call->json; i++)
        if (fetch->symbols[i].written && fetch->symbols[i].status == EXIT_OK)
            print_symbol(fetch, i, streamed ? stderr : stdout);
    status = cli_fetch_say(call->verb->name, fetch);
    int printed = call->json ? print_json(fetch) : EXIT_OK;
    fflush(stdout);
    early_stop_release(); /* nothing is lost where the next is not done */
    if (!early_stop_asked())
        cli_fetch_make_ready(fetch);
    return printed != EXIT_OK ? printed : status;
}

/* ---- a file ---- */

/* The venue is asked for all of the file's range, into a place that is removed again. */
static int check_in(struct option_call *call, struct fetch *fetch, const struct bars_file *file)
{
    const struct fetch_asked *given = fetch->asked;
    const char *interval = bar_interval_name(file->interval_ns);
    char scratch[PATH_MAX];
    struct fetch_asked asked = *given;
    if (!interval)
        return option_fail(call, EXIT_USAGE, "%s: its interval is none of " FETCH_INTERVALS, given->check);
    int r = folder_temporary("fetch", scratch);
    if (r < 0)
        return option_fail(call, EXIT_ERROR, "%s: %s", scratch, strerror(-r));
    asked.symbols = given->symbols ? given->symbols : file->symbol;
    asked.interval = interval;
    asked.cache = scratch;
    asked.from_ns = given->from_ns == INT64_MIN ? file->open_time_ns[0] : given->from_ns;
    if (asked.to_ns == INT64_MAX)
        asked.to_ns = bar_end_time(file->open_time_ns[file->n - 1], file->interval_ns);
    fetch->asked = &asked;
    int status = cli_fetch_take(fetch);
    status =
        status == EXIT_OK ? cli_fetch_check(call, fetch, file) : option_fail(call, status, "%s", fetch->err);
    fetch->asked = given;
    (void)folder_remove(scratch);
    return status;
}

static int run_check(struct option_call *call, struct fetch *fetch)
{
    struct bars_file file = {0};
    char error[BARS_FILE_ERROR_MAX];
    /* Bad rows are what is looked for. */
    const struct bars_file_options options = {.symbol = fetch->asked->symbols, .as_is = true};
    if (bars_file_read_with(fetch->asked->check, &options, &file, error) < 0)
        return option_fail(call, EXIT_ERROR, "%s", error);
    early_stop_catch();
    int status = check_in(call, fetch, &file);
    bars_file_finish(&file);
    return status;
}

struct fetch *cli_fetch_new(const struct fetch_asked *asked)
{
    struct fetch *fetch = calloc(1, sizeof *fetch);
    if (fetch)
        fetch->asked = asked;
    return fetch;
}

void cli_fetch_free(struct fetch *fetch)
{
    for (size_t i = 0; fetch && i < fetch->n; i++) {
        history_store_close(fetch->symbols[i].store);
        free(fetch->symbols[i].missing);
    }
    if (fetch)
        feed_calendar_finish(&fetch->calendar);
    free(fetch);
}

static int run(struct option_call *call)
{
    struct fetch *fetch = cli_fetch_new(call->into);
    if (!fetch)
        return option_fail(call, EXIT_ERROR, "out of memory");
    const char *check = fetch->asked->check;
    const struct fetch_trades_layout *layout = check ? cli_fetch_layout_of(check) : NULL;
    int status = !check   ? run_fetch(call, fetch)
                 : layout ? cli_fetch_check_trades(call, fetch, layout)
                          : run_check(call, fetch);
    cli_fetch_free(fetch);
    return status;
}

/* Those of all options of that name, with commas between. */
static int take_symbol(struct option_call *call, const struct option_row *row, const char *value)
{
    struct fetch_asked *asked = call->into;
    char *all = NULL;
    (void)row;
    if (asprintf(&all, "%s%s%s", asked->symbols ? asked->symbols : "", asked->symbols ? "," : "", value) < 0)
        return option_fail(call, EXIT_ERROR, "out of memory");
    free(asked->own_symbols);
    asked->symbols = asked->own_symbols = all;
    return EXIT_OK;
}

static void finish(void *into)
{
    free(((struct fetch_asked *)into)->own_symbols);
}

static void init(void *into)
{
    *(struct fetch_asked *)into =
        (struct fetch_asked){.verb = "fetch", .from_ns = INT64_MIN, .to_ns = INT64_MAX};
}

static const struct option_action actions[] = {{.run = run, .needed = "output|check"}};

#define AT(member) offsetof(struct fetch_asked, member)

static const struct option_row options[] = {
    {"venue", "VENUE", "whose history; by default the daemon's default", AT(venue)},
    {"symbol", "S[,S...]", "as the venue names them: BTCUSDT, AAPL, BTC/USD; may be given more than once",
     .take = take_symbol},
    {"interval", "INTERVAL", "of the bars: " FETCH_INTERVALS ", a month, which " BAR_MONTH_REST " is, too",
     AT(interval)},
    {"trades", NULL,
     "trades instead of bars; where a venue has aggregates (aggTrades), those: of one taker at one price and time",
     AT(trades), .without = "interval adjustment check"},
    {"from", "T", "open times from T on: " STORED_TIME_WORDS, AT(from_ns), cli_stored_take_time},
    {"to", "T", "open times before T; by default now: the last bar is the last whole one", AT(to_ns),
     cli_stored_take_time, .after = "from"},
    {"output", "PATH",
     "the file, gzip where its name ends in .gz; of several symbols, or where it is one, a folder, of SYMBOL_INTERVAL.csv.gz or SYMBOL_trades.csv.gz",
     AT(out), .letter = 'o'},
    {"check", "FILE",
     "compares a file of bars or trades with what the venue says now of each of them: exit status 1 and the rows where "
     "they differ; symbol, interval and range are the file's",
     AT(check), .without = "output cache interval"},
    {"adjustment", "raw|split|dividend|all",
     "of stocks: raw by default; adjusted prices change with every split or dividend", AT(adjustment)},
    {"feed", "WORD", "of a venue's stocks, as in its section of papertaped.ini (docs/venues.md)", AT(feed)},
    {"crypto", "WORD", "whose crypto, likewise", AT(crypto)},
    {"archive", "DIR",
     "reads the venue's archive files there, or below it, before it asks for the rest: SYMBOL-INTERVAL-YYYY-MM.zip and "
     "SYMBOL-INTERVAL-YYYY-MM-DD.zip, with --trades SYMBOL-aggTrades-…, each with its .CHECKSUM",
     AT(archive), .without = "check"},
    {"refresh", NULL,
     "asks for all of it again; bars that are others by now are counted, and what was known is kept beside them",
     AT(refresh), .without = "check"},
    {"keys", "FILE", "two lines, id and secret, of mode 0600, for a venue that answers nothing without",
     AT(keys)},
    {"rest_url", "URL", "in place of the venue's own, https://HOST[:PORT]", AT(rest_url)},
    {"trading_url", "URL",
     "where a venue has its clock, calendar and assets apart; else where --rest-url is, or its own",
     AT(trading_url)},
    {"ca_file", "FILE", "certificates (PEM) that are trusted alone; else the system's", AT(ca_file)},
    {"cache", "DIR",
     "where what was fetched is kept; else in $XDG_CACHE_HOME/papertape/history, or ~/.cache/papertape/history",
     AT(cache)},
    {"no-cache", NULL, "leaves no market of the files ready for a backtest, which makes it then",
     AT(no_cache), .without = "check trades"},
};

CLI_VERB(cli_fetch) = {
    .name = "fetch",
    .words = "fetches a venue's history of bars or trades into files for backtests and trainings",
    .about =
        "Fetches bars, or with --trades trades, by REST, several requests at a time, within the venue's limits: it waits where the venue says so, "
        "and tries again where it does not answer. What has arrived is kept: the same command after it was stopped, "
        "killed or refused continues, and a later --to fetches what is new. The file is CSV as papertape bars writes it, "
        "and appears once it is whole. "
        "Bars that are missing are counted by their reason: before the listing, before the "
        "venue's first (of this interval, or trade: it keeps none that are older), closed, no eligible trade (a "
        "stock has no bar of a minute in which no trade counted), or gap, each of which is printed; with --json "
        "(papertape.fetch/1) all of them are listed. Of aggregate trades, ids that are left out are a gap.",
    .exits =
        "1: the file of --check differs; or not all is there; what has arrived is kept, and the same command continues.",
    .page = "market",
    OPTION_ACTIONS(actions),
    OPTION_OPTIONS(options),
    .size = sizeof(struct fetch_asked),
    .init = init,
    .finish = finish,
};
