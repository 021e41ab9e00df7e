/* What one endpoint of the venue emits, in order of time: the synthetic market of its symbols as its feed
 * has it. A flow starts at any moment; what it emits from then on does not depend on when it started. */
#ifndef EXCHANGE_REPLAY_ALPACA_FLOW_H
#define EXCHANGE_REPLAY_ALPACA_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exchange/replay/alpaca/made.h"
#include "exchange/replay/alpaca/tally.h"

#define FLOW_BAR_AFTER_NS (MADE_SECOND / 1000) /* a minute's bars, after its end */

/* The order is that of the letters in flow.c. */
enum flow_kind {
    FLOW_TRADE,
    FLOW_QUOTE,
    FLOW_BAR,
    FLOW_UPDATED, /* a closed bar once more */
    FLOW_DAY,     /* the day's bar so far, every minute of the session */
    FLOW_STATUS,
    FLOW_BANDS,
    FLOW_IMBALANCE,
    FLOW_CORRECTION,
    FLOW_CANCEL,
    FLOW_BOOK,
    FLOW_KINDS,
};

struct flow_event {
    int64_t due_ns; /* when it is emitted, without the feed's delay */
    uint64_t seq;   /* of equal times */
    enum flow_kind kind;
    int symbol;
    union {
        struct made_tick tick; /* TRADE, QUOTE, CORRECTION, CANCEL, BOOK */
        struct tally bar;      /* BAR, UPDATED, DAY */
        struct {
            bool resumes;
            const char *code, *reason;
        } status;
        struct {
            int64_t up, down;
        } bands;
        int64_t price; /* IMBALANCE */
    };
};

/* A symbol's position. */
struct flow_symbol {
    struct tally day;
    int64_t day_end_ns; /* 0: not started */
    bool has_book;
    struct made_book book; /* as emitted last */
    int64_t book_ns;
};

struct flow {
    struct made *made;
    enum made_class class;
    enum made_feed feed;
    int64_t delay_ns;

    bool running;
    int64_t minute; /* the next one to be made */
    uint64_t seq;
    struct flow_event *heap;
    size_t n, cap;
    bool failed; /* out of memory */
    struct flow_symbol symbols[MADE_SYMBOLS_MAX];
};

void replay_flow_init(struct flow *flow, struct made *made, enum made_class class, enum made_feed feed,
                      int64_t delay_ns);
void replay_flow_finish(struct flow *flow);

/* Starts with what is emitted at `now_ns` or later. */
void replay_flow_start(struct flow *flow, int64_t now_ns);
void replay_flow_stop(struct flow *flow);

/* When the next event is emitted, with the delay; INT64_MAX: not running, or nothing within two weeks. */
int64_t replay_flow_due(struct flow *flow);

/* Takes it: replay_flow_due() is not INT64_MAX. */
void replay_flow_take(struct flow *flow, struct flow_event *ret);

#endif
