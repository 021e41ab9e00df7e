/* A file of trades against what the venue says of the same trades now. Both are ascending, aggregates by id,
 * single trades by time and id, and walked at once; the file is read twice, since the venue is asked for the
 * times that it has. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/fetch.h"
#include "cli/stored.h"
#include "exchange/bars_input.h"
#include "exchange/early_stop.h"
#include "exchange/exit_status.h"
#include "exchange/fail.h"
#include "exchange/folder.h"

enum { HEAD_MAX = 128 };

struct checking {
    struct fetch *fetch;
    const struct fetch_trades_layout *layout;
    char head[HEAD_MAX], *names[FETCH_TRADE_COLUMNS]; /* of the columns, in the head */
    struct bars_input *in;
    bool row; /* there is one that was not compared yet: */
    char *cells[FETCH_TRADE_COLUMNS];
    int64_t id, ts_ns;
    int64_t n, first_ns, last_ns; /* of all rows, once all were read */
    struct fetch_differences found;
};

/* ---- the file's rows ---- */

static int refuse(struct checking *c, const char *what)
{
    return fail_with(-EBADMSG, c->fetch->err, sizeof c->fetch->err, "%.400s:%lu: %s", c->fetch->asked->check,
                     bars_input_number(c->in), what);
}

/* The cells of a line; returns how many it has. */
static size_t split(char *line, char *cells[static FETCH_TRADE_COLUMNS])
{
    size_t n = 0;
    for (char *rest = line, *cell; (cell = strsep(&rest, ",")); n++)
        if (n < FETCH_TRADE_COLUMNS)
            cells[n] = cell;
    return n;
}

/* Is its place before that of the trade of that time and id? */
static bool is_before(const struct checking *c, int64_t ts_ns, int64_t id)
{
    return c->layout->aggregates || c->ts_ns == ts_ns ? c->id < id : c->ts_ns < ts_ns;
}

static int parse_row(struct checking *c, char *line)
{
    const struct fetch_trades_layout *layout = c->layout;
    const int64_t id = c->id, ts_ns = c->ts_ns;
    int64_t time = 0;
    bool ok = true;
    if (split(line, c->cells) != layout->n)
        return refuse(c, "the row has not as many columns as the head");
    for (size_t i = 0; i < layout->n && ok; i++)
        if (layout->columns[i] == TRADE_ID)
            ok = decimal_parse_str(c->cells[i], 0, &c->id) == 0;
        else if (layout->columns[i] == TRADE_TIME)
            ok = decimal_parse_str(c->cells[i], 0, &time) == 0 && time >= 0 &&
                 time <= INT64_MAX / layout->unit_ns;
    c->ts_ns = time * layout->unit_ns;
    if (!ok)
        return refuse(c, "the id or the time is no number");
    if (c->n > 0 && (is_before(c, ts_ns, id) || (layout->aggregates && c->id == id)))
        return refuse(c, layout->aggregates ? "the ids do not rise" : "the times fall");
    return 0;
}

/* The next row: c->row. 0; -EBADMSG, -errno with a sentence. */
static int next_row(struct checking *c)
{
    char *line;
    size_t len;
    int r = bars_input_line(c->in, &line, &len);
    c->row = r > 0;
    if (r < 0)
        return refuse(c, r == -EIO ? bars_input_why(c->in) : strerror(-r));
    r = c->row ? parse_row(c, line) : 0;
    c->n += c->row;
    return r;
}

static int open_file(struct checking *c)
{
    const char *path = c->fetch->asked->check;
    char *line;
    size_t len;
    int r = bars_input_open(path, NULL, &c->in);
    c->n = 0;
    if (r < 0)
        return fail_with(r, c->fetch->err, sizeof c->fetch->err, "%s: %s", path, strerror(-r));
    (void)bars_input_line(c->in, &line, &len); /* the head */
    return next_row(c);
}

static void close_file(struct checking *c)
{
    bars_input_close(c->in);
    c->in = NULL;
}

/* From when to when it is. */
static int look_through(struct checking *c)
{
    int r = open_file(c);
    c->first_ns = c->ts_ns;
    while (r == 0 && c->row) {
        c->first_ns = c->ts_ns < c->first_ns ? c->ts_ns : c->first_ns;
        c->last_ns = c->ts_ns > c->last_ns ? c->ts_ns : c->last_ns;
        r = next_row(c);
    }
    if (r == 0 && c->n == 0)
        r = refuse(c, "there is no trade in it");
    close_file(c);
    return r;
}

/* ---- differences ---- */

/* `column` NULL: a row that only one of both has. */
static void report(struct checking *c, int64_t id, const char *column, const char *in_file,
                   const char *at_venue)
{
    c->found.differences++;
    if (c->found.list)
        json_array_append_new(c->found.list, json_pack("{s:I, s:s?, s:s?, s:s?}", c->names[0], (json_int_t)id,
                                                       "column", column, "file", in_file, "venue", at_venue));
    else if (c->found.differences <= FETCH_DIFFERENCES_PRINTED)
        printf("%s: trade %lld: %s%s%s, the venue has %s\n", c->fetch->asked->check, (long long)id,
               column ? column : "", column ? " " : "", in_file ? in_file : "no such row",
               at_venue ? at_venue : "no such trade");
}

static bool is_asked_for(const struct checking *c)
{
    return c->ts_ns >= c->fetch->from_ns && c->ts_ns < c->fetch->jobs[0].end_ns;
}

/* Rows of the range that the venue does not have, up to that trade. */
static int pass_rows(struct checking *c, int64_t ts_ns, int64_t id)
{
    int r = 0;
    while (r == 0 && c->row && is_before(c, ts_ns, id)) {
        cli_fetch_see_later(c->fetch, c->ts_ns, &c->found);
        if (is_asked_for(c)) {
            c->found.different++;
            report(c, c->id, NULL, "a row", NULL);
        }
        r = next_row(c);
    }
    return r;
}

/* Numbers by their value, so that other zeros make no difference. */
static bool is_equal(const struct checking *c, enum fetch_trade_column column, const char *cell,
                     const char *at_venue)
{
    const struct symbol *symbol = &c->fetch->symbols[0].symbol;
    const int scale = column == TRADE_PRICE ? symbol->price_scale
                      : column == TRADE_QTY ? symbol->qty_scale
                                            : 0;
    int64_t have, want;
    if (strcmp(cell, at_venue) == 0)
        return true;
    return decimal_parse_str(cell, scale, &have) == 0 && decimal_parse_str(at_venue, scale, &want) == 0 &&
           have == want;
}

static int compare(void *ctx, const struct market_trade *trade)
{
    struct checking *c = ctx;
    char line[FETCH_TRADE_MAX], *at_venue[FETCH_TRADE_COLUMNS];
    bool differs = false;
    int r = pass_rows(c, trade->ts_ns, trade->id);
    if (r < 0)
        return r;
    if (!c->row || c->id != trade->id || (!c->layout->aggregates && c->ts_ns != trade->ts_ns)) {
        c->found.different++;
        report(c, trade->id, NULL, NULL, "a trade");
        return 0;
    }
    line[cli_fetch_trade_line(c->layout, &c->fetch->symbols[0].symbol, trade, line) - 1] = '\0';
    (void)split(line, at_venue);
    for (size_t i = 0; i < c->layout->n; i++) {
        if (is_equal(c, c->layout->columns[i], c->cells[i], at_venue[i]))
            continue;
        c->found.different += !differs;
        differs = true;
        report(c, trade->id, c->names[i], c->cells[i], at_venue[i]);
    }
    c->found.rows++;
    return next_row(c);
}

/* ---- all of it ---- */

static int walk_both(struct checking *c)
{
    struct fetch *fetch = c->fetch;
    int r = cli_fetch_from_venue(fetch);
    if (r > 0)
        return cli_fetch_refuse_check(fetch);
    if (r == 0)
        r = open_file(c);
    if (r == 0)
        r = history_store_each_trade(fetch->symbols[0].store, fetch->from_ns, fetch->jobs[0].end_ns, compare,
                                     c);
    if (r == 0)
        r = pass_rows(c, INT64_MAX, INT64_MAX);
    close_file(c);
    return r;
}

/* The venue is asked for all of it, into a place that is removed again. */
static int check_in(struct option_call *call, struct checking *c, const char *symbol, const char *scratch)
{
    struct fetch *fetch = c->fetch;
    const struct fetch_asked *given = fetch->asked;
    struct fetch_asked asked = *given;
    asked.trades = true;
    asked.symbols = symbol;
    asked.cache = scratch;
    asked.from_ns = given->from_ns == INT64_MIN ? c->first_ns : given->from_ns;
    asked.to_ns = given->to_ns == INT64_MAX ? c->last_ns + c->layout->unit_ns : given->to_ns;
    fetch->asked = &asked;
    c->found.list = call->json ? json_array() : NULL;
    int status = cli_fetch_take(fetch), r = 0;
    if (status == EXIT_OK && fetch->venue->aggregates != c->layout->aggregates)
        status = fail_with(EXIT_USAGE, fetch->err, sizeof fetch->err, "%s: its trades are not those of %s",
                           given->check, fetch->venue->title);
    if (status == EXIT_OK)
        r = walk_both(c);
    if (status == EXIT_OK && r == 0)
        status = cli_fetch_print_differences(fetch, &c->found, call);
    else
        status =
            option_fail(call, status != EXIT_OK || r == -EINVAL ? EXIT_USAGE : EXIT_ERROR, "%s", fetch->err);
    json_decref(c->found.list);
    fetch->asked = given;
    return status;
}

int cli_fetch_check_trades(struct option_call *call, struct fetch *fetch,
                           const struct fetch_trades_layout *layout)
{
    struct checking c = {.fetch = fetch, .layout = layout};
    const struct fetch_asked *given = fetch->asked;
    char symbol[SYMBOL_NAME_MAX], scratch[PATH_MAX];
    snprintf(c.head, sizeof c.head, "%s", layout->head);
    (void)split(c.head, c.names);
    early_stop_catch();
    int r = look_through(&c);
    if (r < 0)
        return option_fail(call, EXIT_ERROR, "%s", fetch->err);
    if (bars_file_symbol(given->check, given->symbols, symbol) < 0)
        return option_fail(call, EXIT_USAGE, "%s: its name has no symbol: --symbol is needed", given->check);
    r = folder_temporary("fetch", scratch);
    if (r < 0)
        return option_fail(call, EXIT_ERROR, "%s: %s", scratch, strerror(-r));
    int status = check_in(call, &c, symbol, scratch);
    (void)folder_remove(scratch);
    return status;
}
