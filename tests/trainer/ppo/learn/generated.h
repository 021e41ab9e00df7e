/* A generated market of one asset, on the paper exchange's bar model. A hidden regime is up or down, and
 * stays with a probability of GENERATED_STAY at each bar; the volume shows it, with noise. With a signal the
 * next bar's return is on average +GENERATED_DRIFT or -GENERATED_DRIFT as the regime is; without, it is 0 on
 * average, and the volume predicts nothing. Bars open where the one before closed. */
#ifndef TESTS_TRAINER_PPO_LEARN_GENERATED_H
#define TESTS_TRAINER_PPO_LEARN_GENERATED_H

#include "trainer/env/env.h"

#define GENERATED_STAY   0.9
#define GENERATED_DRIFT  0.004
#define GENERATED_NOISE  0.004 /* of the return: it is drift +- this, evenly */
#define GENERATED_VOLUME 0.3   /* the deviation of what the volume shows: +1 or -1, and this much noise */
#define GENERATED_FEE    0.001

enum { GENERATED_FEATURES = 2, GENERATED_EPISODE = 128 };

struct generated {
    size_t rows;
    double *open, *high, *low, *close, *volume; /* [rows] */
    int *regime;                                /* [rows] +1 or -1: of the next bar */
    struct env_params params;                   /* of the environment; long only, all or nothing is best */
    struct env_market *market;
};

/* Ends the program where it fails. */
void generated_create(size_t rows, bool signal, uint64_t seed, struct generated *ret);
void generated_destroy(struct generated *generated);

/* An environment whose autoreset is same_step; the generated market must outlive it. */
struct env *generated_env(const struct generated *generated, size_t copies, uint64_t seed, bool random_start);

/* The best rule for a trader that sees the regime: hold in regime r (1: up, 0: down) having held or not? By
 * dynamic programming over (held, regime): the value of log wealth, bars without end, discounted by so little
 * that an episode does not notice. */
struct generated_rule {
    bool hold[2][2]; /* [held][regime] */
};
struct generated_rule generated_best(void);

/* What wealth becomes by the rule from `start` over `bars` bars, as a factor, everything invested or
 * nothing. */
double generated_follow(const struct generated *generated, const struct generated_rule *rule, size_t start,
                        size_t bars);

/* The same with the future known: the most that anyone could have had on these very bars. */
double generated_hindsight(const struct generated *generated, size_t start, size_t bars);

#endif
