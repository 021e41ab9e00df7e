#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/bar.h"
#include "exchange/clock.h"
#include "strategy/policy/safetensors.h"
#include "strategy/policy/session_columns.h"
#include "strategy/policy/trained_internal.h"

enum { PAIRS = 32 /* in addition to the sets */, NORMALISERS = 2 };

struct writing {
    const char *path;
    char *err;
    struct safetensors_tensor tensors[NET_TENSORS_MAX + NORMALISERS];
    size_t n_tensors;
    float *floats; /* the tensors' */
    struct safetensors_pair *pairs;
    char **texts; /* the pairs' own keys and values, one after the other */
    size_t n_pairs, cap;
};

static int no_memory(const struct writing *out)
{
    policy_trained_refuse(out->err, out->path, "out of memory");
    return -ENOMEM;
}

static int put(struct writing *out, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static int put(struct writing *out, const char *key, const char *format, ...)
{
    va_list args;
    char *text, *name = strdup(key);
    va_start(args, format);
    int n = vasprintf(&text, format, args);
    va_end(args);
    if (!name || n < 0 || out->n_pairs == out->cap) {
        free(name);
        if (n >= 0)
            free(text);
        return no_memory(out);
    }
    out->texts[2 * out->n_pairs] = name;
    out->texts[2 * out->n_pairs + 1] = text;
    out->pairs[out->n_pairs++] = (struct safetensors_pair){name, text};
    return 0;
}

/* ---- tensors ---- */

/* rows 0: of one dimension. */
static int add_tensor(struct writing *out, const char *name, const float *values, int64_t cols, int64_t rows)
{
    struct safetensors_tensor *tensor = &out->tensors[out->n_tensors++];
    size_t n = (size_t)cols * (rows > 0 ? (size_t)rows : 1);
    *tensor = (struct safetensors_tensor){.name = name,
                                          .type = SAFETENSORS_F32,
                                          .n_dims = rows > 0 ? 2 : 1,
                                          .dims = {cols, rows},
                                          .data = values,
                                          .bytes = n * sizeof *values};
    for (size_t i = 0; i < n; i++)
        if (!isfinite(values[i]))
            return policy_trained_refuse(out->err, out->path,
                                         "tensor %s: value %zu is %g: only finite ones are written", name, i,
                                         (double)values[i]);
    return 0;
}

static int take_tensors(struct writing *out, const struct trained_source *source)
{
    const struct net_layout *layout = source->layout;
    int64_t observation = layout->shape.observation;
    float *at = out->floats = malloc((layout->n_learned + 1) * sizeof *at);
    int r = at ? 0 : no_memory(out);
    for (int t = 0; t < layout->n_tensors && r == 0; t++) {
        const struct net_tensor *from = &layout->tensors[t];
        const float *params = source->params + from->offset;
        size_t rows = (size_t)from->rows, cols = (size_t)from->cols;
        for (size_t k = 0; k < cols; k++)
            for (size_t i = 0; i < rows; i++)
                at[k * rows + i] = params[i * (size_t)from->stride + k];
        r = add_tensor(out, from->name, at, from->cols, from->kind == NET_WEIGHT ? from->rows : 0);
        at += rows * cols;
    }
    r = r < 0 ? r : add_tensor(out, TRAINED_MEAN, source->mean, observation, 0);
    return r < 0 ? r : add_tensor(out, TRAINED_SCALE, source->scale, observation, 0);
}

/* ---- metadata ---- */

static int put_widths(struct writing *out, const char *key, const int *widths, int n)
{
    char text[NET_LAYERS_MAX * 8] = "";
    size_t at = 0;
    for (int i = 0; i < n; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%d", i ? "," : "", widths[i]);
    return put(out, key, "%s", text);
}

static int put_shape(struct writing *out, const struct net_shape *shape, float clip)
{
    int r = put(out, "observation", "%d", shape->observation);
    r = r < 0 ? r : put(out, "actions", "%d", shape->actions);
    r = r < 0 ? r : put(out, "levels", "%d", shape->levels);
    r = r < 0 ? r : put(out, "activation", "%s", policy_net_activation_name(shape->activation));
    r = r < 0 ? r : put(out, "layer_norm", "%s", shape->layer_norm ? "true" : "false");
    r = r < 0 ? r : put(out, "shared", "%s", shape->shared ? "true" : "false");
    r = r < 0 ? r : put(out, "recurrent", "%d", shape->recurrent);
    r = r < 0 ? r : put_widths(out, "policy_layers", shape->pi, shape->n_pi);
    r = r < 0 ? r : put_widths(out, "value_layers", shape->vf, shape->shared ? 0 : shape->n_vf);
    return r < 0 ? r : put(out, "observation_clip", "%.9g", (double)clip);
}

static int put_time(struct writing *out, const char *key, int64_t ns)
{
    char text[CLOCK_TEXT_MAX];
    return put(out, key, "%s", clock_utc_text(ns, text));
}

/* A list of the assets' names, or of their least quantities. */
static int put_assets(struct writing *out, const struct trained_source *source, bool quantities)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    if (!file)
        return no_memory(out);
    for (int i = 0; i < source->n_assets; i++) {
        if (quantities)
            fprintf(file, "%s%.17g", i ? "," : "", source->assets[i].least);
        else
            fprintf(file, "%s%s", i ? "," : "", source->assets[i].name);
    }
    bool bad = ferror(file) != 0;
    bad |= fclose(file) != 0;
    int r = bad ? no_memory(out) : put(out, quantities ? "least_quantities" : "symbols", "%s", text);
    free(text);
    return r;
}

/* Refuses what policy_trained_load() would refuse, so that a good file is not replaced by a bad one. */
static int check_market(struct writing *out, const struct trained_source *source)
{
    struct trained_environment environment;
    char why[POLICY_ERROR_MAX];
    size_t width = source->sets ? 0 : 2 * (size_t)source->n_assets;
    int r = policy_trained_environment_read(source->environment, &environment, why);
    for (int i = 0; i < source->n_assets && r == 0; i++) {
        const struct policy_asset *asset = &source->assets[i];
        if (!asset->name[0] || strchr(asset->name, ',') || !(asset->least >= 0 && isfinite(asset->least)))
            return policy_trained_refuse(
                out->err, out->path,
                "symbols: \"%s\" of at least %g: a name without commas and a quantity, 0 or "
                "more, are right",
                asset->name, asset->least);
        if (source->sets)
            r = policy_trained_set_width(source->sets[i], source->interval_ns, &width, why);
    }
    width += policy_session_columns_count(source->session_columns);
    if (r == 0 && source->session_columns && (!source->calendar || environment.session == SESSION_ALL))
        return policy_trained_refuse(out->err, out->path, TRAINED_SESSION ": " TRAINED_NO_SESSION);
    if (r == 0)
        r = policy_trained_environment_fits(&environment, &source->layout->shape, source->n_assets, width,
                                            why);
    return r == 0         ? 0
           : r == -ENOMEM ? no_memory(out)
                          : policy_trained_refuse(out->err, out->path, "%.300s", why);
}

static int put_market(struct writing *out, const struct trained_source *source)
{
    char columns[SESSION_COLUMNS_TEXT_MAX];
    const char *interval = bar_interval_name(source->interval_ns);
    if (!interval)
        return policy_trained_refuse(out->err, out->path,
                                     "interval: %" PRId64 " ns: one that bars have is right",
                                     source->interval_ns);
    int r = check_market(out, source);
    r = r < 0 ? r : put_assets(out, source, false);
    r = r < 0 ? r : put_assets(out, source, true);
    r = r < 0 ? r : put(out, "interval", "%s", interval);
    r = r < 0 ? r : put(out, "features", "%s", source->sets ? TRAINED_SET : TRAINED_CLOSES);
    for (int i = 0; i < source->n_assets && source->sets && r == 0; i++) {
        char key[SYMBOL_NAME_MAX + 16];
        snprintf(key, sizeof key, "features.%s", source->assets[i].name);
        r = put(out, key, "%s", source->sets[i]);
    }
    if (r == 0 && source->session_columns)
        r = put(out, TRAINED_SESSION, "%s", policy_session_columns_text(source->session_columns, columns));
    r = r < 0 ? r : put(out, "environment", "%s", source->environment);
    if (r == 0 && source->calendar)
        r = put(out, "calendar", "%s", source->calendar);
    if (r == 0 && source->observation_hash)
        r = put(out, "observation_hash", "%s", source->observation_hash);
    r = r < 0 ? r : put_time(out, "trained_from", source->trained_from_ns);
    return r < 0 ? r : put_time(out, "trained_to", source->trained_to_ns);
}

static int put_metadata(struct writing *out, const struct trained_source *source)
{
    int r = put(out, "format", "%s", TRAINED_FORMAT);
    r = r < 0 ? r : put_shape(out, &source->layout->shape, source->clip);
    if (r == 0)
        r = source->world ? put(out, "world", "%s", source->world) : put_market(out, source);
    r = r < 0 ? r : put(out, "trained_steps", "%" PRId64, source->trained_steps);
    r = r < 0 ? r : put(out, "seed", "%" PRIu64, source->seed);
    if (r == 0 && source->verdict)
        r = put(out, "verdict", "%s", source->verdict);
    if (r == 0 && source->verdict_text)
        r = put(out, "verdict_text", "%s", source->verdict_text);
    return r < 0 ? r : put(out, "version", "%s", PAPERTAPE_VERSION);
}

int policy_trained_write(const char *path, const struct trained_source *source,
                         char err[static POLICY_ERROR_MAX])
{
    struct writing *out = calloc(1, sizeof *out);
    size_t cap = PAIRS + (size_t)source->n_assets;
    if (!out) {
        policy_trained_refuse(err, path, "out of memory");
        return -ENOMEM;
    }
    *out = (struct writing){.path = path, .err = err, .cap = cap};
    out->pairs = calloc(cap, sizeof *out->pairs);
    out->texts = calloc(2 * cap, sizeof *out->texts);
    int r = out->pairs && out->texts ? take_tensors(out, source) : no_memory(out);
    r = r < 0 ? r : put_metadata(out, source);
    if (r == 0)
        r = safetensors_write(path, out->tensors, out->n_tensors, out->pairs, out->n_pairs, err);
    for (size_t i = 0; out->texts && i < 2 * out->n_pairs; i++)
        free(out->texts[i]);
    free(out->texts);
    free(out->pairs);
    free(out->floats);
    free(out);
    return r;
}
