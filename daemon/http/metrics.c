#include "daemon/http/metrics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/http/metric_rows.h"
#include "daemon/process_figures.h"
#include "exchange/decimal_json.h"

enum { PATH_PART_MAX = 32 };

/* ---- the status' members ---- */

/* By a path, "gpu.devices", "gpu.devices[]"; "" is the object itself. */
static const json_t *find(const json_t *object, const char *path)
{
    while (object && *path && *path != '[') {
        char part[PATH_PART_MAX];
        size_t n = strcspn(path, ".[");
        snprintf(part, sizeof part, "%.*s", (int)n, path);
        object = json_object_get(object, part);
        path += n + (path[n] == '.');
    }
    return object;
}

/* ---- labels ---- */

struct labels {
    FILE *to;
    int n;
};

static void put_escaped(FILE *to, const char *text)
{
    for (; *text; text++)
        if (*text == '\n')
            fputs("\\n", to);
        else if (*text == '\\' || *text == '"')
            fprintf(to, "\\%c", *text);
        else
            fputc(*text, to);
}

static void put_label(struct labels *labels, const char *name, int len, const char *value)
{
    fprintf(labels->to, "%c%.*s=\"", labels->n++ ? ',' : '{', len, name);
    put_escaped(labels->to, value);
    fputc('"', labels->to);
}

/* The sample's begin: name, the row's labels of this element, and one more. */
static void put_name(FILE *to, const struct daemon_metric *row, const char *suffix, const json_t *element,
                     const char *more, const char *value)
{
    struct labels labels = {.to = to};
    fprintf(to, "%s%s%s", daemon_metric_prefix(row), row->name, suffix);
    for (const char *name = row->labels; *name; name += strspn(name, " ")) {
        char key[PATH_PART_MAX];
        int len = (int)strcspn(name, " ");
        snprintf(key, sizeof key, "%.*s", len, name);
        const char *text = json_string_value(json_object_get(element, key));
        put_label(&labels, name, len, text ? text : "");
        name += len;
    }
    if (more)
        put_label(&labels, more, (int)strlen(more), value);
    fputs(labels.n > 0 ? "} " : " ", to);
}

/* ---- samples ---- */

/* With the digits that the status has. */
static void put_number(FILE *to, const json_t *value, double factor)
{
    char *text = factor == 1 ? decimal_json_text(value, 15) : NULL;
    if (text)
        fprintf(to, "%s\n", text);
    else
        fprintf(to, "%.15g\n", decimal_json_value(value) * factor);
    free(text);
}

static void put_words(FILE *to, const struct daemon_metric *row, const json_t *element, const char *state)
{
    for (const char *word = row->words; *word; word += strspn(word, " ")) {
        char name[PATH_PART_MAX];
        size_t n = strcspn(word, " ");
        snprintf(name, sizeof name, "%.*s", (int)n, word);
        put_name(to, row, "", element, "state", name);
        fprintf(to, "%d\n", strcmp(name, state) == 0);
        word += n;
    }
}

static void put_map(FILE *to, const struct daemon_metric *row, const json_t *element, const json_t *map)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)map, key, value)
    {
        put_name(to, row, "", element, row->words, key);
        put_number(to, value, 1);
    }
    for (int i = 0; row->keys && json_is_object(map) && (key = row->keys(i)); i++) {
        if (json_object_get(map, key))
            continue;
        put_name(to, row, "", element, row->words, key);
        fputs("0\n", to);
    }
}

static void put_process(FILE *to, const struct daemon_metric *row, const struct process_figures *figures)
{
    const struct {
        const char *name;
        double value;
    } all[] = {{"cpu_s", figures->cpu_s},
               {"resident_bytes", figures->resident_bytes},
               {"virtual_bytes", figures->virtual_bytes},
               {"open_fds", figures->open_fds},
               {"max_fds", figures->max_fds},
               {"start_s", figures->start_s}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i].name, row->member) == 0 && !isnan(all[i].value)) {
            put_name(to, row, "", NULL, NULL, NULL);
            fprintf(to, "%.15g\n", all[i].value);
        }
}

static void put_times(FILE *to, const struct daemon_metric *row, const json_t *times)
{
    const json_t *commits = json_object_get(times, "commits"), *within = json_object_get(times, "within");
    json_t *bound;
    size_t i;
    json_array_foreach(within, i, bound)
    {
        char le[32];
        snprintf(le, sizeof le, "%.15g", json_number_value(json_object_get(bound, "ms")) / 1e3);
        put_name(to, row, "_bucket", NULL, "le", le);
        put_number(to, json_object_get(bound, "commits"), 1);
    }
    put_name(to, row, "_bucket", NULL, "le", "+Inf");
    put_number(to, commits, 1);
    put_name(to, row, "_sum", NULL, NULL, NULL);
    put_number(to, json_object_get(times, "sum_ms"), 1e-3);
    put_name(to, row, "_count", NULL, NULL, NULL);
    put_number(to, commits, 1);
}

static void put_sample(FILE *to, const struct daemon_metric *row, const json_t *element)
{
    const json_t *value = find(element, row->member);
    switch (row->kind) {
    case METRIC_NUMBER:
        if (isnan(decimal_json_value(value)))
            break;
        put_name(to, row, "", element, NULL, NULL);
        put_number(to, value, row->factor != 0 ? row->factor : 1);
        break;
    case METRIC_FLAG:
        if (!json_is_boolean(value))
            break;
        put_name(to, row, "", element, NULL, NULL);
        fprintf(to, "%d\n", json_is_true(value));
        break;
    case METRIC_ONE:
        put_name(to, row, "", element, NULL, NULL);
        fputs("1\n", to);
        break;
    case METRIC_SIZE:
        if (!json_is_array(value))
            break;
        put_name(to, row, "", element, NULL, NULL);
        fprintf(to, "%zu\n", json_array_size(value));
        break;
    case METRIC_WORDS:
        if (json_is_string(value))
            put_words(to, row, element, json_string_value(value));
        break;
    case METRIC_MAP:
        put_map(to, row, element, value);
        break;
    case METRIC_TIMES:
        if (json_is_object(value))
            put_times(to, row, value);
        break;
    case METRIC_PROCESS:
    case METRIC_LEFT_OUT:
        break;
    }
}

/* Returns how many elements it left out. */
static size_t put_samples(FILE *to, const struct daemon_metric *row, const json_t *list)
{
    if (!json_is_array(list)) {
        if (json_is_object(list))
            put_sample(to, row, list);
        return 0;
    }
    size_t n = json_array_size(list), shown = n < METRIC_SAMPLES_MAX ? n : METRIC_SAMPLES_MAX;
    for (size_t i = 0; i < shown; i++)
        put_sample(to, row, json_array_get(list, i));
    return n - shown;
}

void daemon_metrics_write(const json_t *status, FILE *to)
{
    size_t n, left_out = 0;
    struct process_figures process;
    const struct daemon_metric *rows = daemon_metric_rows(&n);
    daemon_process_figures(&process);
    for (size_t i = 0; i < n; i++) {
        const struct daemon_metric *row = &rows[i];
        const char *prefix = daemon_metric_prefix(row);
        fprintf(to, "# HELP %s%s %s.\n# TYPE %s%s %s\n", prefix, row->name, row->help, prefix, row->name,
                daemon_metric_type_name(row->type));
        if (row->kind == METRIC_PROCESS)
            put_process(to, row, &process);
        left_out += put_samples(to, row, find(status, row->list));
        if (row->kind == METRIC_LEFT_OUT) {
            put_name(to, row, "", NULL, NULL, NULL);
            fprintf(to, "%zu\n", left_out);
        }
    }
}

/* ---- the page ---- */

static void put_labels(FILE *to, const struct daemon_metric *row)
{
    const char *more = row->kind == METRIC_WORDS   ? "state"
                       : row->kind == METRIC_MAP   ? row->words
                       : row->kind == METRIC_TIMES ? "le"
                                                   : "";
    fprintf(to, "%s%s%s", row->labels, *row->labels && *more ? " " : "", more);
}

/* Where the status has it, "venues[].age_ms". */
static void put_place(FILE *to, const struct daemon_metric *row)
{
    if (row->kind == METRIC_ONE || row->kind == METRIC_LEFT_OUT || row->kind == METRIC_PROCESS)
        return;
    fprintf(to, "`%s%s%s`", row->list, *row->list ? "." : "", row->member);
}

void daemon_metrics_page(FILE *to)
{
    size_t n;
    const struct daemon_metric *rows = daemon_metric_rows(&n);
    fputs("| metric | type | labels | is | status |\n|---|---|---|---|---|\n", to);
    for (size_t i = 0; i < n; i++) {
        fprintf(to, "| `%s%s` | %s | ", daemon_metric_prefix(&rows[i]), rows[i].name,
                daemon_metric_type_name(rows[i].type));
        put_labels(to, &rows[i]);
        fprintf(to, " | %s | ", rows[i].help);
        put_place(to, &rows[i]);
        fputs(" |\n", to);
    }
}
