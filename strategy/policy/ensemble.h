/* An ensemble: a policy of policies. Its members, trained policies of the same assets, interval, kind of
 * action and rules, decide at each row by the account's state; their actions are combined into one.
 *
 * NAME.ensemble.json:
 *   schema       papertape.ensemble/1
 *   members      2 to 16 files of trained policies, relative to this one; one may be named twice
 *   combine      mean, majority or sharpe; left out: mean
 *   window_bars  of sharpe; left out: 720
 *   limits       under which it trades, texts by name as strategy/policy/limit_keys.h reads them; left out:
 *                those of its members
 *
 * With a_m the action of member m for an asset (levels as their numbers), n members:
 *   mean      (a_1 + … + a_n) / n
 *   majority  a member votes to buy where its action is worth more than the asset's least quantity, to sell
 *             where it is worth less than minus that, else for nothing; worth: a_m times the units of an
 *             action of 1, capital / (norm_action c), c the asset's first close from row 0 on. The side with
 *             the most of all votes wins, with the mean of its voters' actions; 0 where that is nothing, or
 *             two sides have as many.
 *   sharpe    sum of w_m a_m, w_m = max(S_m, 0) / sum of max(S_k, 0); 1/n each where that sum is 0.
 *             S_m = mean / standard deviation (ddof 1) of the last window_bars returns e_t / e_t-1 - 1 of the
 *             member's shadow account; 0 before there are so many, or where they do not vary.
 * Sums are in float64, in the members' order; the action is rounded to float32 once.
 *
 * The shadow account of a member begins at the row at which the ensemble first decides, with the capital of
 * its rules. The member decides for it separately, and observes the shadow's own cash and quantities. At each
 * row: e_t = cash + quantities at the last closes; then for each asset whose bar of the row is there, in
 * order, policy_watch() and policy_intent() of strategy/policy/rules.h with fee and capital of the policy's
 * own, in units of the asset (the venue's lots, ticks and least values are left out), all of it sold where
 * the close is at or below peak (1 - trailing_stop), without limits. Its trades happen at once: bought at
 * close (1 + slippage) with fee on top, at most what the cash pays; sold at close (1 - slippage) less fee.
 *
 * Row 0 is the last of the members' rows 0, and the ensemble first decides at row lookback - 1, the longest
 * of the members' lookbacks. Its memory is that of its members' runtimes, including the shadows'. */
#ifndef STRATEGY_POLICY_ENSEMBLE_H
#define STRATEGY_POLICY_ENSEMBLE_H

#include "strategy/policy/trained.h"

enum {
    ENSEMBLE_MEMBERS_MIN = 2,
    ENSEMBLE_MEMBERS_MAX = POLICY_MEMBERS_MAX,
    ENSEMBLE_WINDOW_MIN = 2,
    ENSEMBLE_WINDOW_MAX = 10000,
    ENSEMBLE_WINDOW = 720,
};

enum ensemble_combine { ENSEMBLE_MEAN, ENSEMBLE_MAJORITY, ENSEMBLE_SHARPE };
const char *ensemble_combine_name(enum ensemble_combine combine); /* "mean", "majority", "sharpe" */
bool ensemble_combine_parse(const char *text, enum ensemble_combine *ret);

struct ensemble_policy {
    struct policy policy; /* first; kind "ensemble" */
    enum ensemble_combine combine;
    int window_bars;
    int n;
    const struct trained_policy *const *members; /* [n], with their runtimes */
    const char *const *names;                    /* [n] as its text names them */
    const char *const *files;                    /* [n] where they were read */
};

/* Reads one and its members, for an engine to trade by. Its id is the SHA-256 of the SHA-256 of its text and
 * the members' ids, in their order. 0, for ensemble_destroy(); -EINVAL for the text, a member that
 * policy_load() refuses, or two that differ in what members share (both files and values are named); errors
 * of opening; -ENOMEM; err: "what: where: what would be right". */
int ensemble_load(const char *path, struct ensemble_policy **ret, char err[static POLICY_ERROR_MAX]);
void ensemble_destroy(struct ensemble_policy *ensemble); /* NULL is fine */

/* Advances the shadow accounts of an ensemble's runtime to this row, and nothing else: for rows before an
 * episode begins. */
void ensemble_shadows_pass(struct policy_runtime *runtime, int64_t open_ns);

/* Writes one whole or not at all. `members`: n files as the ensemble's text is to name them, relative to the
 * folder of `path`, or absolute; they are not opened. 0; -EINVAL for a text that policy_load() would refuse;
 * errors of writing; -ENOMEM; on failure an existing file stays. */
int ensemble_write(const char *path, const char *const *members, int n, enum ensemble_combine combine,
                   int window_bars, char err[static POLICY_ERROR_MAX]);

#endif
