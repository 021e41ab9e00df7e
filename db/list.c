/* Without a filter, the usual order's window is found by counting and an offset from the nearer end. Any
 * other order and any filter needs a look at all rows: one pass counts, finds the place and keeps the
 * numbers around it. */
#include "db/list.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "db/ledger_row.h"
#include "db/reader_query.h"
#include "db/records.h"
#include "db/report/trips.h"
#include "db/row_hash.h"
#include "db/store.h"
#include "exchange/fail.h"
#include "record/market.h"

enum {
    SQL_MAX = 4096,
    PATTERN_MAX = 2 * DB_LIST_WORDS_MAX + 3 /* a filter's text, each character escaped, between two % */
};

struct list_column {
    const char *name, *sql; /* sql: null for no value */
    bool down;              /* the greatest first */
};

enum { WORDS_MAX = 9 };

struct source {
    const char *from;  /* r: with the number r.id */
    const char *total; /* of all rows of it */
    struct {
        const char *sql;               /* may have the pattern, "%s" */
        bool (*can)(const char *text); /* NULL, or: can it have this text at all? */
        const char *named;             /* NULL, or: the same, whether it finds a row there */
    } words[WORDS_MAX];                /* what a filter looks into */
    bool by_number;                    /* column 0 is the number */
    const struct list_column *columns;
    int n;
};

/* Columns of names that are known are not looked into for a text that no name has: most of a filter's time.
 */
#define NAMES_HAVE(function, name_of, type, n) \
    static bool function(const char *text) \
    { \
        for (int i = 0; i < (int)(n); i++) \
            if (strcasestr(name_of((enum type)i), text)) \
                return true; \
        return false; \
    }
NAMES_HAVE(can_state, order_state_name, order_state, ORDER_STATES)
NAMES_HAVE(can_type, order_type_name, order_type, ORDER_TYPES)
NAMES_HAVE(can_side, order_side_name, order_side, ORDER_SELL + 1)
NAMES_HAVE(can_reason, order_reason_name, order_reason, ORDER_REASONS)
NAMES_HAVE(can_tif, order_tif_name, order_tif, ORDER_TIFS)
NAMES_HAVE(can_ledger_kind, ledger_kind_name, ledger_kind, LEDGER_KINDS)

static bool can_session(const char *text)
{
    for (int i = 0; i < BAR_SESSIONS; i++)
        if (strcasestr(bar_session_names[i], text))
            return true;
    return false;
}

static bool can_ledger_word(const char *text)
{
    const struct ledger_row withdrawal = {.kind = LEDGER_DEPOSIT, .amount = -1};

    return can_ledger_kind(text) || strcasestr(ledger_row_word(&withdrawal), text);
}

#define NAMED         " LEFT JOIN symbols s ON s.id = r.symbol LEFT JOIN accounts a ON a.id = r.account"
#define SCALED(value) "r." value " / CAST('1e' || s."
#define QTY(value)    SCALED(value) "qty_scale AS REAL)"
#define PRICE(value)  SCALED(value) "price_scale AS REAL)"

static const struct list_column order_columns[] = {
    {"newest", "r.id", true},
    {"time", "r.updated_ns", true},
    {"created", "r.created_ns", true},
    {"side", "r.side", false},
    {"symbol", "s.name", false},
    {"account", "a.name", false},
    {"type", "r.type", false},
    {"tif", "r.tif", false},
    {"state", "r.state", false},
    {"qty", QTY("qty"), true},
    {"filled", QTY("filled"), true},
    {"average", "nullif(" SCALED("cost") "quote_scale AS REAL) / nullif(" QTY("filled") ", 0), 0)", true},
    {"price", "nullif(" PRICE("price") ", 0)", true},
    {"trigger", "nullif(" PRICE("stop_price") ", 0)", true},
    {"oco", "nullif(r.group_id, 0)", true},
    {"parent", "nullif(r.parent, 0)", true},
    {"client", "nullif(r.client_id, '')", false},
    {"reason", "nullif(iif(r.reason = '', r.tag, r.reason), '')", false},
};
static const struct list_column fill_columns[] = {
    {"newest", "r.id", true},        {"time", "r.ts_ns", true},
    {"side", "r.side", false},       {"symbol", "s.name", false},
    {"account", "a.name", false},    {"qty", QTY("qty"), true},
    {"price", PRICE("price"), true}, {"value", SCALED("notional") "quote_scale AS REAL)", true},
    {"maker", "r.maker", true},      {"fee", SCALED("fee") "quote_scale AS REAL)", true},
    {"currency", "s.quote", false},  {"rate", "iif(r.rule = 1, NULL, r.fee_e6)", true},
    {"order", "r.order_id", true},   {"reason", "nullif(o.tag, '')", false},
};
static const struct list_column alert_columns[] = {
    {"open first", "r.acked_ns IS NULL AND r.closed_ns IS NULL", true},
    {"time", "r.last_ns", true},
    {"severity", "CASE r.severity WHEN 'error' THEN 2 WHEN 'warning' THEN 1 ELSE 0 END", true},
    {"count", "r.count", true},
    {"code", "r.code", false},
    {"text", "r.text", false},
};
static const struct list_column log_columns[] = {
    {"newest", "r.ts", true},
    {"kind", "r.kind", false},
};

#define EXIT_REASON "coalesce(nullif(o.tag, ''), iif(o.by_hand, 'by hand', o.type))"
static const struct list_column trip_columns[] = {
    {"newest", "r.id", true},
    {"entry time", "r.opened_ns", true},
    {"exit time", "r.closed_ns", true},
    {"symbol", "s.name", false},
    {"account", "a.name", false},
    {"strategy", "r.source", false},
    {"side", "r.side", false},
    {"qty", QTY("qty"), true},
    {"entry", "r.entry", true},
    {"exit", "r.exit", true},
    {"P&L", SCALED("profit") "quote_scale AS REAL)", true},
    {"return", "r.share", true},
    {"fees", SCALED("fees") "quote_scale AS REAL)", true},
    {"duration", "r.closed_ns - r.opened_ns", true},
    {"fills", "r.fills", true},
    {"reason", EXIT_REASON, false},
};

/* ledger_row_word() */
#define LEDGER_WORD   "iif(r.kind = 'deposit' AND r.amount < 0, 'withdrawal', r.kind)"
#define OF_OWN(value) "r." value " / CAST('1e' || r.scale AS REAL)"
static const struct list_column ledger_columns[] = {
    {"newest", "r.id", true},
    {"time", "r.ts_ns", true},
    {"account", "a.name", false},
    {"asset", "r.asset", false},
    {"kind", LEDGER_WORD, false},
    {"amount", OF_OWN("amount"), true},
    {"balance", OF_OWN("balance"), true},
    {"order", "r.order_id", true},
    {"fill", "r.fill_id", true},
};

/* Stored as a text of digits, of qty_scale; "not known" is trades -1. */
#define BAR_KNOWN(value) "iif(r.trades < 0, NULL, " value ")"
static const struct list_column bar_columns[] = {
    {"newest", "r.id", true},
    {"time", "datetime(r.id / 1000000000, 'unixepoch')", true},
    {"open", PRICE("open"), true},
    {"high", PRICE("high"), true},
    {"low", PRICE("low"), true},
    {"close", PRICE("close"), true},
    {"change", "(r.close - r.open) / nullif(CAST(r.open AS REAL), 0)", true},
    {"range", "(r.high - r.low) / CAST('1e' || s.price_scale AS REAL)", true},
    {"volume", "CAST(r.volume AS REAL) / CAST('1e' || s.qty_scale AS REAL)", true},
    {"value", BAR_KNOWN("CAST(r.quote_volume AS REAL) / CAST('1e' || (s.price_scale + s.qty_scale) AS REAL)"),
     true},
    {"trades", BAR_KNOWN("r.trades"), true},
    {"session", "nullif(r.session, 'none')", false},
};

/* A number of the log is its row's times this, and the kind. */
#define LOG_KINDS      4
#define TEXT_(number)  #number
#define TEXT(number)   TEXT_(number)
#define LOG_KINDS_TEXT TEXT(LOG_KINDS)
_Static_assert(DB_LIST_LOG_ALERT == 0 && DB_LIST_LOG_ORDER == 1 && DB_LIST_LOG_COMMAND == 2,
               "as the list of the log has them");

#define COLUMNS(list) list, sizeof(list) / sizeof(list[0])
#define NAMED_(table) "(SELECT id FROM " table " WHERE name LIKE %s)"
#define SYMBOL_NAME   "r.symbol IN " NAMED_("symbols"), NULL, NAMED_("symbols")
#define ACCOUNT_NAME  "r.account IN " NAMED_("accounts"), NULL, NAMED_("accounts")

#define TRIPS_FROM(trips) \
    trips " r" NAMED " LEFT JOIN fills f ON f.id = r.id LEFT JOIN orders o ON o.id = f.order_id"

static const struct source sources[DB_LISTS] = {
    [DB_LIST_ORDERS] = {"orders r" NAMED,
                        "SELECT count(*) FROM orders",
                        {{"r.tag LIKE %s", NULL},
                         {"r.state LIKE %s", can_state},
                         {"r.type LIKE %s", can_type},
                         {"r.side LIKE %s", can_side},
                         {"r.reason LIKE %s", can_reason},
                         {"r.client_id LIKE %s", NULL},
                         {"r.tif LIKE %s", can_tif},
                         {SYMBOL_NAME},
                         {ACCOUNT_NAME}},
                        true,
                        COLUMNS(order_columns)},
    [DB_LIST_FILLS] = {"fills r" NAMED " LEFT JOIN orders o ON o.id = r.order_id",
                       "SELECT count(*) FROM fills",
                       {{"r.side LIKE %s", can_side}, {"o.tag LIKE %s", NULL}, {SYMBOL_NAME}, {ACCOUNT_NAME}},
                       true,
                       COLUMNS(fill_columns)},
    [DB_LIST_ALERTS] = {"alerts r",
                        "SELECT count(*) FROM alerts",
                        {{"r.text LIKE %s", NULL},
                         {"r.code LIKE %s", NULL},
                         {"r.severity LIKE %s", NULL},
                         {"iif(r.closed_ns IS NOT NULL, 'closed', iif(r.acked_ns IS NULL, 'open', "
                          "'acknowledged')) LIKE %s",
                          NULL}},
                        false,
                        COLUMNS(alert_columns)},
    [DB_LIST_LOG] = {"(SELECT last_ns AS ts, 'alert' AS kind, id * " LOG_KINDS_TEXT " AS id, "
                     "code || ' ' || severity || ' ' || text AS words FROM alerts "
                     "UNION ALL SELECT o.updated_ns, 'order', o.id * " LOG_KINDS_TEXT " + 1, o.id || ' ' || "
                     "o.side || ' ' || o.type || ' ' || ifnull(s.name, '') || ' ' || o.tag || ' ' || "
                     "o.reason || ' ' || o.state FROM orders o LEFT JOIN symbols s ON s.id = o.symbol "
                     "UNION ALL SELECT ts_ns, 'command', id * " LOG_KINDS_TEXT " + 2, cmd || ' ' || args || "
                     "' ' || state || ' ' || result FROM commands) r",
                     "SELECT (SELECT count(*) FROM alerts) + (SELECT count(*) FROM orders) + (SELECT "
                     "count(*) FROM commands)",
                     {{"r.kind LIKE %s", NULL}, {"r.words LIKE %s", NULL}},
                     false,
                     COLUMNS(log_columns)},
    [DB_LIST_TRIPS] = {TRIPS_FROM("temp.trips"),
                       "SELECT count(*) FROM temp.trips",
                       {{EXIT_REASON " LIKE %s", NULL},
                        {"r.side LIKE %s", NULL},
                        {"r.source LIKE %s", NULL},
                        {SYMBOL_NAME},
                        {ACCOUNT_NAME}},
                       true,
                       COLUMNS(trip_columns)},
    [DB_LIST_LEDGER] = {"ledger r LEFT JOIN accounts a ON a.id = r.account",
                        "SELECT count(*) FROM ledger",
                        {{LEDGER_WORD " LIKE %s", can_ledger_word},
                         {"r.asset LIKE %s", NULL},
                         {ACCOUNT_NAME}},
                        true,
                        COLUMNS(ledger_columns)},
    [DB_LIST_BARS] = {NULL, /* as put_places() has it */
                      NULL,
                      {{"datetime(r.id / 1000000000, 'unixepoch') LIKE %s", NULL},
                       {"r.session LIKE %s", can_session}},
                      true,
                      COLUMNS(bar_columns)},
};

const char *db_list_column(enum db_list list, int column)
{
    return column >= 0 && column < sources[list].n ? sources[list].columns[column].name : NULL;
}

int db_list_columns(enum db_list list)
{
    return sources[list].n;
}

enum db_list_log db_list_log_kind(int64_t id, int64_t *ret_id)
{
    *ret_id = id / LOG_KINDS;
    return (enum db_list_log)(id % LOG_KINDS);
}

static const struct list_column *sorted_by(const struct db_list_query *query)
{
    const struct source *source = &sources[query->list];

    return &source->columns[query->sort > 0 && query->sort < source->n ? query->sort : 0];
}

/* The column that a filter names ("symbol=…"); NULL: none. */
static const char *named_column(const struct source *source, const char *words)
{
    size_t n = strcspn(words, "=");

    for (int i = 0; words[n] && i < source->n; i++)
        if (strlen(source->columns[i].name) == n && strncmp(source->columns[i].name, words, n) == 0)
            return source->columns[i].sql;
    return NULL;
}

/* A word before "=" that is no column's name is an error that says which there are. 0 or -ERANGE. */
static int check_named(struct db_reader *reader, enum db_list list, const char *filter)
{
    const struct source *source = &sources[list];
    const char *words = filter + (filter[0] == '!');
    size_t len = strcspn(words, "="), n = 0;
    char names[DB_ERROR_MAX / 2] = "";

    if (!words[len] || len == 0 ||
        strspn(words, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ&_ ") != len ||
        named_column(source, words))
        return 0;
    for (int i = 0; i < source->n && n < sizeof names; i++)
        n += (size_t)snprintf(names + n, sizeof names - n, "%s%s", i ? ", " : "", source->columns[i].name);
    return fail_with(-ERANGE, reader->error, sizeof reader->error, "no column \"%.*s\": one of %s", (int)len,
                     words, names);
}

/* The text as a pattern of LIKE, in which it may be anywhere. */
static void put_pattern(const char *text, char pattern[static PATTERN_MAX])
{
    size_t n = 0;

    pattern[n++] = '%';
    for (; *text && n < PATTERN_MAX - 4; text++) {
        if (strchr("%_\\", *text))
            pattern[n++] = '\\';
        pattern[n++] = *text;
    }
    pattern[n++] = '%';
    pattern[n] = '\0';
}

/* Appends SQL that has a pattern, which is parameter `number`. */
static size_t put_word(const char *word, int number, char *sql, size_t size)
{
    const char *place = strstr(word, "%s");

    return (size_t)snprintf(sql, size, "%.*s?%d ESCAPE '\\'%s", (int)(place - word), word, number, place + 2);
}

/* Can word `at` have the text, whose pattern is `bound`? 1, 0 or -errno. */
static int can_have(struct db_reader *reader, const struct source *source, int at, const char *text,
                    const char *bound)
{
    char sql[SQL_MAX / 16];
    int64_t any = 0;

    if (source->words[at].can)
        return source->words[at].can(text);
    if (!source->words[at].named)
        return 1;
    size_t n = (size_t)snprintf(sql, sizeof sql, "SELECT EXISTS ");
    put_word(source->words[at].named, 1, sql + n, sizeof sql - n);
    int r = db_query_first(reader, sql, RECORD_PARAMS(bound), RECORD_INTO(&any));
    return r < 0 ? r : any != 0;
}

/* Any of the words has the pattern, which is parameter `number`. 0 or -errno. */
static int put_words(struct db_reader *reader, const struct source *source, const char *text,
                     const char *bound, int number, char *sql, size_t size)
{
    size_t n = 0;
    int r = 0;

    sql[n++] = '0'; /* none of them */
    sql[n] = '\0';
    for (int i = 0; r >= 0 && i < WORDS_MAX && source->words[i].sql; i++)
        if ((r = can_have(reader, source, i, text, bound)) > 0) {
            n += (size_t)snprintf(sql + n, size - n, " OR ");
            n += put_word(source->words[i].sql, number, sql + n, size - n);
        }
    return r < 0 ? r : 0;
}

/* The condition of a filter, whose pattern or number is parameter `number` and goes to `bound`. */
static int put_filter(struct db_reader *reader, const struct source *source, const char *filter, int number,
                      char *sql, size_t size, char bound[static PATTERN_MAX])
{
    bool not = filter[0] == '!';
    const char *words = filter + not, *column = named_column(source, words);
    char condition[SQL_MAX / 4];
    int r = 0;

    snprintf(bound, PATTERN_MAX, "%s", "");
    if (!words[0]) {
        snprintf(sql, size, "1");
        return 0;
    }
    if (column) {
        put_pattern(strchr(words, '=') + 1, bound);
        snprintf(condition, sizeof condition, "CAST(%s AS TEXT) LIKE ?%d ESCAPE '\\'", column, number);
    } else if (words[0] == '#' && words[1]) {
        snprintf(bound, PATTERN_MAX, "%s", words + 1);
        snprintf(condition, sizeof condition, "r.id%s = CAST(?%d AS INTEGER)",
                 source == &sources[DB_LIST_LOG] ? " / " LOG_KINDS_TEXT : "", number);
    } else {
        put_pattern(words, bound);
        r = put_words(reader, source, words, bound, number, condition, sizeof condition);
    }
    snprintf(sql, size, "(%s) IS %sTRUE", condition, not ? "NOT " : "");
    return r;
}

/* "ORDER BY …"; `back`: from the last row to the first. */
static void put_order(const struct db_list_query *query, bool back, char *sql, size_t size)
{
    const struct list_column *column = sorted_by(query);
    bool down = column->down != query->invert, id_down = !query->invert;

    snprintf(sql, size, "ORDER BY %s %s NULLS %s, r.id %s", column->sql, down != back ? "DESC" : "ASC",
             back ? "FIRST" : "LAST", id_down != back ? "DESC" : "ASC");
}

/* What a list is selected from, and all of it counted: of the round trips those of one account, in its
 * name's place, of the bars those of one symbol and interval. */
struct places {
    char from[SQL_MAX / 2], total[SQL_MAX / 4 + SQL_MAX / 8];
};

/* The symbol by its name as db_reader_symbol() has it. */
#define OF_BARS \
    "symbol = (SELECT id FROM symbols WHERE name = %Q ORDER BY seen_ns DESC LIMIT 1) AND interval_ns = %lld"
#define VENUE_BARS "FROM bars WHERE " OF_BARS " AND source = 'venue'"

enum { BARS_MAX = SQL_MAX / 4 };
/* The columns of record/market.h's bars, and `id`; of one table, whose key then is the order of numbers. 0 or
 * -errno. */
static int select_bars(struct db_reader *reader, const struct db_list_query *query, char own[static BARS_MAX])
{
    const long long ns = query->interval_ns;
    int64_t one;

    sqlite3_snprintf(BARS_MAX, own, "SELECT 1 " VENUE_BARS " LIMIT 1", query->symbol, ns);
    int r = db_query_first(reader, own, NULL, RECORD_INTO(&one));
    if (r > 0)
        sqlite3_snprintf(BARS_MAX, own,
                         "(SELECT open_ns AS id, symbol, " RECORD_COLUMNS(RECORD_STORED_BAR) " " VENUE_BARS
                                                                                             ")",
                         query->symbol, ns);
    else if (r == 0)
        sqlite3_snprintf(
            BARS_MAX, own,
            "(SELECT open_ns AS id, symbol, " RECORD_COLUMNS(
                RECORD_CHART_BAR) ", '0' AS "
                                  "quote_volume, -1 AS trades, -1 AS first_trade_id, -1 AS last_trade_id, NULL AS session "
                                  "FROM chart_bars WHERE " OF_BARS ")",
            query->symbol, ns);
    return r < 0 ? r : 0;
}

static int put_bars(struct db_reader *reader, const struct db_list_query *query, struct places *ret)
{
    char own[BARS_MAX];
    int r = select_bars(reader, query, own);

    if (r < 0)
        return r;
    snprintf(ret->from, sizeof ret->from, "%s r LEFT JOIN symbols s ON s.id = r.symbol", own);
    snprintf(ret->total, sizeof ret->total, "SELECT count(*) FROM %s", own);
    return 0;
}

/* 0 or -errno. */
static int put_places(struct db_reader *reader, const struct db_list_query *query, struct places *ret)
{
    const struct source *source = &sources[query->list];

    if (query->list == DB_LIST_BARS)
        return put_bars(reader, query, ret);
    snprintf(ret->from, sizeof ret->from, "%s", source->from);
    snprintf(ret->total, sizeof ret->total, "%s", source->total);
    if (query->list != DB_LIST_TRIPS || !query->account[0])
        return 0;
    char own[SQL_MAX / 16];
    sqlite3_snprintf(sizeof own, own,
                     "(SELECT * FROM temp.trips WHERE account = (SELECT id FROM accounts WHERE name = %Q))",
                     query->account);
    snprintf(ret->from, sizeof ret->from, TRIPS_FROM("%s"), own);
    snprintf(ret->total, sizeof ret->total, "SELECT count(*) FROM %s", own);
    return 0;
}

/* All rows of the list, counted again only where another connection has written since. */
static int count_total(struct db_reader *reader, const struct db_list_query *query, int64_t *ret)
{
    bool keep = query->list != DB_LIST_TRIPS && query->list != DB_LIST_BARS && !reader->as_of_ns;
    struct db_list_total *total = &reader->totals[query->list];
    struct places places;
    int64_t version = 0;

    int r = keep ? db_reader_version(reader, &version) : 0; /* before it counts */
    if (r >= 0 && keep && total->known && total->version == version) {
        *ret = total->count;
        return 0;
    }
    r = r < 0 ? r : put_places(reader, query, &places);
    r = r < 0 ? r : db_query_first(reader, places.total, NULL, RECORD_INTO(ret));
    if (r < 0)
        return r;
    *total = (struct db_list_total){keep, version, *ret};
    return 0;
}

static int count_all(struct db_reader *reader, const struct db_list_query *query, int64_t *ret)
{
    struct places places;
    int64_t left_out = 0;
    char sql[SQL_MAX];

    int r = count_total(reader, query, ret);
    if (r < 0 || !query->without || (r = put_places(reader, query, &places)) < 0)
        return r;
    snprintf(sql, sizeof sql, "%s WHERE id IN (SELECT value FROM json_each(?1))", places.total);
    r = db_query_first(reader, sql, RECORD_PARAMS(query->without), RECORD_INTO(&left_out));
    *ret -= left_out;
    return r < 0 ? r : 0;
}

#define LEFT_OUT      "r.id NOT IN (SELECT value FROM json_each(ifnull(?2, '[]')))"
#define NONE_LEFT_OUT "?2 IS NULL" /* the same without any: SQLite would look at that before the filter */

/* The place of a row in the order of numbers. 0; -ENOENT: it is not in the list. */
static int place_of(struct db_reader *reader, const struct db_list_query *query, int64_t id, int64_t *ret)
{
    struct places places;
    char sql[SQL_MAX];

    int r = put_places(reader, query, &places);
    if (r < 0)
        return r;
    snprintf(sql, sizeof sql,
             "SELECT (%s r WHERE r.id %s ?1 AND " LEFT_OUT ") WHERE (%s r WHERE r.id = ?1 AND " LEFT_OUT ")",
             places.total, query->invert ? "<" : ">", places.total);
    r = db_query_first(reader, sql, RECORD_PARAMS(id, query->without), RECORD_INTO(ret));
    return r < 0 ? r : r == 0 ? -ENOENT : 0;
}

static int64_t window_first(int64_t at, int64_t count)
{
    int64_t first = at - DB_LIST_WINDOW / 2, last = count > DB_LIST_WINDOW ? count - DB_LIST_WINDOW : 0;

    return first < 0 ? 0 : first > last ? last : first;
}

static void swap_ends(int64_t *ids, int n)
{
    for (int i = 0; i < n / 2; i++) {
        int64_t id = ids[i];
        ids[i] = ids[n - 1 - i];
        ids[n - 1 - i] = id;
    }
}

/* The window at place ret->at of all rows, from the nearer end. */
static int read_at(struct db_reader *reader, const struct db_list_query *query, struct db_list_window *ret)
{
    char sql[SQL_MAX], order[SQL_MAX / 4];
    struct places places;
    int64_t id;
    sqlite3_stmt *stmt;

    int r = put_places(reader, query, &places);
    if (r < 0)
        return r;
    ret->first = window_first(ret->at, ret->count);
    int64_t n = ret->count - ret->first < DB_LIST_WINDOW ? ret->count - ret->first : DB_LIST_WINDOW;
    int64_t behind = ret->count - ret->first - n;
    bool back = behind < ret->first;
    put_order(query, back, order, sizeof order);
    snprintf(sql, sizeof sql, "SELECT r.id FROM %s WHERE " LEFT_OUT " %s LIMIT ?3 OFFSET ?4", places.from,
             order);
    r = db_query(reader, sql, RECORD_PARAMS("", query->without, n, back ? behind : ret->first), &stmt);
    for (ret->n = 0; r >= 0 && (r = db_query_next(reader, stmt, RECORD_INTO(&id))) > 0;)
        ret->ids[ret->n++] = id;
    if (back)
        swap_ends(ret->ids, ret->n);
    return db_query_end(stmt, r);
}

/* The numbers that were kept round a ring, of which `end` were put, in their order. */
static void unroll(struct db_list_window *ret, const int64_t *ring, int64_t end)
{
    ret->n = (int)(end < DB_LIST_WINDOW ? end : DB_LIST_WINDOW);
    ret->first = end - ret->n;
    for (int i = 0; i < ret->n; i++)
        ret->ids[i] = ring[(ret->first + i) % DB_LIST_WINDOW];
}

/* One look at all rows of the filter. */
static int pass(struct db_reader *reader, const struct db_list_query *query, int64_t id, int64_t at,
                struct db_list_window *ret)
{
    char sql[2 * SQL_MAX], filter[SQL_MAX / 2], order[SQL_MAX / 4], bound[PATTERN_MAX];
    int64_t ring[DB_LIST_WINDOW], target = id ? -1 : at, count = 0, end = 0, row;
    struct places places;
    sqlite3_stmt *stmt;

    int r = put_places(reader, query, &places);
    if (r < 0)
        return r;
    r = put_filter(reader, &sources[query->list], query->filter, 1, filter, sizeof filter, bound);
    if (r < 0)
        return r;
    put_order(query, false, order, sizeof order);
    snprintf(sql, sizeof sql, "SELECT r.id FROM %s WHERE %s AND %s %s", places.from, filter,
             query->without ? LEFT_OUT : NONE_LEFT_OUT, order);
    r = db_query(reader, sql, RECORD_PARAMS(bound, query->without), &stmt);
    for (; r >= 0 && (r = db_query_next(reader, stmt, RECORD_INTO(&row))) > 0; count++) {
        if (query->first && count == DB_LIST_FIRST) {
            ret->partial = true;
            break;
        }
        if (id && row == id)
            target = count;
        if (target < 0 || count < target + DB_LIST_WINDOW / 2 || count < DB_LIST_WINDOW)
            ring[end++ % DB_LIST_WINDOW] = row;
    }
    r = db_query_end(stmt, r);
    if (r < 0)
        return r;
    ret->count = count;
    ret->at = target >= 0 ? target : at;
    if (ret->at >= count)
        ret->at = count > 0 ? count - 1 : 0;
    unroll(ret, ring, end);
    if (target < 0 && ret->first > 0 && ret->at < ret->first + DB_LIST_WINDOW / 2) /* no such row */
        return pass(reader, query, 0, at, ret);
    return 0;
}

static int read_window(struct db_reader *reader, const struct db_list_query *query, int64_t id, int64_t at,
                       struct db_list_window *ret)
{
    bool by_number = sources[query->list].by_number && sorted_by(query) == sources[query->list].columns;
    int r = query->list == DB_LIST_TRIPS ? db_trips_follow(reader) : 0;

    r = r < 0 ? r : count_all(reader, query, &ret->total);
    if (r < 0)
        return r;
    if (query->filter[0] || (id && !by_number))
        return pass(reader, query, id, at, ret);
    r = id ? place_of(reader, query, id, &at) : -ENOENT;
    if (r < 0 && r != -ENOENT)
        return r;
    ret->count = ret->total;
    ret->at = at >= ret->count ? (ret->count > 0 ? ret->count - 1 : 0) : at;
    return read_at(reader, query, ret);
}

int db_list_read(struct db_reader *reader, const struct db_list_query *query, int64_t id, int64_t at,
                 struct db_list_window *ret)
{
    struct db_list_window window = {0};
    int r = check_named(reader, query->list, query->filter);

    r = r < 0 ? r : read_window(reader, query, id, at < 0 ? 0 : at, &window);

    if (r < 0)
        return r;
    *ret = window;
    return 0;
}

int db_list_find(struct db_reader *reader, const struct db_list_query *query, const char *words, int64_t id,
                 bool back, int64_t *ret)
{
    char sql[2 * SQL_MAX], filter[SQL_MAX / 2], find[SQL_MAX / 2], order[SQL_MAX / 4];
    char bound[PATTERN_MAX], sought[PATTERN_MAX];
    int64_t row, found = 0, wrapped = 0;
    bool matches, past = false;
    struct places places;
    sqlite3_stmt *stmt;

    int r = check_named(reader, query->list, query->filter);
    r = r < 0 ? r : check_named(reader, query->list, words);
    r = r < 0 ? r : put_places(reader, query, &places);
    if (r < 0)
        return r;
    r = put_filter(reader, &sources[query->list], query->filter, 1, filter, sizeof filter, bound);
    r = r < 0 ? r : put_filter(reader, &sources[query->list], words, 2, find, sizeof find, sought);
    if (r < 0)
        return r;
    put_order(query, back, order, sizeof order);
    snprintf(sql, sizeof sql, "SELECT r.id, %s FROM %s WHERE %s %s", find, places.from, filter, order);
    r = db_query(reader, sql, RECORD_PARAMS(bound, sought), &stmt);
    while (r >= 0 && !found && (r = db_query_next(reader, stmt, RECORD_INTO(&row, &matches))) > 0) {
        if (matches && (past || !id))
            found = row;
        if (matches && !wrapped)
            wrapped = row;
        past |= row == id;
    }
    r = db_query_end(stmt, r);
    if (r < 0)
        return r;
    *ret = found ? found : wrapped;
    return *ret ? 0 : -ENOENT;
}

/* The body of a function that reads the row of each number, and passes what is made of it. */
#define ROWS_OF(sql, read, ...) \
    sqlite3_stmt *stmt; \
    int r = db_query(reader, sql, NULL, &stmt); \
    for (int i = 0; r >= 0 && i < n; i++) { \
        sqlite3_reset(stmt); \
        record_sqlite_params(stmt, RECORD_PARAMS(ids[i])); \
        if ((r = (read)) > 0) \
            row(ctx, i, __VA_ARGS__); \
    } \
    return db_query_end(stmt, r < 0 ? r : 0)

int db_list_orders(struct db_reader *reader, const int64_t *ids, int n,
                   void (*row)(void *ctx, int at, const struct db_order_row *row), void *ctx)
{
    struct order each = {0};
    struct db_named named;
    ROWS_OF("SELECT " DB_ORDER_COLUMNS " FROM orders WHERE id = ?1",
            db_query_row(reader, stmt, &record_orders, &each, &named),
            &(struct db_order_row){.order = each, .account = named.account, .symbol = named.symbol});
}

int db_list_fills(struct db_reader *reader, const int64_t *ids, int n,
                  void (*row)(void *ctx, int at, const struct db_fill_row *row), void *ctx)
{
    struct db_fill_row each;
    ROWS_OF(DB_QUERY_FILLS "WHERE id = ?1", db_query_fill(reader, stmt, &each), &each);
}

int db_list_alerts(struct db_reader *reader, const int64_t *ids, int n,
                   void (*row)(void *ctx, int at, const struct db_alert *row), void *ctx)
{
    struct db_alert each = {0};
    ROWS_OF("SELECT " DB_ALERT_COLUMNS " FROM alerts WHERE id = ?1",
            db_query_row(reader, stmt, &db_record_alerts, &each, NULL), &each);
}

int db_list_commands(struct db_reader *reader, const int64_t *ids, int n,
                     void (*row)(void *ctx, int at, const struct db_command *row), void *ctx)
{
    struct db_command each = {0};
    ROWS_OF("SELECT " DB_COMMAND_COLUMNS " FROM commands WHERE id = ?1",
            db_query_row(reader, stmt, &db_record_commands, &each, NULL), &each);
}

#define TRIP_COLUMNS \
    "r.id, r.first_fill, r.fills, f.order_id, r.account, r.symbol, r.opened_ns, r.closed_ns, iif(r.side = 'SHORT', " \
    "-r.qty, r.qty), r.entry, r.exit, r.share, r.profit, r.fees, r.source, " EXIT_REASON

static int query_trip(struct db_reader *reader, sqlite3_stmt *stmt, struct db_trip *ret)
{
    int64_t account, symbol;
    const char *source, *reason;
    const struct record_into into[] = {record_into_int64(&ret->id),
                                       record_into_int64(&ret->first_fill),
                                       record_into_int64(&ret->fills),
                                       record_into_int64(&ret->order),
                                       record_into_int64(&account),
                                       record_into_int64(&symbol),
                                       record_into_int64(&ret->opened_ns),
                                       record_into_int64(&ret->closed_ns),
                                       record_into_int64(&ret->qty),
                                       record_into_real(&ret->entry),
                                       record_into_real(&ret->exit),
                                       record_into_real(&ret->share),
                                       record_into_int64(&ret->profit),
                                       record_into_int64(&ret->fees),
                                       record_into_string(&source),
                                       record_into_string(&reason),
                                       {0}};
    int r = db_query_next(reader, stmt, into);

    if (r <= 0)
        return r;
    ret->is_short = ret->qty < 0;
    ret->qty = ret->is_short ? -ret->qty : ret->qty;
    snprintf(ret->source, sizeof ret->source, "%s", source ? source : "");
    snprintf(ret->reason, sizeof ret->reason, "%s", reason ? reason : "");
    ret->account = NULL;
    for (size_t i = 0; i < reader->n_accounts; i++)
        if (reader->accounts[i].account.number == account)
            ret->account = &reader->accounts[i].account;
    r = db_reader_symbol_id(reader, symbol, &ret->symbol);
    return r < 0 ? r : !ret->account || !ret->symbol ? -EBADMSG : 1;
}

int db_list_trips(struct db_reader *reader, const int64_t *ids, int n,
                  void (*row)(void *ctx, int at, const struct db_trip *row), void *ctx)
{
    struct db_trip each = {0};
    ROWS_OF("SELECT " TRIP_COLUMNS " FROM " TRIPS_FROM("temp.trips") " WHERE r.id = ?1",
            query_trip(reader, stmt, &each), &each);
}

int db_list_trip_fills(struct db_reader *reader, int64_t id, int64_t first, int64_t limit,
                       void (*row)(void *ctx, const struct db_fill_row *row), void *ctx)
{
    struct db_fill_row each;
    sqlite3_stmt *stmt;
    int r =
        db_query(reader,
                 DB_QUERY_FILLS "WHERE id >= ?2 AND id <= ?1 AND (account, symbol) = (SELECT account, symbol "
                                "FROM fills WHERE id = ?1) ORDER BY id LIMIT ?3",
                 RECORD_PARAMS(id, first, limit), &stmt);
    while (r >= 0 && (r = db_query_fill(reader, stmt, &each)) > 0)
        row(ctx, &each);
    return db_query_end(stmt, r);
}

int db_list_ledger(struct db_reader *reader, const int64_t *ids, int n,
                   void (*row)(void *ctx, int at, const struct db_ledger_row *row), void *ctx)
{
    struct db_ledger_row each = {0};
    ROWS_OF("SELECT " DB_LEDGER_COLUMNS " FROM ledger WHERE id = ?1", db_query_ledger(reader, stmt, &each),
            &each);
}

int db_list_bars(struct db_reader *reader, const struct db_list_query *query, const int64_t *ids, int n,
                 void (*row)(void *ctx, int at, const struct bar *row, const struct db_symbol_row *symbol),
                 void *ctx)
{
    struct db_symbol_row symbol;
    struct bar each = {0};
    char own[BARS_MAX], sql[SQL_MAX / 2];
    int known = n > 0 ? db_reader_symbol(reader, query->symbol, &symbol) : -ENOENT;

    if (known < 0)
        return known == -ENOENT ? 0 : known;
    if ((known = select_bars(reader, query, own)) < 0)
        return known;
    snprintf(sql, sizeof sql, "SELECT " RECORD_COLUMNS(RECORD_STORED_BAR) " FROM %s WHERE id = ?1", own);
    ROWS_OF(sql, db_query_row(reader, stmt, &db_record_bars, &each, NULL), &each, &symbol);
}
