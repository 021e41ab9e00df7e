/* The table behind ppo_params_list(). */
#ifndef TRAINER_PPO_PARAMS_TABLE_H
#define TRAINER_PPO_PARAMS_TABLE_H

#include "trainer/ppo/params.h"

extern const struct config_key ppo_params_table[]; /* sorted by name */
extern const size_t ppo_params_table_n;

/* Widths of layers with commas, or none. */
int ppo_read_widths(const struct config_key *key, const char *text, void *base,
                    char why[static CONFIG_WHY_MAX]);
void ppo_print_widths(const struct config_key *key, const void *base, FILE *to);

#endif
