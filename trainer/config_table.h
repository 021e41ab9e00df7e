/* Inside the configuration: the keys that are neither PPO's nor the environment's, and consistency checks. */
#ifndef TRAINER_CONFIG_TABLE_H
#define TRAINER_CONFIG_TABLE_H

#include "exchange/fail.h"
#include "record/config_key.h"
#include "trainer/config.h"

extern const struct config_key
    train_config_table[]; /* of a struct train_config, by section, in the file's order */
extern const size_t train_config_table_n;

int train_config_read_preset(const struct config_key *key, const char *text, void *base,
                             char why[static CONFIG_WHY_MAX]);
int train_config_read_time(const struct config_key *key, const char *text, void *base,
                           char why[static CONFIG_WHY_MAX]);
void train_config_print_time(const struct config_key *key, const void *base, FILE *to);
int train_config_read_session(const struct config_key *key, const char *text, void *base,
                              char why[static CONFIG_WHY_MAX]);
void train_config_print_session(const struct config_key *key, const void *base, FILE *to);

/* A key's section: [network] or [training] for PPO's keys that belong there, else [ppo]; NULL: no section of
 * the configuration has it. */
const char *train_config_home(const char *key);

/* The name of ours that a key of other systems means, also in [search]; NULL: it is not such a key. */
const char *train_config_other_name(const char *key);

/* 0; -ENOENT: there is no such world, err names the nearest. */
int train_config_check_world(const struct train_config *config, char err[static CONFIG_ERROR_MAX]);

int64_t train_config_clock_ns(void); /* now, whole seconds as ns since 1970 */

bool train_config_is_study_section(const char *section);
struct study_settings;

/* Reads a text as train_config_parse(); settings too, unless they are NULL, for study_settings_finish(), with
 * *ret_is_study for a section [study] or [search]. `now_ns` 0: the clock. */
int train_config_read_text(const char *name, const char *text, int64_t now_ns, struct train_config *ret,
                           struct study_settings *ret_settings, bool *ret_is_study,
                           char err[static CONFIG_ERROR_MAX]);

bool train_config_is_ppo_section(const char *section);
bool train_config_is_market_section(const char *section); /* is it a section for a world that trades alone? */

/* All inconsistencies of keys that are each valid: as ppo_params_misfits(), with the section. The
 * environment's are known where the number of symbols is. Those of a world that is no market: PPO's. */
int train_config_misfits(const struct train_config *config,
                         void (*misfit)(void *ctx, const char *section, const char *keys, const char *words),
                         void *ctx);

#define train_config_say(err, code, ...) fail_with(code, err, CONFIG_ERROR_MAX, __VA_ARGS__)

#endif
