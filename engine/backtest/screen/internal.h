/* The parts of a screen. Internal to engine/backtest/screen. */
#ifndef ENGINE_BACKTEST_SCREEN_INTERNAL_H
#define ENGINE_BACKTEST_SCREEN_INTERNAL_H

#include "engine/backtest/columns.h"
#include "engine/backtest/run.h"
#include "engine/backtest/screen/figures.h"
#include "engine/backtest/screen/screen.h"
#include "engine/backtest/screen/set.h"
#include "indicators_gpu/exact/exact.h"
#include "indicators_gpu/isa.h"

enum {
    SCREEN_UNIT = 64,       /* columns that a thread computes at once */
    SCREEN_CHUNK = 1 << 15, /* sets whose groups exist at once: 2048 groups of 7 KiB */
};

const struct screen_set *backtest_screen_set(enum indicator_isa isa);

/* ---- rules.c: which parameter of a strategy is what ---- */

enum screen_kind { COLUMN_SMA, COLUMN_EMA, COLUMN_RSI, COLUMN_HIST, COLUMN_ATR };

/* An indicator of one set; options as in its spec. */
struct screen_column {
    enum screen_kind kind;
    uint32_t options[3];
};

struct screen_rule_row {
    const char *strategy;
    enum screen_rule rule;
    size_t n_params; /* that it knows; with another value than the default of a later one it does not hold */
    int roles;       /* columns at each bar, of ROLE_FAST … */
    /* Its indicators: by role, and the ATR; and its parameters, into lane `lane`. */
    void (*columns)(const double *params, struct screen_column roles[static SCREEN_ROLES],
                    struct screen_column *atr);
    void (*fill)(const double *params, struct screen_group *g, int lane);
    bool rsi, atr; /* are read, though not at each bar */
};
const struct screen_rule_row *backtest_screen_rule(const struct strategy *strategy); /* NULL: it has none */

/* ---- columns.c: the indicators of all sets, a piece of the bars at a time ---- */

struct screen_columns {
    struct screen_column *columns; /* [n] distinct ones */
    struct indicator_spec *specs;  /* [n] */
    struct exact_memory *memory;   /* [n] */
    uint32_t *first;               /* [n] bar of the first value */
    size_t n, cap;
    uint32_t *table; /* of hashes: index + 1, [size] */
    size_t size;
};

/* The index of a column, a new one where it is new. -ENOMEM. */
int backtest_screen_column(struct screen_columns *columns, const struct screen_column *column, uint32_t *ret);
/* Sorts them by kind and options; ret_place[i], [n]: where column i is now. -ENOMEM. */
int backtest_screen_columns_sort(struct screen_columns *columns, uint32_t *ret_place);
void backtest_screen_columns_finish(struct screen_columns *columns);

/* The bars of the symbol, in the forms that kernel and indicators read. */
struct screen_history {
    struct columns_bars bars; /* real prices */
    double *prices;           /* [4][n] whole units: open, high, low, close */
    float *rounded;           /* [2][n]: high, low */
    double *closes;           /* [n + SCREEN_PADDING] real prices */
    uint32_t *rows;           /* NULL: bar i is row i */
    double price_units;
};
int backtest_screen_history(const struct backtest_config *config, struct screen_history *ret);
void backtest_screen_history_finish(struct screen_history *history);
struct screen_cuts backtest_screen_cuts(const struct backtest_config *config,
                                        const struct screen_history *history);

/* Bars [at, at + n) of the columns [from, to), for one thread; `scratch`: 3 * 16 * SCREEN_PIECE doubles. The
 * ATR's go to wide + index * SCREEN_PIECE, all others to cells + index * SCREEN_PIECE. Columns of one kind
 * must lie together. */
struct screen_piece {
    const struct screen_history *history;
    size_t at, n;
    float *cells;
    double *wide;
    double *scratch;
    const struct screen_set *set;
    enum indicator_isa isa;
};
void backtest_screen_columns_fill(struct screen_columns *columns, size_t from, size_t to,
                                  const struct screen_piece *piece);

/* ---- terms.c ---- */

struct screen_terms backtest_screen_terms(const struct screen *screen);

/* ---- plan.c: sets into groups ---- */

struct screen_plan {
    const struct screen_rule_row *rule;
    struct screen_columns columns, wide;
    struct screen_group *groups;
    size_t n_groups;
};

/* Of sets [from, to), whose rows' states are written. 0; -ENOMEM; -ENOTSUP: a set has a parameter that its
 * rule does not know. */
int backtest_screen_plan(const struct screen *screen, const struct screen_terms *terms, size_t n_bars,
                         size_t from, size_t to, struct screen_row *rows, struct screen_plan *ret);
void backtest_screen_plan_finish(struct screen_plan *plan);

/* ---- figures.c ---- */

struct screen_span backtest_screen_span(const struct backtest_config *config,
                                        const struct screen_history *history);
/* A group's rows. */
void backtest_screen_figures(const struct screen_terms *terms, const struct screen_span *span,
                             struct screen_group *g, struct screen_row *rows);

#endif
