/* Inside the settings of a study: the keys of [study], and how a line of [study] or [search] is read. */
#ifndef TRAINER_STUDY_SETTINGS_TABLE_H
#define TRAINER_STUDY_SETTINGS_TABLE_H

#include "trainer/study/settings.h"

extern const struct config_key study_settings_table[]; /* in the file's order */
extern const size_t study_settings_table_n;

bool study_settings_has(const char *key); /* of [study] */

/* Reads a line of [study], [search] or [account]: 0; -ENOENT for an unknown key, with the nearest; -EINVAL,
 * -ENOMEM. `config` has the bar's interval. *settings is untouched on failure. */
int study_settings_set(struct study_settings *settings, const struct train_config *config,
                       const char *section, const char *key, const char *text,
                       char err[static CONFIG_ERROR_MAX]);
int study_settings_set_study(struct study_settings *settings, const char *key, const char *text,
                             char err[static CONFIG_ERROR_MAX]);
int study_settings_set_search(struct study_settings *settings, const struct train_config *config,
                              const char *key, const char *text, char err[static CONFIG_ERROR_MAX]);

/* Are they consistent? 0, or -EINVAL with the key of [study] that is wrong. */
int study_settings_check(const struct study_settings *settings, const char **ret_key,
                         char err[static CONFIG_ERROR_MAX]);

/* Every key of [search] that has no effect with what the other sections say, as train_config_misfits(). To be
 * called before the default space is added, which may have such keys. */
int study_settings_misfits(const struct study_settings *settings, const struct train_config *config,
                           void (*misfit)(void *ctx, const char *section, const char *keys,
                                          const char *words),
                           void *ctx);

/* Once the space is complete: can a grid of it be searched? As study_settings_check(). */
int study_settings_check_grid(const struct study_settings *settings, const char **ret_key,
                              char err[static CONFIG_ERROR_MAX]);

/* Adds the keys of the default space that [search] lacks; of a study of a strategy there must be some. */
int study_settings_complete(struct study_settings *settings, const struct train_config *config,
                            char err[static CONFIG_ERROR_MAX]);

#endif
