/* Which indicators the chart shows: every choice of them by text and by keys, and what is drawn of it. */
#include "tui/overlay.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixtures/dashboard.h"
#include "tests/check.h"
#include "tests/random.h"
#include "tests/scratch.h"
#include "tests/tui/picture.h"
#include "tui/choices.h"

enum { NAMES = 12, STEPS = 4000 };

static struct model *model;
static struct view view;
static const struct moment now = {1723161255342000000, 1000000};

/* Indicators hidden and shown at random, against a plain array: one whose name begins with another's too. */
static void check_toggle(void)
{
    static const char *const names[NAMES] = {"sma_2",       "sma_20",       "sma_200", "ema_20",
                                             "bbands_20_2", "macd_12_26_9", "rsi_14",  "supertrend_7",
                                             "none_1",      "stoch_14_3",   "atr_14",  "a"};
    static const char *const points[] = {"", ".upper", ".signal"};
    struct random random = random_seeded("tui/overlay", 1);
    char hides[OVERLAY_HIDES_MAX] = OVERLAY_HIDES_NONE, name[64];
    bool plain[NAMES] = {0};

    for (int step = 0; step < STEPS; step++) {
        int at = (int)random_between(&random, 0, NAMES - 1), left = 0;
        snprintf(name, sizeof(name), "%s%s", names[at], points[random_between(&random, 0, 2)]);
        CHECK(tui_overlay_toggle(hides, name));
        plain[at] = !plain[at];
        for (int i = 0; i < NAMES; i++) {
            left += plain[i];
            snprintf(name, sizeof(name), "%s%s", names[i], points[random_between(&random, 0, 2)]);
            CHECK_INT(tui_overlay_is_hidden(hides, name), plain[i]);
        }
        CHECK_INT(strcmp(hides, OVERLAY_HIDES_NONE) == 0, left == 0);
        CHECK(!strstr(hides, "  ") && hides[0] != ' ' && hides[strlen(hides) - 1] != ' ');
    }
    for (int i = 0; i < 100; i++) { /* no room: it stays */
        char before[OVERLAY_HIDES_MAX];
        memcpy(before, hides, sizeof(before));
        snprintf(name, sizeof(name), "indicator_%d", i);
        if (!tui_overlay_toggle(hides, name))
            CHECK_STR(hides, before);
        CHECK(strlen(hides) < OVERLAY_HIDES_MAX);
    }
}

static enum action press(int key)
{
    return tui_keys_press(&view, model, 120, 40, now, key);
}

static char *drawn(void)
{
    return picture_draw(model, &view, now, 120, 40, GLYPHS_BRAILLE);
}

/* The fixture's are over the prices (an average, its bands) and below them (RSI, MACD). */
static void check_keys(const char *golden)
{
    tui_view_init(&view, true, 1000);
    press('4');
    char *all = drawn();
    CHECK(all && strstr(all, "bbands_20_2") && strstr(all, "rsi_14"));
    press('C');
    CHECK_INT(view.choosing, CHOOSING_INDICATORS);
    struct choices choices;
    tui_choices(&view, model, &choices);
    CHECK_INT(choices.n, 4); /* one row an indicator, whatever its outputs */
    for (int i = 0; i < choices.n; i++) {
        CHECK(choices.rows[i].shown);
        CHECK_INT(view.choosing_row, i);
        press(strstr(choices.rows[i].name, "sma") ? 'j' : ' ');
        if (!strstr(choices.rows[i].name, "sma"))
            press(PRESS_DOWN);
    }
    CHECK(strcmp(view.settings.hides, view.settings_kept.hides) != 0);
    CHECK(picture_matches(golden, "indicators-80x24", model, &view, now, 80, 24, GLYPHS_BRAILLE));
    CHECK_INT(press('s'), ACTION_SETTINGS_SAVE);
    press(PRESS_ESCAPE);
    CHECK_INT(view.choosing, CHOOSING_NOTHING);
    char *one = drawn();
    CHECK(one && strstr(one, "sma_20") && !strstr(one, "bbands") && !strstr(one, "macd_"));
    press('i'); /* below is none that is shown */
    CHECK_INT(view.below, 0);
    press('C');
    press('a');
    CHECK_STR(view.settings.hides, OVERLAY_HIDES_NONE);
    press('q');
    char *again = drawn();
    CHECK(again && all && strcmp(all, again) == 0);
    free(all);
    free(one);
    free(again);
    int n_outputs = model->history.n_outputs;
    press('C');
    press(PRESS_END);
    model->history.n_outputs = 1; /* another timeframe's, with fewer */
    press(' ');
    CHECK(tui_overlay_is_hidden(view.settings.hides, model->history.output_names[0]));
    press('C');
    model->history.n_outputs = 0;
    press('C');
    CHECK_INT(view.choosing, CHOOSING_NOTHING);
    CHECK_INT(view.outcome, OUTCOME_NOTE);
    model->history.n_outputs = n_outputs;
    tui_view_finish(&view);
}

int main(int argc, char **argv)
{
    const char *path = scratch_path("papertape.db");
    struct history_reader *reader;

    if (argc != 2 || !setlocale(LC_CTYPE, "C.UTF-8"))
        return argc != 2 ? EXIT_FAILURE : CHECK_SKIP;
    CHECK_INT(fixture_database(path), 0);
    model = picture_model(path, "{}", now, &reader);
    if (!model)
        return EXIT_FAILURE;
    check_toggle();
    check_keys(argv[1]);
    tui_history_close(reader);
    tui_model_destroy(model);
    return check_done("tui/overlay");
}
