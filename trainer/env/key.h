/* A table of keys: values of a struct that are found by name, and read, printed and checked as their row
 * says. The environment's parameters and PPO's are such tables; both say no in the same words. */
#ifndef TRAINER_ENV_KEY_H
#define TRAINER_ENV_KEY_H

#include "trainer/env/params.h"

/* Of a table that is sorted by name. NULL: there is none of that name. */
const struct env_param *key_find(const struct env_param *table, size_t n, const char *name);

/* The name that is nearest to one that is not in the table. */
const char *key_nearest(const struct env_param *table, size_t n, const char *name);

/* `params` is the struct that `param->offset` counts from. */

/* 0; -EINVAL, -ERANGE with what would be right, and nothing set. A whole number beyond 2^53 is refused, never
 * rounded to one that is not. */
int key_set(const struct env_param *param, void *params, const char *text, char err[static ENV_ERROR_MAX]);

/* As key_set() reads it, numbers in the fewest digits that give them again. False: no room. */
bool key_print(const struct env_param *param, const void *params, char *buf, size_t cap);

/* Is the value, which a program may have put there itself, one that the row allows? 0, or -EINVAL. */
int key_check(const struct env_param *param, const void *params, char err[static ENV_ERROR_MAX]);

/* -ENOENT, and err says which of the presets is nearest to one that there is not. */
int key_no_preset(const char *const *presets, size_t n, const char *name, char err[static ENV_ERROR_MAX]);

#endif
