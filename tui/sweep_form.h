/* The form of a sweep: what `papertape sweep` is given, as fields, and the command lines that they make. The
 * ranges of the parameters are prefilled from what the strategy says of itself. Knows nothing of terminals;
 * what it asks of its owner is returned as an action. */
#ifndef TUI_SWEEP_FORM_H
#define TUI_SWEEP_FORM_H

#include <jansson.h>
#include <stdbool.h>

#include "strategy/params.h"
#include "tui/form_page.h"
#include "tui/line_edit.h"

enum {
    SWEEP_FIELDS_MAX = 16 + STRATEGY_PARAMS_MAX,
    SWEEP_VALUE_MAX = 1024, /* bytes with the NUL */
    SWEEP_ARGV_MAX = 160,
};

/* A parameter as its strategy describes it. */
struct sweep_param {
    char name[STRATEGY_PARAM_NAME_MAX], summary[STRATEGY_SUMMARY_MAX];
    double fallback, low, high;
    bool integer;
    char words[STRATEGY_WORDS_MAX]; /* with blanks between; "": it is a number */
    char word[STRATEGY_WORD_MAX];   /* its default, where it has words */
    bool sizes;                     /* how much is bought: it is not varied unless the user says so */
};

enum sweep_field_kind { SWEEP_FIELD_TEXT, SWEEP_FIELD_CHOICE, SWEEP_FIELD_PARAM };

struct sweep_field {
    enum sweep_field_kind kind;
    char name[40];               /* of its option, or "param " and the parameter's */
    const char *words;           /* what it is; NULL: of a parameter */
    int param;                   /* of a parameter, its number */
    char value[SWEEP_VALUE_MAX]; /* "": left out */
};

struct sweep_form {
    struct sweep_field fields[SWEEP_FIELDS_MAX];
    int n, row;
    struct line_edit edit; /* of the chosen field's value */
    bool fresh;            /* nothing was typed in it yet: a character replaces its value */
    struct sweep_param params[STRATEGY_PARAMS_MAX];
    int n_params;
    char described[STRATEGY_NAME_MAX]; /* whose parameters these are; "": not described yet */
    char words[FORM_WORDS_MAX];        /* why it is not sent; "" */
};

/* The first strategy, over these bars ("": none yet). NULL without memory; destroy(NULL) is fine. */
struct sweep_form *tui_sweep_form_create(const char *bars);
void tui_sweep_form_destroy(struct sweep_form *form);

/* "": it has no such field, or no value. */
const char *tui_sweep_form_value(const struct sweep_form *form, const char *name);
void tui_sweep_form_put(struct sweep_form *form, const char *name, const char *value);

/* Are the parameters those of the strategy that is named? Takes them from a built-in one; else they are to be
 * asked of `papertape backtest --list-strategies --strategy NAME --json`, whose answer _take() reads: false,
 * with a sentence in form->words, for what is none. */
bool tui_sweep_form_describe(struct sweep_form *form);
bool tui_sweep_form_take(struct sweep_form *form, const char *report);

/* "5:20:5", a few steps around the default that include it, or all words. Returns ret. */
const char *tui_sweep_form_suggest(const struct sweep_param *param, char ret[static SWEEP_VALUE_MAX]);

/* How many sets its ranges have, or its samples are; NaN: something is wrong, and form->words says what. */
double tui_sweep_form_sets(struct sweep_form *form);

/* One key. CHECK: how long will it take; SEND: start. */
enum form_action tui_sweep_form_press(struct sweep_form *form, int key);
void tui_sweep_form_paste(struct sweep_form *form, const int *keys, size_t n);

/* Its values by their names, a new object, and from such an object, once it is described. */
json_t *tui_sweep_form_fields(const struct sweep_form *form);
void tui_sweep_form_load(struct sweep_form *form, const json_t *fields);

/* A command line, NULL-terminated; its words are owned. */
struct sweep_argv {
    char *words[SWEEP_ARGV_MAX];
    int n;
    bool over; /* it has no room, or no memory, for all of them */
};
void tui_sweep_argv_add(struct sweep_argv *argv, const char *option, const char *value); /* NULL: left out */
void tui_sweep_argv_finish(struct sweep_argv *argv);

/* `papertape sweep` with such values, without what says where its results go; the same with --dry-run,
 * without what that does not take, as --screen; and `papertape backtest` of one of its sets, "fast=5
 * slow=20". */
void tui_sweep_argv_sweep(struct sweep_argv *argv, const json_t *fields);
void tui_sweep_argv_plan(struct sweep_argv *argv, const json_t *fields);
void tui_sweep_argv_run(struct sweep_argv *argv, const json_t *fields, const char *set);
/* The line as a shell takes it, cut to size; --json, --equity and --state apart. */
void tui_sweep_argv_line(const struct sweep_argv *argv, char *buf, size_t size);

#endif
