/* How the environment says no: one sentence, "what: where: what would be right". */
#ifndef TRAINER_ENV_REFUSAL_H
#define TRAINER_ENV_REFUSAL_H

#include "trainer/env/params.h"

/* Writes the sentence, cut where it is too long. Returns rc, a negative errno. */
int env_refuse(int rc, char err[static ENV_ERROR_MAX], const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
