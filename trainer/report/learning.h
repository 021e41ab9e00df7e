/* The learning curves of a training: what each update and each evaluation reported, in bounded memory. With
 * more than LEARNING_POINTS updates every second, fourth, ... one is kept. */
#ifndef TRAINER_REPORT_LEARNING_H
#define TRAINER_REPORT_LEARNING_H

#include "report/page.h"
#include "report/thin.h"
#include "trainer/ppo/learner.h"

enum {
    LEARNING_POINTS = 2000,
    LEARNING_FIGURES = 10,
    LEARNING_JUDGED = 2, /* policy, holding */
    LEARNING_SEEDS = 64, /* whose curves are drawn together */
};

/* Points of some columns by steps. */
struct trainer_learning_points {
    struct report_growth growth; /* n: how many there are */
    int64_t steps[LEARNING_POINTS];
    double values[LEARNING_FIGURES][LEARNING_POINTS];
};

struct trainer_learning {
    struct trainer_learning_points updates, judged;
    bool holds; /* evaluations have a benchmark */
};

/* Empty; to be freed. NULL without memory. */
struct trainer_learning *trainer_learning_create(void);

void trainer_learning_add(struct trainer_learning *learning, const struct ppo_update *update);
/* An evaluation while it trained: its return and holding's, shares; `benchmark` NaN of a built-in world, and
 * `result` is then its reward. */
void trainer_learning_judge(struct trainer_learning *learning, int64_t steps, double result,
                            double benchmark);

/* A chart a figure that any update has, half as wide as the page: of one training its line, of n of them (one
 * a seed) the median and the band from the least to the highest. `judged_on`: the rows of the evaluations, as
 * "validation". 0; -ENOMEM. */
int trainer_report_learning(struct text *text, const struct trainer_learning *const *seeds, int n,
                            const char *judged_on);

#endif
