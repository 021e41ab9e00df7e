/* Faults on request: what fails, and when. replay_fault_help() lists them; papertape-replay(1) describes
 * them. Times are of the wall's clock since the start of play, those of a symbol's changes and of hold@ of
 * market time since then. */
#ifndef EXCHANGE_REPLAY_FAULT_H
#define EXCHANGE_REPLAY_FAULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exchange/symbol.h"

enum {
    FAULT_GAP_EVERY = 200,     /* differences of a book */
    FAULT_GARBAGE_EVERY = 500, /* messages of a connection, as in all that follows */
    FAULT_DEFLATE_EVERY = 500,
    FAULT_DUP_EVERY = 50,
    FAULT_REORDER_EVERY = 50,
    FAULT_HALF_AFTER = 500,
    FAULT_HUGE_AFTER = 1000,
    FAULT_BROKEN_EVERY = 4, /* REST requests */
    FAULT_HALF_ANSWERS = 4,
    FAULT_ORDER_EVERY = 4, /* orders, or events of user data */
    FAULT_CHANGES_MAX = 16,
    FAULT_SILENCES_MAX = 16,
    FAULT_STREAM_MAX = 64,
    FAULT_WORD_MAX = 24,
    FAULT_ERROR_MAX = 1024,
    FAULT_FILL_LATENCY_MAX_S = 60,
    FAULT_FILL_SLIPPAGE_MAX_BP = 1000,
};

/* A change of a symbol while it is played. */
enum fault_change_kind {
    FAULT_STATUS,  /* its status is `word` from then on */
    FAULT_FILTERS, /* its filters change */
    FAULT_DELIST,  /* it is listed no longer */
};

struct fault_change {
    enum fault_change_kind kind;
    int64_t at_ns;
    char symbol[SYMBOL_NAME_MAX];
    char word[FAULT_WORD_MAX];
};

/* From then on, until then: since the start of play; to: INT64_MAX for good. */
struct fault_span {
    int64_t from_ns, to_ns;
};

/* One stream, as clients name it: "btcusdt@trade", "trades:AAPL". */
struct fault_silence {
    struct fault_span span;
    char stream[FAULT_STREAM_MAX];
};

/* Requests whose path ends with a name, as clients have it: "klines", "bars". */
struct fault_break {
    struct fault_span span;
    char name[FAULT_WORD_MAX]; /* "": none */
};

/* All is refused for so long, from the first request on, or from when that was posted, as posted_ns. */
struct fault_limit {
    int64_t ns, posted_ns; /* ns 0: not */
};

struct faults {
    int64_t base_ns;                  /* the times of what is added count from here */
    int64_t posted_ns;                /* when it is, of uv_hrtime(); 0: at the start */
    struct fault_span silent, frozen; /* 0 to 0: never */
    struct fault_silence silences[FAULT_SILENCES_MAX];
    size_t n_silences;
    uint64_t close_after; /* messages; 0: never */
    bool gap_book, garbage, dup, reorder, half_frame, deflate, fragment;
    bool half_answer;            /* every fourth answer of REST ends within its body */
    int64_t slow_answer_bytes_s; /* of each answer of REST; 0: all at once */
    size_t huge_bytes;           /* of one message; 0: none */
    int64_t slow_bytes_s;        /* that a connection gets in a second; 0: all */
    bool tls_expired;            /* the server's certificate */
    int64_t clock_skew_ns;       /* of the time in REST replies */

    /* Limits: see exchange/replay/binance/limits.h. */
    struct fault_limit too_many, teapot; /* 429, 418 */
    uint64_t ban_after;                  /* requests; 0: never */
    int64_t ban_ns;
    bool broken;                     /* every fourth REST request fails on the venue's side, */
    struct fault_break broken_paths; /* … or all of one path */
    uint64_t actions_bad;            /* so many of the first replies of corporate actions are malformed */

    /* Of orders and user data. */
    bool order_lost_request, order_lost_answer, order_twice, order_5xx_done, order_5xx_not_done;
    bool user_drop, user_dup, user_reorder;
    int64_t order_late_ns;          /* 0: never */
    bool wipe;                      /* at the next chance, which ends it */
    char revoked[FAULT_STREAM_MAX]; /* this API key is good no longer; "": none */
    /* Of fills, as --fill-latency and --fill-slippage; "none" leaves them. */
    int64_t fill_latency_ns;  /* of market time, from an order's receipt until it meets the book */
    int32_t fill_slippage_e6; /* by which a taker's price is worse than the book's */

    bool shutdown;
    int64_t shutdown_ns, shutdown_close_ns; /* it is announced, then connections are closed */
    int64_t age_ns;                         /* of a connection, in market time; 0: the venue's own */
    int64_t
        hold_ns; /* of market time since the start of play: there the position stands still; 0: it does not */

    struct fault_change changes[FAULT_CHANGES_MAX]; /* by time */
    size_t n_changes;
};

/* Adds the fault of one --fault without a time of exchange/replay/fault_schedule.h; "none" ends all that can
 * end. 0, or -EINVAL with a message "what: where: what would be right". */
int replay_fault_parse(struct faults *faults, const char *spec, char error[static FAULT_ERROR_MAX]);

/* 30s or 30s+10s, the whole of the text. */
bool replay_fault_span_parse(const char *text, struct fault_span *ret);

/* One of each, with commas between; behind a semicolon, that each may have a time. */
const char *replay_fault_help(void);

/* Is data held back, so long after the start of play? */
bool replay_fault_silent(const struct faults *faults, int64_t since_start_ns);
/* That of one stream? */
bool replay_fault_stream_silent(const struct faults *faults, int64_t since_start_ns, const char *stream,
                                size_t len);
/* Does a request of that path fail on the venue's side? */
bool replay_fault_broken(const struct faults *faults, int64_t since_start_ns, const char *path);
/* Until when all is refused, of uv_hrtime(); 0: it is not. */
int64_t replay_fault_limit_ns(const struct fault_limit *limit, int64_t first_asked_ns);
/* Do connections neither send nor read anything, pings and pongs included? */
bool replay_fault_frozen(const struct faults *faults, int64_t since_start_ns);

/* A frame that no parser may accept; n varies it. */
const char *replay_fault_garbage(uint64_t n);

#endif
