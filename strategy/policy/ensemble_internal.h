/* Between the files of ensembles only. */
#ifndef STRATEGY_POLICY_ENSEMBLE_INTERNAL_H
#define STRATEGY_POLICY_ENSEMBLE_INTERNAL_H

#include <stddef.h>

#include "strategy/policy/ensemble.h"

#define ENSEMBLE_SCHEMA "papertape.ensemble/1"
#define ENSEMBLE_ENDING ".ensemble.json"

/* What an ensemble's text says. */
struct ensemble_text {
    int n;
    char *members[ENSEMBLE_MEMBERS_MAX]; /* as they are named there; owned */
    enum ensemble_combine combine;
    int window_bars;
};

/* ensemble_text.c. 0, for ensemble_text_finish(); -EINVAL with "NAME: what: where: what would be right";
 * -ENOMEM. */
int ensemble_text_parse(const char *name, const char *bytes, size_t n, struct ensemble_text *ret,
                        char err[static POLICY_ERROR_MAX]);
void ensemble_text_finish(struct ensemble_text *text);

#endif
