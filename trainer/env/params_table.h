/* The table behind env_params_list(). */
#ifndef TRAINER_ENV_PARAMS_TABLE_H
#define TRAINER_ENV_PARAMS_TABLE_H

#include "trainer/env/params.h"

extern const struct config_key env_params_table[]; /* sorted by name */
extern const size_t env_params_table_n;

#endif
