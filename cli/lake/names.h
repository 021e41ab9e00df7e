/* What the names of files of Parquet say of the bars in them: the rule of bars files' names. */
#ifndef CLI_LAKE_NAMES_H
#define CLI_LAKE_NAMES_H

#include <jansson.h>
#include <stdbool.h>

#include "exchange/bars_name.h"

/* Does the name say which symbol it is of, and is not one that programs give to parts of a table, as
 * part-0.parquet, data_0.parquet, 5m.parquet or 2024.parquet? `name` is what bars_name_parse() found. */
bool cli_lake_names_specific(const struct bars_name *name);

/* Of [path, …]: [{"symbol": "BTCUSDT", "interval": "5m" or null, "specific": …, "trades": …}, …], {} for one
 * in which no symbol can be found. The caller's; NULL without memory. */
json_t *cli_lake_names(const json_t *paths);

#endif
