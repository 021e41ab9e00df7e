/* [study] and [search]: what is written is read, what is wrong is named by line, the default search space is
 * the one that the reference searched, the example has all of it, and a trial's values reach their keys. */
#include "trainer/study/settings_table.h"

#include <errno.h>
#include <jansson.h>

#include "tests/check.h"
#include "trainer/study/outcome.h"

#define MARKET "[data]\nbars = A.csv\n"

static char err[CONFIG_ERROR_MAX];
static struct train_config config, applied;
static struct study_settings settings;

static bool parse(const char *text)
{
    bool is_study;
    study_settings_finish(&settings);
    int r = study_settings_parse_at("F.ini", text, INT64_C(1700000000) * 1000000000, &config, &settings,
                                    &is_study, err);
    CHECK_INT(r, 0);
    if (r < 0)
        fprintf(stderr, "%s\n", err);
    return r == 0 && is_study;
}

static const struct distribution *of(const char *name)
{
    for (int i = 0; i < settings.space.n; i++)
        if (strcmp(settings.space.params[i].name, name) == 0)
            return &settings.space.params[i].distribution;
    check_failures++;
    fprintf(stderr, "%s is not searched\n", name);
    exit(EXIT_FAILURE);
}

/* ---- What is wrong. ---- */

struct first {
    int n, line;
    char section[CONFIG_WORD_MAX], key[CONFIG_WORD_MAX], message[CONFIG_ERROR_MAX];
};

static void take(void *ctx, int line, const char *section, const char *key, const char *message)
{
    struct first *first = ctx;
    if (first->n++ > 0)
        return;
    first->line = line;
    snprintf(first->section, sizeof first->section, "%s", section);
    snprintf(first->key, sizeof first->key, "%s", key);
    snprintf(first->message, sizeof first->message, "%s", message);
}

/* By each of the two ways to read it. */
static void refused(const char *text, int line, const char *section, const char *key, const char *words)
{
    char where[64];
    bool is_study;
    struct first first = {0};
    struct study_settings untouched = {.trials = -7};
    CHECK_INT(train_config_errors("F.ini", text, NULL, take, &first), 1);
    CHECK_INT(first.line, line);
    CHECK_STR(first.section, section);
    CHECK_STR(first.key, key);
    int r = study_settings_parse("F.ini", text, &config, &untouched, &is_study, err);
    CHECK(r < 0 && untouched.trials == -7);
    if (!*key)
        snprintf(where, sizeof where, "F.ini:%d: [%s]: ", line, section);
    else
        snprintf(where, sizeof where, "F.ini:%d: [%s] %s: ", line, section, key);
    if (strncmp(err, "F.ini: ", 7) == 0) /* of how keys fit: no line is given where the first error ends it */
        snprintf(where, sizeof where, "F.ini: [%s] %s: ", section, key);
    bool named =
        strncmp(err, where, strlen(where)) == 0 && strstr(err, words) && strstr(first.message, words);
    CHECK(named && !strchr(err, '\n'));
    if (!named)
        fprintf(stderr, "of \"%s\":\n  %s\n  %s\n  \"%s\" and \"%s\" are right\n", text, err, first.message,
                where, words);
}
#define STUDY(line, key, words)  refused(MARKET "[study]\n" line "\n", 4, "study", key, words)
#define SEARCH(line, key, words) refused(MARKET "[search]\n" line "\n", 4, "search", key, words)

static void test_refused(void)
{
    STUDY("trails = 5", "trails", "did you mean trials?");
    STUDY("trials = 0", "trials", "from 1 to 1000000");
    STUDY("trials = many", "trials", "whole number");
    STUDY("sampler = tpee", "sampler", "(tpe, random, grid, mcmc)");
    STUDY("pruner = hyper", "pruner", "(none, median, asha, hyperband)");
    STUDY("validation = cpcv:5", "validation", "cpcv");
    STUDY("validation = cpcv:2,2", "validation", "cpcv");
    STUDY("validation = cpcv:12,6", "validation", "924 splits, each a training: at most 256");
    STUDY("validation = cpcv:50,25", "validation", "more than 10000 splits: at most 256");
    STUDY("purge_bars = -1", "purge_bars", "auto");
    STUDY("holdout = 0.95", "holdout", "0 to 0.9");
    STUDY("holdout = nan", "holdout", "0 to 0.9");
    STUDY("tpe_multivariate = yes", "tpe_multivariate", "one of false, true is needed");
    STUDY("every = 1q", "every", "s, m, h, d, w or y");
    STUDY("every = 5", "every", "12h");
    STUDY("expires = -1d", "expires", "12h");
    STUDY("combine = median", "combine", "(mean, majority, sharpe)");
    STUDY("space = all", "space", "one of search, default is needed");
    STUDY("copies = 4", "copies", "unknown key");
    STUDY("grace_s = 5", "grace_s", "twice heartbeat_s");
    refused(MARKET "[study]\ntrials = 3\ntrials = 4\n", 5, "study", "trials", "already set in line 4");
    refused(MARKET "[study]\ntrials = 2\nensemble = 3\n", 5, "study", "ensemble",
            "at most as many as trials");
    refused(MARKET "[study]\npruner_min_resource = 0\npruner = hyperband\n", 4, "study",
            "pruner_min_resource", "1 or more");
    refused(MARKET "[study]\npruner = hyperband\npruner_max_resource = 2\npruner_min_resource = 3\n", 5,
            "study", "pruner_max_resource", "pruner_min_resource");
    refused(MARKET "[study]\npruner = asha\npruner_bootstrap_count = 2\n", 5, "study",
            "pruner_bootstrap_count", "0 is right with an automatic pruner_min_resource");
    refused(MARKET "[study]\npruner_bootstrap_count = 2\npruner = hyperband\n", 4, "study",
            "pruner_bootstrap_count", "0 is right with an automatic pruner_max_resource");
    STUDY("pruner_reduction_factor = 1", "pruner_reduction_factor", "2 or more");
    /* of the default space; and (1e9 + 1)^2 * 300 * 5 */
    STUDY("sampler = grid", "sampler", "points: less than 1.8e19 are right");
    refused(MARKET "[study]\nsampler = grid\n[search]\ngamma = 0.1..0.2 step 1e-10\n"
                   "gae_lambda = 0.1..0.2 step 1e-10\nepochs = 1..300\nclip_range = 0.1..0.2\n",
            4, "study", "sampler", "1.5e+21 points: less than 1.8e19 are right");
    refused(MARKET "[ppo]\nholdout = 0.1\n", 4, "ppo", "holdout", "it belongs to [study]");

    SEARCH("learning_rat = 1e-6..1e-3", "learning_rat", "did you mean learning_rate?");
    SEARCH("batch_size = 1..3", "batch_size", "minibatch is its name");
    SEARCH("lr = 1e-5..1e-3", "lr", "learning_rate is its name");
    SEARCH("value_loss_coef = 0..1", "value_loss_coef", "vf_coef is its name");
    SEARCH("bars = a | b", "bars", "it is not searched: it belongs to [data]");
    SEARCH("threads = 1..4", "threads", "it is not searched: it belongs to [training]");
    SEARCH("session = regular | extended", "session", "it is not searched: it belongs to [environment]");
    SEARCH("execution = market | reference", "execution", "it is not searched");
    SEARCH("start = 0..100", "start", "it is not searched");
    SEARCH("threshold = 0.1..0.5", "threshold",
           "it has no effect with [environment] task = portfolio: day-trade is right");
    SEARCH("lr_final = 0.1..0.5", "lr_final", "lr_schedule = constant: another than constant is right");
    SEARCH("sequence = 8 | 16", "sequence", "recurrent = 0: another than 0 is right");
    SEARCH("trials = 1..4", "trials", "it is not searched: it belongs to [study]");
    SEARCH("learning_rate = 1e-3..1e-6 log", "learning_rate", "the lower number first");
    SEARCH("learning_rate = 0..1e-3 log", "learning_rate", "log");
    SEARCH("learning_rate = 1e-6..20", "learning_rate", "20");
    SEARCH("learning_rate = 1e-3", "learning_rate", "A..B");
    SEARCH("learning_rate = ..1e-3", "learning_rate", "A..B");
    SEARCH("learning_rate = 1e-6..", "learning_rate", "A..B");
    SEARCH("learning_rate =", "learning_rate", "A..B");
    SEARCH("learning_rate = 1e-6..1e-3 lin", "learning_rate", "log, step S and hourly");
    SEARCH("learning_rate = 1e-6..1e-3 log log", "learning_rate", "each once");
    SEARCH("learning_rate = 1e-6..1e-3 step", "learning_rate", "a number above 0");
    SEARCH("learning_rate = 1e-6..1e-3 step -1", "learning_rate", "a number above 0");
    SEARCH("learning_rate = 1e-6..1e-3 log step 1e-6", "learning_rate", "step");
    SEARCH("learning_rate = inf..1", "learning_rate", "A..B");
    SEARCH("learning_rate = 2^..1", "learning_rate", "A..B");
    SEARCH("epochs = 1.5..4", "epochs", "whole numbers");
    SEARCH("epochs = 1..4 step 0.5", "epochs", "whole numbers");
    SEARCH("epochs = 0..4", "epochs", "1 to 1000");
    SEARCH("epochs = 2 | two", "epochs", "two");
    SEARCH("epochs = 2 | ", "epochs", "an empty choice");
    SEARCH("epochs = 2 | 3 | 2", "epochs", "each choice once");
    SEARCH("lr_schedule = linear | cosine", "lr_schedule", "cosine");
    SEARCH("lr_schedule = 1..2", "lr_schedule", "choices");
    SEARCH("layer_norm = 0..1", "layer_norm", "choices");
    SEARCH("net_dimension = 0..512", "net_dimension", "1 to 8192");
    SEARCH("net_dimension = 64 | 9000", "net_dimension", "1 to 8192");
    refused(MARKET "[search]\nepochs = 1..4\nepochs = 2..3\n", 5, "search", "epochs",
            "already set in line 4");
    refused("[training]\nworld = cartpole\n[search]\nepochs = 1..4\n", 4, "search", "epochs", "is no market");
    refused(MARKET "[serch]\n", 3, "serch", "", "did you mean search?");
    refused(MARKET "train_from = now-\n", 3, "data", "train_from", "now-90d");
    refused(MARKET "train_from = now-0d\n", 3, "data", "train_from", "now-90d");
    refused(MARKET "train_from = nowadays\n", 3, "data", "train_from", "now-90d");
    refused(MARKET "train_from = now-99999w\n", 3, "data", "train_from", "now-90d");
    refused(MARKET "train_from = now-0.5s\n", 3, "data", "train_from", "now-90d"); /* to the second */
    refused(MARKET "train_from = now+1d\n", 3, "data", "train_from", "now-90d");
}

/* ---- What is right. ---- */

static void check_number(const char *name, enum distribution_kind kind, double low, double high, double step,
                         bool is_log)
{
    const struct distribution *is = of(name);
    CHECK(is->kind == kind && is->low == low && is->high == high && is->step == step && is->log == is_log);
    if (!(is->kind == kind && is->low == low && is->high == high && is->step == step && is->log == is_log)) {
        char *text = distribution_text(is);
        fprintf(stderr, "%s is %s\n", name, text);
        free(text);
    }
}

static void check_choices(const char *name, const char *json)
{
    json_t *right = json_loads(json, 0, NULL);
    CHECK(of(name)->kind == DISTRIBUTION_CATEGORICAL && json_equal(of(name)->choices, right));
    json_decref(right);
}

static void test_read(void)
{
    CHECK(
        parse("[search]\nlearning_rate = 1e-6..1e-3 log ; a comment\nnorm_cash=2^-16 .. 2^-10 log\n"
              "epochs = 4..16 step 3\nminibatch = 2^5 | 64|128\nlayer_norm = true | false\n"
              "lr_schedule = constant | linear\npolicy_layers = 64,64 | 128\nsteps = 64..1024 log\n"
              "gamma = .9..1 step .01\nnorm_action = 1000..25000\ninitial_capital = 900..1100\n"
              "net_dimension = 32 | 64\nlog_std_init = -1..0\nvf_coef = 0.25 | 1\n"
              "total_steps = 100..200 hourly\n"
              "[study]\npruner_n_startup_trials = 9\ntrials = 7\npruner = asha\nsampler = mcmc\nevery = 36h\n"
              "validation = walk-forward:4\npurge_bars = 12\nseed = 9007199254740992\nexpires = 2w\n"
              "tpe_multivariate = false\nmin_trades = 3\ncombine = sharpe\nensemble = 5\n" MARKET
              "interval = 5m\n"));
    check_number("learning_rate", DISTRIBUTION_FLOAT, 1e-6, 1e-3, 0, true);
    check_number("norm_cash", DISTRIBUTION_FLOAT, 0x1p-16, 0x1p-10, 0, true);
    check_number("epochs", DISTRIBUTION_INT, 4, 16, 3, false);
    check_number("steps", DISTRIBUTION_INT, 64, 1024, 1, true);
    check_number("gamma", DISTRIBUTION_FLOAT, 0.9, 1, 0.01, false);
    check_number("norm_action", DISTRIBUTION_FLOAT, 1000, 25000, 0, false);
    check_number("initial_capital", DISTRIBUTION_FLOAT, 900, 1100, 0, false);
    check_number("log_std_init", DISTRIBUTION_FLOAT, -1, 0, 0, false);
    check_number("total_steps", DISTRIBUTION_INT, 1200, 2400, 1, false); /* twelve bars of 5m an hour */
    check_choices("minibatch", "[32, 64, 128]");
    check_choices("layer_norm", "[true, false]");
    check_choices("lr_schedule", "[\"constant\", \"linear\"]");
    check_choices("policy_layers", "[\"64,64\", \"128\"]");
    check_choices("net_dimension", "[32, 64]");
    check_choices("vf_coef", "[0.25, 1.0]");
    CHECK_INT(settings.space.n, 15);
    for (int i = 1; i < settings.space.n; i++)
        CHECK(strcmp(settings.space.params[i - 1].name, settings.space.params[i].name) < 0);
    CHECK(settings.trials == 7 && settings.pruner.kind == PRUNER_ASHA &&
          settings.pruner.n_startup_trials == 9); /* the pruner's own defaults first, wherever it stands */
    CHECK(settings.sampler.kind == SAMPLER_METROPOLIS && settings.sampler.seed == UINT64_C(1) << 53);
    CHECK(!settings.sampler.tpe.multivariate && settings.sampler.tpe.constant_liar);
    CHECK(settings.split.kind == SPLIT_WALK_FORWARD && settings.split.combinations == 4);
    CHECK(settings.purge_bars == 12 && settings.embargo_bars == -1 && settings.gates.min_trades == 3);
    CHECK_INT(settings.every_ns, INT64_C(36) * 3600 * 1000000000);
    CHECK_INT(settings.expires_ns, INT64_C(14) * 86400 * 1000000000);
    CHECK_INT(settings.combine, ENSEMBLE_SHARPE);

    bool is_study;
    study_settings_finish(&settings);
    CHECK_INT(study_settings_parse("F.ini", MARKET, &config, &settings, &is_study, err), 0);
    CHECK(!is_study && settings.trials == 100);
    study_settings_finish(&settings);
    CHECK_INT(study_settings_parse("F.ini", MARKET "[study]\n", &config, &settings, &is_study, err), 0);
    CHECK(is_study); /* a heading is enough */
}

/* Keys of [search] replace the default space. */
static void test_space(void)
{
    size_t n;
    (void)study_settings_default_space(&n);
    CHECK(parse(MARKET "[study]\ntrials = 3\n") && settings.space.n == (int)n);
    CHECK(parse(MARKET "[search]\n") && settings.space.n == (int)n);
    CHECK(parse(MARKET "[search]\nepochs = 1..2\n") && settings.space.n == 1);
    CHECK(parse(MARKET "[search]\nepochs = 1..2\ncopies = 2..4\n[study]\nspace = default\n") &&
          settings.space.n == (int)n + 1);
    check_number("epochs", DISTRIBUTION_INT, 1, 2, 1, false);
    check_number("copies", DISTRIBUTION_INT, 2, 4, 1, false);
}

/* The ranges of the reference systems: what a study searches by default. */
static void test_default_space(void)
{
    static const struct {
        const char *name;
        double low, high;
        bool whole, log;
    } numbers[] = {
        {"learning_rate", 1e-6, 1e-3, false, true},
        {"gamma", 0.88, 0.99, false, false},
        {"net_dimension", 512, 1536, true, false},
        {"steps", 256, 1024, true, false},
        {"total_steps", 30000, 140000, true, false},
        {"lookback", 1, 5, true, false},
        {"norm_cash", 0x1p-16, 0x1p-10, false, true},
        {"norm_stocks", 0x1p-11, 0x1p-5, false, true},
        {"norm_tech", 0x1p-19, 0x1p-12, false, true},
        {"norm_reward", 0x1p-14, 0x1p-7, false, true},
        {"norm_action", 1000, 25000, false, false},
        {"time_decay_floor", 0, 0.5, false, false},
        {"clip_range", 0.1, 0.4, false, false},
        {"ent_coef", 1e-5, 1e-2, false, true},
        {"vf_coef", 0.25, 1, false, false},
        {"max_grad_norm", 0.3, 2, false, false},
        {"gae_lambda", 0.9, 0.99, false, false},
        {"epochs", 4, 16, true, false},
        {"target_kl", 0.005, 0.03, false, false},
        {"adam_epsilon", 1e-9, 1e-5, false, true},
        {"lr_final", 0.5, 0.95, false, false},
        {"min_cash_reserve", 0.04, 0.3, false, false},
        {"concentration_penalty", 0, 0.1, false, false},
        {"drawdown_penalty", 0, 1, false, false},
        {"volatility_penalty", 0, 10, false, false},
    };
    CHECK(parse(MARKET "[study]\n"));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        const struct distribution *is = of(numbers[i].name);
        bool right = is->kind == (numbers[i].whole ? DISTRIBUTION_INT : DISTRIBUTION_FLOAT) &&
                     is->low == numbers[i].low && is->high == numbers[i].high && is->log == numbers[i].log;
        CHECK(right);
        if (!right)
            fprintf(stderr, "the default range of %s\n", numbers[i].name);
    }
    check_choices("minibatch", "[2048, 4096, 8192, 16384]");
    check_choices("lr_schedule", "[\"constant\", \"linear\", \"exponential\"]");
    CHECK(of("trailing_stop_pct")->low == 0);
    CHECK_INT(settings.space.n, 28);
    CHECK(parse(MARKET "interval = 15m\n[study]\n"));
    check_number("total_steps", DISTRIBUTION_INT, 120000, 560000, 1, false);
    CHECK(parse(MARKET "interval = 1d\n[study]\n"));
    check_number("total_steps", DISTRIBUTION_INT, 30000, 140000, 1, false);
}

/* Every key's default reads back as itself, and so do its ends. */
static void test_keys(void)
{
    char text[128], again[128];
    size_t n;
    const struct config_key *keys = study_settings_keys(&n);
    struct study_settings fresh = study_settings_defaults(), other = study_settings_defaults();
    CHECK(n == study_settings_table_n);
    for (size_t i = 0; i < n; i++) {
        CHECK_STR(keys[i].section, "study");
        CHECK(keys[i].about && *keys[i].about);
        CHECK_INT(study_settings_get(&fresh, keys[i].name, text, sizeof text), 0);
        CHECK_INT(study_settings_set_study(&other, keys[i].name, text, err), 0);
        CHECK_INT(study_settings_get(&other, keys[i].name, again, sizeof again), 0);
        CHECK_STR(again, text);
        for (int end = 0; end < 2 && keys[i].kind <= CONFIG_SPAN; end++) {
            struct study_settings ends = study_settings_defaults();
            snprintf(text, sizeof text, "%.17g", end ? keys[i].max : keys[i].min);
            CHECK_INT(study_settings_set_study(&ends, keys[i].name, text, err), 0);
            CHECK_INT(study_settings_get(&ends, keys[i].name, again, sizeof again), 0);
            CHECK(strtod(again, NULL) == (end ? keys[i].max : keys[i].min));
        }
    }
    static const char *const splits[] = {"cpcv:6,3", "kfold:4", "walk-forward:3"};
    for (int i = 0; i < 3; i++) {
        CHECK_INT(study_settings_set_study(&other, "validation", splits[i], err), 0);
        CHECK_INT(study_settings_get(&other, "validation", text, sizeof text), 0);
        CHECK_STR(text, splits[i]);
    }
    CHECK_INT(study_settings_get(&fresh, "trails", text, sizeof text), -ENOENT);
    CHECK_INT(study_settings_get(&fresh, "validation", text, 4), -ENAMETOOLONG);
}

/* A proposal's expires_s: whole seconds as ever, and no fraction of one is lost. */
static void test_expires(void)
{
    static const struct {
        const char *line, *json;
    } rows[] = {{"", "null"},
                {"expires = 14d\n", "1209600"},
                {"expires = 1.5s\n", "1.5"},
                {"expires = 0.5s\n", "0.5"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[512];
        snprintf(text, sizeof text, MARKET "[study]\ntrials = 5\n%s", rows[i].line);
        CHECK(parse(text));
        json_t *found = study_outcome_expires(&settings);
        char *words = json_dumps(found, JSON_ENCODE_ANY | JSON_REAL_PRECISION(6));
        CHECK_STR(words, rows[i].json);
        free(words);
        json_decref(found);
    }
}

/* ---- Times relative to now. ---- */

static void test_now(void)
{
    const int64_t now = INT64_C(1700000000) * 1000000000, day = INT64_C(86400) * 1000000000;
    CHECK(!parse(MARKET "train_from = now-90d\ntrain_to = now-2w\ntest_from = now-1.5d\ntest_to = now\n"));
    CHECK_INT(config.data.train_from, now - 90 * day);
    CHECK_INT(config.data.train_to, now - 14 * day);
    CHECK_INT(config.data.test_from, now - day - day / 2);
    CHECK_INT(config.data.test_to, now);
    CHECK_INT(config.now_ns, now);
    /* By the clock all times of a file have the same now. */
    CHECK_INT(train_config_parse("F.ini", MARKET "train_from = now-1d\ntrain_to = now\n", &config, err), 0);
    CHECK_INT(config.data.train_to - config.data.train_from, day);
    CHECK(config.data.train_to > now && config.data.train_to == config.now_ns);
    /* What is written out is what it was then. */
    char *text = train_config_text(&config);
    CHECK(text && !strstr(text, "now"));
    CHECK_INT(train_config_parse("F.ini", text, &applied, err), 0);
    CHECK_INT(applied.data.train_to, config.data.train_to);
    free(text);
}

/* ---- A trial's values. ---- */

static void test_apply(void)
{
    double values[16];
    CHECK(parse(MARKET "[ppo]\ncopies = 4\nsteps = 100\nminibatch = 50\nlearning_rate = "
                       "0.5\n[network]\npolicy_layers = 8,8,8\n"
                       "value_layers = 8\n"
                       "[search]\nclip_range = 0.1..0.4\ngamma = 0.9..0.99\nlayer_norm = false | true\n"
                       "lookback = 1..5\nlr_schedule = constant | exponential\nminibatch = 64 | 4096\n"
                       "net_dimension = 16..64\nvalue_layers = 32 | none\n"));
    const char *const names[] = {"clip_range",  "gamma",     "layer_norm",    "lookback",
                                 "lr_schedule", "minibatch", "net_dimension", "value_layers"};
    const double picked[] = {0.1 + 0.2, 0.95, 1, 4, 1, 1, 48, 0};
    CHECK_INT(settings.space.n, 8);
    for (int i = 0; i < settings.space.n; i++)
        CHECK_STR(settings.space.params[i].name, names[i]);
    memcpy(values, picked, sizeof picked);
    CHECK_INT(study_settings_apply(&config, &settings.space, values, &applied, err), 0);
    CHECK(applied.ppo.clip_range == 0.1 + 0.2 && applied.ppo.gamma == 0.95 && applied.env.gamma == 0.95);
    CHECK(applied.ppo.net.layer_norm && applied.env.lookback == 4);
    CHECK(applied.ppo.lr_schedule == PPO_EXPONENTIAL && applied.ppo.learning_rate == 0.5);
    CHECK_INT(applied.ppo.minibatch, 400); /* the rollout's rows */
    CHECK(applied.ppo.net.n_pi == 3 && applied.ppo.net.pi[0] == 48 && applied.ppo.net.pi[2] == 48);
    CHECK(applied.ppo.net.n_vf == 1 && applied.ppo.net.vf[0] == 32); /* in the order of their names */
    values[5] = 0;
    CHECK_INT(study_settings_apply(&config, &settings.space, values, &applied, err), 0);
    CHECK_INT(applied.ppo.minibatch, 64);

    /* Of two keys of one name the reward's is searched, the objective's stays. */
    CHECK(parse(MARKET "[environment]\ndrawdown_penalty = 3\n[study]\ndrawdown_penalty = 7\n"
                       "[search]\ndrawdown_penalty = 0..1\nvolatility_penalty = 0..10\n"));
    values[0] = 0.5, values[1] = 4;
    CHECK_INT(study_settings_apply(&config, &settings.space, values, &applied, err), 0);
    CHECK(applied.env.drawdown_penalty == 0.5 && applied.env.volatility_penalty == 4);
    CHECK(config.env.drawdown_penalty == 3 && config.env.volatility_penalty == 0);
    CHECK(settings.drawdown_penalty == 7 && settings.volatility_penalty == 0);

    /* Whole sequences of a recurrent layer. */
    CHECK(parse(MARKET
                "[network]\nrecurrent = 16\nsequence = 16\n[ppo]\ncopies = 1\nsteps = 64\nminibatch = 64\n"
                "[search]\nsteps = 16..100\nminibatch = 20..90\n"));
    values[0] = 90, values[1] = 70;
    CHECK_INT(study_settings_apply(&config, &settings.space, values, &applied, err), 0);
    CHECK(applied.ppo.steps == 64 && applied.ppo.minibatch == 64);

    /* Each right, but not together. */
    CHECK(parse(MARKET "[search]\nlog_std_init = -5..2\nlog_std_min = -4..0\n"));
    applied.ppo.steps = -1;
    values[0] = -5, values[1] = -1;
    CHECK_INT(study_settings_apply(&config, &settings.space, values, &applied, err), -EINVAL);
    CHECK(strstr(err, "log_std_init") && applied.ppo.steps == -1);
    values[0] = 3; /* beyond its range */
    CHECK_INT(study_settings_apply(&config, &settings.space, values, &applied, err), -EINVAL);
    CHECK(strstr(err, "log_std_init"));
}

/* ---- The example. ---- */

/* Taken out of its comments it is a study with every default, and the default search space. */
static void test_example(const char *path)
{
    static char text[1 << 16], bare[1 << 16];
    char value[128], was[128], line[256];
    size_t n, n_space, at = 0;
    const struct config_key *keys = study_settings_keys(&n);
    const struct study_default *space = study_settings_default_space(&n_space);
    const struct study_settings fresh = study_settings_defaults();
    FILE *file = fopen(path, "re");
    size_t size = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    text[size] = '\0';
    for (const char *p = text; *p; p++) {
        bool begins = p == text || p[-1] == '\n';
        if (!(begins && *p == '#' && p[1] != ' '))
            bare[at++] = *p;
    }
    CHECK(parse(bare));
    for (size_t i = 0; i < n; i++) {
        CHECK_INT(study_settings_get(&settings, keys[i].name, value, sizeof value), 0);
        CHECK_INT(study_settings_get(&fresh, keys[i].name, was, sizeof was), 0);
        CHECK_STR(value, was);
        snprintf(line, sizeof line, "\n#%s =%s%s\n", keys[i].name, was[0] ? " " : "", was);
        CHECK(strstr(text, line) != NULL);
    }
    const char *search = strstr(text, "\n#[search]\n");
    CHECK(search && settings.space.n == (int)n_space);
    for (size_t i = 0; i < n_space && search; i++) {
        snprintf(line, sizeof line, "\n#%s = %s\n", space[i].key, space[i].range);
        const char *there = strstr(search, line), *before = there;
        while (before && before > text && before[-1] != '\n')
            before--;
        CHECK(there && strncmp(before, "# ", 2) == 0);
        if (!there)
            fprintf(stderr, "%s: [search] %s\n", path, line);
    }
    bool is_study;
    study_settings_finish(&settings);
    CHECK_INT(study_settings_parse("F.ini", text, &config, &settings, &is_study, err), 0);
    CHECK(!is_study); /* as it stands there it is a training */
}

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    test_refused();
    test_read();
    test_space();
    test_default_space();
    test_keys();
    test_expires();
    test_now();
    test_apply();
    test_example(argv[1]);
    study_settings_finish(&settings);
    return check_done("trainer/study/settings");
}
