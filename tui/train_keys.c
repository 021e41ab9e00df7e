#include "tui/train_keys.h"

#include <stdio.h>
#include <string.h>

#include "tui/line_edit.h"
#include "tui/study_keys.h"
#include "tui/train_ask.h"

enum {
    FORM_FIXED_ROWS = 4, /* of the form, that are not its list */
};

bool tui_train_keys_here(const struct view *view, enum panel focus)
{
    return view->tab == TAB_STUDY || focus == PANEL_TRAININGS || focus == PANEL_POLICIES ||
           focus == PANEL_STUDIES;
}

enum prompt tui_train_keys_prompt(int key)
{
    switch (key) {
    case 's':
    case 'S':
        return PROMPT_NAME;
    case 'x':
        return PROMPT_STOP;
    case 'r':
        return PROMPT_RESTART;
    case 'e':
        return PROMPT_RESUME;
    case 'P':
        return PROMPT_PROMOTE;
    case 'R':
        return PROMPT_RETIRE;
    default:
        return PROMPT_NONE;
    }
}

void tui_train_keys_subject(const struct view *view, const struct model *model, enum panel focus,
                            enum prompt prompt, char ret[static STATUS_TRAINING_NAME_MAX])
{
    const struct status_training *training = tui_view_training(view, model);
    const struct status_policy *policy = tui_view_policy(view, model);
    bool policies = prompt == PROMPT_PROMOTE || prompt == PROMPT_RETIRE;
    const char *name = "";

    if (tui_study_keys_here(view, focus)) {
        const char *names[STATUS_STUDY_TRAININGS_MAX];
        int n = tui_study_keys_subjects(view, model, prompt, names);
        snprintf(ret, STATUS_TRAINING_NAME_MAX, "%s", n > 0 ? names[0] : "");
        return;
    }
    if (focus == PANEL_POLICIES)
        name = policies && policy ? policy->policy : "";
    else if (training)
        name = training->training;
    snprintf(ret, STATUS_TRAINING_NAME_MAX, "%s", name);
}

/* The other workers of the chosen study that the prompt also acts on. */
static void take_also(struct view *view, const struct model *model, enum panel focus, enum prompt prompt)
{
    const char *names[STATUS_STUDY_TRAININGS_MAX];
    int n = tui_study_keys_here(view, focus) ? tui_study_keys_subjects(view, model, prompt, names) : 0;

    view->n_also = 0;
    for (int i = 1; i < n; i++)
        snprintf(view->also[view->n_also++], sizeof(view->also[0]), "%s", names[i]);
}

/* Those of them that still allow it. The form's training cannot be replaced by another one. */
static bool still_allowed(struct view *view, const struct model *model, enum prompt prompt,
                          char words[static TRAIN_ASK_MAX])
{
    bool first = tui_train_ask_allowed(model, prompt, view->subject, words);
    char unused[TRAIN_ASK_MAX];
    int n = 0;

    for (int i = 0; i < view->n_also; i++)
        if (tui_train_ask_allowed(model, prompt, view->also[i], unused))
            memmove(view->also[n++], view->also[i], sizeof(view->also[0]));
    view->n_also = n;
    if (first || view->page || n == 0)
        return first;
    memcpy(view->subject, view->also[--view->n_also], sizeof(view->subject));
    return true;
}

static void note(struct view *view, enum prompt prompt, const char *sentence, struct moment now)
{
    char command[24];

    snprintf(command, sizeof(command), "%s:", tui_train_ask_word(prompt));
    tui_view_note(view, command, sentence, now);
}

/* Is there a daemon? If not, the view says so: without one the list is the database's last state. */
static bool daemon_there(struct view *view, const struct model *model, enum prompt prompt, struct moment now)
{
    if (model->source == MODEL_DAEMON)
        return true;
    tui_view_report(view, OUTCOME_REFUSED, tui_train_ask_word(prompt), tui_model_no_daemon(model), now);
    return false;
}

static enum action open_form(struct view *view, const char *name, bool restart, struct moment now)
{
    tui_view_close_form(view);
    view->page = tui_form_page_create(name, restart);
    if (view->page)
        view->page->study = !restart && view->study_form;
    if (view->page)
        return ACTION_FORM;
    note(view, restart ? PROMPT_RESTART : PROMPT_START, "out of memory", now);
    return ACTION_NONE;
}

enum action tui_train_keys_press(struct view *view, const struct model *model, enum panel focus,
                                 struct moment now, int key)
{
    enum prompt prompt = tui_train_keys_prompt(key);
    char words[TRAIN_ASK_MAX], name[STATUS_TRAINING_NAME_MAX];

    if (prompt == PROMPT_NONE)
        return ACTION_NONE;
    if (!tui_train_keys_here(view, focus)) {
        note(view, prompt, "trainings and policies are on tab `2`", now);
        return ACTION_NONE;
    }
    if (prompt == PROMPT_NAME) {
        view->typed[0] = '\0';
        view->study_form = key == 'S' || tui_study_keys_here(view, focus);
        view->n_also = 0;
        view->prompt = prompt;
        view->outcome = OUTCOME_NONE;
        return ACTION_NONE;
    }
    tui_train_keys_subject(view, model, focus, prompt, name);
    take_also(view, model, focus, prompt);
    if (tui_study_keys_here(view, focus) && tui_study_keys_not_ours(view, model, words, sizeof(words))) {
        note(view, prompt, words, now);
    } else if (!name[0]) {
        note(view, prompt, "choose one first: `Tab` to its list, then the arrows", now);
    } else if (!tui_train_ask_allowed(model, prompt, name, words)) {
        note(view, prompt, words, now);
    } else if (prompt == PROMPT_RESTART) {
        return open_form(view, name, true, now);
    } else {
        memcpy(view->subject, name, sizeof(view->subject));
        view->role = tui_train_ask_role(model, name);
        view->bad_verdict = tui_train_ask_verdict(model, name)[0] != '\0';
        view->prompt = prompt;
        view->outcome = OUTCOME_NONE;
    }
    return ACTION_NONE;
}

static enum action answer_name(struct view *view, const struct model *model, struct moment now, int key)
{
    char words[TRAIN_ASK_MAX];

    if (key == PRESS_ESCAPE) {
        view->prompt = PROMPT_NONE;
        note(view, PROMPT_NAME, "nothing is done", now);
    } else if (key == PRESS_ENTER) {
        if (!tui_train_ask_allowed(model, PROMPT_START, view->typed, words))
            return ACTION_NONE; /* the prompt says why */
        view->prompt = PROMPT_NONE;
        return open_form(view, view->typed, false, now);
    } else {
        tui_line_edit_word(view->typed, sizeof(view->typed), '!', key);
    }
    return ACTION_NONE;
}

enum action tui_train_keys_answer(struct view *view, const struct model *model, struct moment now, int key)
{
    enum prompt prompt = view->prompt;
    char words[TRAIN_ASK_MAX];

    if (prompt == PROMPT_NAME)
        return answer_name(view, model, now, key);
    view->prompt = PROMPT_NONE;
    if (key != 'y') {
        note(view, prompt, "nothing is done", now);
        return ACTION_NONE;
    }
    if (prompt == PROMPT_LEAVE) {
        tui_view_close_form(view);
        return ACTION_NONE;
    }
    if (!daemon_there(view, model, prompt, now))
        return ACTION_NONE;
    if (!still_allowed(view, model, prompt, words)) { /* since it was asked */
        note(view, prompt, words, now);
        return ACTION_NONE;
    }
    if (prompt == PROMPT_PROMOTE && strcmp(view->role, tui_train_ask_role(model, view->subject)) != 0) {
        note(view, prompt, "its role has changed meanwhile: nothing is done", now);
        return ACTION_NONE;
    }
    switch (prompt) {
    case PROMPT_START:
    case PROMPT_RESTART:
        return ACTION_FORM_SEND;
    case PROMPT_STOP:
        return ACTION_TRAIN_STOP;
    case PROMPT_RESUME:
        return ACTION_TRAIN_RESUME;
    case PROMPT_PROMOTE:
        return ACTION_PROMOTE;
    case PROMPT_RETIRE:
        return ACTION_RETIRE;
    default:
        return ACTION_NONE;
    }
}

enum action tui_train_keys_form(struct view *view, const struct model *model, int height, struct moment now,
                                int key)
{
    struct form_page *page = view->page;
    enum prompt prompt = page->restart ? PROMPT_RESTART : PROMPT_START;
    char words[TRAIN_ASK_MAX];

    memcpy(view->subject, page->name, sizeof(view->subject));
    switch (tui_form_page_press(page, height - FORM_FIXED_ROWS, key)) {
    case FORM_ACTION_NONE:
        break;
    case FORM_ACTION_CHECK:
        return ACTION_FORM_CHECK;
    case FORM_ACTION_SEND:
        if (!daemon_there(view, model, prompt, now))
            break;
        if (tui_train_ask_allowed(model, prompt, page->name, words))
            view->prompt = prompt;
        else
            note(view, prompt, words, now);
        break;
    case FORM_ACTION_LEAVE:
        if (tui_form_changes(&page->form) > 0)
            view->prompt = PROMPT_LEAVE;
        else
            tui_view_close_form(view);
        break;
    case FORM_ACTION_HELP:
        view->help = true;
        view->scroll = 0;
        break;
    }
    return ACTION_NONE;
}

bool tui_train_keys_compares(const struct view *view, enum panel focus)
{
    return view->compare.n >= 2 && view->study_view == STUDY_LISTED &&
           (view->detail || focus == PANEL_TRAININGS || focus == PANEL_CURVE);
}

enum action tui_train_keys_mark(struct view *view, const struct model *model, enum panel focus,
                                struct moment now, int key)
{
    const struct status_training *training = tui_view_training(view, model);
    const bool pins = key == 'P' && tui_train_keys_compares(view, focus);
    char words[STATUS_TRAINING_NAME_MAX + 64];

    if ((focus != PANEL_TRAININGS && !pins) || !training)
        return ACTION_NONE;
    if (training->study[0]) {
        snprintf(words, sizeof(words), "%s is a study: it has no learning curve", training->training);
        tui_view_note(view, pins ? "baseline:" : "mark:", words, now);
        return ACTION_NONE;
    }
    bool room = key == ' ' ? tui_compare_toggle(&view->compare, training->training)
                           : tui_compare_base(&view->compare, training->training);
    if (!room) {
        tui_view_note(view, "mark:", "six are marked: `Space` on one of them takes its mark away", now);
    } else if (pins) {
        snprintf(words, sizeof(words), "%s; `P` promotes where fewer than two are marked",
                 training->training);
        tui_view_note(view, "baseline:", words, now);
    }
    return ACTION_COLLECT;
}
