/* The columns of struct env_state and struct env_ended as a table, for code that allocates, saves or copies
 * all of them: the environment here, a device's copy of it, the tests that compare two. */
#ifndef TRAINER_ENV_COLUMNS_H
#define TRAINER_ENV_COLUMNS_H

#include "trainer/env/view.h"

struct env_column {
    const char *name;
    size_t offset;  /* of the pointer, in struct env_state or struct env_ended */
    size_t size;    /* bytes of an element; 0: money's */
    bool ended;     /* of struct env_ended, else of struct env_state */
    bool assets;    /* [n][stride], else [stride] */
    int execution;  /* the only execution that has it (enum env_execution), or -1 */
    bool day_trade; /* only that task has it */
    bool limits;    /* only an environment with limits has it */
};

const struct env_column *env_columns(size_t *ret_n);

/* Has an environment of these parameters the column? */
bool env_column_used(const struct env_column *column, const struct env_params *params);

size_t env_column_size(const struct env_column *column, const struct env_params *params);

/* Where it lies in this view; NULL where it is not used. */
void *env_column_data(const struct env_column *column, const struct env_view *view);
void env_column_set(const struct env_column *column, struct env_view *view, void *data);

/* Elements from an asset to the next for so many copies: whole blocks of ENV_LANES, an odd number of them, so
 * that neighbouring columns are never a multiple of 4096 bytes apart. */
size_t env_stride(size_t copies);

#endif
