/* [venue NAME]: a further venue, or what [market] has no key for of the first. */
#include "daemon/config_values.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/nearest.h"
#include "exchange/venues.h"

enum { REASON = CONFIG_REASON_MAX };

enum venue_key { KEY_SYMBOLS, KEY_STREAMS, KEY_KEYS, KEY_WS_URL, KEY_REST_URL, KEY_EXTENDED, KEYS };

static const char *const keys[KEYS][2] = {
    [KEY_SYMBOLS] = {"symbols", "what is streamed and traded of it; no name that another venue has"},
    [KEY_STREAMS] = {"streams", "what is subscribed; empty: as [market], as far as it has them"},
    [KEY_KEYS] = {"keys",
                  "a systemd credential's name, or the path of a file of mode 0600: two lines, id and "
                  "secret; empty: none"},
    [KEY_WS_URL] = {"ws_url", "where the streams are; TLS only; empty: the venue's own"},
    [KEY_REST_URL] = {"rest_url", "where all else is; TLS only; empty: the venue's own"},
    [KEY_EXTENDED] = {"extended_hours", "is it traded in before and after the session: on, or off"},
};

const char *const (*config_venue_keys(size_t *ret_n))[2]
{
    *ret_n = KEYS;
    return keys;
}

void config_venue_defaults(struct config_venue *venue, const struct venue *which)
{
    *venue = (struct config_venue){.venue = which};
    for (size_t i = 0; i < which->n_options && i < CONFIG_SETTINGS_MAX; i++)
        snprintf(venue->settings[i], CONFIG_SETTING_MAX, "%s", which->options[i].fallback);
}

const bool *config_streams(const struct config *config, const struct config_venue *venue)
{
    return venue->own_streams ? venue->streams : config->venues[0].streams;
}

const struct fee_tier *config_fee_tier(const struct config *config, const char *name)
{
    const struct fee_tier *tier = NULL;
    for (int v = 0; v < config->n_venues && !tier; v++)
        tier = fee_tier_find(config->venues[v].venue->format->name, name);
    return tier;
}

static int unknown_venue(const char *name, char *reason)
{
    struct nearest nearest = {0};
    char all[160] = "";
    size_t n;
    const struct venue *const *list = venues(&n);
    for (size_t i = 0; i < n; i++) {
        size_t used = strlen(all);
        snprintf(all + used, sizeof all - used, "%s%s", i ? ", " : "", list[i]->format->name);
        nearest_offer(&nearest, name, list[i]->format->name);
    }
    return config_reason(reason, REASON, "\"%.60s\": did you mean %s? (%s)", name, nearest.best, all);
}

int config_parse_venue(const struct config_key *key, const char *text, void *base, char reason[static REASON])
{
    (void)key;
    struct config *config = base;
    const struct venue *which = venue_find(text);
    if (!which)
        return unknown_venue(text, reason);
    for (int v = 1; v < config->n_venues; v++)
        if (config->venues[v].venue == which)
            return config_reason(reason, REASON, "[venue %s] is another one already", text);
    if (config->venues[0].venue == which)
        return 0;
    struct config_venue venue;
    config_venue_defaults(&venue, which);
    memcpy(venue.streams, config->venues[0].streams, sizeof venue.streams);
    venue.own_streams = true;
    config->venues[0] = venue;
    return 0;
}

void config_print_venue(const struct config_key *key, const void *base, FILE *to)
{
    (void)key;
    fputs(((const struct config *)base)->venues[0].venue->format->name, to);
}

/* ---- its keys ---- */

static int set_url(struct config_venue *venue, enum venue_key which, const char *value, char *reason)
{
    size_t at =
        which == KEY_WS_URL ? offsetof(struct config_venue, ws_url) : offsetof(struct config_venue, rest_url);
    const struct config_key row = {.name = keys[which][0], .offset = at, .max = CONFIG_URL_MAX - 1};
    return config_parse_url(&row, value, venue, reason);
}

static int set_keys(struct config_venue *venue, const char *value, char *reason)
{
    const struct config_key row = {
        .name = "keys", .offset = offsetof(struct config_venue, keys), .max = CONFIG_PATH_MAX - 1};
    if (strchr(value, '/'))
        return config_parse_path(&row, value, venue, reason);
    for (const char *c = value; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("-_.", *c))
            return config_reason(reason, REASON,
                                 "\"%.60s\": a credential's name, or a path with a /, is needed", value);
    return config_set_text(&row, value, venue, reason);
}

static int set_extended(struct config_venue *venue, const char *value, char *reason)
{
    const struct config_key row = {.name = "extended_hours",
                                   .offset = offsetof(struct config_venue, extended_hours)};
    if (venue->venue->always_open)
        return config_reason(reason, REASON, "%s is open at all times: it has no extended hours",
                             venue->venue->format->name);
    return config_parse_switch(&row, value, venue, reason);
}

/* Blanks stand between the values that an option may have. */
static bool among(const char *values, const char *value)
{
    size_t len = strlen(value);
    for (const char *at = values; len > 0 && (at = strstr(at, value)); at += len)
        if ((at == values || at[-1] == ' ') && (at[len] == ' ' || at[len] == '\0'))
            return true;
    return false;
}

static int set_option(struct config_venue *venue, size_t i, const char *value, char *reason)
{
    const struct venue_option *option = &venue->venue->options[i];
    if (option->values && !among(option->values, value))
        return config_reason(reason, REASON, "\"%.60s\": one of these is needed: %s", value, option->values);
    if (strlen(value) >= CONFIG_SETTING_MAX)
        return config_reason(reason, REASON, "longer than %d characters", CONFIG_SETTING_MAX - 1);
    strcpy(venue->settings[i], value);
    return 0;
}

static int unknown_key(const struct config_venue *venue, const char *key, char *reason)
{
    struct nearest nearest = {0};
    for (int i = 0; i < KEYS; i++)
        nearest_offer(&nearest, key, keys[i][0]);
    for (size_t i = 0; i < venue->venue->n_options; i++)
        nearest_offer(&nearest, key, venue->venue->options[i].name);
    return config_reason(reason, REASON, "unknown key: did you mean %s?", nearest.best);
}

static int set_key(struct config *config, int v, const char *key, const char *value, char *reason)
{
    struct config_venue *venue = &config->venues[v];
    int which = 0;
    while (which < KEYS && strcmp(keys[which][0], key) != 0)
        which++;
    bool of_market =
        which == KEY_SYMBOLS || which == KEY_STREAMS || which == KEY_WS_URL || which == KEY_REST_URL;
    if (v == 0 && of_market)
        return config_reason(reason, REASON, "of the first venue [market] says it");
    switch (which) {
    case KEY_SYMBOLS:
        return config_set_symbols(config, v, value, reason);
    case KEY_STREAMS:
        venue->own_streams = value[0] != '\0';
        return value[0] ? config_streams_of(value, venue->streams, reason) : 0;
    case KEY_KEYS:
        return set_keys(venue, value, reason);
    case KEY_WS_URL:
    case KEY_REST_URL:
        return set_url(venue, (enum venue_key)which, value, reason);
    case KEY_EXTENDED:
        return set_extended(venue, value, reason);
    default:
        for (size_t i = 0; i < venue->venue->n_options && i < CONFIG_SETTINGS_MAX; i++)
            if (strcmp(venue->venue->options[i].name, key) == 0)
                return set_option(venue, i, value, reason);
        return unknown_key(venue, key, reason);
    }
}

int config_venue_set(struct config *config, const char *name, const char *key, const char *value,
                     char reason[static REASON])
{
    const struct venue *which = venue_find(name);
    int v = 0;
    while (v < config->n_venues && config->venues[v].venue != which)
        v++;
    if (!which)
        return unknown_venue(name, reason);
    if (v == CONFIG_VENUES_MAX)
        return config_reason(reason, REASON, "more than %d venues", CONFIG_VENUES_MAX);
    if (v == config->n_venues) {
        config_venue_defaults(&config->venues[v], which);
        config->n_venues++;
    }
    int e = key ? set_key(config, v, key, value, reason) : 0;
    return e;
}

/* ---- the whole ---- */

static const char *section_of(int v, const struct config *config, char buf[static 40])
{
    if (v == 0)
        return "[market]";
    snprintf(buf, 40, "[venue %s]", config->venues[v].venue->format->name);
    return buf;
}

/* Has one of the venue's symbols streams of that kind? Where it has no symbols, nobody knows. */
static bool has_stream(const struct config *config, int v, enum market_kind kind)
{
    char name[VENUE_STREAM_NAME_MAX];
    const struct venue *venue = config->venues[v].venue;
    bool any = false;
    for (int s = 0; s < config->n_symbols; s++) {
        if (config->symbol_venues[s] != v)
            continue;
        any = true;
        if (venue->stream_name(config->symbols[s], kind, config->interval_ns, name) == 0)
            return true;
    }
    return !any;
}

/* A stream that none of a venue's symbols has is a mistake where its own section names it; [market]'s list is
 * for all of them. */
static int check_known(const struct config *config, int v, const char *section, char *error)
{
    const bool *streams = config_streams(config, &config->venues[v]);
    for (int kind = 0; kind < MARKET_CHANNELS; kind++)
        if (streams[kind] && v > 0 && config->venues[v].own_streams &&
            !has_stream(config, v, (enum market_kind)kind))
            return config_reason(error, CONFIG_ERROR_MAX, "%s streams: %s has no %s", section,
                                 config->venues[v].venue->format->name,
                                 market_kind_name((enum market_kind)kind));
    return 0;
}

static int check_streams(const struct config *config, int v, char *error)
{
    const bool *streams = config_streams(config, &config->venues[v]);
    char buf[40];
    const char *section = section_of(v, config, buf);
    if (check_known(config, v, section, error) < 0)
        return -EINVAL;
    if (config->fill_model == FILL_BOOK && !streams[MARKET_QUOTE] && !streams[MARKET_DEPTH])
        return config_reason(error, CONFIG_ERROR_MAX,
                             "%s streams: orders are filled from bookTicker or depth: name one of them",
                             section);
    if (config->fill_model == FILL_QUOTE && !streams[MARKET_QUOTE])
        return config_reason(error, CONFIG_ERROR_MAX,
                             "%s streams: with fill_model = quote orders are filled from bookTicker: name it",
                             section);
    if (config->fill_model == FILL_BAR && !streams[MARKET_KLINE])
        return config_reason(error, CONFIG_ERROR_MAX,
                             "%s streams: with fill_model = bar orders are filled from kline: name it",
                             section);
    if (!streams[MARKET_KLINE] && !streams[MARKET_TRADE])
        return config_reason(error, CONFIG_ERROR_MAX,
                             "%s streams: bars come from kline or trade: name one of them", section);
    return 0;
}

struct named {
    const char *name;
    int venue;
};

static int compare_named(const void *a, const void *b)
{
    const struct named *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order ? order : x->venue - y->venue;
}

static int check_names(const struct config *config, char *error)
{
    struct named *named = calloc((size_t)config->n_symbols, sizeof *named);
    int e = 0;
    if (!named)
        return config_reason(error, CONFIG_ERROR_MAX, "out of memory");
    for (int s = 0; s < config->n_symbols; s++)
        named[s] = (struct named){config->symbols[s], config->symbol_venues[s]};
    qsort(named, (size_t)config->n_symbols, sizeof *named, compare_named);
    for (int s = 1; s < config->n_symbols && !e; s++) {
        char one[40], other[40];
        if (strcmp(named[s].name, named[s - 1].name) == 0)
            e = config_reason(error, CONFIG_ERROR_MAX, "%s symbols: %s is named by %s already",
                              section_of(named[s].venue, config, one), named[s].name,
                              section_of(named[s - 1].venue, config, other));
    }
    free(named);
    return e;
}

int config_venue_check(const struct config *config, char error[static CONFIG_ERROR_MAX])
{
    for (int v = 0; v < config->n_venues; v++) {
        const struct config_venue *venue = &config->venues[v];
        const char *name = venue->venue->format->name;
        int s = 0;
        while (s < config->n_symbols && config->symbol_venues[s] != v)
            s++;
        if (s == config->n_symbols)
            return config_reason(error, CONFIG_ERROR_MAX,
                                 v ? "[venue %s] symbols: at least one is needed"
                                   : "[market] symbols: at least one is needed",
                                 name);
        if (venue->venue->needs_keys && !venue->keys[0])
            return config_reason(
                error, CONFIG_ERROR_MAX,
                "[venue %s] keys: %s says nothing without: a systemd credential's name, or the "
                "path of a file of mode 0600 with two lines, id and secret, is needed",
                name, name);
        int e = check_streams(config, v, error);
        if (e)
            return e;
    }
    return check_names(config, error);
}

void config_venue_print(const struct config *config, int v, FILE *to)
{
    const struct config_venue *venue = &config->venues[v];
    if (v == 0 && !venue->keys[0] && venue->venue->n_options == 0)
        return;
    fprintf(to, "\n[venue %s]\n", venue->venue->format->name);
    for (int which = 0; which < KEYS; which++) {
        bool of_market = which != KEY_KEYS && which != KEY_EXTENDED;
        if ((v == 0 && of_market) || (which == KEY_EXTENDED && venue->venue->always_open))
            continue;
        fprintf(to, "# %s\n%s = ", keys[which][1], keys[which][0]);
        if (which == KEY_SYMBOLS)
            config_print_symbols_of(config, v, to);
        else if (which == KEY_STREAMS && venue->own_streams)
            config_print_streams_of(venue->streams, to);
        else if (which == KEY_KEYS)
            fputs(venue->keys, to);
        else if (which == KEY_WS_URL)
            fputs(venue->ws_url, to);
        else if (which == KEY_REST_URL)
            fputs(venue->rest_url, to);
        else if (which == KEY_EXTENDED)
            fputs(venue->extended_hours ? "on" : "off", to);
        fputc('\n', to);
    }
    for (size_t i = 0; i < venue->venue->n_options && i < CONFIG_SETTINGS_MAX; i++) {
        const struct venue_option *option = &venue->venue->options[i];
        fprintf(to, "# %s%s%s%s\n%s = %s\n", option->summary, option->values ? " (" : "",
                option->values ? option->values : "", option->values ? ")" : "", option->name,
                venue->settings[i]);
    }
}
