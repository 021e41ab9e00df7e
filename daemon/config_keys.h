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

/* Whether a section is one: 0, and the account's name (inside `section`) or NULL for the others; -EINVAL and
 * why. */
int config_section(const char *section, const char **ret_name, char reason[static CONFIG_REASON_MAX]);

/* What is kept when nothing is said. Returns how many. */
int config_default_specs(struct indicator_spec ret[static CONFIG_SPECS_MAX]);

/* Writes the reason, control characters replaced; returns -EINVAL. */
int config_reason(char *to, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* A double with as few digits as read back to the same. */
void config_print_double(double value, FILE *to);

#endif
