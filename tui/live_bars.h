/* The newest closed bar of a symbol and timeframe and the one that is forming, with their indicators, as the
 * daemon answered `indicators` last: what the database does not have yet. */
#ifndef TUI_LIVE_BARS_H
#define TUI_LIVE_BARS_H

#include <jansson.h>

#include "tui/history.h"

enum { LIVE_BARS_MAX = 2 };

struct live_bars {
    char symbol[SYMBOL_NAME_MAX];    /* whose; "": of none */
    char timeframe[STATUS_WORD_MAX]; /* likewise */
    int64_t mono_ms;                 /* when the answer came */
    struct history_bar bars[LIVE_BARS_MAX];
    bool forming[LIVE_BARS_MAX];   /* not closed yet */
    json_t *values[LIVE_BARS_MAX]; /* of indicators by their names, owned */
    int n;                         /* 0: there is no answer, or it has none */
};

/* Takes an answer's result, or NULL, at the monotonic `now_ms`; what was known before is forgotten. */
void tui_live_bars_take(struct live_bars *live, const char *symbol, const char *timeframe,
                        const json_t *result, int64_t now_ms);
void tui_live_bars_finish(struct live_bars *live);

/* How many of its last bars are newer than all that the history has, where that has the newest stored ones of
 * the same symbol and timeframe. */
int tui_live_bars_newer(const struct live_bars *live, const struct history *history);

/* The indicator's value at bar i; NaN: not known. */
double tui_live_bars_value(const struct live_bars *live, int i, const char *name);

#endif
