/* What --open takes: each kind of page by its short form and by its title, and what is no page. */
#include "tui/opened.h"

#include <stdio.h>
#include <string.h>

#include "tests/check.h"
#include "tui/view.h"

static void check_forms(void)
{
    static const struct {
        const char *form, *title;
        enum opened_kind kind;
        const char *name;
        int trial;
    } good[] = {
        {"order:7", "Ord > order 7", OPENED_ITEM, "", 0},
        {"fill:6", "Orders > fill 6", OPENED_ITEM, "", 0},
        {"trip:3", "Pos > trip 3", OPENED_ITEM, "", 0},
        {"ledger:3", "ledger 3", OPENED_ITEM, "", 0},
        {"account:main", "Pos > account main", OPENED_ITEM, "", 0},
        {"position:BTCUSDT:main", "Pos > position BTCUSDT of main", OPENED_ITEM, "", 0},
        {"symbol:ETHUSDT", "Mkt > symbol ETHUSDT", OPENED_ITEM, "", 0},
        {"policy:ppo_1", "Study > policy ppo_1", OPENED_ITEM, "", 0},
        {"training:ppo_1", "Training ppo_1", OPENED_TRAINING, "ppo_1", 0},
        {"study:ppo_1..3", "Study ppo_1..3 (max)", OPENED_STUDY, "ppo_1..3", 0},
        {"study:of mine", "Study of mine", OPENED_STUDY, "of mine", 0},
        {"study:ppo > a2c", "Study ppo > a2c (min)", OPENED_STUDY, "ppo > a2c", 0},
        {"validation:ppo", "Validation of ppo", OPENED_VALIDATION, "ppo", 0},
        {"trial:ppo_2#29", NULL, OPENED_TRIAL, "ppo_2", 29},
        {"trial:a#b#0", NULL, OPENED_TRIAL, "a#b", 0},
    };
    static const char *const bad[] = {
        "",         "order",    "order:",    "order:x",    "training:", "study:", "trial:a",
        "trial:#3", "trial:a#", "trial:a#x", "trial:a#-1", "page:3",    "Log > ", "trial:a#99999999999"};
    char title[ITEM_NAME_MAX + 80];
    struct opened by_form, by_title;

    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        CHECK(tui_opened_parse(good[i].form, &by_form));
        CHECK_INT(by_form.kind, good[i].kind);
        CHECK_STR(by_form.name, good[i].name);
        CHECK_INT(by_form.trial, good[i].trial);
        if (!good[i].title)
            continue;
        CHECK(tui_opened_parse(good[i].title, &by_title));
        CHECK_INT(by_title.kind, by_form.kind);
        CHECK_STR(by_title.name, good[i].name);
        CHECK(tui_item_equal(&by_title.item, &by_form.item));
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        by_form.trial = -7;
        CHECK(!tui_opened_parse(bad[i], &by_form));
        CHECK_INT(by_form.trial, -7); /* left as it was */
    }
    /* Every title of an item, but one without a form. */
    for (int kind = ITEM_ORDER; kind < ITEM_WHAT_IF; kind++) {
        struct item item = {.kind = (enum item_kind)kind, .id = kind < ITEM_ACCOUNT ? 12 : 0, .first = -1};
        if (kind >= ITEM_ACCOUNT)
            strcpy(item.name, "a-name-of-thirty-one-characters");
        if (kind == ITEM_POSITION)
            strcpy(item.account, "main");
        tui_item_title(&item, title, sizeof(title));
        CHECK_INT(tui_opened_parse(title, &by_title) && tui_item_equal(&by_title.item, &item),
                  kind != ITEM_EXTERNAL);
    }
}

/* A training's page needs nothing that is known; a study's waits until it is. */
static void check_shown(void)
{
    struct model *model = tui_model_create(1000);
    struct opened opened;
    struct view view;
    char words[80];

    tui_view_init(&view, false, 1000);
    CHECK(tui_opened_parse("training:ppo_1", &opened) && tui_opened_show(&opened, &view, model));
    CHECK(view.tab == TAB_STUDY && view.detail);
    CHECK_STR(view.training, "ppo_1");
    tui_view_init(&view, false, 1000);
    CHECK(tui_opened_parse("trial:ppo_1#3", &opened) && !tui_opened_show(&opened, &view, model));
    CHECK(view.tab == TAB_OVERVIEW && view.study_view == STUDY_LISTED &&
          !tui_opened_is_gone(&opened, model, words, sizeof(words)));
    tui_view_finish(&view);
    tui_model_destroy(model);
}

int main(void)
{
    check_forms();
    check_shown();
    return check_done("tui/opened");
}
