/* The feeds' internals, shared by this folder's files: feeds.c keeps all feeds, feed.c starts and stops
 * one, hours.c has its calendars and corporate actions, fetch.c asks for bars and books, backfill.c for bars
 * of long ago, refresh.c asks repeatedly for what changes slowly, names.c renames stocks, stream.c takes
 * frames, symbols.c adds and removes symbols, halted.c ends halts whose end was missed, reload.c takes
 * another configuration, silence.c has the rules of their age, watch.c acts on them, latest.c asks for what a
 * silent stream should have sent, reach.c reports why a venue is not reached,
 * recover.c measures how long its bars take to come back, view.c reports the state. */
#ifndef DAEMON_FEED_INTERNAL_H
#define DAEMON_FEED_INTERNAL_H

#include "daemon/feed/calendar.h"
#include "daemon/feed/feeds.h"
#include "daemon/feed/keys.h"
#include "daemon/feed/measure.h"
#include "daemon/feed/pace.h"
#include "daemon/feed/recovery.h"
#include "daemon/feed/silence.h"
#include "exchange/market.h"
#include "exchange/net/backoff.h"
#include "exchange/net/budget.h"
#include "exchange/net/requests.h"

struct net_context;

enum { FEED_CALENDARS_MAX = 4 };

enum stage { STAGE_TIME, STAGE_SYMBOLS, STAGE_DAYS, STAGE_ACTIONS, STAGE_HISTORY, STAGE_STREAM };

/* The newest that is known of a stream, from it or by REST. */
struct newest {
    bool known;
    int64_t id, ts_ns; /* TRADE, AGG_TRADE; ts_ns: of a QUOTE too, 0 where it has no time */
    struct market_quote quote;
    struct market_ticker ticker;
    int64_t book_ms; /* DEPTH: when REST last had the whole book; 0: never */
};

struct stream {
    int symbol; /* the feed's */
    struct silence_rule rule;
    struct silence silence;
    struct newest newest;
    int64_t since_ns; /* listening began, by the venue's time */
    int64_t stale_ms; /* since when it has been stale; 0: it is not */
    int64_t alert_ns; /* when the alert was raised that names it as stale; 0: none */
    bool stale;       /* as that says, */
    bool stale_news;  /* … and is to say */
    enum market_kind kind;
    char name[FEED_STREAM_NAME_MAX];
    uint64_t frames;
    int64_t last_ms; /* 0: nothing yet */
    struct measure measure;
};

struct feed_symbol {
    int index;                 /* the engine's */
    int planned;               /* its place in the configuration's order; -1: added since */
    int calendar;              /* of the feed's, or -1 */
    char base[ASSET_NAME_MAX]; /* the first name of a stock whose name has changed; "": it has not */
    bool streamed;             /* false: removed while it runs */
    bool left_out;             /* by the configuration, while an account holds it or has an order in it */
    bool unlisted; /* the venue lists it no longer, and has not said yet whether its name has changed */
    bool down;     /* while its feed is up: a connection that carries it is not there */
    bool stale, book_asked, odd_units;
    bool book_reported; /* an alert says that it does not stay synchronized */
    bool book_wanted;   /* asked for as soon as its pace allows */
    struct pace book_pace;
    int64_t past_end_ns;     /* bars from there on are asked for as events; 0: not known yet */
    int64_t lost_from_ns;    /* the first that was missing and could not be fetched; 0: none */
    struct backfill *past;   /* those before, where they are wanted; owned */
    int64_t halt_unknown_ns; /* since when it is not known whether it is halted; INT64_MAX: it is known */
    int64_t actions_from_ns; /* its first moment here: those before took effect before */
    int streams[MARKET_CHANNELS]; /* of each kind, or -1 */
    bool torn;                    /* no bar has closed on its stream since its connection changed, … */
    uint64_t torn_frames;         /* … after so many of the feed's frames */
    struct feed_recovery recovery;
    bool off[MARKET_CHANNELS]; /* subscribed no longer: what is on its way of it is dropped */
};

/* A request that the venue has not answered; a feed keeps all of its in a list, so that no request is lost at
 * the end. */
struct feed_asked {
    struct feed_asked *next, **at;
    void *owned; /* freed with it */
    bool sent;
    int (*send)(struct feed_asked *asked);     /* 0 or -errno */
    void (*dropped)(struct feed_asked *asked); /* no answer will come, and it is freed; NULL: none */
};

enum { FEED_SKIPPED_MAX = 64 };
enum { FEED_REFUSED_NAMED = 8, FEED_REFUSED_MAX = FEED_REFUSED_NAMED * (SYMBOL_NAME_MAX + 2) + 32 };

struct feed_known_action {
    struct venue_action reported;
    int symbol; /* the feed's */
    bool given; /* to the engine, or of a time before it */
};

/* The page of older bars that is on its way, or is being stored: backfill.c. */
struct feed_past {
    uv_timer_t timer;
    struct venue_call *call; /* NULL: no page is on its way */
    int symbol, turn;        /* whose; and whose is the next */
    bool first;              /* it asks for the venue's first bar */
    int64_t from_ns, end_ns;
    struct bar *list; /* what has come of it */
    size_t n;
    uint64_t ticket; /* of its last row: nothing is asked for before it is on the disk */
    struct backoff backoff;
    int64_t retry_at_ms, said_ms; /* 0: it does not wait; nothing is said yet */
    uint64_t bars;                /* fetched since the start */
    uint64_t failures;            /* of the venue's requests, when the page was asked for */
    char why[VENUE_DETAIL_MAX];   /* the last page could not be had; "" */
};

struct feed {
    struct feeds *feeds;
    struct daemon *daemon;
    const struct venue *venue;
    const struct daemon_config_venue *config;
    int place;         /* among the configuration's venues */
    const bool *kinds; /* [MARKET_CHANNELS]: that are subscribed */
    struct venue_rest *rest;
    struct venue_stream *link;
    struct feed_keys *keys; /* secret; NULL: none */
    struct venue_setting settings[CONFIG_SETTINGS_MAX];
    size_t n_settings;
    int64_t ban_until_ns; /* of the wall's clock; 0: no ban */

    /* Room for SYMBOLS_MAX, since the parser points into `listed`. */
    struct symbol *listed;       /* as the venue lists them, or by name alone before `known` */
    struct feed_symbol *symbols; /* the same ones */
    int n_symbols;
    struct venue_parser *parser;
    bool known;  /* the symbols' data, from the venue or stored by a former run */
    bool absent; /* the session does not wait for it; symbols that are not stored wait here: */
    char (*waiting)[SYMBOL_NAME_MAX];
    int n_waiting;
    bool joined;   /* by a reload: what waits was named by the file just now */
    bool answered; /* the venue has answered */
    bool final;    /* refused, and no retry helps: nothing is requested any more */
    enum stage stage;
    int history_left;
    struct feed_past past;
    struct feed_asked *asked;
    struct feed *next_leaving;
    struct feed_list *list; /* the list of streams that a client waits for, or NULL */

    struct calendar calendars[FEED_CALENDARS_MAX];
    int n_calendars;
    struct feed_known_action *actions;
    size_t n_actions;
    uint64_t skipped[FEED_SKIPPED_MAX]; /* hashes of what was reported, a ring */
    size_t n_skipped;
    int64_t actions_from_ns; /* when they were read last, by this run, or the former one ended */
    int64_t due_ns;          /* when a calendar or an action is next due */
    int64_t hours_ask_ns,
        list_ask_ns; /* by the venue's time: when both, and what it lists, are asked again */

    /* On the feed's clock nothing may depend on how long a reply takes: between the request and its answer
     * the stream is not read, and what was read already is held. */
    int unanswered;
    uv_idle_t settle; /* turns of the loop before a request is sent */
    int settle_turns;
    bool releasing;
    char *held; /* frames, each after its length */
    size_t held_len, held_cap;
    uint64_t frames, frames_taken; /* received, and taken: those between are held */

    struct stream *streams;
    size_t n_streams;
    struct silence_limits limits;
    struct silence_replaced replaced[VENUE_CONNECTIONS_MAX];
    struct silence_flow flows[VENUE_CONNECTIONS_MAX];
    int64_t stale_alert_ns;        /* when the newest alert of stale streams was raised; 0: it is over */
    char silent[VENUE_DETAIL_MAX]; /* why a connection was replaced, as the alert says; "": no alert */
    struct budget asks;            /* units of requests for silent streams: venue->ask_cost */
    size_t next_asked;             /* where the search for the next one starts */
    int n_asked_streams;           /* unanswered ones */

    uv_timer_t tick, retry;
    struct backoff backoff;
    int64_t retry_at_ms;              /* 0: not waiting */
    int64_t up_since_ms;              /* 0: down */
    int64_t last_frame_ms, newest_ns; /* newest_ns: the latest event time seen */
    bool was_up, absence_reported;
    bool some_down;                 /* it is up, but not all of its connections */
    char refused[FEED_REFUSED_MAX]; /* symbols beyond the plan's number, as the alert names them; "": none */
    int64_t started_ms;
    uint64_t bad_frames;
    bool bad_reported; /* an alert says that there are many */
    struct measure measure;
    struct feed_recoveries recoveries;
    int64_t server_ns, server_boot_ns; /* the time that the venue sent, and when by CLOCK_BOOTTIME … */
    int64_t server_late_ns;            /* … so much earlier or later */
    bool have_offset;
    bool renews; /* feed_renew_clock()'s request is not answered */
    char detail[VENUE_DETAIL_MAX + 64];
    char cause[VENUE_DETAIL_MAX + 64]; /* why it is not reached, as the alert says; "": no alert */

    void (*stopped)(void *user);
    void *stopped_user;
    int open_handles;
};

/* ---- feeds.c ---- */

/* A feed knows its symbols, or is not waited for: the session starts when that is so of all feeds. */
void feeds_known(struct feeds *feeds);
/* Refused for good before the session: false ends the daemon, since no other feed can continue. */
bool feeds_refused(struct feeds *feeds, struct feed *feed);
/* A feed has its history: when all have, or wait for their venue, the missed time is reported. */
void feeds_caught_up(struct feeds *feeds);
struct net_context *feeds_net(const struct feeds *feeds);
/* The venue's time has reached now_ns: what is due of calendars and actions becomes events, of all feeds. */
void feeds_pass(struct feeds *feeds, int64_t now_ns);
int64_t feeds_due_ns(const struct feeds *feeds); /* when feeds_pass() has something to do */
void feeds_due(struct feeds *feeds);             /* a feed's due_ns changed */
/* The engine knows one more symbol of that feed: its last. */
void feeds_added(struct feeds *feeds, struct feed *feed);

/* ---- feed.c ---- */

struct feed_wanted {
    char name[SYMBOL_NAME_MAX];
    char base[ASSET_NAME_MAX]; /* of a stock whose name has changed; "": as the venue lists it */
    int index;                 /* the engine's */
    bool left_out;             /* as struct feed_symbol has it */
};

/* What is known of a venue beside its configuration. */
struct feed_given {
    int place;                    /* of the configuration's */
    int64_t ban_until_ns;         /* the end of a ban that a former run received; 0: none */
    const struct feed_keys *keys; /* NULL: they are read, where it is to have some */
};

/* 0 or -errno with one line. */
int feed_create(struct feeds *feeds, struct daemon *daemon, const struct daemon_config_venue *config,
                const struct feed_wanted *wanted, int n, const struct feed_given *given, struct feed **ret,
                char *err, size_t err_size);

/* Its configuration is there from now on. */
void feed_use(struct feed *feed, const struct daemon_config_venue *config);

/* It was made while others ran (feeds_try()), and is one of them now, by this configuration: those symbols
 * are streamed once it describes them. 0 or -ENOMEM. */
int feed_join(struct feed *feed, const struct daemon_config_venue *config,
              const char (*names)[SYMBOL_NAME_MAX], int n);

struct silence_limits feed_silence_limits(const struct daemon_config *config);
struct venue_ban feed_ban(struct feed *feed);
struct venue_keys feed_venue_keys(const struct feed *feed);
const char *feed_ws_url(const struct feed *feed);
const char *feed_rest_url(const struct feed *feed);

/* Asks for the venue's time and symbols, and keeps trying. */
void feed_start(struct feed *feed);

/* The session has started: continues with the stages that are left. */
void feed_started(struct feed *feed);

/* Ends the stream and all requests; `done` is called when nothing is left, then the feed is gone. */
void feed_stop(struct feed *feed, void (*done)(void *user), void *user);

/* Continues the start at this stage. */
void feed_continue(struct feed *feed, enum stage stage);
/* Tries the stage again, later. */
void feed_try_again(struct feed *feed, const char *what, const char *why);
/* No retry helps: reported once, and nothing is tried any more. */
void feed_end_for_good(struct feed *feed, const char *why);
/* Is the reply a refusal that no retry helps? */
bool feed_reply_is_final(const struct feed *feed, const struct venue_reply *reply);

/* All the symbols' history has been requested, or one symbol's is there. */
void feed_history_done(struct feed *feed);

/* Called once a second before the venue has answered. */
void feed_begin_without_venue(struct feed *feed);
/* With how many symbols the session could start. */
int feed_known_symbols(struct feed *feed);
/* Symbols that no former run stored wait until the venue describes them. 0 or -ENOMEM. */
int feed_put_off(struct feed *feed);

/* The symbol's base, where its name has changed: what it is kept by (symbol_renamed()). */
void feed_keep_base(const struct feed *feed, int symbol, struct symbol *listed_now);
/* Its name is another from now on: the streams too. */
void feed_rename(struct feed *feed, int symbol, const char *name);
/* The session knows symbols by names that they have by now. */
void feed_follow_names(struct feed *feed);
/* The actions were read, as far as the venue gives them: stocks that it does not list are gone. */
void feed_end_unlisted(struct feed *feed);

/* Marks a symbol from the venue's reply as this venue's. */
void feed_own(const struct feed *feed, struct symbol *symbol);

/* Raises an event's alert and writes a line of the log, with the venue's name. */
void feed_alert(struct feed *feed, enum db_severity severity, const char *code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The same for a condition, found by what the text begins with, `about`: "BTCUSDT" for a symbol, "" for the
 * venue. */
void feed_alert_raise(struct feed *feed, enum db_severity severity, const char *code, const char *about,
                      const char *format, ...) __attribute__((format(printf, 5, 6)));
/* Ends that condition. Nothing happens where there is none. */
void feed_alert_end(struct feed *feed, const char *code, const char *about);

/* ---- clock.c ---- */

void feed_take_time(struct feed *feed, const struct venue_reply *reply);
/* The venue's clock, as well as it is known: its last time and what passed since. */
int64_t feed_clock_ns(const struct feed *feed);
/* The same, but not before the newest event; on the feed's clock the session's. */
int64_t feed_venue_now_ns(const struct feed *feed);
/* What ended before is over, by the venue's clock, as its replies say it, and where that is less than a
 * minute ahead by this machine's, too: either may be wrong. A bar that REST has is closed only then; a
 * stream's newest message decides it, too. */
int64_t feed_over_ns(const struct feed *feed);
/* An event where the engine's time is another than it was, by the venue's: once a second, and before a bar
 * that closes, for its symbol alone. -1: looks at all of the feed's symbols. */
void feed_report_clock(struct feed *feed, int symbol);

/* ---- hours.c ---- */

/* Finds the symbols' calendars; days known before stay. */
void feed_find_calendars(struct feed *feed);
/* The stages: the replies are taken, then the start continues. */
void feed_ask_days(struct feed *feed);
void feed_ask_actions(struct feed *feed);
/* Both once more, while the stream runs. */
void feed_ask_hours(struct feed *feed);
/* What is due by then becomes events. */
void feed_pass(struct feed *feed, int64_t now_ns);
bool feed_symbol_open(const struct feed *feed, int symbol); /* now; without a calendar always */
bool feed_closed(const struct feed *feed);                  /* all its markets are */
/* Of the symbol's calendar, valid until the venue sends others; n 0: it has none, or they are not known. */
struct trading_calendar feed_days(const struct feed *feed, int symbol);
/* The bar that holds `ns`, by these days (trading_bar_span()). */
void feed_bar_span(const struct feed *feed, int symbol, int64_t ns, int64_t *ret_open_ns,
                   int64_t *ret_end_ns);
/* The open time of the last bar that is over at `ns`. */
int64_t feed_bar_before(const struct feed *feed, int symbol, int64_t ns);
/* When the bar that opens then ends. */
int64_t feed_bar_end(const struct feed *feed, int symbol, int64_t open_ns);
/* To the parser, if there is one. 0 or -ENOMEM. */
int feed_give_days(struct feed *feed, int calendar);
void feed_hours_finish(struct feed *feed);

/* ---- skipped.c ---- */

/* Alerts of what of a reply was skipped. */
void feed_skipped(struct feed *feed, const struct venue_reply *reply);

/* ---- refresh.c ---- */

/* Asks for what is due by the venue's time. */
void feed_refresh(struct feed *feed, int64_t now_ns);
/* The venue lists the symbol so now: an event where that is new. */
void feed_take_listed(struct feed *feed, int symbol, const struct venue_symbol *listed_now);
/* It is listed, or takes orders: ends the alerts that it did not. */
void feed_listed_well(struct feed *feed, const struct symbol *symbol);

/* ---- fetch.c: symbols here are the feed's ---- */

enum bars_why {
    BARS_HISTORY,     /* before the stream starts */
    BARS_ADDED,       /* of a symbol that is added while it runs */
    BARS_LOST,        /* the stream left them out */
    BARS_INTERRUPTED, /* they closed while there was no stream */
};

/* Asks; `hold`: on the feed's clock the stream stands still until the answer, whose callback calls
 * feed_answered(), and then feed_release(). 0 or -errno, then `asked` is freed. */
int feed_ask(struct feed *feed, struct feed_asked *asked, bool hold);
void feed_answered(struct feed_asked *asked);

/* Asks for bars of open times from..to; the answer is an EVENT_BARS. 0 or -errno. */
int feed_ask_bars(struct feed *feed, int symbol, int64_t from_ns, int64_t to_ns, enum bars_why why);

/* The start of the history that ends with the bar that opens then. */
int64_t feed_history_from(const struct feed *feed, int symbol, int64_t open_ns);

/* The same of missing bars, at most as many as history has, and records the gap. */
void feed_fill_gap(struct feed *feed, int symbol, int64_t from_open_ns, int64_t to_open_ns,
                   enum bars_why why);

/* Asks at once, or as soon as the book's pace allows: the timer calls feed_book_due() then. */
void feed_need_snapshot(struct feed *feed, int symbol);
void feed_book_due(struct feed *feed, int symbol);
/* Ends the alert about the book once it has stayed synchronized for a while. */
void feed_book_holds(struct feed *feed, int symbol);

/* Drops every request that is not answered. */
void feed_forget_asked(struct feed *feed);

/* Sends the requests that waited for the stream to stand still. */
void feed_settle(uv_idle_t *idle);

/* ---- halted.c ---- */

/* A connection was made that carries it. */
void feed_halted_unknown(struct feed *feed, int symbol);
/* Before an event of the symbol: does it show that a halt is over whose end was not received? That becomes an
 * event of its own. */
void feed_halted_before(struct feed *feed, int symbol, const struct market_event *event);

/* ---- backfill.c ---- */

void feed_backfill_init(struct feed *feed);
void feed_backfill_finish(struct feed *feed);
/* Bars that open before `end_ns` come by no event: where the configuration wants older ones they are fetched,
 * once the stream is there. */
void feed_backfill(struct feed *feed, int symbol, int64_t end_ns);
/* The same, of bars that are missing from there on: they are fetched whatever history is wanted. */
void feed_backfill_lost(struct feed *feed, int symbol, int64_t from_ns, int64_t end_ns);
void feed_backfill_go(struct feed *feed); /* the stream is there */
void feed_backfill_view(const struct feed *feed, struct feed_view *ret);

/* ---- stream.c ---- */

/* On the feed's clock: the stream stands still from here until as many releases. */
bool feed_hold(struct feed *feed); /* false on the wall's clock, or without a stream */
void feed_release(struct feed *feed);

/* Lists the streams and connects. */
void feed_open_stream(struct feed *feed);
/* Connects to what is streamed; without streams no connection. 0 or -errno. */
int feed_connect(struct feed *feed);
/* Adds the streams of one symbol to the list; 0, or -EINVAL when the venue has no such stream for it. */
int feed_add_streams(struct feed *feed, int symbol);
void feed_add_stream(struct feed *feed, int symbol, enum market_kind kind);
/* The rule of its silence, by the feed's limits. */
struct silence_rule feed_stream_rule(const struct feed *feed, const struct stream *stream);
/* Is it subscribed, as far as the symbol is streamed? */
bool feed_is_current(const struct feed *feed, size_t at);
/* The connection that carries a symbol was away for a moment, and its data start again. */
void feed_interrupt(struct feed *feed, int symbol);
/* As the venue names it. 0 or -errno. */
int feed_stream_name(const struct feed *feed, int symbol, enum market_kind kind,
                     char ret[VENUE_STREAM_NAME_MAX]);
/* Which symbols' connections are there: what changed becomes events. */
void feed_check_connections(struct feed *feed);
/* Is the symbol beyond the number that the client's plan takes? It is down then. */
bool feed_refuses(const struct feed *feed, int symbol);
/* Subscribes to all of a symbol's streams, or unsubscribes; `only`: of these kinds. 0 or -errno. */
int feed_follow(struct feed *feed, int symbol, const bool only[MARKET_CHANNELS], bool follow);

/* ---- symbols.c ---- */

/* A symbol's number among the feed's symbols, streamed or not; -1: it is none of them. */
int feed_named(const struct feed *feed, const char *name);
/* Adds the symbols that the session started without, now that the venue describes them: [n_waiting]. */
void feed_add_waiting(struct feed *feed, const struct venue_symbol *listed_now);
/* Once a second: answers a client that has waited too long for the list of streams. */
void feed_list_late(struct feed *feed, int64_t now_ms);
/* The history of an added symbol is there: its streams are subscribed. */
void feed_symbol_ready(struct feed *feed, int symbol);
void feed_list_drop(struct feed *feed);

/* ---- latest.c ---- */

/* Remembers the event as the newest of its stream. */
void feed_remember(struct stream *stream, const struct market_event *event);
/* Asks for the streams that are due, within the budget. */
void feed_ask_silent(struct feed *feed, int64_t now_ms);

/* ---- reach.c ---- */

/* Once a second, and when something failed: an alert says why the venue is not reached. */
void feed_judge_reach(struct feed *feed, int64_t now_ms);
void feed_reached(struct feed *feed);
/* An alert names the symbols that the plan does not take. */
void feed_judge_plan(struct feed *feed);

/* ---- recover.c ---- */

/* Is a symbol interrupted, or no longer? Once a second, and whenever that may have changed. */
void feed_recover_judge(struct feed *feed, int symbol, int64_t now_ms);
void feed_recover_judge_all(struct feed *feed, int64_t now_ms);
/* Bars of it are missing. */
void feed_recover_lost(struct feed *feed, int symbol);
/* Bars of it may have closed. */
void feed_recover_bars(struct feed *feed, int symbol);
void feed_recover_view(const struct feed *feed, struct feed_view *ret);

/* ---- watch.c ---- */

/* Should it bring data? It is connected, streamed, listed, and its market is open. */
bool feed_stream_counts(const struct feed *feed, size_t at);
/* The connection that carries it; 0 where it is not known. */
int feed_link_of(const struct feed *feed, const struct stream *stream);

/* stale.c: one stream is silent beside others, or no longer; then once for all, what their alerts say. */
void feed_stale_judge(struct feed *feed, struct stream *stream, bool stale);
void feed_stale_report(struct feed *feed);
/* Starts to listen to all of them again. */
void feed_listen(struct feed *feed, int64_t now_ms);
void feed_listen_to(struct feed *feed, size_t at, int64_t now_ms);

/* Once a second. */
void feed_tick(uv_timer_t *timer);

#endif
