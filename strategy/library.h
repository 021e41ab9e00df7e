/* Strategies as shared objects, "lib:FILE.so": the form STRATEGY_LIBRARY of strategy/external.h. The public
 * contract is <papertape/strategy.h>; what is here converts between its structs and ours, so that either may
 * change without the other.
 *
 * Its code runs in this process: a call that is slow is reported as late once it has ended, and one that
 * crashes or hangs takes the process with it. Processes ("exec:…") are the form that survives both. */
#ifndef STRATEGY_LIBRARY_H
#define STRATEGY_LIBRARY_H

#include <stdbool.h>

#include "indicators_gpu/plugin_file.h"
#include "strategy/external.h"
#include "strategy/include/papertape/strategy.h"

enum { STRATEGY_LIBRARY_ERROR_MAX = 400 };

/* A file that was loaded, for the process's life. */
struct strategy_library {
    struct strategy strategy; /* the first member, so that it can be found from there */
    struct strategy_external external;
    struct strategy_param params[STRATEGY_PARAMS_MAX];
    struct papertape_strategy table; /* what the file has of it; the rest is zero */
    const struct indicator_plugin_file *file;
    char name[STRATEGY_NAME_MAX];
    struct strategy_library *next;
};

/* The form's row. */
extern const struct strategy_form_row strategy_library_form;

/* As strategy_open(), of what follows "lib:": "FILE.so", or a NAME in the folder of plug-ins. */
int strategy_library_open(const char *source, const struct strategy **ret, char *err, size_t err_size);

/* Calls `each` for each shared object in the folder of plug-ins, in the order of their names: with the
 * strategy; or NULL and why it cannot be loaded. Files that have indicators alone are left out. 0, or -errno
 * of reading the folder; one that is not there is empty. */
int strategy_library_each(void (*each)(void *ctx, const char *file, const struct strategy *strategy,
                                       const char *why_not),
                          void *ctx);

/* ---- inside ---- */

/* Whether all of a table can be used: 0, or -EINVAL with a sentence that begins with the path. */
int strategy_library_check(const char *path, const struct papertape_strategy *table, char *err,
                           size_t err_size);

/* The functions of struct strategy_external. */
const char *strategy_library_params_check(const struct strategy *strategy, const double *params);
size_t strategy_library_specs(const struct strategy *strategy, const double *params,
                              char specs[][STRATEGY_SPEC_TEXT]);
/* Intents that on_bar() may write, of so many symbols. */
static inline size_t strategy_library_room(int n_symbols)
{
    return STRATEGY_INTENTS_MAX * (size_t)(n_symbols > 0 ? n_symbols : 1) + STRATEGY_SAID_MAX;
}
size_t strategy_library_on_bar(const struct strategy *strategy, const double *params, void *state,
                               const struct strategy_input *input, struct intent *intents);
void strategy_library_scan(const struct strategy *strategy, const double *params,
                           const struct strategy_columns *columns, const struct strategy_marks *marks);

#endif
