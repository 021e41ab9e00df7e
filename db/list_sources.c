/* The tables, columns and texts of each list. */
#include "db/list_sources.h"

#include <string.h>

#include "db/ledger_row.h"
#include "db/reader_query.h"
#include "record/ledger_kinds.h"
#include "record/market.h"

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

#define SCALED(value) "r." value " / CAST('1e' || s."
#define QTY(value)    SCALED(value) "qty_scale AS REAL)"
#define PRICE(value)  SCALED(value) "price_scale AS REAL)"

/* A number of the log is its row's times this, and the kind. */
#define LOG_KINDS      4
#define TEXT_(number)  #number
#define TEXT(number)   TEXT_(number)
#define LOG_KINDS_TEXT TEXT(LOG_KINDS)

static const struct db_list_column order_columns[] = {
    {"newest", "r.id", true},
    {"time", "r.updated_ns", true, true},
    {"created", "r.created_ns", true, true},
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
    {"trail", "nullif(iif(r.trail_e6 > 0, r.trail_e6 / 1e4, " PRICE("trail") "), 0)", true}, /* as shown */
    {"oco", "nullif(r.group_id, 0)", true},
    {"parent", "nullif(r.parent, 0)", true},
    {"client", "nullif(r.client_id, '')", false},
    {"reason", "nullif(iif(r.reason = '', r.tag, r.reason), '')", false},
};
static const struct db_list_column fill_columns[] = {
    {"newest", "r.id", true},
    {"time", "r.ts_ns", true, true},
    {"side", "r.side", false},
    {"symbol", "s.name", false},
    {"account", "a.name", false},
    {"qty", QTY("qty"), true},
    {"price", PRICE("price"), true},
    {"value", SCALED("notional") "quote_scale AS REAL)", true},
    {"maker", "r.maker", true, false, "iif(r.maker, 'M maker', 'T taker')"},
    {"fee", SCALED("fee") "quote_scale AS REAL)", true},
    {"currency", "s.quote", false},
    {"rate", "iif(r.rule = 1, NULL, r.fee_e6 / 1e4)", true},
    {"order", "r.order_id", true},
    {"reason", "nullif(o.tag, '')", false},
};
static const struct db_list_column alert_columns[] = {
    {"open first", "r.acked_ns IS NULL AND r.closed_ns IS NULL", true},
    {"time", "r.last_ns", true, true},
    {"severity", "CASE r.severity WHEN 'error' THEN 2 WHEN 'warning' THEN 1 ELSE 0 END", true, false,
     "r.severity"},
    {"count", "r.count", true},
    {"first", "r.ts_ns", true, true},
    {"acknowledged", "r.acked_ns", true, true},
    {"closed", "r.closed_ns", true, true},
    {"code", "r.code", false},
    {"text", "r.text", false},
};
static const struct db_list_column log_columns[] = {
    {"newest", "r.ts", true},   {"time", "r.ts", true, true},
    {"kind", "r.kind", false},  {"number", "r.id / " LOG_KINDS_TEXT, true},
    {"text", "r.words", false},
};

static const struct db_list_column trip_columns[] = {
    {"newest", "r.id", true},
    {"entry time", "r.opened_ns", true, true},
    {"exit time", "r.closed_ns", true, true},
    {"symbol", "s.name", false},
    {"account", "a.name", false},
    {"strategy", "r.source", false},
    {"side", "r.side", false},
    {"qty", QTY("qty"), true},
    {"entry", "r.entry", true},
    {"exit", "r.exit", true},
    {"P&L", SCALED("profit") "quote_scale AS REAL)", true},
    {"return", "100 * r.share", true},
    {"fees", SCALED("fees") "quote_scale AS REAL)", true},
    {"duration", "(r.closed_ns - r.opened_ns) / 1e9", true},
    {"fills", "r.fills", true},
    {"reason", DB_LIST_EXIT_REASON, false},
    {"order", "f.order_id", true},
};

/* ledger_row_word() */
#define LEDGER_WORD                "iif(r.kind = 'deposit' AND r.amount < 0, 'withdrawal', r.kind)"
#define CONTRA(kind, name, contra) " WHEN '" name "' THEN '" contra "'"
#define LEDGER_CONTRA              "CASE r.kind" LEDGER_KIND_NAMES(CONTRA) " END"
#define OF_OWN(value)              "r." value " / CAST('1e' || r.scale AS REAL)"
static const struct db_list_column ledger_columns[] = {
    {"newest", "r.id", true},
    {"time", "r.ts_ns", true, true},
    {"account", "a.name", false},
    {"asset", "r.asset", false},
    {"kind", LEDGER_WORD, false},
    {"amount", OF_OWN("amount"), true},
    {"balance", OF_OWN("balance"), true},
    {"contra", LEDGER_CONTRA, false},
    {"order", "r.order_id", true},
    {"fill", "r.fill_id", true},
};

/* Stored as a text of digits, of qty_scale; "not known" is trades -1. */
#define BAR_KNOWN(value) "iif(r.trades < 0, NULL, " value ")"
static const struct db_list_column bar_columns[] = {
    {"newest", "r.id", true},
    {"time", "r.id", true, true},
    {"open", PRICE("open"), true},
    {"high", PRICE("high"), true},
    {"low", PRICE("low"), true},
    {"close", PRICE("close"), true},
    {"change", "100 * (r.close - r.open) / nullif(CAST(r.open AS REAL), 0)", true},
    {"range", "(r.high - r.low) / CAST('1e' || s.price_scale AS REAL)", true},
    {"volume", "CAST(r.volume AS REAL) / CAST('1e' || s.qty_scale AS REAL)", true},
    {"value", BAR_KNOWN("CAST(r.quote_volume AS REAL) / CAST('1e' || (s.price_scale + s.qty_scale) AS REAL)"),
     true},
    {"trades", BAR_KNOWN("r.trades"), true},
    {"session", "nullif(r.session, 'none')", false},
};

_Static_assert(DB_LIST_LOG_ALERT == 0 && DB_LIST_LOG_ORDER == 1 && DB_LIST_LOG_COMMAND == 2,
               "as the list of the log has them");

#define COLUMNS(list) list, sizeof(list) / sizeof(list[0])
#define NAMED_(table) "(SELECT id FROM " table " WHERE name LIKE %s)"
#define SYMBOL_NAME   "r.symbol IN " NAMED_("symbols"), NULL, NAMED_("symbols")
#define ACCOUNT_NAME  "r.account IN " NAMED_("accounts"), NULL, NAMED_("accounts")

const struct db_list_source db_list_sources[DB_LISTS] = {
    [DB_LIST_ORDERS] = {"orders r" DB_LIST_NAMED,
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
    [DB_LIST_FILLS] = {"fills r" DB_LIST_NAMED " LEFT JOIN orders o ON o.id = r.order_id",
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
                     COLUMNS(log_columns),
                     "r.id / " LOG_KINDS_TEXT},
    [DB_LIST_TRIPS] = {DB_LIST_TRIPS_FROM("temp.trips"),
                       "SELECT count(*) FROM temp.trips",
                       {{DB_LIST_EXIT_REASON " LIKE %s", NULL},
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
    [DB_LIST_BARS] = {NULL, /* as db_list_select_bars() has it */
                      NULL,
                      {{"r.session LIKE %s", can_session}},
                      true,
                      COLUMNS(bar_columns)},
};

const char *db_list_column(enum db_list list, int column)
{
    return column >= 0 && column < db_list_sources[list].n ? db_list_sources[list].columns[column].name
                                                           : NULL;
}

int db_list_columns(enum db_list list)
{
    return db_list_sources[list].n;
}

enum db_list_log db_list_log_kind(int64_t id, int64_t *ret_id)
{
    *ret_id = id / LOG_KINDS;
    return (enum db_list_log)(id % LOG_KINDS);
}

/* The symbol by its name as db_reader_symbol() has it. */
#define OF_BARS \
    "symbol = (SELECT id FROM symbols WHERE name = %Q ORDER BY seen_ns DESC LIMIT 1) AND interval_ns = %lld"
#define VENUE_BARS "FROM bars WHERE " OF_BARS " AND source = 'venue'"

int db_list_select_bars(struct db_reader *reader, const struct db_list_query *query,
                        char ret[static DB_LIST_BARS_MAX])
{
    const long long ns = query->interval_ns;
    int64_t one;

    sqlite3_snprintf(DB_LIST_BARS_MAX, ret, "SELECT 1 " VENUE_BARS " LIMIT 1", query->symbol, ns);
    int r = db_query_first(reader, ret, NULL, RECORD_INTO(&one));
    if (r > 0)
        sqlite3_snprintf(DB_LIST_BARS_MAX, ret,
                         "(SELECT open_ns AS id, symbol, " RECORD_COLUMNS(RECORD_STORED_BAR) " " VENUE_BARS
                                                                                             ")",
                         query->symbol, ns);
    else if (r == 0)
        sqlite3_snprintf(
            DB_LIST_BARS_MAX, ret,
            "(SELECT open_ns AS id, symbol, " RECORD_COLUMNS(
                RECORD_CHART_BAR) ", '0' AS "
                                  "quote_volume, -1 AS trades, -1 AS first_trade_id, -1 AS last_trade_id, NULL AS session "
                                  "FROM chart_bars WHERE " OF_BARS ")",
            query->symbol, ns);
    return r < 0 ? r : 0;
}
