#include "tui/sweep_form.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/verbs.h"
#include "engine/backtest/sets.h"
#include "engine/backtest/sweep.h"
#include "record/option.h"
#include "strategy/strategy.h"
#include "tui/press.h"

#define PARAM "param "

static const struct {
    const char *name;
    bool choice;
    const char *value, *words;
} usual[] = {
    {"strategy", true, "", "Left, Right: the built-in ones; or lib:FILE.so, exec:COMMAND"},
    {"bars", false, "", "files with commas between, a folder, a state directory, or VENUE:SYMBOL"},
    {"symbol", false, "", "where the files' names do not have it, or of a folder"},
    {"interval", false, "", "of the bars, as 1m or 4h, where they leave it open"},
    {"from", false, "", "trade bars that open then or later, as 2024-01-01; those before warm up"},
    {"to", false, "", "trade bars that open before"},
    {"cash", false, "", "to begin with; the default is papertape sweep's"},
    {"fee-maker", false, "", "a share, 0.001 for 0.1 %"},
    {"fee-taker", false, "", "likewise"},
    {"slippage", false, "", "a share of the price, of every fill"},
    {"metric", true, "dsr", "what is best: the order of the sets"},
    {"min-trades", false, "10", "sets with fewer closed trades are not ranked"},
    {"samples", false, "", "so many sets drawn of the ranges, in place of every combination"},
    {"top", false, "20", "so many are listed, with their neighbours and with higher costs"},
    {"options", false, "",
     "more of papertape sweep's: --shorts, --fees vip1, --screen, --periods 8 --period-days 30"},
};
enum { USUAL = sizeof(usual) / sizeof(usual[0]) };

/* ---- fields ---- */

static struct sweep_field *find(const struct sweep_form *form, const char *name)
{
    for (int i = 0; i < form->n; i++)
        if (strcmp(form->fields[i].name, name) == 0)
            return (struct sweep_field *)(uintptr_t)&form->fields[i];
    return NULL;
}

const char *tui_sweep_form_value(const struct sweep_form *form, const char *name)
{
    const struct sweep_field *field = find(form, name);

    return field ? field->value : "";
}

/* The chosen field is shown, and typed, from its beginning. */
static void choose(struct sweep_form *form, int row)
{
    form->row = row < 0 ? 0 : row >= form->n ? form->n - 1 : row;
    tui_line_edit_begin(&form->edit, form->fields[form->row].value, SWEEP_VALUE_MAX);
    form->fresh = true;
}

void tui_sweep_form_put(struct sweep_form *form, const char *name, const char *value)
{
    struct sweep_field *field = find(form, name);

    if (!field)
        return;
    snprintf(field->value, sizeof(field->value), "%s", value);
    if (field == &form->fields[form->row])
        choose(form, form->row);
}

struct sweep_form *tui_sweep_form_create(const char *bars)
{
    struct sweep_form *form = calloc(1, sizeof(*form));
    size_t n;

    if (!form)
        return NULL;
    for (int i = 0; i < USUAL; i++) {
        struct sweep_field *field = &form->fields[form->n++];
        field->kind = usual[i].choice ? SWEEP_FIELD_CHOICE : SWEEP_FIELD_TEXT;
        snprintf(field->name, sizeof(field->name), "%s", usual[i].name);
        snprintf(field->value, sizeof(field->value), "%s", usual[i].value);
        field->words = usual[i].words;
    }
    const struct strategy *sma = strategy_find("sma-cross");
    tui_sweep_form_put(form, "strategy", sma ? sma->name : strategy_list(&n)[0]->name);
    tui_sweep_form_put(form, "bars", bars);
    tui_sweep_form_describe(form);
    choose(form, 0);
    return form;
}

void tui_sweep_form_destroy(struct sweep_form *form)
{
    free(form);
}

/* ---- what a strategy says of itself ---- */

/* The greatest of 1, 2, 5 times a power of ten that is not above it. */
static double round_step(double value)
{
    double power = pow(10, floor(log10(value))), times = value / power;

    return power * (times >= 5 ? 5 : times >= 2 ? 2 : 1);
}

const char *tui_sweep_form_suggest(const struct sweep_param *param, char ret[static SWEEP_VALUE_MAX])
{
    double size = fabs(param->fallback), wide = param->high - param->low;

    if (param->words[0]) {
        snprintf(ret, SWEEP_VALUE_MAX, "%s", param->words);
        for (char *c = ret; (c = strchr(c, ' '));)
            *c = ',';
        return ret;
    }
    if (!(size > 0))
        size = wide < 4 ? wide : 4;
    double step = round_step(size > 0 ? size / 4 : 1);
    step = param->integer && step < 1 ? 1 : step;
    double below = floor(fmin(size / 2, param->fallback - param->low) / step + 1e-9),
           above = floor(fmin(size, param->high - param->fallback) / step + 1e-9);
    snprintf(ret, SWEEP_VALUE_MAX, "%.9g:%.9g:%.9g", param->fallback - step * fmax(below, 0),
             param->fallback + step * fmax(above, 0), step);
    return ret;
}

/* The first two that say when to trade are varied, the others have their defaults. */
static void add_fields(struct sweep_form *form)
{
    enum { VARIED = 2 };
    int varied = 0;

    form->n = USUAL;
    for (int i = 0; i < form->n_params && form->n < SWEEP_FIELDS_MAX; i++) {
        const struct sweep_param *param = &form->params[i];
        struct sweep_field *field = &form->fields[form->n++];
        *field = (struct sweep_field){.kind = SWEEP_FIELD_PARAM, .param = i};
        snprintf(field->name, sizeof(field->name), PARAM "%s", param->name);
        if (!param->words[0] && !param->sizes && param->fallback != 0 && varied < VARIED) {
            tui_sweep_form_suggest(param, field->value);
            varied++;
        }
    }
}

static void describe_built_in(struct sweep_form *form, const struct strategy *strategy)
{
    form->n_params = 0;
    for (size_t i = 0; i < strategy->n_params && i < STRATEGY_PARAMS_MAX; i++) {
        const struct strategy_param *from = &strategy->params[i];
        struct sweep_param *to = &form->params[form->n_params++];
        *to = (struct sweep_param){.fallback = from->fallback,
                                   .low = from->min,
                                   .high = from->max,
                                   .integer = from->integer,
                                   .sizes = from->opens != STRATEGY_OPENS_NONE};
        snprintf(to->name, sizeof(to->name), "%s", from->name);
        snprintf(to->summary, sizeof(to->summary), "%s", from->summary);
        if (from->words)
            snprintf(to->words, sizeof(to->words), "%s", from->words);
        strategy_param_word(from, from->fallback, to->word);
    }
}

bool tui_sweep_form_describe(struct sweep_form *form)
{
    const char *name = tui_sweep_form_value(form, "strategy");
    const struct strategy *strategy = strategy_find(name);

    if (strcmp(form->described, name) == 0)
        return true;
    if (!strategy || strategy->external)
        return false;
    describe_built_in(form, strategy);
    snprintf(form->described, sizeof(form->described), "%s", name);
    add_fields(form);
    return true;
}

static void read_words(const json_t *words, char *ret, size_t size)
{
    size_t i, at = 0;
    const json_t *word;

    ret[0] = '\0';
    json_array_foreach(words, i, word) if (json_is_string(word) && at < size) at +=
        (size_t)snprintf(ret + at, size - at, "%s%s", i > 0 ? " " : "", json_string_value(word));
}

static double number(const json_t *object, const char *key, double none)
{
    const json_t *value = json_object_get(object, key);

    return json_is_number(value) ? json_number_value(value) : none;
}

static void copy(char *to, size_t size, const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    snprintf(to, size, "%s", text ? text : "");
}

bool tui_sweep_form_take(struct sweep_form *form, const char *report)
{
    json_t *root = json_loads(report, 0, NULL);
    const json_t *strategy = json_array_get(json_object_get(root, "strategies"), 0),
                 *params = json_object_get(strategy, "params"), *param;
    size_t i;

    if (!json_is_array(params)) {
        json_decref(root);
        snprintf(form->words, sizeof(form->words), "its parameters are not understood");
        return false;
    }
    form->n_params = 0;
    json_array_foreach(params, i, param)
    {
        if (form->n_params == STRATEGY_PARAMS_MAX)
            break;
        struct sweep_param *to = &form->params[form->n_params++];
        *to = (struct sweep_param){.fallback = number(param, "default", 0),
                                   .low = number(param, "min", 0),
                                   .high = number(param, "max", 0),
                                   .integer = json_is_true(json_object_get(param, "integer"))};
        copy(to->name, sizeof(to->name), param, "name");
        copy(to->summary, sizeof(to->summary), param, "summary");
        copy(to->word, sizeof(to->word), param, "default");
        read_words(json_object_get(param, "words"), to->words, sizeof(to->words));
    }
    json_decref(root);
    snprintf(form->described, sizeof(form->described), "%s", tui_sweep_form_value(form, "strategy"));
    add_fields(form);
    choose(form, form->row);
    return true;
}

/* ---- how many sets ---- */

static bool is_range(const char *value)
{
    return strpbrk(value, ":,") != NULL;
}

/* The parameters as a grid's reader takes them. */
static void stand_in(const struct sweep_form *form, struct strategy_param params[static STRATEGY_PARAMS_MAX])
{
    for (int i = 0; i < form->n_params; i++) {
        const struct sweep_param *from = &form->params[i];
        int words = from->words[0] != '\0';
        for (const char *c = from->words; (c = strchr(c, ' ')); c++)
            words++;
        params[i] = (struct strategy_param){.name = from->name,
                                            .summary = from->summary,
                                            .fallback = from->fallback,
                                            .min = words ? 0 : from->low,
                                            .max = words ? words - 1 : from->high,
                                            .integer = words || from->integer,
                                            .words = words ? from->words : NULL};
    }
}

static double fail(struct sweep_form *form, const char *words)
{
    snprintf(form->words, sizeof(form->words), "%s", words);
    return NAN;
}

static double sampled(struct sweep_form *form, double sets)
{
    const char *text = tui_sweep_form_value(form, "samples");
    char *end;
    double samples = strtod(text, &end);

    if (!text[0])
        return sets;
    if (*end || !(samples >= 1) || samples > BACKTEST_GRID_MOST || samples != floor(samples))
        return fail(form, "samples: a whole number from 1 to 1000000 is needed");
    return samples;
}

double tui_sweep_form_sets(struct sweep_form *form)
{
    struct strategy_param params[STRATEGY_PARAMS_MAX];
    struct backtest_grid grid = {0};
    char err[BACKTEST_GRID_ERROR_MAX] = "", text[SWEEP_VALUE_MAX + STRATEGY_PARAM_NAME_MAX];
    double sets = 1;

    form->words[0] = '\0';
    if (strcmp(form->described, tui_sweep_form_value(form, "strategy")) != 0)
        return fail(form, "the strategy has not said its parameters yet");
    if (!tui_sweep_form_value(form, "bars")[0])
        return fail(form, "bars: what the strategy trades on is needed");
    stand_in(form, params);
    const struct strategy strategy = {
        .name = form->described, .params = params, .n_params = (size_t)form->n_params};
    for (int i = 0; i < form->n && !err[0]; i++) {
        const struct sweep_field *field = &form->fields[i];
        if (field->kind != SWEEP_FIELD_PARAM || !is_range(field->value))
            continue;
        snprintf(text, sizeof(text), "%s=%s", params[field->param].name, field->value);
        if (backtest_grid_add(&grid, &strategy, text, err) < 0 && !err[0])
            snprintf(err, sizeof(err), "out of memory");
    }
    for (int i = 0; i < grid.n_axes; i++)
        sets *= (double)grid.axes[i].n;
    if (!err[0] && grid.n_axes == 0)
        snprintf(err, sizeof(err), "a range is needed: Space on a parameter, or LO:HI:STEP");
    backtest_grid_finish(&grid);
    return err[0] ? fail(form, err) : sampled(form, sets);
}

/* ---- keys ---- */

/* The next word of a choice, or the one before. */
static const char *next_choice(const struct sweep_field *field, int by)
{
    size_t n, at = 0;
    const struct strategy *const *strategies = strategy_list(&n);
    bool metric = strcmp(field->name, "metric") == 0;

    n = metric ? SWEEP_DSR + 1 : n;
    for (size_t i = 0; i < n; i++)
        if (strcmp(metric ? backtest_sweep_metric_name((enum sweep_metric)i) : strategies[i]->name,
                   field->value) == 0)
            at = i;
    at = (at + n + (size_t)by) % n;
    return metric ? backtest_sweep_metric_name((enum sweep_metric)at) : strategies[at]->name;
}

/* A range, or the default again. */
static void turn_param(struct sweep_form *form, struct sweep_field *field)
{
    char range[SWEEP_VALUE_MAX];

    tui_sweep_form_put(form, field->name,
                       field->value[0] ? "" : tui_sweep_form_suggest(&form->params[field->param], range));
}

static void type(struct sweep_form *form, int key)
{
    struct sweep_field *field = &form->fields[form->row];

    if (form->fresh && key >= ' ' && key < PRESS_UP)
        tui_line_edit_begin(&form->edit, "", SWEEP_VALUE_MAX);
    form->fresh &= !tui_line_edit_press(&form->edit, key);
    snprintf(field->value, sizeof(field->value), "%.*s", SWEEP_VALUE_MAX - 1, form->edit.text);
}

static bool press_field(struct sweep_form *form, int key)
{
    struct sweep_field *field = &form->fields[form->row];
    bool choice = field->kind == SWEEP_FIELD_CHOICE;

    if (choice && (key == PRESS_LEFT || key == PRESS_RIGHT || (key == ' ' && form->fresh)))
        tui_sweep_form_put(form, field->name, next_choice(field, key == PRESS_LEFT ? -1 : 1));
    else if (field->kind == SWEEP_FIELD_PARAM && key == ' ')
        turn_param(form, field);
    else
        return false;
    return true;
}

enum form_action tui_sweep_form_press(struct sweep_form *form, int key)
{
    enum { PAGE = 8 };

    form->words[0] = '\0';
    switch (key) {
    case PRESS_F5:
        return FORM_ACTION_CHECK;
    case PRESS_ENTER:
    case PRESS_F12:
        return FORM_ACTION_SEND;
    case PRESS_ESCAPE:
        return FORM_ACTION_LEAVE;
    case PRESS_HELP:
        return FORM_ACTION_HELP;
    case PRESS_UP:
        choose(form, form->row > 0 ? form->row - 1 : form->n - 1);
        break;
    case PRESS_DOWN:
    case PRESS_TAB:
        choose(form, form->row + 1 < form->n ? form->row + 1 : 0);
        break;
    case PRESS_PAGE_UP:
        choose(form, form->row - PAGE);
        break;
    case PRESS_PAGE_DOWN:
        choose(form, form->row + PAGE);
        break;
    default:
        if (!press_field(form, key))
            type(form, key);
    }
    return FORM_ACTION_NONE;
}

void tui_sweep_form_paste(struct sweep_form *form, const int *keys, size_t n)
{
    struct sweep_field *field = &form->fields[form->row];

    if (form->fresh)
        tui_line_edit_begin(&form->edit, "", SWEEP_VALUE_MAX);
    if (!tui_line_edit_paste(&form->edit, keys, n))
        snprintf(form->words, sizeof(form->words), "what was pasted has no room here");
    form->fresh = false;
    snprintf(field->value, sizeof(field->value), "%.*s", SWEEP_VALUE_MAX - 1, form->edit.text);
}

/* ---- kept, and as command lines ---- */

json_t *tui_sweep_form_fields(const struct sweep_form *form)
{
    json_t *fields = json_object();

    for (int i = 0; i < form->n; i++)
        if (form->fields[i].value[0])
            json_object_set_new(fields, form->fields[i].name, json_string(form->fields[i].value));
    return fields;
}

void tui_sweep_form_load(struct sweep_form *form, const json_t *fields)
{
    for (int i = 0; i < form->n; i++) {
        const char *value = json_string_value(json_object_get(fields, form->fields[i].name));
        snprintf(form->fields[i].value, sizeof(form->fields[i].value), "%s", value ? value : "");
    }
    choose(form, form->row);
}

void tui_sweep_argv_add(struct sweep_argv *argv, const char *option, const char *value)
{
    const char *const words[] = {option, value};

    for (int i = 0; i < 2; i++) {
        if (!words[i])
            continue;
        argv->over |= argv->n + 1 >= SWEEP_ARGV_MAX || !(argv->words[argv->n] = strdup(words[i]));
        argv->n += !argv->over;
    }
}

void tui_sweep_argv_finish(struct sweep_argv *argv)
{
    for (int i = 0; i < argv->n; i++)
        free(argv->words[i]);
    *argv = (struct sweep_argv){0};
}

static const char *field_of(const json_t *fields, const char *name)
{
    const char *value = json_string_value(json_object_get(fields, name));

    return value ? value : "";
}

/* The row of an option that is not of the runs, but of the sweep alone; `name` ends with a NUL or '='. NULL.
 */
static const struct option_row *sweeps_own(const char *name)
{
    const size_t len = strcspn(name, "=");

    for (size_t i = 0; i < cli_sweep.n_options; i++)
        if (cli_sweep.options[i].name && strlen(cli_sweep.options[i].name) == len &&
            strncmp(cli_sweep.options[i].name, name, len) == 0)
            return &cli_sweep.options[i];
    return NULL;
}

enum sweep_line { LINE_SWEEP, LINE_PLAN, LINE_RUN };

/* Does that line not take the option, with or without its dashes? A backtest takes none of the sweep's own,
 * and a plan none of those that it cannot go with. */
static const struct option_row *option_left_out(const char *name, enum sweep_line line)
{
    const struct option_row *plan = sweeps_own("dry-run"), *row = sweeps_own(name);

    /* --walk-forward stays, so that its refusal is seen: its plan is another one. */
    return row && (line == LINE_RUN || (line == LINE_PLAN && strcmp(row->name, "walk-forward") != 0 &&
                                        option_is_one_of(plan->without, ' ', row->name)))
               ? row
               : NULL;
}

/* Words with blanks between; quotes hold one together. */
static void add_options(struct sweep_argv *argv, const char *options, enum sweep_line line)
{
    char text[OPTION_LINE_MAX], *words[OPTION_LINE_WORDS + 1];
    int n = option_line_words(options, text, words, NULL);

    if (n < 0)
        tui_sweep_argv_add(argv, options, NULL);
    for (int i = 0; i < n; i++) {
        const struct option_row *row =
            strncmp(words[i], "--", 2) == 0 ? option_left_out(words[i] + 2, line) : NULL;
        if (!row)
            tui_sweep_argv_add(argv, words[i], NULL);
        i += row && row->argument && !strchr(words[i], '=');
    }
}

static void add_all(struct sweep_argv *argv, const json_t *fields, enum sweep_line line)
{
    const size_t len = strlen(PARAM);
    char option[48], text[SWEEP_VALUE_MAX + STRATEGY_PARAM_NAME_MAX];
    const char *name;
    json_t *value;

    tui_sweep_argv_add(argv, "--strategy", field_of(fields, "strategy"));
    json_object_foreach((json_t *)(uintptr_t)fields, name, value)
    {
        const char *words = json_string_value(value);
        if (strncmp(name, PARAM, len) != 0 || !words || (is_range(words) && line == LINE_RUN))
            continue;
        snprintf(text, sizeof(text), "%s=%s", name + len, words);
        tui_sweep_argv_add(argv, is_range(words) ? "--grid" : "--set", text);
    }
    for (int i = 1; i < USUAL; i++) {
        const char *words = field_of(fields, usual[i].name);
        if (!words[0] || option_left_out(usual[i].name, line))
            continue;
        snprintf(option, sizeof(option), "--%s", usual[i].name);
        if (strcmp(usual[i].name, "options") == 0)
            add_options(argv, words, line);
        else
            tui_sweep_argv_add(argv, option, words);
    }
}

void tui_sweep_argv_sweep(struct sweep_argv *argv, const json_t *fields)
{
    tui_sweep_argv_add(argv, "papertape", "sweep");
    add_all(argv, fields, LINE_SWEEP);
}

void tui_sweep_argv_plan(struct sweep_argv *argv, const json_t *fields)
{
    tui_sweep_argv_add(argv, "papertape", "sweep");
    add_all(argv, fields, LINE_PLAN);
    tui_sweep_argv_add(argv, "--dry-run", "--json");
}

void tui_sweep_argv_run(struct sweep_argv *argv, const json_t *fields, const char *set)
{
    char word[SWEEP_VALUE_MAX];

    tui_sweep_argv_add(argv, "papertape", "backtest");
    add_all(argv, fields, LINE_RUN);
    for (; *set; set += strcspn(set, " ")) {
        set += strspn(set, " ");
        snprintf(word, sizeof(word), "%.*s", (int)strcspn(set, " "), set);
        if (word[0])
            tui_sweep_argv_add(argv, "--set", word);
    }
}

static size_t put_text(char *buf, size_t size, size_t at, const char *text)
{
    return at < size ? at + (size_t)snprintf(buf + at, size - at, "%s", text) : at;
}

/* Between quotes where the shell would read it otherwise: within them a quote ends them, is escaped, and they
 * begin again. */
static size_t put_word(char *buf, size_t size, size_t at, const char *word)
{
    const char *quote = word[0] && !strpbrk(word, " \t\n\"'$&;|<>()[]{}*?~#!\\`") ? "" : "'";

    at = put_text(buf, size, at, quote);
    for (; *word; word++)
        at = put_text(buf, size, at, *word == '\'' ? "'\\''" : (char[]){*word, '\0'});
    return put_text(buf, size, at, quote);
}

void tui_sweep_argv_line(const struct sweep_argv *argv, char *buf, size_t size)
{
    size_t at = 0;

    buf[0] = '\0';
    for (int i = 0; i < argv->n; i++) {
        at = put_text(buf, size, at, i > 0 ? " " : "");
        at = put_word(buf, size, at, argv->words[i]);
    }
}
