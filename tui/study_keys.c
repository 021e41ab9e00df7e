#include "tui/study_keys.h"

#include <stdio.h>
#include <string.h>

#include "tui/list_keys.h"
#include "tui/study_rows.h"
#include "tui/train_ask.h"

bool tui_study_keys_here(const struct view *view, enum panel focus)
{
    return focus == PANEL_STUDIES || (view->tab == TAB_STUDY && view->study_view != STUDY_LISTED);
}

int tui_study_keys_subjects(const struct view *view, const struct model *model, enum prompt prompt,
                            const char *ret[static STATUS_STUDY_TRAININGS_MAX])
{
    const struct tui_study *study = tui_view_study(view, model);
    const struct status_training *jobs[STATUS_STUDY_TRAININGS_MAX];
    int n = study ? tui_model_study_trainings(model, study, jobs) : 0, found = 0;
    char words[TRAIN_ASK_MAX];
    bool all = prompt == PROMPT_STOP || prompt == PROMPT_RESUME || prompt == PROMPT_RESTART, work = false;

    for (int i = 0; i < n && (all || found == 0); i++) {
        if (!tui_train_ask_allowed(model, prompt, jobs[i]->training, words))
            continue;
        if (prompt == PROMPT_RESTART && work && !tui_model_training_works(jobs[i]))
            break; /* those that work come first */
        work |= tui_model_training_works(jobs[i]);
        ret[found++] = jobs[i]->training;
    }
    if (n > 0 && found == 0)
        ret[found++] = jobs[0]->training;
    return found;
}

bool tui_study_keys_not_ours(const struct view *view, const struct model *model, char *words, size_t size)
{
    const struct tui_study *study = tui_view_study(view, model);
    char starts[80];

    if (!study || tui_model_study_training(model, study))
        return false;
    tui_key_map_sentence(&view->settings.keys, (struct key_where){KEYS_STUDY, KEYS_STUDY},
                         "`S` starts a study from its configuration", starts, sizeof(starts));
    snprintf(words, size, "%.100s is no training of the co-process: %s", study->label, starts);
    return true;
}

static void show_page(struct view *view)
{
    view->tab = TAB_STUDY;
    view->zoomed = PANEL_NONE;
    view->detail = false;
    view->study_view = STUDY_PAGE;
    view->focus = PANEL_TRIALS;
}

bool tui_study_keys_enter(struct view *view, const struct model *model, enum panel focus)
{
    const struct tui_study *study = tui_view_study(view, model);

    if (focus == PANEL_STUDIES && study) {
        if (strcmp(view->study, study->key) != 0)
            view->trial_study[0] = '\0';
        memcpy(view->study, study->key, sizeof(view->study));
        view->cursor[PANEL_TRIALS] = view->cursor[PANEL_TRIAL] = view->cursor[PANEL_IMPORTANCE] = 0;
        view->study_second = 0;
        view->lists[LIST_TRIALS] = (struct list_choice){0};
        view->trial_study[0] = '\0';
        show_page(view);
        return true;
    }
    if (view->tab != TAB_STUDY || view->study_view == STUDY_LISTED)
        return false;
    if (focus == PANEL_TRIALS && view->zoomed != PANEL_TRIALS) { /* the chosen trial, whole */
        view->focus = view->zoomed = PANEL_TRIAL;
        view->cursor[PANEL_TRIAL] = 0;
    } else {
        view->zoomed = view->zoomed ? PANEL_NONE : focus;
    }
    return true;
}

enum action tui_study_keys_back(struct view *view, const struct model *model)
{
    if (view->study_view == STUDY_VALIDATION) {
        show_page(view);
        return ACTION_COLLECT;
    }
    if (tui_list_keys_back(view, model, PANEL_TRIALS))
        return ACTION_NONE;
    view->study_view = STUDY_LISTED;
    view->focus = PANEL_STUDIES;
    return ACTION_COLLECT;
}

void tui_study_keys_moved(struct view *view, const struct model *model, enum panel focus)
{
    if (focus == PANEL_STUDIES && model->studies && view->cursor[focus] < model->studies->n) {
        memcpy(view->study, model->studies->study[view->cursor[focus]].key, sizeof(view->study));
        view->trial_study[0] = '\0';
    }
}

enum panel tui_study_keys_list(const struct view *view, const struct model *model, enum panel focus)
{
    const bool page = view->tab == TAB_STUDY && view->study_view == STUDY_PAGE;

    return page && tui_view_study_page(view, model) ? PANEL_TRIALS : focus;
}

enum action tui_study_keys_press(struct view *view, const struct model *model, enum panel focus,
                                 struct moment now, int key)
{
    const struct tui_study *study = tui_view_study(view, model);

    if (!tui_study_keys_here(view, focus)) {
        tui_view_note(view, "", "choose a list first, by `Tab`; `v` is of a study's page", now);
        return ACTION_NONE;
    }
    if (key == 'v') {
        if (!study)
            return ACTION_NONE;
        if (view->study_view == STUDY_VALIDATION) {
            show_page(view);
            return ACTION_COLLECT;
        }
        memcpy(view->study, study->key, sizeof(view->study));
        show_page(view);
        view->study_view = STUDY_VALIDATION;
        view->focus = PANEL_LAMBDA;
        return ACTION_COLLECT;
    }
    tui_view_note(view, "", "`o`, `I` and `/` order a study's trials: `Enter` opens its page", now);
    return ACTION_NONE;
}

/* ---- The plots. ---- */

int tui_study_keys_rank(const struct view *view, const struct tui_study_page *page)
{
    int at = view->cursor[PANEL_IMPORTANCE];

    return at < page->n_params ? at < 0 ? 0 : at : page->n_params - 1;
}

int tui_study_keys_second(const struct view *view, const struct tui_study_page *page)
{
    int first = tui_study_keys_rank(view, page), second = view->study_second;

    if (page->n_params < 2)
        return -1;
    return second != first && second >= 0 && second < page->n_params ? second : (first + 1) % page->n_params;
}

/* The parameter before, the next one, not `taken`. */
static int step_rank(const struct tui_study_page *page, int at, int step, int taken)
{
    do
        at = (at + step + page->n_params) % page->n_params;
    while (at == taken && page->n_params > 1);
    return at;
}

static void name_plot(struct view *view, const struct tui_study_page *page, struct moment now)
{
    static const char *const names[STUDY_PLOTS] = {
        [PLOT_IMPORTANCE] = "importance",         [PLOT_SLICE] = "slice",
        [PLOT_HISTOGRAM] = "histogram",           [PLOT_CONTOUR] = "contour",
        [PLOT_PARALLEL] = "parallel coordinates",
    };
    int first = page ? tui_study_rows_param(page, tui_study_keys_rank(view, page)) : -1;
    int second = page ? tui_study_rows_param(page, tui_study_keys_second(view, page)) : -1;
    bool of = first >= 0 && (view->study_plot == PLOT_SLICE || view->study_plot == PLOT_CONTOUR);
    bool two = of && second >= 0 && view->study_plot == PLOT_CONTOUR;
    char words[160];

    snprintf(words, sizeof(words), "%s%s%.50s%s%.50s", names[view->study_plot], of ? " of " : "",
             of ? page->params[first] : "", two ? " and " : "", two ? page->params[second] : "");
    tui_view_report(view, OUTCOME_NOTE, "plot:", words, now);
}

bool tui_study_keys_plot(struct view *view, const struct model *model, struct moment now, int key)
{
    const struct tui_study_page *page = tui_view_study_page(view, model);

    if (view->tab != TAB_STUDY || view->study_view != STUDY_PAGE || key == '\0' || !strchr("i[]{}", key))
        return false;
    if (key == 'i')
        view->study_plot = (view->study_plot + 1) % STUDY_PLOTS;
    else if (page && page->n_params > 0 && (key == '[' || key == ']'))
        view->cursor[PANEL_IMPORTANCE] =
            step_rank(page, tui_study_keys_rank(view, page), key == ']' ? 1 : -1, -1);
    else if (page && page->n_params > 1)
        view->study_second = step_rank(page, tui_study_keys_second(view, page), key == '}' ? 1 : -1,
                                       tui_study_keys_rank(view, page));
    name_plot(view, page, now);
    return true;
}
