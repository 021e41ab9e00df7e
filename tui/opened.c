#include "tui/opened.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/item_keys.h"
#include "tui/view.h"

/* "position:BTCUSDT:main" of "Pos > position BTCUSDT of main", "study:ppo_1..3" of "Study ppo_1..3 (max)". */
static void plain(const char *text, char *buf, size_t size)
{
    const char *end = text + strcspn(text, " :"); /* of a title's tab, or the form's kind */
    char *blank, *of, *direction;

    snprintf(buf, size, "%s", strncmp(end, " > ", 3) == 0 ? end + 3 : text);
    buf[0] = (char)tolower((unsigned char)buf[0]);
    if (!(blank = strchr(buf, ' ')) || memchr(buf, ':', (size_t)(blank - buf)))
        return;
    *blank = ':';
    if (strncmp(buf, "validation:of ", 14) == 0)
        memmove(blank + 1, blank + 4, strlen(blank + 4) + 1);
    if (strncmp(buf, "position:", 9) == 0 && (of = strstr(blank, " of "))) {
        *of = ':';
        memmove(of + 1, of + 4, strlen(of + 4) + 1);
    }
    if (strncmp(buf, "study:", 6) == 0 && (direction = strstr(blank, " (")))
        *direction = '\0';
}

bool tui_opened_parse(const char *text, struct opened *ret)
{
    static const struct {
        const char *word;
        enum opened_kind kind;
    } kinds[] = {{"training:", OPENED_TRAINING},
                 {"study:", OPENED_STUDY},
                 {"validation:", OPENED_VALIDATION},
                 {"trial:", OPENED_TRIAL}};
    struct opened opened = {.kind = OPENED_ITEM};
    char form[STUDY_LABEL_MAX + 40], *end;

    if (strlen(text) >= sizeof(form))
        return false;
    plain(text, form, sizeof(form));
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        const size_t len = strlen(kinds[i].word);
        if (strncmp(form, kinds[i].word, len) != 0)
            continue;
        opened.kind = kinds[i].kind;
        if (!form[len] || strlen(form + len) >= sizeof(opened.name))
            return false;
        snprintf(opened.name, sizeof(opened.name), "%s", form + len);
    }
    if (opened.kind == OPENED_ITEM && !tui_item_parse(form, &opened.item))
        return false;
    if (opened.kind == OPENED_TRIAL) {
        char *number = strrchr(opened.name, '#');
        if (!number || number == opened.name || !isdigit((unsigned char)number[1]))
            return false;
        const long trial = strtol(number + 1, &end, 10);
        if (*end || trial > INT32_MAX)
            return false;
        opened.trial = (int)trial;
        *number = '\0';
    }
    if (opened.kind == OPENED_TRAINING && strlen(opened.name) >= STATUS_TRAINING_NAME_MAX)
        return false;
    *ret = opened;
    return true;
}

static void show_training(const char *name, struct view *view)
{
    snprintf(view->training, sizeof(view->training), "%.*s", STATUS_TRAINING_NAME_MAX - 1, name);
    view->tab = TAB_STUDY;
    view->detail = true;
    view->focus = PANEL_TRAINING;
}

/* The trial itself is found once the study's page is read. */
static void show_trial(const struct opened *opened, struct view *view)
{
    snprintf(view->trial_study, sizeof(view->trial_study), "%.*s", STUDY_NAME_MAX, opened->name);
    view->trial = opened->trial;
    view->focus = view->zoomed = PANEL_TRIAL;
}

bool tui_opened_show(const struct opened *opened, struct view *view, const struct model *model)
{
    if (opened->kind == OPENED_ITEM)
        tui_item_keys_open(view, &opened->item);
    else if (opened->kind == OPENED_TRAINING)
        show_training(opened->name, view);
    else if (opened->kind != OPENED_NOTHING && !tui_view_open_study(view, model, opened->name))
        return false;
    if (opened->kind == OPENED_VALIDATION)
        view->study_view = STUDY_VALIDATION;
    if (opened->kind == OPENED_TRIAL)
        show_trial(opened, view);
    return true;
}

bool tui_opened_is_gone(const struct opened *opened, const struct model *model, char *buf, size_t size)
{
    const struct tui_study_page *page = model->study_page;

    if (opened->kind != OPENED_TRIAL || !page)
        return false;
    const struct tui_study *study = tui_studies_find(model->studies, opened->name);
    if (!study || strcmp(study->key, page->study.key) != 0 ||
        tui_study_page_trial(page, opened->name, opened->trial))
        return false;
    snprintf(buf, size, "there is no trial %d of %s", opened->trial, opened->name);
    return true;
}

bool tui_opened_missing(const struct opened *opened, const struct view *view, const struct model *model,
                        char *buf, size_t size)
{
    if (tui_opened_is_gone(opened, model, buf, size))
        return true;
    if (opened->kind == OPENED_TRAINING && !tui_view_training(view, model))
        snprintf(buf, size, "no such training %s", opened->name);
    else if (opened->kind == OPENED_ITEM && model->item.gone && model->item.n > 0)
        snprintf(buf, size, "%s", model->item.lines[0].text);
    else
        return false;
    return true;
}
