/* ACTIONS.csv of env-replay: its action_* columns, and t, the rows that they are for. */
#ifndef TRAINER_COMMAND_REPLAY_ACTIONS_H
#define TRAINER_COMMAND_REPLAY_ACTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "trainer/command/replay_params.h"

struct replay_actions {
    size_t n;      /* rows */
    int width;     /* actions in each */
    float *values; /* [n][width] */
    size_t *lines; /* [n]: where each row stands in the file, from 1 */
    bool has_t;
    int64_t first_t; /* of the first row, where has_t; the others follow one by one */
};

/* Reads the columns action_NAME of the names, in their order ("BTC" and "BTCUSDT" are one); `t`, if there,
 * must rise by one from row to row; other columns without the prefix action_ are ignored. 0, for
 * trainer_replay_actions_finish(); errors of opening; -EINVAL with a sentence that names the line: a name
 * without a column, a column without a name, a row with too few or too many cells, a cell that is no finite
 * number; -ENOMEM. Numbers beyond float32 are its largest. *ret is untouched on failure. */
int trainer_replay_actions_read(const char *path, const char *const names[], int n_names,
                                struct replay_actions *ret, char err[static REPLAY_ERROR_MAX]);

/* 0 where every action is one of `levels` whole numbers from 0 on; -EINVAL with a sentence that names the
 * line of the first that is not. `names` as they were read. */
int trainer_replay_actions_are_levels(const struct replay_actions *actions, const char *path,
                                      const char *const names[], int levels,
                                      char err[static REPLAY_ERROR_MAX]);

/* 0 where the first row is for `t`, or the file has no `t`; -EINVAL with a sentence that names its line. */
int trainer_replay_actions_begin_at(const struct replay_actions *actions, const char *path, int64_t t,
                                    char err[static REPLAY_ERROR_MAX]);
void trainer_replay_actions_finish(struct replay_actions *actions);

#endif
