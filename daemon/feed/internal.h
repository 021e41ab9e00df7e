/* The feeds' insides, shared by this folder's files: feeds.c holds them together, feed.c takes one up and
 * down, fetch.c asks for bars and books, stream.c takes frames, watch.c judges their age, view.c tells. */
#ifndef DAEMON_FEED_INTERNAL_H
#define DAEMON_FEED_INTERNAL_H

#include "daemon/feed/feeds.h"
#include "exchange/net/backoff.h"
#include "exchange/net/watchdog.h"

struct net_context;

enum stage { STAGE_TIME, STAGE_SYMBOLS, STAGE_HISTORY, STAGE_STREAM };

struct stream {
    int symbol; /* the feed's */
    enum market_kind kind;
    char name[FEED_STREAM_NAME_MAX];
    uint64_t frames;
    int64_t last_ms; /* 0: nothing yet */
};

struct feed_symbol {
    int index; /* the engine's */
    bool stale, book_asked;
    int streams[MARKET_CHANNELS]; /* of each kind, or -1 */
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
    struct feeds *feeds;
    struct daemon *daemon;
    const struct venue *venue;
    const struct config_venue *config;
    const bool *kinds; /* [MARKET_CHANNELS]: that are subscribed */
    struct venue_rest *rest;
    struct venue_stream *link;
    struct venue_parser *parser;
    struct symbol *listed;       /* as the venue lists them, or by name alone before `known` */
    struct feed_symbol *symbols; /* the same ones */
    int n_symbols;
    bool known;    /* what they are: told, or stored by a former run */
    bool answered; /* told */
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

    struct stream *streams;
    struct watchdog_stream *watched; /* the same ones */
    size_t n_streams;
    struct watchdog watchdog;

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

/* ---- feeds.c ---- */

/* A feed knows its symbols: begins the session when all do. */
void feeds_known(struct feeds *feeds);
struct net_context *feeds_net(const struct feeds *feeds);

/* ---- feed.c ---- */

/* names: what it is to stream, with the engine's numbers of them. 0 or -errno with one line. */
int feed_create(struct feeds *feeds, struct daemon *daemon, const struct config_venue *config,
                const char (*names)[SYMBOL_NAME_MAX], const int *indices, int n, struct feed **ret, char *err,
                size_t err_size);

/* Where its streams and all else are. */
const char *feed_ws_url(const struct feed *feed);
const char *feed_rest_url(const struct feed *feed);

/* Begins with the venue's time and symbols, and keeps trying. */
void feed_start(struct feed *feed);

/* The session has begun: history, then the stream. */
void feed_begun(struct feed *feed);

/* Ends the stream and all requests; `done` is called when nothing is left, then the feed is gone. */
void feed_stop(struct feed *feed, void (*done)(void *user), void *user);

/* The venue's time, as well as it is known: what it told and the time since, but not before the newest
 * event. */
int64_t feed_venue_now_ns(const struct feed *feed);

/* All the symbols' history has been asked for, or one has it. */
void feed_history_done(struct feed *feed);

/* Before the venue has answered, once a second. */
void feed_begin_without_venue(struct feed *feed);

/* ---- fetch.c: symbols here are the feed's ---- */

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

void feed_need_snapshot(struct feed *feed, int symbol);

/* Forgets every request that is not answered. */
void feed_forget_asked(struct feed *feed);

/* Sends the questions that waited for the stream to stand still. */
void feed_settle(uv_idle_t *idle);

/* ---- stream.c ---- */

/* On the feed's clock: the stream stands still from here until as many releases. */
bool feed_hold(struct feed *feed); /* false on the wall's clock, or without a stream */
void feed_release(struct feed *feed);

/* Lists the streams and connects. */
void feed_open_stream(struct feed *feed);

/* ---- watch.c ---- */

/* Once a second. */
void feed_tick(uv_timer_t *timer);

#endif
