/* The keys of studies: which is chosen, its page, the order of its trials and which of them are shown.
 * tui/train_keys.h has the keys that start, stop and restart a study: to the co-process it is a training. */
#ifndef TUI_STUDY_KEYS_H
#define TUI_STUDY_KEYS_H

#include "tui/keys.h"

/* Is it a study that is chosen here: in their list, on a study's page? */
bool tui_study_keys_here(const struct view *view, enum panel focus);

/* The trainings that `prompt` would act on where a study is chosen. What ends or resumes acts on all of the
 * study's that allow it; a restart on those with workers, or else those that allow it; anything else on the
 * first that allows it. Where no training allows it, the one whose state is shown. Returns how many; 0: no
 * study is chosen, or it has no training of the co-process. */
int tui_study_keys_subjects(const struct view *view, const struct model *model, enum prompt prompt,
                            const char *ret[static STATUS_STUDY_TRAININGS_MAX]);

/* Why a chosen study cannot be stopped, restarted or resumed: the co-process does not run it. False: it
 * does, or no study is chosen. */
bool tui_study_keys_not_ours(const struct view *view, const struct model *model, char *words, size_t size);

/* Enter on the list opens the page; on its trials and parts, one of them alone. False: not here. */
bool tui_study_keys_enter(struct view *view, const struct model *model, enum panel focus);

/* From the validation to the page, from there to the list. */
enum action tui_study_keys_back(struct view *view, const struct model *model);

/* After the cursor of a panel has moved: the study is chosen by its name. */
void tui_study_keys_moved(struct view *view, const struct model *model, enum panel focus);

/* The list that the keys of lists are of: on a study's page its trials, else `focus`. */
enum panel tui_study_keys_list(const struct view *view, const struct model *model, enum panel focus);

/* v; and why o, I and / do nothing here. */
enum action tui_study_keys_press(struct view *view, const struct model *model, enum panel focus,
                                 struct moment now, int key);

/* i, [ ] and { } on a study's page: the plot in place of the parameters' importance, its parameter, and a
 * contour's other one. False: not one of them, or not there. */
bool tui_study_keys_plot(struct view *view, const struct model *model, struct moment now, int key);

/* The ranks of those parameters (tui/study_rows.h); -1: there is none, there is no other. */
int tui_study_keys_rank(const struct view *view, const struct tui_study_page *page);
int tui_study_keys_second(const struct view *view, const struct tui_study_page *page);

#endif
