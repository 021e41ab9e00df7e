/* The tables of a shared object: found, checked, made rows. */
#include "indicators_gpu/plugin_rows.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/fail.h"
#include "indicators_gpu/plugin_watch.h"

enum { NAME_MOST = 31, SUMMARY_MOST = 160 };

/* The rows of a file that was loaded: kept as long as the file, for the process's life. */
struct plugin_rows {
    const struct indicator_plugin_file *file;
    size_t n;
    struct indicator_plugin *rows[INDICATOR_PLUGIN_ROWS_MAX];
};

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static struct plugin_rows *files[INDICATOR_PLUGIN_FILES_MAX];
static size_t n_files;

/* ---- checks ---- */

struct refusal {
    const char *path, *name;
    char *err;
    size_t cap;
};

#define refuse(to, format, ...) \
    fail_with(-EINVAL, (to)->err, (to)->cap, "%.200s: indicator %.31s: " format, (to)->path, (to)->name, \
              __VA_ARGS__)

/* Lower case letters, digits and _, a letter first. */
static bool is_name(const char *text)
{
    size_t n = text ? strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_") : 0;
    return n > 0 && n <= NAME_MOST && text[n] == '\0' && text[0] >= 'a' && text[0] <= 'z';
}

static bool is_line(const char *text)
{
    size_t n = 0;
    for (; text && text[n]; n++)
        if ((unsigned char)text[n] < ' ' || n == SUMMARY_MOST)
            return false;
    return n > 0;
}

static int check_option(const struct papertape_indicator *t, uint32_t i, const struct refusal *to)
{
    const struct papertape_option *option = &t->options[i];
    if (!is_name(option->name))
        return refuse(to, "the name of option %u: lower case letters, digits and _ are needed", i + 1);
    for (uint32_t k = 0; k < i; k++)
        if (strcmp(t->options[k].name, option->name) == 0)
            return refuse(to, "two options are called %.31s", option->name);
    if (!(option->min >= 0) || !(option->max >= option->min) || !isfinite(option->max))
        return refuse(to,
                      "option %.31s: its range %g to %g: finite numbers from 0, the least first, are needed",
                      option->name, option->min, option->max);
    if (!(option->value >= option->min && option->value <= option->max))
        return refuse(to, "option %.31s: its default %g is not within %g to %g", option->name, option->value,
                      option->min, option->max);
    if (option->whole && option->value != floor(option->value))
        return refuse(to, "option %.31s: its default %g is no whole number", option->name, option->value);
    return 0;
}

static int check_outputs(const struct papertape_indicator *t, const struct refusal *to)
{
    if (t->n_outputs < 1 || t->n_outputs > INDICATOR_OUTPUTS_MAX || !t->outputs)
        return refuse(to, "%u outputs: there are 1 to %d", t->n_outputs, INDICATOR_OUTPUTS_MAX);
    if (t->n_outputs == 1)
        return t->outputs[0] && (t->outputs[0][0] == '\0' || is_name(t->outputs[0]))
                   ? 0
                   : refuse(to, "the only output's name: \"\" is right%s", "");
    for (uint32_t i = 0; i < t->n_outputs; i++) {
        if (!is_name(t->outputs[i]))
            return refuse(to, "the name of output %u: lower case letters, digits and _ are needed", i + 1);
        for (uint32_t k = 0; k < i; k++)
            if (strcmp(t->outputs[k], t->outputs[i]) == 0)
                return refuse(to, "two outputs are called %.31s", t->outputs[i]);
    }
    return 0;
}

static int check_table(const struct papertape_indicator *t, const struct refusal *to)
{
    const unsigned all =
        PAPERTAPE_OPEN | PAPERTAPE_HIGH | PAPERTAPE_LOW | PAPERTAPE_CLOSE | PAPERTAPE_VOLUME | PAPERTAPE_TIME;
    if (!is_line(t->summary))
        return refuse(to, "its summary: one line of at most %d bytes is needed", SUMMARY_MOST);
    if (t->inputs == 0 || (t->inputs & ~all))
        return refuse(to, "inputs 0x%x: bits of enum papertape_input_bit are needed", t->inputs);
    if (t->n_options > INDICATOR_OPTIONS_MAX || (t->n_options > 0 && !t->options))
        return refuse(to, "%u options: there are at most %d", t->n_options, INDICATOR_OPTIONS_MAX);
    for (uint32_t i = 0; i < t->n_options; i++) {
        int r = check_option(t, i, to);
        if (r < 0)
            return r;
    }
    if (!t->lookback || !t->state_size || !t->update)
        return refuse(to, "%s: the function is missing",
                      !t->lookback     ? "lookback"
                      : !t->state_size ? "state_size"
                                       : "update");
    return check_outputs(t, to);
}

int indicator_plugin_fits(const struct indicator_spec *spec, char *err, size_t err_cap)
{
    const struct indicator_plugin *plugin = spec->row->plugin;
    const struct refusal to = {plugin->file->path, spec->row->name, err, err_cap};
    size_t bytes = INDICATOR_PLUGIN_CALL(plugin->file, plugin->table.state_size(spec->options));
    size_t bars = INDICATOR_PLUGIN_CALL(plugin->file, plugin->table.lookback(spec->options));
    if (bytes > INDICATOR_PLUGIN_STATE_MAX)
        return refuse(&to, "%zu bytes of memory with these options: at most %d", bytes,
                      INDICATOR_PLUGIN_STATE_MAX);
    if (bars > INDICATOR_PLUGIN_LOOKBACK_MAX)
        return refuse(&to, "%zu bars before the first output with these options: at most %d", bars,
                      INDICATOR_PLUGIN_LOOKBACK_MAX);
    return 0;
}

/* ---- rows ---- */

static size_t warmup_unused(const double options[], enum indicator_precision precision)
{
    (void)options, (void)precision;
    return INDICATOR_FOREVER; /* indicator_warmup() asks the table */
}

static void set_label(struct indicator_plugin *plugin)
{
    const char *slash = strrchr(plugin->file->path, '/'), *name = slash ? slash + 1 : plugin->file->path;
    size_t n = strlen(name);
    n -= n > 3 ? 3 : 0;
    snprintf(plugin->label, sizeof plugin->label, "%.*s", (int)n, name);
    for (char *c = plugin->label; *c; c++)
        if (*c <= ' ' || *c > '~' || *c == ',' || *c == '"' || *c == '@')
            *c = '_';
}

static void make_row(struct indicator_plugin *plugin)
{
    const struct papertape_indicator *t = &plugin->table;
    struct indicator *row = &plugin->row;
    *row = (struct indicator){.name = t->name,
                              .summary = t->summary,
                              .family = "plugins",
                              .source = plugin->file->path,
                              .inputs = t->inputs,
                              .n_options = t->n_options,
                              .n_outputs = t->n_outputs,
                              .tolerance = {INDICATOR_OF_VALUE, 0, 6e-8}, /* the reference; rounded */
                              .lookback = t->lookback,
                              .warmup = warmup_unused,
                              .plugin = plugin};
    for (uint32_t i = 0; i < t->n_options; i++)
        row->options[i] =
            (struct indicator_option){t->options[i].name, t->options[i].value, t->options[i].min,
                                      t->options[i].max, t->options[i].whole != 0};
    for (uint32_t i = 0; i < t->n_outputs; i++)
        row->outputs[i] = t->outputs[i];
    set_label(plugin);
}

static struct indicator_plugin *row_called(const struct plugin_rows *of, const char *name, size_t len)
{
    for (size_t i = 0; i < of->n; i++)
        if (strlen(of->rows[i]->row.name) == len && strncmp(of->rows[i]->row.name, name, len) == 0)
            return of->rows[i];
    return NULL;
}

static int add_row(struct plugin_rows *of, const struct papertape_indicator *table, char *err, size_t err_cap)
{
    const char *path = of->file->path;
    if (table->version != PAPERTAPE_INDICATOR_VERSION || table->size < sizeof *table)
        return fail_with(-EINVAL, err, err_cap,
                         "%.200s: the table of indicator %zu has version %u and %u bytes: %d and sizeof are "
                         "needed",
                         path, of->n + 1, table->version, table->size, PAPERTAPE_INDICATOR_VERSION);
    struct indicator_plugin *plugin = calloc(1, sizeof *plugin);
    if (!plugin)
        return fail_with(-ENOMEM, err, err_cap, "%.200s: out of memory", path);
    plugin->file = of->file;
    const char *name = table->name;
    int r = 0;
    if (!is_name(name))
        r = fail_with(-EINVAL, err, err_cap,
                      "%.200s: the name of indicator %zu: lower case letters, digits and _ are needed", path,
                      of->n + 1);
    else if (row_called(of, name, strlen(name)))
        r = fail_with(-EINVAL, err, err_cap, "%.200s: two indicators are called %s", path, name);
    else if (indicator_plugin_copy(table, table->size, &plugin->table, sizeof plugin->table) < 0)
        r = fail_with(-EINVAL, err, err_cap,
                      "%.200s: indicator %s has what this program does not know: papertape is older than "
                      "the header that it was built with",
                      path, name);
    const struct refusal to = {path, is_name(name) ? name : "", err, err_cap};
    if (r == 0)
        r = check_table(&plugin->table, &to);
    if (r == 0) {
        make_row(plugin);
        struct indicator_spec spec = {.row = &plugin->row};
        for (size_t i = 0; i < plugin->row.n_options; i++)
            spec.options[i] = plugin->row.options[i].value;
        r = indicator_plugin_fits(&spec, err, err_cap);
    }
    if (r < 0) {
        free(plugin);
        return r;
    }
    of->rows[of->n++] = plugin;
    return 0;
}

static int add_rows(struct plugin_rows *of, char *err, size_t err_cap)
{
    const void *table;
    int r = indicator_plugin_table(of->file, "papertape_indicator", "papertape/indicator.h",
                                   sizeof(struct papertape_indicator), &table, err, err_cap);
    const struct papertape_indicator *next = r == 0 ? table : NULL;
    for (; next && r == 0; next = next->next) {
        if (of->n == INDICATOR_PLUGIN_ROWS_MAX)
            return fail_with(-EINVAL, err, err_cap, "%.200s: more than %d indicators, or a ring of them",
                             of->file->path, INDICATOR_PLUGIN_ROWS_MAX);
        r = add_row(of, next, err, err_cap);
    }
    return r;
}

/* With the gate closed: as many as there can be files. */
static int rows_of(const struct indicator_plugin_file *file, struct plugin_rows **ret, char *err,
                   size_t err_cap)
{
    for (size_t i = 0; i < n_files; i++)
        if (files[i]->file == file) {
            *ret = files[i];
            return 0;
        }
    struct plugin_rows *rows = calloc(1, sizeof *rows);
    if (!rows)
        return fail_with(-ENOMEM, err, err_cap, "%.200s: out of memory", file->path);
    rows->file = file;
    int r = add_rows(rows, err, err_cap);
    if (r < 0) {
        for (size_t i = 0; i < rows->n; i++)
            free(rows->rows[i]);
        free(rows);
        return r;
    }
    *ret = files[n_files++] = rows;
    return 0;
}

static int not_there(const struct plugin_rows *rows, const char *name, size_t len, char *err, size_t err_cap)
{
    char names[120] = "";
    size_t at = 0;
    for (size_t i = 0; i < rows->n && at < sizeof names; i++)
        at += (size_t)snprintf(names + at, sizeof names - at, "%s%s", i > 0 ? ", " : "",
                               rows->rows[i]->row.name);
    return len > 0 ? fail_with(-EINVAL, err, err_cap, "%.200s has no indicator \"%.*s\": it has %s",
                               rows->file->path, len < NAME_MOST ? (int)len : NAME_MOST, name, names)
                   : fail_with(-EINVAL, err, err_cap, "%.200s: which indicator? lib:FILE.so:NAME, it has %s",
                               rows->file->path, names);
}

int indicator_plugin_find(const char *text, const struct indicator **ret, const char **ret_options, char *err,
                          size_t err_cap)
{
    char path[INDICATOR_PLUGIN_PATH_MAX];
    size_t n = indicator_plugin_word(text);
    const struct indicator_plugin_file *file;
    struct plugin_rows *rows;
    if (indicator_plugin_path(text, n, path, err, err_cap) < 0 ||
        indicator_plugin_load(path, &file, err, err_cap) < 0)
        return -EINVAL;
    pthread_mutex_lock(&gate);
    int r = rows_of(file, &rows, err, err_cap);
    pthread_mutex_unlock(&gate);
    if (r < 0)
        return -EINVAL;
    const char *name = text[n] == ':' ? text + n + 1 : "";
    size_t len = strcspn(name, ":");
    const struct indicator_plugin *plugin = row_called(rows, name, len);
    if (!plugin)
        return not_there(rows, name, len, err, err_cap);
    *ret = &plugin->row;
    *ret_options = name[len] == ':' ? name + len + 1 : NULL;
    return 0;
}
