/* Inside the configuration: the keys that are neither PPO's nor the environment's, and what must fit. */
#ifndef TRAINER_CONFIG_TABLE_H
#define TRAINER_CONFIG_TABLE_H

#include "exchange/ini_lines.h"
#include "trainer/config.h"

enum config_kind {
    CONFIG_TEXT,
    CONFIG_NAME,
    CONFIG_PRESET,
    CONFIG_WHOLE,
    CONFIG_NUMBER,
    CONFIG_TIME,
    CONFIG_INTERVAL
};

struct config_row {
    const char *section, *name, *summary;
    enum config_kind kind;
    double min, max;
    size_t offset, size;
    bool may_change;
};
extern const struct config_row config_table[]; /* by section, in the file's order */
extern const size_t config_table_n;

/* [network] or [training] for PPO's keys that belong there; else [ppo]. */
const char *config_home(const char *ppo_key);

/* 0; -ENOENT: there is no such world, err names the nearest. */
int config_check_world(const struct config *config, char err[static CONFIG_ERROR_MAX]);

int config_section(const char *section, char *err); /* 0, or -ENOENT: there is none of that name */

/* Lines are taken in turns: those of turn 0, which set others too, first, wherever they stand; [search],
 * whose ranges may follow from [data], last. */
enum { CONFIG_TURNS = 3 };
int config_turn(const char *section, const char *key);

int64_t config_clock_ns(void); /* now, whole seconds as ns since 1970 */

bool config_is_study_section(const char *section);
struct search_settings;

/* A line of the file, of whichever section: config_set(), settings_set(). */
int config_set_line(struct config *config, struct search_settings *settings, const char *section,
                    const char *key, const char *text, char err[static CONFIG_ERROR_MAX]);
/* How the settings' keys fit together and to the configuration, and what is searched where the file does not
 * say. *ret_key: those of [study] that do not fit, NULL where it is not that. */
int config_complete(const struct config *config, struct search_settings *settings, const char **ret_key,
                    char err[static CONFIG_ERROR_MAX]);

/* Reads a text as config_parse(); settings too, unless they are NULL, for settings_finish(), with
 * *ret_is_study for a section [study] or [search]. `now_ns` 0: the clock. */
int config_read_text(const char *name, const char *text, int64_t now_ns, struct config *ret,
                     struct search_settings *ret_settings, bool *ret_is_study,
                     char err[static CONFIG_ERROR_MAX]);

/* Which headings its files may have. */
extern const struct ini_rules config_rules;

/* PPO's keys that neither the learner's state nor the networks nor the rollouts have a shape of: the next
 * iteration may have others. */
bool config_is_tunable(const char *ppo_key);

bool config_is_ppo_section(const char *section);
bool config_is_market_section(const char *section); /* is it of a world that trades alone? */

/* All that does not fit, of keys that are each right: as ppo_params_misfits(), and the section. The
 * environment's are known where the number of symbols is. Those of a world that is no market: PPO's. */
int config_misfits(const struct config *config,
                   void (*misfit)(void *ctx, const char *section, const char *keys, const char *words),
                   void *ctx);

int config_say(char *err, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
