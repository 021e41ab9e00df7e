/* Saved views: random ones through their files and through a screen and back, wrong lines and what is gone,
 * a write that fails, and the keys and lines that save, open and remove them.
 *
 * usage: test-tui-saved_view GOLDEN_FOLDER */
#include "tui/saved_view_keys.h"

#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exchange/folder.h"
#include "exchange/whole_file.h"
#include "fixtures/dashboard.h"
#include "fixtures/studies.h"
#include "tests/check.h"
#include "tests/random.h"
#include "tests/scratch.h"
#include "tests/tui/picture.h"
#include "tui/history_reader.h"
#include "tui/lists.h"

enum { TURNS = 200, TABULATOR = '\t' };

static struct model *model;
static struct view view;
static struct random random_state;
static const struct moment now = {1723161255342000000, 1000000};

/* One key, and what the dashboard does for it. */
static enum action press(int key)
{
    enum action action = tui_keys_press(&view, model, 80, 24, now, key);

    if (action >= ACTION_VIEWS && action <= ACTION_VIEW_REMOVE)
        tui_saved_view_keys_act(&view, model, action, now);
    return action;
}

static enum action line(const char *text)
{
    press(':');
    CHECK_INT(view.prompt, PROMPT_COMMAND);
    for (; *text; text++)
        press(*text);
    return press(PRESS_ENTER);
}

static int between(int low, int high)
{
    return (int)random_between(&random_state, low, high);
}

static void put_filter(char *ret)
{
    static const char letters[] = "ab ;\\!#=:[]\"s1";
    int n = between(0, 1) ? between(1, DB_LIST_WORDS_MAX - 1) : 0;

    for (int i = 0; i < n; i++)
        ret[i] = letters[between(0, (int)sizeof(letters) - 2)];
    ret[n] = '\0';
}

/* A screen as keys could have left it. */
static void choose(struct view *ret)
{
    tui_view_init(ret, false, 1000);
    ret->tab = (enum tab)between(0, TABS - 1);
    ret->focus = (enum panel)between(PANEL_PRICES, PANELS - 1);
    snprintf(ret->symbol, sizeof(ret->symbol), "%s", between(0, 1) ? "ETHUSDT" : "");
    snprintf(ret->timeframe, sizeof(ret->timeframe), "%s", between(0, 1) ? "5m" : "");
    ret->chart = (struct chart_window){.line = between(0, 1), .log = between(0, 1), .bars = between(0, 300)};
    snprintf(ret->settings.hides, sizeof(ret->settings.hides), "%s",
             between(0, 1) ? "sma_20 rsi_14" : "none");
    ret->below = between(0, 4);
    ret->depth = between(0, 1);
    ret->bars = between(0, 1);
    ret->equity_span = (enum history_span)between(0, SPANS - 1);
    ret->benchmark = between(0, 1);
    ret->foot = (enum layout_foot)between(0, FEET - 1);
    ret->trips_one = between(0, 1);
    ret->ledger = between(0, 1);
    for (int i = 0; i < LIST_ALL; i++) {
        ret->lists[i].sort = between(0, tui_lists_sorts(i) - 1);
        ret->lists[i].invert = between(0, 1);
        put_filter(ret->lists[i].filter);
    }
    if (between(0, 1))
        strcpy(ret->settings.columns[DB_LIST_ORDERS], "state order");
}

static bool same(const struct saved_view *a, const struct saved_view *b)
{
    char text[2][256];
    size_t n;
    const struct config_key *rows = tui_saved_view_rows(&n);
    bool good = true;

    for (size_t i = 0; i < n; i++) {
        config_key_text(&rows[i], a, text[0], sizeof(text[0]));
        config_key_text(&rows[i], b, text[1], sizeof(text[1]));
        if (strcmp(text[0], text[1]) != 0)
            fprintf(stderr, "%s: \"%s\" and \"%s\"\n", rows[i].name, text[0], text[1]);
        good &= strcmp(text[0], text[1]) == 0;
    }
    for (int i = 0; i < LIST_ALL; i++) /* without what they are written as */
        good &= strcmp(a->lists[i].filter, b->lists[i].filter) == 0 &&
                strcmp(a->lists[i].columns, b->lists[i].columns) == 0;
    return good;
}

static void check_random(void)
{
    char words[KEPT_FILE_WORDS_MAX], gone[SAVED_VIEW_GONE_MAX];
    struct saved_view saved, read, again;
    static struct view from, to;

    for (int turn = 0; turn < TURNS; turn++) {
        choose(&from);
        tui_saved_view_take(&from, &saved);
        CHECK_INT(tui_saved_view_write("random", &saved, words), 0);
        CHECK_INT(tui_saved_view_read("random", &read, words), 0);
        CHECK_STR(words, "");
        CHECK(same(&saved, &read));
        choose(&to);
        tui_saved_view_show(&read, &to, model, gone);
        CHECK_STR(gone, "");
        tui_saved_view_take(&to, &again);
        CHECK(same(&saved, &again));
        tui_view_finish(&from);
        tui_view_finish(&to);
    }
    CHECK_INT(tui_saved_view_remove("random", words), 0);
}

static void check_names(void)
{
    static const char *const wrong[] = {
        "", "-a", ".a", "a/b", "../a", "a b", "\xc3\xa9", "a\n", "abcdefghijabcdefghijabcdefghijkl"};
    static const char *const right[] = {"a", "9", "main-5m_x.2", "abcdefghijabcdefghijabcdefghijk"};

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        CHECK(tui_saved_view_wrong(wrong[i]) != NULL);
    for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++)
        CHECK(tui_saved_view_wrong(right[i]) == NULL);
}

static void put(const char *name, const char *text)
{
    char path[PATH_MAX];

    CHECK(tui_saved_view_path(name, path) && folder_make_above(path, 0700) == 0);
    FILE *file = fopen(path, "w");
    CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static void check_wrong(void)
{
    char words[KEPT_FILE_WORDS_MAX];
    struct saved_view saved;

    put("hand", "[view]\ntab = markt\nbars = 4000\nfont = big\nscale = log\nlog_filter = stop\n");
    CHECK_INT(tui_saved_view_read("hand", &saved, words), -EINVAL);
    CHECK(strstr(words, ":2: [view] tab: ") && strstr(words, "market") &&
          strstr(words, ":3: [view] bars: ") && strstr(words, ":4: [view] font: unknown key"));
    CHECK_INT(saved.tab, TAB_OVERVIEW);
    CHECK(saved.log && strcmp(saved.lists[DB_LIST_LOG].filter, "stop") == 0); /* what is right is taken */
    static const char broken[] =
        "[view]\ntab = markt\nbars = 4000\nfont = big\nscale = log\nlog_filter = stop\n";
    CHECK_INT(tui_saved_view_write("hand", &saved, words),
              -EEXIST); /* what was written by hand is not lost */
    CHECK(strstr(words, "not saved, hand is as it was: ") && strstr(words, ":2: [view] tab: ") &&
          strstr(words, "market") && strstr(words, ":4: "));
    char path[PATH_MAX], *text = NULL;
    size_t size;
    CHECK(tui_saved_view_path("hand", path) && whole_file_read(path, sizeof(broken), &text, &size) == 0);
    CHECK_STR(text ? text : "", broken);
    free(text);
    tui_view_init(&view, false, 1000);
    CHECK_INT(line("view save hand"), ACTION_VIEW_SAVE);
    CHECK(view.outcome == OUTCOME_REFUSED && strstr(view.words, "market"));
    tui_view_finish(&view);
    CHECK_INT(tui_saved_view_read("hnad", &saved, words), -ENOENT);
    CHECK(strstr(words, "no view is saved as hnad") && strstr(words, "hand"));

    put("gone", "[view]\ntab = market\nzoomed = ledger\nsymbol = DOGEUSDT\norders_sort = pirce\n"
                "fills_columns = time coulour\nscale = log\n");
    tui_view_init(&view, false, 1000);
    CHECK_INT(tui_saved_view_keys_open(&view, model, "gone", words), 0);
    CHECK_STR(words, "gone: symbol DOGEUSDT, column pirce of orders, column coulour of fills, panel ledger");
    CHECK(view.tab == TAB_MARKET && view.chart.log && view.zoomed == PANEL_NONE && view.symbol[0] == '\0');
    CHECK_STR(view.settings.columns[DB_LIST_FILLS], "auto");
    put("gone", "[view]\ntab = market\nsymbol = BTCUSDT\ntimeframe = 7m\n");
    CHECK_INT(tui_saved_view_keys_open(&view, model, "gone", words), 0);
    CHECK_STR(words, "gone: timeframe 7m");
    CHECK_STR(view.symbol, "BTCUSDT");
    CHECK_INT(tui_saved_view_remove("gone", words), 0);
    CHECK_INT(tui_saved_view_remove("hand", words), 0);
    CHECK_INT(tui_saved_view_remove("hand", words), -ENOENT);
    CHECK(strstr(words, "no view is saved"));
    tui_view_finish(&view);
}

/* A disk that takes nothing: the view is as it was, and nothing is left beside it. */
static void check_whole(void)
{
    struct rlimit before, none;
    char words[KEPT_FILE_WORDS_MAX];
    struct saved_view saved, read;
    struct saved_views views;

    tui_saved_view_defaults(&saved);
    saved.tab = TAB_MARKET;
    CHECK_INT(tui_saved_view_write("kept", &saved, words), 0);
    saved.tab = TAB_LOG;
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    none = (struct rlimit){0, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &none);
    int r = tui_saved_view_write("kept", &saved, words), new = tui_saved_view_write("new", &saved, words);
    setrlimit(RLIMIT_FSIZE, &before);
    CHECK_INT(r, -EFBIG);
    CHECK_INT(new, -EFBIG);
    CHECK(strstr(words, "not saved: ") && strstr(words, "too large"));
    CHECK_INT(tui_saved_view_read("kept", &read, words), 0);
    CHECK_INT(read.tab, TAB_MARKET);
    tui_saved_view_list(&views);
    CHECK_INT(views.n, 1);
    CHECK_INT(tui_saved_view_remove("kept", words), 0);
    char path[PATH_MAX];
    CHECK(tui_saved_view_path("", path) && rmdir(path) == 0); /* it is empty */
}

static void check_many(void)
{
    char name[SAVED_VIEW_NAME_MAX], words[KEPT_FILE_WORDS_MAX];
    struct saved_view saved;
    struct saved_views views;

    tui_saved_view_defaults(&saved);
    for (int i = 0; i < SAVED_VIEWS_MAX; i++) {
        snprintf(name, sizeof(name), "v%d", i * 37 % SAVED_VIEWS_MAX);
        CHECK_INT(tui_saved_view_write(name, &saved, words), 0);
    }
    CHECK_INT(tui_saved_view_write("more", &saved, words), -ENOSPC);
    CHECK(strstr(words, "remove one"));
    CHECK_INT(tui_saved_view_write("v3", &saved, words), 0);
    CHECK(strstr(words, "again"));
    put("a-by-hand", "[view]\n");
    put("not/ini", "");
    tui_saved_view_list(&views);
    CHECK_INT(views.n, SAVED_VIEWS_MAX);
    CHECK_STR(views.names[0], "a-by-hand");
    for (int i = 1; i < views.n; i++)
        CHECK(strcmp(views.names[i - 1], views.names[i]) < 0);
    char path[PATH_MAX];
    CHECK(tui_saved_view_path("", path) && folder_remove(path) == 0);
}

/* Opens the line and types; the text after that many Tabs. */
static const char *completed(const char *text, int tabs)
{
    press(':');
    for (; *text; text++)
        press(*text);
    for (int i = 0; i < tabs; i++)
        press(TABULATOR);
    view.prompt = PROMPT_NONE;
    return view.line->edit.text;
}

static void check_keys(const char *golden)
{
    tui_view_init(&view, true, 1000);
    press('V');
    CHECK_INT(view.choosing, CHOOSING_VIEWS);
    press(PRESS_ENTER); /* there is none */
    press('1');
    press('s');
    CHECK(view.prompt == PROMPT_COMMAND && strcmp(view.line->edit.text, "view save ") == 0);
    press('a');
    CHECK_INT(press(PRESS_ENTER), ACTION_VIEW_SAVE);
    CHECK(view.outcome == OUTCOME_NOTE && strstr(view.words, "a saved; V lists them"));
    press('4');
    press('L');
    press('u');
    CHECK_INT(line("view save market-log"), ACTION_VIEW_SAVE);
    press('6');
    view.focus = PANEL_ORDERS;
    press('o');
    press('I');
    press('z');
    CHECK_INT(line("view save orders"), ACTION_VIEW_SAVE);
    press('1');
    CHECK_INT(line("  view   market-log "), ACTION_VIEW_OPEN);
    CHECK(view.tab == TAB_MARKET && view.chart.log && view.equity_span == SPAN_WEEK && !view.zoomed);
    CHECK_INT(view.outcome, OUTCOME_DONE);
    press('V');
    press('3');
    CHECK(view.tab == TAB_ORDERS && view.zoomed == PANEL_ORDERS && view.lists[DB_LIST_ORDERS].invert);
    CHECK_INT(view.lists[DB_LIST_ORDERS].sort, 1);
    CHECK(!view.choosing);
    press('V');
    press(PRESS_PAGE_DOWN);
    CHECK_INT(view.choosing_row, 2);
    press(PRESS_PAGE_UP);
    press('j');
    press('j');
    CHECK(picture_matches(golden, "views-80x24", model, &view, now, 80, 24, GLYPHS_BRAILLE));
    press('k');
    press(PRESS_ENTER);
    CHECK_INT(view.tab, TAB_MARKET);

    CHECK_STR(completed("vie", 1), "view ");
    CHECK_STR(completed("view m", 1), "view market-log ");
    CHECK_STR(completed("view save o", 1), "view save orders ");
    CHECK_STR(completed("view remove ma", 1), "view remove market-log ");
    CHECK_STR(completed("view sa", 1), "view save ");
    CHECK_STR(completed("view ", 2), "view a");
    CHECK_INT(view.line->n_offers, 5); /* three of them, save and remove */
    CHECK_STR(completed("view x ", 1), "view x ");

    CHECK_INT(line("view nothing"), ACTION_VIEW_OPEN);
    CHECK(view.outcome == OUTCOME_REFUSED && strstr(view.words, "no view is saved as nothing"));
    CHECK_INT(view.tab, TAB_MARKET); /* it stays */
    CHECK_INT(line("view save"), ACTION_NONE);
    CHECK(view.outcome == OUTCOME_REFUSED && strstr(view.words, "view save NAME"));
    CHECK_INT(line("view save a b"), ACTION_NONE);
    CHECK_INT(line("view save ../a"), ACTION_NONE);
    CHECK(view.outcome == OUTCOME_REFUSED && strstr(view.words, "begins with a letter"));
    CHECK_INT(line("view"), ACTION_VIEWS);
    CHECK_INT(view.choosing, CHOOSING_VIEWS);
    press('d');
    CHECK_STR(view.line->edit.text, "view remove market-log");
    CHECK_INT(press(PRESS_ENTER), ACTION_VIEW_REMOVE);
    CHECK(view.outcome == OUTCOME_NOTE && strstr(view.words, "market-log removed"));
    CHECK_INT(view.saved.n, 2);
    CHECK_INT(line("view market-log"), ACTION_VIEW_OPEN);
    CHECK_INT(view.outcome, OUTCOME_REFUSED);
    tui_view_finish(&view);
}

/* ---- a training, a study, the page of a row ---- */

/* Saves the view under a name and opens it on another screen: what is said of it. */
static const char *kept(struct view *from)
{
    static char words[KEPT_FILE_WORDS_MAX];
    struct saved_view saved;

    tui_saved_view_take(from, &saved);
    tui_view_finish(from);
    CHECK_INT(tui_saved_view_write("page", &saved, words), 0);
    tui_view_init(&view, false, 1000);
    CHECK_INT(tui_saved_view_keys_open(&view, model, "page", words), 0);
    return words;
}

static void check_training(void)
{
    static struct view from;

    CHECK_INT(fixture_take(model, fixture_trainings, now), 0);
    CHECK(model->status.n_trainings > 1);
    tui_view_init(&from, false, 1000);
    from.tab = TAB_STUDY;
    from.focus = PANEL_TRAINING;
    from.detail = true;
    snprintf(from.training, sizeof(from.training), "%s", tui_model_training(model, 1)->training);
    struct view gone = from;
    CHECK_STR(kept(&from), "");
    CHECK(view.tab == TAB_STUDY && view.detail && view.focus == PANEL_TRAINING);
    CHECK_STR(view.training, tui_model_training(model, 1)->training);
    tui_view_finish(&view);
    from = gone;
    from.detail = false; /* chosen in the list */
    CHECK_STR(kept(&from), "");
    CHECK(!view.detail && tui_view_training(&view, model) == tui_model_training(model, 1));
    tui_view_finish(&view);
    strcpy(gone.training, "not-there");
    CHECK_STR(kept(&gone), "gone: training not-there");
    CHECK(view.tab == TAB_STUDY && !view.detail && view.training[0] == '\0');
    tui_view_finish(&view);
}

static void check_study(void)
{
    static const enum study_direction direction = STUDY_MAXIMIZE;
    static const char *const names[] = {"ppo-btc", " a study; of \\ \"others\" "};
    struct study *studies[2];
    static struct view from;

    fixture_studies_begin();
    for (int i = 0; i < 2; i++)
        studies[i] = fixture_study(names[i], i + 1, 1, &direction);
    model->studies = tui_studies_make(studies, 2, fixture_now_ns / 1000);
    CHECK(model->studies && model->studies->n == 2);
    for (int i = 0; i < 4; i++) {
        const struct tui_study *study = tui_studies_find(model->studies, names[i % 2]);
        tui_view_init(&from, false, 1000);
        CHECK(study && tui_view_open_study(&from, model, names[i % 2]));
        from.study_view = i < 2 ? STUDY_PAGE : STUDY_VALIDATION;
        CHECK_STR(kept(&from), "");
        CHECK(view.tab == TAB_STUDY && view.study_view == (i < 2 ? STUDY_PAGE : STUDY_VALIDATION));
        CHECK(tui_view_study(&view, model) == study);
        tui_view_finish(&view);
    }
    tui_view_init(&from, false, 1000);
    CHECK(tui_view_open_study(&from, model, names[0]));
    tui_studies_destroy(model->studies);
    model->studies = tui_studies_make(studies + 1, 1, fixture_now_ns / 1000);
    CHECK_STR(kept(&from), "gone: study ppo-btc");
    CHECK(view.tab == TAB_STUDY && view.study_view == STUDY_LISTED && view.study[0] == '\0');
    tui_view_finish(&view);
}

static void check_row(void)
{
    static const struct item items[] = {
        {.kind = ITEM_ORDER, .id = 7},
        {.kind = ITEM_FILL, .id = 6},
        {.kind = ITEM_ACCOUNT, .name = "main"},
        {.kind = ITEM_SYMBOL, .name = "ETHUSDT"},
        {.kind = ITEM_POSITION, .name = "BTCUSDT", .account = "main"},
    };
    static const struct {
        struct item item;
        const char *words;
    } gone[] = {
        {{.kind = ITEM_ACCOUNT, .name = "swung"}, "gone: account swung"},
        {{.kind = ITEM_SYMBOL, .name = "DOGEUSDT"}, "gone: symbol DOGEUSDT"},
        {{.kind = ITEM_POSITION, .name = "BTCUSDT", .account = "swung"}, "gone: position BTCUSDT of swung"},
    };
    static struct view from;
    char words[KEPT_FILE_WORDS_MAX];

    for (size_t i = 0; i < sizeof(items) / sizeof(items[0]); i++) {
        tui_view_init(&from, false, 1000);
        from.tab = TAB_LOG; /* from which it was opened */
        from.item_from = PANEL_LOG;
        from.focus = PANEL_ITEM;
        from.item = items[i];
        CHECK_STR(kept(&from), "");
        CHECK(tui_item_equal(&view.item, &items[i]) && view.tab == TAB_LOG && view.focus == PANEL_ITEM);
        press(PRESS_ESCAPE); /* it leads where it led */
        CHECK(view.item.kind == ITEM_NONE && view.tab == TAB_LOG && view.focus == PANEL_LOG);
        tui_view_finish(&view);
    }
    for (size_t i = 0; i < sizeof(gone) / sizeof(gone[0]); i++) {
        tui_view_init(&from, false, 1000);
        from.tab = TAB_POSITIONS;
        from.item_from = PANEL_POSITIONS;
        from.item = gone[i].item;
        CHECK_STR(kept(&from), gone[i].words);
        CHECK(view.item.kind == ITEM_NONE && view.tab == TAB_POSITIONS);
        tui_view_finish(&view);
    }
    put("page", "[view]\nrow = ordr:7\npage = studie\n");
    tui_view_init(&view, false, 1000);
    CHECK_INT(tui_saved_view_keys_open(&view, model, "page", words), 0);
    CHECK(strstr(words, ":2: [view] row: order:N, ") && strstr(words, ":3: [view] page: "));
    CHECK_INT(view.item.kind, ITEM_NONE);
    tui_view_finish(&view);
    CHECK_INT(tui_saved_view_remove("page", words), 0);
}

int main(int argc, char **argv)
{
    const char *path = scratch_path("papertape.db");
    struct history_reader *reader;

    if (argc != 2 || !setlocale(LC_CTYPE, "C.UTF-8"))
        return argc != 2 ? EXIT_FAILURE : CHECK_SKIP;
    setenv("XDG_CONFIG_HOME", scratch_root(), 1);
    CHECK_INT(fixture_database(path), 0);
    model = picture_model(path, "{}", now, &reader);
    if (!model)
        return EXIT_FAILURE;
    random_state = random_seeded("tui/saved_view", 1);
    check_names();
    check_random();
    check_wrong();
    check_whole();
    check_many();
    check_keys(argv[1]);
    check_row();
    check_training();
    check_study();
    tui_history_close(reader);
    tui_model_destroy(model);
    return check_done("tui/saved_view");
}
