#include "tui/sweep_files.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "cli/text.h"
#include "exchange/folder.h"
#include "exchange/whole_file.h"
#include "record/json.h"

enum { TAIL = 8192 /* bytes of the progress that are read, its end */ };

const char *tui_sweep_state_word(enum sweep_state state)
{
    static const char *const words[] = {"running", "done", "stopped", "failed"};

    return words[state];
}

bool tui_sweep_folder(char ret[static PATH_MAX])
{
    return folder_cache("dashboard-sweeps", NULL, ret);
}

bool tui_sweep_path(const char *id, const char *file, char ret[static PATH_MAX])
{
    char folder[PATH_MAX];

    return tui_sweep_folder(folder) &&
           snprintf(ret, PATH_MAX, "%s/%s%s%s", folder, id, *file ? "/" : "", file) < PATH_MAX;
}

bool tui_sweep_is_running(const char *id)
{
    char path[PATH_MAX];
    int fd = tui_sweep_path(id, "lock", path) ? open(path, O_RDWR | O_CLOEXEC) : -1;

    if (fd < 0)
        return false;
    bool held = flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK; /* others may ask meanwhile */
    close(fd);
    return held;
}

const char *tui_sweep_entry_field(const struct sweep_entry *entry, const char *name)
{
    const char *value = json_string_value(json_object_get(entry->fields, name));

    return value ? value : "";
}

/* ---- JSON ---- */

static json_t *load(const char *id, const char *file)
{
    char path[PATH_MAX];
    json_t *object = tui_sweep_path(id, file, path) ? json_load_file(path, 0, NULL) : NULL;

    return object;
}

static bool is_of(const json_t *object, const char *schema)
{
    const char *text = json_string_value(json_object_get(object, "schema"));

    return text && strcmp(text, schema) == 0;
}

static int64_t count(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    return json_is_integer(value) ? json_integer_value(value) : -1;
}

static void text(char *to, size_t size, const json_t *object, const char *key)
{
    const char *value = json_string_value(json_object_get(object, key));

    cli_text_clean(to, size, value ? value : "");
}

/* "fast=5 slow=20", as cli_sweep_text() has it. */
static void set_text(const json_t *params, char ret[static SWEEP_VALUES_MAX])
{
    const char *name;
    json_t *value;
    size_t at = 0;

    ret[0] = '\0';
    json_object_foreach((json_t *)(uintptr_t)params, name, value)
    {
        if (at >= SWEEP_VALUES_MAX)
            return;
        at += json_is_string(value) ? (size_t)snprintf(ret + at, SWEEP_VALUES_MAX - at, "%s%s=%s",
                                                       at > 0 ? " " : "", name, json_string_value(value))
                                    : (size_t)snprintf(ret + at, SWEEP_VALUES_MAX - at, "%s%s=%.12g",
                                                       at > 0 ? " " : "", name, json_number_value(value));
    }
}

/* ---- the list ---- */

static void take_so_far(struct sweep_so_far *so_far, const json_t *line)
{
    const json_t *best = json_object_get(line, "best");

    so_far->done = count(line, "done");
    so_far->of = count(line, "of");
    so_far->seconds = record_json_number(line, "seconds");
    so_far->left_s = record_json_number(line, "left_s");
    text(so_far->stage, sizeof(so_far->stage), line, "stage");
    so_far->value = record_json_number(best, "value");
    so_far->trades = count(best, "trades");
    text(so_far->set, sizeof(so_far->set), best, "text");
    text(so_far->metric, sizeof(so_far->metric), best, "metric");
}

/* Its last whole line of progress, and the last complaint. */
static void read_progress(struct sweep_entry *entry)
{
    char path[PATH_MAX], bytes[TAIL + 1], *line, *next = bytes;
    const char *prefix = "papertape: sweep: ";
    int fd = tui_sweep_path(entry->id, "progress", path) ? open(path, O_RDONLY | O_CLOEXEC) : -1;

    if (fd < 0)
        return;
    off_t size = lseek(fd, 0, SEEK_END), from = size > TAIL ? size - TAIL : 0;
    ssize_t n = pread(fd, bytes, TAIL, from);
    close(fd);
    if (n <= 0)
        return;
    bytes[n] = '\0';
    while ((line = strsep(&next, "\n")) && next) {
        json_t *object = line[0] == '{' ? json_loads(line, 0, NULL) : NULL;
        if (is_of(object, "papertape.sweep_progress/1"))
            take_so_far(&entry->so_far, object);
        else if (strncmp(line, prefix, strlen(prefix)) == 0 && !strstr(line, ": note: "))
            cli_text_clean(entry->complaint, sizeof(entry->complaint), line + strlen(prefix));
        json_decref(object);
    }
}

static void one_line(char to[static SWEEP_WORDS_MAX], const char *sentence)
{
    char line[SWEEP_WORDS_MAX];

    snprintf(line, sizeof(line), "%s", sentence);
    for (char *c = line; (c = strchr(c, '\n'));)
        *c = ' ';
    cli_text_clean(to, SWEEP_WORDS_MAX, line);
}

void tui_sweep_outcome_take(struct sweep_outcome *outcome, const json_t *result)
{
    const json_t *luck = json_object_get(result, "luck"), *periods = json_object_get(result, "periods"),
                 *best = json_array_get(json_object_get(result, "top"), 0),
                 *words = json_object_get(luck, "words");

    outcome->runs = count(result, "runs");
    outcome->combinations = count(result, "combinations");
    outcome->few = count(result, "few_trades");
    outcome->screened = json_is_true(json_object_get(result, "screened"));
    outcome->exact = count(result, "runs_exact");
    outcome->periods = (int64_t)json_array_size(json_object_get(periods, "windows"));
    outcome->period_days = count(periods, "days");
    outcome->periods_above = count(best, "periods_above_0");
    outcome->period_median = record_json_number(best, "periods_sharpe_median");
    outcome->seconds = record_json_number(result, "seconds");
    outcome->dsr = record_json_number(best, "dsr");
    outcome->sharpe = record_json_number(best, "sharpe");
    outcome->pbo = record_json_number(luck, "pbo");
    text(outcome->universe, sizeof(outcome->universe), json_object_get(result, "universe"), "rule");
    text(outcome->verdict, sizeof(outcome->verdict), luck, "verdict");
    text(outcome->metric, sizeof(outcome->metric), result, "metric");
    for (int i = 0; i < SWEEP_SENTENCES; i++) {
        const char *sentence = json_string_value(json_array_get(words, (size_t)i));
        one_line(outcome->sentences[i], sentence ? sentence : "");
    }
}

/* Of one that has ended. */
static void settle(struct sweep_entry *entry)
{
    json_t *result = load(entry->id, "result.json");

    entry->settled = true;
    if (is_of(result, "papertape.sweep/1")) {
        tui_sweep_outcome_take(&entry->outcome, result);
        entry->state = json_is_true(json_object_get(result, "stopped")) ? SWEEP_STOPPED : SWEEP_DONE;
        entry->complaint[0] = '\0';
    } else {
        entry->state =
            strstr(entry->complaint, "stopped before the first run") ? SWEEP_STOPPED : SWEEP_FAILED;
        if (!entry->complaint[0])
            snprintf(entry->complaint, sizeof(entry->complaint), "it ended without a result");
    }
    json_decref(result);
}

static void clear(struct sweep_entry *entry)
{
    entry->settled = false;
    entry->complaint[0] = '\0';
    entry->so_far = (struct sweep_so_far){.done = -1, .seconds = NAN, .left_s = NAN, .value = NAN};
    entry->outcome = (struct sweep_outcome){.runs = -1, .combinations = -1, .few = -1, .period_median = NAN};
    entry->outcome.dsr = entry->outcome.sharpe = entry->outcome.pbo = entry->outcome.seconds = NAN;
}

static pid_t read_pid(const char *id)
{
    char path[PATH_MAX];
    long pid = 0;
    FILE *file = tui_sweep_path(id, "pid", path) ? fopen(path, "re") : NULL;

    if (file && fscanf(file, "%ld", &pid) != 1)
        pid = 0;
    if (file)
        fclose(file);
    return (pid_t)pid;
}

/* True: it is another than before. */
static bool look(struct sweep_entry *entry)
{
    const int64_t done = entry->so_far.done;
    const enum sweep_state before = entry->state;
    bool running = tui_sweep_is_running(entry->id); /* before its files: what it wrote is whole, then */

    if (entry->settled && !running)
        return false;
    if (entry->settled)
        clear(entry);
    entry->state = SWEEP_RUNNING;
    if (!entry->pid || before != SWEEP_RUNNING)
        entry->pid = read_pid(entry->id);
    read_progress(entry);
    if (!running)
        settle(entry);
    return entry->state != before || entry->so_far.done != done;
}

static bool open_entry(struct sweep_entry *entry, const char *id)
{
    *entry = (struct sweep_entry){.state = SWEEP_RUNNING};
    clear(entry);
    snprintf(entry->id, sizeof(entry->id), "%s", id);
    json_t *object = load(id, "fields.json");
    if (is_of(object, "papertape.dashboard_sweep/1")) {
        entry->fields = json_incref(json_object_get(object, "fields"));
        entry->started_ns = count(object, "started_ms") * 1000000;
    }
    json_decref(object);
    return entry->fields != NULL;
}

struct sweep_names {
    char (*ids)[SWEEP_ID_MAX];
    int n, cap;
};

static int add_name(void *ctx, const char *name)
{
    struct sweep_names *names = ctx;

    if (strlen(name) >= SWEEP_ID_MAX || strspn(name, "0123456789") != strlen(name))
        return 0;
    if (names->n == names->cap) {
        int cap = names->cap ? 2 * names->cap : 64;
        void *moved = realloc(names->ids, (size_t)cap * sizeof(*names->ids));
        if (!moved)
            return -ENOMEM;
        names->ids = moved;
        names->cap = cap;
    }
    strcpy(names->ids[names->n++], name);
    return 0;
}

/* The newest first: a name is when it was started. */
static int by_name(const void *a, const void *b)
{
    return -strcmp(a, b);
}

struct sweep_entry *tui_sweep_list_find(const struct sweep_list *list, const char *id)
{
    for (int i = 0; i < list->n; i++)
        if (strcmp(list->entries[i].id, id) == 0)
            return (struct sweep_entry *)(uintptr_t)&list->entries[i];
    return NULL;
}

/* The entries of these names, those that were there taken over. */
static bool take_names(struct sweep_list *list, const struct sweep_names *names)
{
    struct sweep_list *now = calloc(1, sizeof(*now));
    bool changed = false;

    if (!now)
        return false;
    for (int i = 0; i < names->n && now->n < SWEEP_ENTRIES_MAX; i++) {
        struct sweep_entry *known = tui_sweep_list_find(list, names->ids[i]), *entry = &now->entries[now->n];
        if (known) {
            *entry = *known;
            known->fields = NULL;
        } else if (!open_entry(entry, names->ids[i])) {
            continue;
        }
        changed |= look(entry) || !known;
        now->n++;
    }
    changed |= now->n != list->n;
    tui_sweep_list_finish(list);
    *list = *now;
    free(now);
    return changed;
}

bool tui_sweep_list_read(struct sweep_list *list)
{
    char folder[PATH_MAX];
    struct sweep_names names = {0};
    int r = tui_sweep_folder(folder) ? folder_each(folder, add_name, &names) : -ENOENT;

    r = r == -ENOENT ? 0 : r;
    if (names.n > 0)
        qsort(names.ids, (size_t)names.n, sizeof(*names.ids), by_name);
    bool changed = take_names(list, &names);
    free(names.ids);
    if (r < 0)
        snprintf(list->words, sizeof(list->words), "%.300s: %s", folder, strerror(-r));
    return changed;
}

void tui_sweep_list_finish(struct sweep_list *list)
{
    for (int i = 0; i < list->n; i++)
        json_decref(list->entries[i].fields);
    *list = (struct sweep_list){0};
}

/* ---- one of them ---- */

static void take_row(struct sweep_row *row, const json_t *object, const char *metric)
{
    char name[SWEEP_METRIC_NAME_MAX];
    int which = backtest_sweep_metric_parse(metric);

    set_text(json_object_get(object, "params"), row->set);
    row->metric =
        which >= 0 ? record_json_number(object, cli_sweep_metric_name((enum sweep_metric)which, name)) : NAN;
    row->dsr = record_json_number(object, "dsr");
    row->return_pct = record_json_number(object, "return_pct");
    row->sharpe = record_json_number(object, "sharpe");
    row->drawdown_pct = record_json_number(object, "max_drawdown_pct");
    row->trades = count(object, "trades");
    row->beside = count(object, "beside");
    row->beside_hold = count(object, "beside_hold");
    row->fees_twice = record_json_number(object, "sharpe_fees_twice");
    row->more_slippage = record_json_number(object, "sharpe_more_slippage");
}

static int read_rows(struct sweep_detail *detail, const struct sweep_entry *entry)
{
    static const char *const own[] = {"dsr", "return", "sharpe", "max_drawdown"};
    json_t *result = load(entry->id, "result.json");
    const json_t *top = json_object_get(result, "top");
    size_t n = json_array_size(top);

    detail->has_metric = true;
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
        detail->has_metric &= strcmp(entry->outcome.metric, own[i]) != 0;
    detail->rows = calloc(n + 1, sizeof(*detail->rows));
    for (size_t i = 0; detail->rows && i < n; i++) {
        struct sweep_row *row = &detail->rows[detail->n_rows++];
        take_row(row, json_array_get(top, i), entry->outcome.metric);
        row->rank = detail->n_rows;
    }
    json_decref(result);
    return detail->rows ? 0 : -ENOMEM;
}

/* The columns of rows.csv that are read: an axis, a metric, or one of these. */
enum { COLUMN_TRADES = -1, COLUMN_EQUITY = -2, COLUMN_OTHER = -3, COLUMN_AXIS = 100, COLUMNS_MOST = 80 };

static int column_of(const char *name)
{
    int metric = backtest_sweep_metric_parse(name);

    return metric >= 0                   ? metric
           : strcmp(name, "trades") == 0 ? COLUMN_TRADES
           : strcmp(name, "equity") == 0 ? COLUMN_EQUITY
                                         : COLUMN_OTHER;
}

/* Axes are the columns before the first metric. */
static int read_header(struct sweep_detail *detail, char *line, int columns[static COLUMNS_MOST])
{
    char *next = line, *name;
    int n = 0;
    bool axes = true;

    while ((name = strsep(&next, ",\n")) && *name && n < COLUMNS_MOST) {
        axes &= strcmp(name, backtest_sweep_metric_name(SWEEP_SHARPE)) != 0;
        columns[n++] = axes ? COLUMN_AXIS + detail->n_axes : column_of(name);
        if (!axes)
            continue;
        if (detail->n_axes == STRATEGY_PARAMS_MAX)
            return -EINVAL;
        snprintf(detail->axes[detail->n_axes++].name, STRATEGY_PARAM_NAME_MAX, "%s", name);
    }
    return detail->n_axes > 0 && !axes ? n : -EINVAL;
}

/* A number, or the place of a word, which is added where it is new. */
static double axis_value(struct sweep_axis_names *axis, const char *word)
{
    char *end;
    double value = strtod(word, &end);
    int i = 0;

    if (end > word && !*end)
        return value;
    while (i < axis->n_words && strcmp(axis->words[i], word) != 0)
        i++;
    if (i == axis->n_words && i < STRATEGY_WORDS_MAX)
        snprintf(axis->words[axis->n_words++], STRATEGY_WORD_MAX, "%s", word);
    return i;
}

static double figure(const char *word)
{
    char *end;
    double value = strtod(word, &end);

    return end > word && !*end ? value : NAN;
}

static void take_cell(struct sweep_detail *detail, struct sweep_run_row *run, int column, const char *word)
{
    char name[SWEEP_METRIC_NAME_MAX];

    if (column >= COLUMN_AXIS)
        run->values[column - COLUMN_AXIS] = axis_value(&detail->axes[column - COLUMN_AXIS], word);
    else if (column == COLUMN_TRADES)
        run->trades = strtoll(word, NULL, 10);
    else if (column == COLUMN_EQUITY)
        run->equity = figure(word);
    else if (column != COLUMN_OTHER)
        run->metrics[column] =
            figure(word) * (strstr(cli_sweep_metric_name((enum sweep_metric)column, name), "_pct") ? 100 : 1);
}

static int read_lines(struct sweep_detail *detail, char *at, const int *columns, int n_columns)
{
    size_t cap = 0;
    char *line;

    while ((line = strsep(&at, "\n")) && *line) {
        if (detail->n_runs == SWEEP_RUNS_MOST) {
            snprintf(detail->words, sizeof(detail->words), "the map has the best %d sets: rows.csv has all",
                     SWEEP_RUNS_MOST);
            break;
        }
        if (detail->n_runs == cap) {
            cap = cap ? 2 * cap : 256;
            void *moved = realloc(detail->runs, cap * sizeof(*detail->runs));
            if (!moved)
                return -ENOMEM;
            detail->runs = moved;
        }
        struct sweep_run_row *run = &detail->runs[detail->n_runs++];
        *run = (struct sweep_run_row){.equity = NAN};
        for (int m = 0; m < SWEEP_RUN_METRICS; m++)
            run->metrics[m] = NAN;
        for (int i = 0; i < n_columns && line; i++)
            take_cell(detail, run, columns[i], strsep(&line, ","));
    }
    return 0;
}

static int read_csv(struct sweep_detail *detail, const char *id)
{
    int columns[COLUMNS_MOST], n;
    char path[PATH_MAX], *bytes = NULL;
    size_t len;
    int r = tui_sweep_path(id, "rows.csv", path) ? whole_file_read(path, (size_t)1 << 30, &bytes, &len)
                                                 : -ENAMETOOLONG;

    detail->axes = calloc(STRATEGY_PARAMS_MAX, sizeof(*detail->axes));
    if (r == 0 && !detail->axes)
        r = -ENOMEM;
    char *end = r == 0 ? strchr(bytes, '\n') : NULL;
    if (r == 0 && !end)
        r = -EINVAL;
    if (r == 0) {
        *end = '\0';
        n = read_header(detail, bytes, columns);
        r = n < 0 ? n : read_lines(detail, end + 1, columns, n);
    }
    free(bytes);
    return r;
}

int tui_sweep_detail_read(struct sweep_detail *detail, const struct sweep_entry *entry)
{
    char path[PATH_MAX] = "";

    tui_sweep_detail_finish(detail);
    snprintf(detail->id, sizeof(detail->id), "%s", entry->id);
    int r = read_rows(detail, entry);
    r = r == 0 ? read_csv(detail, entry->id) : r;
    if (r < 0 && tui_sweep_path(entry->id, "rows.csv", path))
        snprintf(detail->words, sizeof(detail->words), "%.300s: %s", path,
                 r == -EINVAL ? "no table of a sweep" : strerror(-r));
    return r;
}

void tui_sweep_detail_finish(struct sweep_detail *detail)
{
    free(detail->rows);
    free(detail->axes);
    free(detail->runs);
    *detail = (struct sweep_detail){0};
}

const char *tui_sweep_value(const struct sweep_axis_names *axis, double value,
                            char ret[static STRATEGY_WORD_MAX])
{
    if (value >= 0 && value < axis->n_words)
        return axis->words[(int)value];
    snprintf(ret, STRATEGY_WORD_MAX, "%.12g", value);
    return ret;
}

const char *tui_sweep_run_set(const struct sweep_detail *detail, const struct sweep_run_row *run,
                              char ret[static SWEEP_VALUES_MAX])
{
    char word[STRATEGY_WORD_MAX];
    size_t at = 0;

    ret[0] = '\0';
    for (int i = 0; i < detail->n_axes && at < SWEEP_VALUES_MAX; i++)
        at += (size_t)snprintf(ret + at, SWEEP_VALUES_MAX - at, "%s%s=%s", i > 0 ? " " : "",
                               detail->axes[i].name, tui_sweep_value(&detail->axes[i], run->values[i], word));
    return ret;
}
