/* Pasted text stays text, whatever keys it contains, where a line is typed; elsewhere it is ignored. */
#include "tui/paste.h"

#include <locale.h>

#include "fixtures/dashboard.h"
#include "tests/check.h"
#include "tui/keys.h"

static const struct moment now = {1723161255342000000, 1000000};
static struct paste paste;
static struct view view;
static struct model *model;

/* True once the second mark has come. */
static bool feed(const char *text)
{
    bool whole = false;

    CHECK(tui_paste_press(&paste, PRESS_PASTE, 0, &whole) && !whole);
    for (; *text; text++)
        CHECK(tui_paste_press(&paste, *text == '\n' ? PRESS_ENTER : *text, 0, &whole) && !whole);
    CHECK(tui_paste_press(&paste, PRESS_PASTE_END, 0, &whole));
    return whole;
}

static void put(const char *text)
{
    CHECK(feed(text));
    tui_keys_paste(&view, model, 80, 24, paste.keys, paste.n);
}

static void press(int key)
{
    tui_keys_press(&view, model, 80, 24, now, key);
}

static void check_collecting(void)
{
    bool whole;

    CHECK(!tui_paste_press(&paste, 'q', 0, &whole) && !whole);
    CHECK(tui_paste_press(&paste, PRESS_PASTE_END, 0, &whole) && !whole); /* a mark without its first */
    CHECK(feed("\n a\tb\n"));
    CHECK_INT(paste.n, 3);
    CHECK(paste.keys[0] == 'a' && paste.keys[1] == ' ' && paste.keys[2] == 'b');
    tui_paste_press(&paste, PRESS_PASTE, 0, &whole);
    static const int hostile[] = {PRESS_ESCAPE, 0x9b, 0x202e, PRESS_UP, PRESS_F12};
    for (size_t i = 0; i < sizeof(hostile) / sizeof(hostile[0]); i++)
        CHECK(tui_paste_press(&paste, hostile[i], 0, &whole) && paste.keys[i] == '?');
    CHECK(!tui_paste_expire(&paste, PASTE_SILENCE_MS - 1));
    CHECK(tui_paste_expire(&paste, PASTE_SILENCE_MS));
    CHECK(!tui_paste_press(&paste, 'q', 0, &whole));
    tui_paste_press(&paste, PRESS_PASTE, 0, &whole);
    for (int i = 0; i < PASTE_MAX + 100; i++)
        tui_paste_press(&paste, 'x', 0, &whole);
    CHECK(tui_paste_press(&paste, PRESS_PASTE_END, 0, &whole) && whole);
    CHECK_INT(paste.n, PASTE_MAX + 100);
}

static void check_places(void)
{
    tui_view_init(&view, false, 1000);
    view.tab = TAB_STUDY;
    put("qxysPF\n"); /* nowhere: no key of these does anything */
    CHECK(view.prompt == PROMPT_NONE && !view.page && view.tab == TAB_STUDY);
    press('s');
    put("mine\n");
    CHECK_STR(view.typed, "mine");
    CHECK_INT(view.prompt, PROMPT_NAME);
    put("\xff and more than a name may have, by far");
    CHECK_INT(strlen(view.typed), sizeof(view.typed) - 1);
    press(PRESS_ENTER);
    CHECK_INT(view.prompt, PROMPT_NAME); /* refused */
    press(PRESS_ESCAPE);

    view.page = tui_form_page_create("mine", false);
    CHECK_INT(tui_form_page_fill(view.page, "[ppo]\nlearning_rate = 1\n"), 0);
    put("dq\n"); /* no row is left out, the form stays */
    CHECK(view.page && tui_form_changes(&view.page->form) == 0);
    press(PRESS_DOWN);
    press(PRESS_ENTER);
    CHECK_INT(view.page->mode, FORM_EDITS);
    press('U' & 0x1f);
    put(" 0.25\nq\n");
    CHECK_STR(view.page->edit.text, "0.25 q");
    static char large[LINE_EDIT_MAX + 1];
    memset(large, '7', LINE_EDIT_MAX);
    put(large);
    CHECK_STR(view.page->edit.text, "0.25 q");
    CHECK(strstr(view.page->words, "too long") && strstr(view.page->words, "8447"));
    for (int i = 0; i < LINE_EDIT_MAX; i++) /* of a terminal without marks */
        press('7');
    press(PRESS_ENTER);
    CHECK_INT(view.page->mode, FORM_EDITS);
    CHECK(strstr(view.page->words, "at most 8447 bytes"));
    tui_view_finish(&view);
}

int main(void)
{
    if (!setlocale(LC_CTYPE, "C.UTF-8"))
        return CHECK_SKIP;
    model = tui_model_create(1000);
    CHECK_INT(fixture_take(model, fixture_trainings, now), 0);
    check_collecting();
    check_places();
    tui_model_destroy(model);
    return check_done("tui/paste");
}
