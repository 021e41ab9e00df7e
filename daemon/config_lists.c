/* Values that are lists of names. */
#include "daemon/config_values.h"

#include <string.h>

enum { REASON = CONFIG_REASON_MAX };

#define LIST_SEPARATORS ", \t"

int config_parse_symbols(const struct config_key *key, const char *text, void *base,
                         char reason[static REASON])
{
    (void)key;
    struct config *config = base;
    char symbols[SYMBOLS_MAX][SYMBOL_NAME_MAX];
    int n = 0;
    for (const char *at = text + strspn(text, LIST_SEPARATORS); *at; at += strspn(at, LIST_SEPARATORS)) {
        size_t len = strcspn(at, LIST_SEPARATORS);
        if (n == SYMBOLS_MAX)
            return config_reason(reason, REASON, "more than %d symbols", SYMBOLS_MAX);
        if (!config_upper_name(at, len, "-_.", symbols[n], sizeof symbols[n]))
            return config_reason(reason, REASON, "\"%.*s\": a symbol like BTCUSDT is needed",
                                 len < 60 ? (int)len : 60, at);
        for (int i = 0; i < n; i++)
            if (strcmp(symbols[i], symbols[n]) == 0)
                return config_reason(reason, REASON, "%s is named twice", symbols[n]);
        n++;
        at += len;
    }
    if (n == 0)
        return config_reason(reason, REASON, "at least one symbol is needed, like BTCUSDT");
    memset(config->symbols, 0, sizeof config->symbols);
    memcpy(config->symbols, symbols, (size_t)n * sizeof *symbols);
    config->n_symbols = n;
    return 0;
}

void config_print_symbols(const struct config_key *key, const void *base, FILE *to)
{
    (void)key;
    const struct config *config = base;
    for (int i = 0; i < config->n_symbols; i++)
        fprintf(to, "%s%s", i ? ", " : "", config->symbols[i]);
}

int config_parse_streams(const struct config_key *key, const char *text, void *base,
                         char reason[static REASON])
{
    (void)key;
    const char *names[MARKET_CHANNELS];
    for (int kind = 0; kind < MARKET_CHANNELS; kind++)
        names[kind] = market_kind_name((enum market_kind)kind);
    bool streams[MARKET_CHANNELS] = {0}, any = false;
    for (const char *at = text + strspn(text, LIST_SEPARATORS); *at; at += strspn(at, LIST_SEPARATORS)) {
        size_t len = strcspn(at, LIST_SEPARATORS);
        char word[32];
        snprintf(word, sizeof word, "%.*s", len < 31 ? (int)len : 31, at);
        int kind = config_find_word(word, names, MARKET_CHANNELS);
        if (kind < 0)
            return config_unknown_word(word, names, MARKET_CHANNELS, reason);
        if (streams[kind])
            return config_reason(reason, REASON, "%s is named twice", word);
        streams[kind] = any = true;
        at += len;
    }
    if (!any)
        return config_reason(reason, REASON, "at least one stream is needed, like trade");
    memcpy(((struct config *)base)->streams, streams, sizeof streams);
    return 0;
}

void config_print_streams(const struct config_key *key, const void *base, FILE *to)
{
    (void)key;
    const struct config *config = base;
    const char *separator = "";
    for (int kind = 0; kind < MARKET_CHANNELS; kind++)
        if (config->streams[kind]) {
            fprintf(to, "%s%s", separator, market_kind_name((enum market_kind)kind));
            separator = ", ";
        }
}
