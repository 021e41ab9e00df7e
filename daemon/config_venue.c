/* [venue NAME]: a further venue, or what [market] has no key for of the first. */
#include "daemon/config_values.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/venues.h"

enum { WHY = CONFIG_WHY_MAX, ROWS_MAX = DAEMON_CONFIG_VENUE_KEYS + CONFIG_SETTINGS_MAX };

/* The keys of every venue, and its own options: texts, some of them one of several words. */
static size_t rows_of(const struct venue *venue, struct config_key ret[static ROWS_MAX])
{
    size_t n;
    const struct config_key *keys = daemon_config_venue_keys(&n);
    memcpy(ret, keys, n * sizeof *keys);
    for (size_t i = 0; i < venue->n_options && i < CONFIG_SETTINGS_MAX; i++) {
        const struct venue_option *option = &venue->options[i];
        ret[n++] = (struct config_key){"venue",
                                       option->name,
                                       option->summary,
                                       option->fallback,
                                       KEY_TEXT,
                                       .words = option->values,
                                       KEY_AT(struct daemon_config_venue, settings[i])};
    }
    return n;
}

void daemon_config_venue_defaults(struct daemon_config_venue *venue, const struct venue *which)
{
    struct config_key rows[ROWS_MAX];
    *venue = (struct daemon_config_venue){.venue = which};
    config_key_defaults(rows, rows_of(which, rows), "venue", venue);
}

bool daemon_config_extended(const struct daemon_config *config)
{
    int v = 0;
    while (v < config->n_venues && !config->venues[v].extended_hours)
        v++;
    return v < config->n_venues;
}

const bool *daemon_config_streams(const struct daemon_config *config, const struct daemon_config_venue *venue)
{
    return venue->own_streams ? venue->streams : config->venues[0].streams;
}

const struct fee_tier *daemon_config_fee_tier(const struct daemon_config *config, const char *name)
{
    const struct fee_tier *tier = NULL;
    for (int v = 0; v < config->n_venues && !tier; v++)
        tier = fee_tier_find(config->venues[v].venue->format->name, name);
    return tier;
}

int daemon_config_unknown_venue(const char *name, char *why)
{
    char all[160] = "";
    size_t n, used = 0;
    const struct venue *const *list = venues_known(&n);
    for (size_t i = 0; i < n && used < sizeof all; i++)
        used += (size_t)snprintf(all + used, sizeof all - used, "%s ", list[i]->format->name);
    (void)config_key_word(name, all, why);
    return -EINVAL;
}

int daemon_config_read_venue(const struct config_key *key, const char *text, void *base, char why[static WHY])
{
    (void)key;
    struct daemon_config *config = base;
    const struct venue *which = venue_find(text);
    if (!which)
        return daemon_config_unknown_venue(text, why);
    for (int v = 1; v < config->n_venues; v++)
        if (config->venues[v].venue == which)
            return config_key_refuse(why, WHY, "[venue %s] is another one already", text);
    if (config->venues[0].venue == which)
        return 0;
    struct daemon_config_venue venue;
    daemon_config_venue_defaults(&venue, which);
    memcpy(venue.streams, config->venues[0].streams, sizeof venue.streams);
    venue.own_streams = true;
    config->venues[0] = venue;
    return 0;
}

void daemon_config_print_venue(const struct config_key *key, const void *base, FILE *to)
{
    (void)key;
    fputs(((const struct daemon_config *)base)->venues[0].venue->format->name, to);
}

/* ---- its keys ---- */

/* [market] has them for the first venue. */
static bool is_market(const struct config_key *row)
{
    size_t n;
    const struct config_key *keys = daemon_config_keys(&n);
    return config_key_find(keys, n, "market", row->name) != NULL;
}

static bool is_extended(const struct config_key *row)
{
    return strcmp(row->name, "extended_hours") == 0;
}

static int set_row(struct daemon_config *config, int v, const struct config_key *row, const char *value,
                   char *why)
{
    struct daemon_config_venue *venue = &config->venues[v];
    if (v == 0 && is_market(row))
        return config_key_refuse(why, WHY, "%s is the first venue: set %s in [market]",
                                 venue->venue->format->name, row->name);
    if (is_extended(row) && venue->venue->always_open)
        return config_key_refuse(why, WHY, "%s is open at all times: it has no extended hours",
                                 venue->venue->format->name);
    if (strcmp(row->name, "symbols") == 0)
        return daemon_config_set_symbols(config, v, value, why);
    if (strcmp(row->name, "streams") != 0)
        return config_key_read(row, value, venue, why);
    venue->own_streams = value[0] != '\0';
    return value[0] ? daemon_config_streams_of(value, venue->streams, why) : 0;
}

static int set_key(struct daemon_config *config, int v, const char *key, const char *value, char *why)
{
    struct config_key rows[ROWS_MAX];
    size_t n = rows_of(config->venues[v].venue, rows);
    const struct config_key *row = config_key_find(rows, n, NULL, key);
    return row ? set_row(config, v, row, value, why) : config_key_unknown(rows, n, NULL, key, why);
}

int daemon_config_venue_set(struct daemon_config *config, const char *name, const char *key,
                            const char *value, char why[static WHY])
{
    const struct venue *which = venue_find(name);
    int v = 0;
    while (v < config->n_venues && config->venues[v].venue != which)
        v++;
    if (!which)
        return daemon_config_unknown_venue(name, why);
    if (v == CONFIG_VENUES_MAX)
        return config_key_refuse(why, WHY, "more than %d venues", CONFIG_VENUES_MAX);
    if (v == config->n_venues) {
        daemon_config_venue_defaults(&config->venues[v], which);
        config->n_venues++;
    }
    return key ? set_key(config, v, key, value, why) : 0;
}

/* ---- the whole ---- */

static const char *section_of(int v, const struct daemon_config *config, char buf[static 40])
{
    snprintf(buf, 40, v == 0 ? "market" : "venue %s", config->venues[v].venue->format->name);
    return buf;
}

/* Has one of the venue's symbols streams of that kind? Where it has no symbols, yes. */
static bool has_stream(const struct daemon_config *config, int v, enum market_kind kind)
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
static void check_known(const struct daemon_config *config, int v, const char *section,
                        const struct daemon_config_check *check)
{
    const bool *streams = daemon_config_streams(config, &config->venues[v]);
    for (int kind = 0; kind < MARKET_CHANNELS; kind++)
        if (streams[kind] && v > 0 && config->venues[v].own_streams &&
            !has_stream(config, v, (enum market_kind)kind))
            daemon_config_misfit(check, section, "streams symbols [market]interval", "%s has no %s",
                                 config->venues[v].venue->format->name,
                                 market_kind_name((enum market_kind)kind));
}

static void check_streams(const struct daemon_config *config, int v, const char *section,
                          const struct daemon_config_check *check)
{
    static const char keys[] = "streams [engine]fill_model [market]streams";
    const bool *streams = daemon_config_streams(config, &config->venues[v]);
    if (config->fill_model == FILL_BOOK && !streams[MARKET_QUOTE] && !streams[MARKET_DEPTH])
        daemon_config_misfit(check, section, keys,
                             "orders are filled from bookTicker or depth: name one of them");
    else if (config->fill_model == FILL_QUOTE && !streams[MARKET_QUOTE])
        daemon_config_misfit(check, section, keys,
                             "with fill_model = quote orders are filled from bookTicker: name it");
    else if (config->fill_model == FILL_BAR && !streams[MARKET_KLINE])
        daemon_config_misfit(check, section, keys,
                             "with fill_model = bar orders are filled from kline: name it");
    else if (!streams[MARKET_KLINE] && !streams[MARKET_TRADE])
        daemon_config_misfit(check, section, keys, "bars come from kline or trade: name one of them");
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

static void check_names(const struct daemon_config *config, const struct daemon_config_check *check)
{
    struct named *named = calloc((size_t)config->n_symbols + 1, sizeof *named);
    if (!named) {
        daemon_config_misfit(check, "market", "symbols", "out of memory");
        return;
    }
    for (int s = 0; s < config->n_symbols; s++)
        named[s] = (struct named){config->symbols[s], config->symbol_venues[s]};
    qsort(named, (size_t)config->n_symbols, sizeof *named, compare_named);
    for (int s = 1; s < config->n_symbols; s++) {
        char one[40], other[40];
        if (strcmp(named[s].name, named[s - 1].name) == 0)
            daemon_config_misfit(check, section_of(named[s].venue, config, one), "symbols",
                                 "%s is named by [%s] already", named[s].name,
                                 section_of(named[s - 1].venue, config, other));
    }
    free(named);
}

void daemon_config_venue_check(const struct daemon_config *config, const struct daemon_config_check *check)
{
    for (int v = 0; v < config->n_venues; v++) {
        const struct daemon_config_venue *venue = &config->venues[v];
        const char *name = venue->venue->format->name;
        char section[40], own[40];
        int s = 0;
        snprintf(own, sizeof own, "venue %s", name);
        while (s < config->n_symbols && config->symbol_venues[s] != v)
            s++;
        if (s == config->n_symbols)
            daemon_config_misfit(check, section_of(v, config, section), "symbols", "at least one is needed");
        if (venue->venue->needs_keys && !venue->keys[0])
            daemon_config_misfit(
                check, own, "keys",
                "%s says nothing without: a systemd credential's name, or the path of a file of "
                "mode 0600 with two lines, id and secret, is needed",
                name);
        section_of(v, config, section);
        check_known(config, v, section, check);
        check_streams(config, v, section, check);
    }
    check_names(config, check);
}

static void print_row(const struct daemon_config *config, int v, const struct config_key *row, FILE *to)
{
    const struct daemon_config_venue *venue = &config->venues[v];
    if ((v == 0 && is_market(row)) || (is_extended(row) && venue->venue->always_open))
        return;
    const char *words = row->kind == CONFIG_TEXT ? row->words : NULL;
    fprintf(to, "# %s%s%s%s\n%s = ", row->about, words ? " (" : "", words ? words : "", words ? ")" : "",
            row->name);
    if (strcmp(row->name, "symbols") == 0)
        daemon_config_print_symbols_of(config, v, to);
    else if (strcmp(row->name, "streams") != 0)
        config_key_print(row, venue, to);
    else if (venue->own_streams)
        daemon_config_print_streams_of(venue->streams, to);
    fputc('\n', to);
}

void daemon_config_venue_print(const struct daemon_config *config, int v, FILE *to)
{
    const struct daemon_config_venue *venue = &config->venues[v];
    struct config_key rows[ROWS_MAX];
    size_t n = rows_of(venue->venue, rows);
    if (v == 0 && !venue->keys[0] && venue->venue->n_options == 0)
        return;
    fprintf(to, "\n[venue %s]\n", venue->venue->format->name);
    for (size_t i = 0; i < n; i++)
        print_row(config, v, &rows[i], to);
}
