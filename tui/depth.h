/* One symbol's order book and its newest trades, as the daemon answered `book` and `trades` last. */
#ifndef TUI_DEPTH_H
#define TUI_DEPTH_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "exchange/symbol.h"
#include "tui/status.h"

enum {
    DEPTH_LEVELS_MAX = 64, /* a side */
    DEPTH_TRADES_MAX = 64,
    DEPTH_TEXT_MAX = 24, /* a sign, 20 digits, a point */
};

/* Exact, as text, and near enough to draw. */
struct depth_decimal {
    char text[DEPTH_TEXT_MAX];
    double value;
};

struct depth_level {
    struct depth_decimal price, qty;
};

/* What each answer has. `words`: why the last request was not answered; "": it was. */
struct depth_answer {
    char symbol[SYMBOL_NAME_MAX]; /* whose; "" before the first request */
    bool have;
    char words[STATUS_TEXT_MAX];
    int64_t mono_ms; /* when it came */
};

struct depth_book {
    struct depth_answer answer;
    char state[STATUS_WORD_MAX];                                       /* "none", "syncing", "synced" */
    struct depth_level bids[DEPTH_LEVELS_MAX], asks[DEPTH_LEVELS_MAX]; /* best first */
    int n_bids, n_asks;
};

enum depth_side { DEPTH_UNKNOWN, DEPTH_BUY, DEPTH_SELL };

struct depth_trade {
    int64_t ts_ns;
    enum depth_side side; /* which took */
    bool odd;             /* it makes no price */
    struct depth_decimal price, qty;
};

struct depth_tape {
    struct depth_answer answer;
    struct depth_trade trades[DEPTH_TRADES_MAX]; /* newest first */
    int n;
};

/* A limit order of ours that rests: what is left of it. */
struct depth_own {
    bool sells;
    double price, qty;
};

/* Take an answer's result for that symbol, or NULL and why there is none, at the monotonic `now_ms`. What
 * is of another symbol is forgotten; without a result what is of this one stays. Levels and trades that are
 * not decimals are left out. */
void tui_depth_take_book(struct depth_book *book, const char *symbol, const json_t *result, const char *words,
                         int64_t now_ms);
void tui_depth_take_tape(struct depth_tape *tape, const char *symbol, const json_t *result, const char *words,
                         int64_t now_ms);

/* Our orders that rest in the symbol's book: limit orders, and triggered stop-limits. Returns how many. */
int tui_depth_own(const struct status *status, const char *symbol,
                  struct depth_own ret[static STATUS_ORDERS_MAX]);

/* The digits after its point that it needs: without the zeros at its end. */
int tui_depth_digits(const struct depth_decimal *decimal);

/* The columns that it takes with so many digits after its point, no fewer than it needs. */
int tui_depth_width(const struct depth_decimal *decimal, int digits);

/* Its text with so many digits after its point, no fewer than it needs, in at most `columns`: exact where it
 * fits, else rounded to fewer digits, as a count ("9.1k"), or else "~". */
const char *tui_depth_fit(char buf[static DEPTH_TEXT_MAX], const struct depth_decimal *decimal, int digits,
                          int columns);

#endif
