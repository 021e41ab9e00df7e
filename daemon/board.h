/* The board: every symbol's indicators on every timeframe, updated bar by bar, for charts, the status and
 * scripts.
 *
 * It has a thread of its own: the loop queues closed bars and never waits for it. Trading does not use the
 * board: strategies have their own indicators, in the engine (engine/runner.c). What the thread computes,
 * on the device where there is one, comes back to the loop, which stores it (chart_series, chart_bars).
 * Bars that do not fit into the queue are read from the database once they are stored, so that no bar is
 * ever missed; so are those from before the daemon started. All functions are called on the loop's thread. */
#ifndef DAEMON_BOARD_H
#define DAEMON_BOARD_H

#include <jansson.h>

#include "daemon/daemon.h"
#include "exchange/bar.h"

struct board;
struct gpu_module;

/* Starts the thread, which waits. NULL without memory or thread. */
struct board *daemon_board_create(struct daemon *daemon);

/* Queues a closed bar of the market's interval, after it was put to the writer; the session has started.
 * `board` may be NULL, here and in all that reports something to it. */
void daemon_board_bar(struct board *board, int symbol, const struct bar *bar);

/* The order book's measures during the next bar. */
void daemon_board_book_bar(struct board *board, const struct engine_book_bar *bar);
/* A split of the symbol, or older bars, were put to the writer: its past bars have changed, and its
 * indicators are computed again from them. */
void daemon_board_again(struct board *board, int symbol);

/* The engine knows other days of a calendar: bars longer than the market's interval are by them from here on.
 * `board` may be NULL. */
void daemon_board_calendars(struct board *board);

/* A stock has another name from now on. `board` may be NULL. */
void daemon_board_rename(struct board *board, int symbol, const char *name);

/* The symbol is streamed again, or no longer: then its series stop, and keep their memory. A symbol that
 * the engine knows is streamed until this says otherwise. `board` may be NULL. */
void daemon_board_follow(struct board *board, int symbol, bool follow);

/* Everything up to the ticket is in the database. */
void daemon_board_committed(struct board *board, uint64_t ticket);

struct board_view {
    uint64_t updates;       /* closed bars that streams took, one for each series */
    uint64_t waiting;       /* bars in the queue */
    uint64_t missed;        /* times that the queue was full: its bars were read from the database */
    bool behind;            /* bars are to be read from the database, or are being read */
    bool on_device;         /* streams are updated there */
    int64_t device_call_ms; /* how long the call to the device has lasted so far; 0: there is none */
};

/* Why no device is wanted for the streams; NULL: one is. */
const char *daemon_board_no_device(const struct daemon *daemon);

/* A device for the streams; the board owns it from here on. */
void daemon_board_take_device(struct board *board, struct gpu_module *module);

void daemon_board_view(struct board *board, struct board_view *ret);

/* The newest closed bar of a symbol and timeframe, the forming one, and the indicators at both; an empty
 * bar is null, as is the forming bar of a symbol that is no longer streamed. NULL when there is no such
 * timeframe. A new reference. */
json_t *daemon_board_object(struct board *board, int symbol, int64_t interval_ns);

/* The board's timeframes, as "1m" strings. A new reference. */
json_t *daemon_board_timeframes(const struct board *board);

/* Ends the thread, saves the streams' memory, frees the board and calls `done`: of two calls the later one's.
 * A thread that does not come back from the device in time is abandoned. */
void daemon_board_stop(struct board *board, void (*done)(void *user), void *user);

/* The configuration has other indicators: this board ends, and one that keeps those begins. In between
 * daemon->board is NULL; what comes then is read from the database, as is what came before. */
void daemon_board_renew(struct daemon *daemon);

/* Was a thread abandoned? Then the process must end without waiting for it. */
bool daemon_board_abandoned(void);

#endif
