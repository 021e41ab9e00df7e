/* The rules of silence: how long a stream may bring nothing before it is stale, when REST is asked for what
 * it should have brought, and when a connection is replaced. Pure: times are passed in, milliseconds of any
 * one clock that does not go back. docs/venues.md has the rules as users read them. */
#ifndef DAEMON_FEED_SILENCE_H
#define DAEMON_FEED_SILENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "exchange/market_kind.h"

enum {
    SILENCE_BUSY_GAPS = 32, /* so many of a busy stream's mean gaps are a silence */
    SILENCE_QUIET_DOUBLINGS =
        3, /* of a quiet stream's limit, one for each answer that there is nothing newer */
    SILENCE_REPLACE_DOUBLINGS =
        5, /* of the wait before a connection that stayed silent after its replacement is replaced again */
};

/* The limits of one stream. */
struct silence_rule {
    int64_t limit_ms; /* stale after so long */
    int64_t least_ms; /* stale earlier, down to this, where its rate says so; 0: never earlier */
    int64_t grace_ms; /* REST may have the data so much earlier than the stream */
    bool rare;        /* in a quiet market it may stay silent for ever */
};

struct silence_limits {
    int64_t stale_ms, stale_trade_ms, silence_ms; /* [feed] stale_s, stale_trade_s, silence_s */
    int64_t interval_ms;                          /* of bars */
};

/* `sparse`: the venue sends bars and days once a minute is over, and only of one with trades. */
struct silence_rule feed_silence_rule(enum market_kind kind, bool sparse,
                                      const struct silence_limits *limits);

enum silence_state {
    SILENCE_FRESH, /* data came within its limit */
    SILENCE_QUIET, /* no data came, and by REST there is none */
    SILENCE_STALE,
};

/* What one stream has brought. */
struct silence {
    int64_t received_ms;  /* the last data, or when listening started */
    int64_t gap_ms;       /* between two messages, a running mean; 0: not known */
    int64_t confirmed_ms; /* when REST had nothing newer, since then; 0: not */
    int64_t behind_ms;    /* since when REST has had newer data than it brought; 0: not */
    int64_t asked_ms;     /* the last request since then; 0: none */
    unsigned quiet;       /* confirmations since then */
    bool spoke, asking;   /* data came since listening started; an answer is due */
};

/* Listening starts, or starts again: its rate is kept. */
void feed_silence_begin(struct silence *silence, int64_t now_ms);
void feed_silence_received(struct silence *silence, int64_t now_ms);

/* After how long it is stale, in its present state. */
int64_t feed_silence_limit(const struct silence_rule *rule, const struct silence *silence);
enum silence_state feed_silence_state(const struct silence_rule *rule, const struct silence *silence,
                                      int64_t now_ms);
/* The time up to which its last data is known to be the newest. */
int64_t feed_silence_known_ms(const struct silence *silence);

/* REST is asked before the limit is reached, so that the answer is there when it is. */
int64_t feed_silence_early_ms(int64_t limit_ms);
/* Is REST to be asked now? */
bool feed_silence_ask_due(const struct silence_rule *rule, const struct silence *silence, int64_t now_ms);
void feed_silence_asked(struct silence *silence, int64_t now_ms);

enum silence_answer {
    SILENCE_UNKNOWN, /* no answer came, or it does not show it */
    SILENCE_NOTHING, /* nothing is newer */
    SILENCE_NEWER,
};
/* Is REST's data for `asked` newer than all that the other stream brought? */
bool feed_silence_newer_than(const struct silence *asked, const struct silence *other);
void feed_silence_answered(struct silence *silence, enum silence_answer answer, int64_t now_ms);

/* The streams of one connection that should bring data, summed. {0} is empty. */
struct silence_link {
    int streams;
    int64_t received_ms; /* the newest of theirs */
    int64_t spoke_ms;    /* the same of data alone; 0: none since listening began */
    int64_t limit_ms;    /* the shortest of theirs */
    int64_t behind_ms;   /* since when the first of them is behind */
    int behind;          /* of how many REST has newer data than they brought, */
    int quiet;           /* and of how many it does not */
};

/* Replacements of that connection for its silence; it outlives the reconnection. */
struct silence_replaced {
    int64_t at_ms; /* the last time */
    int times;     /* since it last brought data */
};

/* When a connection brought data; it outlives the reconnection. */
struct silence_flow {
    int64_t newest_ms;  /* the newest; 0: none yet */
    int64_t resumed_ms; /* the first after it had been silent as a whole */
};

void feed_silence_link_add(struct silence_link *link, const struct silence_rule *rule,
                           const struct silence *silence);

/* Is it to be replaced now? feed_silence_link_replaced() records that it was. */
bool feed_silence_link_due(const struct silence_link *link, const struct silence_replaced *replaced,
                           const struct silence_limits *limits, int64_t now_ms);
void feed_silence_link_replaced(struct silence_replaced *replaced, int64_t now_ms);
/* Takes that connection's newest data; called once a second. */
void feed_silence_flowed(struct silence_flow *flow, const struct silence_link *link,
                         const struct silence_limits *limits);
/* Is a stream that has been stale since then silent beside others of its connection, not with all of them?
 * Another one brought data since, and not just because the connection's whole silence is over. */
bool feed_silence_alone(const struct silence_rule *rule, const struct silence *silence, int64_t stale_ms,
                        const struct silence_link *link, const struct silence_flow *flow);

/* Data came since: true once, then its replacements are counted from 0 again. */
bool feed_silence_link_well(const struct silence_link *link, struct silence_replaced *replaced);

#endif
