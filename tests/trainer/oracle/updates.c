/* Updates on the one batch of a grad-check file, with Adam and clipping of gradients as the learner has them,
 * in the type it is compiled for:
 *
 *     grad-updates F.safetensors UPDATES LEARNING_RATE EPSILON MAX_NORM OUT.safetensors
 *
 * Prints policy, value and entropy loss, loss and the gradients' norm before each; writes what the parameters
 * then are, as float64. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/trainer/oracle/grad_file.h"
#include "trainer/nn/adam.h"

struct state {
    real *params, *grads, *m, *v;
};

static void update(const struct grad_file *file, const struct grad_rows *rows, struct REAL(nn_work) * work,
                   struct state *state, struct nn_adam *adam, int t, double max_norm)
{
    const size_t n = file->layout.n_params;
    const real *grads[] = {state->grads};
    struct nn_sums sums;
    REAL(nn_loss)(work, state->params, &file->loss, &rows->rows, &rows->sample, &sums);
    struct nn_terms terms = nn_terms_of(&file->loss, &sums);
    REAL(nn_backward)(work, state->params, &terms, state->grads);
    double norm = sqrt(REAL(nn_grad_squares)(grads, 1, 0, n));
    adam->scale = fmin(1, max_norm / (norm + 1e-6));
    adam->correction1 = 1 - pow(adam->beta1, t);
    adam->correction2 = 1 - pow(adam->beta2, t);
    REAL(nn_adam)(adam, state->params, state->m, state->v, grads, 1, 0, n);
    printf("%.17g %.17g %.17g %.17g %.17g\n", terms.policy, terms.value, terms.entropy, terms.loss, norm);
}

/* The parameters as the file has them. */
static int write_params(const struct net_layout *layout, const real *params, const char *path)
{
    char err[SAFETENSORS_ERROR_MAX];
    struct safetensors_tensor tensors[NET_TENSORS_MAX];
    double *turned = calloc(layout->n_learned, sizeof *turned), *at = turned;
    if (!turned)
        return EXIT_FAILURE;
    for (int t = 0; t < layout->n_tensors; t++) {
        const struct net_tensor *tensor = &layout->tensors[t];
        const size_t rows = (size_t)tensor->rows, cols = (size_t)tensor->cols;
        tensors[t] = (struct safetensors_tensor){.name = tensor->name,
                                                 .type = SAFETENSORS_F64,
                                                 .n_dims = tensor->kind == NET_WEIGHT ? 2 : 1,
                                                 .dims = {tensor->cols, tensor->rows},
                                                 .data = at,
                                                 .bytes = rows * cols * sizeof *at};
        for (size_t col = 0; col < cols; col++)
            for (size_t row = 0; row < rows; row++)
                *at++ = (double)params[tensor->offset + row * (size_t)tensor->stride + col];
    }
    int r = safetensors_write(path, tensors, (size_t)layout->n_tensors, NULL, 0, err);
    if (r < 0)
        fprintf(stderr, "grad-updates: %s\n", err);
    free(turned);
    return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    if (argc != 7) {
        fputs("usage: grad-updates F.safetensors UPDATES LEARNING_RATE EPSILON MAX_NORM OUT.safetensors\n",
              stderr);
        return 2;
    }
    struct grad_file file;
    struct grad_rows rows;
    struct REAL(nn_work) * work;
    grad_file_open(argv[1], &file);
    grad_file_rows(&file, &rows);
    const size_t n = file.layout.n_params;
    struct state state = {grad_file_params(&file, ""), calloc(n, sizeof(real)), calloc(n, sizeof(real)),
                          calloc(n, sizeof(real))};
    if (!state.grads || !state.m || !state.v ||
        REAL(nn_work_create)(&file.layout, file.rows, true, &work) != 0)
        return EXIT_FAILURE;
    struct nn_adam adam = {
        .lr = strtod(argv[3], NULL), .beta1 = 0.9, .beta2 = 0.999, .epsilon = strtod(argv[4], NULL)};
    for (int t = 1; t <= atoi(argv[2]); t++)
        update(&file, &rows, work, &state, &adam, t, strtod(argv[5], NULL));
    int status = write_params(&file.layout, state.params, argv[6]);
    REAL(nn_work_destroy)(work);
    free(state.params);
    free(state.grads);
    free(state.m);
    free(state.v);
    grad_rows_free(&rows);
    grad_file_close(&file);
    return status;
}
