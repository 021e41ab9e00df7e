/* The page of `papertape-trainer train --report`. All calls are fine with NULL, which is none. */
#ifndef TRAINER_COMMAND_TRAIN_PAGE_H
#define TRAINER_COMMAND_TRAIN_PAGE_H

#include "trainer/report/evaluation.h"
#include "trainer/report/learning.h"
#include "trainer/training/evaluate.h"

struct train_run;

/* What a page remembers while it trains. */
struct train_page {
    const char *path;
    struct trainer_learning *learning[LEARNING_SEEDS]; /* [n_seeds], a seed each */
    int n_seeds;                                       /* started; those beyond the array have no curves */
    const char *judged_on;                             /* the rows of evaluations while it trains */
    struct train_page_shown {
        struct training_episode episode; /* n 0: there is none of a market */
        struct trainer_trace trace;
    } last, shown; /* of the seed's last evaluation; of the seed whose policy is kept */
    struct training_calls calls;
};

/* 0, for train_page_close(); -errno: `path` cannot be written. */
int train_page_open(const char *path, struct train_page **ret);
void train_page_close(struct train_page *page);

/* A seed's training starts. 0 or -ENOMEM. */
int train_page_begin(struct train_page *page);
void train_page_updated(struct train_page *page, const struct ppo_update *update);
void train_page_judged(struct train_page *page, const struct training_source *source, enum source_part part,
                       int64_t steps, const struct evaluation *evaluation);
/* What an evaluation on that part notes for the page, which shows the last on the rows of testing; forgets
 * the one before. NULL: nothing. */
struct training_watch *train_page_watch(struct train_page *page, enum source_part part,
                                        struct training_watch *ret);
/* The seed's policy is the one that is kept so far: the page shows its last evaluation. */
void train_page_keep(struct train_page *page);

/* How many seeds have curves. */
int train_page_curves(const struct train_page *page);

/* Writes it, of the training, or the seeds', that ended by `result` ("done", "stopped"). 0 or -errno. */
int train_page_write(const struct train_run *run, const char *name, const char *result);

#endif
