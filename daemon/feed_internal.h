/* A feed's insides, shared by its own files: feed.c goes the way up and down, feed_fetch.c asks for bars and
 * books, feed_stream.c takes frames, feed_watch.c judges their age and tells. */
#ifndef DAEMON_FEED_INTERNAL_H
#define DAEMON_FEED_INTERNAL_H

#include "daemon/feed.h"
#include "exchange/net/backoff.h"
#include "exchange/net/watchdog.h"
#include "exchange/venue.h"

enum { FEED_STREAMS_MAX = SYMBOLS_MAX * MARKET_CHANNELS };

enum stage { STAGE_TIME, STAGE_SYMBOLS, STAGE_HISTORY, STAGE_STREAM };

struct stream {
    int symbol;
    enum market_kind kind;
    char name[FEED_STREAM_NAME_MAX];
    uint64_t frames;
    int64_t last_ms; /* 0: nothing yet */
};

/* A request that the venue has not answered; all of a feed's stand in a list, so that none is lost at the
 * end. */
struct asked {
    struct asked *next, **at;
    void *owned; /* freed with it */
    bool sent;
    int (*send)(struct asked *asked); /* 0 or -errno */
};

struct feed {
    struct daemon *daemon;
    const struct venue *venue;
    struct net_context *net;
    struct venue_rest *rest;
    struct venue_stream *link;
    struct venue_parser *parser;
    struct symbol *symbols;
    int n_symbols;
    enum stage stage;
    int history_left;
    struct asked *asked;

    /* On the feed's clock nothing may depend on how long a reply takes: from the question to the answer the
     * stream is not read, and what was read already is held. */
    int unanswered;
    uv_idle_t settle; /* turns of the loop before a question is sent */
    int settle_turns;
    bool releasing;
    char *held; /* frames, each after its length */
    size_t held_len, held_cap;

    struct stream streams[FEED_STREAMS_MAX];
    struct watchdog_stream watched[FEED_STREAMS_MAX];
    struct feed_stream_view views[FEED_STREAMS_MAX];
    int16_t index[SYMBOLS_MAX][MARKET_CHANNELS]; /* of a symbol's stream of a kind, or -1 */
    size_t n_streams;
    struct watchdog watchdog;
    bool stale[SYMBOLS_MAX], book_asked[SYMBOLS_MAX];

    uv_timer_t tick, retry;
    struct backoff backoff;
    int64_t retry_at_ms;              /* 0: not waiting */
    int64_t up_since_ms;              /* 0: down */
    int64_t last_frame_ms, newest_ns; /* newest_ns: the latest event time seen */
    bool was_up, told_absence;
    int silences; /* reconnections for silence since data last came */
    uint64_t bad_frames;
    int64_t server_ns, server_boot_ns; /* the time that it told, and when by CLOCK_BOOTTIME */
    int64_t clock_offset_ns;
    bool have_offset;
    char detail[VENUE_DETAIL_MAX + 64];

    void (*stopped)(void *user);
    void *stopped_user;
    int open_handles;
};

int64_t feed_now_ms(void);  /* monotonic */
int64_t feed_wall_ns(void); /* the wall's clock */

/* The venue's time, as well as it is known: what it told and the time since, but not before the newest
 * event. */
int64_t feed_venue_now_ns(const struct feed *feed);

/* All the symbols' history has been asked for, or one has it. */
void feed_history_done(struct feed *feed);

/* Why bars are asked for. */
enum bars_why {
    BARS_HISTORY,     /* before the stream starts */
    BARS_LOST,        /* the stream left them out */
    BARS_INTERRUPTED, /* they closed while there was no stream */
};

/* Asks for bars of open times from..to; the answer is an EVENT_BARS. 0 or -errno. */
int feed_ask_bars(struct feed *feed, int symbol, int64_t from_ns, int64_t to_ns, enum bars_why why);

/* The same of missing ones, at most as many as history has, and writes the gap down. */
void feed_fill_gap(struct feed *feed, int symbol, int64_t from_open_ns, int64_t to_open_ns,
                   enum bars_why why);

/* Forgets every request that is not answered. */
void feed_forget_asked(struct feed *feed);

/* Sends the questions that waited for the stream to stand still. */
void feed_settle(uv_idle_t *idle);

/* On the feed's clock: the stream stands still from here until as many releases. */
bool feed_hold(struct feed *feed); /* false on the wall's clock, or without a stream */
void feed_release(struct feed *feed);

/* Lists the streams and connects. */
void feed_open_stream(struct feed *feed);

/* Before the venue has answered, once a second. */
void feed_begin_without_venue(struct feed *feed);

/* Once a second. */
void feed_tick(uv_timer_t *timer);

#endif
