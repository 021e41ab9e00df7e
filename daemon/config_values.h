/* How the values of keys are read and written: functions for the rows of config_keys.c, whose struct
 * config_key has their contracts. Internal to config*.c. */
#ifndef DAEMON_CONFIG_VALUES_H
#define DAEMON_CONFIG_VALUES_H

#include "daemon/config_keys.h"

#define CONFIG_PARSE(kind) \
    int config_parse_##kind(const struct config_key *key, const char *text, void *base, \
                            char reason[static CONFIG_REASON_MAX])
#define CONFIG_PRINT(kind) void config_print_##kind(const struct config_key *key, const void *base, FILE *to)

CONFIG_PARSE(i64);
CONFIG_PRINT(i64);
CONFIG_PARSE(i32);
CONFIG_PRINT(i32);
CONFIG_PARSE(real);
CONFIG_PRINT(real);
CONFIG_PRINT(text);
CONFIG_PARSE(path);
CONFIG_PARSE(url);
CONFIG_PARSE(asset);
CONFIG_PARSE(cash);
CONFIG_PARSE(venue);
CONFIG_PRINT(venue);
CONFIG_PARSE(clock);
CONFIG_PRINT(clock);
CONFIG_PARSE(inference);
CONFIG_PRINT(inference);
CONFIG_PARSE(missed);
CONFIG_PRINT(missed);
CONFIG_PARSE(model);
CONFIG_PRINT(model);
CONFIG_PARSE(switch);
CONFIG_PRINT(switch);
CONFIG_PARSE(start);
CONFIG_PRINT(start);
CONFIG_PARSE(devices);
CONFIG_PARSE(level);
CONFIG_PRINT(level);
CONFIG_PARSE(interval);
CONFIG_PRINT(interval);
CONFIG_PARSE(strategy);
CONFIG_PRINT(strategy);
CONFIG_PARSE(tier);
CONFIG_PRINT(tier);
CONFIG_PARSE(minute);
CONFIG_PRINT(minute);
CONFIG_PARSE(symbols);
CONFIG_PRINT(symbols);
CONFIG_PARSE(streams);
CONFIG_PRINT(streams);
CONFIG_PARSE(specs);
CONFIG_PRINT(specs);
CONFIG_PARSE(timeframes);
CONFIG_PRINT(timeframes);

/* Parts of them. */

/* A list of symbols, which become those of config->venues[venue]. 0 or -EINVAL. */
int config_set_symbols(struct config *config, int venue, const char *text, char *reason);
void config_print_symbols_of(const struct config *config, int venue, FILE *to);
/* A list of kinds of streams; `ret` is left alone on -EINVAL. */
int config_streams_of(const char *text, bool ret[static MARKET_CHANNELS], char *reason);
void config_print_streams_of(const bool streams[static MARKET_CHANNELS], FILE *to);
/* Text within key->max. 0 or -EINVAL. */
int config_set_text(const struct config_key *key, const char *text, void *base, char *reason);
/* Copies text[0..n) in upper case when it consists of letters, digits and `others`. */
bool config_upper_name(const char *text, size_t n, const char *others, char *to, size_t size);
/* A decimal of key->scale from key->min to key->max. 0 or -EINVAL. */
int config_parse_units(const struct config_key *key, const char *text, int64_t *ret, char *reason);
void config_print_units(const struct config_key *key, int64_t units, FILE *to);
/* -EINVAL and the nearest of the words. */
int config_unknown_word(const char *text, const char *const *words, size_t n, char *reason);
int config_find_word(const char *text, const char *const *words, size_t n); /* its index or -EINVAL */
/* An interval's name: "1m". 0, or -EINVAL and the nearest. */
int config_interval_of(const char *text, int64_t *ret_ns, char *reason);

#undef CONFIG_PARSE
#undef CONFIG_PRINT

#endif
