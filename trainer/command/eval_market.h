/* What a policy is evaluated on: its environment over the bars of its symbols. An ensemble's has the rules
 * that its members share, continuous actions and their longest lookback; it sees bars by its runtime. */
#ifndef TRAINER_COMMAND_EVAL_MARKET_H
#define TRAINER_COMMAND_EVAL_MARKET_H

#include "engine/market/market.h"
#include "strategy/policy/ensemble.h"
#include "trainer/data.h"
#include "trainer/env/env.h"

struct calendar_file; /* exchange/calendar_file.h */
struct eval_market {
    const struct trained_policy *policy;    /* of an ensemble its first member */
    const struct ensemble_policy *ensemble; /* NULL: no ensemble */
    struct env_params params;       /* the policy's own; ranges at their middles, and one episode is played */
    struct calendar_file *calendar; /* of its market; NULL: it trades at all times */
    char zone_note[MARKET_ERROR_MAX]; /* "", or a line on files whose times fit another zone better */
    struct market *bars;              /* its symbols, in its order; of its session */
    struct trainer_data *data;
    struct env_market *env_market;
    struct env *env;        /* one copy, scalar: it reports trades */
    size_t from, to, first; /* requested rows of env_market, and the first with all features */
};

enum { EVAL_ERROR_MAX = TRAINER_DATA_ERROR_MAX };

struct eval_bars {
    char *const *paths; /* bars files, in any order; symbols that the policy does not trade are left out; or
                         * one state folder or database */
    size_t n;
    const char *lot;           /* of all files' symbols; NULL: as their digits show */
    const char *exchange_info; /* or NULL */
    const char *calendar;      /* of the bars; NULL: the policy's */
    const char *zone;          /* of their times that have none; NULL: UTC */
    int64_t from_ns, to_ns;    /* rows that open in [from, to); INT64_MIN, INT64_MAX: all */
    char *const *set;          /* [n_set] KEY=VALUE, other costs and rules: trainer_eval_set() */
    size_t n_set;
};

/* 0, for trainer_eval_market_close(); -EINVAL for a policy of a world that is no market, bars that lack a
 * symbol, are of another interval or too few; errors of reading; -ENOMEM; err: "what: where: what would be
 * right". */
int trainer_eval_market_open(const struct trained_policy *policy, const struct eval_bars *bars,
                             struct eval_market *ret, char err[static EVAL_ERROR_MAX]);
/* The same for an ensemble. */
int trainer_eval_market_open_ensemble(const struct ensemble_policy *ensemble, const struct eval_bars *bars,
                                      struct eval_market *ret, char err[static EVAL_ERROR_MAX]);
void trainer_eval_market_close(struct eval_market *market);

#endif
