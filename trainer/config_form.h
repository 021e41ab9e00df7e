/* What a new training's form shows of the trainer's defaults. */
#ifndef TRAINER_CONFIG_FORM_H
#define TRAINER_CONFIG_FORM_H

#include <stdio.h>

/* Writes the main keys of a section of train_config_keys() with their defaults, "key = value" a line. 0 or
 * -ENOMEM. */
int train_config_print_main(const char *section, FILE *to);

#endif
