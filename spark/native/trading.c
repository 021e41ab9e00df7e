#include "spark/native/trading.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/bar.h"
#include "exchange/calendar_file.h"
#include "exchange/decimal.h"
#include "exchange/fail.h"
#include "exchange/nearest.h"
#include "exchange/order_rules.h"
#include "strategy/external.h"

/* What reads an option; `err` has BACKTEST_TERMS_ERROR_MAX bytes. */
typedef int take_function(struct spark_trading *t, const char *key, const char *text, char *err);

static int wrong(const char *key, const char *text, const char *right, char *err)
{
    return fail_with(-EINVAL, err, BACKTEST_TERMS_ERROR_MAX, "%.64s: \"%.64s\": %s", key, text, right);
}

/* Which of the words it is, from 0 on; -EINVAL. */
static int word_of(const char *key, const char *text, const char *const *words, int n, char *err)
{
    char right[160] = "";
    for (int i = 0; i < n; i++) {
        size_t len = strlen(right);
        if (strcmp(words[i], text) == 0)
            return i;
        snprintf(right + len, sizeof right - len, "%s%s", i == 0 ? "" : i + 1 < n ? ", " : " or ", words[i]);
    }
    size_t len = strlen(right);
    snprintf(right + len, sizeof right - len, " is needed");
    return wrong(key, text, right, err);
}

static int set_param(struct spark_trading *t, const char *name, const char *text, char *err)
{
    char why[CONFIG_WHY_MAX];
    if (!t->strategy)
        return fail_with(-EINVAL, err, BACKTEST_TERMS_ERROR_MAX,
                         "set.%.48s: it belongs behind the strategy that it is of", name);
    if (strategy_set(t->strategy, t->params, name, text, why) == 0)
        return 0;
    return fail_with(-EINVAL, err, BACKTEST_TERMS_ERROR_MAX, "%s: %.48s: %s", t->strategy->name, name, why);
}

static int set_params(struct spark_trading *t, const char *text, char *err)
{
    char *copy = strdup(text), *next = copy;
    int r = copy ? 0 : -ENOMEM;
    while (next && r == 0) {
        char *word = strsep(&next, ","), *value = strchr(word, '=');
        if (value)
            *value++ = '\0';
        r = value ? set_param(t, word, value, err)
                  : wrong(t->strategy->name, word, "key=value is needed", err);
    }
    free(copy);
    return r;
}

static int take_strategy(struct spark_trading *t, const char *key, const char *text, char *err)
{
    char name[64], words[320];
    const char *colon = strchr(text, ':');
    snprintf(name, sizeof name, "%.*s", (int)(colon ? colon - text : (ptrdiff_t)strlen(text)), text);
    t->strategy = strategy_find(name);
    if (!t->strategy) {
        strategy_unknown(name, NULL, words, sizeof words);
        return fail_with(-EINVAL, err, BACKTEST_TERMS_ERROR_MAX, "%s: %s", key, words);
    }
    strategy_defaults(t->strategy, t->params);
    return colon ? set_params(t, colon + 1, err) : 0;
}

static int keep(char **to, const char *text)
{
    free(*to);
    *to = strdup(text);
    return *to ? 0 : -ENOMEM;
}

static int take_lot(struct spark_trading *t, const char *key, const char *text, char *err)
{
    (void)key, (void)err;
    return keep(&t->lot, text);
}

static int take_tick(struct spark_trading *t, const char *key, const char *text, char *err)
{
    (void)key, (void)err;
    return keep(&t->tick, text);
}

/* Assets are in upper case. */
static int take_quote(struct spark_trading *t, const char *key, const char *text, char *err)
{
    if (strlen(text) >= ASSET_NAME_MAX)
        return wrong(key, text, "an asset's name has at most 15 letters", err);
    int r = keep(&t->quote, text);
    for (char *c = t->quote; r == 0 && *c; c++)
        *c = (char)toupper((unsigned char)*c);
    return r;
}

static int take_info(struct spark_trading *t, const char *key, const char *text, char *err)
{
    (void)key, (void)err;
    return keep(&t->exchange_info, text);
}

static int take_interval(struct spark_trading *t, const char *key, const char *text, char *err)
{
    int64_t ns = 0;
    if (bar_interval_parse_any(text, &ns) < 0 || ns == BAR_MONTH_NS)
        return wrong(key, text, "one of " BAR_INTERVAL_NAMES " is needed", err);
    t->interval_ns = ns;
    return 0;
}

static int take_time(int64_t *to, const char *key, const char *text, char *err)
{
    if (bars_time_parse(text, strlen(text), to) == 0 && *to > 0)
        return 0;
    return wrong(key, text, "a time after 1970 is needed: ISO 8601, or an epoch in s, ms, us or ns", err);
}

static int take_from(struct spark_trading *t, const char *key, const char *text, char *err)
{
    return take_time(&t->from_ns, key, text, err);
}

static int take_to(struct spark_trading *t, const char *key, const char *text, char *err)
{
    return take_time(&t->to_ns, key, text, err);
}

static int take_way(struct spark_trading *t, const char *key, const char *text, char *err)
{
    static const char *const ways[] = {
        [BACKTEST_AUTO] = "auto", [BACKTEST_ENGINE] = "engine", [BACKTEST_COLUMNS] = "columns"};
    int way = word_of(key, text, ways, 3, err);
    t->way = way >= 0 ? (enum backtest_way)way : t->way;
    return way < 0 ? way : 0;
}

static int take_switch(bool *to, const char *const words[2], const char *key, const char *text, char *err)
{
    int word = word_of(key, text, words, 2, err);
    *to = word == 1;
    return word < 0 ? word : 0;
}

static int take_repair(struct spark_trading *t, const char *key, const char *text, char *err)
{
    return take_switch(&t->repair, (const char *const[]){"off", "on"}, key, text, err);
}

static int take_benchmark(struct spark_trading *t, const char *key, const char *text, char *err)
{
    return take_switch(&t->no_benchmark, (const char *const[]){"first", "none"}, key, text, err);
}

static int take_errors(struct spark_trading *t, const char *key, const char *text, char *err)
{
    return take_switch(&t->error_rows, (const char *const[]){"raise", "rows"}, key, text, err);
}

static int take_session(struct spark_trading *t, const char *key, const char *text, char *err)
{
    int choice = word_of(key, text, session_choice_names, SESSION_CHOICES, err);
    if (choice < 0)
        return choice;
    t->terms.session = (enum session_choice)choice;
    return 0;
}

static int take_calendar(struct spark_trading *t, const char *key, const char *text, char *err)
{
    char why[CALENDAR_ERROR_MAX];
    calendar_file_close(t->calendar);
    t->calendar = NULL;
    int r = calendar_file_open(text, &t->calendar, why);
    return r < 0 ? fail_with(r, err, BACKTEST_TERMS_ERROR_MAX, "%s: %.400s", key, why) : 0;
}

static int take_venue(struct spark_trading *t, const char *key, const char *text, char *err)
{
    const struct order_rules *rules;
    struct nearest nearest = {0};
    for (size_t i = 0; (rules = order_rules_row(i)); i++) {
        nearest_offer(&nearest, text, rules->venue);
        if (strcmp(rules->venue, text) == 0) {
            t->terms.venue = rules->venue;
            return 0;
        }
    }
    return fail_with(-EINVAL, err, BACKTEST_TERMS_ERROR_MAX,
                     "%s: \"%.64s\": no venue with rules by class has that name%s", key, text,
                     NEAREST_HINT(&nearest, text));
}

static int take_metric(struct spark_trading *t, const char *key, const char *text, char *err)
{
    const char *names[SWEEP_METRICS];
    for (int i = 0; i < SWEEP_METRICS; i++)
        names[i] = backtest_sweep_metric_name((enum sweep_metric)i);
    int metric = word_of(key, text, names, SWEEP_METRICS, err);
    if (metric < 0)
        return metric;
    t->metric = (enum sweep_metric)metric;
    return 0;
}

static int take_top(struct spark_trading *t, const char *key, const char *text, char *err)
{
    if (decimal_parse_str(text, 0, &t->top) == 0 && t->top >= 1 && t->top <= BACKTEST_GRID_MOST)
        return 0;
    return wrong(key, text, "a whole number from 1 to 1000000 is needed", err);
}

static const struct {
    const char *key;
    take_function *take;
} options[] = {
    {"strategy", take_strategy},
    {"benchmark", take_benchmark},
    {"calendar", take_calendar},
    {"errors", take_errors},
    {"exchange_info", take_info},
    {"from", take_from},
    {"interval", take_interval},
    {"lot", take_lot},
    {"metric", take_metric},
    {"quote", take_quote},
    {"repair", take_repair},
    {"session", take_session},
    {"tick", take_tick},
    {"to", take_to},
    {"top", take_top},
    {"venue", take_venue},
    {"way", take_way},
};

static int take_axis(struct spark_trading *t, const char *name, const char *text, char *err)
{
    char why[BACKTEST_GRID_ERROR_MAX], *axis = NULL;
    if (!t->strategy)
        return fail_with(-EINVAL, err, BACKTEST_TERMS_ERROR_MAX,
                         "grid.%.48s: it belongs behind the strategy that it is of", name);
    int r = asprintf(&axis, "%s=%s", name, text) < 0 ? -ENOMEM : 0;
    if (r == 0 && (r = backtest_grid_add(&t->grid, t->strategy, axis, why)) < 0)
        snprintf(err, BACKTEST_TERMS_ERROR_MAX, "grid: %.480s", why);
    free(r == -ENOMEM ? NULL : axis);
    return r;
}

enum { OWN_OPTIONS = sizeof options / sizeof *options };

/* The options, of which `shorts` is the last; NULL behind it. */
static const char *option_name(int i)
{
    if (i < OWN_OPTIONS)
        return options[i].key;
    i -= OWN_OPTIONS;
    return i < BACKTEST_TERMS ? backtest_terms_keys[i].name : i == BACKTEST_TERMS ? "shorts" : NULL;
}

/* The options that begin as the key does, by at least three letters: "fee_maker, fee_taker" of "fees". */
static void begin_alike(const char *key, char *text, size_t size)
{
    size_t used = 0;
    *text = '\0';
    for (size_t n = strlen(key) - 1; n >= 3 && n < size && used == 0; n--)
        for (int i = 0; option_name(i) && used < size; i++)
            if (strncmp(option_name(i), key, n) == 0)
                used += (size_t)snprintf(text + used, size - used, "%s%s", used > 0 ? " or " : "",
                                         option_name(i));
}

/* Of an unknown key the nearest of all. */
static int unknown(const char *key, char *err)
{
    struct nearest nearest = {0};
    char alike[128];
    for (int i = 0; option_name(i); i++)
        nearest_offer(&nearest, key, option_name(i));
    const char *meant = nearest_meant(&nearest, key);
    begin_alike(key, alike, sizeof alike);
    return fail_with(-EINVAL, err, BACKTEST_TERMS_ERROR_MAX, "%.64s: unknown option%s", key,
                     NEAREST_SUGGEST(meant ? meant : alike));
}

static int take(struct spark_trading *t, const char *key, const char *text, char *err)
{
    char why[BACKTEST_TERMS_ERROR_MAX];
    if (strncmp(key, "set.", 4) == 0)
        return set_param(t, key + 4, text, err);
    if (strncmp(key, "grid.", 5) == 0)
        return take_axis(t, key + 5, text, err);
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (strcmp(options[i].key, key) == 0)
            return options[i].take(t, key, text, err);
    int r = backtest_terms_set(&t->terms, key, text, why);
    if (r == -ENOENT && strncmp(key, "risk.", 5) != 0)
        return unknown(key, err);
    return r < 0 ? fail_with(-EINVAL, err, BACKTEST_TERMS_ERROR_MAX, "%s", why) : 0;
}

/* A parameter is on a grid, or it is set; together they must not contradict each other. */
static int check(const struct spark_trading *t, bool session, char *err)
{
    if (!t->strategy)
        return fail_with(-EINVAL, err, BACKTEST_TERMS_ERROR_MAX, "strategy: a strategy's name is needed");
    if (t->terms.cash == 0)
        return wrong("cash", "0", "a number above 0 is needed", err);
    if (t->exchange_info && (t->lot || t->tick || t->quote))
        return fail_with(-EINVAL, err, BACKTEST_TERMS_ERROR_MAX,
                         "exchange_info: it says lot, tick and quote too: one of them");
    bool stocks = t->terms.rules.margin != MARGIN_OFF || t->terms.rules.settlement != SETTLEMENT_OFF;
    if (!t->calendar && (session || stocks))
        return fail_with(-EINVAL, err, BACKTEST_TERMS_ERROR_MAX,
                         "%s: it goes with calendar, which says when the sessions are",
                         session                               ? "session"
                         : t->terms.rules.margin != MARGIN_OFF ? "margin"
                                                               : "settlement");
    const char *why = t->grid.n_axes == 0 ? strategy_check(t->strategy, t->params) : NULL;
    if (why)
        return fail_with(-EINVAL, err, BACKTEST_TERMS_ERROR_MAX, "%s: %s", t->strategy->name, why);
    if (backtest_grid_count(&t->grid) > BACKTEST_GRID_MOST)
        return fail_with(-EINVAL, err, BACKTEST_TERMS_ERROR_MAX,
                         "grid: more than 1000000 combinations: wider steps are needed");
    return 0;
}

int spark_trading_read(const char *const keys[], const char *const values[], size_t n,
                       struct spark_trading *ret, char *err, size_t err_cap)
{
    struct spark_trading t = {.metric = SWEEP_SHARPE};
    char why[BACKTEST_TERMS_ERROR_MAX] = "out of memory";
    bool session = false;
    int r = 0;
    backtest_terms_init(&t.terms);
    for (size_t i = 0; i < n && r == 0; i++) {
        session |= strcmp(keys[i], "session") == 0;
        r = take(&t, keys[i], values[i], why);
    }
    if (r == 0)
        r = check(&t, session, why);
    if (r < 0) {
        spark_trading_finish(&t);
        return fail_with(r, err, err_cap, "%s", why);
    }
    *ret = t;
    return 0;
}

void spark_trading_finish(struct spark_trading *trading)
{
    backtest_grid_finish(&trading->grid);
    calendar_file_close(trading->calendar);
    free(trading->lot);
    free(trading->tick);
    free(trading->quote);
    free(trading->exchange_info);
    *trading = (struct spark_trading){0};
}

const struct trading_calendar *spark_trading_calendar(const struct spark_trading *trading)
{
    const struct trading_calendar *calendar =
        trading->calendar ? calendar_file_view(trading->calendar) : NULL;
    return calendar && calendar->n > 0 ? calendar : NULL;
}
