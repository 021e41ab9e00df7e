#include "strategy/policy/trained.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/bar.h"
#include "exchange/bars_file.h"
#include "exchange/zone.h"
#include "strategy/policy/observation.h"
#include "strategy/policy/safetensors.h"
#include "strategy/policy/session_columns.h"
#include "strategy/policy/trained_internal.h"

static const double LEAST_MAX = 1e9;

struct loaded {
    struct trained_policy trained; /* first: the callers' handle */
    struct policy_asset *assets;
    char *world, *environment, *features, *observation_hash, *verdict, *verdict_text, *calendar;
    struct zone *zone;
    char **sets; /* [n_assets] */
    struct net_model *model;
};

struct loading {
    const char *path;
    char *err;
    const struct safetensors *file;
    struct loaded *loaded;
    struct net_shape shape;
    float *params;
    double clip;
    size_t width; /* features of a row of observations */
};

static int no_memory(const struct loading *in)
{
    policy_trained_refuse(in->err, in->path, "out of memory");
    return -ENOMEM;
}

/* ---- metadata ---- */

static int need(const struct loading *in, const char *key, const char **ret)
{
    *ret = safetensors_metadata(in->file, key);
    return *ret ? 0 : policy_trained_refuse(in->err, in->path, "metadata: %.64s is missing", key);
}

static int need_number(const struct loading *in, const char *key, double min, double max, bool whole,
                       double *ret)
{
    const char *text;
    char *end;
    int r = need(in, key, &text);
    if (r < 0)
        return r;
    double x = strtod(text, &end);
    if (strspn(text, "+-.0123456789eE") == 0 || *end || !(x >= min && x <= max) || (whole && x != floor(x)))
        return policy_trained_refuse(in->err, in->path,
                                     "metadata: %s: \"%.40s\": a %snumber from %g to %g is right", key, text,
                                     whole ? "whole " : "", min, max);
    *ret = x;
    return 0;
}

static int need_whole(const struct loading *in, const char *key, int min, int max, int *ret)
{
    double x;
    int r = need_number(in, key, min, max, true, &x);
    if (r == 0)
        *ret = (int)x;
    return r;
}

static int need_switch(const struct loading *in, const char *key, bool *ret)
{
    const char *text;
    int r = need(in, key, &text);
    if (r < 0)
        return r;
    *ret = strcmp(text, "true") == 0;
    return *ret || strcmp(text, "false") == 0
               ? 0
               : policy_trained_refuse(in->err, in->path, "metadata: %s: \"%.40s\": true or false is right",
                                       key, text);
}

static int keep(const struct loading *in, const char *key, char **ret)
{
    const char *text;
    int r = need(in, key, &text);
    if (r < 0)
        return r;
    *ret = strdup(text);
    return *ret ? 0 : no_memory(in);
}

/* ---- the networks ---- */

static int need_widths(const struct loading *in, const char *key, int *widths, int *ret_n)
{
    const char *text, *at;
    int r = need(in, key, &text), n = 0;
    if (r < 0)
        return r;
    for (at = text; *at; n++) {
        char *end;
        long width = strtol(at, &end, 10);
        if (at[0] < '0' || at[0] > '9' || (*end && *end != ',') || (*end == ',' && !end[1]) ||
            n == NET_LAYERS_MAX || width < 1 || width > NET_WIDTH_MAX)
            return policy_trained_refuse(
                in->err, in->path,
                "metadata: %s: \"%.80s\": at most %d widths from 1 to %d, with commas "
                "between, are right",
                key, text, NET_LAYERS_MAX, NET_WIDTH_MAX);
        widths[n] = (int)width;
        at = *end ? end + 1 : end;
    }
    *ret_n = n;
    return 0;
}

static int read_shape(struct loading *in)
{
    struct net_shape *shape = &in->shape;
    const char *activation, *format;
    char why[NET_ERROR_MAX];
    int r = need(in, "format", &format);
    if (r < 0)
        return policy_trained_refuse(
            in->err, in->path, "metadata: format is missing: " TRAINED_FORMAT " is right: it is no policy");
    if (strcmp(format, TRAINED_FORMAT) != 0)
        return policy_trained_refuse(
            in->err, in->path, "metadata: format: \"%.64s\": this program reads " TRAINED_FORMAT, format);
    r = need_whole(in, "observation", 1, NET_OBSERVATION_MAX, &shape->observation);
    r = r < 0 ? r : need_whole(in, "actions", 1, NET_OUTPUTS_MAX, &shape->actions);
    r = r < 0 ? r : need_whole(in, "levels", 0, NET_OUTPUTS_MAX, &shape->levels);
    r = r < 0 ? r : need(in, "activation", &activation);
    if (r == 0 && !policy_net_activation_parse(activation, &shape->activation))
        r = policy_trained_refuse(in->err, in->path,
                                  "metadata: activation: \"%.40s\": tanh, relu or silu is right", activation);
    r = r < 0 ? r : need_switch(in, "layer_norm", &shape->layer_norm);
    r = r < 0 ? r : need_switch(in, "shared", &shape->shared);
    r = r < 0 ? r : need_whole(in, "recurrent", 0, NET_WIDTH_MAX, &shape->recurrent);
    r = r < 0 ? r : need_widths(in, "policy_layers", shape->pi, &shape->n_pi);
    r = r < 0 ? r : need_widths(in, "value_layers", shape->vf, &shape->n_vf);
    r = r < 0 ? r : need_number(in, "observation_clip", 1e-6, 1e30, false, &in->clip);
    if (r == 0 && policy_net_layout_init(&in->loaded->trained.layout, shape, why) < 0)
        r = policy_trained_refuse(in->err, in->path, "metadata: %.300s", why);
    return r;
}

/* Checks a tensor's shape (rows 0: one dimension) and that all of it is finite. */
static int need_tensor(const struct loading *in, const char *name, int64_t cols, int64_t rows,
                       const float **ret)
{
    const struct safetensors_tensor *tensor = safetensors_find(in->file, name);
    if (!tensor)
        return policy_trained_refuse(in->err, in->path, "tensor %s is missing", name);
    if (tensor->type != SAFETENSORS_F32)
        return policy_trained_refuse(in->err, in->path, "tensor %s: %s: F32 is right", name,
                                     safetensors_type_name(tensor->type));
    if (tensor->n_dims != (rows > 0 ? 2 : 1) || tensor->dims[0] != cols ||
        (rows > 0 && tensor->dims[1] != rows)) {
        char right[48];
        snprintf(right, sizeof right, rows > 0 ? "[%" PRId64 ", %" PRId64 "]" : "[%" PRId64 "]", cols, rows);
        return policy_trained_refuse(in->err, in->path,
                                     "tensor %s: %d dimensions, the first of %" PRId64
                                     ": the metadata's widths make it %s",
                                     name, tensor->n_dims, tensor->n_dims > 0 ? tensor->dims[0] : 0, right);
    }
    const float *values = tensor->data;
    for (size_t i = 0; i < tensor->bytes / sizeof *values; i++)
        if (!isfinite(values[i]))
            return policy_trained_refuse(in->err, in->path,
                                         "tensor %s: value %zu is %g: finite ones are right", name, i,
                                         (double)values[i]);
    *ret = values;
    return 0;
}

static int read_tensors(struct loading *in)
{
    const struct net_layout *layout = &in->loaded->trained.layout;
    size_t n;
    const float *values;
    const struct safetensors_tensor *all = safetensors_all(in->file, &n);
    in->params = calloc(layout->n_params, sizeof *in->params);
    if (!in->params)
        return no_memory(in);
    for (int t = 0; t < layout->n_tensors; t++) {
        const struct net_tensor *to = &layout->tensors[t];
        int r = need_tensor(in, to->name, to->cols, to->kind == NET_WEIGHT ? to->rows : 0, &values);
        if (r < 0)
            return r;
        size_t rows = (size_t)to->rows, cols = (size_t)to->cols;
        for (size_t i = 0; i < rows; i++)
            for (size_t k = 0; k < cols; k++)
                in->params[to->offset + i * (size_t)to->stride + k] = values[k * rows + i];
    }
    const float *mean, *scale;
    int r = need_tensor(in, TRAINED_MEAN, layout->shape.observation, 0, &mean);
    r = r < 0 ? r : need_tensor(in, TRAINED_SCALE, layout->shape.observation, 0, &scale);
    for (size_t i = 0; i < n && r == 0; i++)
        if (policy_net_layout_find(layout, all[i].name) < 0 && strcmp(all[i].name, TRAINED_MEAN) != 0 &&
            strcmp(all[i].name, TRAINED_SCALE) != 0)
            r = policy_trained_refuse(
                in->err, in->path, "tensor %.64s: networks of the metadata's widths have none", all[i].name);
    if (r < 0)
        return r;
    r = policy_net_model_create(layout, in->params, mean, scale, (float)in->clip, NET_BEST,
                                &in->loaded->model);
    if (r < 0)
        return no_memory(in);
    in->loaded->trained.model = in->loaded->model;
    in->loaded->trained.policy.backend = policy_net_model_cpu(in->loaded->model);
    return 0;
}

/* ---- the market ---- */

static int read_symbols(struct loading *in)
{
    const char *names, *quantities;
    int r = need(in, "symbols", &names), n = 0;
    r = r < 0 ? r : need(in, "least_quantities", &quantities);
    if (r < 0)
        return r;
    for (const char *at = names; *at; at++)
        n += *at == ',';
    n += names[0] != '\0';
    if (n < 1 || n > SYMBOLS_MAX)
        return policy_trained_refuse(in->err, in->path,
                                     "metadata: symbols: 1 to %d names, with commas between, are right",
                                     SYMBOLS_MAX);
    struct policy_asset *assets = in->loaded->assets = calloc((size_t)n, sizeof *assets);
    if (!assets)
        return no_memory(in);
    for (int i = 0; i < n; i++) {
        size_t length = strcspn(names, ",");
        char *end;
        if (length == 0 || length >= sizeof assets[i].name)
            return policy_trained_refuse(in->err, in->path,
                                         "metadata: symbols: name %d: 1 to %zu characters are right", i + 1,
                                         sizeof assets[i].name - 1);
        memcpy(assets[i].name, names, length);
        for (int k = 0; k < i; k++)
            if (strcmp(assets[k].name, assets[i].name) == 0)
                return policy_trained_refuse(in->err, in->path, "metadata: symbols: %s is there twice",
                                             assets[i].name);
        names += length + (names[length] == ',');
        assets[i].least = strtod(quantities, &end);
        bool last = i + 1 == n;
        if (quantities[0] < '0' || quantities[0] > '9' || *end != (last ? '\0' : ',') ||
            !(assets[i].least <= LEAST_MAX))
            return policy_trained_refuse(
                in->err, in->path,
                "metadata: least_quantities: a quantity, 0 or more, for each of the %d symbols "
                "is right: %s has none",
                n, assets[i].name);
        quantities = end + !last;
    }
    in->loaded->trained.policy.n_assets = n;
    in->loaded->trained.policy.assets = assets;
    return 0;
}

static int check_set(struct loading *in, const char *key, const char *text)
{
    char why[POLICY_ERROR_MAX];
    int r = policy_trained_set_width(text, in->loaded->trained.policy.interval_ns, &in->width, why);
    return r == 0         ? 0
           : r == -ENOMEM ? no_memory(in)
                          : policy_trained_refuse(in->err, in->path, "metadata: %s: %.300s", key, why);
}

static int read_features(struct loading *in)
{
    struct loaded *loaded = in->loaded;
    int n = loaded->trained.policy.n_assets, r = keep(in, "features", &loaded->features);
    if (r < 0)
        return r;
    loaded->trained.features = loaded->features;
    if (strcmp(loaded->features, TRAINED_CLOSES) == 0) {
        in->width = 2 * (size_t)n;
        return 0;
    }
    if (strcmp(loaded->features, TRAINED_SET) != 0)
        return policy_trained_refuse(in->err, in->path,
                                     "metadata: features: \"%.40s\": " TRAINED_CLOSES " or " TRAINED_SET
                                     " is right",
                                     loaded->features);
    loaded->sets = calloc((size_t)n, sizeof *loaded->sets);
    if (!loaded->sets)
        return no_memory(in);
    for (int i = 0; i < n && r == 0; i++) {
        char key[SYMBOL_NAME_MAX + 16];
        snprintf(key, sizeof key, "features.%s", loaded->assets[i].name);
        r = keep(in, key, &loaded->sets[i]);
        r = r < 0 ? r : check_set(in, key, loaded->sets[i]);
    }
    loaded->trained.sets = (const char *const *)loaded->sets;
    return r;
}

static int read_session_features(struct loading *in)
{
    const char *text = safetensors_metadata(in->file, TRAINED_SESSION);
    unsigned *columns = &in->loaded->trained.session_columns;
    char why[POLICY_ERROR_MAX];
    if (text && policy_session_columns_parse(text, columns, why, sizeof why) < 0)
        return policy_trained_refuse(in->err, in->path, "metadata: " TRAINED_SESSION ": %.300s", why);
    in->width += policy_session_columns_count(*columns);
    return 0;
}

static int32_t millionths(double share)
{
    return (int32_t)lround(share * 1e6);
}

/* Whose bars it sees, and where its task's sessions end. */
static int read_sessions(struct loading *in, const struct trained_environment *env)
{
    struct loaded *loaded = in->loaded;
    struct policy *policy = &loaded->trained.policy;
    char why[ZONE_ERROR_MAX];
    if (safetensors_metadata(in->file, "calendar")) {
        int r = keep(in, "calendar", &loaded->calendar);
        if (r < 0)
            return r;
        policy->calendar = loaded->calendar;
        policy->session = (enum session_choice)env->session;
    }
    if (loaded->trained.session_columns && policy->session == SESSION_ALL)
        return policy_trained_refuse(in->err, in->path, "metadata: " TRAINED_SESSION ": " TRAINED_NO_SESSION);
    policy->day_trade = env->day_trade;
    policy->threshold = env->threshold;
    policy->session_close_s = (int)env->session_close_s;
    if (!env->day_trade || policy->session != SESSION_ALL)
        return 0;
    int r = zone_open(env->session_zone, &loaded->zone, why);
    policy->zone = loaded->zone;
    return r == 0         ? 0
           : r == -ENOMEM ? no_memory(in)
                          : policy_trained_refuse(in->err, in->path, "metadata: session_zone: %s", why);
}

static int read_environment(struct loading *in)
{
    struct loaded *loaded = in->loaded;
    struct trained_policy *trained = &loaded->trained;
    struct trained_environment env;
    char why[POLICY_ERROR_MAX];
    int r = keep(in, "environment", &loaded->environment);
    if (r < 0)
        return r;
    if (policy_trained_environment_read(loaded->environment, &env, why) < 0)
        return policy_trained_refuse(in->err, in->path, "metadata: %.300s", why);
    trained->environment = loaded->environment;
    trained->norm_cash = env.norm_cash;
    trained->norm_stocks = env.norm_stocks;
    trained->norm_tech = env.norm_tech;
    trained->initial_capital = env.initial_capital;
    trained->action_span = env.action_span;
    trained->policy.lookback = (int)env.lookback;
    trained->policy.slippage_e6 = millionths(env.slippage);
    trained->policy.rules = (struct policy_rules){
        .norm_action = env.norm_action,
        .trailing_stop = env.trailing_stop,
        .max_position = env.max_position,
        .min_cash = env.min_cash,
        .exit_bars = env.exit_bars,
        .exit_share = env.exit_share,
        .cooldown_bars = env.cooldown_bars,
        .capital = env.initial_capital,
        .fee_e6 = millionths(env.buy_cost),
        .limits = env.limits,
    };
    if (policy_trained_environment_fits(&env, &in->shape, trained->policy.n_assets, in->width, why) < 0)
        return policy_trained_refuse(in->err, in->path, "metadata: %.300s", why);
    return read_sessions(in, &env);
}

static int need_time(const struct loading *in, const char *key, int64_t *ret)
{
    const char *text;
    int r = need(in, key, &text);
    if (r == 0 && bars_time_parse(text, strlen(text), ret) < 0)
        r = policy_trained_refuse(
            in->err, in->path, "metadata: %s: \"%.40s\": a time as 2025-04-21T01:50:00Z is right", key, text);
    return r;
}

static int read_hash(struct loading *in)
{
    struct loaded *loaded = in->loaded;
    const char *text = safetensors_metadata(in->file, "observation_hash");
    if (!text)
        return 0;
    if (strlen(text) != OBSERVATION_HASH_SIZE - 1 || text[strspn(text, "0123456789abcdef")])
        return policy_trained_refuse(
            in->err, in->path,
            "metadata: observation_hash: \"%.80s\": %d digits of 0 to 9 and a to f are right", text,
            OBSERVATION_HASH_SIZE - 1);
    loaded->observation_hash = strdup(text);
    loaded->trained.observation_hash = loaded->observation_hash;
    return loaded->observation_hash ? 0 : no_memory(in);
}

/* A word of a later program is as good as any: it is only shown and compared. */
static int read_verdict(struct loading *in)
{
    struct loaded *loaded = in->loaded;
    if (!safetensors_metadata(in->file, "verdict"))
        return 0;
    int r = keep(in, "verdict", &loaded->verdict);
    r = r < 0 ? r : keep(in, "verdict_text", &loaded->verdict_text);
    loaded->trained.policy.verdict = loaded->verdict;
    loaded->trained.policy.verdict_text = loaded->verdict_text;
    return r;
}

static int read_market(struct loading *in)
{
    struct policy *policy = &in->loaded->trained.policy;
    const char *interval;
    int r = read_symbols(in);
    r = r < 0 ? r : need(in, "interval", &interval);
    if (r == 0 && bar_interval_parse(interval, &policy->interval_ns) < 0)
        r = policy_trained_refuse(in->err, in->path,
                                  "metadata: interval: \"%.40s\": one as 5m or 1h is right", interval);
    r = r < 0 ? r : read_features(in);
    r = r < 0 ? r : read_session_features(in);
    r = r < 0 ? r : read_environment(in);
    r = r < 0 ? r : read_hash(in);
    r = r < 0 ? r : read_verdict(in);
    struct trained_policy *trained = &in->loaded->trained;
    r = r < 0 ? r : need_time(in, "trained_from", &trained->trained_from_ns);
    return r < 0 ? r : need_time(in, "trained_to", &trained->trained_to_ns);
}

static int read_purpose(struct loading *in)
{
    struct loaded *loaded = in->loaded;
    double steps = 0, seed;
    const char *version;
    int r = need_number(in, "trained_steps", 0, 0x1p53, true, &steps);
    r = r < 0 ? r : need_number(in, "seed", 0, 0x1p64, false, &seed);
    r = r < 0 ? r : need(in, "version", &version);
    if (r < 0)
        return r;
    loaded->trained.trained_steps = (int64_t)steps;
    if (!safetensors_metadata(in->file, "world"))
        return read_market(in);
    r = keep(in, "world", &loaded->world);
    loaded->trained.world = loaded->world;
    return r;
}

/* ---- the file ---- */

static int read_file(struct loading *in, const unsigned char *bytes, size_t n)
{
    uint8_t id[EVP_MAX_MD_SIZE];
    int r = EVP_Digest(bytes, n, id, NULL, EVP_sha256(), NULL) == 1 ? 0 : no_memory(in);
    if (r == 0)
        memcpy(in->loaded->trained.policy.id, id, POLICY_ID_SIZE);
    r = r < 0 ? r : read_shape(in);
    r = r < 0 ? r : read_tensors(in);
    return r < 0 ? r : read_purpose(in);
}

int policy_trained_parse(const char *name, const unsigned char *bytes, size_t n, struct trained_policy **ret,
                         char err[static POLICY_ERROR_MAX])
{
    struct safetensors *file;
    char why[SAFETENSORS_ERROR_MAX];
    struct loading in = {.path = name, .err = err};
    int r = safetensors_parse(name, bytes, n, &file, why);
    if (r < 0) {
        snprintf(err, POLICY_ERROR_MAX, "%s", why);
        return r;
    }
    in.file = file;
    in.loaded = calloc(1, sizeof *in.loaded);
    if (in.loaded)
        in.loaded->trained.policy.kind = "trained";
    r = in.loaded ? read_file(&in, bytes, n) : no_memory(&in);
    free(in.params);
    safetensors_destroy(file);
    if (r < 0) {
        policy_trained_destroy(in.loaded ? &in.loaded->trained : NULL);
        return r;
    }
    *ret = &in.loaded->trained;
    return 0;
}

int policy_trained_load(const char *path, struct trained_policy **ret, char err[static POLICY_ERROR_MAX])
{
    unsigned char *bytes;
    size_t n;
    char why[SAFETENSORS_ERROR_MAX];
    int r = safetensors_bytes(path, POLICY_FILE_MAX, &bytes, &n, why);
    if (r < 0) {
        snprintf(err, POLICY_ERROR_MAX, "%s", why);
        return r;
    }
    r = policy_trained_parse(path, bytes, n, ret, err);
    free(bytes);
    return r;
}

void policy_trained_destroy(struct trained_policy *policy)
{
    struct loaded *loaded = (struct loaded *)policy;
    if (!loaded)
        return;
    for (int i = 0; loaded->sets && i < loaded->trained.policy.n_assets; i++)
        free(loaded->sets[i]);
    free(loaded->sets);
    free(loaded->assets);
    free(loaded->world);
    free(loaded->environment);
    free(loaded->features);
    free(loaded->observation_hash);
    free(loaded->verdict);
    free(loaded->verdict_text);
    free(loaded->calendar);
    zone_close(loaded->zone);
    policy_net_model_destroy(loaded->model);
    free(loaded);
}
