/* A trained policy's file: what is written is loaded, with the bits of the networks; each thing that can be
 * wrong with a file is refused, with its reason.
 *
 * For the oracle (trained_oracle.py):
 *   test-trained oracle DIR   writes policies DIR/K.safetensors, and DIR/K.io with observations and what the
 *                             networks make of them, one after the other */
#include "strategy/policy/trained.h"

#include <errno.h>
#include <openssl/evp.h>

#include "strategy/policy/safetensors.h"
#include "strategy/policy/trained_internal.h"
#include "tests/check.h"
#include "tests/scratch.h"
#include "tests/strategy/trained_made.h"

static const char set[] = "set small\n"
                          "log_return:1 zscore 1.5e-05 812.25\n"
                          "rsi:14@1h /100\n"
                          "volume log1p minmax 0.25 0.125\n";
enum { SET_WIDTH = 3 };

static const struct net_shape small = {
    .observation = 4, .actions = 2, .n_pi = 1, .n_vf = 1, .pi = {8}, .vf = {5}};

static struct env_params params_of(const char *preset, const char *const settings[])
{
    struct env_params params;
    char err[ENV_ERROR_MAX] = "";
    CHECK_INT(env_params_preset(preset, &params, err), 0);
    for (; settings && *settings; settings += 2)
        CHECK_INT(env_params_set(&params, settings[0], settings[1], err), 0);
    CHECK_STR(err, "");
    return params;
}

/* ---- there and back ---- */

static void compare(const struct trained_made *made, const struct trained_policy *trained,
                    struct random *random)
{
    const struct net_layout *layout = &made->layout;
    struct net_model *model;
    struct net_memory *memory, *own;
    float *observation = malloc((size_t)layout->shape.observation * sizeof(float)),
          *a = malloc((size_t)layout->outputs * sizeof(float)),
          *b = malloc((size_t)layout->outputs * sizeof(float));
    CHECK(memcmp(&trained->layout, layout, sizeof *layout) == 0);
    CHECK_INT(policy_net_model_create(layout, made->params, made->mean, made->scale, made->source.clip,
                                      NET_SCALAR, &model),
              0);
    CHECK_INT(policy_net_memory_create(model, &memory), 0);
    CHECK_INT(policy_net_memory_create(trained->model, &own), 0);
    for (int step = 0; step < 3 && observation && a && b; step++) {
        for (int i = 0; i < layout->shape.observation; i++)
            observation[i] = (float)(8 * trained_uniform(random));
        float value = policy_net_model_value(model, memory, observation);
        CHECK(value == policy_net_model_value(trained->model, own, observation));
        policy_net_model_heads(model, memory, observation, a);
        policy_net_model_heads(trained->model, own, observation, b);
        CHECK(memcmp(a, b, (size_t)layout->outputs * sizeof *a) == 0);
    }
    policy_net_memory_destroy(memory);
    policy_net_memory_destroy(own);
    policy_net_model_destroy(model);
    free(observation);
    free(a);
    free(b);
}

static void check_id(const char *path, const struct trained_policy *trained)
{
    unsigned char *bytes, id[EVP_MAX_MD_SIZE];
    size_t n;
    char err[SAFETENSORS_ERROR_MAX];
    CHECK_INT(safetensors_bytes(path, INT64_MAX, &bytes, &n, err), 0);
    CHECK_INT(EVP_Digest(bytes, n, id, NULL, EVP_sha256(), NULL), 1);
    CHECK(memcmp(id, trained->policy.id, POLICY_ID_SIZE) == 0);
    free(bytes);
}

static void round_trip(struct random *random, const struct trained_made *made,
                       const struct env_params *params)
{
    const char *path = scratch_path("f.safetensors");
    const struct trained_source *source = &made->source;
    struct trained_policy *trained = NULL;
    char err[POLICY_ERROR_MAX] = "";
    CHECK_INT(policy_trained_write(path, source, err), 0);
    CHECK_INT(policy_trained_load(path, &trained, err), 0);
    CHECK_STR(err, "");
    if (!trained)
        return;
    compare(made, trained, random);
    check_id(path, trained);
    const struct policy *policy = &trained->policy;
    CHECK_STR(policy->kind, "trained");
    CHECK_INT(policy->n_assets, source->n_assets);
    CHECK_INT(trained->trained_steps, source->trained_steps);
    if (source->world) {
        CHECK_STR(trained->world, source->world);
        CHECK(!trained->environment && !trained->features && !trained->sets);
        policy_trained_destroy(trained);
        return;
    }
    CHECK(!trained->world);
    CHECK_STR(trained->environment, source->environment);
    CHECK_STR(trained->features, source->sets ? "set" : "closes-volumes");
    CHECK_INT(policy->interval_ns, source->interval_ns);
    CHECK_INT(policy->lookback, params->lookback);
    for (int i = 0; i < policy->n_assets; i++) {
        CHECK_STR(policy->assets[i].name, source->assets[i].name);
        CHECK(policy->assets[i].least == source->assets[i].least);
        if (source->sets)
            CHECK_STR(trained->sets[i], source->sets[i]);
    }
    CHECK(trained->norm_cash == params->norm_cash && trained->norm_stocks == params->norm_stocks &&
          trained->norm_tech == params->norm_tech && trained->action_span == params->action_span);
    double capital = (params->initial_capital.low + params->initial_capital.high) / 2;
    CHECK_NEAR(trained->initial_capital, capital, 1e-9);
    CHECK_NEAR(policy->rules.capital, capital, 1e-9);
    CHECK_NEAR(policy->rules.fee_e6, 5e5 * (params->buy_cost_pct.low + params->buy_cost_pct.high), 0.51);
    CHECK_NEAR(policy->slippage_e6, 5e5 * (params->slippage_pct.low + params->slippage_pct.high), 0.51);
    CHECK(policy->rules.norm_action == params->norm_action &&
          policy->rules.trailing_stop == params->trailing_stop_pct &&
          policy->rules.max_position == params->max_position_pct &&
          policy->rules.min_cash == params->min_cash_reserve &&
          policy->rules.exit_bars == params->forced_exit_bars &&
          policy->rules.exit_share == params->forced_exit_pct &&
          policy->rules.cooldown_bars == params->cooldown_bars);
    policy_trained_destroy(trained);
}

static void test_round_trips(struct random *random)
{
    static const char *const drawn[] = {"initial_capital",
                                        "900..1100",
                                        "buy_cost_pct",
                                        "0.001..0.003",
                                        "slippage_pct",
                                        "0..0.0005",
                                        "lookback",
                                        "7",
                                        "trailing_stop_pct",
                                        "0.1",
                                        "cooldown_bars",
                                        "3",
                                        "max_position_pct",
                                        "0.5",
                                        NULL},
                             *const levels[] = {"actions",     "discrete", "levels", "7",
                                                "action_span", "4",        NULL};
    const struct env_params market = params_of("market", NULL), ranges = params_of("market", drawn),
                            discrete = params_of("market", levels);
    const struct net_shape shapes[] = {
        small,
        {.observation = 3, .actions = 1, .n_pi = 0, .n_vf = 0},
        {.observation = 7,
         .actions = 2,
         .levels = 3,
         .n_pi = 2,
         .pi = {33, 17},
         .shared = true,
         .layer_norm = true,
         .activation = NET_SILU,
         .recurrent = 32},
        {.observation = 5,
         .actions = 3,
         .n_pi = 3,
         .pi = {20, 64, 65},
         .n_vf = 1,
         .vf = {9},
         .layer_norm = true,
         .activation = NET_RELU,
         .recurrent = 16},
    };
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (int k = 0; k < 5; k++) {
            static struct trained_made made;
            const struct env_params *params = k == 2 ? &ranges : k == 3 ? &discrete : &market;
            trained_made_open(&made, random, shapes[s], k == 0 ? 0 : k, k % 2 ? NULL : set, SET_WIDTH,
                              params);
            round_trip(random, &made, params);
            trained_made_close(&made);
        }
    policy_trained_destroy(NULL);
}

/* Every key of the environment is known here, at both ends of its range, and as every word. */
static void test_environment(void)
{
    size_t n, tried = 0;
    const struct config_key *list = env_params_list(&n);
    for (size_t i = 0; i < n; i++) {
        char values[8][64], err[ENV_ERROR_MAX] = "";
        int n_values = 0;
        for (const char *word = list[i].words; word && *word;
             word += strcspn(word, " ") + (strchr(word, ' ') != 0))
            snprintf(values[n_values++], 64, "%.*s", (int)strcspn(word, " "), word);
        if (list[i].kind <= CONFIG_SPAN) {
            snprintf(values[n_values++], 64, "%.17g", list[i].min);
            snprintf(values[n_values++], 64, "%.17g", list[i].max);
            if (list[i].kind == CONFIG_SPAN)
                snprintf(values[n_values++], 64, "%.17g..%.17g", list[i].min, list[i].max);
        } else if (list[i].kind == CONFIG_OWN) { /* limits; a cooldown needs a portfolio's stop */
            snprintf(values[n_values++], 64, strcmp(list[i].name, "cooldown") == 0 ? "0" : "3%%:50%%");
        } else if (n_values == 0) {
            snprintf(values[n_values++], 64, "America/New_York");
        }
        for (int v = 0; v < n_values; v++, tried++) {
            struct env_params params = params_of("market", NULL);
            struct trained_environment read;
            char text[4096], why[POLICY_ERROR_MAX] = "";
            CHECK_INT(env_params_set(&params, list[i].name, values[v], err), 0);
            trained_environment_text(&params, text, sizeof text);
            CHECK_INT(policy_trained_environment_read(text, &read, why), 0);
            CHECK_STR(why, "");
            CHECK(read.day_trade == (params.task == ENV_DAY_TRADE) &&
                  read.discrete == (params.actions == ENV_DISCRETE) && read.levels == params.levels &&
                  read.lookback == params.lookback && read.norm_stocks == params.norm_stocks);
        }
        CHECK(n_values > 0);
    }
    printf("counts: %zu values of %zu keys of the environment\n", tried, n);
}

/* ---- bad files ---- */

enum { TENSORS = 16, PAIRS = 32 };

/* A good policy taken apart, to be put together with something changed. */
struct parts {
    struct safetensors *file;
    struct safetensors_tensor tensors[TENSORS];
    struct safetensors_pair pairs[PAIRS];
    size_t n, n_pairs;
};

static const char *const all_keys[] = {
    "format",           "observation",  "actions",          "levels",
    "activation",       "layer_norm",   "shared",           "recurrent",
    "policy_layers",    "value_layers", "observation_clip", "symbols",
    "least_quantities", "interval",     "features",         "features.C0USDT",
    "features.C1USDT",  "environment",  "trained_from",     "trained_to",
    "trained_steps",    "seed",         "version"};
enum { KEYS = sizeof all_keys / sizeof *all_keys };

static void take_apart(const char *path, struct parts *parts)
{
    char err[SAFETENSORS_ERROR_MAX];
    *parts = (struct parts){0};
    CHECK_INT(safetensors_read(path, &parts->file, err), 0);
    const struct safetensors_tensor *all = safetensors_all(parts->file, &parts->n);
    if (parts->n > TENSORS)
        abort();
    memcpy(parts->tensors, all, parts->n * sizeof *all);
    for (size_t k = 0; k < KEYS; k++)
        if (safetensors_metadata(parts->file, all_keys[k]))
            parts->pairs[parts->n_pairs++] =
                (struct safetensors_pair){all_keys[k], safetensors_metadata(parts->file, all_keys[k])};
}

static void expect(const struct parts *parts, const char *why)
{
    struct trained_policy *trained = NULL;
    const char *path = scratch_path("bad.safetensors");
    char err[POLICY_ERROR_MAX] = "";
    CHECK_INT(safetensors_write(path, parts->tensors, parts->n, parts->pairs, parts->n_pairs, err), 0);
    CHECK_INT(policy_trained_load(path, &trained, err), -EINVAL);
    CHECK(!trained && strncmp(err, path, strlen(path)) == 0 && strchr(err, '\n') == NULL);
    if (!strstr(err, why)) {
        check_failures++;
        fprintf(stderr, "  %s\n  is not about: %s\n", err, why);
    }
}

/* With one value of the metadata another; NULL: left out. */
static void expect_value(const struct parts *good, const char *key, const char *value, const char *why)
{
    struct parts bad = *good;
    size_t k = 0;
    while (strcmp(bad.pairs[k].key, key) != 0)
        k++;
    if (value)
        bad.pairs[k].value = value;
    else
        bad.pairs[k] = bad.pairs[--bad.n_pairs];
    expect(&bad, why);
}

static void test_bad_metadata(const struct parts *good)
{
    static const struct {
        const char *key, *value, *why;
    } cases[] = {
        {"format", NULL, "format is missing: papertape.policy/1 is right"},
        {"format", "pt", "format: \"pt\": this program reads papertape.policy/1"},
        {"format", "papertape.policy/2", "this program reads papertape.policy/1"},
        {"observation", "22", "tensor pi.0.weight: 2 dimensions, the first of 8"},
        {"observation", "0", "a whole number from 1 to 65536 is right"},
        {"observation", "22.5", "a whole number"},
        {"observation", "x", "a whole number"},
        {"observation", "", "a whole number"},
        {"actions", "3", "tensor pi.1.weight"},
        {"levels", "1", "levels: 1 of 2 actions"},
        {"activation", "gelu", "activation: \"gelu\": tanh, relu or silu is right"},
        {"layer_norm", "yes", "layer_norm: \"yes\": true or false is right"},
        {"layer_norm", "true", "tensor pi.0.norm.weight is missing"},
        {"shared", "true", "tensor shared.0.weight is missing"},
        {"recurrent", "8", "recurrent: 8"},
        {"recurrent", "16", "tensor pi.recurrent.weight is missing"},
        {"policy_layers", "9",
         "tensor pi.0.weight: 2 dimensions, the first of 8: the metadata's widths make it [9, "},
        {"policy_layers", "8,", "widths from 1 to 8192"},
        {"policy_layers", "8;8", "widths from 1 to 8192"},
        {"policy_layers", "0", "widths from 1 to 8192"},
        {"policy_layers", "1,1,1,1,1,1,1,1,1", "at most 8 widths"},
        {"policy_layers", "", "tensor pi.0.weight: 2 dimensions"},
        {"value_layers", "", "tensor vf.0.weight"},
        {"observation_clip", "0", "a number from 1e-06"},
        {"observation_clip", "nan", "a number from"},
        {"symbols", "", "1 to"},
        {"symbols", "C0USDT", "least_quantities: a quantity, 0 or more, for each of the 1 symbols"},
        {"symbols", "C0USDT,C0USDT", "C0USDT is there twice"},
        {"symbols", "C0USDT,", "name 2: 1 to"},
        {"symbols", "C0USDT,C1USDT,C2USDT",
         "least_quantities: a quantity, 0 or more, for each of the 3 symbols"},
        {"least_quantities", "0", "for each of the 2 symbols"},
        {"least_quantities", "0,1,2", "for each of the 2 symbols"},
        {"least_quantities", "0,-1", "for each of the 2 symbols"},
        {"least_quantities", "0,inf", "for each of the 2 symbols"},
        {"interval", "5min", "interval: \"5min\": one as 5m or 1h is right"},
        {"interval", "1h", "features.C0USDT: rsi:14@1h /100: the bars' interval is 3600 s"},
        {"features", "all", "features: \"all\": closes-volumes or set is right"},
        {"features", "closes-volumes", "observation: 21: 1 + 2 symbols + lookback 3 x 4 features is 15"},
        {"features.C1USDT", NULL, "features.C1USDT is missing"},
        {"features.C1USDT", "set a\nrsi:14 /100\n", "lookback 3 x 4 features is 15"},
        {"features.C1USDT", "set a\nrsi:14 /100 zscore\n", "set a is not fitted"},
        {"features.C1USDT", "set a\nrsy:14 /100\n", "features.C1USDT: line 2"},
        {"environment", "", "environment: action_span is missing"},
        {"trained_from", "yesterday", "trained_from: \"yesterday\": a time as"},
        {"trained_steps", "-1", "trained_steps: \"-1\": a whole number"},
        {"seed", "x", "seed: \"x\": a number"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_value(good, cases[i].key, cases[i].value, cases[i].why);
    for (size_t k = 0; k < KEYS; k++) {
        char why[64];
        snprintf(why, sizeof why, "%s is missing", all_keys[k]);
        expect_value(good, all_keys[k], NULL, why);
    }
}

/* With one line of the environment another. */
static void expect_line(const struct parts *good, const char *key, const char *line, const char *why)
{
    const char *text = safetensors_metadata(good->file, "environment"), *at = text;
    char bad[4200];
    size_t n = strlen(key);
    while (strncmp(at, key, n) != 0 || at[n] != '=')
        at = strchr(at, '\n') + 1;
    snprintf(bad, sizeof bad, "%.*s%s%s", (int)(at - text), text, line, strchr(at, '\n') + !*line);
    expect_value(good, "environment", bad, why);
}

/* Files that were written before these keys were: both are 0, as what they name is without them. */
static void test_older_environment(const struct parts *good)
{
    static const char *const later[] = {"drawdown_penalty", "volatility_penalty"};
    const char *text = safetensors_metadata(good->file, "environment");
    char older[4200] = "", err[POLICY_ERROR_MAX] = "";
    for (const char *line = text; *line;) {
        size_t n = strcspn(line, "\n") + 1;
        bool keep = true;
        for (int k = 0; k < 2; k++)
            keep = keep && strncmp(line, later[k], strlen(later[k])) != 0;
        if (keep)
            strncat(older, line, n);
        line += n;
    }
    CHECK(strlen(older) == strlen(text) - strlen("drawdown_penalty=0\nvolatility_penalty=0\n"));
    struct parts parts = *good;
    for (size_t k = 0; k < parts.n_pairs; k++)
        if (strcmp(parts.pairs[k].key, "environment") == 0)
            parts.pairs[k].value = older;
    struct trained_policy *policy = NULL;
    const char *path = scratch_path("older.safetensors");
    CHECK_INT(safetensors_write(path, parts.tensors, parts.n, parts.pairs, parts.n_pairs, err), 0);
    CHECK_INT(policy_trained_load(path, &policy, err), 0);
    CHECK_STR(err, "");
    CHECK(policy && strcmp(policy->environment, older) == 0);
    policy_trained_destroy(policy);
}

static void test_bad_environment(const struct parts *good)
{
    static const struct {
        const char *key, *line, *why;
    } cases[] = {
        {"lookback", "", "environment: lookback is missing"},
        {"drawdown_penalty", "drawdown_penalty=-1",
         "environment: drawdown_penalty: \"-1\": a number from 0 to"},
        {"volatility_penalty", "volatility_penalty=", "environment: volatility_penalty: \"\": a number from"},
        {"lookback", "lookbak=3",
         "environment: lookbak: this program does not know it, so orders might be others: "
         "did you mean lookback?"},
        {"lookback", "lookback=3\nlookback=3", "environment: lookback: it is there twice"},
        {"lookback", "lookback", "environment: \"lookback\": key=value is right"},
        {"lookback", "lookback=4", "lookback 4 x 6 features is 27"},
        {"lookback", "lookback=0", "environment: lookback: \"0\": a whole number from 1 to 4096 is right"},
        {"lookback", "lookback=2.5", "a whole number from 1 to 4096"},
        {"lookback", "lookback=", "a whole number from 1 to 4096"},
        {"norm_cash", "norm_cash=nan", "environment: norm_cash: \"nan\": a number from"},
        {"norm_cash", "norm_cash=1..2", "environment: norm_cash: \"1..2\": a number from"},
        {"slippage_pct", "slippage_pct=0.1..0.05", "a number, or \"low..high\", from 0 to 0.5 is right"},
        {"slippage_pct", "slippage_pct=0..", "a number, or"},
        {"shorts", "shorts=1", "environment: shorts: \"1\": true or false is right"},
        {"task", "task=lottery", "environment: task: \"lottery\": portfolio day-trade is right"},
        {"task", "task=day-trade", "symbols: 2: task day-trade trades one"},
        {"actions", "actions=discrete", "levels: 0: the environment has 21"},
        {"session_zone", "session_zone=", "environment: session_zone: \"\": a name is right"},
        {"session_zone",
         "session_zone="
         "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
         "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
         "environment: a line of"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_line(good, cases[i].key, cases[i].line, cases[i].why);
}

static void test_bad_tensors(const struct parts *good)
{
    for (size_t t = 0; t < good->n; t++) {
        struct parts bad = *good;
        char why[128];
        snprintf(why, sizeof why, "tensor %s is missing", bad.tensors[t].name);
        bad.tensors[t] = bad.tensors[--bad.n];
        expect(&bad, why);

        bad = *good;
        bad.tensors[t].n_dims++; /* one dimension more, of 1 */
        bad.tensors[t].dims[bad.tensors[t].n_dims - 1] = 1;
        snprintf(why, sizeof why, "tensor %s: %d dimensions", bad.tensors[t].name, bad.tensors[t].n_dims);
        expect(&bad, why);

        bad = *good;
        float *values = malloc(bad.tensors[t].bytes);
        size_t n = bad.tensors[t].bytes / sizeof *values;
        if (!values)
            abort();
        memcpy(values, bad.tensors[t].data, bad.tensors[t].bytes);
        values[n - 1] = t % 2 ? NAN : -INFINITY;
        bad.tensors[t].data = values;
        snprintf(why, sizeof why, "tensor %s: value %zu is %s", bad.tensors[t].name, n - 1,
                 t % 2 ? "nan" : "-inf");
        expect(&bad, why);
        free(values);
    }
    struct parts bad = *good;
    bad.tensors[bad.n] = bad.tensors[0];
    bad.tensors[bad.n++].name = "pi.2.weight";
    expect(&bad, "tensor pi.2.weight: networks of the metadata's widths have none");
    bad = *good;
    for (size_t t = 0; t < bad.n; t++)
        if (strcmp(bad.tensors[t].name, "vf.0.bias") == 0) {
            bad.tensors[t].type = SAFETENSORS_U8;
            bad.tensors[t].bytes = (size_t)bad.tensors[t].dims[0];
        }
    expect(&bad, "tensor vf.0.bias: U8: F32 is right");
}

static void test_bad(struct random *random)
{
    static struct trained_made made;
    const struct env_params market = params_of("market", NULL);
    char path[SCRATCH_PATH_MAX];
    struct parts good;
    struct trained_policy *trained = NULL;
    char err[POLICY_ERROR_MAX] = "";
    snprintf(path, sizeof path, "%s/good.safetensors", scratch_root());
    trained_made_open(&made, random, small, 2, set, SET_WIDTH, &market);
    CHECK_INT(policy_trained_write(path, &made.source, err), 0);
    take_apart(path, &good);
    CHECK_INT(good.n_pairs, KEYS);
    test_bad_metadata(&good);
    test_bad_environment(&good);
    test_older_environment(&good);
    test_bad_tensors(&good);
    safetensors_destroy(good.file);

    CHECK_INT(policy_trained_load(scratch_path("none"), &trained, err), -ENOENT);
    CHECK_INT(policy_trained_load(scratch_write("text", "no policy\n"), &trained, err), -EINVAL);
    CHECK(strstr(err, "is it a safetensors file?"));
    CHECK(!trained);
    made.params[3] = NAN;
    CHECK_INT(policy_trained_write(path, &made.source, err), -EINVAL);
    CHECK(strstr(err, "tensor pi.0.weight: value") && strstr(err, "is nan: only finite ones are written"));
    made.params[3] = 0;
    made.environment[0] = 'x';
    CHECK_INT(policy_trained_write(path, &made.source, err), -EINVAL);
    CHECK(strstr(err, "environment: xction_span: this program does not know it"));
    made.environment[0] = 'a';
    made.source.sets = NULL;
    CHECK_INT(policy_trained_write(path, &made.source, err), -EINVAL);
    CHECK(strstr(err, "observation: 21: 1 + 2 symbols + lookback 3 x 4 features is 15"));
    made.source.sets = made.sets;
    made.assets[1].name[2] = ',';
    CHECK_INT(policy_trained_write(path, &made.source, err), -EINVAL);
    CHECK(strstr(err, "symbols: \"C1,SDT\""));
    made.assets[1].name[2] = 'U';
    made.source.interval_ns++;
    CHECK_INT(policy_trained_write(path, &made.source, err), -EINVAL);
    CHECK(strstr(err, "interval: 300000000001 ns"));
    CHECK_INT(policy_trained_load(path, &trained, err), 0); /* as it was */
    policy_trained_destroy(trained);
    trained_made_close(&made);
}

static void ask(const struct trained_policy *trained)
{
    const struct net_shape *shape = &trained->layout.shape;
    float *observation = calloc((size_t)shape->observation, sizeof(float)),
          *actions = malloc((size_t)shape->actions * sizeof(float));
    struct net_memory *memory;
    if (!observation || !actions || policy_net_memory_create(trained->model, &memory) < 0)
        abort();
    policy_net_model_act(trained->model, memory, observation, actions);
    for (int i = 0; i < shape->actions && shape->levels > 0; i++)
        CHECK(actions[i] >= 0 && actions[i] < (float)shape->levels);
    policy_net_memory_destroy(memory);
    free(observation);
    free(actions);
}

/* With bytes changed at random, and cut: refused, or a policy that can be asked. */
static void test_damage(struct random *random, int n_tries)
{
    static struct trained_made made;
    const struct env_params market = params_of("market", NULL);
    const char *path = scratch_path("damaged.safetensors");
    unsigned char *bytes, *copy;
    size_t n, header = 8, taken = 0;
    char err[POLICY_ERROR_MAX];
    trained_made_open(&made, random, small, 2, set, SET_WIDTH, &market);
    CHECK_INT(policy_trained_write(path, &made.source, err), 0);
    CHECK_INT(safetensors_bytes(path, INT64_MAX, &bytes, &n, err), 0);
    header += bytes[0] + 256u * bytes[1];
    copy = malloc(n);
    for (int k = 0; copy && k < n_tries; k++) {
        struct trained_policy *trained = NULL;
        size_t cut = k % 50 == 49 ? (size_t)random_between(random, 0, (int64_t)n) : n;
        memcpy(copy, bytes, n);
        for (int64_t left = random_between(random, 1, 3); left > 0; left--)
            copy[random_between(random, 0, (int64_t)(left % 2 ? header : n) - 1)] =
                (unsigned char)(random_chance(random, 50) ? (uint64_t)random_between(random, ' ', '~')
                                                          : random_next(random));
        int r = policy_trained_parse("f", copy, cut, &trained, err);
        CHECK(r == 0 || (r == -EINVAL && strncmp(err, "f: ", 3) == 0 && !strchr(err, '\n')));
        CHECK((r == 0) == (trained != NULL));
        if (trained)
            ask(trained);
        taken += r == 0;
        policy_trained_destroy(trained);
    }
    printf("counts: %d damaged policies, %zu of them taken\n", n_tries, taken);
    free(copy);
    free(bytes);
    trained_made_close(&made);
}

/* ---- for the oracle ---- */

enum { STEPS = 8 };

static void write_io(const char *dir, int k, const struct trained_policy *trained, struct random *random)
{
    const struct net_layout *layout = &trained->layout;
    int64_t n = layout->shape.observation, outputs = layout->outputs;
    float *observations = malloc(STEPS * (size_t)n * sizeof(float)),
          *heads = malloc(STEPS * (size_t)outputs * sizeof(float)), values[STEPS];
    struct net_memory *memory;
    char path[SCRATCH_PATH_MAX], err[SAFETENSORS_ERROR_MAX];
    if (!observations || !heads || policy_net_memory_create(trained->model, &memory) < 0)
        abort();
    for (int64_t i = 0; i < STEPS * n; i++)
        observations[i] = (float)(4 * trained_uniform(random));
    for (int64_t s = 0; s < STEPS; s++) {
        values[s] = policy_net_model_value(trained->model, memory, observations + s * n);
        policy_net_model_heads(trained->model, memory, observations + s * n, heads + s * outputs);
    }
    const struct safetensors_tensor tensors[] = {
        {"observations", SAFETENSORS_F32, 2, {STEPS, n}, observations, STEPS * (size_t)n * sizeof(float)},
        {"heads", SAFETENSORS_F32, 2, {STEPS, outputs}, heads, STEPS * (size_t)outputs * sizeof(float)},
        {"values", SAFETENSORS_F32, 1, {STEPS}, values, sizeof values},
    };
    snprintf(path, sizeof path, "%s/%d.io", dir, k);
    CHECK_INT(safetensors_write(path, tensors, 3, NULL, 0, err), 0);
    policy_net_memory_destroy(memory);
    free(observations);
    free(heads);
}

static int write_oracles(struct random *random, const char *dir)
{
    const struct env_params market = params_of("market", NULL);
    for (int k = 0; k < 12; k++) {
        static struct trained_made made;
        struct trained_policy *trained;
        char path[SCRATCH_PATH_MAX], err[POLICY_ERROR_MAX];
        struct net_shape shape = {.observation = (int)random_between(random, 1, 90),
                                  .actions = (int)random_between(random, 1, 5),
                                  .levels = k % 3 == 1 ? 5 : 0,
                                  .n_pi = k % 4,
                                  .n_vf = (k + 1) % 3,
                                  .shared = k % 5 == 3,
                                  .layer_norm = k % 4 == 2,
                                  .activation = (enum net_activation)(k % 3),
                                  .recurrent = k % 6 == 5 || k == 3 ? 32 : 0};
        for (int l = 0; l < NET_LAYERS_MAX; l++) {
            shape.pi[l] = (int)random_between(random, 1, 80);
            shape.vf[l] = (int)random_between(random, 1, 80);
        }
        if (k == 11)
            shape = (struct net_shape){.observation = 256,
                                       .actions = 5,
                                       .n_pi = 3,
                                       .n_vf = 3,
                                       .pi = {2048, 1024, 512},
                                       .vf = {2048, 1024, 512}};
        trained_made_open(&made, random, shape, k == 4 ? 3 : 0, set, SET_WIDTH, &market);
        snprintf(path, sizeof path, "%s/%d.safetensors", dir, k);
        if (policy_trained_write(path, &made.source, err) < 0 ||
            policy_trained_load(path, &trained, err) < 0) {
            fprintf(stderr, "%s\n", err);
            return EXIT_FAILURE;
        }
        write_io(dir, k, trained, random);
        policy_trained_destroy(trained);
        trained_made_close(&made);
    }
    return check_done("strategy/trained oracle");
}

int main(int argc, char **argv)
{
    struct random random = random_seeded("trained", 20261122);
    if (argc == 3 && strcmp(argv[1], "oracle") == 0)
        return write_oracles(&random, argv[2]);
    test_round_trips(&random);
    test_environment();
    test_bad(&random);
    test_damage(&random, getenv("PAPERTAPE_LONG") ? 200000 : 4000);
    return check_done("strategy/trained");
}
