/* Values that are lists of names. */
#include "daemon/config_values.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { WHY = CONFIG_WHY_MAX };

#define LIST_SEPARATORS ", \t"

/* Puts `n` names in place of those of a venue; the others keep their order. */
static void put_symbols(struct daemon_config *config, int venue, const char (*names)[SYMBOL_NAME_MAX], int n)
{
    int before = 0, after;
    while (before < config->n_symbols && config->symbol_venues[before] < venue)
        before++;
    after = before;
    while (after < config->n_symbols && config->symbol_venues[after] == venue)
        after++;
    size_t rest = (size_t)(config->n_symbols - after);
    memmove(config->symbols[before + n], config->symbols[after], rest * sizeof *config->symbols);
    memmove(&config->symbol_venues[before + n], &config->symbol_venues[after], rest);
    memcpy(config->symbols[before], names, (size_t)n * sizeof *names);
    memset(&config->symbol_venues[before], venue, (size_t)n);
    config->n_symbols = before + n + (int)rest;
    memset(config->symbols[config->n_symbols], 0,
           (size_t)(SYMBOLS_MAX - config->n_symbols) * sizeof *config->symbols);
}

static int read_symbols(const struct daemon_config *config, int venue, const char *text,
                        char (*symbols)[SYMBOL_NAME_MAX], char *why)
{
    int n = 0, others = 0;
    for (int i = 0; i < config->n_symbols; i++)
        others += config->symbol_venues[i] != venue;
    for (const char *at = text + strspn(text, LIST_SEPARATORS); *at; at += strspn(at, LIST_SEPARATORS)) {
        size_t len = strcspn(at, LIST_SEPARATORS);
        if (n + others == SYMBOLS_MAX)
            return config_key_refuse(why, WHY, "more than %d symbols", SYMBOLS_MAX);
        if (!daemon_config_upper_name(at, len, "-_./", symbols[n], sizeof symbols[n]))
            return config_key_refuse(why, WHY, "\"%.*s\": a symbol like BTCUSDT is needed",
                                     len < 60 ? (int)len : 60, at);
        for (int i = 0; i < n; i++)
            if (strcmp(symbols[i], symbols[n]) == 0)
                return config_key_refuse(why, WHY, "%s is named twice", symbols[n]);
        n++;
        at += len;
    }
    if (n == 0)
        return config_key_refuse(why, WHY, "at least one symbol is needed, like BTCUSDT");
    return n;
}

int daemon_config_set_symbols(struct daemon_config *config, int venue, const char *text, char *why)
{
    char(*symbols)[SYMBOL_NAME_MAX] = calloc(SYMBOLS_MAX, sizeof *symbols);
    if (!symbols)
        return config_key_refuse(why, WHY, "out of memory");
    int n = read_symbols(config, venue, text, symbols, why);
    if (n > 0)
        put_symbols(config, venue, (const char(*)[SYMBOL_NAME_MAX])symbols, n);
    free(symbols);
    return n < 0 ? n : 0;
}

int daemon_config_read_symbols(const struct config_key *key, const char *text, void *base,
                               char why[static WHY])
{
    (void)key;
    return daemon_config_set_symbols(base, 0, text, why);
}

void daemon_config_print_symbols_of(const struct daemon_config *config, int venue, FILE *to)
{
    const char *separator = "";
    for (int i = 0; i < config->n_symbols; i++)
        if (config->symbol_venues[i] == venue) {
            fprintf(to, "%s%s", separator, config->symbols[i]);
            separator = ", ";
        }
}

void daemon_config_print_symbols(const struct config_key *key, const void *base, FILE *to)
{
    (void)key;
    daemon_config_print_symbols_of(base, 0, to);
}

int daemon_config_streams_of(const char *text, bool ret[static MARKET_CHANNELS], char *why)
{
    char all[256] = "", word[32];
    size_t used = 0;
    for (int kind = 0; kind < MARKET_CHANNELS; kind++)
        used +=
            (size_t)snprintf(all + used, sizeof all - used, "%s ", market_kind_name((enum market_kind)kind));
    bool streams[MARKET_CHANNELS] = {0}, any = false;
    for (const char *at = text + strspn(text, LIST_SEPARATORS); *at; at += strspn(at, LIST_SEPARATORS)) {
        size_t len = strcspn(at, LIST_SEPARATORS);
        snprintf(word, sizeof word, "%.*s", len < 31 ? (int)len : 31, at);
        int kind = config_key_word(word, all, why);
        if (kind < 0)
            return -EINVAL;
        if (streams[kind])
            return config_key_refuse(why, WHY, "%s is named twice", word);
        streams[kind] = any = true;
        at += len;
    }
    if (!any)
        return config_key_refuse(why, WHY, "at least one stream is needed, like trade");
    memcpy(ret, streams, sizeof streams);
    return 0;
}

int daemon_config_read_streams(const struct config_key *key, const char *text, void *base,
                               char why[static WHY])
{
    (void)key;
    return daemon_config_streams_of(text, ((struct daemon_config *)base)->venues[0].streams, why);
}

void daemon_config_print_streams_of(const bool streams[static MARKET_CHANNELS], FILE *to)
{
    const char *separator = "";
    for (int kind = 0; kind < MARKET_CHANNELS; kind++)
        if (streams[kind]) {
            fprintf(to, "%s%s", separator, market_kind_name((enum market_kind)kind));
            separator = ", ";
        }
}

void daemon_config_print_streams(const struct config_key *key, const void *base, FILE *to)
{
    (void)key;
    daemon_config_print_streams_of(((const struct daemon_config *)base)->venues[0].streams, to);
}
