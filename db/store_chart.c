/* Stores the chart's data: derived, bounded, and never in the way of the record. */
#include <string.h>

#include "db/records.h"
#include "db/store_bind.h"

int db_apply_chart_series(struct db_store *store, const void *data)
{
    const struct db_row_chart_series *row = data;
    const char *memory = (const char *)(row + 1), *specs = memory + row->memory_size;
    const char *names = specs + strlen(specs) + 1;
    const struct record_param symbol = record_param_id(symbol_id(store, row->symbol));
    int rc = SQLITE_OK;
    if (row->replaces)
        rc = db_store_run(store, DB_SQL_CHART_REPLACE, RECORD_PARAMS(symbol, row->interval_ns), NULL);
    if (rc != SQLITE_OK)
        return rc;
    if (row->gone)
        return db_store_run(store, DB_SQL_CHART_DROP, RECORD_PARAMS(symbol, row->interval_ns), NULL);
    return db_store_run(store, DB_SQL_CHART_SERIES,
                        RECORD_PARAMS(symbol, row->interval_ns, row->base_ns, row->next_ns, specs, names,
                                      record_param_blob(memory, row->memory_size)),
                        NULL);
}

int db_apply_chart_bar(struct db_store *store, const void *data)
{
    const struct db_row_chart_bar *row = data;
    const struct record_param symbol = record_param_id(symbol_id(store, row->symbol));
    int64_t thin_to = row->bar.open_ns - DB_CHART_BARS_KEPT * row->interval_ns;
    db_store_bind(store, DB_SQL_CHART_BAR, &db_record_chart_bars, &row->bar);
    int rc = db_store_run(
        store, DB_SQL_CHART_BAR,
        RECORD_PARAMS(symbol, row->interval_ns, record_param_blob(row + 1, row->n_outputs * sizeof(double))),
        NULL);
    return rc == SQLITE_OK ? db_store_run(store, DB_SQL_CHART_THIN,
                                          RECORD_PARAMS(symbol, row->interval_ns, thin_to), NULL)
                           : rc;
}
