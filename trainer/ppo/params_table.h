/* The table behind ppo_params_list(). */
#ifndef TRAINER_PPO_PARAMS_TABLE_H
#define TRAINER_PPO_PARAMS_TABLE_H

#include "trainer/ppo/params.h"

extern const struct env_param ppo_params_table[]; /* sorted by name */
extern const size_t ppo_params_table_n;

#endif
