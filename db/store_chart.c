/* What the chart is drawn from: derived, bounded, and never in the way of the record. */
#include <string.h>

#include "db/store_bind.h"

static int thin(struct db_store *store, int index, int64_t interval_ns, int64_t open_ns)
{
    struct binding b = bind(store, DB_SQL_CHART_THIN);
    symbol(&b, store, index);
    integer(&b, interval_ns);
    integer(&b, open_ns - DB_CHART_BARS_KEPT * interval_ns);
    return run(store, &b);
}

int db_apply_chart_series(struct db_store *store, const struct db_row_chart_series *row)
{
    const char *memory = (const char *)(row + 1), *specs = memory + row->memory_size;
    struct binding b;
    if (row->anew) {
        b = bind(store, DB_SQL_CHART_ANEW);
        symbol(&b, store, row->symbol);
        integer(&b, row->interval_ns);
        int rc = run(store, &b);
        if (rc != SQLITE_OK)
            return rc;
    }
    if (row->gone) {
        b = bind(store, DB_SQL_CHART_DROP);
        symbol(&b, store, row->symbol);
        integer(&b, row->interval_ns);
        return run(store, &b);
    }
    b = bind(store, DB_SQL_CHART_SERIES);
    symbol(&b, store, row->symbol);
    integer(&b, row->interval_ns);
    integer(&b, row->base_ns);
    integer(&b, row->next_ns);
    text(&b, specs);
    text(&b, specs + strlen(specs) + 1);
    blob(&b, memory, (int)row->memory_size);
    return run(store, &b);
}

int db_apply_chart_bar(struct db_store *store, const struct db_row_chart_bar *row)
{
    const struct bar *bar = &row->bar;
    char volume[DECIMAL_TEXT_MAX];
    decimal_format(bar->volume, 0, volume);
    struct binding b = bind(store, DB_SQL_CHART_BAR);
    symbol(&b, store, row->symbol);
    integer(&b, row->interval_ns);
    integer(&b, bar->open_ns);
    integer(&b, bar->open);
    integer(&b, bar->high);
    integer(&b, bar->low);
    integer(&b, bar->close);
    text(&b, volume);
    blob(&b, row + 1, (int)(row->n_outputs * sizeof(double)));
    int rc = run(store, &b);
    return rc == SQLITE_OK ? thin(store, row->symbol, row->interval_ns, bar->open_ns) : rc;
}
