/* A training's figures as text, for the list, its page and the printed status. */
#ifndef TUI_PANEL_TRAINING_WORDS_H
#define TUI_PANEL_TRAINING_WORDS_H

#include "cli/format.h"
#include "tui/model.h"
#include "tui/style.h"

/* Does it run until it is stopped: without a total, or with one that is out of reach? */
bool panel_training_endless(const struct status_training *training);

/* How much of its steps is done, 0..1; NaN when not known. */
double panel_training_share(const struct status_training *training);

/* Its state, "STALE" when it no longer reports, "stopping" while that is so, and its style. */
const char *panel_training_state(const struct status_training *training, enum freshness freshness,
                                 enum style *ret_style);

/* A verdict's style: of "better" alone a good one. */
enum style panel_training_verdict_style(const char *verdict);

/* The age of its data: since its last report, since it ended; -1: not known. */
int64_t panel_training_age(const struct model *model, const struct status_training *training,
                           struct moment now);

/* A count of -1 is NaN. */
double panel_training_number(int64_t count);

/* "61%", the time left at its speed, a return, MiB in fitting units; "n/a". */
char *panel_training_percent(char buf[static FORMAT_MAX], double share);
/* "3.1M of 5.0M", with `unit` after it; of one that has made more, as it ends with a rollout: "66k steps (60k
 * in whole rollouts)", with `unit` " steps". */
enum { PANEL_TRAINING_STEPS_MAX = 3 * FORMAT_MAX };
char *panel_training_steps(char buf[static PANEL_TRAINING_STEPS_MAX], const struct status_training *training,
                           const char *unit);
char *panel_training_left(char buf[static FORMAT_MAX], const struct status_training *training);
char *panel_training_return(char buf[static FORMAT_MAX], double value);
char *panel_training_busy(char buf[static FORMAT_MAX],
                          double utilisation); /* "197%": of one device or processor */
char *panel_training_memory(char buf[static FORMAT_MAX], double mib);

#endif
