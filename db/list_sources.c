/* The tables, columns and texts of each list. */
#include "db/list_sources.h"

#include <string.h>

#include "db/ledger_row.h"
#include "db/reader_query.h"
#include "record/ledger_kinds.h"
#include "record/market.h"

/* Columns whose names are known are not looked into for a text that none of them has: most of the time. */
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
    {"newest", "r.id", DB_LIST_NUMBER},
    {"time", "r.updated_ns", DB_LIST_TIME},
    {"created", "r.created_ns", DB_LIST_TIME},
    {"side", "r.side"},
    {"symbol", "s.name"},
    {"account", "a.name"},
    {"type", "r.type"},
    {"tif", "r.tif"},
    {"state", "r.state"},
    {"qty", QTY("qty"), DB_LIST_NUMBER},
    {"filled", QTY("filled"), DB_LIST_NUMBER},
    {"average", "nullif(" SCALED("cost") "quote_scale AS REAL) / nullif(" QTY("filled") ", 0), 0)",
     DB_LIST_NUMBER},
    {"price", "nullif(" PRICE("price") ", 0)", DB_LIST_NUMBER},
    {"trigger", "nullif(" PRICE("stop_price") ", 0)", DB_LIST_NUMBER},
    {"trail", "nullif(iif(r.trail_e6 > 0, r.trail_e6 / 1e4, " PRICE("trail") "), 0)",
     DB_LIST_PERCENT}, /* as shown */
    {"oco", "nullif(r.group_id, 0)", DB_LIST_NUMBER},
    {"parent", "nullif(r.parent, 0)", DB_LIST_NUMBER},
    {"client", "nullif(r.client_id, '')"},
    {"reason", "nullif(iif(r.reason = '', r.tag, r.reason), '')"},
};
static const struct db_list_column fill_columns[] = {
    {"newest", "r.id", DB_LIST_NUMBER},
    {"time", "r.ts_ns", DB_LIST_TIME},
    {"side", "r.side"},
    {"symbol", "s.name"},
    {"account", "a.name"},
    {"qty", QTY("qty"), DB_LIST_NUMBER},
    {"price", PRICE("price"), DB_LIST_NUMBER},
    {"value", SCALED("notional") "quote_scale AS REAL)", DB_LIST_NUMBER},
    {"maker", "r.maker", DB_LIST_NUMBER, "iif(r.maker, 'M maker', 'T taker')"},
    {"fee", SCALED("fee") "quote_scale AS REAL)", DB_LIST_NUMBER},
    {"currency", "s.quote"},
    {"rate", "iif(r.rule = 1, NULL, r.fee_e6 / 1e4)", DB_LIST_PERCENT},
    {"order", "r.order_id", DB_LIST_NUMBER},
    {"reason", "nullif(o.tag, '')"},
};
static const struct db_list_column alert_columns[] = {
    {"open first", "r.acked_ns IS NULL AND r.closed_ns IS NULL", DB_LIST_NUMBER},
    {"time", "r.last_ns", DB_LIST_TIME},
    {"severity", "CASE r.severity WHEN 'error' THEN 2 WHEN 'warning' THEN 1 ELSE 0 END", DB_LIST_NUMBER,
     "r.severity"},
    {"count", "r.count", DB_LIST_NUMBER},
    {"first", "r.ts_ns", DB_LIST_TIME},
    {"acknowledged", "r.acked_ns", DB_LIST_TIME},
    {"closed", "r.closed_ns", DB_LIST_TIME},
    {"code", "r.code"},
    {"text", "r.text"},
};
static const struct db_list_column log_columns[] = {
    {"newest", "r.ts", DB_LIST_NUMBER},
    {"time", "r.ts", DB_LIST_TIME},
    {"kind", "r.kind"},
    {"number", "r.id / " LOG_KINDS_TEXT, DB_LIST_NUMBER},
    {"text", "r.words"},
};

static const struct db_list_column trip_columns[] = {
    {"newest", "r.id", DB_LIST_NUMBER},
    {"entry time", "r.opened_ns", DB_LIST_TIME},
    {"exit time", "r.closed_ns", DB_LIST_TIME},
    {"symbol", "s.name"},
    {"account", "a.name"},
    {"strategy", "r.source"},
    {"side", "r.side"},
    {"qty", QTY("qty"), DB_LIST_NUMBER},
    {"entry", "r.entry", DB_LIST_NUMBER},
    {"exit", "r.exit", DB_LIST_NUMBER},
    {"P&L", SCALED("profit") "quote_scale AS REAL)", DB_LIST_NUMBER},
    {"return", "100 * r.share", DB_LIST_CHANGE},
    {"fees", SCALED("fees") "quote_scale AS REAL)", DB_LIST_NUMBER},
    {"duration", "(r.closed_ns - r.opened_ns) / 1e9", DB_LIST_SPAN},
    {"fills", "r.fills", DB_LIST_NUMBER},
    {"reason", DB_LIST_EXIT_REASON},
    {"order", "f.order_id", DB_LIST_NUMBER},
};

/* ledger_row_word() */
#define LEDGER_WORD                "iif(r.kind = 'deposit' AND r.amount < 0, 'withdrawal', r.kind)"
#define CONTRA(kind, name, contra) " WHEN '" name "' THEN '" contra "'"
#define LEDGER_CONTRA              "CASE r.kind" LEDGER_KIND_NAMES(CONTRA) " END"
#define OF_OWN(value)              "r." value " / CAST('1e' || r.scale AS REAL)"
static const struct db_list_column ledger_columns[] = {
    {"newest", "r.id", DB_LIST_NUMBER},
    {"time", "r.ts_ns", DB_LIST_TIME},
    {"account", "a.name"},
    {"asset", "r.asset"},
    {"kind", LEDGER_WORD},
    {"amount", OF_OWN("amount"), DB_LIST_NUMBER},
    {"balance", OF_OWN("balance"), DB_LIST_NUMBER},
    {"contra", LEDGER_CONTRA},
    {"order", "r.order_id", DB_LIST_NUMBER},
    {"fill", "r.fill_id", DB_LIST_NUMBER},
};

/* Stored as a text of digits, of qty_scale; "not known" is trades -1. */
#define BAR_KNOWN(value) "iif(r.trades < 0, NULL, " value ")"
static const struct db_list_column bar_columns[] = {
    {"newest", "r.id", DB_LIST_NUMBER},
    {"time", "r.id", DB_LIST_TIME},
    {"open", PRICE("open"), DB_LIST_NUMBER},
    {"high", PRICE("high"), DB_LIST_NUMBER},
    {"low", PRICE("low"), DB_LIST_NUMBER},
    {"close", PRICE("close"), DB_LIST_NUMBER},
    {"change", "100 * (r.close - r.open) / nullif(CAST(r.open AS REAL), 0)", DB_LIST_CHANGE},
    {"range", "(r.high - r.low) / CAST('1e' || s.price_scale AS REAL)", DB_LIST_NUMBER},
    {"volume", "CAST(r.volume AS REAL) / CAST('1e' || s.qty_scale AS REAL)", DB_LIST_NUMBER},
    {"value", BAR_KNOWN("CAST(r.quote_volume AS REAL) / CAST('1e' || (s.price_scale + s.qty_scale) AS REAL)"),
     DB_LIST_NUMBER},
    {"trades", BAR_KNOWN("r.trades"), DB_LIST_NUMBER},
    {"session", "nullif(r.session, 'none')"},
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
