/* Indicators of shared objects (<papertape/indicator.h>) as rows: struct indicator's member `plugin`. Inside
 * the library. */
#ifndef INDICATORS_GPU_PLUGIN_ROWS_H
#define INDICATORS_GPU_PLUGIN_ROWS_H

#include "indicators_gpu/include/papertape/indicator.h"
#include "indicators_gpu/indicators.h"
#include "indicators_gpu/plugin_file.h"

enum {
    INDICATOR_PLUGIN_LABEL_MAX = 24,
    INDICATOR_PLUGIN_ROWS_MAX = 64, /* of a file */
    INDICATOR_PLUGIN_STATE_MAX = 64 << 20,
    INDICATOR_PLUGIN_LOOKBACK_MAX = 10000000,
};

struct indicator_plugin {
    const struct indicator_plugin_file *file;
    char label[INDICATOR_PLUGIN_LABEL_MAX]; /* the file's name without folder and ending, for columns */
    struct papertape_indicator table;
    struct indicator row;
};

/* Reads "FILE.so:NAME" or "FILE.so:NAME:options", which follows "lib:": loads the file and checks all of its
 * tables. 0 with *ret_options behind the name's colon, NULL without one; -EINVAL with a sentence. */
int indicator_plugin_find(const char *text, const struct indicator **ret, const char **ret_options, char *err,
                          size_t err_cap);

/* Whether it can serve these options: -EINVAL with a sentence where it asks for more memory or bars than
 * anything needs. */
int indicator_plugin_fits(const struct indicator_spec *spec, char *err, size_t err_cap);

/* Bytes of its memory, 16-aligned. */
size_t indicator_plugin_bytes(const struct indicator_spec *spec);

/* Takes a finite bar; `before`: how many it took. As indicator_stream_update(); a value that is not finite is
 * NaN. */
bool indicator_plugin_next(const struct indicator_spec *spec, void *state, uint64_t before,
                           const struct indicator_bar *bar, double out[INDICATOR_OUTPUTS_MAX]);

/* Reads or sets its memory as words. What was saved by a table of another size is left out: *bars is then 0,
 * and it warms up again. */
void indicator_plugin_visit(const struct indicator_spec *spec, void *state, uint64_t *bars,
                            const struct indicator_stream_fields *fields);

/* As struct indicator_code's reference(). */
int indicator_plugin_reference(const struct indicator_spec *spec, const struct indicator_columns *in,
                               size_t n, double *const out[]);

/* One spec of a request whose columns and outputs were checked, for n bars; -EINVAL and *ret_bad for a bar
 * that is not finite; -ENOMEM. */
int indicator_plugin_compute(const struct indicator_request *request, size_t spec, void *const *out, size_t n,
                             size_t *ret_bad);

#endif
