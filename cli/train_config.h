/* A training's configuration file on its way to the daemon. */
#ifndef CLI_TRAIN_CONFIG_H
#define CLI_TRAIN_CONFIG_H

#include <jansson.h>
#include <stdbool.h>

/* The file's text as a JSON string that fits into one line of the control socket; NULL with its line on
 * stderr. */
json_t *cli_train_config_read(const char *path);

/* Asks for all that is wrong with it and prints each on stderr as `papertape: train: FILE:LINE: [section]
 * key: why`. EXIT_OK for a good one, EXIT_ERROR for errors, another exit status with its line where nothing
 * was answered. With `json` the errors are one line on stdout instead, papertape.training-check/1. */
int cli_train_config_check(const char *state, const char *path, json_t *text, bool json);

#endif
