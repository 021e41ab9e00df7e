/* Which panel stands where: a pure function of the screen's size and of what was chosen to be seen. */
#ifndef TUI_LAYOUT_H
#define TUI_LAYOUT_H

#include <stdbool.h>

enum {
    LAYOUT_WIDTH_MIN = 40, /* below this or that, one line says so */
    LAYOUT_HEIGHT_MIN = 10,
    LAYOUT_RECTS_MAX = 20,
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

enum panel {
    PANEL_NONE,
    PANEL_TOO_SMALL, /* the only one of a screen that is too small */
    PANEL_HEADER,
    PANEL_TABS,
    PANEL_KEYS, /* the last line: keys, prompts, what became of a command */
    PANEL_PRICES,
    PANEL_POSITIONS,
    PANEL_ACCOUNTS,
    PANEL_STRATEGIES,
    PANEL_EQUITY,
    PANEL_ALERTS,
    PANEL_FILLS,
    PANEL_ORDERS,
    PANEL_FEED,
    PANEL_VENUES, /* each venue: rates, latency, budgets, its market's hours */
    PANEL_STREAMS,
    PANEL_GPU,
    PANEL_TRAININGS,
    PANEL_POLICIES,
    PANEL_TRAINING,     /* one training's page: what it is doing, and its parameters */
    PANEL_CURVE,        /* its learning curves */
    PANEL_TIMELINE,     /* its phases, with the device's utilisation */
    PANEL_TRAINING_LOG, /* what its worker wrote */
    PANEL_SEARCHES,     /* the studies, workers of one search together */
    PANEL_SEARCH,       /* one search's page: how far it is, its best trial */
    PANEL_BEST,         /* its best value so far */
    PANEL_IMPORTANCE,   /* what its parameters matter */
    PANEL_RUNNING,      /* its trials that run */
    PANEL_TRIALS,       /* all of them, one column a parameter */
    PANEL_TRIAL,        /* the chosen one */
    PANEL_REPORTS,      /* its intermediate values, and those of the best */
    PANEL_VALIDATION,   /* how much of the search's best is luck */
    PANEL_LAMBDA,       /* the distribution that PBO is reckoned from */
    PANEL_TESTED,       /* equity out of sample */
    PANEL_CHART,
    PANEL_LOG,
    PANELS,
};

struct rect {
    enum panel panel;
    int x, y, width, height;
};

struct layout {
    struct rect rects[LAYOUT_RECTS_MAX];
    int n;
};

/* What the study's tab shows of a search instead of the lists. */
enum layout_search { SEARCH_LISTED, SEARCH_PAGE, SEARCH_VALIDATION };

/* What is to be seen. */
struct layout_choice {
    enum tab tab;
    enum panel zoomed; /* takes the body alone, or PANEL_NONE; one that the tab does not have is not zoomed */
    bool detail;       /* the study's tab shows one training's page instead of the lists */
    int trainings;     /* that there are: the overview gives them room */
    int venues;        /* likewise */
    int searches;      /* rows that the list of studies has, 0: it is not there */
    enum layout_search search;
    int running; /* trials of its page */
};

/* Fills a screen of width × height (1 or more) without overlap, but for a blank column between stacks. */
void layout_compute(int width, int height, const struct layout_choice *choice, struct layout *ret);

/* The rectangle of a panel, or NULL. */
const struct rect *layout_find(const struct layout *layout, enum panel panel);

#endif
