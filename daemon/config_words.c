/* Values that are text, or one of several words. */
#include "daemon/config_values.h"

#include <ctype.h>
#include <errno.h>
#include <grp.h>
#include <string.h>

#include "daemon/http/listen.h"
#include "db/state.h"
#include "exchange/bar.h"
#include "exchange/net/url.h"
#include "indicators_gpu/plugin_file.h"
#include "record/config_duration.h"
#include "strategy/external.h"

enum { WHY = CONFIG_WHY_MAX, WORDS_MAX = 512 };

#define READ(kind) \
    int daemon_config_read_##kind(const struct config_key *key, const char *text, void *base, \
                                  char why[static WHY])
#define PRINT(kind) void daemon_config_print_##kind(const struct config_key *key, const void *base, FILE *to)

/* --- text --- */

static int set_text(const struct config_key *key, const char *text, void *base, char *why)
{
    struct config_key row = *key;
    row.kind = CONFIG_TEXT;
    return config_key_read(&row, text, base, why);
}

READ(listen)
{
    struct sockaddr_storage address;
    socklen_t size;
    if (!text[0] || daemon_http_address(text, &address, &size) == 0)
        return set_text(key, text, base, why);
    return config_key_refuse(why, WHY,
                             "\"%.64s\": an address of this machine's loopback with its port is needed, as "
                             "127.0.0.1:9480 or [::1]:9480: any other could be reached from elsewhere",
                             text);
}

READ(url)
{
    const char *scheme = strstr(key->name, "ws_url") ? "wss" : "https";
    struct url url;
    char base_url[CONFIG_URL_MAX];
    size_t n = strlen(text);
    if (n == 0)
        return set_text(key, text, base, why);
    snprintf(base_url, sizeof base_url, "%s", text);
    if (n < sizeof base_url && base_url[n - 1] == '/')
        base_url[n - 1] = '\0';
    bool whole = n < sizeof base_url && net_url_parse(base_url, &url) == 0;
    if (!whole || strcmp(url.scheme, scheme) != 0 || strchr(base_url + strlen(scheme) + 3, '/') ||
        set_text(key, base_url, base, why) < 0)
        return config_key_refuse(why, WHY, "\"%.100s\": a URL like %s://HOST:PORT is needed", text, scheme);
    return 0;
}

/* A credential's name, or a path. */
READ(keys)
{
    struct config_key name = *key;
    name.kind = strchr(text, '/') || !text[0] ? CONFIG_TEXT : CONFIG_NAME;
    if (config_key_read(&name, text, base, why) == 0)
        return 0;
    return name.kind == CONFIG_TEXT
               ? -EINVAL
               : config_key_refuse(why, WHY, "\"%.60s\": a credential's name, or a path with a /, is needed",
                                   text);
}

bool daemon_config_upper_name(const char *text, size_t n, const char *others, char *to, size_t size)
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

READ(asset)
{
    if (!daemon_config_upper_name(text, strlen(text), "", (char *)base + key->offset, key->size))
        return config_key_refuse(why, WHY, "\"%.60s\": an asset like USDT is needed", text);
    return 0;
}

/* "0,1", "none" or "". */
READ(devices)
{
    bool good = text[strspn(text, "0123456789,")] == '\0' && text[0] != ',' && !strstr(text, ",,") &&
                (text[0] == '\0' || text[strlen(text) - 1] != ',');
    if (!good && strcmp(text, "none") != 0)
        return config_key_refuse(
            why, WHY, "\"%.60s\": numbers of devices with commas, as 0,1, are needed, or \"none\"", text);
    return set_text(key, text, base, why);
}

/* --- one of several words --- */

/* Set at once: lib:NAME in a line below is looked for there. */
READ(plugins)
{
    if (text[0] && text[0] != '/')
        return config_key_refuse(why, WHY, "\"%.100s\": the absolute path of a folder is needed", text);
    if (indicator_plugin_folder_set(text) < 0)
        return config_key_refuse(why, WHY, "\"%.60s…\": a shorter path is needed", text);
    return set_text(key, text, base, why);
}

READ(strategy)
{
    (void)key;
    struct account_config *account = base;
    const struct strategy *found = strategy_is_outside(text) ? NULL : strategy_find(text);
    if (strategy_is_outside(text)) {
        int r = strategy_open(text, &found, why, WHY);
        if (r < 0)
            return r;
    } else if (!found && strcmp(text, "none") != 0) {
        strategy_unknown(text, "none", why, WHY);
        return -EINVAL;
    }
    if (found && account->policy[0])
        return config_key_refuse(why, WHY, "policy = %.200s trades already: one of the two is right",
                                 account->policy);
    account->strategy = found;
    account->own_strategy = found != NULL;
    memset(account->params, 0, sizeof account->params);
    if (found)
        strategy_defaults(found, account->params);
    return 0;
}

PRINT(strategy)
{
    (void)key;
    const struct account_config *account = base;
    fputs(account->strategy ? account->strategy->name : "none", to);
}

/* A tier of any venue's fees. */
READ(tier)
{
    struct account_config *account = base;
    const struct fee_schedule *schedule;
    char words[WORDS_MAX] = "";
    size_t at = 0;
    if (text[0] && account->own_rates)
        return config_key_refuse(why, WHY, "fee_maker or fee_taker " CONFIG_ONE_OF_TWO);
    for (size_t i = 0; (schedule = fee_schedule(i)); i++)
        for (size_t t = 0; t < schedule->n && at < sizeof words; t++)
            at += (size_t)snprintf(words + at, sizeof words - at, "%s ", schedule->tiers[t].name);
    if (text[0] && config_key_word(text, words, why) < 0)
        return -EINVAL;
    return set_text(key, text, base, why);
}

/* A group of the system, in a struct daemon_config_group. Empty: that of the row, where there is one. */
READ(group)
{
    struct daemon_config_group *group = (struct daemon_config_group *)((char *)base + key->offset);
    const struct group *found = NULL;
    bool named = text[0] && strcmp(text, "off") != 0;
    if (named && strlen(text) < sizeof group->name)
        found = getgrnam(text);
    else if (!text[0] && strcmp(key->name, "readers") == 0)
        found = getgrnam(STATE_READERS);
    if (named && !found)
        return config_key_refuse(why, WHY,
                                 "\"%.60s\": there is no such group here: groupadd --system makes one", text);
    *group = (struct daemon_config_group){.gid = found ? found->gr_gid : 0, .known = found != NULL};
    snprintf(group->name, sizeof group->name, "%s", text);
    return 0;
}

PRINT(group)
{
    const struct daemon_config_group *group =
        (const struct daemon_config_group *)((const char *)base + key->offset);
    fputs(group->name, to);
}

/* Bars, or a time: then as many bars as are the default come first. */
READ(history)
{
    struct daemon_config *config = base;
    struct config_key bars = *key;
    int64_t ns = 0;
    bars.kind = CONFIG_WHOLE;
    bool time = config_key_duration_parse(text, &ns);
    if (config_key_read(&bars, time ? key->fallback : text, base, why) < 0)
        return config_key_refuse(
            why, WHY,
            "\"%.60s\": bars from %.0f to %.0f, or so many s, m, h, d, w or y, as 2y, are needed, "
            "at most 100y",
            text, key->min, key->max);
    config->history_ns = ns;
    return 0;
}

PRINT(history)
{
    const struct daemon_config *config = base;
    char text[CONFIG_DURATION_TEXT_MAX];
    (void)key;
    config_key_duration_text(config->history_ns, text);
    if (config->history_ns > 0)
        fputs(text, to);
    else
        fprintf(to, "%d", config->history);
}

/* A minute of the day, in an int: -1 is off. */
READ(minute)
{
    int *minute = (int *)((char *)base + key->offset), hour, past, end = 0;
    bool off = strcmp(text, "off") == 0;
    bool clock = !off && strlen(text) == 5 && text[strspn(text, "0123456789:")] == '\0' &&
                 sscanf(text, "%2d:%2d%n", &hour, &past, &end) == 2 && end == 5 && hour < 24 && past < 60;
    if (!off && !clock)
        return config_key_refuse(why, WHY, "\"%.60s\": a time of day like 00:30, or off, is needed", text);
    *minute = off ? -1 : 60 * hour + past;
    return 0;
}

PRINT(minute)
{
    int minute = *(const int *)((const char *)base + key->offset);
    if (minute < 0)
        fputs("off", to);
    else
        fprintf(to, "%02d:%02d", minute / 60, minute % 60);
}
