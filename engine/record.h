/* Events as the journal keeps them: bytes whose meaning never changes. The layout is stateless: a record is
 * read without those before it. */
#ifndef ENGINE_RECORD_H
#define ENGINE_RECORD_H

#include "engine/engine.h"
#include "engine/event.h"
#include "record/codec.h"
#include "record/order.h"

/* Of the layout, in step with ENGINE_STATE_VERSION since 6 (what both hold is read by one function), so that
 * the next of both is 14; there was no 5. 7 has SYMBOL_CONNECTION, of which no state holds anything; 8 has
 * CALENDAR, and the auction of a trade; 9 has VENUE_CLOCK; 10 has VENUE_ORDER
 * and VENUE_ACCOUNT; 11 has VENUE_UPDATE_DUPLICATE, and the venue's ids of an account's orders; 12 has
 * DECISION, and outside strategies; 13 has STOP, when each symbol's last price was made, receivables, the
 * rates of fees and COMMAND_ACCOUNT_CLOSE. */
enum { EVENT_RECORD_VERSION = RECORD_ORDER_LAYOUT > 13 ? RECORD_ORDER_LAYOUT : 13 };

/* Replaces the codec's bytes by the event's (seq and recv_ns are the journal's). 0 or -ENOMEM. */
int event_encode(const struct event *event, struct codec *codec);

struct strategy_decision;

/* The levels, bars, days, texts and orders that a decoded event points to; reused from event to event. */
struct event_memory {
    struct book_level *levels;
    struct bar *bars;
    struct trading_day *days;
    char *text;
    struct order legs[ORDER_LEGS_MAX];
    struct account_spec *accounts;
    struct venue_total *totals;
    struct strategy_decision *decision;
    uint8_t *kept;
    size_t cap_kept;
    size_t cap_levels, cap_bars, cap_days, cap_text, cap_accounts, cap_totals;
    const struct policies *policies; /* the caller's: finds the policies that events name; NULL: none */
    bool no_policy;                  /* -ENOPKG is for the policy of this id */
    uint8_t policy_id[POLICY_ID_SIZE];
};
void event_memory_finish(struct event_memory *memory);

/* 0; -EBADMSG for bytes that are not an event, or one that names symbols or kinds out of bounds; -ENOTSUP
 * for a newer layout; -ENOPKG for a strategy or a policy that is not there; -ENOMEM. ret->seq and recv_ns
 * are the caller's to set. */
int event_decode(const void *bytes, size_t len, struct event_memory *memory, struct event *ret);

/* Why a state is in the journal. */
enum state_why {
    STATE_NEW_RUN,  /* a daemon started, maybe with another configuration: what follows is replayed from here
                     */
    STATE_ROTATION, /* a segment starts: the same bytes as the engine's that replayed everything before */
    STATE_AFTER_HOLE, /* events before it were never recorded: what follows is replayed from here */
    STATE_STOP,       /* a daemon ended: the same, to the byte, as with ROTATION */
    STATE_WHYS,
};

enum { STATE_PROGRAM_MAX = 32, STATE_RECORD_VERSION = 2 };

/* A state as the journal keeps it: which run and program wrote it and why, before engine_save()'s bytes. */
struct state_record {
    uint64_t run; /* 1, 2, 3 … of a state directory */
    enum state_why why;
    char program[STATE_PROGRAM_MAX]; /* version of the program that wrote it */
    const void *beside; /* what the daemon keeps beside the engine (daemon/kept.h); none before version 2 */
    size_t beside_len;
    const void *state; /* for engine_load(): within the record's bytes */
    size_t len;
};

const char *engine_state_why_name(enum state_why why); /* "new run", "rotation" … */

/* Replaces the codec's bytes by the record of an engine's state now. A new run's engine must have had no
 * event of this run yet: what the first event brings about (opening deposits) is replayed from the state.
 * `beside`: NULL for nothing. 0 or -ENOMEM. */
int engine_state_record_encode(const struct engine *engine, uint64_t run, enum state_why why,
                               const void *beside, size_t beside_len, struct codec *codec);

/* 0; -EBADMSG for bytes that are not a state's record; -ENOTSUP for a newer layout. */
int engine_state_record_decode(const void *bytes, size_t len, struct state_record *ret);

#endif
