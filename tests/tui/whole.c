/* Every text that a screen cuts is whole behind `w`: all texts of a model are as long as the daemon lets them
 * be and have no six letters in common, so that what is seen of one names it. A screen that shows six letters
 * of a text in a row has all of it in that panel, or `w` has. */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "fixtures/dashboard.h"
#include "fixtures/studies.h"
#include "tests/check.h"
#include "tests/scratch.h"
#include "tests/tui/long_texts.h"
#include "tests/tui/picture.h"
#include "tui/choices.h"
#include "tui/command_keys.h"
#include "tui/history_reader.h"
#include "tui/keys.h"
#include "tui/list_source.h"
#include "tui/lists.h"
#include "tui/panel/panel.h"
#include "tui/train_ask.h"

enum { SEEN_MAX = 1 << 16 };

static struct model *model;
static struct view view;
static struct moment now = {1723161255342000000, 1000000};

/* ---- screens ---- */

/* Letters and signs of a rectangle, row by row, without blanks. */
static size_t gather(const struct canvas *canvas, const struct rect *r, wchar_t *ret, size_t n)
{
    for (int y = r->y; y < r->y + r->height; y++)
        for (int x = r->x; x < r->x + r->width && n + 2 < SEEN_MAX; x++)
            for (const wchar_t *c = tui_canvas_cell(canvas, x, y)->text; *c; c++)
                if (*c != L' ' && *c != L'|') /* nor a box's edge */
                    ret[n++] = *c;
    ret[n] = L'\0';
    return n;
}

/* All that w shows, page by page. */
static void gather_whole(int width, int height, wchar_t *ret)
{
    struct canvas canvas;
    size_t n = 0;
    int most = 0;

    const enum prompt asked = view.prompt;
    if (asked == PROMPT_ORDER) /* the first of two keys leaves the question */
        view.prompt = PROMPT_NONE;
    view.whole = true;
    view.scroll = 0;
    do {
        CHECK_INT(tui_canvas_init(&canvas, width, height, GLYPHS_ASCII), 0);
        tui_view_draw(&view, model, now, &canvas);
        most = panel_whole_most(&canvas, &view, model);
        int top = 0, bottom = height - 1, page = height - 3;
        while (top < height && tui_canvas_cell(&canvas, 0, top)->text[0] != L'+')
            top++;
        while (bottom > top && tui_canvas_cell(&canvas, 0, bottom)->text[0] != L'+')
            bottom--;
        int again = view.scroll > most ? view.scroll - most : 0; /* rows that the last page has shown */
        n = gather(&canvas,
                   &(struct rect){PANEL_NONE, 2, top + 1 + again, width - 4, bottom - top - 2 - again}, ret,
                   n);
        tui_canvas_finish(&canvas);
        view.scroll += page;
    } while (view.scroll < most + height - 3 && most > 0);
    view.prompt = asked;
    view.whole = false;
    view.scroll = 0;
}

static bool joins(wchar_t c)
{
    return (c >= L'a' && c <= L'z') || (c >= L'A' && c <= L'Z') || (c >= L'0' && c <= L'9');
}

/* A name in a panel's title is whole and stands apart from what follows it, or ends in "~". */
static void check_title(const char *name, const struct canvas *canvas, const struct rect *r)
{
    wchar_t row[CANVAS_SIDE_MAX + 2] = {0};

    for (int x = 0; x < r->width; x++)
        row[x] = tui_canvas_cell(canvas, r->x + x, r->y)->text[0];
    for (int x = 0; x + LONG_TEXT_LETTERS <= r->width; x++) {
        size_t at;
        const struct long_text *text = long_text_find(row + x, &at);
        if (!text)
            continue;
        const wchar_t *from = text->letters + at;
        int n = 0;
        while (from[n] && from[n] == row[x + n])
            n++;
        const bool good = from[n] ? row[x + n] == L'~' : !joins(row[x + n]);
        if (!good)
            fprintf(stderr, "%s %dx%d: title \"%ls\"\n", name, canvas->width, canvas->height, row);
        CHECK(good);
        x += n;
    }
}

/* What is walked: at least so many screens, and so many texts that are cut there. */
static struct walked {
    const char *name;
    int least_screens, least_cut, screens, cut;
} walked[] = {
    {"tab", 400, 4000, 0, 0},      {"foot", 100, 500, 0, 0},       {"depth", 20, 100, 0, 0},
    {"training", 40, 400, 0, 0},   {"bars", 10, 10, 0, 0},         {"ledger", 10, 50, 0, 0},
    {"round trips", 10, 50, 0, 0}, {"past", 100, 500, 0, 0},       {"item", 100, 60, 0, 0},
    {"studies", 20, 50, 0, 0},     {"study", 100, 100, 0, 0},      {"failed trials", 20, 20, 0, 0},
    {"trial", 6, 6, 0, 0},         {"validation", 20, 40, 0, 0},   {"training form", 60, 800, 0, 0},
    {"order form", 100, 40, 0, 0}, {"order question", 6, 2, 0, 0}, {"training question", 6, 0, 0, 0},
    {"offers", 36, 200, 0, 0},     {"columns", 12, 0, 0, 0}, /* whose words are the program's */
    {"keys", 12, 0, 0, 0},         {"indicators", 12, 40, 0, 0},   {"views", 12, 40, 0, 0},
};

static struct walked *walk(const char *name)
{
    for (size_t i = 0; i < sizeof(walked) / sizeof(walked[0]); i++)
        if (strcmp(walked[i].name, name) == 0)
            return &walked[i];
    fprintf(stderr, "%s is not among what is walked\n", name);
    abort();
}

/* A box over the panels, of ASCII: its inside. */
static struct rect find_box(const struct canvas *canvas)
{
    for (int y = 0; y + 1 < canvas->height; y++)
        for (int x = 0; x + 1 < canvas->width; x++)
            if (tui_canvas_cell(canvas, x, y)->text[0] == L'+' &&
                tui_canvas_cell(canvas, x, y + 1)->text[0] == L'|') {
                int right = x + 1, bottom = y + 1;
                while (right + 1 < canvas->width && tui_canvas_cell(canvas, right, y)->text[0] != L'+')
                    right++;
                while (bottom + 1 < canvas->height && tui_canvas_cell(canvas, x, bottom)->text[0] != L'+')
                    bottom++;
                return (struct rect){PANEL_NONE, x + 1, y + 1, right - x - 1, bottom - y - 1};
            }
    CHECK(!"there is a box");
    return (struct rect){0};
}

/* What is seen of a text in a panel, and neither all of it there nor behind w. */
static void check_screen(const char *name, int width, int height)
{
    static wchar_t seen[SEEN_MAX], whole[SEEN_MAX];
    struct canvas canvas;
    struct layout layout;
    bool asked = false;

    CHECK_INT(tui_canvas_init(&canvas, width, height, GLYPHS_ASCII), 0);
    tui_view_draw(&view, model, now, &canvas);
    tui_view_layout(&view, model, width, height, &layout);
    struct walked *kind = walk(name);
    kind->screens++;
    if (view.choosing || view.prompt == PROMPT_COMMAND || view.prompt == PROMPT_ORDER)
        layout = (struct layout){.n = 1, .rects = {find_box(&canvas)}};
    else if (tui_view_form(&view))
        layout = (struct layout){.n = 1, .rects = {{PANEL_NONE, 0, 0, width, height}}};
    for (int i = 0; i < layout.n; i++) {
        size_t n = gather(&canvas, &layout.rects[i], seen, 0);
        if (layout.rects[i].panel > PANEL_KEYS)
            check_title(name, &canvas, &layout.rects[i]);
        const struct long_text *last = NULL;
        for (size_t at = 0, within; at + LONG_TEXT_LETTERS <= n; at++) {
            const struct long_text *text = long_text_find(seen + at, &within);
            if (!text || text == last || wcsstr(seen, text->letters))
                continue;
            last = text;
            kind->cut++;
            if (!asked)
                gather_whole(width, height, whole);
            asked = true;
            if (!wcsstr(whole, text->letters)) {
                fprintf(stderr, "%s %dx%d panel %d: w has not all of \"%.60s\", seen as \"%.24ls\"\n", name,
                        width, height, (int)layout.rects[i].panel, text->text, seen + at);
                CHECK(false);
            }
        }
    }
    tui_canvas_finish(&canvas);
}

/* The screen as it is, and each of its panels alone, with the cursor on its rows; in the long run more. */
static void check_panels(const char *name)
{
    static const int sizes[][2] = {{80, 24}, {40, 10}, {200, 60}, {120, 40}};
    const bool all = getenv("PAPERTAPE_LONG") != NULL;
    const int rows = all ? 8 : 2;
    struct layout layout;
    const struct view kept = view;

    for (size_t i = 0; i < (all ? 4 : 3); i++) {
        int width = sizes[i][0], height = sizes[i][1];
        check_screen(name, width, height);
        tui_view_layout(&view, model, width, height, &layout);
        for (int k = 0; k < layout.n; k++) {
            enum panel panel = layout.rects[k].panel;
            if (!tui_view_takes_focus(panel))
                continue;
            view.focus = panel;
            for (int at = 0; at < rows && (at == 0 || at < tui_view_rows(&view, model, panel)); at++) {
                check_screen(name, width, height);
                tui_keys_press(&view, model, width, height, now, PRESS_DOWN);
            }
            view.zoomed = panel;
            check_screen(name, width, height);
            view = kept;
        }
    }
}

static void begin(enum tab tab)
{
    tui_view_finish(&view);
    tui_view_init(&view, false, 1000);
    view.tab = tab;
}

/* Rows of a list as they were read. */
static void put_rows(enum db_list list, void *rows, int n)
{
    struct list_rows *read = &model->lists[list];

    tui_list_rows_finish(read);
    *read = (struct list_rows){.have = true, .rows = rows, .window = {.n = n, .count = n, .total = n}};
    for (int i = 0; i < n; i++)
        read->window.ids[i] = i + 1;
    read->query.list = list;
}

static void put_lists(void)
{
    enum { ROWS = 12 };
    struct history_trip *trips = calloc(ROWS, sizeof(*trips));
    struct history_ledger *entries = calloc(ROWS, sizeof(*entries));

    for (int i = 0; i < ROWS && trips && entries; i++) {
        LONG_TEXT(trips[i].account, false), LONG_TEXT(trips[i].symbol, false),
            LONG_TEXT(trips[i].strategy, false);
        LONG_TEXT(trips[i].reason, false);
        trips[i].id = entries[i].id = i + 1;
        LONG_TEXT(entries[i].account, false);
        entries[i].kind = "deposit", entries[i].contra = "equity";
    }
    put_rows(DB_LIST_TRIPS, trips, ROWS);
    put_rows(DB_LIST_LEDGER, entries, ROWS);
}

static void check_lists(void)
{
    put_lists();
    begin(TAB_MARKET);
    view.bars = true;
    view.focus = PANEL_BARS;
    check_panels("bars");
    begin(TAB_LOG);
    view.ledger = true;
    view.focus = PANEL_LEDGER;
    check_panels("ledger");
    begin(TAB_POSITIONS);
    view.foot = FOOT_TRIPS;
    view.focus = PANEL_TRIPS;
    check_panels("round trips");
    model->at_ns = now.wall_ns - 3600 * INT64_C(1000000000);
    for (int tab = 0; tab < TABS; tab++) {
        begin((enum tab)tab);
        view.at_ns = model->at_ns;
        check_panels("past");
    }
    model->at_ns = 0;
}

/* ---- what covers the panels ---- */

static const int box_sizes[][2] = {{80, 24}, {40, 10}, {200, 60}};
enum { BOX_SIZES = 3 };

/* With the cursor on each of so many rows. */
static void check_box(const char *name, int rows)
{
    for (int at = 0; at < rows; at++) {
        for (int k = 0; k < BOX_SIZES; k++) {
            check_screen(name, box_sizes[k][0], box_sizes[k][1]);
            tui_keys_press(&view, model, box_sizes[k][0], box_sizes[k][1], now, PRESS_F3);
            CHECK(view.whole); /* the key does it */
            tui_keys_press(&view, model, box_sizes[k][0], box_sizes[k][1], now, 'x');
            CHECK(!view.whole);
        }
        tui_keys_press(&view, model, 80, 24, now, PRESS_DOWN);
    }
}

static void check_training_form(bool study)
{
    static char text[32 * LONG_TEXT_MAX];
    int n = snprintf(text, sizeof(text), "[training]\n");

    for (int i = 0; i < 6; i++)
        n += snprintf(text + n, sizeof(text) - (size_t)n, "%s = %s\n", long_text(NULL, 31, false),
                      long_text(NULL, i % 2 ? 900 : 60, false));
    n += snprintf(text + n, sizeof(text) - (size_t)n, "name = x ; %s\n", long_text(NULL, 400, false));
    snprintf(text + n, sizeof(text) - (size_t)n, "%s\n", long_text(NULL, 300, false));
    begin(TAB_STUDY);
    view.page = tui_form_page_create(model->status.trainings[1].training, !study);
    CHECK_INT(tui_form_page_fill(view.page, text), 0);
    struct form *form = &view.page->form;
    tui_form_keep_lines(form);
    tui_form_errors_begin(form);
    for (int i = 0; i < 5; i++) {
        tui_form_error(form, 3, "", "", long_text(NULL, 900, true));
        tui_form_error(form, 0, "", "", long_text(NULL, 900, true));
    }
    tui_form_error(form, 5, "", "", long_text(NULL, 300, true));
    if (study)
        LONG_TEXT(view.page->plan, true);
    view.page->row = 1;
    check_box("training form", 8);
    LONG_TEXT(view.page->words, true);
    for (int k = 0; k < BOX_SIZES; k++)
        check_screen("training form", box_sizes[k][0], box_sizes[k][1]);
    view.page->row = 2;
    tui_keys_press(&view, model, 80, 24, now, PRESS_ENTER);
    CHECK_INT(view.page->mode, FORM_EDITS);
    check_box("training form", 1);
    tui_keys_press(&view, model, 80, 24, now, PRESS_HOME);
    check_box("training form", 1);
}

static void check_order_form(void)
{
    begin(TAB_MARKET);
    tui_keys_press(&view, model, 80, 24, now, 'O');
    CHECK(view.order_form != NULL);
    if (!view.order_form)
        return;
    struct order_answer *answer = &view.order_form->answer;
    const bool done[] = {true, false};
    for (int i = 0; i < 2; i++) {
        int at = 0;
        for (int part = 0; part < (i ? 1 : 5); part++)
            at += snprintf(answer->words + at, sizeof(answer->words) - (size_t)at, "%s%s", part ? "; " : "",
                           long_text(NULL, i ? 900 : 150, true));
        answer->done = done[i];
        answer->mono_ms = now.mono_ms;
        tui_order_form_line(view.order_form, answer->line);
        check_box("order form", view.order_form->n);
        view.prompt = PROMPT_ORDER;
        for (int k = 0; k < BOX_SIZES; k++)
            check_screen("order question", box_sizes[k][0], box_sizes[k][1]);
        view.prompt = PROMPT_NONE;
    }
    LONG_TEXT(view.order_form->words, true);
    check_box("order form", 1);
}

static void check_boxes(void)
{
    begin(TAB_ORDERS);
    tui_command_keys_open(&view, "order buy ", now);
    CHECK(view.line != NULL);
    view.line->n_offers = 12;
    for (int i = 0; i < view.line->n_offers; i++)
        LONG_TEXT(view.line->offers[i].word, false), LONG_TEXT(view.line->offers[i].words, true);
    for (view.line->offered = 0; view.line->offered < view.line->n_offers; view.line->offered++)
        for (int k = 0; k < BOX_SIZES; k++)
            check_screen("offers", box_sizes[k][0], box_sizes[k][1]);
    tui_keys_press(&view, model, 40, 10, now, PRESS_F3);
    CHECK(view.whole);
    tui_keys_press(&view, model, 40, 10, now, 'x');
    CHECK(!view.whole && view.prompt == PROMPT_COMMAND);
    begin(TAB_ORDERS);
    tui_choices_columns(&view, DB_LIST_ORDERS, now);
    check_box("columns", 4);
    begin(TAB_ORDERS);
    tui_choices_keys(&view);
    check_box("keys", 4);
    begin(TAB_MARKET);
    tui_choices_indicators(&view, model, now);
    check_box("indicators", 4);
    begin(TAB_ORDERS);
    view.choosing = CHOOSING_VIEWS;
    view.saved.n = 6;
    for (int i = 0; i < view.saved.n; i++)
        LONG_TEXT(view.saved.names[i], false);
    check_box("views", 4);
}

static void check_tabs(void)
{
    for (int tab = 0; tab < TABS; tab++) {
        begin((enum tab)tab);
        check_panels("tab");
    }
    for (int foot = 0; foot < FEET; foot++) {
        begin(TAB_POSITIONS);
        view.foot = (enum layout_foot)foot;
        check_panels("foot");
    }
    begin(TAB_MARKET);
    view.depth = true;
    check_panels("depth");
    for (int i = 0; i < model->status.n_trainings; i++) {
        begin(TAB_STUDY);
        view.detail = true;
        memcpy(view.training, model->status.trainings[i].training, sizeof(view.training));
        check_panels("training");
    }
}

/* The pages of items by their names: each longer than the screen, so that the title says which rows. */
static void check_items(void)
{
    const struct status *s = &model->status;
    static const enum item_kind kinds[] = {ITEM_ACCOUNT,  ITEM_SYMBOL,  ITEM_POLICY, ITEM_POSITION,
                                           ITEM_EXTERNAL, ITEM_WHAT_IF, ITEM_ORDER,  ITEM_FILL,
                                           ITEM_ALERT,    ITEM_COMMAND, ITEM_TRIP,   ITEM_LEDGER};

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        struct item item = {.kind = kinds[i], .id = kinds[i] < ITEM_ACCOUNT ? 7 : 0};
        snprintf(item.name, sizeof(item.name), "%s",
                 kinds[i] == ITEM_POLICY     ? s->policies[0].policy
                 : kinds[i] == ITEM_ACCOUNT  ? s->accounts[0].account
                 : kinds[i] == ITEM_WHAT_IF  ? long_text("what-if", 150, false)
                 : kinds[i] == ITEM_EXTERNAL ? long_text("client", 36, false)
                                             : s->positions[0].symbol);
        if (kinds[i] == ITEM_POSITION)
            memcpy(item.account, s->positions[0].account, sizeof(item.account));
        begin(TAB_ORDERS);
        view.item = item;
        tui_item_page_finish(&model->item);
        model->item.item = item;
        for (int k = 0; k < 99; k++)
            tui_item_field(&model->item, "field", STYLE_NORMAL, s->policies[0].policy);
        check_panels("item");
    }
    tui_item_page_finish(&model->item);
}

/* The account whose drawdown the header cuts is in `w`, under the header's name of that. */
static void check_worst(void)
{
    static const char *const names[] = {"worst dd ", "worst max dd "};

    for (int saved = 0; saved < 2; saved++) {
        struct canvas canvas;
        const char *words;
        int part, found = 0;
        begin(TAB_ORDERS);
        model->status.saved = saved;
        CHECK_INT(tui_canvas_init(&canvas, 40, 10, GLYPHS_ASCII), 0);
        tui_view_draw(&view, model, now, &canvas);
        for (int i = 0; (words = tui_canvas_cut(&canvas, i, &part)); i++)
            found += strncmp(words, names[saved], strlen(names[saved])) == 0;
        CHECK_INT(found, 1);
        tui_canvas_finish(&canvas);
    }
    model->status.saved = false;
}

/* ---- studies ---- */

static struct study *studies[4];

/* As the thread would: the list, the page, its chosen trial's attributes. */
static void read_studies(void)
{
    const int64_t now_us = now.wall_ns / 1000;

    for (int turn = 0; turn < 3; turn++) {
        struct tui_study_reading reading = {.studies = tui_studies_make(studies, 3, now_us),
                                            .mono_ms = now.mono_ms};
        struct study *members[4];
        struct tui_study_want want;
        size_t at[4];
        tui_view_want_study(&view, model, &want);
        size_t n = tui_studies_members(studies, 3, want.key, at, 4);
        for (size_t i = 0; i < n; i++)
            members[i] = studies[at[i]];
        tui_studies_unread(reading.studies, studies[2], NULL, long_text("unread", 500, true));
        if (n > 0)
            reading.page = tui_study_page_make(members, n, &want, NULL, now_us);
        tui_model_take_studies(model, &reading);
    }
}

static const char *quoted(const char *text)
{
    static char json[LONG_TEXT_MAX + 2];

    snprintf(json, sizeof(json), "\"%s\"", text);
    return json;
}

static void make_studies(void)
{
    static const enum study_direction maximize[] = {STUDY_MAXIMIZE};
    char names[6][40];

    fixture_studies_begin();
    for (int i = 0; i < 3; i++) {
        snprintf(names[0], sizeof(names[0]), "%s_%d", long_text("study", 29, false), i + 1);
        studies[i] = fixture_study(names[0], i, 1, maximize);
    }
    for (int i = 0; i < 6; i++)
        snprintf(names[i], sizeof(names[i]), "%s", long_text(NULL, 31, false));
    for (int t = 0; t < 24; t++) {
        struct study_trial *trial = fixture_trial(studies[t % 2], t % 4 == 3 ? TRIAL_FAIL : TRIAL_COMPLETE,
                                                  9000 - 100 * t, 8950 - 100 * t);
        const double value = sin(t);
        if (t % 4 != 3)
            fixture_value(trial, &value, 1);
        else
            fixture_trial_user(trial, "papertape:failure", quoted(long_text(NULL, 500, true)));
        for (int i = 0; i < 5; i++)
            fixture_number(studies[t % 2], trial, names[i], DISTRIBUTION_FLOAT, 0, 1, false,
                           (t * 7 + i) % 24 / 24.0);
    }
}

static void check_studies(void)
{
    make_studies();
    begin(TAB_STUDY);
    view.focus = PANEL_STUDIES;
    read_studies();
    check_panels("studies");
    begin(TAB_STUDY);
    view.study_view = STUDY_PAGE;
    memcpy(view.study, model->studies->study[0].key, sizeof(view.study));
    for (int plot = 0; plot < STUDY_PLOTS; plot++) {
        view.study_plot = (enum study_plot)plot;
        read_studies();
        check_panels("study");
    }
    view.study_plot = PLOT_IMPORTANCE;
    view.focus = view.zoomed = PANEL_TRIAL;
    check_panels("trial");
    view.study_view = STUDY_VALIDATION;
    view.zoomed = PANEL_NONE;
    read_studies();
    if (model->study_page) {
        struct tui_study_validation *v = &model->study_page->validation;
        *v = (struct tui_study_validation){
            .have = true, .made_ns = now.wall_ns, .trial = 2, .equity_trial = 2};
        LONG_TEXT(v->verdict, true), LONG_TEXT(v->returns_words, true);
        LONG_TEXT(v->study, false), LONG_TEXT(v->equity_study, false);
        model->study_page->have_validation = true;
        check_panels("validation");
        v->have = false;
        LONG_TEXT(v->words, true);
        check_panels("validation");
    }
    view.study_view = STUDY_PAGE;
    strcpy(view.lists[LIST_TRIALS].filter, "fail");
    tui_keys_press(&view, model, 80, 24, now, PRESS_HOME);
    read_studies();
    check_panels("failed trials");
}

/* ---- questions ---- */

/* All of these names are on the screen: what is asked about is never cut. */
static void check_named(int width, int height, const char *const *names, size_t n)
{
    static wchar_t seen[SEEN_MAX], name[LONG_TEXT_MAX];
    struct canvas canvas;

    CHECK_INT(tui_canvas_init(&canvas, width, height, GLYPHS_ASCII), 0);
    tui_view_draw(&view, model, now, &canvas);
    gather(&canvas, &(struct rect){PANEL_NONE, 0, 0, width, height}, seen, 0);
    for (size_t i = 0; i < n; i++) {
        mbstowcs(name, names[i], LONG_TEXT_MAX);
        if (!wcsstr(seen, name))
            fprintf(stderr, "question %d, %dx%d: no %s\n", (int)view.prompt, width, height, names[i]);
        CHECK(wcsstr(seen, name) != NULL);
    }
    tui_canvas_finish(&canvas);
}

/* What will be done is on the screen, too, to its last word: of either sentence. */
static void check_question(int width, int height)
{
    struct train_question question;
    char words[TRAIN_ASK_MAX], *last;

    if (!tui_train_ask_allowed(model, view.prompt, view.subject, words))
        return;
    tui_train_ask(model, view.prompt, view.subject, 0, &question);
    last = strrchr(question.what, ' ');
    check_named(width, height, (const char *[]){last ? last + 1 : question.what}, 1);
    walk("training question")->screens++;
}

static void check_questions(void)
{
    static const int sizes[][2] = {{40, 10}, {80, 24}, {200, 60}};
    static const enum prompt prompts[] = {PROMPT_STOP, PROMPT_RESTART, PROMPT_RESUME, PROMPT_PROMOTE,
                                          PROMPT_RETIRE};
    const struct status *s = &model->status;

    begin(TAB_ORDERS);
    for (int k = 0; k < 3; k++) {
        view.prompt = PROMPT_CANCEL;
        for (int i = 0; i < s->n_orders; i++) {
            view.order = s->orders[i].id;
            check_named(sizes[k][0], sizes[k][1], (const char *[]){s->orders[i].account, s->orders[i].symbol},
                        2);
        }
        view.prompt = PROMPT_FLATTEN;
        for (int i = 0; i < s->n_positions && k > 0; i++)
            check_named(sizes[k][0], sizes[k][1],
                        (const char *[]){s->positions[i].account, s->positions[i].symbol}, 2);
        view.tab = TAB_STUDY;
        for (size_t i = 0; i < sizeof(prompts) / sizeof(prompts[0]); i++) {
            view.prompt = prompts[i];
            view.role = "champion";
            memcpy(view.subject,
                   prompts[i] >= PROMPT_PROMOTE ? s->policies[0].policy : s->trainings[1].training,
                   sizeof(view.subject));
            check_named(sizes[k][0], sizes[k][1], (const char *[]){view.subject}, 1);
            check_question(sizes[k][0], sizes[k][1]);
        }
        view.tab = TAB_ORDERS;
    }
}

static json_t *loaded(const char *const *parts, size_t n)
{
    json_t *object = json_loads(fixture_status, 0, NULL);

    for (size_t i = 0; i < n; i++) {
        json_t *part = json_loads(parts[i], 0, NULL);
        CHECK_INT(json_object_update(object, part), 0);
        json_decref(part);
    }
    return object;
}

/* Why there is no daemon is among them where one is missed: a saved run has none. */
static void check_saved(void)
{
    static wchar_t whole[SEEN_MAX];
    const enum model_source source = model->source;

    model->source = MODEL_DATABASE;
    snprintf(model->daemon_words, sizeof(model->daemon_words), "run/control.sock: no daemon is listening");
    for (int saved = 0; saved < 2; saved++) {
        model->status.saved = saved;
        begin(TAB_MARKET);
        gather_whole(80, 24, whole);
        CHECK_INT(wcsstr(whole, L"nodaemonislistening") != NULL, !saved);
    }
    model->status.saved = false;
    model->daemon_words[0] = '\0';
    model->source = source;
}

int main(void)
{
    const char *path = scratch_path("papertape.db");
    const char *const parts[2][3] = {{fixture_venues, fixture_several, fixture_trainings},
                                     {fixture_venues, fixture_at_venue, fixture_trainings}};
    struct history_reader *reader;

    if (!setlocale(LC_CTYPE, "C.UTF-8"))
        return CHECK_SKIP;
    CHECK_INT(fixture_database(path), 0);
    model = picture_model(path, "{}", now, &reader);
    if (!long_texts_init("tui/whole", 31) || !model)
        return EXIT_FAILURE;
    for (int i = 0; i < 2; i++) {
        json_t *status = loaded(parts[i], 3);
        long_texts_status(status);
        CHECK_INT(tui_model_take_status(model, status, now), 0);
        json_decref(status);
        if (i == 0)
            long_texts_model(model, model->status.trainings[1].training, now);
        check_tabs();
        check_questions();
        check_worst();
        check_saved();
        if (i == 0) {
            check_items();
            check_studies();
            check_lists();
            check_training_form(true);
            check_training_form(false);
            check_order_form();
            check_boxes();
        }
    }
    for (size_t i = 0; i < sizeof(walked) / sizeof(walked[0]); i++) {
        const struct walked *w = &walked[i];
        printf("tui/whole: %s: %d screens, %d texts cut\n", w->name, w->screens, w->cut);
        CHECK(w->screens >= w->least_screens && w->cut >= w->least_cut);
    }
    if (!getenv("PAPERTAPE_LONG"))
        printf("counts: three sizes, two rows of each list (PAPERTAPE_LONG: four, eight)\n");
    tui_view_finish(&view);
    tui_history_close(reader);
    tui_model_destroy(model);
    long_texts_finish();
    return check_done("tui/whole");
}
