/* The venue's state: its synthetic markets, its endpoints and their subscribers, and the position. */
#ifndef EXCHANGE_REPLAY_ALPACA_ALPACA_H
#define EXCHANGE_REPLAY_ALPACA_ALPACA_H

#include <stddef.h>

#include "exchange/replay/alpaca/flow.h"
#include "exchange/replay/alpaca/made.h"
#include "exchange/replay/protocol.h"

/* A recording of the trading stream: a frame a line, plain or gzip. Skips frames that are not trade updates
 * (the answers to authentication and listening). */

enum { UPDATES_LINE_MAX = 64 << 10, UPDATES_ERROR_MAX = 256 };

struct updates {
    char **frames; /* as they stand */
    size_t n;
};

/* Adds a file's. 0; -EINVAL, -ENOENT and its like, or -ENOMEM, with "what: where: what would be right". */
int replay_updates_read(struct updates *updates, const char *path, char error[static UPDATES_ERROR_MAX]);
void replay_updates_finish(struct updates *updates);

extern const struct protocol_row replay_alpaca_protocol;

struct replay_recorded;

enum {
    ALPACA_ENDPOINTS = 7,
    ALPACA_MARKETS = 4, /* stocks; crypto of each location */
    ALPACA_COINS = 1,   /* the first location's: us, where orders trade */
    ALPACA_CALLS_PER_MINUTE = 200,
    RECORDED_BOOKS_MAX = 64, /* coins of a recording */
};

/* In the order of replay_alpaca_protocol's `headers`. */
enum alpaca_header { HEADER_KEY, HEADER_SECRET, HEADER_CONTENT_TYPE };

/* A path that data streams from. */
struct replay_endpoint {
    const char *path;
    const char *feed; /* its name in REST; crypto: the location */
    struct flow flow;
    struct alpaca_subscriber *subscribers; /* all, authenticated or not */
};

struct alpaca {
    struct protocol base;
    struct replay_source source;
    struct made made[ALPACA_MARKETS];
    struct calendar_file *calendar;            /* of stocks */
    struct file_bars *files[MADE_SYMBOLS_MAX]; /* played instead of synthetic markets */
    size_t n_files;
    struct replay_endpoint endpoints[ALPACA_ENDPOINTS];
    struct alpaca_subscriber *traders; /* of /stream */
    struct updates updates;            /* that it sends to its subscribers */
    struct alpaca_orders *orders;
    struct replay_recorded *recorded; /* NULL: the markets are synthetic */

    int64_t now_ns, to_ns; /* the position; the end */
    int64_t beat_ns;       /* when time itself is next emitted, while nothing happens */
    struct text scratch[2];

    bool free_plan;
    const char *key_id;                /* NULL: any key is accepted */
    char *secret;                      /* follows key_id in its memory */
    bool read_only;                    /* the keys may not trade */
    int partial_percent;               /* of orders are filled in parts */
    int refuse;                        /* the error that every authentication gets, from then on; 0: none */
    int64_t refuse_after_ns, began_ns; /* of market time since the position that it began with */

    int64_t minute, market_minute; /* in which calls are counted: of wall time, of the position */
    int64_t calls, calls_most;
    uint64_t asked; /* calls ever, for faults */
    uint64_t actions_asked;
    int64_t first_asked_ns;
};

/* The fault revoke. */
bool replay_alpaca_revoked(const struct alpaca *alpaca, const char *id);
bool replay_alpaca_keys_good(const struct alpaca *alpaca, const char *id, const char *secret);

/* Starts or stops an endpoint's flow, as it has subscribers or has none. */
void replay_alpaca_run(struct alpaca *alpaca, struct replay_endpoint *endpoint);

#endif
