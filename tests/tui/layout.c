/* Every size from 1×1 to 300×300, every tab: panels stay on the screen and off each other; each is in a tab.
 */
#include "tui/layout.h"

#include <stdbool.h>

#include "tests/check.h"

enum { SIDE = 300 };

/* Of sizes larger than most screens, under a sanitizer. */
#ifdef __SANITIZE_ADDRESS__
enum { EACH = 3 };
#else
enum { EACH = 1 };
#endif

static int bad(const struct layout *layout, int width, int height)
{
    for (int i = 0; i < layout->n; i++) {
        const struct rect *a = &layout->rects[i];
        if (a->x < 0 || a->y < 0 || a->width < 1 || a->height < 1 || a->x + a->width > width ||
            a->y + a->height > height || a->panel <= PANEL_NONE || a->panel >= PANELS)
            return 1;
        for (int k = 0; k < i; k++) {
            const struct rect *b = &layout->rects[k];
            if (a->panel == b->panel)
                return 1;
            if (a->x < b->x + b->width && b->x < a->x + a->width && a->y < b->y + b->height &&
                b->y < a->y + a->height)
                return 1;
        }
    }
    return layout->n < 1;
}

static bool placed[PANELS];

static void check_placed(void)
{
#define PANEL_TEXT(number, name) [PANEL_##number] = #number,
    static const char *const names[PANELS] = {PANEL_LIST(PANEL_TEXT)};

    for (int panel = PANEL_NONE + 1; panel < PANELS; panel++) {
        if (!placed[panel])
            fprintf(stderr, "PANEL_%s is in no tab: tui/layout.c places it\n", names[panel]);
        CHECK(placed[panel]);
    }
}

/* Every cell belongs to some panel, except a column between two: a panel that is placed nowhere leaves a
 * hole.
 */
static int hollow(const struct layout *layout, int width, int height)
{
    for (int y = 0; y < height; y++) {
        int covered = 0, panels = 0;
        for (int i = 0; i < layout->n; i++)
            if (y >= layout->rects[i].y && y < layout->rects[i].y + layout->rects[i].height) {
                covered += layout->rects[i].width;
                panels++;
            }
        if (covered + panels - 1 < width)
            return 1;
    }
    return 0;
}

static void check_size(int width, int height)
{
    struct layout layout;

    for (int tab = 0; tab < 2 * TABS; tab++) { /* without trainings; with some, and a page */
        struct layout_choice choice = {.tab = (enum tab)(tab % TABS),
                                       .detail = tab > TABS,
                                       .trainings = tab < TABS ? 0 : 1 + (width + height) % 5,
                                       .venues = tab < TABS ? 0 : (width + 2 * height) % 6,
                                       .studies = tab < TABS ? 0 : (width + height) % 4,
                                       .study = tab < TABS ? STUDY_LISTED : (enum layout_study)(height % 3),
                                       .running = (width + height) % 6,
                                       .devices = tab < TABS ? 0 : (2 * width + height) % 4,
                                       .foot = (enum layout_foot)((width + 3 * height + tab) % FEET),
                                       .bars = (width + 5 * height) % 3 == 0,
                                       .item = tab > TABS && (width + height) % 7 == 0};
        tui_layout_compute(width, height, &choice, &layout);
        if (bad(&layout, width, height) || hollow(&layout, width, height)) {
            fprintf(stderr, "%dx%d, tab %d\n", width, height, tab + 1);
            CHECK(false);
        }
        for (int i = 0; i < layout.n; i++)
            placed[layout.rects[i].panel] = true;
        bool small = width < LAYOUT_WIDTH_MIN || height < LAYOUT_HEIGHT_MIN;
        if (small != (tui_layout_find(&layout, PANEL_TOO_SMALL) != NULL) || (small && layout.n != 1))
            CHECK(false);
        if (!small && choice.tab == TAB_POSITIONS && !choice.item && choice.foot != FOOT_EQUITY)
            CHECK(tui_layout_find(&layout, tui_layout_foot(choice.foot)) != NULL);
        if (!small && (!tui_layout_find(&layout, PANEL_HEADER) || !tui_layout_find(&layout, PANEL_KEYS)))
            CHECK(false);
    }
    CHECK(true);
}

/* As many panels as there can be: some of everything that is counted, on screens that have room for all. */
static void check_counts(void)
{
    static const int sizes[][2] = {{80, 60}, {120, 60}, {180, 50}, {192, 50}, {200, 60}, {300, 120}};
    enum { MOST = 5 };
    struct layout layout;

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        for (int n = 0; n < MOST * MOST * MOST * MOST; n++) {
            struct layout_choice choice = {.trainings = 1 + n % MOST,
                                           .studies = 1 + n / MOST % MOST,
                                           .venues = 1 + n / MOST / MOST % MOST,
                                           .devices = 1 + n / MOST / MOST / MOST,
                                           .symbols = 3,
                                           .running = 2};
            for (int tab = 0; tab < TABS; tab++) {
                choice.tab = (enum tab)tab;
                tui_layout_compute(sizes[i][0], sizes[i][1], &choice, &layout);
                CHECK(!bad(&layout, sizes[i][0], sizes[i][1]) && !hollow(&layout, sizes[i][0], sizes[i][1]));
            }
            choice.tab = TAB_OVERVIEW;
            tui_layout_compute(sizes[i][0], sizes[i][1], &choice, &layout);
            CHECK(sizes[i][0] < 192 || !tui_layout_find(&layout, PANEL_DEPTH) ||
                  tui_layout_find(&layout, PANEL_TRADES));
        }
}

static void check_zoom(int width, int height)
{
    struct layout layout;

    for (int tab = 0; tab < TABS; tab++)
        for (int panel = 0; panel < PANELS; panel++) {
            for (int detail = 0; detail < 2; detail++) {
                struct layout_choice choice = {(enum tab)tab,
                                               (enum panel)panel,
                                               detail,
                                               detail * 3,
                                               detail * 2,
                                               panel % 4,
                                               (enum layout_study)(panel % 3),
                                               2};
                tui_layout_compute(width, height, &choice, &layout);
                CHECK(!bad(&layout, width, height));
            }
        }
}

static void has(int width, int height, enum tab tab, enum panel panel)
{
    struct layout layout;

    struct layout_choice choice = {.tab = tab};

    tui_layout_compute(width, height, &choice, &layout);
    CHECK(tui_layout_find(&layout, panel) != NULL);
}

static void has_not(int width, int height, enum tab tab, enum panel panel)
{
    struct layout layout;
    struct layout_choice choice = {.tab = tab, .venues = 2};

    tui_layout_compute(width, height, &choice, &layout);
    CHECK(tui_layout_find(&layout, panel) == NULL && tui_layout_find(&layout, PANEL_VENUES) != NULL);
}

/* Trainings and policies stand on 40x10, a training's page is complete on 80x24; the overview gives trainings
 * room where there are any, and nothing else goes. */
static void check_study(void)
{
    static const enum panel page[] = {PANEL_TRAINING, PANEL_CURVE, PANEL_TIMELINE, PANEL_TRAINING_LOG};
    struct layout_choice choice = {.tab = TAB_STUDY};
    struct layout layout, with;

    tui_layout_compute(40, 10, &choice, &layout);
    CHECK(tui_layout_find(&layout, PANEL_TRAININGS) && tui_layout_find(&layout, PANEL_POLICIES));
    has(120, 40, TAB_STUDY, PANEL_CURVE);
    choice.detail = true;
    tui_layout_compute(80, 24, &choice, &layout);
    CHECK(!tui_layout_find(&layout, PANEL_TRAININGS));
    for (size_t i = 0; i < sizeof(page) / sizeof(page[0]); i++)
        CHECK(tui_layout_find(&layout, page[i]) != NULL);
    choice = (struct layout_choice){.tab = TAB_OVERVIEW};
    for (int i = 0; i < 3; i++) {
        static const int sizes[][2] = {{80, 24}, {120, 40}, {200, 60}};
        choice.trainings = 0;
        tui_layout_compute(sizes[i][0], sizes[i][1], &choice, &layout);
        CHECK(!tui_layout_find(&layout, PANEL_TRAININGS));
        for (choice.trainings = 1; choice.trainings < 9; choice.trainings++) {
            tui_layout_compute(sizes[i][0], sizes[i][1], &choice, &with);
            const struct rect *rect = tui_layout_find(&with, PANEL_TRAININGS);
            CHECK(rect && rect->height >= 2);
            CHECK_INT(with.n, layout.n + (tui_layout_find(&with, PANEL_POLICIES) ? 2 : 1));
        }
    }
}

/* A study's page and its validation are complete on 80x24 with as many running trials as are shown; its list
 * stands beside trainings and policies on 40x10. */
static void check_studies(void)
{
    static const enum panel page[] = {PANEL_STUDY,  PANEL_BEST,  PANEL_IMPORTANCE, PANEL_RUNNING,
                                      PANEL_TRIALS, PANEL_TRIAL, PANEL_REPORTS};
    static const enum panel validation[] = {PANEL_VALIDATION, PANEL_LAMBDA, PANEL_TESTED};
    struct layout_choice choice = {.tab = TAB_STUDY, .studies = 3, .study = STUDY_PAGE, .running = 9};
    struct layout layout;

    tui_layout_compute(80, 24, &choice, &layout);
    for (size_t i = 0; i < sizeof(page) / sizeof(page[0]); i++)
        CHECK(tui_layout_find(&layout, page[i]) != NULL);
    choice.study = STUDY_VALIDATION;
    tui_layout_compute(80, 24, &choice, &layout);
    for (size_t i = 0; i < sizeof(validation) / sizeof(validation[0]); i++)
        CHECK(tui_layout_find(&layout, validation[i]) != NULL);
    choice.study = STUDY_LISTED;
    tui_layout_compute(40, 10, &choice, &layout);
    CHECK(tui_layout_find(&layout, PANEL_STUDIES) && tui_layout_find(&layout, PANEL_TRAININGS) &&
          tui_layout_find(&layout, PANEL_POLICIES));
    choice.tab = TAB_OVERVIEW;
    tui_layout_compute(80, 24, &choice, &layout);
    CHECK(tui_layout_find(&layout, PANEL_STUDIES) && tui_layout_find(&layout, PANEL_FEED));
    choice.studies = 0;
    tui_layout_compute(80, 24, &choice, &layout);
    CHECK(!tui_layout_find(&layout, PANEL_STUDIES));
}

/* From 116 columns on the market's chart keeps 80 beside depth and trades; in a smaller size they are in its
 * place, with every other panel that is there. */
static void check_market(void)
{
    struct layout_choice choice = {.tab = TAB_MARKET, .symbols = 2, .venues = 1};
    struct layout with, without;

    for (int width = LAYOUT_WIDTH_MIN; width <= SIDE; width++)
        for (int height = 16; height <= 100; height++) {
            choice.depth = false;
            tui_layout_compute(width, height, &choice, &without);
            const struct rect *chart = tui_layout_find(&without, PANEL_CHART);
            bool beside = tui_layout_find(&without, PANEL_DEPTH) != NULL;
            CHECK(chart && chart->width >= (width < 80 ? width : 80));
            CHECK(beside == (tui_layout_find(&without, PANEL_TRADES) != NULL));
            CHECK(beside || width < LAYOUT_WIDTH_SIDE || height < 24);
            choice.depth = true;
            tui_layout_compute(width, height, &choice, &with);
            CHECK(tui_layout_find(&with, PANEL_DEPTH) && tui_layout_find(&with, PANEL_TRADES));
            CHECK(!tui_layout_find(&with, PANEL_CHART));
            for (int i = 0; i < without.n; i++)
                CHECK(without.rects[i].panel == PANEL_CHART ||
                      tui_layout_find(&with, without.rects[i].panel));
        }
    choice.saved = true;
    tui_layout_compute(200, 60, &choice, &with);
    CHECK(tui_layout_find(&with, PANEL_CHART)->width == 200 && !tui_layout_find(&with, PANEL_DEPTH));
    has(200, 60, TAB_OVERVIEW, PANEL_DEPTH);
    has(200, 60, TAB_OVERVIEW, PANEL_TRADES);
}

/* The positions' tab has what stands at its foot: one of four, or all where there is room. */
static void check_feet(void)
{
    struct layout layout;

    for (int foot = 0; foot < FEET; foot++) {
        struct layout_choice choice = {.tab = TAB_POSITIONS, .foot = (enum layout_foot)foot};
        tui_layout_compute(80, 24, &choice, &layout);
        for (int other = 0; other < FEET; other++)
            CHECK_INT(tui_layout_find(&layout, tui_layout_foot(other)) != NULL, other == foot);
        CHECK(tui_layout_find(&layout, PANEL_POSITIONS) && tui_layout_find(&layout, PANEL_ACCOUNTS) &&
              tui_layout_find(&layout, PANEL_STRATEGIES));
        for (int other = 0; other < FEET; other++) {
            has(120, 40, TAB_POSITIONS, tui_layout_foot(other));
            has(200, 60, TAB_POSITIONS, tui_layout_foot(other));
        }
    }
}

int main(void)
{
    static const enum panel overview[] = {PANEL_PRICES, PANEL_POSITIONS, PANEL_EQUITY,
                                          PANEL_ALERTS, PANEL_FILLS,     PANEL_FEED};
    struct layout layout;

    for (int width = 1; width <= SIDE; width++)
        for (int height = 1; height <= SIDE; height++)
            if ((width <= 100 && height <= 60) || (width + height) % EACH == 0)
                check_size(width, height);
    if (EACH > 1)
        printf("counts: each third of sizes above 100x60 (without a sanitizer: all)\n");
    check_placed();
    check_counts();
    for (int width = 1; width <= SIDE; width += 13)
        for (int height = 1; height <= SIDE; height += 7)
            check_zoom(width, height);

    /* 80×24 is complete alone; larger screens show more. */
    for (size_t i = 0; i < sizeof(overview) / sizeof(overview[0]); i++) {
        has(80, 24, TAB_OVERVIEW, overview[i]);
        has(120, 40, TAB_OVERVIEW, overview[i]);
        has(200, 60, TAB_OVERVIEW, overview[i]);
    }
    has(120, 40, TAB_OVERVIEW, PANEL_STREAMS);
    has_not(120, 40, TAB_MARKET, PANEL_STREAMS); /* its venues have them counted */
    has_not(200, 60, TAB_MARKET, PANEL_STREAMS);
    has(120, 40, TAB_OVERVIEW, PANEL_ORDERS);
    has(200, 60, TAB_OVERVIEW, PANEL_CHART);
    has(200, 60, TAB_OVERVIEW, PANEL_LOG);
    has(40, 10, TAB_OVERVIEW, PANEL_PRICES);
    check_study();
    check_studies();
    check_market();
    check_feet();

    struct layout_choice fills = {.tab = TAB_OVERVIEW, .zoomed = PANEL_FILLS};
    tui_layout_compute(80, 24, &fills, &layout);
    CHECK_INT(tui_layout_find(&layout, PANEL_FILLS)->height, 21);
    fills.tab = TAB_LOG;
    tui_layout_compute(80, 24, &fills, &layout); /* not there: not zoomed */
    CHECK(tui_layout_find(&layout, PANEL_LOG) && !tui_layout_find(&layout, PANEL_FILLS));
    return check_done("tui/layout");
}
