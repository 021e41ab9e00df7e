/* How the environment reports a refusal: one sentence, "what: where: what would be right". */
#ifndef TRAINER_ENV_REFUSAL_H
#define TRAINER_ENV_REFUSAL_H

#include "exchange/fail.h"
#include "trainer/env/params.h"

/* Writes the sentence, cut where it is too long. Returns rc, a negative errno. */
#define env_refuse(code, err, ...) fail_with(code, err, ENV_ERROR_MAX, __VA_ARGS__)

#endif
