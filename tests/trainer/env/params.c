/* Every key is set and read back as it is written; bad values and unknown keys change nothing and say what
 * would be right. */
#include <errno.h>

#include "tests/check.h"
#include "trainer/env/params.h"

static char err[ENV_ERROR_MAX];

static struct env_params preset(const char *name)
{
    struct env_params params;
    CHECK_INT(env_params_preset(name, &params, err), 0);
    return params;
}

static void refused(const char *key, const char *text, int rc, const char *says)
{
    struct env_params params = preset("reference"), before = params;
    err[0] = '\0';
    CHECK_INT(env_params_set(&params, key, text, err), rc);
    CHECK(memcmp(&params, &before, sizeof params) == 0);
    CHECK(strstr(err, says) != NULL);
    CHECK(strchr(err, '\n') == NULL);
    if (!strstr(err, says))
        fprintf(stderr, "%s = %s: \"%s\"\n", key, text, err);
}

static void set(struct env_params *params, const char *key, const char *text, const char *reads)
{
    char buf[128] = "";
    CHECK_INT(env_params_set(params, key, text, err), 0);
    CHECK(env_params_get(params, key, buf, sizeof buf));
    CHECK_STR(buf, reads);
    struct env_params again = *params;
    CHECK_INT(env_params_set(&again, key, buf, err), 0);
    CHECK(memcmp(&again, params, sizeof again) == 0);
}

/* Bounds and beyond, by the table itself. */
static void test_every_key(void)
{
    size_t n;
    const struct config_key *list = env_params_list(&n);
    CHECK(n == 56);
    for (size_t i = 0; i < n; i++) {
        const struct config_key *p = &list[i];
        struct env_params params = preset("reference");
        char text[64], buf[128];
        if (i > 0)
            CHECK(strcmp(list[i - 1].name, p->name) < 0);
        CHECK(p->about && p->about[0]);
        CHECK(env_params_get(&params, p->name, buf, sizeof buf));
        CHECK(!env_params_get(&params, p->name, buf, 1));
        if (p->kind == CONFIG_WORD) {
            char words[128];
            snprintf(words, sizeof words, "%s", p->words);
            for (char *word = strtok(words, " "); word; word = strtok(NULL, " "))
                set(&params, p->name, word, word);
            refused(p->name, "sideways", -EINVAL, "\"sideways\": one of ");
            refused(p->name, "", -EINVAL, p->name);
        } else if (p->kind == CONFIG_TEXT) {
            set(&params, p->name, "America/New_York", "America/New_York");
            refused(p->name, "", -EINVAL, p->name);
            refused(p->name, "a-name-of-many-more-characters-than-there-is-room-for", -EINVAL, "39");
        } else if (p->kind == CONFIG_SWITCH) {
            set(&params, p->name, "true", "true");
            set(&params, p->name, "0", "false");
            refused(p->name, "yes", -EINVAL, p->name);
            refused(p->name, "2", -EINVAL, p->name);
        } else if (strcmp(p->name, "cooldown") == 0) {
            set(&params, p->name, "90s", "90s");
            set(&params, p->name, "240m", "4h");
            set(&params, p->name, "0", "0");
            refused(p->name, "4", -EINVAL, "as 4h");
            refused(p->name, "3651d", -EINVAL, "ten years");
            refused(p->name, "", -EINVAL, p->name);
        } else if (strcmp(p->name, "take_profit") == 0) {
            set(&params, p->name, "10%:50%", "0.1:0.5");
            set(&params, p->name, "0", "0");
            refused(p->name, "10%", -EINVAL, "10%:50%");
            refused(p->name, "10%:0", -EINVAL, "a part of 0");
            refused(p->name, "0:10%", -EINVAL, "a profit of 0");
            refused(p->name, "10%:101%", -EINVAL, p->name);
        } else {
            double inside = p->kind == CONFIG_WHOLE ? p->min + 1 : (p->min + p->max) / 2;
            snprintf(text, sizeof text, "%.17g", inside);
            CHECK_INT(env_params_set(&params, p->name, text, err), 0);
            CHECK(env_params_get(&params, p->name, buf, sizeof buf));
            CHECK(strtod(buf, NULL) == inside);
            snprintf(text, sizeof text, "%.17g", p->min - 1);
            refused(p->name, text, -EINVAL, "is needed");
            snprintf(text, sizeof text, "%.17g", p->max * 2 + 1);
            refused(p->name, text, -EINVAL, "is needed");
            refused(p->name, "nan", -EINVAL, p->name);
            refused(p->name, "inf", -EINVAL, p->name);
            refused(p->name, "1x", -EINVAL, p->name);
            refused(p->name, "", -EINVAL, p->name);
            refused(p->name, " 1", -EINVAL, p->name);
            refused(p->name, "0x10", -EINVAL, p->name);
            if (p->kind == CONFIG_WHOLE)
                refused(p->name, "3.5", -EINVAL, "whole");
            if (p->kind != CONFIG_SPAN)
                refused(p->name, "1..2", -EINVAL, p->name);
        }
    }
}

static void test_ranges(void)
{
    struct env_params params = preset("reference");
    set(&params, "initial_capital", "900..1100", "900..1100");
    CHECK(params.initial_capital.low == 900 && params.initial_capital.high == 1100);
    set(&params, "initial_capital", "0.001..1e9", "0.001..1e+09");
    set(&params, "buy_cost_pct", "0.0025", "0.0025");
    CHECK(params.buy_cost_pct.low == params.buy_cost_pct.high);
    set(&params, "norm_tech", "6.103515625e-05", "6.103515625e-05");
    refused("initial_capital", "1100..900", -EINVAL, "lower");
    refused("initial_capital", "1100..", -EINVAL, "low..high");
    refused("initial_capital", "..", -EINVAL, "low..high");
    refused("initial_capital", "1..2..3", -EINVAL, "low..high");
    refused("random_start", "yes", -EINVAL, "random_start: \"yes\": one of false, true is needed");
    refused("random_start", "2", -EINVAL, "random_start: \"2\": one of false, true is needed");
    refused("buy_cost_pct", "0..0.6", -EINVAL, "0.5");
}

static void test_names(void)
{
    refused("buy_cost", "1", -ENOENT, "buy_cost_pct");
    refused("Gama", "1", -ENOENT, "gamma");
    refused("norm_tehc", "1", -ENOENT, "norm_tech");
    struct env_params params = preset("reference");
    char buf[8];
    CHECK(!env_params_get(&params, "gama", buf, sizeof buf));
    CHECK_INT(env_params_preset("markets", &params, err), -ENOENT);
    CHECK(strstr(err, "market") != NULL);
}

static void test_presets(void)
{
    struct env_params p = preset("reference");
    CHECK(p.execution == ENV_REFERENCE && p.task == ENV_PORTFOLIO && p.final_return);
    CHECK(p.lookback == 3 && p.norm_cash == 0x1p-11 && p.norm_stocks == 0x1p-8 && p.norm_tech == 0x1p-14);
    CHECK(p.norm_reward == 0x1p-9 && p.norm_action == 100 && p.gamma == 0.99 && p.time_decay_floor == 0);
    CHECK(p.forced_exit_bars == 48 && p.forced_exit_pct == 0.05 && p.trailing_stop_pct == 0);
    CHECK(p.weight_alpha == 0.5 && p.weight_absolute == 0.3 && p.weight_cash == 0.2);
    p = preset("cappuccino");
    CHECK(p.execution == ENV_MARKET && !p.final_return && p.norm_action == 100 && p.time_decay_floor == 0);
    CHECK(p.forced_exit_bars == 48 && p.buy_cost_pct.low == 0.0025 && !p.random_start);
    p = preset("market");
    CHECK(p.execution == ENV_MARKET && !p.final_return && p.norm_action == 1 && p.time_decay_floor == 1);
    CHECK(p.forced_exit_bars == 0 && p.buy_cost_pct.low == 0.001 && p.sell_cost_pct.high == 0.001);
    CHECK(p.random_start && p.episode_bars == 0);
    p = preset("day-trade");
    CHECK(p.task == ENV_DAY_TRADE && p.threshold == 0.3 && p.action_span == 1);
    CHECK_INT(env_params_check(&p, 1, err), 0);
    p = preset("market");
    CHECK_INT(env_params_check(&p, ENV_ASSETS_MAX, err), 0);
}

static void contradicts(const struct env_params *params, int n_assets, const char *says)
{
    err[0] = '\0';
    CHECK_INT(env_params_check(params, n_assets, err), -EINVAL);
    CHECK(strstr(err, says) != NULL);
    if (!strstr(err, says))
        fprintf(stderr, "\"%s\" does not say %s\n", err, says);
}

static void test_contradictions(void)
{
    struct env_params p = preset("reference");
    contradicts(&p, 0, "assets");
    contradicts(&p, ENV_ASSETS_MAX + 1, "assets");
    p.levels = 4;
    contradicts(&p, 1, "odd");
    p = preset("market");
    p.float32 = true;
    contradicts(&p, 1, "float32");
    p = preset("reference");
    p.shorts = true;
    contradicts(&p, 1, "shorts");
    p = preset("day-trade");
    contradicts(&p, 2, "one asset");
    p.execution = ENV_MARKET;
    p.shorts = true;
    contradicts(&p, 1, "shorts");
    p = preset("reference");
    p.random_start = true;
    CHECK_INT(env_params_check(&p, 1, err), 0); /* as many as fit */
    p.episode_bars = 6;
    contradicts(&p, 1, "at least 7");
    p.episode_bars = 7;
    CHECK_INT(env_params_check(&p, 1, err), 0);
    /* limits */
    p = preset("market");
    p.limits.exposure = 0.2;
    p.limits.exposure_symbol = 0.3;
    contradicts(&p, 1, "exposure_symbol");
    p = preset("market");
    p.limits.cooldown_s = 60;
    contradicts(&p, 1, "portfolio_trailing_stop");
    p = preset("market");
    p.limits.take_profit.above = 0.1;
    contradicts(&p, 1, "take_profit");
    p = preset("reference");
    p.limits.stop_loss = 0.1;
    contradicts(&p, 1, "stop_loss");
    p = preset("market");
    p.limits.stop_loss = 0.1;
    CHECK_INT(env_params_check(&p, 1, err), 0);
    p.task = ENV_DAY_TRADE;
    contradicts(&p, 1, "stop_loss");
    /* What a program puts there itself, past env_params_set(). */
    p = preset("reference");
    p.gamma = NAN;
    contradicts(&p, 1, "gamma");
    p = preset("reference");
    p.initial_capital = (struct env_range){0, 100};
    contradicts(&p, 1, "initial_capital");
    p.initial_capital = (struct env_range){200, 100};
    contradicts(&p, 1, "initial_capital");
    p = preset("reference");
    p.lookback = 0;
    contradicts(&p, 1, "lookback");
    p = preset("reference");
    p.execution = (enum env_execution)2;
    contradicts(&p, 1, "execution");
    p = preset("reference");
    p.start = -1;
    contradicts(&p, 1, "start");
    p = preset("reference");
    memset(p.session_zone, 'x', sizeof p.session_zone);
    contradicts(&p, 1, "session_zone");
}

int main(void)
{
    test_every_key();
    test_ranges();
    test_names();
    test_presets();
    test_contradictions();
    return check_done("trainer/env/params");
}
