/* RUNNING trials as TPE sees them: the parameters that they have, and those of a joint draw that they have
 * not requested yet, which Optuna's workers and ours store in system attributes tpe:relative_params:0, :1, …
 * as pieces of one JSON object of external values. */
#ifndef TRAINER_STUDY_TPE_RUNNING_H
#define TRAINER_STUDY_TPE_RUNNING_H

#include "trainer/study/space.h"

enum { TPE_PIECE_MAX = 2045 /* characters of a piece, as Optuna cuts them */ };

struct tpe_running {
    int n;
    struct tpe_running_trial {
        const struct study_trial *trial;
        json_t *promised; /* object, parsed on demand; NULL: none */
        bool is_read;
    } * trials; /* [n] by number */
};

/* Reads all except `number`; `promises`: also the joint draws. 0 or -ENOMEM. */
int tpe_running_read(const struct study *study, int number, bool promises, struct tpe_running *ret);
void tpe_running_finish(struct tpe_running *running); /* fine on a zeroed one */

/* False: it has no such parameter. `param` of the study, -1: the study has none of that name. */
bool tpe_running_value(struct tpe_running_trial *trial, int param, const struct space_param *wanted,
                       double *ret);

/* The pieces, an array of strings, of an object of external values: a new reference; NULL without memory. */
json_t *tpe_running_promise(const json_t *promise);

#endif
