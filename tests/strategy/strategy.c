/* The list of strategies, their parameters, and what the crossover decides on series made by hand. */
#include "strategy/strategy.h"

#include <errno.h>

#include "record/config_key.h"
#include "strategy/direction.h"
#include "tests/check.h"
#include "tests/random.h"

/* As many words as values. */
static void check_words(const struct strategy_param *param)
{
    char first[STRATEGY_WORD_MAX], last[STRATEGY_WORD_MAX], beyond[STRATEGY_WORD_MAX];
    if (!param->words)
        return;
    CHECK(strategy_param_word(param, 0, first)[0] && strategy_param_word(param, param->max, last)[0]);
    CHECK_STR(strategy_param_word(param, param->max + 1, beyond), "");
    CHECK(strcmp(first, last) != 0);
}

static void test_list(void)
{
    size_t n = 0;
    const struct strategy *const *all = strategy_list(&n);
    CHECK(n > 0);
    for (size_t i = 0; i < n; i++) {
        double params[STRATEGY_PARAMS_MAX];
        char specs[STRATEGY_SPECS_MAX][STRATEGY_SPEC_TEXT];
        CHECK(i == 0 || strcmp(all[i - 1]->name, all[i]->name) < 0);
        CHECK(strategy_find(all[i]->name) == all[i]);
        CHECK(all[i]->n_params <= STRATEGY_PARAMS_MAX && all[i]->summary[0]);
        strategy_defaults(all[i], params);
        for (size_t k = 0; k < all[i]->n_params; k++) {
            const struct strategy_param *param = &all[i]->params[k];
            CHECK(param->min <= param->fallback && param->fallback <= param->max && param->summary[0]);
            CHECK(!param->integer || param->fallback == floor(param->fallback));
            CHECK(params[k] == param->fallback);
            CHECK(!param->words || (param->integer && param->min == 0));
            CHECK(k == 0 || param->later || !param[-1].later); /* the last ones only */
            check_words(param);
        }
        for (size_t k = all[i]->n_params; k < STRATEGY_PARAMS_MAX; k++)
            CHECK(params[k] == 0);
        CHECK(all[i]->specs(params, specs) <= STRATEGY_SPECS_MAX);
    }
    CHECK(!strategy_find("nonsense") && !strategy_find(""));
}

/* A parameter that is called by words: read, printed, and left out of what is stored. */
static void test_words(void)
{
    const struct strategy *strategy = strategy_find("sma-cross-rsi");
    const size_t at = strategy->n_params - 2; /* its average; its direction is the last one */
    double params[STRATEGY_PARAMS_MAX], again[STRATEGY_PARAMS_MAX] = {0};
    char specs[STRATEGY_SPECS_MAX][STRATEGY_SPEC_TEXT], text[STRATEGY_WORD_MAX], why[CONFIG_WHY_MAX],
        words[STRATEGY_WORDS_MAX];
    strategy_defaults(strategy, params);
    CHECK_STR(strategy_param_text(&strategy->params[at], params[at], text), "sma");
    CHECK_STR(strategy_param_text(&strategy->params[0], 2.5, text), "2.5");
    CHECK_STR(strategy_param_words(&strategy->params[at], words), "sma or ema");
    CHECK_STR(strategy_param_words(&strategy->params[0], words), "");
    CHECK(!strategy_param_word(&strategy->params[0], 2.5, text));
    CHECK_INT(strategy_params_stored(strategy, params), at);

    CHECK_INT(strategy_set(strategy, params, "average", "ema", NULL), 0);
    CHECK(params[at] == 1);
    CHECK_STR(strategy_param_text(&strategy->params[at], params[at], text), "ema");
    CHECK_INT(strategy_params_stored(strategy, params), at + 1);
    CHECK_INT(strategy->specs(params, specs), 4);
    CHECK_STR(specs[0], "ema:10");
    CHECK_STR(specs[1], "ema:30");
    CHECK_STR(specs[2], "rsi:14");
    CHECK(strategy_set(strategy, params, "average", "emma", why) < 0);
    CHECK_STR(why, "\"emma\": did you mean ema? (sma, ema)");
    CHECK(strategy_set(strategy, params, "average", "1", NULL) < 0 && params[at] == 1);

    memcpy(again, params, at * sizeof *params); /* what is stored without it */
    again[at] = 9;
    CHECK(strategy_params_complete(strategy, at, again) && again[at] == 0);
    CHECK(strategy_params_complete(strategy, at + 1, params) && params[at] == 1);
    CHECK(!strategy_params_complete(strategy, at - 1, again));
    CHECK(strategy_params_complete(strategy, at + 2, again));
    CHECK(!strategy_params_complete(strategy, at + 3, again));
}

/* The direction: by its parameter, or by whether the strategy sells short at all. */
static void test_direction(void)
{
    double params[STRATEGY_PARAMS_MAX];
    const struct strategy *strategy = strategy_find("sma-cross"), *both = strategy_find("binance-day-trade");
    const struct strategy plain = {.name = "plain"}, shorting = {.name = "shorting", .shorts = true};
    strategy_defaults(strategy, params);
    CHECK_INT(strategy_direction(strategy, params), DIRECTION_LONG);
    CHECK(!strategy_without_shorts(strategy, params));
    CHECK_INT(strategy_params_stored(strategy, params), 3);
    CHECK_INT(strategy_set(strategy, params, "direction", "short", NULL), 0);
    CHECK_INT(strategy_direction(strategy, params), DIRECTION_SHORT);
    CHECK_STR(strategy_without_shorts(strategy, params), "opens nothing");
    CHECK_INT(strategy_params_stored(strategy, params), 5);
    CHECK_INT(strategy_set(strategy, params, "direction", "both", NULL), 0);
    CHECK_STR(strategy_without_shorts(strategy, params), "trades long only");
    CHECK_INT(strategy_set(strategy, params, "direction", "up", NULL), -EINVAL);
    strategy_defaults(both, params);
    CHECK_INT(strategy_direction(both, params), DIRECTION_BOTH);
    CHECK_INT(strategy_direction(&plain, params), DIRECTION_LONG);
    CHECK_INT(strategy_direction(&shorting, params), DIRECTION_BOTH);
}

static void test_params(void)
{
    const struct strategy *strategy = strategy_find("sma-cross-rsi");
    double params[STRATEGY_PARAMS_MAX], before[STRATEGY_PARAMS_MAX];
    char specs[STRATEGY_SPECS_MAX][STRATEGY_SPEC_TEXT];
    strategy_defaults(strategy, params);
    CHECK_INT(strategy_set(strategy, params, "fast", "5", NULL), 0);
    CHECK_INT(strategy_set(strategy, params, "slow", "20", NULL), 0);
    CHECK_INT(strategy_set(strategy, params, "rsi_max", "62.5", NULL), 0);
    CHECK_INT(strategy_set(strategy, params, "fraction", "1", NULL), 0);
    CHECK_INT(strategy->specs(params, specs), 4);
    CHECK_STR(specs[0], "sma:5");
    CHECK_STR(specs[1], "sma:20");
    CHECK_STR(specs[2], "rsi:14");
    CHECK_STR(specs[3], "atr:14");

    static const struct {
        const char *name, *text;
        int expected;
    } wrong[] = {
        {"fastest", "5", -ENOENT},      {"", "5", -ENOENT},
        {"Fast", "5", -ENOENT},         {"fast", "", -EINVAL},
        {"fast", "five", -EINVAL},      {"fast", "5x", -EINVAL},
        {"fast", "5.5", -EINVAL},       {"fast", "nan", -EINVAL},
        {"fast", "inf", -EINVAL},       {"fast", " 5", -EINVAL},
        {"fast", "5 ", -EINVAL},        {"fast", "0x10", -EINVAL},
        {"fast", "1", -EINVAL},         {"fast", "1001", -EINVAL},
        {"fast", "-5", -EINVAL},        {"fraction", "0", -EINVAL},
        {"fraction", "1.01", -EINVAL},  {"rsi_max", "100.5", -EINVAL},
        {"fraction", "1e999", -EINVAL},
    };
    memcpy(before, params, sizeof params);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        int r = strategy_set(strategy, params, wrong[i].name, wrong[i].text, NULL);
        if (r != wrong[i].expected)
            printf("%s = \"%s\": %d\n", wrong[i].name, wrong[i].text, r);
        CHECK_INT(r, wrong[i].expected);
        CHECK(memcmp(before, params, sizeof params) == 0);
    }
}

static void refused(const char *strategy, const char *name, const char *text, const char *expected)
{
    char err[CONFIG_WHY_MAX];
    double params[STRATEGY_PARAMS_MAX];
    strategy_defaults(strategy_find(strategy), params);
    CHECK(strategy_set(strategy_find(strategy), params, name, text, err) < 0);
    CHECK_STR(err, expected);
}

static void unknown(const char *name, const char *also, const char *expected)
{
    char err[200];
    CHECK(!strategy_find(name));
    strategy_unknown(name, also, err, sizeof err);
    CHECK_STR(err, expected);
}

static void test_refusals(void)
{
    unknown("sma-cros", NULL, "\"sma-cros\": unknown strategy: did you mean sma-cross?");
    unknown("SMA_Cross_RSI", NULL, "\"SMA_Cross_RSI\": unknown strategy: did you mean sma-cross-rsi?");
    unknown("tripple-confirmation", "none",
            "\"tripple-confirmation\": unknown strategy: did you mean triple-confirmation?");
    unknown("non", "none", "\"non\": unknown strategy: did you mean none?");
    char far[200];
    strategy_unknown("zzzz", NULL, far, sizeof far);
    CHECK(strstr(far, "\"zzzz\": unknown strategy") && !strstr(far, "did you mean"));
    refused("sma-cross", "fats", "3", "unknown key: did you mean fast?");
    refused("sma-cross-rsi-risk", "max_positions", "3",
            "unknown key: one of fast, slow, rsi, rsi_max, atr, stop_atr, profit_atr, risk, fraction_max, "
            "positions_max, average, direction is needed");
    refused("sma-cross", "fast", "0", "\"0\": a whole number from 1 to 1000 is needed");
    refused("sma-cross", "fast", "2.5", "\"2.5\": a whole number from 1 to 1000 is needed");
    refused("trend-4h-1h", "risk", "2%", "\"2%\": a number from 0.0001 to 0.5 is needed");
    refused("sma-cross", "fast", "0123456789012345678901234567890123456789012345678901234567890123456789",
            "\"012345678901234567890123456789012345678901234567890123456789\": a whole "
            "number from 1 to 1000 is needed");
}

/* One bar as the strategy sees it: fast and slow averages, RSI, ATR; the answer's first intent. */
struct bench {
    const struct strategy *strategy;
    double params[STRATEGY_PARAMS_MAX];
    _Alignas(8) unsigned char state[STRATEGY_STATE_SIZE];
    struct strategy_input input;
    double values[4];
    struct intent intents[STRATEGY_INTENTS_MAX];
};

static struct bench bench(void)
{
    struct bench b = {.strategy = strategy_find("sma-cross-rsi"),
                      .input = {.close = 100, .equity = 10000, .cash = 10000}};
    strategy_defaults(b.strategy, b.params);
    return b;
}

static size_t bar(struct bench *b, double fast, double slow, double rsi, double atr)
{
    memcpy(b->values, (double[]){fast, slow, rsi, atr}, sizeof b->values);
    b->input.indicators = b->values;
    memset(b->intents, 0xA5, sizeof b->intents);
    return b->strategy->on_bar(b->params, b->state, &b->input, b->intents);
}

static void test_entry(void)
{
    struct bench b = bench();
    CHECK_INT(bar(&b, NAN, NAN, NAN, NAN), 0);
    CHECK_INT(bar(&b, 11, 10, 50, 3), 0); /* above from the first bar on: no cross was seen */
    CHECK_INT(bar(&b, 9, 10, 50, 3), 0);
    CHECK_INT(bar(&b, 10, 10, 50, 3), 0); /* touching is no cross */
    CHECK_INT(bar(&b, 11, 10, 70, 3), 1); /* RSI at its bound still passes */
    CHECK_INT(b.intents[0].kind, INTENT_ENTER);
    CHECK(b.intents[0].fraction == 0.25);
    CHECK(b.intents[0].stop == 100 - 2 * 3);
    CHECK_STR(b.intents[0].why, "cross up");
    CHECK_INT(bar(&b, 12, 10, 50, 3), 0); /* once a cross */

    b = bench();
    bar(&b, 9, 10, 50, 3);
    CHECK_INT(bar(&b, 11, 10, 70.001, 3), 0); /* overbought */
    CHECK_INT(bar(&b, 12, 10, 50, 3), 0);     /* and the cross is past */

    b = bench();
    bar(&b, 9, 10, 50, 3);
    b.input.live_orders = true;
    CHECK_INT(bar(&b, 11, 10, 50, 3), 0);

    b = bench();
    bar(&b, 9, 10, 50, 3);
    CHECK_INT(bar(&b, NAN, 10, 50, 3), 0); /* a hole in the data forgets nothing */
    CHECK_INT(bar(&b, 11, 10, 50, 3), 1);

    b = bench();
    strategy_set(b.strategy, b.params, "stop_atr", "0", NULL);
    bar(&b, 9, 10, 50, 3);
    CHECK_INT(bar(&b, 11, 10, 50, 3), 1);
    CHECK(b.intents[0].stop == 0);

    b = bench(); /* a stop below zero is no stop */
    bar(&b, 9, 10, 50, 3);
    CHECK_INT(bar(&b, 11, 10, 50, 80), 1);
    CHECK(b.intents[0].stop == 0);
}

static void test_exit(void)
{
    struct bench b = bench();
    b.input.qty = 2;
    CHECK_INT(bar(&b, 11, 10, 50, 3), 0);
    CHECK_INT(bar(&b, 9, 10, 99, 3), 1);
    CHECK_INT(b.intents[0].kind, INTENT_EXIT);
    CHECK_STR(b.intents[0].why, "cross down");
    CHECK_INT(bar(&b, 8, 10, 99, 3), 1); /* still held: still wanted */
    b.input.live_orders = true;
    CHECK_INT(bar(&b, 8, 10, 99, 3), 0);
    b.input.live_orders = false;
    b.input.qty = 0;
    CHECK_INT(bar(&b, 8, 10, 99, 3), 0);
    b.input.qty = 2;
    CHECK_INT(bar(&b, 10, 10, 99, 3), 1); /* equal: on the side where it was */
}

/* The same past gives the same decisions, whatever comes later; and nothing is kept outside `state`. */
static void test_no_look_ahead(void)
{
    enum { BARS = 2000 };
    struct random random = random_seeded("strategy/strategy", 42);
    static double fast[2][BARS];
    static size_t counts[2][BARS];
    for (int cut = 100; cut < BARS; cut += 450) {
        size_t acted = 0;
        for (int i = 0; i < BARS; i++) {
            fast[0][i] = (double)random_between(&random, -5, 5);
            fast[1][i] = i < cut ? fast[0][i] : (double)random_between(&random, -5, 5);
        }
        struct bench a = bench(), b = bench();
        for (int i = 0; i < BARS; i++) { /* interleaved, so that a hidden global would show */
            counts[0][i] = bar(&a, fast[0][i], 0, 50, 1);
            counts[1][i] = bar(&b, fast[1][i], 0, 50, 1);
            if (i < cut) {
                CHECK_INT(counts[0][i], counts[1][i]);
                CHECK(memcmp(a.state, b.state, sizeof a.state) == 0);
                acted += counts[0][i];
            }
        }
        CHECK(acted > 0);
    }
}

int main(void)
{
    test_list();
    test_params();
    test_words();
    test_direction();
    test_refusals();
    test_entry();
    test_exit();
    test_no_look_ahead();
    return check_done("strategy/strategy");
}
