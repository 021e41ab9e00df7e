/* Parses the corporate actions and halts of --action, and what --asset denies. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/bars_file.h"
#include "exchange/decimal.h"
#include "exchange/fail.h"
#include "exchange/replay/alpaca/eastern.h"
#include "exchange/replay/alpaca/file_bars.h"
#include "exchange/replay/alpaca/made.h"
#include "exchange/replay/alpaca/sessions.h"

enum {
    FIELDS_MAX = 8,
    SHARES_MAX = 10000,
    HALT_MINUTES_MAX = 390,
    PAY_DAYS = 30, /* from a dividend's ex-date to its payment, where it says none */
};

static bool read_count(const char *text, int64_t *ret)
{
    return decimal_parse_str(text, 0, ret) == 0 && *ret > 0 && *ret <= SHARES_MAX;
}

/* The ex-date's first moment: that of its extended hours. */
static bool read_ex_date(const char *text, struct made_action *action)
{
    struct trading_day day;
    if (replay_eastern_date_parse(text, &action->date) < 0 ||
        replay_sessions_on(action->date, &day) == SESSIONS_CLOSED)
        return false;
    action->from_ns = day.early_ns;
    return true;
}

static bool read_split(char *const *fields, int n, struct made_action *action)
{
    action->kind = MADE_ACTION_SPLIT;
    return n == 5 && read_count(fields[2], &action->shares) && read_count(fields[3], &action->per) &&
           read_ex_date(fields[4], action);
}

static bool read_dividend(char *const *fields, int n, struct made_action *action)
{
    action->kind = MADE_ACTION_DIVIDEND;
    if ((n != 4 && n != 5) || decimal_parse_str(fields[2], ACTION_CASH_SCALE, &action->cash) < 0 ||
        action->cash <= 0 || !read_ex_date(fields[3], action))
        return false;
    action->pay_date = action->date + PAY_DAYS;
    return n == 4 ||
           (replay_eastern_date_parse(fields[4], &action->pay_date) == 0 && action->pay_date >= action->date);
}

/* The new name is listed with its first one. */
static bool read_rename(char *const *fields, int n, struct made_action *action)
{
    action->kind = MADE_ACTION_RENAME;
    return n == 4 && fields[2][0] && strlen(fields[2]) < SYMBOL_NAME_MAX &&
           strcmp(fields[1], fields[2]) != 0 && read_ex_date(fields[3], action);
}

/* The time holds colons, so it is the text between the symbol and the last one. */
static bool read_halt(const char *time, const char *length, struct made_action *action)
{
    char *end;
    long minutes = strtol(length, &end, 10);
    if (end == length || strcmp(end, "m") != 0 || minutes < 1 || minutes > HALT_MINUTES_MAX ||
        bars_time_parse(time, strlen(time), &action->from_ns) != 0 || action->from_ns % MADE_MINUTE != 0 ||
        replay_sessions_phase(action->from_ns) != MARKET_PHASE_OPEN)
        return false;
    action->kind = MADE_ACTION_HALT;
    action->to_ns = action->from_ns + minutes * MADE_MINUTE;
    action->date = replay_eastern_date(action->from_ns);
    return true;
}

static int split_fields(char *text, char *fields[static FIELDS_MAX])
{
    int n = 0;
    for (char *rest = text, *field; n < FIELDS_MAX && (field = strsep(&rest, ":"));)
        fields[n++] = field;
    return n;
}

static bool read_action(const struct made *made, const char *spec, struct made_action *action, char *new_name,
                        size_t size)
{
    char text[128], whole[128], *fields[FIELDS_MAX];
    if (strlen(spec) >= sizeof(text))
        return false;
    strcpy(text, spec);
    strcpy(whole, spec);
    int n = split_fields(text, fields);
    if (n < 3)
        return false;
    action->symbol = replay_made_find(made, fields[1]);
    if (action->symbol < 0 || made->symbols[action->symbol].class != MADE_STOCK)
        return false;
    if (strcmp(fields[0], "split") == 0)
        return read_split(fields, n, action);
    if (strcmp(fields[0], "dividend") == 0)
        return read_dividend(fields, n, action);
    if (strcmp(fields[0], "rename") == 0)
        return read_rename(fields, n, action) && strlen(fields[2]) < size && strcpy(new_name, fields[2]);
    if (strcmp(fields[0], "halt") != 0)
        return false;
    char *last = strrchr(whole, ':'), *time = whole + (fields[2] - text);
    *last = '\0';
    return last > time && read_halt(time, last + 1, action);
}

static int64_t whole_minute(int64_t ns)
{
    return (ns + MADE_MINUTE - 1) / MADE_MINUTE * MADE_MINUTE;
}

static int add_change(struct made *made, const char *symbol, struct made_action action)
{
    action.symbol = replay_made_find(made, symbol);
    if (action.symbol < 0 || made->n_actions == MADE_ACTIONS_MAX)
        return -EINVAL;
    made->actions[made->n_actions++] = action;
    return 0;
}

int replay_made_halt_add(struct made *made, const char *symbol, int64_t from_ns, int64_t to_ns)
{
    struct trading_day day;
    struct made_action action = {.kind = MADE_ACTION_HALT,
                                 .from_ns = whole_minute(from_ns),
                                 .date = replay_eastern_date(whole_minute(from_ns))};
    int index = replay_made_find(made, symbol);
    if (index < 0 || made->symbols[index].class != MADE_STOCK ||
        replay_sessions_on(action.date, &day) == SESSIONS_CLOSED || action.from_ns < day.open_ns ||
        action.from_ns >= day.close_ns || to_ns <= from_ns)
        return -EINVAL;
    action.to_ns = to_ns < day.close_ns ? whole_minute(to_ns) : day.close_ns;
    return add_change(made, symbol, action);
}

int replay_made_end_add(struct made *made, const char *symbol, int64_t from_ns)
{
    return add_change(made, symbol,
                      (struct made_action){.kind = MADE_ACTION_END, .from_ns = whole_minute(from_ns)});
}

/* Lists the new name; false when it is there already, or there are too many. */
static bool add_name(struct made *made, const char *name, struct made_action *action)
{
    if (made->n_symbols == MADE_SYMBOLS_MAX || replay_made_find(made, name) >= 0)
        return false;
    struct made_symbol *symbol = &made->symbols[action->renamed = made->n_symbols];
    *symbol = made->symbols[action->symbol];
    symbol->before = action->symbol + 1;
    strcpy(symbol->name, name);
    made->n_symbols++;
    return true;
}

int replay_made_action_add(struct made *made, const char *spec, char error[static MADE_ERROR_MAX])
{
    struct made_action action = {0};
    char name[SYMBOL_NAME_MAX] = "";
    if (made->n_actions == MADE_ACTIONS_MAX)
        return fail_with(-EINVAL, error, MADE_ERROR_MAX, "too many actions: --action %.40s: at most %d", spec,
                         MADE_ACTIONS_MAX);
    if (!read_action(made, spec, &action, name, sizeof(name)) || (*name && !add_name(made, name, &action)))
        return fail_with(
            -EINVAL, error, MADE_ERROR_MAX,
            "bad action: --action %.60s: split:AAPL:4:1:2026-01-15, dividend:AAPL:0.24:2026-01-15, "
            "rename:AAPL:APL:2026-01-15 (days with a session) or halt:AAPL:2026-01-15T15:00:00Z:5m "
            "(whole minutes of one), of a stock that is played",
            spec);
    struct file_bars *bars = made->symbols[action.symbol].bars;
    if (action.kind == MADE_ACTION_SPLIT && bars &&
        replay_file_bars_split(bars, action.from_ns, action.shares, action.per) < 0)
        return fail_with(-EINVAL, error, MADE_ERROR_MAX,
                         "split cannot be played: --action %.60s: prices above 0 at the digits of the file, "
                         "volumes of at most 18",
                         spec);
    made->actions[made->n_actions++] = action;
    return 0;
}

int replay_made_deny(struct made *made, const char *spec, char error[static MADE_ERROR_MAX])
{
    static const struct {
        const char *word;
        enum made_denied denied;
    } words[] = {{"not-tradable", MADE_NOT_TRADABLE},
                 {"not-shortable", MADE_NOT_SHORTABLE},
                 {"hard-to-borrow", MADE_NOT_EASY_TO_BORROW},
                 {"not-fractionable", MADE_NOT_FRACTIONABLE},
                 {"not-marginable", MADE_NOT_MARGINABLE}};
    const char *colon = strchr(spec, ':');
    char name[SYMBOL_NAME_MAX] = "";
    if (colon && (size_t)(colon - spec) < sizeof(name))
        memcpy(name, spec, (size_t)(colon - spec));
    int symbol = replay_made_find(made, name);
    for (size_t i = 0; symbol >= 0 && i < sizeof(words) / sizeof(*words); i++) {
        if (strcmp(colon + 1, words[i].word) != 0)
            continue;
        made->symbols[symbol].denied |= words[i].denied;
        return 0;
    }
    return fail_with(
        -EINVAL, error, MADE_ERROR_MAX,
        "bad asset: --asset %.60s: AAPL:not-tradable, not-shortable, hard-to-borrow, not-fractionable or "
        "not-marginable, of a symbol that is played",
        spec);
}
