#include "tui/list_held.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/format.h"
#include "db/list_time.h"
#include "tui/study_rows.h"

enum kind {
    KIND_TEXT,
    KIND_COUNT, /* int64_t, below 0: none */
    KIND_TIME,  /* int64_t, ns; 0: none */
    KIND_AGE,   /* int64_t, ms, which filters have in seconds; below 0: none */
    KIND_REAL,
    KIND_PERCENT, /* likewise */
    KIND_SIDE,    /* text, "L" or "S", or "" */
    KIND_OF,      /* in percent */
};

struct held_column {
    const char *name;
    enum kind kind;
    bool down; /* the greatest first */
    size_t at;
    double (*of)(const struct model *model, const void *row); /* NaN: none */
};

static const enum db_list_value filtered[] = {
    [KIND_TEXT] = DB_LIST_TEXT, [KIND_COUNT] = DB_LIST_NUMBER, [KIND_TIME] = DB_LIST_TIME,
    [KIND_AGE] = DB_LIST_SPAN,  [KIND_REAL] = DB_LIST_NUMBER,  [KIND_PERCENT] = DB_LIST_CHANGE,
    [KIND_SIDE] = DB_LIST_TEXT, [KIND_OF] = DB_LIST_CHANGE,
};

/* Of a column of a row: a text, or a number; NULL and NaN: none. */
struct value {
    const char *text;
    double number;
};

static double share_of(const struct model *model, const void *row)
{
    const struct status_training *t = row;

    (void)model;
    return t->total_steps > 0 ? 100 * (double)t->steps / (double)t->total_steps : NAN;
}

static double change_of(const struct model *model, const void *row)
{
    return tui_history_change(&model->history, row);
}

/* clang-format off */
#define T(name, member)     {name, KIND_TEXT, false, offsetof(ROW, member), NULL}
#define COUNT(name, member) {name, KIND_COUNT, true, offsetof(ROW, member), NULL}
#define TIME(name, member)  {name, KIND_TIME, true, offsetof(ROW, member), NULL}
#define AGE(name, member)   {name, KIND_AGE, true, offsetof(ROW, member), NULL}
#define REAL(name, member)  {name, KIND_REAL, true, offsetof(ROW, member), NULL}
#define PERCENT(name, member) {name, KIND_PERCENT, true, offsetof(ROW, member), NULL}
#define SIDE(name, member)  {name, KIND_SIDE, false, offsetof(ROW, member), NULL}
#define OF(name, function)  {name, KIND_OF, true, 0, function}
#define OWN(name)           {name, KIND_OF, true, 0, NULL}

#define ROW struct status_training
static const struct held_column trainings[] = {
    OWN("newest"), T("training", training), T("state", state), OF("progress", share_of), COUNT("steps", steps),
    REAL("steps/s", steps_s), REAL("return", episode_return), AGE("age", age_ms), TIME("created", created_ns),
    TIME("started", started_ns), TIME("ended", ended_ns), T("device", device), T("backend", backend),
    COUNT("iteration", iteration), REAL("memory", memory_mib), COUNT("attempts", attempts),
    COUNT("priority", priority), T("verdict", verdict), T("cause", cause), T("reason", reason), T("study", study),
};
#undef ROW
#define ROW struct status_policy
static const struct held_column policies[] = {
    OWN("listed"), T("policy", policy), T("role", role), T("account", account), T("state", state),
    COUNT("trades", trades), REAL("sharpe", sharpe), PERCENT("return", return_pct), REAL("equity", equity),
    TIME("decided", decided_ns), TIME("since", since_ns), TIME("expires", expires_ns), T("verdict", verdict),
    T("training", training), T("interval", interval), T("backend", backend), T("reason", reason),
    T("detail", detail), T("limits", limits),
};
#undef ROW
#define ROW struct status_position
static const struct held_column positions[] = {
    OWN("listed"), T("symbol", symbol), SIDE("side", side), T("account", account), REAL("qty", qty),
    REAL("entry", entry), REAL("fifo", fifo_entry), REAL("mark", mark), REAL("uPnL", upnl), REAL("stop", stop),
    AGE("age", age_ms),
};
#undef ROW
#define ROW struct status_symbol
static const struct held_column prices[] = {
    OWN("listed"), OF("24h", change_of), T("symbol", symbol), REAL("last", last), REAL("bid", bid), REAL("ask", ask),
    REAL("mark", mark), COUNT("bars", bars), AGE("age", age_ms), T("book", book), T("trading", trading),
    T("market", market), T("venue", venue), T("interval", interval),
};
#undef ROW
/* clang-format on */

#define COLUMNS(rows) rows, (int)(sizeof(rows) / sizeof((rows)[0]))
static const struct {
    const struct held_column *columns;
    int n;
} tables[LIST_ALL - DB_LISTS] = {
    [LIST_TRAININGS - DB_LISTS] = {COLUMNS(trainings)},
    [LIST_POLICIES - DB_LISTS] = {COLUMNS(policies)},
    [LIST_POSITIONS - DB_LISTS] = {COLUMNS(positions)},
    [LIST_PRICES - DB_LISTS] = {COLUMNS(prices)},
};

const char *tui_list_held_column(int list, int column)
{
    if (list == LIST_TRIALS)
        return column < SORT_PARAMS ? tui_study_rows_name(NULL, column) : NULL;
    return column >= 0 && column < tables[list - DB_LISTS].n ? tables[list - DB_LISTS].columns[column].name
                                                             : NULL;
}

int tui_list_held_columns(int list)
{
    return list == LIST_TRIALS ? SORT_PARAMS : tables[list - DB_LISTS].n;
}

const char *tui_list_held_sort(const struct model *model, int list, int column)
{
    return list == LIST_TRIALS ? tui_study_rows_name(model->study_page, column)
                               : tui_list_held_column(list, column);
}

int tui_list_held_sorts(const struct model *model, int list)
{
    return list == LIST_TRIALS && model->study_page ? tui_study_rows_sorts(model->study_page)
                                                    : tui_list_held_columns(list);
}

int tui_list_held_total(const struct model *model, int list)
{
    const struct status *s = &model->status;

    return list == LIST_TRAININGS   ? s->n_trainings
           : list == LIST_POLICIES  ? s->n_policies
           : list == LIST_POSITIONS ? s->n_positions
           : list == LIST_PRICES    ? s->n_symbols
           : model->study_page      ? model->study_page->n_trials
                                    : 0;
}

const void *tui_list_held_row(const struct model *model, int list, int place)
{
    const struct status *s = &model->status;

    return list == LIST_TRAININGS   ? (const void *)tui_model_training(model, place)
           : list == LIST_POLICIES  ? (const void *)&s->policies[place]
           : list == LIST_POSITIONS ? (const void *)&s->positions[place]
           : list == LIST_PRICES    ? (const void *)&s->symbols[place]
                                    : (const void *)&model->study_page->trials[place];
}

const char *tui_list_held_name(const struct model *model, int list, const void *row)
{
    if (list == LIST_TRIALS)
        return model->study_page->members[((const struct tui_study_trial *)row)->member];
    return list == LIST_TRAININGS   ? ((const struct status_training *)row)->training
           : list == LIST_POLICIES  ? ((const struct status_policy *)row)->policy
           : list == LIST_POSITIONS ? ((const struct status_position *)row)->symbol
                                    : ((const struct status_symbol *)row)->symbol;
}

/* FNV-1a, 64 bits. */
static uint64_t hash(uint64_t before, const char *text)
{
    for (; *text; text++)
        before = (before ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return before;
}

int64_t tui_list_held_id(const struct model *model, int list, const void *row)
{
    uint64_t name = hash(UINT64_C(0xcbf29ce484222325), tui_list_held_name(model, list, row));
    char number[16];

    if (list == LIST_POSITIONS) /* several accounts may hold the symbol */
        name = hash(hash(name, "/"), ((const struct status_position *)row)->account);
    if (list == LIST_TRIALS) {
        snprintf(number, sizeof(number), "#%d", ((const struct tui_study_trial *)row)->number);
        name = hash(name, number);
    }
    int64_t id = (int64_t)(name & INT64_MAX);
    return id > 0 ? id : 1;
}

static struct value value_of(const struct model *model, const struct held_column *column, const void *row)
{
    const char *at = (const char *)row + column->at;
    struct value value = {.number = NAN};
    int64_t count;

    switch (column->kind) {
    case KIND_TEXT:
        value.text = *at ? at : NULL;
        break;
    case KIND_SIDE:
        value.text = *at == 'L' ? "L long" : *at == 'S' ? "S short" : *at ? at : NULL;
        break;
    case KIND_COUNT:
    case KIND_TIME:
        memcpy(&count, at, sizeof(count));
        value.number = count < 0 || (count == 0 && column->kind == KIND_TIME) ? NAN : (double)count;
        break;
    case KIND_AGE:
        memcpy(&count, at, sizeof(count));
        value.number = count < 0 ? NAN : (double)count / 1000;
        break;
    case KIND_REAL:
    case KIND_PERCENT:
        memcpy(&value.number, at, sizeof(value.number));
        break;
    case KIND_OF:
        value.number = column->of ? column->of(model, row) : NAN;
        break;
    }
    return value;
}

static bool has(const struct value *value, const char *words)
{
    return value->text && strcasestr(value->text, words);
}

/* The time as it is shown. */
static bool has_time(int64_t ns, const char *words)
{
    struct db_list_time time;
    char text[FORMAT_MAX];

    if (ns <= 0)
        return false;
    if (db_list_time_parse(words, cli_format_is_local(), &time))
        return db_list_time_matches(&time, '=', false, cli_format_is_local(), ns);
    return strstr(cli_format_time(text, ns), words) != NULL;
}

bool tui_list_held_value(const struct db_list_filter *filter, enum db_list_value value, double number)
{
    struct db_list_time time;

    if (isnan(number) || db_list_filter_wrong(filter, value))
        return false;
    if (value != DB_LIST_TIME || (filter->op != '=' && !filter->value[0]))
        return db_list_filter_compares(filter, value, number);
    if (filter->op == '=')
        return has_time((int64_t)number, filter->value);
    return db_list_time_parse(filter->value, cli_format_is_local(), &time) &&
           db_list_time_matches(&time, filter->op, filter->equal, cli_format_is_local(), (int64_t)number);
}

bool tui_list_held_time(int64_t ns, const char *words)
{
    return db_list_time_part(words) && has_time(ns, words);
}

static bool column_matches(const struct model *model, const struct held_column *column, const void *row,
                           const struct db_list_filter *filter)
{
    const struct value value = value_of(model, column, row);

    if (filtered[column->kind] == DB_LIST_TEXT)
        return filter->op == '=' && has(&value, filter->value);
    return tui_list_held_value(filter, filtered[column->kind], value.number);
}

/* The column that a filter names; NULL: none. */
static const struct held_column *named_column(int list, const struct db_list_filter *filter)
{
    const struct held_column *columns = tables[list - DB_LISTS].columns;

    for (int i = 1; i < tables[list - DB_LISTS].n; i++)
        if (db_list_filter_names(filter, columns[i].name))
            return &columns[i];
    return NULL;
}

static const char *filter_name(const struct model *model, int list, int i)
{
    return list == LIST_TRIALS ? tui_study_rows_filter(model->study_page, i)
                               : tui_list_held_column(list, i + 1);
}

static void put_unknown(const struct model *model, int list, const struct db_list_filter *filter,
                        char words[static LIST_HELD_WORDS_MAX])
{
    int n =
        snprintf(words, LIST_HELD_WORDS_MAX, "no column \"%.*s\": one of ", (int)filter->name, filter->words);
    const char *name;

    for (int i = 0; n < LIST_HELD_WORDS_MAX && (name = filter_name(model, list, i)); i++)
        n += snprintf(words + n, (size_t)(LIST_HELD_WORDS_MAX - n), "%s%s", i > 0 ? ", " : "", name);
}

bool tui_list_held_check(const struct model *model, int list, const char *text,
                         char ret_words[static LIST_HELD_WORDS_MAX])
{
    const struct db_list_filter filter = db_list_filter_parse(text);
    const struct held_column *column = list == LIST_TRIALS ? NULL : named_column(list, &filter);
    enum db_list_value value = column ? filtered[column->kind] : DB_LIST_TEXT;
    bool known = column != NULL;

    if (!filter.op || (list == LIST_TRIALS && !model->study_page))
        return true;
    if (list == LIST_TRIALS)
        known = tui_study_rows_names(model->study_page, &filter, &value);
    const char *wrong = known ? db_list_filter_wrong(&filter, value) : NULL;
    if (wrong)
        snprintf(ret_words, LIST_HELD_WORDS_MAX, "%.*s: \"%s\" %s", (int)filter.name, filter.words,
                 filter.value, wrong);
    else if (!known && db_list_filter_named(&filter))
        put_unknown(model, list, &filter, ret_words);
    else
        return true;
    return false;
}

bool tui_list_held_matches(const struct model *model, int list, const void *row, const char *text)
{
    if (list == LIST_TRIALS)
        return tui_study_rows_match(model->study_page, row, text);
    const struct db_list_filter filter = db_list_filter_parse(text);
    const struct held_column *columns = tables[list - DB_LISTS].columns, *named = named_column(list, &filter);
    const int n = tui_list_held_columns(list);
    bool found = false;

    if (!filter.words[0])
        return true;
    if (named)
        return column_matches(model, named, row, &filter) != filter.inverse;
    if (db_list_filter_named(&filter))
        return false;
    for (int i = 1; i < n && !found; i++) {
        struct value value = value_of(model, &columns[i], row);
        found = (filtered[columns[i].kind] == DB_LIST_TEXT && has(&value, filter.words)) ||
                (columns[i].kind == KIND_TIME && !isnan(value.number) &&
                 tui_list_held_time((int64_t)value.number, filter.words));
    }
    return found != filter.inverse;
}

/* Of two values of a column; what there is none of is last, whichever way. */
static int compare(const struct value *a, const struct value *b, bool down)
{
    bool a_none = !a->text && isnan(a->number), b_none = !b->text && isnan(b->number);
    int by;

    if (a_none || b_none)
        return a_none - b_none;
    if (a->text || b->text)
        by = strcmp(a->text ? a->text : "", b->text ? b->text : "");
    else
        by = (a->number > b->number) - (a->number < b->number);
    return down ? -by : by;
}

/* A row and its value in the column that is sorted by. */
struct keyed {
    struct value value;
    const void *row;
    int at; /* of the model's order, or of that inverted */
    bool down;
};

static int by_value(const void *a, const void *b)
{
    const struct keyed *p = a, *q = b;
    int by = compare(&p->value, &q->value, p->down);

    return by ? by : (p->at > q->at) - (p->at < q->at);
}

/* They are kept in their order by the page. */
static const void **trial_rows(const struct tui_study_page *page, const struct list_choice *choice,
                               int *ret_n)
{
    int n = 0;
    const struct tui_study_trial *const *in =
        page ? tui_study_rows(page, choice->sort, choice->invert, choice->filter, &n) : NULL;
    const void **rows = in && n > 0 ? malloc((size_t)n * sizeof(*rows)) : NULL;

    for (int i = 0; rows && i < n; i++)
        rows[i] = in[i];
    *ret_n = rows ? n : 0;
    return rows;
}

const void **tui_list_held_rows(const struct model *model, int list, const struct list_choice *choice,
                                int *ret_n)
{
    if (list == LIST_TRIALS)
        return trial_rows(model->study_page, choice, ret_n);
    const int columns = tui_list_held_columns(list), total = tui_list_held_total(model, list);
    const struct held_column *column =
        &tables[list - DB_LISTS].columns[choice->sort > 0 && choice->sort < columns ? choice->sort : 0];
    struct keyed *keyed = calloc((size_t)total + 1, sizeof(*keyed));
    const void **rows = calloc((size_t)total + 1, sizeof(*rows));
    int n = 0;

    for (int k = 0; keyed && rows && k < total; k++) {
        const void *row = tui_list_held_row(model, list, choice->invert ? total - 1 - k : k);
        if (tui_list_held_matches(model, list, row, choice->filter)) {
            keyed[n] = (struct keyed){value_of(model, column, row), row, n, column->down != choice->invert};
            n++;
        }
    }
    if (n > 1)
        qsort(keyed, (size_t)n, sizeof(*keyed), by_value);
    for (int i = 0; i < n; i++)
        rows[i] = keyed[i].row;
    free(keyed);
    *ret_n = n;
    if (n > 0)
        return rows;
    free(rows);
    return NULL;
}
