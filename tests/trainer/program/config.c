/* The configuration: what is written is read, every key stands in the example, and what is wrong is named. */
#include "trainer/config.h"

#include <errno.h>
#include <stdint.h>

#include "strategy/policy/session_columns.h"
#include "tests/check.h"
#include "tests/scratch.h"

enum { KEYS_MAX = 256 };

static char err[CONFIG_ERROR_MAX];
static struct train_config config, other;
static const struct config_key *keys;
static size_t n_keys;

static void refused(const char *text, int code, const char *const *words)
{
    err[0] = '\0';
    other.name[0] = '!';
    CHECK_INT(train_config_parse("F.ini", text, &other, err), code);
    CHECK(other.name[0] == '!'); /* untouched */
    for (; *words; words++)
        if (!strstr(err, *words)) {
            check_failures++;
            fprintf(stderr, "\"%s\" is not in: %s\nof: %s\n", *words, err, text);
        }
    CHECK(strncmp(err, "F.ini", 5) == 0 && !strchr(err, '\n'));
}
#define REFUSED(text, code, ...) refused(text, code, (const char *const[]){__VA_ARGS__, NULL})

/* A market's least file, and `more`. */
#define MARKET "[data]\nbars = A.csv\n"

static void test_refused(void)
{
    REFUSED("[trainin]\n", -EINVAL, "F.ini:1:", "[trainin]", "unknown section", "did you mean training?");
    REFUSED("[data]\nbars = A.csv\n\n[pp]\nx = 1\n", -EINVAL, ":4:", "did you mean ppo?");
    REFUSED(MARKET "[ppo]\ncoppies = 4\n", -EINVAL, ":4:", "[ppo] coppies", "did you mean copies?");
    REFUSED(MARKET "[training]\nevaluate_evry = 4\n", -EINVAL, ":4:", "did you mean evaluate_every?");
    REFUSED(MARKET "[environment]\nlookbak = 4\n", -EINVAL, ":4:", "[environment]", "lookback");
    REFUSED(MARKET "symbls = A\n", -EINVAL, ":3:", "did you mean symbols?");
    REFUSED(MARKET "gamma = 1\n", -EINVAL, ":3:", "[data] gamma", "belongs to [ppo]");
    REFUSED(MARKET "[environment]\ncopies = 4\n", -EINVAL, ":4:", "belongs to [ppo]");
    REFUSED(MARKET "[ppo]\nlookback = 4\n", -EINVAL, ":4:", "belongs to [environment]");
    REFUSED(MARKET "[ppo]\nbars = 4\n", -EINVAL, ":4:", "belongs to [data]");
    REFUSED(MARKET "[ppo]\ngamma = 1.5\n", -EINVAL, ":4:", "gamma", "1.5", "0 to 1");
    REFUSED(MARKET "[ppo]\ngamma = a\n", -EINVAL, ":4:", "gamma", "a number");
    REFUSED(MARKET "[network]\npolicy_layers = 64;64\n", -EINVAL, ":4:", "policy_layers", "64,64");
    REFUSED(MARKET "[network]\nactivation = tan\n", -EINVAL, ":4:", "activation", "tanh");
    REFUSED(MARKET "[training]\ncheckpoint_keep = 0\n", -EINVAL, ":4:", "checkpoint_keep", "from 1");
    REFUSED(MARKET "[training]\ncheckpoint_every = -1\n", -EINVAL, ":4:", "checkpoint_every", "from 0");
    REFUSED(MARKET "[training]\ncheckpoint_every = 1.5\n", -EINVAL, ":4:", "whole number");
    REFUSED(MARKET "[training]\nname = a/b\n", -EINVAL, ":4:", "name", "a/b");
    REFUSED(MARKET "[training]\nname =\n", -EINVAL, ":4:", "name");
    REFUSED("[data]\nbars =;A.csv\n", -EINVAL, ":2:", "bars", ";");
    REFUSED(MARKET "features = a\tb\n", -EINVAL, ":3:", "features");
    REFUSED(MARKET "[training]\npreset = refrence-4080\n", -EINVAL, ":4:", "reference-4080");
    REFUSED(MARKET "[environment]\npreset = markt\n", -EINVAL, ":4:", "did you mean market?");
    REFUSED(MARKET "[environment]\nautoreset = off\n", -EINVAL, ":4:", "autoreset", "same_step");
    REFUSED(MARKET "[training]\nworld = cartpole\n", -EINVAL, "[data]", "no market");
    REFUSED(MARKET "[training]\nworld = cartpol\n", -EINVAL, "[training] world", "cartpole");
    REFUSED("[training]\nworld = cartpol\n", -EINVAL, ":2:", "[training] world", "cartpole");
    REFUSED("[training]\nworld = cartpole\n[data]\nbars = A.csv\n", -EINVAL, ":4:", "no market");
    REFUSED("", -EINVAL, "F.ini: ", "[data] bars");
    REFUSED(MARKET "[serve]\npriority = 101\n", -EINVAL, ":4:", "[serve] priority", "-100 to 100");
    REFUSED(MARKET "[serve]\nprioritee = 1\n", -EINVAL, ":4:", "did you mean priority?");
    REFUSED(MARKET "[serve]\nrestarts = -1\n", -EINVAL, ":4:", "restarts", "from 0");
    REFUSED(MARKET "[serve]\ncpu_hours = -1\n", -EINVAL, ":4:", "cpu_hours", "0 to 876000");
    REFUSED(MARKET "[serve]\ncpu_hours = nan\n", -EINVAL, ":4:", "cpu_hours", "a number");
    REFUSED(MARKET "[ppo]\nmemory_mib = 1\n", -EINVAL, ":4:", "belongs to [serve]");
    REFUSED(MARKET "[environment]\nlevels = 4\n", -EINVAL, ":4:", "[environment] levels", "odd");
    REFUSED(MARKET "state = /x\n", -EINVAL, "[data] state", "one of the two");
    REFUSED("[data]\nstate = /x\n", -EINVAL, "[data] symbols");
    REFUSED("[data]\nstate = /x\nsymbols = A\n", -EINVAL, "[data] interval");
    REFUSED(MARKET "interval = 7m\n", -EINVAL, ":3:", "interval", "5m");
    REFUSED(MARKET "session_features = pre\n", -EINVAL, "session_features", "calendar", "nyse");
    REFUSED(MARKET "calendar = nyse\nsession_features = pre, noon\n", -EINVAL, ":4:", "session_features",
            "\"pre, noon\"", "elapsed");
    REFUSED(MARKET "session_features = pre,, post\n", -EINVAL, ":3:", "each at most once");
    REFUSED(MARKET "session_features = pre post\n", -EINVAL, ":3:", "with commas");
    REFUSED(MARKET "session_features = post, elapsed, post\n", -EINVAL, ":3:", "at most once");
    REFUSED(MARKET "session_features = elapsed,\n", -EINVAL, ":3:", "session_features");
    REFUSED(MARKET "train_from = yesterday\n", -EINVAL, ":3:", "train_from", "2024-05-01");
    REFUSED(MARKET "train_from = 2024-02-01\ntrain_to = 2024-01-01\n", -EINVAL, "train_to", "train_from");
    REFUSED(MARKET "test_to = 2024-02-01\n", -EINVAL, "test_from");
    REFUSED(MARKET "test_from = 2024-02-01\npurge_bars = 5\n", -EINVAL, ":4:", "purge_bars", "shares");
    REFUSED(MARKET "test_from = 2024-02-01\n[training]\npatience = 5\n", -EINVAL,
            ":5:", "no rows of validation");
    REFUSED(MARKET "validation_share = 0\n[training]\npatience = 5\n", -EINVAL,
            ":5:", "no rows of validation");
    REFUSED(MARKET "[training]\npatience = 5\nevaluate_every = 0\n", -EINVAL, ":4:", "evaluate_every");
    REFUSED(MARKET "train_to = 2024-02-01\ntest_from = 2024-01-01\n", -EINVAL, "test_from", "train_to");
    REFUSED(MARKET "test_from = 2024-01-01\nfit_to = 2024-01-02\n", -EINVAL, "fit_to", "test_from");
    REFUSED(MARKET "[ppo]\ncopies = 4\ncopies = 4\n", -EINVAL, ":5:", "already set in line 4");
    REFUSED(MARKET "[ppo]\nseed = 4\n[training]\nseed = 4\n", -EINVAL, ":6:", "already set in line 4");
    REFUSED("copies = 4\n", -EINVAL, ":1:", "before any section");
    REFUSED(MARKET "[ppo]\ncopies\n", -EINVAL, ":4:", "KEY = VALUE");
    REFUSED(MARKET "[ppo]\nminibatch = 100000\n", -EINVAL, ":4:", "minibatch");
    char *line = malloc(CONFIG_LINE_MAX + 100);
    int n = snprintf(line, 64, MARKET "features = ");
    memset(line + n, 'x', CONFIG_LINE_MAX);
    line[n + CONFIG_PATH_MAX] = '\0';
    REFUSED(line, -EINVAL, ":3:", "features", "1023");
    line[n + CONFIG_PATH_MAX] = 'x';
    line[n + CONFIG_LINE_MAX] = '\0';
    REFUSED(line, -EINVAL, ":3:", "too long");
    free(line);
    CHECK_INT(train_config_read(scratch_path("none.ini"), &other, err), -ENOENT);
    CHECK(strstr(err, "none.ini") && strstr(err, "INI"));
    CHECK(train_config_read(scratch_root(), &other, err) < 0);
    CHECK(strstr(err, scratch_root()));
}

static void test_read(void)
{
    const char *text = "; comment\n[ppo]\nlearning_rate = 1e-3 ; and why\n  seed = 7\n"
                       "[training]\nminibatch = 256\npreset = reference-4080\n"
                       "[environment]\nlookback = 5\npreset = reference\ninitial_capital = 900..1100\n"
                       "[data]\nbars = A_1h.csv, B_1h.csv\ntrain_from = 2024-01-01\ntrain_to = 1706745600\n"
                       "test_from = 2024-02-01T00:00:00Z\ninterval = 1h\n";
    CHECK_INT(train_config_parse("F.ini", text, &config, err), 0);
    CHECK(config.ppo.learning_rate == 1e-3 && config.ppo.seed == 7 && config.ppo.minibatch == 256);
    CHECK(config.ppo.copies == 32 && config.ppo.steps == 4096 && config.ppo.net.n_pi == 3);
    CHECK(config.env.execution == ENV_REFERENCE && config.env.lookback == 5);
    CHECK(config.env.autoreset == ENV_SAME_STEP);
    CHECK(config.env.initial_capital.low == 900 && config.env.initial_capital.high == 1100);
    CHECK_INT(config.data.train_from, INT64_C(1704067200) * 1000000000);
    CHECK_INT(config.data.train_to, INT64_C(1706745600) * 1000000000);
    CHECK_INT(config.data.test_from, config.data.train_to);
    CHECK_INT(config.data.interval_ns, INT64_C(3600) * 1000000000);
    CHECK_STR(config.data.bars, "A_1h.csv, B_1h.csv");
    CHECK_INT(config.data.session_features, 0);
    CHECK_INT(train_config_parse(
                  "F.ini", "[data]\nbars = A_1h.csv\ncalendar = nyse\nsession_features = elapsed ,pre\n",
                  &other, err),
              0);
    CHECK_INT(other.data.session_features, 1 << SESSION_COLUMN_PRE | 1 << SESSION_COLUMN_ELAPSED);
    char *written = train_config_text(&other);
    CHECK(written && strstr(written, "session_features = pre,elapsed\n"));
    free(written);
    CHECK(config.serve.priority == 0 && config.serve.memory_mib == 0 && config.serve.cpu_hours == 0 &&
          config.serve.restarts == 5);
    CHECK_INT(train_config_parse("F.ini",
                                 "[training]\nworld = cartpole\n[serve]\npriority = -100\nmemory_mib = 4096\n"
                                 "cpu_hours = .25\nrestarts = 0\n",
                                 &config, err),
              0);
    CHECK(config.serve.priority == -100 && config.serve.memory_mib == 4096 &&
          config.serve.cpu_hours == 0.25 && config.serve.restarts == 0);

    CHECK_INT(train_config_parse("F.ini", MARKET "test_from = 2024-02-01\n", &config, err), 0);
    CHECK_INT(train_config_train_end(&config.data), config.data.test_from);
    CHECK_INT(train_config_parse("F.ini", MARKET, &config, err), 0);
    CHECK(train_config_train_end(&config.data) == INT64_MAX);
    CHECK_INT(train_config_parse("F.ini", "[training]\nworld = cartpole\n", &config, err), 0);
    CHECK(!train_config_trades(&config));
}

/* Text that is read back is the same text, whatever the values. */
static void test_text(void)
{
    static const char *const files[] = {
        MARKET,
        MARKET "train_to = 2024-02-01\ntest_from = 1706745600.123456\nfit_to = 2.11\nfeatures = market14\n"
               "[network]\npolicy_layers = none\nvalue_layers = 33,7\nrecurrent = 16\nshared_layers = true\n"
               "[ppo]\nlearning_rate = 0.00012345678901234567\nseed = 9007199254740992\nbounded = true\n"
               "[environment]\nexecution = reference\nbuy_cost_pct = 0.001..0.002\nshorts = false\n",
        ("[serve]\ncpu_hours = 0.1\npriority = -3\n[training]\nworld = pendulum\nname = a-b_c.d\npreset = "
         "reference-4080\noutput = /a b/c\n"),
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        CHECK_INT(train_config_parse("F.ini", files[i], &config, err), 0);
        char *text = train_config_text(&config), *again = NULL;
        CHECK(text != NULL);
        int r = text ? train_config_parse("text", text, &other, err) : -ENOMEM;
        CHECK_INT(r, 0);
        if (r < 0)
            fprintf(stderr, "%s\n", err);
        else
            again = train_config_text(&other);
        CHECK_STR(again, text);
        CHECK_INT(train_config_continues(&config, &other, NULL, NULL, err), 0);
        CHECK(train_config_trades(&config) == (strstr(text, "[environment]") != NULL));
        free(text);
        free(again);
    }
}

/* ---- What may change from a checkpoint on. ---- */

/* All that may, always and with --changed; every other key is fixed. */
static const char *const free_keys[] = {"output",      "checkpoint_every", "checkpoint_keep",
                                        "tensorboard", "evaluate_every",   "evaluate_episodes",
                                        "total_steps", "priority",         "memory_mib",
                                        "cpu_hours",   "restarts",         "hung_s",
                                        "patience"};
static const char *const tunable_keys[] = {
    "device",       "memory_cap",           "precision",        "threads",       "log_std_max",
    "log_std_min",  "adam_beta1",           "adam_beta2",       "adam_epsilon",  "bad_updates",
    "bounded",      "clip_range",           "clip_range_final", "clip_range_vf", "clip_rewards",
    "ent_coef",     "ent_coef_final",       "entropy_bound",    "epochs",        "gae_lambda",
    "gamma",        "learning_rate",        "lr_final",         "lr_schedule",   "max_grad_norm",
    "minibatch",    "normalise_advantages", "target_kl",        "value_bound",   "vf_coef",
    "product_plans"};
#define N(list) (sizeof list / sizeof *list)

static bool is_in(const char *const *list, size_t n, const struct config_key *key)
{
    bool there = false;
    for (size_t i = 0; i < n; i++)
        there = there || strcmp(list[i], key->name) == 0;
    return there && strcmp(key->section, "environment") != 0; /* which has a gamma, too */
}

/* Any other value that it may have. */
static bool change(struct train_config *to, const struct config_key *key, const char *before, char *ret,
                   size_t cap)
{
    static const char *const texts[] = {
        "other",   "wide110",   "2024-01-01",     "5m",        "15m",      "none", "7,5",
        "17",      "reference", "reference-4080", "day-trade", "cartpole", "/x",   "America/New_York",
        "10%:50%", "pre"};
    const char *words = key->words;
    for (size_t i = 0; i < N(texts) + 3; i++) {
        if (key->kind <= CONFIG_SPAN && i < 3)
            snprintf(ret, cap, "%.17g", i == 0 ? key->min : i == 1 ? key->max : (key->min + key->max) / 2);
        else if (i >= 3)
            snprintf(ret, cap, "%s", texts[i - 3]);
        else
            snprintf(ret, cap, "%s", i % 2 ? "true" : "false");
        if (words && key->kind == CONFIG_WORD && i < 3) { /* its first, or its last choice */
            const char *last = strrchr(words, ' ');
            snprintf(ret, cap, "%.*s", i ? (int)strlen(words) : (int)strcspn(words, " "),
                     i && last ? last + 1 : words);
        }
        char now[CONFIG_LIST_MAX];
        if (train_config_set(to, key->section, key->name, ret, err) == 0 &&
            train_config_get(to, key->section, key->name, now, sizeof now) == 0 && strcmp(now, before) != 0) {
            snprintf(ret, cap, "%.250s", now);
            return true;
        }
    }
    return false;
}

struct changes {
    int n;
    char words[CONFIG_ERROR_MAX];
};

static void take_change(void *ctx, const char *words)
{
    struct changes *changes = ctx;
    changes->n++;
    snprintf(changes->words, sizeof changes->words, "%s", words);
}

static bool names_both(const char *words, const char *key, const char *before, const char *now)
{
    return strstr(words, key) && strstr(words, *before ? before : "(empty)") && strstr(words, now);
}

/* Every key alone: it may change, or with --changed, or is named with both values. */
static void test_continues(void)
{
    size_t n_free = 0, n_tunable = 0;
    CHECK_INT(train_config_parse("F.ini", MARKET, &config, err), 0);
    for (size_t k = 0; k < n_keys; k++) {
        const struct config_key *key = &keys[k];
        char before[CONFIG_LIST_MAX], now[CONFIG_LIST_MAX];
        bool is_free = is_in(free_keys, N(free_keys), key),
             tunable = is_in(tunable_keys, N(tunable_keys), key);
        n_free += is_free;
        n_tunable += tunable;
        CHECK(!!(key->marks & CONFIG_KEY_FREE) == is_free && !!(key->marks & CONFIG_KEY_TUNABLE) == tunable);
        other = config;
        CHECK_INT(train_config_get(&config, key->section, key->name, before, sizeof before), 0);
        bool changed = change(&other, key, before, now, sizeof now);
        CHECK(changed);
        if (!changed)
            fprintf(stderr, "[%s] %s: no other value than %s\n", key->section, key->name, before);
        if (strcmp(key->name, "preset") == 0) { /* changes others, too: all of them fixed or tunable */
            CHECK_INT(train_config_continues(&config, &other, NULL, NULL, err), -EINVAL);
            continue;
        }
        struct changes changes = {0};
        int strict = train_config_continues(&config, &other, NULL, NULL, err);
        CHECK_INT(strict, is_free ? 0 : -EINVAL);
        CHECK(is_free || names_both(err, key->name, before, now));
        CHECK(is_free || tunable == (strstr(err, "--changed") != NULL));
        CHECK(strcmp(key->name, "threads") != 0 || strstr(err, "one a core of this machine"));
        int lax = train_config_continues(&config, &other, take_change, &changes, err);
        CHECK_INT(lax, is_free || tunable ? 0 : -EINVAL);
        CHECK_INT(changes.n, tunable ? 1 : 0);
        CHECK(!tunable || names_both(changes.words, key->name, before, now));
        CHECK(lax == 0 || names_both(err, key->name, before, now));
    }
    CHECK_INT((int)n_free, (int)N(free_keys));
    CHECK_INT((int)n_tunable, (int)N(tunable_keys));
}

/* ---- All errors. ---- */

struct reported {
    char text[1 << 16]; /* "LINE [section] key: message\n" each */
    int n, last_line;
    bool in_order;
};

static void take_error(void *ctx, int line, const char *section, const char *key, const char *message)
{
    struct reported *reported = ctx;
    size_t at = strlen(reported->text);
    snprintf(reported->text + at, sizeof reported->text - at, "%d [%s] %s: %s\n", line, section, key,
             message);
    reported->in_order =
        reported->in_order && (line == 0 || (reported->last_line > 0 && line >= reported->last_line));
    reported->last_line = line;
    reported->n++;
}

static struct reported reported;

static void all_errors(const char *text, int n)
{
    reported = (struct reported){.in_order = true, .last_line = 1};
    other.name[0] = '!';
    CHECK_INT(train_config_errors("F.ini", text, &other, take_error, &reported), n);
    CHECK_INT(reported.n, n);
    CHECK(reported.in_order);
    CHECK((other.name[0] == '!') == (n > 0)); /* untouched */
    if (reported.n != n)
        fprintf(stderr, "%s", reported.text);
}

static void has(const char *words)
{
    if (strstr(reported.text, words))
        return;
    check_failures++;
    fprintf(stderr, "\"%s\" is not in:\n%s", words, reported.text);
}

static void test_all_errors(void)
{
    all_errors(MARKET, 0);
    CHECK_STR(other.data.bars, "A.csv");
    all_errors("", 1);
    has("0 [data] bars: none: bars files are needed");
    all_errors("; a comment\n[ppo]\nlearning_rate = fast ; really\ngamma = 1.5\ngama = 1\n\ncopies\n"
               "[trainin]\nname = x/y\nanything\n[training]\nname = a/b\n"
               "copies = 4\n[ppo]\ncopies = 5\nbars = x\n",
               10);
    has("10 [] : KEY = VALUE");
    has("3 [ppo] learning_rate: \"fast\": a number");
    has("4 [ppo] gamma: \"1.5\": ");
    has("5 [ppo] gama: unknown key: did you mean gamma?");
    has("7 [ppo] : KEY = VALUE");
    has("8 [trainin] : unknown section: did you mean training?");
    has("12 [training] name: \"a/b\"");
    has("15 [ppo] copies: already set in line 13");
    has("16 [ppo] bars: it belongs to [data]");
    has("0 [data] bars: none");
    /* What does not fit is reported at the line of its key, and not of a key that is wrong itself. */
    all_errors("[ppo]\nminibatch = 100000\ncopies = few\n[data]\nbars = A.csv\ninterval = 7m\n", 2);
    has("3 [ppo] copies");
    has("6 [data] interval");
    all_errors("[data]\nstate = /x\ntest_to = 2024-01-01\n[ppo]\nminibatch = 100000\nrecurrent = 5\n"
               "log_std_min = 1\nlr_schedule = exponential\nlr_final = 0\n",
               7);
    has("2 [data] symbols: none");
    has("2 [data] interval: none");
    has("3 [data] test_from: none");
    has("5 [ppo] minibatch: 100000: at most");
    has("6 [network] recurrent: 5: a multiple of 16");
    has("7 [network] log_std_init: ");
    has("9 [ppo] lr_final: 0: above 0");
    all_errors(MARKET "[environment]\nlevels = 4\n", 1);
    has("4 [environment] levels: 4: an odd number");
    all_errors(
        "[environment]\nlookback = 3\n[data]\nbars = A\ntrain_from = 1\n[training]\nworld = cartpole\n", 2);
    has("2 [environment] lookback: the world cartpole is no market");
    has("4 [data] bars: the world cartpole is no market");
    all_errors("[training]\nworld = cartpol\n", 1);
    has("2 [training] world: ");
    all_errors("gamma = 1\n\xEF\xBB\xBF[ppo]\n", 3);
    has("1 [] : gamma: before any section");
    all_errors("= 3\n" MARKET, 1);
    has("1 [] : no key, and before any section");
    all_errors("\xEF\xBB\xBF[ppo]\ngamma = 2\n" MARKET, 1);
    has("2 [ppo] gamma");
    all_errors(MARKET "[training]\nname = \xff\x01\xc3\xa9\n", 1); /* quoted, and shown */
    has("4 [training] name: \"??\xc3\xa9\"");
    /* More lines than it takes. */
    char *many = malloc(5000 * 8);
    size_t n = (size_t)sprintf(many, "[ppo]\n");
    for (int i = 0; i < 4200; i++)
        n += (size_t)sprintf(many + n, "x = 1\n");
    CHECK(train_config_parse("F.ini", many, &other, err) < 0);
    CHECK(train_config_errors("F.ini", many, NULL, take_error, &(struct reported){0}) > 4000);
    free(many);
}

/* The example has a line `key = value` for every key, in its section, after a comment, with its default. */
static void test_example(const char *path)
{
    static char text[1 << 16], value[CONFIG_LIST_MAX], wanted[CONFIG_LIST_MAX + 64];
    FILE *file = fopen(path, "re");
    size_t n = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    text[n] = '\0';
    int r = train_config_read(path, &other, err);
    CHECK_INT(r, 0);
    if (r < 0)
        fprintf(stderr, "%s\n", err);
    train_config_defaults(&config);
    for (size_t i = 0; i < n_keys; i++) {
        snprintf(wanted, sizeof wanted, "\n[%s]\n", keys[i].section);
        const char *from = strstr(text, wanted), *end = from ? strstr(from + 1, "\n[") : NULL;
        snprintf(wanted, sizeof wanted, "\n%s =", keys[i].name);
        const char *line = from ? strstr(from, wanted) : NULL;
        bool there = line && (!end || line < end);
        if (there && strcmp(keys[i].section, "data") != 0) {
            CHECK_INT(train_config_get(&config, keys[i].section, keys[i].name, value, sizeof value), 0);
            snprintf(wanted, sizeof wanted, "\n%s =%s%s\n", keys[i].name, *value ? " " : "", value);
            there = strstr(from, wanted) == line;
        }
        const char *before = line;
        while (there && before > text && before[-1] != '\n')
            before--;
        there = there && *before == '#';
        CHECK(there);
        if (!there)
            fprintf(stderr, "%s: [%s] %s: its line, with its default, after a comment\n", path,
                    keys[i].section, keys[i].name);
        CHECK(keys[i].about && *keys[i].about);
    }
}

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    keys = train_config_keys(&n_keys);
    CHECK(n_keys > 100 && n_keys < KEYS_MAX);
    test_refused();
    test_read();
    test_text();
    test_continues();
    test_all_errors();
    test_example(argv[1]);
    return check_done("trainer/program/config");
}
