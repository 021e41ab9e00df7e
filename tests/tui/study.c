/* Golden screens of trainings and policies: the lists, a training's page, the overview, the devices; stale,
 * gone, empty, small, without colours' help and without braille; and every size with hostile names. */
#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <unistd.h>

#include "fixtures/dashboard.h"
#include "tests/check.h"
#include "tests/scratch.h"
#include "tests/tui/picture.h"
#include "tui/history.h"
#include "tui/keys.h"

static const char *golden;
static struct model *model;
static struct moment now = {1723161255342000000, 1000000};
static struct view view;

static void check_screen(const char *name, int width, int height, enum glyphs glyphs)
{
    CHECK(picture_matches(golden, name, model, &view, now, width, height, glyphs));
}

static bool shows(const char *words)
{
    char *text = picture_draw(model, &view, now, 80, 24, GLYPHS_BRAILLE);
    bool found = text && strstr(text, words);

    free(text);
    return found;
}

static void take(const char *more)
{
    CHECK_INT(fixture_take(model, more, now), 0);
}

/* What the collector would read for what is looked at. */
static void read_wanted(const char *path)
{
    struct history_want want = {.symbol = ""};
    struct history_reader *reader;
    char words[256];

    snprintf(want.training, sizeof(want.training), "%s", tui_view_wanted_training(&view, model));
    CHECK_INT(tui_history_open(path, &reader, words, sizeof(words)), 0);
    CHECK_INT(tui_history_read(reader, fixture_now_ns, &want, &model->history, words, sizeof(words)), 0);
    tui_history_close(reader);
    model->have_history = true;
}

static void choose(const char *training)
{
    snprintf(view.training, sizeof(view.training), "%s", training);
}

static void check_lists(const char *path)
{
    tui_view_init(&view, false, 1000);
    view.tab = TAB_STUDY;
    choose("ppo-world-wide-5m_2");
    read_wanted(path);
    check_screen("trainings-80x24", 80, 24, GLYPHS_BRAILLE);
    check_screen("trainings-ascii-80x24", 80, 24, GLYPHS_ASCII);
    check_screen("trainings-40x10", 40, 10, GLYPHS_BRAILLE);
    check_screen("trainings-120x40", 120, 40, GLYPHS_BRAILLE);
    check_screen("trainings-200x60", 200, 60, GLYPHS_BRAILLE);
    view.focus = PANEL_POLICIES;
    snprintf(view.policy, sizeof(view.policy), "other");
    check_screen("policies-80x24", 80, 24, GLYPHS_BRAILLE);
    view.zoomed = PANEL_POLICIES;
    check_screen("policies-zoomed-120x40", 120, 40, GLYPHS_BRAILLE);
}

static void check_page(const char *path)
{
    json_t *lines = json_pack("[sss]", "loaded 525600 bars of BTCUSDT", "warning: \033]0;x\a of a worker",
                              "checkpoint ppo-world-wide-5m_2-3000000.ckpt");

    tui_view_init(&view, false, 1000);
    view.tab = TAB_STUDY;
    choose("ppo-world-wide-5m_2");
    CHECK_INT(tui_keys_press(&view, model, 80, 24, now, PRESS_ENTER), ACTION_COLLECT);
    CHECK(view.detail);
    tui_model_take_log(model, "ppo-world-wide-5m_2", lines, NULL, now);
    read_wanted(path);
    check_screen("training-80x24", 80, 24, GLYPHS_BRAILLE);
    check_screen("training-block-80x24", 80, 24, GLYPHS_BLOCK);
    check_screen("training-ascii-80x24", 80, 24, GLYPHS_ASCII);
    check_screen("training-120x40", 120, 40, GLYPHS_BRAILLE);
    check_screen("training-200x60", 200, 60, GLYPHS_BRAILLE);
    check_screen("training-40x10", 40, 10, GLYPHS_BRAILLE);
    view.curve = FIGURE_KL;
    view.zoomed = PANEL_CURVE;
    check_screen("curve-kl-80x24", 80, 24, GLYPHS_BRAILLE);
    view.curve = FIGURE_RETURN;
    check_screen("curve-return-80x24", 80, 24, GLYPHS_BRAILLE);
    view.zoomed = PANEL_TIMELINE;
    check_screen("timeline-80x24", 80, 24, GLYPHS_BRAILLE);
    check_screen("timeline-ascii-80x24", 80, 24, GLYPHS_ASCII);
    view.zoomed = PANEL_NONE;
    choose("ppo-world-wide-5m_1"); /* not read yet: nothing of the other is shown as its own */
    CHECK(!shows("rollout") && !shows("checkpoint ppo") && shows("memory_budget"));
    check_screen("training-unread-80x24", 80, 24, GLYPHS_BRAILLE);
    choose("lost");
    check_screen("training-gone-80x24", 80, 24, GLYPHS_BRAILLE);
    choose("absent");
    CHECK(shows("no such training "));
    tui_model_take_log(model, "absent", NULL, "ENOENT: no training is called absent", now);
    CHECK(shows("ENOENT: no training is called absent"));
    json_decref(lines);
}

/* Figures of three intervals ago are dimmed and called STALE; of ten, they are gone. */
static void check_ages(void)
{
    const struct status_training *running = NULL;

    tui_view_init(&view, false, 1000);
    view.tab = TAB_STUDY;
    for (int i = 0; i < model->status.n_trainings; i++)
        if (strcmp(tui_model_training(model, i)->training, "ppo-world-wide-5m_2") == 0)
            running = tui_model_training(model, i);
    CHECK(running != NULL);
    CHECK_INT(tui_model_training_freshness(model, running, now), FRESH);
    CHECK(shows("845k") && shows("+1.3100"));
    now.mono_ms += 3100; /* the daemon is as old */
    CHECK_INT(tui_model_training_freshness(model, running, now), STALE);
    now.mono_ms += 8000;
    CHECK_INT(tui_model_training_freshness(model, running, now), GONE);
    CHECK(!shows("845k") && !shows("1.3100") && !shows("51k"));
    check_screen("trainings-gone-80x24", 80, 24, GLYPHS_BRAILLE);
    now.mono_ms -= 11100;
    take("{\"trainer\":{\"state\":\"silent\",\"detail\":\"no answer for 12 "
         "s\",\"age_ms\":12000},\"trainings\":[]}");
    CHECK(shows("trainer silent 12s  no answer for 12 s"));
    check_screen("trainer-silent-80x24", 80, 24, GLYPHS_BRAILLE);
    check_screen("trainer-silent-120x40", 120, 40, GLYPHS_BRAILLE);
    take("{\"trainer\":null,\"trainings\":null,\"policies\":7,\"champion\":[]}");
    CHECK(shows("no trainings: s starts one"));
    take(fixture_trainings);
}

static void check_elsewhere(void)
{
    tui_view_init(&view, false, 1000);
    check_screen("overview-trainings-80x24", 80, 24, GLYPHS_BRAILLE);
    check_screen("overview-trainings-120x40", 120, 40, GLYPHS_BRAILLE);
    check_screen("overview-trainings-200x60", 200, 60, GLYPHS_BRAILLE);
    view.tab = TAB_GPU;
    check_screen("gpu-trainings-80x24", 80, 24, GLYPHS_BRAILLE);
}

/* The chosen one stays chosen, by its name, when others come and go. */
static void check_choice(void)
{
    tui_view_init(&view, false, 1000);
    view.tab = TAB_STUDY;
    CHECK_STR(tui_view_training(&view, model)->training, "default"); /* the newest is the first */
    tui_keys_press(&view, model, 80, 24, now, 'j');
    tui_keys_press(&view, model, 80, 24, now, 'j');
    CHECK_STR(tui_view_training(&view, model)->training, "again");
    struct status_training first = model->status.trainings[0];
    memmove(model->status.trainings, model->status.trainings + 1, 6 * sizeof(first));
    model->status.n_trainings = 6;
    CHECK_STR(tui_view_training(&view, model)->training, "again");
    memmove(model->status.trainings + 1, model->status.trainings, 6 * sizeof(first));
    model->status.trainings[0] = first;
    model->status.n_trainings = 7;
    CHECK_STR(tui_view_training(&view, model)->training, "again");
    tui_keys_press(&view, model, 80, 24, now, PRESS_ENTER);
    CHECK(view.detail && view.tab == TAB_STUDY);
    CHECK_STR(tui_view_wanted_training(&view, model), "again");
    tui_keys_press(&view, model, 80, 24, now, 'z');
    CHECK_INT(view.zoomed, PANEL_TRAINING);
    tui_keys_press(&view, model, 80, 24, now, PRESS_ESCAPE);
    CHECK(view.detail && view.zoomed == PANEL_NONE);
    CHECK_INT(tui_keys_press(&view, model, 80, 24, now, PRESS_ESCAPE), ACTION_COLLECT);
    CHECK(!view.detail);
    CHECK_STR(tui_view_training(&view, model)->training, "again");
    tui_keys_press(&view, model, 80, 24, now, 'i');
    CHECK_INT(view.curve, FIGURE_VALUE_LOSS);
    tui_keys_press(&view, model, 80, 24, now, PRESS_ENTER);
    tui_keys_press(&view, model, 80, 24, now, '1');
    CHECK(!view.detail);
    CHECK_STR(tui_view_wanted_training(&view, model), "");
    view.focus = PANEL_TRAININGS; /* on the overview */
    tui_keys_press(&view, model, 80, 24, now, 'j');
    tui_keys_press(&view, model, 80, 24, now, PRESS_ENTER);
    CHECK(view.detail && view.tab == TAB_STUDY);
    CHECK_STR(tui_view_wanted_training(&view, model), "lost");
}

/* Up is back in time, no further than the first line; a new one has the newest at the bottom. */
static void check_log(void)
{
    json_t *lines = json_array();

    for (int i = 0; i < 50; i++)
        json_array_append_new(lines, json_sprintf("line %d.", i));
    tui_view_init(&view, false, 1000);
    view.tab = TAB_STUDY;
    choose("ppo-world-wide-5m_2");
    tui_keys_press(&view, model, 80, 24, now, PRESS_ENTER);
    tui_model_take_log(model, "ppo-world-wide-5m_2", lines, NULL, now);
    view.focus = PANEL_TRAINING_LOG;
    tui_keys_press(&view, model, 80, 24, now, 'z');
    CHECK(shows("line 49.") && shows("line 30.") && !shows("line 29."));
    tui_keys_press(&view, model, 80, 24, now, PRESS_UP);
    CHECK(!shows("line 49.") && shows("line 48.") && shows("line 29."));
    for (int i = 0; i < 9; i++)
        tui_keys_press(&view, model, 80, 24, now, PRESS_PAGE_UP);
    CHECK(shows("line 0.") && shows("line 19.") && !shows("line 20."));
    tui_keys_press(&view, model, 80, 24, now, 'j');
    CHECK(!shows("line 0.") && shows("line 20."));
    tui_keys_press(&view, model, 80, 24, now, 'G');
    CHECK(shows("line 49."));
    tui_keys_press(&view, model, 80, 24, now, 'g');
    tui_keys_press(&view, model, 80, 24, now, 'g');
    CHECK(shows("line 0."));
    now.mono_ms += 3 * MODEL_LOG_EXPECTED_MS + 1;
    CHECK(shows("STALE 6s"));
    now.mono_ms -= 3 * MODEL_LOG_EXPECTED_MS + 1;
    json_decref(lines);
}

static void check_every_size(void)
{
    static const int sides[] = {1, 9, 10, 11, 17, 24, 39, 40, 41, 59, 60, 61, 80, 121, 200, 301};
    enum { SIDES = sizeof(sides) / sizeof(sides[0]) };

    for (int i = 0; i < 2 * SIDES * SIDES; i++) {
        int width = sides[i / 2 % SIDES], height = sides[i / 2 / SIDES];
        tui_view_init(&view, false, 1000);
        view.tab = TAB_STUDY;
        view.detail = i % 2;
        choose("ppo-world-wide-5m_2");
        char *text = picture_draw(model, &view, now, width, height, GLYPHS_BRAILLE);
        CHECK(text && picture_safe("every size", text, width, height));
        free(text);
    }
}

int main(int argc, char **argv)
{
    const char *path = scratch_path("papertape.db");

    if (argc != 2 || !setlocale(LC_CTYPE, "C.UTF-8"))
        return argc != 2 ? EXIT_FAILURE : CHECK_SKIP;
    golden = argv[1];
    CHECK_INT(fixture_database(path), 0);
    model = tui_model_create(1000);
    take(fixture_trainings);
    check_lists(path);
    check_page(path);
    check_ages();
    check_elsewhere();
    check_choice();
    check_log();
    tui_view_init(&view, false, 1000);
    view.tab = TAB_STUDY;
    choose("ppo-world-wide-5m_2");
    read_wanted(path);
    check_every_size();
    tui_model_destroy(model);

    return check_done("tui/study");
}
