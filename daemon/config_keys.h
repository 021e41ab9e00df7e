/* The configuration's keys: one row each (record/config_key.h), which reading, printing and the tests
 * iterate. Internal to config*.c. */
#ifndef DAEMON_CONFIG_KEYS_H
#define DAEMON_CONFIG_KEYS_H

#include "daemon/config.h"
#include "record/config_key.h"

/* All keys, those of a section together; "account" stands for every [account NAME], whose base is a struct
 * account_config; that of the others is a struct daemon_config. */
const struct config_key *daemon_config_keys(size_t *ret_n);
/* Those that every [venue NAME] may have, of a struct daemon_config_venue. */
enum { DAEMON_CONFIG_VENUE_KEYS = 6 };
const struct config_key *daemon_config_venue_keys(size_t *ret_n);

enum daemon_config_section { SECTION_PLAIN, SECTION_ACCOUNT, SECTION_VENUE };

/* Which section it is, and the name of [account NAME] or [venue NAME] (inside `section`); -EINVAL and why. */
int daemon_config_section(const char *section, const char **ret_name, char why[static CONFIG_WHY_MAX]);

/* daemon_config_set() without the section and the key in the sentence. */
int daemon_config_set_line(struct daemon_config *config, const char *section, const char *key,
                           const char *value, char why[static CONFIG_WHY_MAX]);

/* Sets a key of [venue NAME], made with its defaults when there is none of that name; a key of NULL only
 * makes it. 0, or -EINVAL and why. */
int daemon_config_venue_set(struct daemon_config *config, const char *name, const char *key,
                            const char *value, char why[static CONFIG_WHY_MAX]);
/* Its whole section; nothing of the first venue unless something is to be said of it. */
void daemon_config_venue_print(const struct daemon_config *config, int venue, FILE *to);
/* The unset options of a venue, at their fallback. */
void daemon_config_venue_defaults(struct daemon_config_venue *venue, const struct venue *which);

/* Where errors that a key's own check cannot find go: to a file's errors, or to one sentence. `keys` as
 * config_file_misfit(). */
struct daemon_config_check {
    void (*misfit)(void *ctx, const char *section, const char *keys, const char *words);
    void *ctx;
};
void daemon_config_check_all(const struct daemon_config *config, const struct daemon_config_check *check);
/* ---- config_sinks.c: sinks of alerts, whose keys may have a name, KEY.NAME ---- */

/* A key with a name: the row of `keys` for it, in *ret, whose name is `key` (borrowed); NULL: it is none. */
const struct config_key *daemon_config_sink_row(const struct config_key *keys, size_t n, const char *key,
                                                struct config_key *ret);
/* Those with a name, as lines of a file. */
void daemon_config_print_sinks(const struct daemon_config *config, FILE *to);
void daemon_config_ledger_check(const struct daemon_config *config, const struct daemon_config_check *check);
void daemon_config_sinks_check(const struct daemon_config *config, const struct daemon_config_check *check);

/* ---- config_execution.c: an account whose orders are sent to its venue ---- */
void daemon_config_execution_check(const struct daemon_config *config, int account, const char *section,
                                   const struct daemon_config_check *check);

void daemon_config_venue_check(const struct daemon_config *config, const struct daemon_config_check *check);
void daemon_config_misfit(const struct daemon_config_check *check, const char *section, const char *keys,
                          const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
