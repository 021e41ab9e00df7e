#include "db/tables.h"

#include <string.h>

#include "db/counts.h"
#include "db/ledger_row.h"
#include "db/row_hash.h"
#include "record/device_rows.h"
#include "record/market.h"
#include "record/training.h"

#define NAME_OF_ACCOUNT      "ifnull((SELECT name FROM accounts WHERE id = account), account)"
#define NAME_OF_SYMBOL       "ifnull((SELECT name FROM symbols WHERE id = symbol), symbol)"
#define BY(order, newest_)   .by = order, .newest = newest_
#define ID                   .key = "id", BY("id", "id DESC"), .by_number = true
#define NUMBERED             ID, .numbered = true
#define SEAL(list)           .columns = list ", hash", .seal = "seal(2, " list ")"
#define SALVAGED             .salvaged = true
#define COPY(list, order)    .columns = list, .by = order, SALVAGED

#define COUNTED(at, of, ...) {__VA_ARGS__, .counted = DB_COUNT_##of},
#define UNCOUNTED(...)       {__VA_ARGS__, .counted = DB_COUNTED},

const struct db_table db_tables[] = {DB_TABLES(COUNTED, UNCOUNTED, UNCOUNTED)};
const size_t db_tables_count = sizeof db_tables / sizeof *db_tables;

const struct db_table *db_table_named(const char *name)
{
    size_t i = 0;
    while (i + 1 < db_tables_count && strcmp(db_tables[i].name, name) != 0)
        i++;
    return &db_tables[i];
}
