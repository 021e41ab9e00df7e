/* The page to begin with: what --open takes, and how it is opened. */
#ifndef TUI_OPENED_H
#define TUI_OPENED_H

#include "tui/item.h"
#include "tui/studies.h"

enum opened_kind {
    OPENED_NOTHING,
    OPENED_ITEM,
    OPENED_TRAINING,   /* name */
    OPENED_STUDY,      /* name, as tui_studies_find() takes it */
    OPENED_VALIDATION, /* likewise */
    OPENED_TRIAL,      /* likewise, and the number of one of its trials */
};

struct opened {
    enum opened_kind kind;
    struct item item;
    char name[STUDY_LABEL_MAX];
    int trial;
};

#define OPENED_FORMS \
    "order:N, fill:N, alert:N, command:N, trip:N, ledger:N, account:NAME, symbol:NAME, policy:NAME, " \
    "position:SYMBOL:ACCOUNT, training:NAME, study:NAME, validation:STUDY or trial:STUDY#N"

/* "order:883", "training:ppo_1", "trial:ppo_2#29"; also as the title of the page has it: "Ord > order 883",
 * "Training ppo_1", "Validation of ppo". False: it is none of these. */
bool tui_opened_parse(const char *text, struct opened *ret);

struct view;
struct model;

/* False: its study is not known, or not yet; the view is then as it was. */
bool tui_opened_show(const struct opened *opened, struct view *view, const struct model *model);

/* Its study's page has been read, and has no such trial: `buf` says so. */
bool tui_opened_is_gone(const struct opened *opened, const struct model *model, char *buf, size_t size);

/* After its page was read: why there is nothing of it, in `buf`; false: there is. */
bool tui_opened_missing(const struct opened *opened, const struct view *view, const struct model *model,
                        char *buf, size_t size);

#endif
