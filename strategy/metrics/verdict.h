/* The verdict on an evaluation: what a policy's result on rows that it was not trained on says, as one word,
 * one sentence and its figures. Pure: the same input gives the same bits on a machine.
 *
 * The word is the first of these that applies:
 *   no_trades          no fill.
 *   only_holds         it opened positions and hardly ever reduced one: what it closed is at most
 *                      VERDICT_HOLDS of what it opened. So is who buys all at once, in ever smaller pieces,
 *                      or a little a bar, and sells nothing; there is no decision to judge.
 *   fees_exceed_gain   it lost money, and would not have without fees: gain before fees >= 0, and less than
 *                      them.
 *   below_holding      its final equity is not above the benchmark's.
 *   within_luck        it is above, but one of the two tests below does not exclude chance.
 *   better             it is above, the p-value is below VERDICT_LEVEL, and the whole interval above 0.
 *
 * **Random policies** of the same trades: the policy's own exposures, shifted in time. Step t of a shift by s
 * multiplies equity by 1 + sum_i weight_i(t - s) move_i(t) + rest(t - s), the indices round the end; rest(t)
 * is what the step's return has beyond weights and moves (fees, slippage, a stop inside the bar), so that
 * shift 0 is the policy itself, and all shifts have its turnover, exposure and costs, but not its times.
 * p = (1 + number of shifts that grow at least as much) / (1 + shifts): a permutation test (Good,
 * "Permutation, Parametric and Bootstrap Tests of Hypotheses", 2005, chapter 3), which keeps the dependence
 * over time of both series.
 * Before the shift the steps are cut into whole blocks of n / VERDICT_BLOCKS steps, rounded up to 128, at
 * most 1024, which are put in a drawn order (Fisher and Yates; the steps left at the end stay): a market that
 * repeats, as a wave, would be met again by a shift of whole periods.
 * VERDICT_SHIFTS of them, one drawn evenly in each of so many equal parts of the shifts that are at least n /
 * VERDICT_NEAR from 0; all of those where there are fewer. Nearer ones would see what the policy decided by a
 * few rows ahead, or act as it does a few rows late.
 *
 * **The interval** of the excess over holding, VERDICT_CONFIDENCE: the stationary bootstrap (Politis and
 * Romano, JASA 1994) of d(t), the difference of the two log returns of a step: VERDICT_RESAMPLES sums of n
 * values in blocks of geometric length, its mean the larger of n^(1/3) and the choice of Politis and White
 * (Econometric Reviews 2004, as corrected 2009), at most min(3 sqrt n, n / 3); the quantiles of the sorted
 * sums. A sum D is an excess of (1 + benchmark's return) (exp(D) - 1).
 *
 * Draws are Philox's (strategy/philox.h), key VERDICT_SEED, counters {resample, pair of blocks, 0, 1 << 24}:
 * start and length of a block, twice; {shift, 0, 0, 2 << 24}; and
 * {shift, i, 0, 3 << 24}: the place below i + 1 that block i changes with, i falling. */
#ifndef STRATEGY_METRICS_VERDICT_H
#define STRATEGY_METRICS_VERDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum verdict_kind {
    VERDICT_NONE, /* not evaluated; has no word */
    VERDICT_NO_TRADES,
    VERDICT_ONLY_HOLDS,
    VERDICT_FEES_EXCEED_GAIN,
    VERDICT_BELOW_HOLDING,
    VERDICT_WITHIN_LUCK,
    VERDICT_BETTER,
};

#define VERDICT_HOLDS      0.01
#define VERDICT_LEVEL      0.01
#define VERDICT_CONFIDENCE 0.99
#define VERDICT_SEEDS      0.05 /* level of the sign test over seeds */
#define VERDICT_SEED       UINT64_C(0x76657264696374)
enum {
    VERDICT_SHIFTS = 999,
    VERDICT_RESAMPLES = 1999,
    VERDICT_NEAR = 20,
    VERDICT_BLOCKS = 16,
    VERDICT_STEPS_LEAST = 20, /* below, there is neither p-value nor interval */
    VERDICT_TEXT_MAX = 256,
};

/* One episode, step by step. Borrowed; columns are one after the other, an asset's steps adjacent. */
struct verdict_input {
    size_t n; /* steps */
    int n_assets;
    double initial;          /* equity before the first step, and the benchmark's; currency */
    const double *equity;    /* [n] after each step */
    const double *benchmark; /* [n] what holding is worth then */
    const double *weights;   /* [n_assets][n] value of the asset's position, at the close before the
                                step and held during it, as a share of equity there; short: below 0 */
    const double *moves;     /* [n_assets][n] change of its close over the step, a share */
    double fees;             /* paid in all; currency */
    double opened, closed;   /* notionals of fills that enlarged positions, and that reduced them */
    int64_t buys, sells;     /* fills */
};

/* What is not known is NaN; shares of 1. */
struct verdict {
    enum verdict_kind kind;
    size_t n_steps;
    double total_return, benchmark_return;
    double excess;     /* total_return - benchmark_return */
    double low, high;  /* its interval; NaN: too few steps, or equity that is not positive */
    double block;      /* mean length of the bootstrap's blocks, steps */
    double p;          /* NaN of no_trades and only_holds, too few steps, equity that is not positive */
    int n_random;      /* shifts that p counts */
    double gain, fees; /* before fees: final - initial + fees; currency */
    int64_t buys, sells;
    int n_seeds,
        n_above; /* of metrics_verdict_of_seeds(): seeds, and those whose excess is above 0; else 0 */
};

/* 0; -EINVAL: no steps, a number that is not finite, an initial equity that is not positive; -ENOMEM. 0.1 s
 * for 100,000 steps of 5 assets. */
int metrics_verdict(const struct verdict_input *input, struct verdict *ret);

/* The verdict on a configuration that was trained with n >= 1 seeds and evaluated on the same rows: that of
 * the seed with the median excess, the lower of the two middle ones. What would be `better` is within_luck
 * unless enough seeds have an excess above 0: so many that as many or more of n fair coins show heads with a
 * probability of at most VERDICT_SEEDS, which is 5 of 5, 9 of 10; below 5 seeds all of them, at the level 1 /
 * 2^n. The seeds share the rows, whose luck is the median seed's own test. */
struct verdict metrics_verdict_of_seeds(const struct verdict *each, int n);

/* no_trades | only_holds | fees_exceed_gain | below_holding | within_luck | better; NULL of VERDICT_NONE. The
 * kind of a word; VERDICT_NONE for any other text, and NULL. */
const char *metrics_verdict_word(enum verdict_kind kind);
enum verdict_kind metrics_verdict_of_word(const char *word);

/* Is it worth trading? Of VERDICT_BETTER alone. */
static inline bool metrics_verdict_good(enum verdict_kind kind)
{
    return kind == VERDICT_BETTER;
}

/* The sentence, as "Below holding: -3.10 %, holding +5.00 % (8.10 points less; 99 % interval -15.20 to
 * -1.30)."; "Not evaluated." of VERDICT_NONE. Returns ret. */
const char *metrics_verdict_text(const struct verdict *verdict, char ret[static VERDICT_TEXT_MAX]);

#endif
