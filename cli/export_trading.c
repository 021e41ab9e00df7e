/* Orders, fills, the ledger and equity, a day a file. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/export.h"
#include "cli/stored.h"
#include "record/order.h"

/* ---- of a record: the columns of its list, and those of JSON alone ---- */

struct record_table {
    enum db_day_table days;
    const char *key;
    struct stored_list (*list)(enum stored_form form, FILE *out);
    int (*read)(struct db_reader *reader, const struct db_day *day, struct stored_list *list);
};

struct record_day {
    const struct record_table *table;
    struct db_day day;
};

static void print_order(void *ctx, const struct db_order_row *row)
{
    cli_stored_record_row(ctx, &row->order,
                          &(struct record_context){row->symbol ? &row->symbol->symbol : NULL,
                                                   row->account ? row->account->name : NULL});
}

static int read_orders(struct db_reader *reader, const struct db_day *day, struct stored_list *list)
{
    return db_day_orders(reader, day, print_order, list);
}

static void print_fill(void *ctx, const struct db_fill_row *row)
{
    cli_stored_record_row(ctx, &row->fill,
                          &(struct record_context){&row->symbol->symbol, row->account->name});
}

static int read_fills(struct db_reader *reader, const struct db_day *day, struct stored_list *list)
{
    return db_day_fills(reader, day, print_fill, list);
}

static void print_entry(void *ctx, const struct db_ledger_row *entry)
{
    cli_ledger_row(ctx, &entry->row, entry->account->name);
}

static int read_ledger(struct db_reader *reader, const struct db_day *day, struct stored_list *list)
{
    return db_day_ledger(reader, day, print_entry, list);
}

static const struct record_table record_tables[EXPORT_TABLES] = {
    [EXPORT_FILLS] = {DB_DAY_FILLS, "fill", cli_fills_list, read_fills},
    [EXPORT_ORDERS] = {DB_DAY_ORDERS, "order", cli_orders_list, read_orders},
    [EXPORT_LEDGER] = {DB_DAY_LEDGER, "id", cli_ledger_list, read_ledger},
};

/* All columns that the list has in JSON, as CSV's exact texts. */
static struct stored_list list_of(const struct record_table *table, FILE *out)
{
    struct stored_list list = table->list(STORED_JSON, out);
    list.form = STORED_CSV;
    list.plain = true;
    return list;
}

static int record_rows(struct export *export, void *ctx, FILE *out, uint64_t *ret_rows)
{
    const struct record_day *day = ctx;
    struct stored_list list = list_of(day->table, out);
    int r = day->table->read(export->reader, &day->day, &list);
    *ret_rows = list.rows;
    return r < 0 ? r : list.r;
}

static int record_keep(struct export *export, void *ctx, json_t **ret)
{
    const struct record_day *day = ctx;
    int64_t first;
    int r = db_day_first_row(export->reader, day->table->days, &first);
    if (r < 0)
        return r;
    *ret = json_pack("{s:[s], s:[[I]]}", "key", day->table->key, "floors", (json_int_t)first);
    return 0;
}

const char *cli_export_type(const struct stored_list *list, const struct stored_column *column)
{
    const struct record_field *field = column->derived ? NULL : record_find(list->record, column->name);
    if (!field)
        return "text";
    if (record_is_decimal(field))
        return "decimal";
    switch (field->kind) {
    case RECORD_UNSIGNED:
    case RECORD_SIGNED:
    case RECORD_SCALE:
        return "int";
    case RECORD_BOOL:
        return "bool";
    case RECORD_REAL:
        return "real";
    case RECORD_TIME:
        return "time";
    default:
        return "text";
    }
}

static json_t *record_columns(void *ctx)
{
    const struct record_day *day = ctx;
    struct stored_list list = list_of(day->table, NULL);
    json_t *columns = json_array();
    for (int i = 0; columns && i < list.n_columns; i++)
        cli_export_column(columns, list.own[i].name, cli_export_type(&list, &list.own[i]));
    return columns;
}

int cli_export_trading(struct export *export, enum export_table table)
{
    struct db_day *days;
    size_t n;
    int r = db_days(export->reader, record_tables[table].days, &days, &n);
    if (r < 0)
        return r;
    for (size_t i = 0; i < n && r == 0; i++) {
        struct record_day day = {&record_tables[table], days[i]};
        if (day.day.day < export->from_day || day.day.day > export->to_day)
            continue;
        cli_export_progress(export, 0, (int64_t)i, (int64_t)n - 1);
        r = cli_export_file(export, &(struct export_file){table, cli_export_names[table], day.day.day,
                                                          record_rows, record_keep, record_columns, &day});
    }
    free(days);
    return r;
}

/* ---- equity: by account, in the order of their names ---- */

struct equity_account {
    struct db_account account;
    int64_t first_ns, last_ns;
};

struct equity {
    struct equity_account *accounts;
    size_t n;
    int64_t day;
    int r;
};

static const struct stored_column equity_columns[] = {{"account", 1},       {"currency", 1}, {"ts_ns", 1},
                                                      {"equity", 1},        {"cash", 1},     {"peak", 1},
                                                      {"drawdown_share", 1}};

struct equity_printing {
    struct stored_list *list;
    const struct db_account *account;
};

static void print_point(void *ctx, const struct db_equity_point *point)
{
    struct equity_printing *p = ctx;
    const int64_t money[] = {point->equity, point->cash, point->peak};
    char time[STORED_CELL], cell[3][STORED_CELL], drawdown[STORED_CELL] = "";
    for (int i = 0; i < 3; i++)
        cli_stored_decimal(STORED_CSV, cell[i], money[i], p->account->currency_scale);
    if (point->peak > 0)
        snprintf(drawdown, sizeof drawdown, "%.17g", (double)point->equity / (double)point->peak - 1);
    const char *cells[] = {p->account->name,
                           p->account->currency,
                           cli_stored_time(STORED_CSV, time, point->ts_ns),
                           cell[0],
                           cell[1],
                           cell[2],
                           drawdown};
    cli_stored_row(p->list, cells);
}

static int equity_rows(struct export *export, void *ctx, FILE *out, uint64_t *ret_rows)
{
    const struct equity *equity = ctx;
    struct stored_list list = {.form = STORED_CSV,
                               .plain = true,
                               .columns = equity_columns,
                               .n_columns = sizeof equity_columns / sizeof *equity_columns,
                               .out = out};
    const int64_t from_ns = equity->day * DB_DAY_NS;
    int r = 0;
    for (size_t i = 0; i < equity->n && r == 0; i++) {
        struct equity_account *one = &equity->accounts[i];
        struct equity_printing printing = {&list, &one->account};
        if (one->first_ns < from_ns + DB_DAY_NS && one->last_ns >= from_ns)
            r = db_day_equity(export->reader, one->account.number, from_ns, from_ns + DB_DAY_NS, print_point,
                              &printing);
    }
    *ret_rows = list.rows;
    return r;
}

/* What is old is thinned, so that any point may stay. */
static int equity_keep(struct export *export, void *ctx, json_t **ret)
{
    (void)export;
    (void)ctx;
    *ret = json_pack("{s:[s, s], s:b}", "key", "account", "ts", "all", true);
    return 0;
}

static json_t *equity_column_list(void *ctx)
{
    static const char *const types[] = {"text", "text", "time", "decimal", "decimal", "decimal", "real"};
    json_t *columns = json_array();
    (void)ctx;
    for (size_t i = 0; columns && i < sizeof types / sizeof *types; i++)
        cli_export_column(columns, equity_columns[i].name, types[i]);
    return columns;
}

static void take_account(void *ctx, const struct db_account_row *row)
{
    struct equity *equity = ctx;
    struct equity_account *more = realloc(equity->accounts, (equity->n + 1) * sizeof *more);
    if (!more) {
        equity->r = -ENOMEM;
        return;
    }
    equity->accounts = more;
    more[equity->n++].account = row->account;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct equity_account *)a)->account.name,
                  ((const struct equity_account *)b)->account.name);
}

/* The accounts that have points, and the span of all of them. */
static int find_spans(struct export *export, struct equity *equity, int64_t *ret_first, int64_t *ret_last)
{
    int64_t first = INT64_MAX, last = INT64_MIN;
    size_t kept = 0;
    for (size_t i = 0; i < equity->n; i++) {
        struct equity_account one = equity->accounts[i];
        int r = db_day_equity_span(export->reader, one.account.number, &one.first_ns, &one.last_ns);
        if (r == -ENOENT)
            continue;
        if (r < 0)
            return r;
        first = one.first_ns < first ? one.first_ns : first;
        last = one.last_ns > last ? one.last_ns : last;
        equity->accounts[kept++] = one;
    }
    equity->n = kept;
    if (kept > 1)
        qsort(equity->accounts, kept, sizeof *equity->accounts, by_name);
    *ret_first = kept ? first / DB_DAY_NS : 0;
    *ret_last = kept ? last / DB_DAY_NS : -1;
    return 0;
}

int cli_export_equity(struct export *export)
{
    struct equity equity = {0};
    int64_t first = 0, last = -1;
    int r = db_reader_accounts(export->reader, take_account, &equity);
    r = r == 0 ? equity.r : r;
    if (r == 0)
        r = find_spans(export, &equity, &first, &last);
    first = first > export->from_day ? first : export->from_day;
    last = last < export->to_day ? last : export->to_day;
    for (equity.day = first; equity.day <= last && r == 0; equity.day++) {
        cli_export_progress(export, first, equity.day, last);
        r = cli_export_file(export,
                            &(struct export_file){EXPORT_EQUITY, cli_export_names[EXPORT_EQUITY], equity.day,
                                                  equity_rows, equity_keep, equity_column_list, &equity});
    }
    free(equity.accounts);
    return r;
}
