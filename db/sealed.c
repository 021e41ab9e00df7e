/* Every table of the record whose rows are sealed or chained. */
#include "db/sealed.h"

#include "db/row_hash.h"

#define NAME_OF_ACCOUNT "ifnull((SELECT name FROM accounts WHERE id = account), account)"

const struct db_sealed db_sealed[] = {
    {"orders", true, "id", "id", "id DESC", DB_ORDER_SEAL},
    {"fills", true, "id", "id", "id DESC", DB_FILL_SEAL},
    {"ledger", true, "id", "id", "id DESC", NULL},
    {"accounts", false, "id", "id", "id DESC", "seal(2, " DB_ACCOUNT_COLUMNS ")"},
    {"symbols", false, "id", "id", "id DESC", "seal(2, " DB_SYMBOL_COLUMNS ")"},
    {"positions", false,
     NAME_OF_ACCOUNT " || ' ' || ifnull((SELECT name FROM symbols WHERE id = symbol), symbol)",
     "account, symbol", "account, symbol", "seal(2, " DB_POSITION_COLUMNS ")"},
    {"equity", false, NAME_OF_ACCOUNT " || ' ' || ts_ns", "account, ts_ns", "account, ts_ns DESC",
     "seal(2, " DB_EQUITY_COLUMNS ")"},
    {"commands", false, "id", "id", "id DESC", "seal(2, " DB_COMMAND_COLUMNS ")"},
    {"alerts", false, "id", "id", "id DESC", "seal(2, " DB_ALERT_COLUMNS ")"},
    {"corporate_actions", true, "id", "id", "id DESC", "seal(2, " DB_ACTION_COLUMNS ")"},
    {"revisions", true, "id", "id", "id DESC", "seal(2, " DB_REVISION_COLUMNS ")"},
    {"meta", false, "key", "key", "key", "seal(2, key, value)"},
    {"rebuilds", false, "id", "id", "id DESC", "seal(2, " DB_REBUILD_COLUMNS ")"},
    {"rebuild_sources", false, "rebuild || ' ' || name", "rebuild, name", "rebuild DESC, name",
     "seal(2, " DB_SOURCE_COLUMNS ")"},
    {"salvaged", false, "name || ' ' || first", "name, first", "name, first",
     "seal(2, " DB_SALVAGED_COLUMNS ")"},
    {"base", false, "id", "id", "id", "seal(2, " DB_BASE_COLUMNS ")"},
    {"base_accounts", false, "account", "account", "account", "seal(2, " DB_BASE_ACCOUNT_COLUMNS ")"},
    {"base_balances", false, NAME_OF_ACCOUNT " || ' ' || asset", "account, asset", "account, asset",
     "seal(2, " DB_BASE_BALANCE_COLUMNS ")"},
    {"base_positions", false, NAME_OF_ACCOUNT " || ' ' || symbol", "account, symbol", "account, symbol",
     "seal(2, " DB_BASE_POSITION_COLUMNS ")"},
    {"base_orders", false, "id", "id", "id DESC", "seal(2, " DB_BASE_ORDER_COLUMNS ")"},
};
const size_t db_sealed_count = sizeof db_sealed / sizeof *db_sealed;
