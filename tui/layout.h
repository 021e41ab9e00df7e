/* Which panel is where: a pure function of the screen's size and of what is to be shown. */
#ifndef TUI_LAYOUT_H
#define TUI_LAYOUT_H

#include <stdbool.h>

enum {
    LAYOUT_WIDTH_MIN = 40, /* below this or that, one line says so */
    LAYOUT_HEIGHT_MIN = 10,
    LAYOUT_RECTS_MAX = 24,    /* 21 are on a wide overview that has one of everything */
    LAYOUT_WIDTH_FEET = 100,  /* from here on the positions' tab may have all that it shows at its foot */
    LAYOUT_WIDTH_LISTS = 80,  /* of the overview's lists: all of their columns fit */
    LAYOUT_WIDTH_TWO = 120,   /* from here on it has two stacks, … */
    LAYOUT_WIDTH_CHART = 180, /* … three, with the chart */
    LAYOUT_HEIGHT_ALL = 50,   /* rows of the body from which on a market's tab of that width has all of it */
    LAYOUT_SIDE_MIN = 35,     /* columns of depth and trades beside the market's chart … */
    LAYOUT_SIDE_MAX = 46,
    LAYOUT_WIDTH_SIDE = 116, /* … which keeps 80 from here on */
};

enum tab {
    TAB_OVERVIEW,
    TAB_STUDY,
    TAB_GPU,
    TAB_MARKET,
    TAB_POSITIONS,
    TAB_ORDERS,
    TAB_ALERTS,
    TAB_LOG,
    TABS,
};

/* One line each: the enumeration, the functions panel_NAME() that draw, and the table of them follow. */
/* clang-format off */
#define PANEL_LIST(X) \
    X(TOO_SMALL, too_small) /* the only one of a screen that is too small */ \
    X(HEADER, header) \
    X(TABS, tabs) \
    X(KEYS, keys) /* the last line: keys, prompts, a command's outcome */ \
    X(PRICES, prices) \
    X(POSITIONS, positions) \
    X(ACCOUNTS, accounts) \
    X(STRATEGIES, strategies) \
    X(EQUITY, equity) \
    X(TRIPS, trips) /* closed round trips */ \
    X(BY_SYMBOL, by_symbol) /* P&L of the accounts by symbol */ \
    X(BY_STRATEGY, by_strategy) /* and by who opened */ \
    X(ALERTS, alerts) \
    X(FILLS, fills) \
    X(ORDERS, orders) \
    X(FEED, feed) \
    X(VENUES, venues) /* each venue: rates, latency, budgets, its market's hours */ \
    X(STREAMS, streams) \
    X(GPU, gpu) \
    X(TRAININGS, trainings) \
    X(POLICIES, policies) \
    X(TRAINING, training) /* one training's page: what it is doing, and its parameters */ \
    X(CURVE, curve) /* its learning curves */ \
    X(TIMELINE, timeline) /* its phases, with the device's utilisation */ \
    X(TRAINING_LOG, training_log) /* what its worker wrote */ \
    X(STUDIES, studies) /* the studies, workers of one study together */ \
    X(STUDY, study) /* one study's page: how far it is, its best trial */ \
    X(BEST, best) /* its best value so far */ \
    X(IMPORTANCE, importance) /* how much its parameters matter */ \
    X(RUNNING, running) /* its trials that run */ \
    X(TRIALS, trials) /* all of them, one column a parameter */ \
    X(TRIAL, trial) /* the chosen one */ \
    X(REPORTS, reports) /* its intermediate values, and those of the best */ \
    X(VALIDATION, validation) /* the overfitting check of the study's best */ \
    X(LAMBDA, lambda) /* the distribution that PBO is computed from */ \
    X(TESTED, tested) /* equity out of sample */ \
    X(ITEM, item) /* the page of a list's item: an order, a fill, an alert */ \
    X(CHART, chart) \
    X(BARS, bars) /* its bars as a list */ \
    X(DEPTH, depth) /* the chosen symbol's order book */ \
    X(TRADES, trades) /* its newest trades */ \
    X(LOG, log) \
    X(LEDGER, ledger)
/* clang-format on */

#define PANEL_NUMBER(number, name) PANEL_##number,
enum panel { PANEL_NONE, PANEL_LIST(PANEL_NUMBER) PANELS };

struct rect {
    enum panel panel;
    int x, y, width, height;
};

struct layout {
    struct rect rects[LAYOUT_RECTS_MAX];
    int n;
};

/* What the study's tab shows instead of the lists. */
enum layout_study { STUDY_LISTED, STUDY_PAGE, STUDY_VALIDATION };

/* What the positions' tab shows at its foot, where it has no room for all of them. */
enum layout_foot { FOOT_EQUITY, FOOT_TRIPS, FOOT_SYMBOLS, FOOT_STRATEGIES, FEET };

/* What is to be shown. */
struct layout_choice {
    enum tab tab;
    enum panel zoomed; /* takes the body alone, or PANEL_NONE; one that the tab does not have is not zoomed */
    bool detail;       /* the study's tab shows one training's page instead of the lists */
    int trainings;     /* that there are: the overview gives them room */
    int venues;        /* likewise */
    int studies;       /* rows that the list of studies has, 0: it is not there */
    enum layout_study study;
    int running; /* trials of its page */
    int devices; /* likewise, as trainings */
    int warning; /* rows beyond one in which a study's page says what is wrong */
    bool ledger; /* the log's tab shows the ledger, where it has no room for both */
    bool item;   /* the page of an item instead of the tab's panels */
    bool depth;  /* the market's tab shows depth and trades instead of the chart … */
    bool bars;   /* … or the list of its bars */
    int symbols; /* that there are, 0: not known; the market's tab gives the rest to the chart */
    enum layout_foot foot;
    bool saved; /* a saved run, which has neither an order book nor trades */
};

/* Fills a screen of width × height (1 or more) without overlap, except for a blank column between stacks. */
void tui_layout_compute(int width, int height, const struct layout_choice *choice, struct layout *ret);

/* The panel of a foot. */
enum panel tui_layout_foot(enum layout_foot foot);

/* The rectangle of a panel, or NULL. */
const struct rect *tui_layout_find(const struct layout *layout, enum panel panel);

#endif
