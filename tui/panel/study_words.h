/* What the panels of a study have in common. */
#ifndef TUI_PANEL_STUDY_WORDS_H
#define TUI_PANEL_STUDY_WORDS_H

#include "tui/panel/frame.h"
#include "tui/study_page.h"

/* The rule of a panel of the chosen study's page, with its age at the right where it is not fresh.
 * *ret_page: NULL, and the panel says why: it is not read yet, it is gone. */
struct area panel_study_frame(const struct area *area, const struct scene *scene, enum panel panel,
                              const char *title, const struct tui_study_page **ret_page);

/* Draws the age at the right end of a rule, as panel_frame_rule_right() does; nothing while it is fresh. */
void panel_study_age(const struct area *area, const struct scene *scene, const char *title, int title_end);

/* The same after a title that ends at x, where columns have labels at the right; returns the column after it.
 */
int panel_study_age_after(const struct area *area, const struct scene *scene, int x);

/* A word for a trial's state, STALE where its worker sends no heartbeat, and its style. */
const char *panel_study_trial_state(const struct tui_study_trial *trial, struct moment now,
                                    enum style *ret_style);

/* "1.8420", of several objectives "1.8420 -0.2000"; "" for none. */
const char *panel_study_values(char *buf, size_t size, const struct tui_study_page *page,
                               const struct tui_study_trial *trial);

/* What the study is doing, by the co-process, else by its trials: "running", "done", "idle", "empty"; "due
 * 3h" of a scheduled one that waits for its next run. The text is constant, or in `buf`. */
const char *panel_study_state(const struct model *model, const struct tui_study *study, struct moment now,
                              char buf[static FORMAT_MAX], enum style *ret_style);
/* The latter alone, as lists without a daemon have it. */
const char *panel_study_own_state(const struct tui_study *study, struct moment now, enum style *ret_style);
int64_t panel_study_due_ns(const struct model *model,
                           const struct tui_study *study); /* its next run; -1: none */

/* The time left: "1h12m", "-". */
const char *panel_study_eta(char buf[static FORMAT_MAX], double seconds);

/* Do trials run, all with heartbeats, of which none came for too long? */
bool panel_study_silent(const struct tui_study *study, struct moment now);

/* Of its stale trials how many, and the age of the oldest: "2 (3h)". */
const char *panel_study_stale(char buf[static FORMAT_MAX], const struct tui_study *study, struct moment now);

/* Since anything happened; ms, -1: nothing has. */
int64_t panel_study_age_ms(const struct tui_study *study, struct moment now);

/* Labels and values one after the other, in rows. */
struct tui_study_flow {
    const struct area *area;
    int x, y;
};
void panel_study_put(struct tui_study_flow *flow, const char *label, enum style style, const char *text);

#endif
