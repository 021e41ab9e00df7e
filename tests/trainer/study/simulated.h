/* Simulated searches, for what gates do with very many of them: trials are policies that hold a share of one
 * asset, which wanders on its own; some of them see, where there is something to see, a part of the next
 * return. Returns go the way of a study's: study_value() of the default splits chooses one trial,
 * validation_json() of all looks at it, its holdout. Nothing is trained: what a trial holds does not depend
 * on the split, nor is it trained again for the holdout. Whatever fails ends the program. */
#ifndef TESTS_TRAINER_STUDY_SIMULATED_H
#define TESTS_TRAINER_STUDY_SIMULATED_H

#include "tests/random.h"
#include "trainer/study/gate.h"

enum { SIMULATED_TRIALS_MAX = 20, SIMULATED_ROWS_MAX = 2000 };

struct simulated_kind {
    int trials, rows; /* of the study; a quarter as many rows, the newest, are the holdout */
    double signal; /* deviation of that part, noise's being 1: it correlates by signal / sqrt(1 + signal²) */
    double seeing; /* share of the trials that see it */
    double alike;  /* share of what they hold that is the same in all */
    double fee;    /* of what is bought or sold */
    double drift;  /* the market's Sharpe, a row's: times 94 a year's, rows being hours */
};

/* What the gate `deflated` may look at: the keys of papertape.validation/1's `deflated`. */
enum simulated_ratio { SIMULATED_SKILL, SIMULATED_CAPPED, SIMULATED_PAPER, SIMULATED_RATIOS };

struct simulated_figures {
    struct gate_figures by[SIMULATED_RATIOS]; /* they differ in `deflated` alone */
    bool otherwise;                           /* what is proposed has not the best Sharpe */
};

/* One study, and all that gates look at. */
void simulated_study(struct random *random, const struct simulated_kind *kind, struct simulated_figures *ret);

#endif
