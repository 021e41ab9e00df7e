/* A file of grad-check's, for test programs that do its batch again. Whatever is wrong with it ends the
 * program: it is the trainer's own. */
#ifndef TESTS_TRAINER_ORACLE_GRAD_FILE_H
#define TESTS_TRAINER_ORACLE_GRAD_FILE_H

#include "strategy/policy/safetensors.h"
#include "trainer/nn/train.h"

struct grad_file {
    struct net_layout layout;
    struct nn_loss loss;
    size_t rows, steps;
    struct safetensors *tensors;
};

void grad_file_open(const char *path, struct grad_file *ret);
void grad_file_close(struct grad_file *file);

/* Tensors by name as `real` [n]; and parameters, or with prefix "grad." their gradients, as the layout has
 * them [n_params]. Caller frees. */
real *grad_file_tensor(const struct grad_file *file, const char *name, size_t n);
real *grad_file_params(const struct grad_file *file, const char *prefix);
uint8_t *grad_file_starts(const struct grad_file *file); /* [rows]; NULL: it has none */

/* The batch; what it points to is freed by grad_rows_free(). Advantages are normalised here, in float64. */
struct grad_rows {
    struct REAL(nn_rows) rows;
    struct REAL(nn_sample) sample;
};
void grad_file_rows(const struct grad_file *file, struct grad_rows *ret);
void grad_rows_free(struct grad_rows *rows);

#endif
