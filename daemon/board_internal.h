/* The board's internals: board.c is the loop's side, with board_begin.c and board_view.c; board_work.c is
 * the thread's, with board_stored.c. */
#ifndef DAEMON_BOARD_INTERNAL_H
#define DAEMON_BOARD_INTERNAL_H

#include <pthread.h>

#include "daemon/board.h"
#include "daemon/config_specs.h"
#include "daemon/streams.h"
#include "daemon/timeframe.h"
#include "db/reader.h"
#include "engine/measure.h"

enum {
    BOARD_QUEUE_MAX = 16384,  /* bars of the market's interval */
    BOARD_RESULTS_MAX = 8192, /* rows that the loop has not stored yet: the thread waits for it */
    BOARD_WARM_BARS = 20000,  /* that streams without a memory are warmed with */
    BOARD_SAVE_BARS = 256,    /* bars of a symbol between two times that its streams' memory is stored */
};

#define BOARD_NOT_STREAMED (-1) /* the open time of a forming bar: its symbol was removed */

/* The order book's measures during a bar; there: had it one? */
struct board_book {
    bool there;
    int64_t open_ns;
    struct measure_bar bars[BOOK_MEASURES];
};

struct queued_bar {
    int symbol;
    struct bar bar;
    struct board_book book;
};

enum board_row { BOARD_ROW_BAR, BOARD_ROW_REPLACED, BOARD_ROW_MEMORY, BOARD_ROW_GONE };

struct board_result {
    enum board_row kind;
    uint32_t series;
    struct bar bar;      /* BOARD_ROW_BAR, with outputs[i * outputs] of the list */
    int64_t next_ns;     /* BOARD_ROW_REPLACED, BOARD_ROW_MEMORY */
    int64_t interval_ns; /* BOARD_ROW_GONE: that the series' symbol had */
    void *memory;        /* owned */
    size_t memory_size;
};

struct board_results {
    struct board_result *rows; /* [BOARD_RESULTS_MAX] */
    double *outputs;
    size_t n;
};

struct board_newest {
    struct bar closed, forming; /* open_ns 0: none */
};

/* The loop writes one once, before it publishes its number in n_published, and the name again where it
 * changes; the thread sets the last flag when its stored memories are loaded. */
struct board_symbol {
    char name[SYMBOL_NAME_MAX]; /* for the thread: daemon_board_name() */
    int price_scale, qty_scale;
    bool started;
};

/* The days of the symbols' calendars, one owner's own. */
struct board_calendars {
    struct trading_calendar *all; /* [n] */
    int n;
    int *of; /* [n_symbols]: index in `all`; -1: the symbol has none, or its days are not known */
    int n_symbols;
};

/* How the bars of a symbol were made, when the loop last looked. */
enum board_dated { BOARD_NEW, BOARD_BY_CLOCK, BOARD_BY_CALENDAR };

/* Bars of different series that are given to the streams in one call. */
struct board_round {
    uint32_t *series; /* [all series], as the rest */
    struct bar *bars;
    struct indicator_bar *ticks;
    double *outputs;
    double *priced; /* of the indicators of prices, where there are others; else `outputs` */
    struct board_book *books;
    bool *there; /* by series */
    size_t n;
};

struct board {
    struct daemon *daemon;
    int64_t base_ns;
    int64_t timeframes[CONFIG_TIMEFRAMES_MAX];
    int n_timeframes;
    char specs[CONFIG_SPECS_TEXT_MAX]; /* its own: the configuration may be another by now */
    struct daemon_config_specs kept;
    size_t n_priced, outputs; /* of its specs those of prices; of all */
    char *names_text;
    char names[CONFIG_SPEC_OUTPUTS_MAX][48];

    /* The loop's. */
    uv_async_t wake;
    uv_timer_t tick;
    bool started;
    bool needs; /* bars were not queued, and none will be until the thread has read them from the database */
    uint64_t need_first, need_last;  /* the tickets of those that the thread has not been asked to read */
    struct board_results given;      /* emptied by the loop */
    struct board_book *newest_books; /* [n_published]: the newest; NULL where no indicator reads it */
    bool *left;                      /* [n_published]: removed: its series stand still */
    enum board_dated *dated;         /* [n_published] */
    bool calendars_due;              /* the thread has not been given the engine's */
    struct board_symbol *symbols;    /* [SYMBOLS_MAX], of which n_published are written */
    bool silence_reported;           /* an alert was raised for the call to the device that is under way */
    bool failure_reported; /* an alert was raised for a device that failed and is not in use again */
    void (*stopped)(void *user);
    void *stopped_user;
    int open_handles;

    /* Both threads', under the lock. */
    pthread_mutex_t lock;
    pthread_cond_t work, room; /* to the thread */
    struct queued_bar *queue;  /* [BOARD_QUEUE_MAX] */
    size_t n_queue;
    int n_published;     /* symbols; the thread's arrays may still have room for fewer */
    struct bar *forming; /* [n_published]: the newest; open_ns 0: none, or BOARD_NOT_STREAMED */
    bool forming_news;
    bool *again; /* [n_published]: its series are computed again from what the database holds */
    struct board_calendars calendars_given; /* of NULL: there are no new ones */
    struct gpu_module *offered;             /* NULL: there is no new one */
    bool on_device, device_lost;
    uint64_t
        device_call_ns; /* when the call to it that is under way started, by uv_hrtime(); 0: there is none */
    char lost_reason[GPU_REASON_MAX];
    bool catch_up, catching_up, ask_again, stop, ended, abandoned;
    struct board_results results;
    struct board_newest *newest;            /* [series of n_published] */
    double *newest_closed, *newest_forming; /* [series * outputs] */
    uint64_t updates, missed;
    char trouble[256]; /* for an alert; "" */
    bool trouble_over; /* stored bars are read again */

    /* The thread's: it knows the first n_symbols of the n_published symbols. */
    pthread_t thread;
    int n_symbols;
    struct streams *streams;
    struct streams *measured[BOOK_MEASURES]; /* [symbol], on the CPU; NULL: no indicator reads that measure */
    struct timeframe *frames;                /* [series] */
    struct board_calendars calendars;        /* of the series above the market's interval */
    bool *changed;                           /* [series]: since its memory was stored */
    int *unsaved;                            /* [symbols]: bars since then */
    struct queued_bar *taken;
    struct bar *forming_taken;
    struct board_round round;
    int64_t newest_ns;         /* a bar too old to be kept in memory is not stored either */
    struct gpu_module *module; /* NULL: there is none, or it failed */
    bool astray;               /* bars are missing that could not be read: no bar is taken until they are */
};

static inline uint32_t board_series(const struct board *board, int symbol, int timeframe)
{
    return (uint32_t)(symbol * board->n_timeframes + timeframe);
}

/* A bar as indicators see it. */
struct indicator_bar daemon_board_tick(const struct board_symbol *symbol, const struct bar *bar);

/* board_view.c: how long the call to the device has lasted, 0 for none; the lock is held. */
int64_t daemon_board_device_call_ms(const struct board *board);

/* board_begin.c: everything except the thread and the loop's handles. 0 or -ENOMEM. */
int daemon_board_make(struct daemon *daemon, struct board **ret);
void daemon_board_destroy(struct board *board);
/* Starts the board once the symbols are known, and symbols that the engine has learned since; false before.
 */
bool daemon_board_started(struct board *board);
/* The thread's: room for n symbols, with series that have seen no bar. 0 or -ENOMEM: as before. */
int daemon_board_grow(struct board *board, int n);
/* Bars are not queued before the thread has read what the database holds. */
void daemon_board_need(struct board *board);

/* board_calendars.c: gives the thread copies of the engine's. 0 or -ENOMEM. */
int daemon_board_calendars_give(struct board *board, const struct engine *engine);
void daemon_board_calendars_forget(struct board_calendars *calendars);

/* The rest is the thread's. board_calendars.c: takes the new ones, with the lock held; a symbol's, without
 * days where it has none. */
void daemon_board_calendars_take(struct board *board);
const struct trading_calendar *daemon_board_days(const struct board *board, int symbol);
/* board_work.c: */
void *daemon_board_run(void *board);
void daemon_board_trouble(struct board *board, const char *words, const char *why); /* for an alert */
bool daemon_board_stopping(struct board *board);
/* Leaves a row for the loop, once there is room; takes over the row's memory. */
void daemon_board_give(struct board *board, struct board_result row, const double *outputs);
void daemon_board_leave_device(struct board *board);
/* `book`: what the book was during it. */
void daemon_board_take_bar(struct board *board, int symbol, const struct bar *bar,
                           const struct board_book *book);
void daemon_board_close_round(struct board *board); /* gives the gathered bars to the streams */
void daemon_board_save_symbol(struct board *board, int symbol);

/* board_measured.c: room for so many symbols, 0 or -ENOMEM; takes what the book was and writes the values;
 * writes that there are none of a measure's indicators, or of all (-1). */
int daemon_board_measured_grow(struct board *board, size_t n_symbols);
void daemon_board_measured_finish(struct board *board);
void daemon_board_measured_take(struct board *board, int symbol, const struct board_book *book, double *out);
void daemon_board_measured_none(const struct board *board, int measure, double *out);
struct board_book daemon_board_book_of(const struct engine_book_bar *reported);

/* board_stored.c: takes what the database holds and the board has not seen. False: not all of it; what
 * follows must wait until it is tried again. */
bool daemon_board_catch_up(struct board *board);

/* The symbol's name by now: returns `ret`. */
const char *daemon_board_name(struct board *board, int symbol, char ret[static SYMBOL_NAME_MAX]);

#endif
