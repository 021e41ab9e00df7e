/* Values that are text, or one of several words. */
#include "daemon/config_values.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "exchange/bar.h"
#include "exchange/nearest.h"
#include "exchange/net/url.h"
#include "strategy/strategy.h"

enum { REASON = CONFIG_REASON_MAX };

/* --- text --- */

void config_print_text(const struct config_key *key, const void *base, FILE *to)
{
    fputs((const char *)base + key->offset, to);
}

int config_set_text(const struct config_key *key, const char *text, void *base, char *reason)
{
    if (strlen(text) > (size_t)key->max)
        return config_reason(reason, REASON, "longer than %jd characters", (intmax_t)key->max);
    strcpy((char *)base + key->offset, text);
    return 0;
}

/* What an INI file would not give back as it was: blanks at the ends, control characters, the start of a
 * comment. */
static bool printable(const char *text)
{
    size_t n = strlen(text);
    if (n > 0 && (isspace((unsigned char)text[0]) || isspace((unsigned char)text[n - 1]) || text[0] == ';'))
        return false;
    for (size_t i = 0; i < n; i++)
        if (iscntrl((unsigned char)text[i]) || (text[i] == ';' && isspace((unsigned char)text[i - 1])))
            return false;
    return true;
}

int config_parse_path(const struct config_key *key, const char *text, void *base, char reason[static REASON])
{
    if (!printable(text))
        return config_reason(reason, REASON,
                             "\"%.60s\": a path without \" ;\" and control characters is needed", text);
    return config_set_text(key, text, base, reason);
}

int config_parse_url(const struct config_key *key, const char *text, void *base, char reason[static REASON])
{
    const char *scheme = strcmp(key->name, "ws_url") == 0 ? "wss" : "https";
    struct url url;
    char base_url[CONFIG_URL_MAX];
    snprintf(base_url, sizeof base_url, "%s", text);
    size_t n = strlen(base_url);
    if (n > 0 && base_url[n - 1] == '/')
        base_url[n - 1] = '\0';
    if (!text[0])
        return config_set_text(key, text, base, reason);
    bool whole = strlen(text) < sizeof base_url && printable(text) && url_parse(base_url, &url) == 0;
    if (!whole || strcmp(url.scheme, scheme) != 0 || strchr(base_url + strlen(scheme) + 3, '/'))
        return config_reason(reason, REASON, "\"%.100s\": a URL like %s://HOST:PORT is needed", text, scheme);
    return config_set_text(key, base_url, base, reason);
}

/* Copies text[0..n) in upper case when it consists of letters, digits and `others`. */
bool config_upper_name(const char *text, size_t n, const char *others, char *to, size_t size)
{
    if (n == 0 || n >= size)
        return false;
    for (size_t i = 0; i < n; i++)
        if (!isalnum((unsigned char)text[i]) && !strchr(others, text[i]))
            return false;
    for (size_t i = 0; i < n; i++)
        to[i] = (char)toupper((unsigned char)text[i]);
    to[n] = '\0';
    return true;
}

int config_parse_asset(const struct config_key *key, const char *text, void *base, char reason[static REASON])
{
    if (!config_upper_name(text, strlen(text), "", (char *)base + key->offset, (size_t)key->max + 1))
        return config_reason(reason, REASON, "\"%.60s\": an asset like USDT is needed", text);
    return 0;
}

/* The ledger's scale is the venue's: kept as text, checked at the finest scale that holds the largest. */
int config_parse_cash(const struct config_key *key, const char *text, void *base, char reason[static REASON])
{
    int64_t units = 0;
    int e = config_parse_units(key, text, &units, reason);
    return e ? e
             : config_set_text(&(struct config_key){.offset = key->offset, .max = 31}, text, base, reason);
}
/* --- one of several words --- */

int config_unknown_word(const char *text, const char *const *words, size_t n, char *reason)
{
    struct nearest nearest = {0};
    char all[160] = "";
    for (size_t i = 0; i < n; i++) {
        size_t used = strlen(all);
        snprintf(all + used, sizeof all - used, "%s%s", i ? ", " : "", words[i]);
        nearest_offer(&nearest, text, words[i]);
    }
    return config_reason(reason, REASON, "\"%.60s\": did you mean %s? (%s)", text, nearest.best, all);
}

enum { FEE_TIERS_MAX = 64 };

static const char *const inferences[] = {[INFERENCE_CPU] = "cpu", [INFERENCE_GPU] = "gpu"};
static const char *const clocks[] = {[CLOCK_WALL] = "wall", [CLOCK_FEED] = "feed"};
static const char *const levels[] = {
    [LOG_LEVEL_ERROR] = "error",
    [LOG_LEVEL_WARNING] = "warning",
    [LOG_LEVEL_INFO] = "info",
    [LOG_LEVEL_DEBUG] = "debug",
};

int config_find_word(const char *text, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(words[i], text) == 0)
            return (int)i;
    return -EINVAL;
}

static const char *const missed[] = {[MISSED_STOPS_FILL] = "fill", [MISSED_STOPS_KEEP] = "keep"};
static const char *const switches[] = {"off", "on"};
static const char *const starts[] = {"never", "auto"};

enum { CLOCKS = 2, INFERENCES = 2, LEVELS = 4, MISSED = 2, SWITCHES = 2 };

int config_log_level_parse(const char *name)
{
    return config_find_word(name, levels, LEVELS);
}

int config_parse_clock(const struct config_key *key, const char *text, void *base, char reason[static REASON])
{
    int i = config_find_word(text, clocks, CLOCKS);
    if (i < 0)
        return config_unknown_word(text, clocks, CLOCKS, reason);
    *(enum config_clock *)((char *)base + key->offset) = (enum config_clock)i;
    return 0;
}

void config_print_clock(const struct config_key *key, const void *base, FILE *to)
{
    fputs(clocks[*(const enum config_clock *)((const char *)base + key->offset)], to);
}

int config_parse_inference(const struct config_key *key, const char *text, void *base,
                           char reason[static REASON])
{
    int i = config_find_word(text, inferences, INFERENCES);
    if (i < 0)
        return config_unknown_word(text, inferences, INFERENCES, reason);
    *(enum config_inference *)((char *)base + key->offset) = (enum config_inference)i;
    return 0;
}

void config_print_inference(const struct config_key *key, const void *base, FILE *to)
{
    fputs(inferences[*(const enum config_inference *)((const char *)base + key->offset)], to);
}

int config_parse_missed(const struct config_key *key, const char *text, void *base,
                        char reason[static REASON])
{
    int i = config_find_word(text, missed, MISSED);
    if (i < 0)
        return config_unknown_word(text, missed, MISSED, reason);
    *(enum missed_stops *)((char *)base + key->offset) = (enum missed_stops)i;
    return 0;
}

void config_print_missed(const struct config_key *key, const void *base, FILE *to)
{
    fputs(missed[*(const enum missed_stops *)((const char *)base + key->offset)], to);
}

int config_parse_model(const struct config_key *key, const char *text, void *base, char reason[static REASON])
{
    const char *words[FILL_MODELS];
    for (int i = 0; i < FILL_MODELS; i++)
        words[i] = fill_model_name((enum fill_model)i);
    int i = config_find_word(text, words, FILL_MODELS);
    if (i < 0)
        return config_unknown_word(text, words, FILL_MODELS, reason);
    *(enum fill_model *)((char *)base + key->offset) = (enum fill_model)i;
    return 0;
}

void config_print_model(const struct config_key *key, const void *base, FILE *to)
{
    fputs(fill_model_name(*(const enum fill_model *)((const char *)base + key->offset)), to);
}

int config_parse_switch(const struct config_key *key, const char *text, void *base,
                        char reason[static REASON])
{
    int i = config_find_word(text, switches, SWITCHES);
    if (i < 0)
        return config_unknown_word(text, switches, SWITCHES, reason);
    *(bool *)((char *)base + key->offset) = i == 1;
    return 0;
}

void config_print_switch(const struct config_key *key, const void *base, FILE *to)
{
    fputs(switches[*(const bool *)((const char *)base + key->offset)], to);
}

int config_parse_start(const struct config_key *key, const char *text, void *base, char reason[static REASON])
{
    int i = config_find_word(text, starts, SWITCHES);
    if (i < 0)
        return config_unknown_word(text, starts, SWITCHES, reason);
    *(bool *)((char *)base + key->offset) = i == 1;
    return 0;
}

void config_print_start(const struct config_key *key, const void *base, FILE *to)
{
    fputs(starts[*(const bool *)((const char *)base + key->offset)], to);
}

/* "0,1", "none" or "". */
int config_parse_devices(const struct config_key *key, const char *text, void *base,
                         char reason[static REASON])
{
    bool good = text[strspn(text, "0123456789,")] == '\0' && text[0] != ',' && !strstr(text, ",,") &&
                (text[0] == '\0' || text[strlen(text) - 1] != ',');
    if (!good && strcmp(text, "none") != 0)
        return config_reason(reason, REASON,
                             "\"%.60s\": numbers of devices with commas, as 0,1, or none are needed", text);
    return config_set_text(key, text, base, reason);
}

int config_parse_level(const struct config_key *key, const char *text, void *base, char reason[static REASON])
{
    int i = config_log_level_parse(text);
    if (i < 0)
        return config_unknown_word(text, levels, LEVELS, reason);
    *(enum log_level *)((char *)base + key->offset) = (enum log_level)i;
    return 0;
}

void config_print_level(const struct config_key *key, const void *base, FILE *to)
{
    fputs(levels[*(const enum log_level *)((const char *)base + key->offset)], to);
}

int config_interval_of(const char *text, int64_t *ret_ns, char *reason)
{
    static const char *const names[] = {"1s", "1m", "3m", "5m",  "15m", "30m", "1h", "2h",
                                        "4h", "6h", "8h", "12h", "1d",  "3d",  "1w"};
    if (bar_interval_parse(text, ret_ns) != 0)
        return config_unknown_word(text, names, sizeof names / sizeof *names, reason);
    return 0;
}

int config_parse_interval(const struct config_key *key, const char *text, void *base,
                          char reason[static REASON])
{
    return config_interval_of(text, (int64_t *)((char *)base + key->offset), reason);
}

void config_print_interval(const struct config_key *key, const void *base, FILE *to)
{
    fputs(bar_interval_name(*(const int64_t *)((const char *)base + key->offset)), to);
}

int config_parse_strategy(const struct config_key *key, const char *text, void *base,
                          char reason[static REASON])
{
    (void)key;
    struct account_config *account = base;
    const struct strategy *found = strategy_find(text);
    if (!found && strcmp(text, "none") != 0) {
        strategy_unknown(text, "none", reason, REASON);
        return -EINVAL;
    }
    if (found && account->policy[0])
        return config_reason(reason, REASON, "policy = %.200s trades already: one of the two is needed",
                             account->policy);
    account->strategy = found;
    account->own_strategy = found != NULL;
    memset(account->params, 0, sizeof account->params);
    if (found)
        strategy_defaults(found, account->params);
    return 0;
}

void config_print_strategy(const struct config_key *key, const void *base, FILE *to)
{
    (void)key;
    const struct account_config *account = base;
    fputs(account->strategy ? account->strategy->name : "none", to);
}

/* --- a tier of a venue's fees --- */

int config_parse_tier(const struct config_key *key, const char *text, void *base, char reason[static REASON])
{
    (void)key;
    struct account_config *account = base;
    size_t n_words = 0;
    const struct fee_schedule *schedule;
    const char *words[FEE_TIERS_MAX];
    if (text[0] && account->own_rates)
        return config_reason(reason, REASON,
                             "fee_maker or fee_taker says it already: one of the two is needed");
    for (size_t i = 0; (schedule = fee_schedule(i)); i++)
        for (size_t t = 0; t < schedule->n && n_words < FEE_TIERS_MAX; t++)
            words[n_words++] = schedule->tiers[t].name;
    if (text[0] && config_find_word(text, words, n_words) < 0)
        return config_unknown_word(text, words, n_words, reason);
    snprintf(account->fee_tier, sizeof account->fee_tier, "%s", text);
    return 0;
}

void config_print_tier(const struct config_key *key, const void *base, FILE *to)
{
    (void)key;
    fputs(((const struct account_config *)base)->fee_tier, to);
}
