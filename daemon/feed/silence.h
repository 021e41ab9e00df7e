/* What a silence means: how long a stream may bring nothing before it is stale by itself, when REST is asked
 * for what it should have brought, and when a connection is given up. Pure: times are passed in, milliseconds
 * of any one clock that does not go back. docs/venues.md has the rules as users read them. */
#ifndef DAEMON_FEED_SILENCE_H
#define DAEMON_FEED_SILENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "exchange/market.h"

enum {
    SILENCE_BUSY_GAPS = 32,        /* of a busy stream, so many of its mean gaps are a silence */
    SILENCE_QUIET_DOUBLINGS = 3,   /* of a quiet one's limit, for each answer that there is nothing newer */
    SILENCE_REPLACE_DOUBLINGS = 5, /* of the wait, for a connection that stays silent when replaced */
};

/* Of one stream. */
struct silence_rule {
    int64_t limit_ms; /* stale after so long */
    int64_t least_ms; /* after less, down to this, where its rate says so; 0: its rate says nothing */
    int64_t grace_ms; /* REST may know so much sooner what the stream then brings */
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
    SILENCE_QUIET, /* none did, and by REST there is none */
    SILENCE_STALE,
};

/* What was heard of one stream. */
struct silence {
    int64_t heard_ms;     /* the last data, or when listening began */
    int64_t gap_ms;       /* between two messages, a running mean; 0: not known */
    int64_t confirmed_ms; /* when REST knew nothing newer, since it was heard; 0: not */
    int64_t behind_ms;    /* since when REST knows more than it brought; 0: not */
    int64_t asked_ms;     /* the last question since it was heard; 0: none */
    unsigned quiet;       /* confirmations since it was heard */
    bool spoke, asking;   /* data came since listening began; an answer is due */
};

/* Listening begins, or begins again: its rate stays known. */
void feed_silence_begin(struct silence *silence, int64_t now_ms);
void feed_silence_heard(struct silence *silence, int64_t now_ms);

/* After how long it is stale, as things are. */
int64_t feed_silence_limit(const struct silence_rule *rule, const struct silence *silence);
enum silence_state feed_silence_state(const struct silence_rule *rule, const struct silence *silence,
                                      int64_t now_ms);
/* The moment up to which what it brought is known to be the newest. */
int64_t feed_silence_known_ms(const struct silence *silence);

/* REST is asked before the limit is reached, so that the answer is there when it is. */
int64_t feed_silence_early_ms(int64_t limit_ms);
/* Is it to be asked now? */
bool feed_silence_ask_due(const struct silence_rule *rule, const struct silence *silence, int64_t now_ms);
void feed_silence_asked(struct silence *silence, int64_t now_ms);

enum silence_answer {
    SILENCE_UNKNOWN, /* none came, or it does not say */
    SILENCE_NOTHING, /* nothing is newer */
    SILENCE_NEWER,
};
/* Is what REST says of `asked` newer than all that the other stream brought? */
bool feed_silence_newer_than(const struct silence *asked, const struct silence *other);
void feed_silence_answered(struct silence *silence, enum silence_answer answer, int64_t now_ms);

/* Of one connection: what its streams that should speak add up to. {0} to begin with. */
struct silence_link {
    int streams;
    int64_t heard_ms;  /* the newest of theirs */
    int64_t spoke_ms;  /* the same of data alone; 0: none since listening began */
    int64_t limit_ms;  /* the shortest of theirs */
    int64_t behind_ms; /* since when the first one is behind */
    int behind;        /* of how many REST knows more than they brought, */
    int quiet;         /* and of how many no more */
};

/* What became of that connection for its silence; it outlives the replacement's way down and up. */
struct silence_replaced {
    int64_t at_ms; /* the last time */
    int times;     /* since it last brought data */
};

void feed_silence_link_add(struct silence_link *link, const struct silence_rule *rule,
                           const struct silence *silence);

/* Is it to be replaced now? feed_silence_link_replaced() says that it was. */
bool feed_silence_link_due(const struct silence_link *link, const struct silence_replaced *replaced,
                           const struct silence_limits *limits, int64_t now_ms);
void feed_silence_link_replaced(struct silence_replaced *replaced, int64_t now_ms);
/* Data came since: true once, then its silences count from none again. */
bool feed_silence_link_well(const struct silence_link *link, struct silence_replaced *replaced);

#endif
