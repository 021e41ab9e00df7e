#include "tui/layout.h"

#include <stddef.h>

enum {
    STACK_MAX = 8,
    TRAININGS_ROWS = 3, /* of the overview, at most */
    STUDIES_ROWS = 4,   /* of the lists */
    RUNNING_ROWS = 4,
    VENUES_ROWS = 4,      /* with two lines each */
    PRICES_ROWS = 4,      /* of the market's tab, likewise */
    DEVICES_ROWS = 2,     /* of the overview */
    GUTTER = 1,           /* blank columns between stacks */
    LOG_HEIGHT_BOTH = 30, /* rows of the body from which on the log has the ledger below it */
};

/* A panel in a stack: the rows it needs (its rule among them), the rows it wants (0: it is not there), and
 * its share of what is left after that. The stack drops its last panels first, by `rank` (1 stays longest).
 */
struct slot {
    enum panel panel;
    int rows_min, rows, weight, rank;
    enum panel beside; /* shares the rows with this one, at its right */
};

static void add(struct layout *layout, enum panel panel, int x, int y, int width, int height)
{
    if (width > 0 && height > 0 && layout->n < LAYOUT_RECTS_MAX)
        layout->rects[layout->n++] = (struct rect){panel, x, y, width, height};
}

static int sum_min(const struct slot *slots, const int *rows, int n)
{
    int sum = 0;

    for (int i = 0; i < n; i++)
        sum += rows[i] ? slots[i].rows_min : 0;
    return sum;
}

static int drop_last(const struct slot *slots, int *rows, int n)
{
    int last = -1;

    for (int i = 0; i < n; i++)
        if (rows[i] && (last < 0 || slots[i].rank > slots[last].rank))
            last = i;
    if (last >= 0)
        rows[last] = 0;
    return last;
}

/* Gives each slot its rows out of `height`; 0 for one that does not fit. */
static void share(const struct slot *slots, int n, int height, int *rows)
{
    int weights = 0, left;

    for (int i = 0; i < n; i++)
        rows[i] = slots[i].rows > 0;
    while (sum_min(slots, rows, n) > height && drop_last(slots, rows, n) >= 0)
        ;
    left = height - sum_min(slots, rows, n);
    for (int i = 0; i < n; i++)
        rows[i] = rows[i] ? slots[i].rows_min : 0;
    for (int rank = 1; rank <= n; rank++)
        for (int i = 0; i < n; i++)
            if (slots[i].rank == rank && rows[i]) {
                int more = slots[i].rows - rows[i];
                more = more > left ? left : more > 0 ? more : 0;
                rows[i] += more;
                left -= more;
            }
    for (int i = 0; i < n; i++)
        weights += rows[i] ? slots[i].weight : 0;
    for (int i = 0; i < n && weights > 0; i++)
        if (rows[i]) {
            int more = left * slots[i].weight / weights;
            rows[i] += more;
            left -= more;
            weights -= slots[i].weight;
        }
    for (int i = 0; i < n && left > 0; i++)
        if (rows[i]) { /* nothing has a weight: the last one that is there takes the rest */
            int last = i;
            for (int k = i; k < n; k++)
                last = rows[k] ? k : last;
            rows[last] += left;
            left = 0;
        }
}

static void stack(struct layout *layout, const struct slot *slots, int n, int x, int y, int width, int height)
{
    int rows[STACK_MAX] = {0};

    share(slots, n, height, rows);
    for (int i = 0; i < n; i++) {
        if (!rows[i])
            continue;
        int right = slots[i].beside && width >= 60 ? width / 2 : 0;
        add(layout, slots[i].panel, x, y, width - right - (right ? GUTTER : 0), rows[i]);
        add(layout, slots[i].beside, x + width - right, y, right, rows[i]);
        y += rows[i];
    }
}

#define STACK(layout, slots, x, y, width, height) \
    stack(layout, slots, (int)(sizeof(slots) / sizeof((slots)[0])), x, y, width, height)

/* The venues with two lines each, as far as they get them; 0: no panel. */
static int venue_rows(int venues)
{
    return venues == 0 ? 0 : 1 + 2 * (venues < VENUES_ROWS ? venues : VENUES_ROWS);
}

/* The feed's rows: its three lines continue on others where they are cut. */
static int feed_rows(int width)
{
    enum { WHOLE = 80, HALF = 60 };

    return width >= WHOLE ? 4 : width >= HALF ? 7 : 10;
}

static void overview(struct layout *layout, const struct layout_choice *choice, int y, int width, int height)
{
    int trainings = choice->trainings, venues = choice->venues;
    int studies = choice->studies == 0 ? 0 : choice->studies < 2 ? 2 : 3;
    int venue_lines = venue_rows(venues);
    int few = trainings == 0 ? 0 : 1 + (trainings < TRAININGS_ROWS ? trainings : TRAININGS_ROWS);
    int policies = trainings == 0 ? 0 : 5, depth = choice->saved ? 0 : 16;
    int gpu =
        choice->devices == 0 ? 0 : 1 + (choice->devices < DEVICES_ROWS ? choice->devices : DEVICES_ROWS);
    const bool three = width >= LAYOUT_WIDTH_CHART && height >= 30, two = width >= LAYOUT_WIDTH_TWO;
    const int beside = width - LAYOUT_WIDTH_LISTS - GUTTER;
    const int second = three ? width * 5 / 16 : width * 2 / 5 < beside ? width * 2 / 5 : beside;
    const int feed = two ? feed_rows(second) : 4;
    const struct slot narrow[] = {
        {PANEL_PRICES, 2, 5, 2, 1, PANEL_NONE},        {PANEL_TRAININGS, 2, few, 0, 3, PANEL_NONE},
        {PANEL_STUDIES, 2, studies, 0, 4, PANEL_NONE}, {PANEL_POSITIONS, 2, 3, 1, 2, PANEL_NONE},
        {PANEL_EQUITY, 3, 5, 3, 6, PANEL_ALERTS},      {PANEL_FILLS, 2, 4, 4, 5, PANEL_NONE},
        {PANEL_FEED, 2, feed, 0, 7, PANEL_NONE},       {PANEL_GPU, gpu, gpu, 0, 8, PANEL_NONE},
    };
    const struct slot left[] = {
        {PANEL_PRICES, 3, 7, 1, 1, PANEL_NONE},        {PANEL_TRAININGS, 2, few, 1, 3, PANEL_NONE},
        {PANEL_STUDIES, 2, studies, 0, 4, PANEL_NONE}, {PANEL_POLICIES, 2, policies, 0, 7, PANEL_NONE},
        {PANEL_POSITIONS, 2, 5, 1, 2, PANEL_NONE},     {PANEL_ORDERS, 2, 6, 1, 6, PANEL_NONE},
        {PANEL_FILLS, 2, 6, 3, 5, PANEL_NONE},         {PANEL_GPU, gpu, gpu, 0, 8, PANEL_NONE},
    };
    const struct slot right[] = {
        {PANEL_EQUITY, 4, 9, 2, 1, PANEL_NONE},           {PANEL_ALERTS, 2, 6, 1, 2, PANEL_NONE},
        {PANEL_VENUES, 2, venue_lines, 0, 4, PANEL_NONE}, {PANEL_FEED, 4, feed, 0, 3, PANEL_NONE},
        {PANEL_STREAMS, 3, 9, 2, 5, PANEL_NONE},
    };
    static const struct slot middle[] = {
        {PANEL_CHART, 8, 16, 3, 1, PANEL_NONE},
        {PANEL_EQUITY, 6, 10, 2, 2, PANEL_NONE},
        {PANEL_LOG, 4, 8, 1, 3, PANEL_NONE},
    };
    const struct slot edge[] = {
        {PANEL_ACCOUNTS, 3, 5, 0, 3, PANEL_NONE},         {PANEL_ALERTS, 2, 8, 1, 1, PANEL_NONE},
        {PANEL_VENUES, 2, venue_lines, 0, 4, PANEL_NONE}, {PANEL_FEED, 4, feed, 0, 2, PANEL_NONE},
        {PANEL_STREAMS, 4, 14, 1, 5, PANEL_NONE},         {PANEL_DEPTH, 8, depth, 1, 6, PANEL_TRADES},
    };

    if (three) {
        int even = width - 2 * (second + GUTTER),
            first = even > LAYOUT_WIDTH_LISTS ? even : LAYOUT_WIDTH_LISTS;
        STACK(layout, left, 0, y, first, height);
        STACK(layout, middle, first + GUTTER, y, width - first - second - 2 * GUTTER, height);
        STACK(layout, edge, width - second, y, second, height);
    } else if (two) {
        STACK(layout, left, 0, y, width - second - GUTTER, height);
        STACK(layout, right, width - second, y, second, height);
    } else {
        STACK(layout, narrow, 0, y, width, height);
    }
}

/* A study's page, and its overfitting check. */
static void study_page(struct layout *layout, const struct layout_choice *choice, int y, int width,
                       int height)
{
    int running =
        choice->running == 0 ? 0 : 1 + (choice->running < RUNNING_ROWS ? choice->running : RUNNING_ROWS);
    const struct slot page[] = {
        {PANEL_STUDY, 3, 4 + choice->warning, 0, 1, PANEL_NONE},
        {PANEL_BEST, 4, 6, 2, 4, PANEL_IMPORTANCE},
        {PANEL_RUNNING, 2, running, 0, 3, PANEL_NONE},
        {PANEL_TRIALS, 3, 6, 3, 2, PANEL_NONE},
        {PANEL_TRIAL, 3, 5, 1, 5, PANEL_REPORTS},
    };
    static const struct slot validation[] = {
        {PANEL_VALIDATION, 4, 10, 0, 1, PANEL_NONE},
        {PANEL_LAMBDA, 4, 9, 1, 2, PANEL_TESTED},
    };

    if (choice->study == STUDY_PAGE)
        STACK(layout, page, 0, y, width, height);
    else
        STACK(layout, validation, 0, y, width, height);
}

static void study(struct layout *layout, const struct layout_choice *choice, int y, int width, int height)
{
    int studies =
        choice->studies == 0 ? 0 : 2 + (choice->studies < STUDIES_ROWS ? choice->studies : STUDIES_ROWS);
    const struct slot lists[] = {
        {PANEL_STUDIES, 2, studies, 1, 2, PANEL_NONE},
        {PANEL_TRAININGS, 3, 8, 2, 1, PANEL_NONE},
        {PANEL_POLICIES, 2, 6, 1, 3, PANEL_NONE},
    };
    const struct slot lists_tall[] = {
        {PANEL_STUDIES, 2, studies, 1, 2, PANEL_NONE},
        {PANEL_TRAININGS, 3, 10, 1, 1, PANEL_NONE},
        {PANEL_POLICIES, 2, 8, 1, 3, PANEL_NONE},
        {PANEL_CURVE, 8, studies ? 10 : 14, 2, 4, studies ? PANEL_BEST : PANEL_NONE},
    };
    static const struct slot page[] = {
        {PANEL_TRAINING, 3, 7, 0, 1, PANEL_NONE},
        {PANEL_CURVE, 4, 7, 3, 2, PANEL_NONE},
        {PANEL_TIMELINE, 3, 4, 1, 3, PANEL_NONE},
        {PANEL_TRAINING_LOG, 2, 3, 1, 4, PANEL_NONE},
    };

    if (choice->study != STUDY_LISTED)
        study_page(layout, choice, y, width, height);
    else if (choice->detail)
        STACK(layout, page, 0, y, width, height);
    else if (height >= 32)
        STACK(layout, lists_tall, 0, y, width, height);
    else
        STACK(layout, lists, 0, y, width, height);
}

/* Gives the chart's right part to depth and trades, where both have room for a few rows. */
static void beside_chart(struct layout *layout)
{
    static const struct slot side[] = {
        {PANEL_DEPTH, 6, 12, 3, 1, PANEL_NONE},
        {PANEL_TRADES, 4, 8, 2, 2, PANEL_NONE},
    };
    enum { ROWS_LEAST = 12 };

    for (int i = 0; i < layout->n; i++) {
        struct rect *chart = &layout->rects[i];
        if (chart->panel != PANEL_CHART || chart->width < LAYOUT_WIDTH_SIDE || chart->height < ROWS_LEAST)
            continue;
        int width = chart->width / 4 < LAYOUT_SIDE_MIN   ? LAYOUT_SIDE_MIN
                    : chart->width / 4 > LAYOUT_SIDE_MAX ? LAYOUT_SIDE_MAX
                                                         : chart->width / 4;
        int x = chart->x + chart->width - width, y = chart->y, height = chart->height;
        chart->width -= width + GUTTER;
        STACK(layout, side, x, y, width, height);
        return;
    }
}

/* The prices with two lines each, as far as the market's tab gives them. */
static int price_rows(int symbols)
{
    return 1 + 2 * (symbols > 0 && symbols < PRICES_ROWS ? symbols : PRICES_ROWS);
}

static void market(struct layout *layout, const struct layout_choice *choice, int y, int width, int height)
{
    bool depth = choice->depth && !choice->saved, narrow = width < 2 * 30;
    const enum panel chart = depth ? PANEL_DEPTH : choice->bars ? PANEL_BARS : PANEL_CHART;
    const enum panel beside = depth && !narrow ? PANEL_TRADES : PANEL_NONE;
    const int trades = depth && narrow ? 5 : 0; /* below the depth */
    const struct slot low[] = {
        {PANEL_PRICES, 2, 5, 0, 1, PANEL_NONE},
        {chart, 4, 12, 2, 2, beside},
        {PANEL_TRADES, 3, trades, 1, 3, PANEL_NONE},
    };
    const struct slot high[] = {
        {PANEL_PRICES, 3, price_rows(choice->symbols), 0, 1, PANEL_NONE},
        {chart, 4, 24, 6, 2, beside},
        {PANEL_TRADES, 3, trades, 3, 3, PANEL_NONE},
        {PANEL_VENUES, 2, venue_rows(choice->venues), 0, 4, PANEL_NONE},
    };

    const struct slot all[] = {
        {PANEL_PRICES, 3, price_rows(choice->symbols), 0, 1, PANEL_NONE},
        {chart, 4, 24, 6, 2, beside},
        {PANEL_POSITIONS, 6, 8, 1, 3, PANEL_EQUITY},
        {PANEL_ORDERS, 5, 8, 1, 4, PANEL_LOG},
        {PANEL_VENUES, 2, venue_rows(choice->venues), 0, 5, PANEL_NONE},
    };

    if (width >= LAYOUT_WIDTH_CHART && height >= LAYOUT_HEIGHT_ALL)
        STACK(layout, all, 0, y, width, height);
    else if (height >= 36)
        STACK(layout, high, 0, y, width, height);
    else
        STACK(layout, low, 0, y, width, height);
    if (!choice->saved)
        beside_chart(layout);
}

enum panel tui_layout_foot(enum layout_foot foot)
{
    static const enum panel panels[FEET] = {
        [FOOT_EQUITY] = PANEL_EQUITY,
        [FOOT_TRIPS] = PANEL_TRIPS,
        [FOOT_SYMBOLS] = PANEL_BY_SYMBOL,
        [FOOT_STRATEGIES] = PANEL_BY_STRATEGY,
    };

    return panels[foot];
}

static void positions(struct layout *layout, const struct layout_choice *choice, int y, int width, int height)
{
    const bool chosen = choice->foot != FOOT_EQUITY; /* then it is the last to leave */
    const struct slot low[] = {
        {PANEL_POSITIONS, 2, 5, 1, chosen ? 2 : 1, PANEL_NONE},
        {PANEL_ACCOUNTS, 2, 4, 0, chosen ? 3 : 2, PANEL_NONE},
        {PANEL_STRATEGIES, 2, 4, 0, chosen ? 4 : 3, PANEL_NONE},
        {tui_layout_foot(choice->foot), 3, 8, 2, chosen ? 1 : 4, PANEL_NONE},
    };
    static const struct slot high[] = {
        {PANEL_POSITIONS, 2, 5, 1, 1, PANEL_NONE},  {PANEL_ACCOUNTS, 2, 4, 0, 2, PANEL_NONE},
        {PANEL_STRATEGIES, 2, 4, 0, 3, PANEL_NONE}, {PANEL_EQUITY, 4, 9, 2, 4, PANEL_NONE},
        {PANEL_TRIPS, 3, 8, 2, 5, PANEL_NONE},      {PANEL_BY_SYMBOL, 3, 6, 1, 6, PANEL_BY_STRATEGY},
    };

    if (width >= LAYOUT_WIDTH_FEET && height >= 33)
        STACK(layout, high, 0, y, width, height);
    else
        STACK(layout, low, 0, y, width, height);
}

static void body(struct layout *layout, const struct layout_choice *choice, int y, int width, int height)
{
    static const struct slot gpu[] = {{PANEL_GPU, 2, 2, 1, 1, PANEL_NONE}};
    static const struct slot orders[] = {
        {PANEL_ORDERS, 2, 10, 1, 1, PANEL_NONE},
        {PANEL_FILLS, 2, 10, 1, 2, PANEL_NONE},
    };
    const struct slot alerts[] = {
        {PANEL_ALERTS, 2, 6, 3, 1, PANEL_NONE},
        {PANEL_VENUES, 2, venue_rows(choice->venues), 0, 2, PANEL_NONE},
        {PANEL_FEED, 4, 4, 0, 4, PANEL_NONE},
        {PANEL_STREAMS, 3, 7, 1, 3, PANEL_NONE},
    };
    static const struct slot log[] = {{PANEL_LOG, 2, 2, 1, 1, PANEL_NONE}};
    static const struct slot ledger[] = {{PANEL_LEDGER, 2, 2, 1, 1, PANEL_NONE}};
    static const struct slot log_tall[] = {
        {PANEL_LOG, 8, 8, 1, 1, PANEL_NONE},
        {PANEL_LEDGER, 8, 8, 1, 2, PANEL_NONE},
    };

    switch (choice->tab) {
    case TAB_OVERVIEW:
    case TABS:
        overview(layout, choice, y, width, height);
        break;
    case TAB_STUDY:
        study(layout, choice, y, width, height);
        break;
    case TAB_GPU:
        STACK(layout, gpu, 0, y, width, height);
        break;
    case TAB_MARKET:
        market(layout, choice, y, width, height);
        break;
    case TAB_POSITIONS:
        positions(layout, choice, y, width, height);
        break;
    case TAB_ORDERS:
        STACK(layout, orders, 0, y, width, height);
        break;
    case TAB_ALERTS:
        STACK(layout, alerts, 0, y, width, height);
        break;
    case TAB_LOG:
        if (height >= LOG_HEIGHT_BOTH)
            STACK(layout, log_tall, 0, y, width, height);
        else if (choice->ledger)
            STACK(layout, ledger, 0, y, width, height);
        else
            STACK(layout, log, 0, y, width, height);
        break;
    }
}

void tui_layout_compute(int width, int height, const struct layout_choice *choice, struct layout *ret)
{
    ret->n = 0;
    if (width < LAYOUT_WIDTH_MIN || height < LAYOUT_HEIGHT_MIN) {
        add(ret, PANEL_TOO_SMALL, 0, 0, width, height);
        return;
    }
    add(ret, PANEL_HEADER, 0, 0, width, 1);
    add(ret, PANEL_TABS, 0, 1, width, 1);
    add(ret, PANEL_KEYS, 0, height - 1, width, 1);
    int fixed = ret->n;
    if (choice->item)
        add(ret, PANEL_ITEM, 0, 2, width, height - 3);
    else
        body(ret, choice, 2, width, height - 3);
    if (choice->zoomed > PANEL_KEYS && tui_layout_find(ret, choice->zoomed)) {
        ret->n = fixed;
        add(ret, choice->zoomed, 0, 2, width, height - 3);
    }
}

const struct rect *tui_layout_find(const struct layout *layout, enum panel panel)
{
    for (int i = 0; i < layout->n; i++)
        if (layout->rects[i].panel == panel)
            return &layout->rects[i];
    return NULL;
}
