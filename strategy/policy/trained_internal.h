/* Between the files of trained policies only. */
#ifndef STRATEGY_POLICY_TRAINED_INTERNAL_H
#define STRATEGY_POLICY_TRAINED_INTERNAL_H

#include "exchange/fail.h"
#include "strategy/policy/trained.h"

#define TRAINED_FORMAT  "papertape.policy/1"
#define TRAINED_MEAN    "observation.mean"
#define TRAINED_SCALE   "observation.scale"
#define TRAINED_CLOSES  "closes-volumes"
#define TRAINED_SET     "set"
#define TRAINED_SESSION "session_features"
#define TRAINED_NO_SESSION \
    "its bars are of no session: a calendar, and session regular or extended, are right"

/* Writes "PATH: …" and returns -EINVAL. */
#define policy_trained_refuse(err, path, ...) fail_line(-EINVAL, err, POLICY_ERROR_MAX, path, __VA_ARGS__)

/* trained.c: policy_trained_load() of a file's bytes. */
int policy_trained_parse(const char *name, const unsigned char *bytes, size_t n, struct trained_policy **ret,
                         char err[static POLICY_ERROR_MAX]);

enum { TRAINED_VALUE_MAX = 64 };

/* The environment's parameters that matter here. Of a range its middle. */
struct trained_environment {
    bool day_trade, discrete;
    int session; /* enum session_choice */
    double threshold, session_close_s;
    char session_zone[TRAINED_VALUE_MAX];
    double levels, action_span, lookback;
    double norm_cash, norm_stocks, norm_tech, norm_action, initial_capital, buy_cost, slippage;
    double trailing_stop, max_position, min_cash, exit_bars, exit_share, cooldown_bars;
    struct policy_limits limits;
};

/* trained_environment.c: reads "key=value" lines, which must be all of the environment's keys, except those
 * that are newer than the first files: they are 0 where they are missing. 0, or -EINVAL with a clause "key:
 * value: what would be right". */
int policy_trained_environment_read(const char *text, struct trained_environment *ret,
                                    char why[static POLICY_ERROR_MAX]);

/* Do the networks fit a market: an action for each of n symbols, and an observation of rows of `width`
 * features? 0, or -EINVAL with a clause. */
int policy_trained_environment_fits(const struct trained_environment *environment,
                                    const struct net_shape *shape, int n_assets, size_t width,
                                    char why[static POLICY_ERROR_MAX]);

/* Adds a set's number of features to *width, if streams have them. 0, -EINVAL with a clause, -ENOMEM. */
int policy_trained_set_width(const char *text, int64_t interval_ns, size_t *width,
                             char why[static POLICY_ERROR_MAX]);

#endif
