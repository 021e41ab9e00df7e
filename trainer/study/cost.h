/* What a study takes of processors and memory, measured on its own rows before it starts: each part of a
 * trial is done once, on the first split, by the functions that trials call. */
#ifndef TRAINER_STUDY_COST_H
#define TRAINER_STUDY_COST_H

#include "trainer/study/trial.h"
#include "trainer/training/plan.h"

/* Processor seconds. */
struct study_cost {
    double fit_s;     /* one split's features, fitted and scaled */
    double market_s;  /* a split's markets of the environment */
    double test_s;    /* of a split, figures included; the mean over all */
    double returns_s; /* a trial's file of returns */
    double judging_s; /* reading that again at the end, when the proposal is judged */
    double holdout_s; /* the test, the verdict and the file of a proposal */
    int refitted;     /* splits whose features every trial fits again, since not all are kept */
    int kept; /* splits, and all rows of the study, whose features are fitted before the workers start */
    size_t kept_bytes;    /* of those, which all workers share */
    size_t each_bytes;    /* of one split's in each worker; 0: all are kept */
    struct plan training; /* of the trial that is measured, on the first split */
    struct plan largest;  /* the sizes of the largest one */
};

/* `config`: a trial's, and the `largest` one's (NULL: not wanted), each with a worker's share of the machine.
 * With options->sizes_only no seconds are measured, and they are NaN. 0; errors of study_trial_run() and
 * training_plan_make(). */
int study_cost_measure(const struct study_market *market, const struct train_config *config,
                       const struct train_config *largest, const struct plan_options *options,
                       struct study_cost *ret, char err[static TRIAL_ERROR_MAX]);

/* The parts of a whole study without pruning, in processor seconds of all its processes: its opening, which
 * has taken `opened_s` until the splits are fitted; trainings of `ensemble` proposed trials. */
struct study_cost_parts {
    double opening_s, fitting_s, markets_s, training_s, testing_s, returns_s, judging_s, proposal_s;
};
struct study_cost_parts study_cost_parts(const struct study_cost *cost, const struct study_settings *settings,
                                         double opened_s);
double study_cost_total(const struct study_cost_parts *parts);

#endif
