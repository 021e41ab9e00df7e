#include "trainer/report/conditions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/bar.h"

enum { VALUE_MAX = 128 };

/* Keys that are shown whatever their values. */
static const char *const always[] = {"execution",     "task",         "initial_capital", "buy_cost_pct",
                                     "sell_cost_pct", "slippage_pct", "lookback",        "norm_action"};
/* Keys that change no figure of an evaluation: rewards, and how training starts its episodes. */
static const char *const never[] = {"autoreset",   "episode_bars", "final_return", "gamma",
                                    "norm_reward", "random_start", "start",        "time_decay_floor"};

static bool has(const char *const *list, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(list[i], name) == 0)
            return true;
    return false;
}
#define HAS(list, name) has(list, sizeof(list) / sizeof *(list), name)

static bool is_shown(const struct config_key *key, const char *value, const char *fallback, bool training)
{
    bool reward = strncmp(key->name, "weight_", 7) == 0 || strstr(key->name, "_penalty");
    if (HAS(always, key->name))
        return true;
    if (!training && (reward || HAS(never, key->name)))
        return false;
    return strcmp(key->name, "autoreset") != 0 && strcmp(fallback, value) != 0;
}

void trainer_report_params(struct text *text, const struct env_params *params, bool training)
{
    size_t n;
    const struct config_key *keys = env_params_list(&n);
    struct env_params defaults;
    char err[ENV_ERROR_MAX];
    if (env_params_preset("market", &defaults, err) < 0)
        return;
    for (size_t i = 0; i < n; i++) {
        char value[VALUE_MAX], fallback[VALUE_MAX];
        if (env_params_get(params, keys[i].name, value, sizeof value) &&
            env_params_get(&defaults, keys[i].name, fallback, sizeof fallback) &&
            is_shown(&keys[i], value, fallback, training))
            report_page_fact(text, keys[i].name, value, keys[i].about);
    }
}

void trainer_report_symbols(struct text *text, const struct env_market *market)
{
    struct text names = {0};
    for (int i = 0; i < env_market_view(market)->n; i++) {
        if (i > 0)
            text_lit(&names, ", ");
        text_str(&names, env_market_asset(market, i));
    }
    char *words = text_take(&names);
    report_page_fact(text, "Symbols", words ? words : "", NULL);
    free(words);
    const char *interval = bar_interval_name(env_market_view(market)->interval_ns);
    report_page_fact(text, "Interval", interval ? interval : "n/a", NULL);
}

const char *trainer_report_rows(int64_t first_ns, int64_t last_ns, size_t rows,
                                char ret[static REPORT_ROWS_MAX])
{
    char first[REPORT_TIME_MAX], last[REPORT_TIME_MAX];
    snprintf(ret, REPORT_ROWS_MAX, "%s to %s (%zu bars)", trainer_report_time(first_ns, first),
             trainer_report_time(last_ns, last), rows);
    return ret;
}

void trainer_report_evaluated_rows(struct text *text, const struct trainer_evaluated *evaluated)
{
    const struct env_market *market = evaluated->market;
    const struct training_episode *episode = evaluated->episode;
    char words[REPORT_ROWS_MAX];
    report_page_fact(text, "Evaluated",
                     trainer_report_rows(env_market_open_ns(market, episode->first),
                                         env_market_open_ns(market, episode->first + episode->n),
                                         episode->n + 1, words),
                     "the first bar that it decides on, and the last that it sees; UTC");
}
