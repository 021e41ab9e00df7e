/* Learning curves side by side: which are marked against a plain list, smoothing against the sum that defines
 * it, values between points, and the screens. */
#include "tui/compare.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixtures/dashboard.h"
#include "tests/check.h"
#include "tests/random.h"
#include "tests/tui/picture.h"
#include "tui/keys.h"

enum { NAMES = 9, STEPS = 20000, VALUES = 300 };

static struct random random_;
static struct model *model;
static struct view view;
static const struct moment now = {1723161255342000000, 1000000};

/* Marks and baselines at random: the marked in the order in which they were, the baseline one of them. */
static void check_marks(void)
{
    struct compare compare = {.n = 0};
    char plain[NAMES + 1] = "", name[2] = "";
    char base = 0;

    for (int step = 0; step < STEPS; step++) {
        name[0] = (char)('a' + random_between(&random_, 0, NAMES - 1));
        char *at = strchr(plain, name[0]);
        bool makes_base = random_chance(&random_, 30), full = !at && strlen(plain) == COMPARE_MAX;
        CHECK_INT(makes_base ? tui_compare_base(&compare, name) : tui_compare_toggle(&compare, name), !full);
        if (!full && !at)
            strcat(plain, name);
        else if (at && !makes_base)
            memmove(at, at + 1, strlen(at));
        if (makes_base && !full)
            base = name[0];
        if (!base || !strchr(plain, base))
            base = plain[0];
        CHECK_INT(compare.n, (int)strlen(plain));
        for (int i = 0; i < compare.n; i++)
            CHECK(compare.marked[i][0] == plain[i] && !compare.marked[i][1]);
        for (int i = compare.n; i < COMPARE_MAX; i++)
            CHECK(!compare.marked[i][0]); /* what is to be read is their names, to the last */
        CHECK(compare.n == 0 || compare.marked[compare.baseline][0] == base);
    }
}

/* By its definition, whole for each value: sum of (1 - w) w^(k-i) v_i over 1 - w^k. */
static void check_smooth(void)
{
    for (int round = 0; round < 60; round++) {
        double values[VALUES], smoothed[VALUES], weight = tui_compare_weight(round % COMPARE_SMOOTHS);
        int n = (int)random_between(&random_, 0, VALUES);
        for (int i = 0; i < n; i++)
            smoothed[i] = values[i] =
                random_chance(&random_, 10) ? NAN : (double)random_between(&random_, -100000, 100000) / 7;
        tui_compare_smooth(smoothed, n, weight);
        for (int i = 0; i < n; i++) {
            double sum = 0, scale = 0;
            int before = 0;
            for (int k = i; k >= 0; k--)
                if (isfinite(values[k])) {
                    double share = (1 - weight) * pow(weight, before++);
                    sum += share * values[k];
                    scale += share;
                }
            CHECK_INT(isfinite(smoothed[i]), isfinite(values[i]));
            if (isfinite(values[i]))
                CHECK_NEAR(smoothed[i], sum / scale, 1e-6);
        }
    }
}

static void check_between(void)
{
    static const int64_t steps[] = {10, 20, 40, 50, 80};
    static const double values[] = {NAN, 1, 3, NAN, -1};

    for (int64_t at = 0; at <= 100; at++) {
        double want = at < 20 || at > 80 ? NAN
                      : at <= 40         ? 1 + (double)(at - 20) / 10
                                         : 3 - (double)(at - 40) / 10;
        double got = tui_compare_at(steps, values, 5, at);
        CHECK(isnan(want) ? isnan(got) : fabs(got - want) < 1e-12);
    }
    CHECK(isnan(tui_compare_at(steps, values, 1, 10)) && isnan(tui_compare_at(steps, values, 0, 10)));
}

static void make_curve(struct history_points *points, const char *name, int n, int64_t stride, double pace)
{
    snprintf(points->training, sizeof(points->training), "%s", name);
    points->n = n;
    for (int i = 0; i < n; i++) {
        points->steps[i] = (i + 1) * stride;
        for (int f = 0; f < FIGURES; f++)
            points->figures[f][i] = 3 * (1 - exp(-pace * i)) - 1 + (i % 7 == 3 ? 0.15 : 0) + 0.02 * f;
    }
}

static enum action press(int key)
{
    return tui_keys_press(&view, model, 120, 40, now, key);
}

static void check_screens(const char *golden)
{
    struct history *h = &model->history;
    struct history_want want;

    CHECK_INT(fixture_take(model, fixture_trainings, now), 0);
    model->have_history = true;
    tui_view_init(&view, true, 1000);
    view.tab = TAB_STUDY;
    view.focus = PANEL_TRAININGS;
    snprintf(view.training, sizeof(view.training), "ppo-world-wide-5m_1");
    CHECK_INT(press(' '), ACTION_COLLECT);
    snprintf(view.training, sizeof(view.training), "ppo-world-wide-5m_2");
    CHECK_INT(press(' '), ACTION_COLLECT);
    tui_view_want(&view, model, 120, &want);
    CHECK_STR(want.training, "ppo-world-wide-5m_2");
    CHECK_STR(want.compared[0], "ppo-world-wide-5m_1");
    CHECK_STR(want.compared[1], ""); /* it is the chosen one, and read as that */
    make_curve(&h->training.points, "ppo-world-wide-5m_2", 300, 10000, 0.02);
    make_curve(&h->compared[0], "ppo-world-wide-5m_1", 120, 15000, 0.01);
    CHECK(picture_matches(golden, "compare-120x40", model, &view, now, 120, 40, GLYPHS_BRAILLE));
    press('~');
    press('~');
    view.detail = true;
    view.zoomed = PANEL_CURVE;
    view.curve = FIGURE_KL;
    CHECK(picture_matches(golden, "compare-zoomed-80x24", model, &view, now, 80, 24, GLYPHS_BRAILLE));
    CHECK(picture_matches(golden, "compare-ascii-80x24", model, &view, now, 80, 24, GLYPHS_ASCII));
    view.zoomed = PANEL_NONE;
    view.detail = false;
    press('K');
    CHECK_STR(view.compare.marked[view.compare.baseline], "ppo-world-wide-5m_2");
    char *text = picture_draw(model, &view, now, 120, 40, GLYPHS_BLOCK);
    CHECK(text && strstr(text, "=ppo-world-wid~5m_2") && strstr(text, "*ppo-world-wid~5m_1"));
    free(text);
    h->compared[0].n = 0; /* nothing is stored of it */
    text = picture_draw(model, &view, now, 120, 40, GLYPHS_BLOCK);
    CHECK(text && !strstr(text, "Learning curves of") && !strstr(text, "baseline"));
    free(text);
    for (int width = 1; width <= 200; width += 3)
        for (int height = 1; height <= 60; height += 4) {
            h->compared[0].n = 120;
            text = picture_draw(model, &view, now, width, height, (enum glyphs)(width % 3));
            CHECK(text && picture_safe("compare", text, width, height));
            free(text);
        }
    view.focus = PANEL_POLICIES; /* marks are of trainings alone */
    int n = view.compare.n;
    press(' ');
    CHECK_INT(view.compare.n, n);
    tui_view_finish(&view);
}

int main(int argc, char **argv)
{
    if (argc != 2 || !setlocale(LC_CTYPE, "C.UTF-8"))
        return argc != 2 ? EXIT_FAILURE : CHECK_SKIP;
    random_ = random_seeded("tui/compare", 1);
    model = tui_model_create(1000);
    check_marks();
    check_smooth();
    check_between();
    check_screens(argv[1]);
    tui_model_destroy(model);
    return check_done("tui/compare");
}
