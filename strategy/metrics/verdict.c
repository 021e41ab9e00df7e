#include "strategy/metrics/verdict.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "strategy/metrics/verdict_internal.h"

static const char *const words[] = {
    [VERDICT_NO_TRADES] = "no_trades",
    [VERDICT_ONLY_HOLDS] = "only_holds",
    [VERDICT_FEES_EXCEED_GAIN] = "fees_exceed_gain",
    [VERDICT_BELOW_HOLDING] = "below_holding",
    [VERDICT_WITHIN_LUCK] = "within_luck",
    [VERDICT_BETTER] = "better",
};
enum { KINDS = sizeof words / sizeof *words };

const char *metrics_verdict_word(enum verdict_kind kind)
{
    return words[kind];
}

enum verdict_kind metrics_verdict_of_word(const char *word)
{
    for (int kind = VERDICT_NONE + 1; word && kind < KINDS; kind++)
        if (strcmp(word, words[kind]) == 0)
            return (enum verdict_kind)kind;
    return VERDICT_NONE;
}

/* ---- the input ---- */

static bool is_finite(const double *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(values[i]))
            return false;
    return true;
}

static bool is_valid(const struct verdict_input *input)
{
    size_t n = input->n, all = n * (size_t)input->n_assets;
    return n > 0 && input->n_assets >= 0 && input->initial > 0 && isfinite(input->initial) &&
           isfinite(input->fees) && isfinite(input->opened) && isfinite(input->closed) &&
           is_finite(input->equity, n) && is_finite(input->benchmark, n) && is_finite(input->weights, all) &&
           is_finite(input->moves, all);
}

/* returns [n] and d [n], the difference of the log returns. False: equity or benchmark is not positive. */
static bool take_returns(const struct verdict_input *input, double *returns, double *d)
{
    double equity = input->initial, benchmark = input->initial;
    for (size_t i = 0; i < input->n; i++) {
        if (!(input->equity[i] > 0 && input->benchmark[i] > 0))
            return false;
        returns[i] = input->equity[i] / equity - 1;
        d[i] = log(input->equity[i] / equity) - log(input->benchmark[i] / benchmark);
        equity = input->equity[i];
        benchmark = input->benchmark[i];
    }
    return true;
}

/* ---- the word ---- */

/* Prices that stand still gain nothing; rounding may make it less. */
static const double NOTHING = -1e-9;

static bool only_holds(const struct verdict_input *input)
{
    return input->closed <= VERDICT_HOLDS * input->opened;
}

static enum verdict_kind kind_of(const struct verdict_input *input, const struct verdict *found)
{
    if (found->buys + found->sells == 0)
        return VERDICT_NO_TRADES;
    if (only_holds(input))
        return VERDICT_ONLY_HOLDS;
    if (found->gain >= NOTHING * input->initial && found->gain < found->fees)
        return VERDICT_FEES_EXCEED_GAIN;
    if (!(found->excess > 0))
        return VERDICT_BELOW_HOLDING;
    return found->p < VERDICT_LEVEL && found->low > 0 ? VERDICT_BETTER : VERDICT_WITHIN_LUCK;
}

static int test(const struct verdict_input *input, struct verdict *ret)
{
    double *returns = malloc(2 * input->n * sizeof *returns);
    bool trades = ret->buys + ret->sells > 0;
    int r = returns ? 0 : -ENOMEM;
    if (r == 0 && trades && take_returns(input, returns, returns + input->n)) {
        r = metrics_verdict_interval(returns + input->n, input->n, ret);
        if (r == 0 && !only_holds(input))
            r = metrics_verdict_luck(input, returns, ret);
    }
    free(returns);
    return r;
}

int metrics_verdict(const struct verdict_input *input, struct verdict *ret)
{
    if (!is_valid(input))
        return -EINVAL;
    double final = input->equity[input->n - 1];
    struct verdict found = {.n_steps = input->n,
                            .total_return = final / input->initial - 1,
                            .benchmark_return = input->benchmark[input->n - 1] / input->initial - 1,
                            .low = NAN,
                            .high = NAN,
                            .block = NAN,
                            .p = NAN,
                            .gain = final - input->initial + input->fees,
                            .fees = input->fees,
                            .buys = input->buys,
                            .sells = input->sells};
    found.excess = found.total_return - found.benchmark_return;
    int r = input->n >= VERDICT_STEPS_LEAST ? test(input, &found) : 0;
    if (r < 0)
        return r;
    found.kind = kind_of(input, &found);
    *ret = found;
    return 0;
}

/* ---- seeds ---- */

/* The fewest of n fair coins whose heads, or more, have a probability of at most VERDICT_SEEDS; n where even
 * all have more. */
static int least_above(int n)
{
    double term = pow(0.5, n), tail = 0; /* of k heads; of more than k - 1 */
    for (int k = n; k > 0; k--) {
        tail += term;
        if (tail > VERDICT_SEEDS)
            return k < n ? k + 1 : n;
        term *= (double)k / (double)(n - k + 1);
    }
    return n;
}

/* The number of seeds that stand before seed k by their excess. */
static int rank_of(const struct verdict *each, int n, int k)
{
    int before = 0;
    for (int i = 0; i < n; i++)
        before += each[i].excess < each[k].excess || (each[i].excess == each[k].excess && i < k);
    return before;
}

struct verdict metrics_verdict_of_seeds(const struct verdict *each, int n)
{
    struct verdict ret = {0};
    int above = 0;
    for (int k = 0; k < n; k++) {
        above += each[k].excess > 0;
        if (rank_of(each, n, k) == (n - 1) / 2)
            ret = each[k];
    }
    ret.n_seeds = n;
    ret.n_above = above;
    if (ret.kind == VERDICT_BETTER && above < least_above(n))
        ret.kind = VERDICT_WITHIN_LUCK;
    return ret;
}

/* ---- the sentence ---- */

static const char *interval_text(const struct verdict *verdict, char *buf, size_t size)
{
    if (isfinite(verdict->low))
        snprintf(buf, size, "%.0f %% interval %+.2f to %+.2f", 100 * VERDICT_CONFIDENCE, 100 * verdict->low,
                 100 * verdict->high);
    else
        snprintf(buf, size, "no interval: %zu steps", verdict->n_steps);
    return buf;
}

/* What makes it luck. */
static const char *luck_text(const struct verdict *verdict, char *buf, size_t size)
{
    if (isnan(verdict->p))
        snprintf(buf, size, "too few steps to exclude chance");
    else if (verdict->p >= VERDICT_LEVEL)
        snprintf(buf, size, "%.3g %% of random policies with the same trades do as well", 100 * verdict->p);
    else if (!(verdict->low > 0))
        snprintf(buf, size, "the interval includes 0");
    else
        snprintf(buf, size, "only %d of %d seeds are above", verdict->n_above, verdict->n_seeds);
    return buf;
}

const char *metrics_verdict_text(const struct verdict *verdict, char ret[static VERDICT_TEXT_MAX])
{
    char interval[80], luck[80], seeds[40] = "";
    double own = 100 * verdict->total_return, held = 100 * verdict->benchmark_return;
    double points = 100 * verdict->excess;
    interval_text(verdict, interval, sizeof interval);
    if (verdict->n_seeds > 0)
        snprintf(seeds, sizeof seeds, " (median of %d seeds)", verdict->n_seeds);
    switch (verdict->kind) {
    case VERDICT_NO_TRADES:
        snprintf(ret, VERDICT_TEXT_MAX, "Never trades%s: no fill in %zu steps; holding %+.2f %%.", seeds,
                 verdict->n_steps, held);
        break;
    case VERDICT_ONLY_HOLDS:
        snprintf(ret, VERDICT_TEXT_MAX,
                 "Only holds%s: it bought and sold next to nothing; %+.2f %%, holding %+.2f %%.", seeds, own,
                 held);
        break;
    case VERDICT_FEES_EXCEED_GAIN:
        snprintf(ret, VERDICT_TEXT_MAX,
                 "Fees exceed the gain%s: %.2f of fees, %.2f gained before them; %+.2f %%, holding %+.2f %%.",
                 seeds, verdict->fees, verdict->gain, own, held);
        break;
    case VERDICT_BELOW_HOLDING:
        snprintf(ret, VERDICT_TEXT_MAX, "Below holding%s: %+.2f %%, holding %+.2f %% (%.2f points less; %s).",
                 seeds, own, held, -points, interval);
        break;
    case VERDICT_WITHIN_LUCK:
        snprintf(ret, VERDICT_TEXT_MAX, "Within luck%s: %+.2f points above holding (%s), but %s.", seeds,
                 points, interval, luck_text(verdict, luck, sizeof luck));
        break;
    case VERDICT_BETTER:
        snprintf(
            ret, VERDICT_TEXT_MAX,
            "Better than holding%s by %.2f points (%s); p = %.3g of %d random policies with the same trades.",
            seeds, points, interval, verdict->p, verdict->n_random);
        break;
    default:
        snprintf(ret, VERDICT_TEXT_MAX, "Not evaluated.");
    }
    return ret;
}
