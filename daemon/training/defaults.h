/* The configuration that a training has when none is given. */
#ifndef DAEMON_TRAINING_DEFAULTS_H
#define DAEMON_TRAINING_DEFAULTS_H

#include "daemon/config.h"

/* 64x64 on the daemon's own bars that open before `before_ns`, which all its processes then see alike (0: all
 * that there are), with the first account's cash and fees, until it is stopped. `state_dir` is absolute. For
 * free(); NULL without memory. */
char *daemon_training_defaults(const struct daemon_config *config, const char *state_dir, int64_t before_ns);

#endif
