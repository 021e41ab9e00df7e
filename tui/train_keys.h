/* The keys that act on trainings and policies, the questions that follow, and the form. */
#ifndef TUI_TRAIN_KEYS_H
#define TUI_TRAIN_KEYS_H

#include "tui/keys.h"

/* Do s, x, r, e, P and R mean trainings and policies here: on the study's tab, in their lists elsewhere? */
bool tui_train_keys_here(const struct view *view, enum panel focus);

/* S is s for a study: its form is the chosen study's configuration, or the default as a study. */

/* The prompt that a key leads to, PROMPT_NONE for another key; and what it would act on, "" for nothing
 * chosen. */
enum prompt tui_train_keys_prompt(int key);
void tui_train_keys_subject(const struct view *view, const struct model *model, enum panel focus,
                            enum prompt prompt, char ret[static STATUS_TRAINING_NAME_MAX]);

/* One of those keys. */
enum action tui_train_keys_press(struct view *view, const struct model *model, enum panel focus,
                                 struct moment now, int key);

/* A key while one of their prompts is open. */
enum action tui_train_keys_answer(struct view *view, const struct model *model, struct moment now, int key);

/* A key while the form is open, on a screen of `height` rows. */
enum action tui_train_keys_form(struct view *view, const struct model *model, int height, struct moment now,
                                int key);

/* Are two trainings or more marked where P then pins the baseline and promotes nothing: their list, their
 * learning curves, and the page of one? */
bool tui_train_keys_compares(const struct view *view, enum panel focus);

/* Space and K on the list of trainings, and P where they are compared: whose learning curves these are, and
 * the baseline of them. */
enum action tui_train_keys_mark(struct view *view, const struct model *model, enum panel focus,
                                struct moment now, int key);

#endif
