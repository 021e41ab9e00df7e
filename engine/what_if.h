/* Replays a past moment with other parameters: the log is played to a time, the engine is forked there, one
 * account of the fork is given another strategy or other parameters, and both take the same events to the
 * end.
 *
 * The market does not react: what the fork buys or sells moves no price and takes nothing from other
 * traders. The fork starts with what the account held and had ordered then. Commands of the log are given
 * to both; one that cancels or amends an order which the fork never made does nothing there.
 *
 * An outside strategy (strategy/external.h) that is tried is opened and asked. The decisions that the log has
 * need no file, and are given to the fork's other accounts. */
#ifndef ENGINE_WHAT_IF_H
#define ENGINE_WHAT_IF_H

#include "engine/replay.h"

struct what_if_options {
    const char *path; /* a journal's directory */
    int64_t at_ns;    /* the fork; the log must begin before it */
    int64_t to_ns;    /* the end; INT64_MAX: the log's */
    const char *account;
    const struct strategy *strategy; /* of the fork; NULL: orders by hand only */
    /* Of the fork, instead of a strategy; NULL: none. It is shown the bars that the engine keeps of the
     * time before, and continues from the account's positions. The caller's, until the end of the run. */
    const struct policy *policy;
    bool same_strategy; /* `strategy` is ignored: the account's own, with other parameters */
    /* Sets the fork's parameters, which start as the account's own with the same strategy, else as the
     * strategy's defaults. 0; other values end the run with -EINVAL and its words in err. May be NULL. */
    int (*set)(void *ctx, const struct strategy *strategy, double params[static STRATEGY_PARAMS_MAX],
               char *err, size_t err_size);
    /* The equity of both at the end of each span of time, as it passes. */
    int64_t span_ns;
    void (*span)(void *ctx, int64_t end_ns, int64_t was, int64_t would_be);
    void *ctx;
};

/* One of the two sides. */
struct what_if_way {
    char strategy[STRATEGY_NAME_MAX]; /* "policy"; "" for none */
    double params[STRATEGY_PARAMS_MAX];
    int64_t begin, end; /* equity at the fork and at the end, currency_scale */
    double drawdown;    /* the deepest since the fork, sampled once a second: 0.1 is 10 % below the highest */
    uint64_t orders, rejected, fills;
    int64_t fees; /* currency_scale: of fills of symbols quoted in the currency */
};

struct what_if_result {
    struct what_if_way was, would_be;
    char currency[ASSET_NAME_MAX];
    int currency_scale;
    int64_t at_ns, to_ns;    /* of the last event before the fork, and of the last of all */
    uint64_t at_seq, to_seq; /* their numbers */
    uint64_t events, holes, runs;
    uint64_t commands_left_out; /* of orders that the fork never made, or that name another policy for it */
};

/* 0; -ENOENT for an account that is not there at that time, or a time before the log; -EINVAL; errors of
 * engine_replay_open(), engine_replay_step(), engine_load(), engine_configure(); err: one sentence. */
int engine_what_if_run(const struct what_if_options *options, struct what_if_result *ret, char *err,
                       size_t err_size);

#endif
