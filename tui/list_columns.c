#include "tui/list_columns.h"

#include <stdio.h>
#include <string.h>

/* clang-format off */
static const struct list_column_row orders_columns[] = {
    {"time", "when it changed last", "", 8, false, 12},
    {"date", "time with the date", "date", 19, false, 0},
    {"created", "when it was made", "created", 8, false, 0},
    {"order", "its number", "ord", 5, true, 3},
    {"side", "", "", 4, false, 2},
    {"symbol", "", "", 9, false, 1},
    {"account", "", "account", 9, false, 13},
    {"type", "", "type", 6, false, 6},
    {"tif", "time in force", "tif", 3, false, 8},
    {"state", "", "state", 8, false, 2},
    {"qty", "quantity", "qty", 9, true, 4},
    {"filled", "quantity that is filled", "filled", 9, true, 11},
    {"average", "average price of what is filled", "average", 11, true, 0},
    {"price", "limit price; \"at 61200\": the trigger", "price", 11, true, 5},
    {"trigger", "price that triggers it", "trigger", 11, true, 9},
    {"trail", "distance of a trailing stop", "trail", 8, true, 10},
    {"oco", "its group: one cancels the others", "OCO", 5, true, 10},
    {"parent", "the order that it waits for", "parent", 6, true, 0},
    {"client", "the client's own name for it", "client id", 14, false, 0},
    {"reason", "why it was refused, or what made it", "reason", 16, false, 7},
};
static const struct list_column_row fills_columns[] = {
    {"time", "with the day where there is room", "", 8, false, 2},
    {"date", "time with the date", "date", 19, false, 0},
    {"fill", "its number", "fill", 5, true, 0},
    {"side", "", "", 4, false, 1},
    {"symbol", "", "", 9, false, 1},
    {"account", "", "account", 9, false, 9},
    {"qty", "quantity", "qty", 9, true, 3},
    {"price", "", "price", 11, true, 4},
    {"value", "quantity times price", "value", 12, true, 0},
    {"maker", "maker or taker", "T/M", 3, false, 5},
    {"fee", "", "fee", 8, true, 7},
    {"currency", "of the fee", "cur.", 5, false, 0},
    {"rate", "of the fee, in percent", "rate", 7, true, 0},
    {"order", "number of its order", "ord", 5, true, 8},
    {"reason", "what made its order", "reason", 13, false, 6},
};
static const struct list_column_row trips_columns[] = {
    {"closed", "when it ended", "closed", 11, false, 1},
    {"symbol", "", "", 8, false, 2},
    {"side", "long or short", "", 1, false, 3},
    {"qty", "quantity that was entered", "qty", 7, true, 9},
    {"entry", "mean price of the entry", "entry", 8, true, 7},
    {"exit", "mean price of the exit", "exit", 8, true, 8},
    {"P&L", "after fees", "P&L", 8, true, 4},
    {"return", "P&L in percent of the entry", "return", 6, true, 5},
    {"duration", "from entry to exit", "for", 4, true, 10},
    {"reason", "why it was closed", "reason", 8, false, 6},
    {"opened", "when it began", "opened", 11, false, 11},
    {"fees", "of its fills", "fees", 8, true, 12},
    {"account", "", "account", 9, false, 14},
    {"strategy", "what opened it", "strategy", 17, false, 13},
    {"fills", "how many it had", "fills", 5, true, 0},
    {"order", "number of the order that closed it", "ord", 5, true, 0},
};
static const struct list_column_row ledger_columns[] = {
    {"time", "with the date where there is room", "", 19, false, 3},
    {"entry", "its number", "id", 6, true, 1},
    {"account", "", "account", 9, false, 7},
    {"kind", "", "", 10, false, 1},
    {"amount", "into the account", "amount", 15, true, 1},
    {"asset", "", "", 5, false, 1},
    {"balance", "of the asset in the account, after it", "balance", 15, true, 2},
    {"contra", "the account at the other end", "contra", 9, false, 8},
    {"order", "number of the order that caused it", "ord", 5, true, 4},
    {"fill", "number of the fill that caused it", "fill", 5, true, 5},
};
static const struct list_column_row bars_columns[] = {
    {"time", "when it opened", "", 19, false, 1},
    {"open", "", "open", 11, true, 5},
    {"high", "", "high", 11, true, 3},
    {"low", "", "low", 11, true, 4},
    {"close", "", "close", 11, true, 1},
    {"change", "from open to close, in percent", "change", 8, true, 2},
    {"range", "from low to high", "range", 10, true, 8},
    {"volume", "quantity that was traded", "volume", 10, true, 6},
    {"value", "volume in the quote asset", "value", 12, true, 9},
    {"trades", "how many there were", "trades", 7, true, 7},
    {"session", "part of its market's day", "session", 7, false, 10},
};
static const struct list_column_row alerts_columns[] = {
    {"time", "when it was seen last", "", 5, false, 1},
    {"severity", "", "", 7, false, 0},
    {"code", "", "", 12, false, 0},
    {"text", "", "", 20, false, 1},
    {"count", "how often it was seen, where more than once", "", 5, false, 1},
    {"first", "when it was seen first", "", 11, false, 0},
    {"acknowledged", "when it was", "", 11, false, 0},
    {"closed", "when it was over", "", 12, false, 1},
};
static const struct list_column_row log_columns[] = {
    {"time", "", "", 8, false, 1},
    {"kind", "alert, order or command", "", 7, false, 1},
    {"number", "of that alert, order or command", "", 7, false, 0},
    {"text", "", "", 20, false, 1},
};
static const struct list_column_row trainings_columns[] = {
    {"training", "its name", "", 13, false, 1},
    {"state", "", "state", 13, false, 2},
    {"progress", "as a bar; once it has ended its verdict", "progress", 14, false, 6},
    {"share", "of its steps, in percent", "", 4, true, 3},
    {"steps/s", "steps a second", "steps/s", 7, true, 5},
    {"return", "mean of its newest episodes", "return", 9, true, 4},
    {"age", "since it reported last", "age", 6, true, 1},
    {"left", "until it has all of its steps", "left", 6, true, 7},
    {"device", "", "device", 6, false, 10},
    {"iteration", "", "iter", 7, true, 11},
    {"memory", "of its worker", "memory", 8, true, 8},
    {"attempts", "", "attempts", 8, true, 9},
};
static const struct list_column_row policies_columns[] = {
    {"policy", "its name", "", 14, false, 1},
    {"role", "", "role", 10, false, 2},
    {"account", "", "account", 9, false, 3},
    {"state", "", "state", 8, false, 4},
    {"trades", "how many it made", "trades", 6, true, 5},
    {"sharpe", "", "sharpe", 6, true, 6},
    {"return", "in percent", "return", 8, true, 8},
    {"equity", "", "equity", 11, true, 9},
    {"decided", "since its last decision", "age", 9, true, 10},
    {"verdict", "of its evaluation", "verdict", 16, false, 11},
    {"actions", "its last actions; why it was refused", "last actions", 20, false, 7},
};
static const struct list_column_row positions_columns[] = {
    {"symbol", "", "", 9, false, 1},
    {"side", "long or short", "", 1, false, 2},
    {"account", "", "account", 9, false, 10},
    {"qty", "quantity", "qty", 10, true, 3},
    {"entry", "mean price", "entry", 11, true, 6},
    {"fifo", "mean price of what first in, first out leaves", "fifo", 11, true, 9},
    {"mark", "price that it is valued at", "mark", 11, true, 7},
    {"uPnL", "unrealised profit", "uPnL", 10, true, 4},
    {"stop", "nearest live stop; +: more", "stop", 11, true, 8},
    {"age", "of the mark", "age", 9, true, 5},
};
static const struct list_column_row prices_columns[] = {
    {"symbol", "", "", 9, false, 1},
    {"last", "price of the last trade", "last", 11, true, 2},
    {"bid", "", "bid", 11, true, 4},
    {"ask", "", "ask", 11, true, 5},
    {"24h", "change of 24 hours, in percent", "24h", 7, true, 7},
    {"bars", "that are kept in memory", "bars", 5, true, 8},
    {"book", "its state, or the venue's", "book", 7, false, 6},
    {"age", "of the price", "age", 9, true, 3},
};
static const struct list_column_row trials_columns[] = {
    {"trial", "its number, after its worker's where there are several", "trial", 7, false, 1},
    {"state", "", "state", 6, false, 1},
    {"value", "of its objectives; so far, where it runs or was pruned", "value", 8, true, 2},
    {"duration", "from its start to its end", "duration", 8, true, 3},
    {"started", "when it was started", "started", 11, false, 0},
    {"ended", "when it ended", "ended", 11, false, 0},
    {"tries", "how often it was tried before", "tries", 5, true, 0},
    {"worker", "that runs it", "worker", 14, false, 4},
    {"failure", "why it failed", "failure", 24, false, 0},
    {"parameters", "as many as fit: value, and place in its range", "", 13, true, 5},
};
/* clang-format on */

static const struct {
    const struct list_column_row *rows;
    int n;
} tables[LIST_ALL] = {
#define TABLE(list, word, name) \
    [list] = {word##_columns, (int)(sizeof(word##_columns) / sizeof(word##_columns[0]))},
    LIST_TABLES(TABLE)
#undef TABLE
};
#define FITS(list, word, name) \
    _Static_assert(sizeof(word##_columns) / sizeof(word##_columns[0]) <= LIST_COLUMNS_MAX, \
                   "as many as a table may have");
LIST_TABLES(FITS)

const struct list_column_row *tui_list_columns(int list, int *ret_n)
{
    *ret_n = tables[list].n;
    return tables[list].rows;
}

/* The place of the name that a text begins with; -1: there is none. */
static int place_of(int list, const char *word, size_t len)
{
    for (int i = 0; i < tables[list].n; i++)
        if (strlen(tables[list].rows[i].name) == len && strncmp(tables[list].rows[i].name, word, len) == 0)
            return i;
    return -1;
}

void tui_list_columns_shown(int list, const char *choice, bool ret[static LIST_COLUMNS_MAX])
{
    bool usual = strcmp(choice, LIST_COLUMNS_AUTO) == 0;

    for (int i = 0; i < LIST_COLUMNS_MAX; i++)
        ret[i] = usual && i < tables[list].n && tables[list].rows[i].rank > 0;
    for (const char *c = choice + strspn(choice, " "); *c; c += strspn(c, " ")) {
        size_t len = strcspn(c, " ");
        int place = place_of(list, c, len);
        if (place >= 0)
            ret[place] = true;
        c += len;
    }
}

enum { PARAMS_MAX = 2 * LIST_COLUMNS_TEXT_MAX }; /* bytes of a choice's parameters and one more */

static bool is_param(const char *word)
{
    return strncmp(word, LIST_COLUMNS_PARAM, strlen(LIST_COLUMNS_PARAM)) == 0;
}

/* The first word from `c` on that names a parameter, and its length; NULL: there is none. */
static const char *next_param(const char *c, size_t *ret_len)
{
    for (c += strspn(c, " "); *c; c += strspn(c, " ")) {
        *ret_len = strcspn(c, " ");
        if (is_param(c))
            return c;
        c += *ret_len;
    }
    return NULL;
}

static bool names(const char *word, size_t len, const char *name)
{
    const size_t prefix = strlen(LIST_COLUMNS_PARAM);

    return len == prefix + strlen(name) && memcmp(word + prefix, name, len - prefix) == 0;
}

/* Copies those words of a choice that name parameters, a blank before each, except `without` (NULL: none). */
static void put_params(const char *choice, const char *without, char to[static PARAMS_MAX])
{
    size_t n = 0, len;

    to[0] = '\0';
    for (const char *c = next_param(choice, &len); c; c = next_param(c + len, &len))
        if (!without || !names(c, len, without))
            n += (size_t)snprintf(to + n, PARAMS_MAX - n, " %.*s", (int)len, c);
}

bool tui_list_columns_param(const char *choice, const char *name)
{
    size_t len;

    for (const char *c = next_param(choice, &len); c; c = next_param(c + len, &len))
        if (names(c, len, name))
            return true;
    return false;
}

/* The choice becomes the columns that are shown and the parameters, as put_params() has them;
 * LIST_COLUMNS_AUTO where these are the usual ones. It stays where nothing would be shown. False: the text
 * has no room for it. */
static bool choose(int list, const bool *shown, const char *params, char choice[static LIST_COLUMNS_TEXT_MAX])
{
    char text[LIST_COLUMNS_TEXT_MAX + PARAMS_MAX] = "";
    bool usual = !params[0];
    size_t n = 0;

    for (int i = 0; i < tables[list].n; i++) {
        usual &= shown[i] == (tables[list].rows[i].rank > 0);
        if (shown[i])
            n += (size_t)snprintf(text + n, sizeof(text) - n, " %s", tables[list].rows[i].name);
    }
    n += (size_t)snprintf(text + n, sizeof(text) - n, "%s", params);
    if (n > LIST_COLUMNS_TEXT_MAX)
        return false;
    const char *chosen = usual ? LIST_COLUMNS_AUTO : text + 1;
    if (n > 0)
        memcpy(choice, chosen, strlen(chosen) + 1);
    return true;
}

bool tui_list_columns_toggle_param(char choice[static LIST_COLUMNS_TEXT_MAX], const char *name)
{
    char params[PARAMS_MAX];
    bool shown[LIST_COLUMNS_MAX];

    if (strlen(LIST_COLUMNS_PARAM) + strlen(name) >= LIST_COLUMNS_TEXT_MAX || strchr(name, ' ') || !name[0])
        return false;
    tui_list_columns_shown(LIST_TRIALS, choice, shown);
    put_params(choice, name, params);
    if (!tui_list_columns_param(choice, name)) {
        const size_t n = strlen(params);
        snprintf(params + n, sizeof(params) - n, " " LIST_COLUMNS_PARAM "%s", name);
    }
    return choose(LIST_TRIALS, shown, params, choice);
}

bool tui_list_columns_toggle(int list, char choice[static LIST_COLUMNS_TEXT_MAX], int column)
{
    char params[PARAMS_MAX];
    bool shown[LIST_COLUMNS_MAX];

    tui_list_columns_shown(list, choice, shown);
    shown[column] = !shown[column];
    put_params(choice, NULL, params);
    return choose(list, shown, params, choice);
}

const char *tui_list_columns_wrong(int list, const char *choice, size_t *ret_len)
{
    const char *c = choice + strspn(choice, " ");

    *ret_len = strcspn(c, " ");
    if (strcmp(choice, LIST_COLUMNS_AUTO) == 0)
        return NULL;
    do {
        *ret_len = strcspn(c, " ");
        const bool param = list == LIST_TRIALS && is_param(c) && *ret_len > strlen(LIST_COLUMNS_PARAM);
        if (!param && place_of(list, c, *ret_len) < 0)
            return c;
        c += *ret_len;
        c += strspn(c, " ");
    } while (*c);
    return NULL;
}
