/* The indicators of [indicators] `specs`, which the configuration holds as their text. */
#ifndef DAEMON_CONFIG_SPECS_H
#define DAEMON_CONFIG_SPECS_H

#include "daemon/config.h"
#include "indicators_gpu/indicators.h"
#include "record/config_key.h"

struct daemon_config_specs {
    int n;
    struct indicator_spec specs[CONFIG_SPECS_MAX]; /* those of prices first, then by measure */
    int measures[CONFIG_SPECS_MAX]; /* of the book, an enum book_measure, that a spec reads; -1: prices */
};

/* "sma:20 macd:12,26,9 sma:20@spread": 0, or -EINVAL with a sentence and *ret undefined. */
int daemon_config_specs_parse(const char *text, struct daemon_config_specs *ret,
                              char why[static CONFIG_WHY_MAX]);

#endif
