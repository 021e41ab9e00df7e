/* Values that are the daemon's own: functions for the rows of config_keys.c, whose struct config_key
 * has their contracts. Internal to config*.c. */
#ifndef DAEMON_CONFIG_VALUES_H
#define DAEMON_CONFIG_VALUES_H

#include "daemon/config_keys.h"

#define CONFIG_READ(kind) \
    int daemon_config_read_##kind(const struct config_key *key, const char *text, void *base, \
                                  char why[static CONFIG_WHY_MAX])
#define CONFIG_VALUE(kind) \
    CONFIG_READ(kind); \
    void daemon_config_print_##kind(const struct config_key *key, const void *base, FILE *to)

CONFIG_READ(anchor);
CONFIG_READ(asset);
CONFIG_READ(devices);
CONFIG_VALUE(group);
CONFIG_VALUE(history);
CONFIG_READ(keys);
CONFIG_READ(listen);
CONFIG_VALUE(minute);
CONFIG_READ(plugins);
CONFIG_VALUE(quiet);
CONFIG_VALUE(severities);
CONFIG_VALUE(sink);
CONFIG_READ(specs);
CONFIG_VALUE(strategy);
CONFIG_VALUE(streams);
CONFIG_VALUE(symbols);
CONFIG_READ(tier);
CONFIG_VALUE(timeframes);
CONFIG_READ(timestamp);
CONFIG_READ(url);
CONFIG_VALUE(venue);

/* Parts of them. */

/* Is that a URL of one of those schemes, without a user? 0 or -EINVAL. */
int daemon_config_check_url(const char *text, const char *one, const char *other, const char *example,
                            char *why);

/* A list of symbols, which become those of config->venues[venue]. 0 or -EINVAL. */
int daemon_config_set_symbols(struct daemon_config *config, int venue, const char *text, char *why);
void daemon_config_print_symbols_of(const struct daemon_config *config, int venue, FILE *to);
/* A list of kinds of streams; `ret` is left alone on -EINVAL. */
int daemon_config_streams_of(const char *text, bool ret[static MARKET_CHANNELS], char *why);
void daemon_config_print_streams_of(const bool streams[static MARKET_CHANNELS], FILE *to);
int daemon_config_unknown_venue(const char *name, char *why); /* -EINVAL, and which was meant */
/* Copies text[0..n) in upper case when it consists of letters, digits and `others`. */
bool daemon_config_upper_name(const char *text, size_t n, const char *others, char *to, size_t size);

#undef CONFIG_READ
#undef CONFIG_VALUE

#endif
