#include "engine/backtest/actions_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "engine/split.h"
#include "exchange/bars_file.h"
#include "exchange/decimal.h"
#include "exchange/fail.h"
#include "exchange/whole_file.h"

#define BYTE_ORDER_MARK "\xef\xbb\xbf" /* that a spreadsheet writes */

enum {
    FILE_MOST = 256 << 20,
    CELLS_MOST = 64,
    DATE_LEN = 10, /* 2024-06-10 */
};

enum action_column { SYMBOL, KIND, EX, SHARES, PER, CASH, ID, TS, RECORD, PAY, COLUMNS };

struct actions_reader {
    const char *path;
    size_t line;
    int at[COLUMNS]; /* the cell of a line; -1: there is none */
    const struct market *market;
    const struct trading_calendar *calendar;
    struct backtest_actions actions;
    char *err;
};

static int bad(const struct actions_reader *reader, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static int bad(const struct actions_reader *reader, const char *format, ...)
{
    char words[ACTIONS_ERROR_MAX / 2];
    va_list args;
    va_start(args, format);
    vsnprintf(words, sizeof words, format, args);
    va_end(args);
    return fail_with(-EINVAL, reader->err, ACTIONS_ERROR_MAX, "%.200s:%zu: %s", reader->path, reader->line,
                     words);
}

/* ---- the list ---- */

static int symbol_of(const struct market *market, const char *name)
{
    int s = 0;
    while (s < market->n_symbols && strcasecmp(market->series[s].symbol.name, name) != 0)
        s++;
    return s < market->n_symbols ? s : -1;
}

int backtest_actions_add(struct backtest_actions *actions, const struct market *market, const char *symbol,
                         const struct backtest_action *action)
{
    int s = symbol_of(market, symbol);
    if (s < 0) {
        if (actions->others++ == 0)
            snprintf(actions->other, sizeof actions->other, "%s", symbol);
        return 0;
    }
    if (action->at_ns < market_open_ns(market, market->series[s].first + 1)) {
        actions->early++;
        return 0;
    }
    if (action->at_ns >= market_open_ns(market, market->rows)) {
        actions->late++;
        return 0;
    }
    struct backtest_action *moved = actions->list;
    if (actions->n % 256 == 0)
        moved = realloc(moved, (actions->n + 256) * sizeof *moved);
    if (!moved)
        return -ENOMEM;
    actions->list = moved;
    moved[actions->n] = *action;
    moved[actions->n++].symbol = s;
    return 0;
}

static int by_id(const void *a, const void *b)
{
    const struct backtest_action *x = a, *y = b;
    return x->symbol != y->symbol ? x->symbol - y->symbol : strcmp(x->action.id, y->action.id);
}

static int by_time(const void *a, const void *b)
{
    const struct backtest_action *x = a, *y = b;
    if (x->at_ns != y->at_ns)
        return x->at_ns < y->at_ns ? -1 : 1;
    int order = corporate_action_order(&x->action, &y->action);
    return order != 0 ? order : x->symbol - y->symbol;
}

int backtest_actions_sort(struct backtest_actions *actions, const struct market *market,
                          char err[static ACTIONS_ERROR_MAX])
{
    if (actions->n == 0)
        return 0;
    qsort(actions->list, actions->n, sizeof *actions->list, by_id);
    for (size_t i = 1; i < actions->n; i++) {
        const struct backtest_action *a = &actions->list[i];
        if (by_id(a, a - 1) == 0)
            return fail_with(-EINVAL, err, ACTIONS_ERROR_MAX,
                             "%s is there twice of %s: each takes effect once, and several of one kind on a "
                             "day need an id each",
                             a->action.id, market->series[a->symbol].symbol.name);
    }
    qsort(actions->list, actions->n, sizeof *actions->list, by_time);
    return 0;
}

void backtest_actions_finish(struct backtest_actions *actions)
{
    free(actions->list);
    *actions = (struct backtest_actions){0};
}

/* ---- a line ---- */

/* Cuts it at its commas; cells are without blanks and quotes around them. How many. */
static int cut(char *line, char *cells[static CELLS_MOST])
{
    int n = 0;
    for (char *cell; n < CELLS_MOST && (cell = strsep(&line, ",")); cells[n++] = cell) {
        cell += strspn(cell, " \t\"");
        for (size_t len = strlen(cell); len > 0 && strchr(" \t\"\r", cell[len - 1]); len--)
            cell[len - 1] = '\0';
    }
    return n;
}

static const char *cell_of(const struct actions_reader *reader, char *const *cells, int n,
                           enum action_column column)
{
    int at = reader->at[column];
    return at >= 0 && at < n ? cells[at] : "";
}

static int read_header(struct actions_reader *reader, char *line)
{
    static const struct {
        const char *name;
        enum action_column column;
    } names[] = {{"symbol", SYMBOL}, {"kind", KIND},        {"ex_ns", EX},           {"ex_date", EX},
                 {"shares", SHARES}, {"per", PER},          {"cash", CASH},          {"id", ID},
                 {"ts_ns", TS},      {"record_ns", RECORD}, {"record_date", RECORD}, {"pay_ns", PAY},
                 {"pay_date", PAY}};
    char *cells[CELLS_MOST];
    int n = cut(line, cells);
    for (int c = 0; c < COLUMNS; c++)
        reader->at[c] = -1;
    for (int i = 0; i < n; i++)
        for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
            if (strcmp(cells[i], names[k].name) != 0)
                continue;
            if (reader->at[names[k].column] >= 0)
                return bad(reader, "the column %s is there twice", names[k].name);
            reader->at[names[k].column] = i;
        }
    bool split = reader->at[SHARES] >= 0 && reader->at[PER] >= 0;
    if (reader->at[SYMBOL] < 0 || reader->at[KIND] < 0 || reader->at[EX] < 0 ||
        (!split && reader->at[CASH] < 0))
        return bad(reader,
                   "a header with symbol, kind, ex_ns or ex_date, and shares, per and cash is needed, "
                   "as papertape actions --csv prints it");
    return 0;
}

/* The first moment of the first day that trades on a date or after it, as a venue's calendar has it. */
static int64_t session_of(const struct trading_calendar *calendar, int64_t midnight_ns)
{
    size_t i = 0;
    while (calendar && i < calendar->n && calendar->days[i].open_ns < midnight_ns)
        i++;
    return calendar && i < calendar->n ? calendar->days[i].early_ns : midnight_ns;
}

static int read_times(struct actions_reader *reader, const char *ex, const char *ts,
                      struct backtest_action *ret)
{
    int64_t ex_ns, at_ns;
    if (bars_time_parse(ex, strlen(ex), &ex_ns) < 0 || ex_ns <= 0)
        return bad(reader, "the ex-date is \"%.40s\": a date or a time after 1970 is needed", ex);
    if (strlen(ex) == DATE_LEN && ex[4] == '-')
        ex_ns = session_of(reader->calendar, ex_ns);
    at_ns = ex_ns;
    if (ts[0] && (bars_time_parse(ts, strlen(ts), &at_ns) < 0 || at_ns <= 0))
        return bad(reader, "ts_ns is \"%.40s\": a time, or nothing, is needed", ts);
    reader->actions.before += at_ns < ex_ns;
    ret->action.ex_ns = ex_ns;
    ret->at_ns = at_ns > ex_ns ? at_ns : ex_ns;
    return 0;
}

/* A date beside the ex-date; empty, or 0: not said. */
static int read_beside(const struct actions_reader *reader, const char *name, const char *cell, int64_t *ret)
{
    int64_t ns = 0;
    if (cell[0] && strcmp(cell, "0") != 0 && (bars_time_parse(cell, strlen(cell), &ns) < 0 || ns <= 0))
        return bad(reader, "the %s date is \"%.40s\": a date or a time after 1970, or nothing, is needed",
                   name, cell);
    if (ns > 0 && strlen(cell) == DATE_LEN && cell[4] == '-')
        ns = session_of(reader->calendar, ns);
    *ret = ns;
    return 0;
}

static int read_side(const struct actions_reader *reader, const char *name, const char *cell, int64_t *ret)
{
    if (decimal_parse(cell, strlen(cell), 0, ret) < 0 || *ret < 1 || *ret > ACTION_RATIO_MAX)
        return bad(reader,
                   "%s is \"%.40s\": a split gives a whole number of shares, 1 to %d, for a whole "
                   "number of old ones, likewise",
                   name, cell, ACTION_RATIO_MAX);
    return 0;
}

/* A cell that is of the other kind: empty, or 0. */
static int read_nothing(const struct actions_reader *reader, char *const *cells, int n, enum action_column of,
                        const char *words)
{
    const char *cell = cell_of(reader, cells, n, of);
    int64_t value;
    return cell[0] == '\0' ||
                   (decimal_parse(cell, strlen(cell), ACTION_CASH_SCALE, &value) == 0 && value == 0)
               ? 0
               : bad(reader, "%s, not \"%.40s\"", words, cell);
}

static int read_split(const struct actions_reader *reader, char *const *cells, int n,
                      struct corporate_action *ret)
{
    int r = read_side(reader, "shares", cell_of(reader, cells, n, SHARES), &ret->shares);
    if (r == 0)
        r = read_side(reader, "per", cell_of(reader, cells, n, PER), &ret->per);
    if (r == 0 && ret->shares == ret->per)
        return bad(reader, "a split of %" PRId64 " for %" PRId64 " changes nothing: leave the line out",
                   ret->shares, ret->per);
    return r < 0 ? r
                 : read_nothing(
                       reader, cells, n, CASH,
                       "a split has no cash, which is a line of its own, a dividend: nothing is right");
}

static int read_amounts(const struct actions_reader *reader, char *const *cells, int n,
                        struct corporate_action *ret)
{
    const char *cash = cell_of(reader, cells, n, CASH);
    if (ret->kind == ACTION_SPLIT)
        return read_split(reader, cells, n, ret);
    if (decimal_parse(cash, strlen(cash), ACTION_CASH_SCALE, &ret->cash) < 0 || ret->cash <= 0)
        return bad(reader,
                   "cash is \"%.40s\": of a dividend an amount above 0, for one share, with at most "
                   "%d digits after the point",
                   cash, ACTION_CASH_SCALE);
    for (enum action_column of = SHARES; of <= PER; of++) {
        int r = read_nothing(reader, cells, n, of,
                             "a dividend has neither shares nor per, which are a split's: nothing is right");
        if (r < 0)
            return r;
    }
    return 0;
}

static int read_line(struct actions_reader *reader, char *line)
{
    char *cells[CELLS_MOST];
    int n = cut(line, cells);
    const char *symbol = cell_of(reader, cells, n, SYMBOL), *kind = cell_of(reader, cells, n, KIND);
    const char *id = cell_of(reader, cells, n, ID);
    struct backtest_action action = {0};
    if (symbol[0] == '\0' || strlen(symbol) >= SYMBOL_NAME_MAX)
        return bad(reader, "the symbol is \"%.40s\": its name, at most %d letters, is needed", symbol,
                   SYMBOL_NAME_MAX - 1);
    if (strcmp(kind, corporate_action_name(ACTION_SPLIT)) == 0)
        action.action.kind = ACTION_SPLIT;
    else if (strcmp(kind, corporate_action_name(ACTION_DIVIDEND)) == 0)
        action.action.kind = ACTION_DIVIDEND;
    else
        return bad(reader, "the kind is \"%.40s\": split or dividend is needed", kind);
    if (strlen(id) >= ACTION_ID_MAX)
        return bad(reader, "id has more than %d letters", ACTION_ID_MAX - 1);
    int r = read_times(reader, cell_of(reader, cells, n, EX), cell_of(reader, cells, n, TS), &action);
    if (r == 0)
        r = read_amounts(reader, cells, n, &action.action);
    if (r == 0 && action.action.kind == ACTION_DIVIDEND)
        r = read_beside(reader, "record", cell_of(reader, cells, n, RECORD), &action.action.record_ns);
    if (r == 0 && action.action.kind == ACTION_DIVIDEND)
        r = read_beside(reader, "pay", cell_of(reader, cells, n, PAY), &action.action.pay_ns);
    if (r < 0)
        return r;
    if (id[0])
        memcpy(action.action.id, id, strlen(id));
    else
        snprintf(action.action.id, sizeof action.action.id, "%s:%" PRId64, kind, action.action.ex_ns);
    r = backtest_actions_add(&reader->actions, reader->market, symbol, &action);
    return r < 0 ? fail_with(r, reader->err, ACTIONS_ERROR_MAX, "out of memory") : 0;
}

/* ---- the file ---- */

static int read_text(struct actions_reader *reader, char *text)
{
    int r = 0;
    bool header = false, any = false;
    for (char *line; r == 0 && (line = strsep(&text, "\n"));) {
        reader->line++;
        if (line[strspn(line, " \t\r")] == '\0')
            continue;
        any |= header;
        r = header ? read_line(reader, line) : read_header(reader, line);
        header = true;
    }
    if (r == 0 && !header)
        return bad(reader, "it is empty: a header and a line for each action are needed");
    if (r == 0 && !any)
        return fail_with(-EINVAL, reader->err, ACTIONS_ERROR_MAX,
                         "%.200s: it has a header and no action: a line for each is needed, or \"none\" in "
                         "place of the file",
                         reader->path);
    return r;
}

/* Names that fit no bars are most likely misspelt, or of other bars. */
static int check_symbols(const struct actions_reader *reader)
{
    const struct backtest_actions *actions = &reader->actions;
    if (actions->others == 0 || actions->n + actions->early + actions->late > 0)
        return 0;
    return fail_with(-EINVAL, reader->err, ACTIONS_ERROR_MAX,
                     "%.200s: none of its symbols (%s%s) has bars: those of %s%s are needed", reader->path,
                     actions->other, actions->others > 1 ? " …" : "", reader->market->series[0].symbol.name,
                     reader->market->n_symbols > 1 ? " …" : "");
}

int backtest_actions_read(const char *path, const struct market *market,
                          const struct trading_calendar *calendar, struct backtest_actions *ret,
                          char err[static ACTIONS_ERROR_MAX])
{
    struct actions_reader reader = {.path = path, .market = market, .calendar = calendar, .err = err};
    char *text, why[ACTIONS_ERROR_MAX];
    size_t len;
    int r = whole_file_read(path, FILE_MOST, &text, &len);
    if (r < 0)
        return fail_with(r, err, ACTIONS_ERROR_MAX, "%.200s: %s", path, strerror(-r));
    r = read_text(&reader, text + (strncmp(text, BYTE_ORDER_MARK, 3) == 0 ? 3 : 0));
    free(text);
    if (r == 0)
        r = check_symbols(&reader);
    if (r == 0 && (r = backtest_actions_sort(&reader.actions, market, why)) < 0)
        fail_with(r, err, ACTIONS_ERROR_MAX, "%.200s: %.300s", path, why);
    if (r < 0)
        backtest_actions_finish(&reader.actions);
    else
        *ret = reader.actions;
    return r;
}
