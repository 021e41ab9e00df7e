/* The configuration's keys: one row each, which reading, printing and the tests iterate. Internal to
 * config*.c. */
#ifndef DAEMON_CONFIG_KEYS_H
#define DAEMON_CONFIG_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "daemon/config.h"

enum { CONFIG_REASON_MAX = 320 };

struct config_key {
    const char *section; /* "account" stands for every [account NAME] */
    const char *name, *doc;
    /* Reads a value into base + offset; base is a struct config, or a struct account_config for "account".
     * 0, or -EINVAL with a reason and nothing written. */
    int (*parse)(const struct config_key *key, const char *text, void *base,
                 char reason[static CONFIG_REASON_MAX]);
    /* Writes the value as parse() reads it. */
    void (*print)(const struct config_key *key, const void *base, FILE *to);
    size_t offset;
    int64_t min, max; /* both allowed, in units of 10^-scale; of text: its longest */
    int scale;
};

/* All keys, those of a section together. */
const struct config_key *config_keys(size_t *ret_n);

enum config_section { SECTION_PLAIN, SECTION_ACCOUNT, SECTION_VENUE };

/* Which section it is, and the name of [account NAME] or [venue NAME] (inside `section`); -EINVAL and why. */
int config_section(const char *section, const char **ret_name, char reason[static CONFIG_REASON_MAX]);

/* Sets a key of [venue NAME], made with its defaults when there is none of that name; a key of NULL only
 * makes it. 0, or -EINVAL and why. */
int config_venue_set(struct config *config, const char *name, const char *key, const char *value,
                     char reason[static CONFIG_REASON_MAX]);
/* Checks what single keys cannot. */
int config_venue_check(const struct config *config, char error[static CONFIG_ERROR_MAX]);
/* Its whole section; nothing of the first venue unless something is to be said of it. */
void config_venue_print(const struct config *config, int venue, FILE *to);
/* The keys that every [venue NAME] may have: name and doc. */
const char *const (*config_venue_keys(size_t *ret_n))[2];
/* The unset options of a venue, at their fallback. */
void config_venue_defaults(struct config_venue *venue, const struct venue *which);

/* What is kept when nothing is said. Returns how many. */
int config_default_specs(struct indicator_spec ret[static CONFIG_SPECS_MAX],
                         int measures[static CONFIG_SPECS_MAX]);

/* Writes the reason, control characters replaced; returns -EINVAL. */
int config_reason(char *to, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* A double with as few digits as read back to the same. */
void config_print_double(double value, FILE *to);

#endif
