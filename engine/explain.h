/* Explains an order: replays it from the log, with all inputs of each step, and compares it with what was
 * recorded, to the last bit.
 *
 * For each order: the event that it answers; what the strategy saw and its order intents, or the command;
 * the outcome of filters and risk gate with its facts and limits; every change of state with the event that
 * caused it; every fill with the level it took, the queue before it or the bar that filled it. */
#ifndef ENGINE_EXPLAIN_H
#define ENGINE_EXPLAIN_H

#include "engine/compare.h"
#include "engine/event_text.h"
#include "engine/replay.h"
#include "exchange/filter_words.h"
#include "indicators_gpu/indicators.h"
#include "strategy/policy/limit_keys.h"
#include "strategy/policy/policy.h"
#include "strategy/strategy.h"

enum {
    EXPLAIN_INDICATORS_MAX = STRATEGY_SPECS_MAX * INDICATOR_OUTPUTS_MAX,
    EXPLAIN_NAME_MAX = 48,
    EXPLAIN_WHY_MAX = 32,
    EXPLAIN_MEMBER_MAX = 64,
};

struct explained_event {
    uint64_t seq; /* 0: not an event, but the state that a new run began with */
    int64_t recv_ns;
    enum event_kind kind;
    char text[EVENT_TEXT_MAX];
};

/* An ensemble member's vote. */
struct explained_member {
    char name[EXPLAIN_MEMBER_MAX]; /* the end of its file's, as the ensemble's text has it */
    char id[POLICY_ID_TEXT];
    struct policy_vote vote;
};

/* What a policy decided for one symbol, in its units, the currency, prices. */
struct explained_policy {
    char id[POLICY_ID_TEXT];
    double action;  /* of task day-trade the direction */
    bool day_trade; /* then also: of equity; is all sold, as the next bar is its session's last? */
    double size;
    bool closes;
    double scale, least; /* units in an action of 1, and the least that it orders */
    double held, held_bars, cool_bars, peak;
    double equity, available;
    double ordered, stop, stop_qty;      /* to buy, negative to sell; 0: nothing */
    bool leaves;                         /* the close had reached its stop */
    char limits[POLICY_LIMITS_TEXT_MAX]; /* "none" */
    int n_members;
    struct explained_member members[POLICY_MEMBERS_MAX];
};

struct explained_decision {
    const struct strategy *strategy; /* NULL: the policy's */
    bool have_policy;
    struct explained_policy policy; /* then there is no input, no indicator, no intent */
    double params[STRATEGY_PARAMS_MAX];
    struct bar bar;
    int64_t interval_ns;
    struct strategy_input input; /* its indicators are `values`, its record is `record` */
    struct strategy_record record;
    size_t n_values;
    char names[EXPLAIN_INDICATORS_MAX][EXPLAIN_NAME_MAX];
    double values[EXPLAIN_INDICATORS_MAX];
    size_t n_intents;
    struct intent intents[STRATEGY_INTENTS_MAX]; /* why: in `whys` */
    char whys[STRATEGY_INTENTS_MAX][EXPLAIN_WHY_MAX];
};

struct explained_command {
    enum command_kind kind;
    uint64_t id;
    int64_t peer_uid, peer_pid;
    enum order_grouping grouping; /* of an order */
    char *args;                   /* JSON as it was given; "" for none */
};

struct explained_verdict {
    enum order_reason reason;
    struct risk_limits limits;
    bool have_facts; /* false: refused before the risk gate was asked */
    struct risk_facts facts;
};

struct explained_change {
    struct explained_event event;
    struct order order; /* after it */
    unsigned moves;     /* how often a trailing stop followed the price since the change before */
};

struct explained_fill {
    struct explained_event event;
    struct fill fill;
    bool have_take;
    struct book_level level; /* what was shown, or traded, at its price */
    int64_t taken_before, queue_ahead;
    bool from_book;
    bool have_bar; /* FILL_BAR: the level's price is where the market was within `bar` */
    struct bar bar;
};

struct explanation {
    struct order order; /* as the replay emitted it last */
    bool have_symbol;
    struct symbol symbol;
    char account[ACCOUNT_NAME_MAX], currency[ASSET_NAME_MAX];
    int currency_scale;
    int64_t latency_ns;
    /* Of an account whose orders are filled at its venue, as the venue has it; "": it was not given there. */
    char venue_client_id[ORDER_CLIENT_ID_MAX], venue_id[VENUE_UPDATE_ID_MAX];
    char venue_words[VENUE_UPDATE_TEXT_MAX]; /* of its last update that is no fill, opening or resending */
    struct explained_event input;
    bool have_command, have_decision, have_verdict;
    struct explained_command command;
    /* The first command that cancelled it, or all; `canceled_at.seq` 0: there was none. Its args are NULL. */
    struct explained_command canceled_by;
    struct explained_event canceled_at;
    struct explained_decision decision;
    struct explained_verdict verdict;
    char refusal[ORDER_WORDS_MAX]; /* with its numbers, or its group's; "": the reason's own words are all */
    struct explained_change *changes;
    size_t n_changes, cap_changes;
    struct explained_fill *fills;
    size_t n_fills, cap_fills;
    bool incomplete; /* its end lies in a hole of the log, or between two runs: it is not compared */
    bool compared, equal;
    struct difference difference; /* !equal */
    bool touched;                 /* in this step; explain.c's own */
};

struct explain_options {
    const char *path;    /* a journal's directory, or a segment */
    const uint64_t *ids; /* ascending; with n_ids 0 all orders created in [from_ns, to_ns) */
    size_t n_ids;
    int64_t from_ns, to_ns; /* 0 and INT64_MAX: all that the log holds */
    const struct engine_recorded *recorded;
    void *ctx;
    /* Called with each order once its end is known, or the record ends; false stops. The explanation lives
     * for the call. */
    bool (*explained)(void *ctx, const struct explanation *explanation);
};

struct explain_result {
    uint64_t explained, equal, incomplete;
    uint64_t from_seq, to_seq; /* the state that the replay began with, the last event played */
    uint64_t missing;          /* of the ids: how many the replay did not make */
    bool different;
    struct difference difference;         /* the first one … */
    struct explained_event difference_at; /* … and the event that it was made by */
};

/* 0; -ENOENT for an order that the record does not have, or that is older than the log (err says from when
 * the log begins); errors of engine_replay_open(), engine_replay_step() and of the record; err: one sentence.
 */
int engine_explain_run(const struct explain_options *options, struct explain_result *ret, char *err,
                       size_t err_size);

#endif
