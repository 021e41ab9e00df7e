/* The rows of the two lists of sweeps, sorted and filtered by their columns as the other lists are. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/list_held.h"
#include "tui/sweep_page.h"

struct value {
    const char *text; /* NULL: it is a number; NaN: none */
    double number;
};

struct sweep_column {
    const char *name;
    enum db_list_value kind;
    bool down; /* the greatest first */
    struct value (*of)(const void *row);
};

static struct value number(double value)
{
    return (struct value){.number = value};
}

static struct value counted(int64_t value)
{
    return number(value < 0 ? NAN : (double)value);
}

static struct value text(const char *words)
{
    return (struct value){.text = words, .number = NAN};
}

/* ---- sweeps ---- */

static struct value started_of(const void *row)
{
    return number((double)((const struct sweep_entry *)row)->started_ns);
}

static struct value strategy_of(const void *row)
{
    return text(tui_sweep_entry_field(row, "strategy"));
}

static struct value bars_of(const void *row)
{
    return text(tui_sweep_entry_field(row, "bars"));
}

static struct value state_of(const void *row)
{
    return text(tui_sweep_state_word(((const struct sweep_entry *)row)->state));
}

static struct value sets_of(const void *row)
{
    const struct sweep_entry *entry = row;

    return counted(entry->settled ? entry->outcome.runs : entry->so_far.done);
}

static struct value best_dsr_of(const void *row)
{
    return number(((const struct sweep_entry *)row)->outcome.dsr);
}

static struct value pbo_of(const void *row)
{
    return number(100 * ((const struct sweep_entry *)row)->outcome.pbo);
}

static struct value verdict_of(const void *row)
{
    return text(((const struct sweep_entry *)row)->outcome.verdict);
}

static const struct sweep_column entry_columns[] = {
    {"started", DB_LIST_TIME, true, started_of}, {"strategy", DB_LIST_TEXT, false, strategy_of},
    {"bars", DB_LIST_TEXT, false, bars_of},      {"state", DB_LIST_TEXT, false, state_of},
    {"sets", DB_LIST_NUMBER, true, sets_of},     {"dsr", DB_LIST_NUMBER, true, best_dsr_of},
    {"pbo", DB_LIST_PERCENT, false, pbo_of},     {"verdict", DB_LIST_TEXT, false, verdict_of},
};

/* ---- sets ---- */

#define OF(name, expression) \
    static struct value name(const void *row) \
    { \
        const struct sweep_row *r = row; \
        return expression; \
    }
OF(rank_of, number(r->rank))
OF(metric_of, number(r->metric))
OF(dsr_of, number(r->dsr))
OF(return_of, number(r->return_pct))
OF(sharpe_of, number(r->sharpe))
OF(drawdown_of, number(r->drawdown_pct))
OF(trades_of, counted(r->trades))
OF(beside_of, number(r->beside > 0 ? (double)r->beside_hold / (double)r->beside : NAN))
OF(fees_of, number(r->fees_twice))
OF(slip_of, number(r->more_slippage))
OF(set_of, text(r->set))

static const struct sweep_column row_columns[] = {
    {"rank", DB_LIST_NUMBER, false, rank_of},    {"metric", DB_LIST_NUMBER, true, metric_of},
    {"dsr", DB_LIST_NUMBER, true, dsr_of},       {"return", DB_LIST_PERCENT, true, return_of},
    {"sharpe", DB_LIST_NUMBER, true, sharpe_of}, {"maxdd", DB_LIST_PERCENT, true, drawdown_of},
    {"trades", DB_LIST_NUMBER, true, trades_of}, {"beside", DB_LIST_NUMBER, true, beside_of},
    {"fees", DB_LIST_NUMBER, true, fees_of},     {"slip", DB_LIST_NUMBER, true, slip_of},
    {"set", DB_LIST_TEXT, false, set_of},
};

/* ---- both ---- */

struct rows_of {
    const struct sweep_column *columns;
    int n_columns;
    const char *rows;
    size_t size;
    int n;
    const struct sweep_list_view *view;
};

static struct rows_of shown(const struct sweep_page *page)
{
    if (page->mode == SWEEP_LIST)
        return (struct rows_of){entry_columns,
                                sizeof(entry_columns) / sizeof(entry_columns[0]),
                                (const char *)page->list.entries,
                                sizeof(page->list.entries[0]),
                                page->list.n,
                                &page->of_list};
    return (struct rows_of){row_columns,
                            sizeof(row_columns) / sizeof(row_columns[0]),
                            (const char *)page->detail.rows,
                            sizeof(*page->detail.rows),
                            page->detail.n_rows,
                            &page->of_table};
}

static const struct sweep_column *named(const struct rows_of *of, const struct db_list_filter *filter)
{
    for (int i = 0; i < of->n_columns; i++)
        if (db_list_filter_names(filter, of->columns[i].name))
            return &of->columns[i];
    return NULL;
}

static bool has(const struct value *value, const char *words)
{
    return value->text && strcasestr(value->text, words);
}

/* "fast=5" is no column's: a text like any, of the set. */
static bool matches(const struct rows_of *of, const void *row, const char *words)
{
    const struct db_list_filter filter = db_list_filter_parse(words);
    const struct sweep_column *column = filter.op ? named(of, &filter) : NULL;
    bool found = false;

    if (!filter.words[0])
        return true;
    if (column) {
        const struct value value = column->of(row);
        found = column->kind == DB_LIST_TEXT ? filter.op == '=' && has(&value, filter.value)
                                             : tui_list_held_value(&filter, column->kind, value.number);
    }
    for (int i = 0; i < of->n_columns && !column && !found; i++) {
        const struct value value = of->columns[i].of(row);
        found = has(&value, filter.words) || (of->columns[i].kind == DB_LIST_TIME && !isnan(value.number) &&
                                              tui_list_held_time((int64_t)value.number, filter.words));
    }
    return found != filter.inverse;
}

struct keyed {
    struct value value;
    int at;
    bool down;
};

static int compare(const void *a, const void *b)
{
    const struct keyed *x = a, *y = b;
    bool x_none = !x->value.text && isnan(x->value.number), y_none = !y->value.text && isnan(y->value.number);
    int by = 0;

    if (x_none || y_none)
        by = x_none - y_none;
    else if (x->value.text && y->value.text)
        by = strcmp(x->value.text, y->value.text) * (x->down ? -1 : 1);
    else
        by = ((x->value.number > y->value.number) - (x->value.number < y->value.number)) * (x->down ? -1 : 1);
    return by ? by : (x->at > y->at) - (x->at < y->at);
}

/* In the order of the result first: column 0 sorts nothing but the other way round. */
static int *rows(const struct rows_of *of, int *ret_n)
{
    const struct sweep_list_view *view = of->view;
    const struct sweep_column *column = &of->columns[view->sort];
    struct keyed *keyed = calloc((size_t)of->n + 1, sizeof(*keyed));
    int *ret = calloc((size_t)of->n + 1, sizeof(*ret)), n = 0;

    for (int k = 0; keyed && ret && k < of->n; k++) {
        int at = view->sort == 0 && view->invert ? of->n - 1 - k : k;
        const void *row = of->rows + (size_t)at * of->size;
        if (matches(of, row, view->filter)) {
            keyed[n] = (struct keyed){view->sort == 0 ? number(0) : column->of(row), at,
                                      column->down != view->invert};
            ret[n++] = at;
        }
    }
    if (view->sort > 0 && n > 1)
        qsort(keyed, (size_t)n, sizeof(*keyed), compare);
    for (int i = 0; i < n && view->sort > 0; i++)
        ret[i] = keyed[i].at;
    free(keyed);
    *ret_n = n;
    if (n > 0)
        return ret;
    free(ret);
    return NULL;
}

int *tui_sweep_page_entries(const struct sweep_page *page, int *ret_n)
{
    struct rows_of of = shown(page);

    *ret_n = 0;
    return page->mode == SWEEP_LIST ? rows(&of, ret_n) : NULL;
}

int *tui_sweep_page_rows(const struct sweep_page *page, int *ret_n)
{
    struct rows_of of = shown(page);

    *ret_n = 0;
    return page->mode == SWEEP_TABLE ? rows(&of, ret_n) : NULL;
}

int tui_sweep_page_columns(const struct sweep_page *page)
{
    return shown(page).n_columns;
}

const char *tui_sweep_page_sort(const struct sweep_page *page)
{
    struct rows_of of = shown(page);

    return of.columns[of.view->sort].name;
}

const char *tui_sweep_page_filter_wrong(const struct sweep_page *page, char ret[static 160])
{
    struct rows_of of = shown(page);
    const struct db_list_filter filter = db_list_filter_parse(of.view->filter);
    const struct sweep_column *column = filter.op ? named(&of, &filter) : NULL;
    const char *wrong = column ? db_list_filter_wrong(&filter, column->kind) : NULL;

    ret[0] = '\0';
    if (wrong)
        snprintf(ret, 160, "%s: \"%.60s\" %.60s", column->name, filter.value, wrong);
    return ret;
}
