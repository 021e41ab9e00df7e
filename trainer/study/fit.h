/* Whether a study can work with its rows, by arithmetic alone: what its rows are divided into, what each
 * split leaves to train on, and, where that is too little, what is too small and by how much.
 *
 * Of `rows` rows those before the first with all features (the warm-up), and a lookback at both ends, are not
 * used; the newest `holdout` of the others are the holdout; purge and embargo, at least a lookback, separate
 * it from the rows of the search, which the groups of `split` divide (trainer/study/split.h). An episode lies
 * within one block of a split's training rows: of each split one block must hold the longest that a trial may
 * have, at least 2 * lookback + 1 rows, which is what a step needs to be observed on both sides. */
#ifndef TRAINER_STUDY_FIT_H
#define TRAINER_STUDY_FIT_H

#include "trainer/study/split.h"

enum { STUDY_FIT_ERROR_MAX = 768, STUDY_SPLIT_TEXT_MAX = 32 };

/* What a study asks of its rows. */
struct study_demand {
    size_t rows, first; /* first: the first row in which every feature has a value; `rows`: there is none */
    size_t lookback;    /* the most that a trial may have */
    size_t episode;     /* rows of the longest episode of a trial; 0: it takes what there is */
    bool searched;      /* episode_bars is: the upper end of its range counts */
    size_t purge, embargo;
    double holdout; /* share */
    struct study_split split;
};

enum study_lack {
    STUDY_LACK_NOTHING,
    STUDY_LACK_ROWS,    /* warm-up and lookback leave none */
    STUDY_LACK_HOLDOUT, /* its share is less than two rows, by which nothing is judged */
    STUDY_LACK_SEARCH,  /* holdout, purge and embargo leave none to search on */
    STUDY_LACK_GROUPS,  /* groups of fewer than two rows */
    STUDY_LACK_BLOCK,   /* some split has no block for an episode */
};

struct study_extent {
    size_t least, most;
};

struct study_fit {
    enum study_lack lack;
    struct split_rows search, holdout;
    size_t gap;                             /* rows between them */
    size_t needed;                          /* rows of the block that an episode needs */
    int split;                              /* from 1: the split whose longest block is the shortest */
    size_t longest;                         /* that block */
    struct study_extent block, train, test; /* rows of a block of training; of all blocks of a split; of a
                                             * tested block */
};

/* Divides the rows; the splits are not looked at: `lack` of the first four. */
void study_fit_lay_out(const struct study_demand *demand, struct study_fit *ret);

/* The blocks that a split trains on, as split_training(), counted from search.from: that itself where no bars
 * are missing. */
typedef int study_fit_training(const void *ctx, const int chosen[static SPLIT_GROUPS_MAX],
                               struct split_rows ret[static SPLIT_BLOCKS_MAX]);

/* After study_fit_lay_out(), where nothing lacks: the splits. `training` NULL: split_training(). */
void study_fit_splits(const struct study_demand *demand, study_fit_training *training, const void *ctx,
                      struct study_fit *fit);

/* Both, where no bars are missing. */
struct study_fit study_fit_of(const struct study_demand *demand);

/* So many rows more, the warm-up unchanged, are needed; 0: none; SIZE_MAX: no number helps. */
size_t study_fit_more_rows(const struct study_demand *demand);

/* What `validation = auto` is: of cpcv:5,2, kfold:5, kfold:4 and walk-forward:1 the first that fits, which
 * are in the order of the paths that they leave to judge by, and of the rows that they leave to train on.
 * False: none, and *ret is the last of them. */
bool study_fit_auto(const struct study_demand *demand, struct study_split *ret);

/* What lacks, in a sentence "[section] key: value: …: what would be right". -EINVAL. */
int study_fit_refuse(const struct study_demand *demand, const struct study_fit *fit,
                     char err[static STUDY_FIT_ERROR_MAX]);

/* As split_parse() takes it. */
const char *study_split_text(const struct study_split *split, char buf[static STUDY_SPLIT_TEXT_MAX]);

#endif
