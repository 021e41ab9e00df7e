/* One training of a name in an output folder at a time, by a lock on OUTPUT/NAME.lock that the system
 * releases when its owner ends, for whatever reason. */
#ifndef TRAINER_TRAINING_CLAIM_H
#define TRAINER_TRAINING_CLAIM_H

#include <limits.h>
#include <stdbool.h>

enum { CLAIM_ERROR_MAX = 1024 };

struct claim {
    int fd;
    bool held;
    char path[PATH_MAX];
};

/* Claims it, and removes temporary files of a policy that a killed owner left. 0, for training_claim_drop();
 * -EBUSY: another training has it; errors of opening; each with a sentence. */
int training_claim_take(const char *output, const char *name, struct claim *ret,
                        char err[static CLAIM_ERROR_MAX]);
void training_claim_drop(struct claim *claim); /* removes the file; fine on a zeroed one */

#endif
