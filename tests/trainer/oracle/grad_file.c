#include "tests/trainer/oracle/grad_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fatal.h"

static double number(const struct safetensors *tensors, const char *key)
{
    const char *text = safetensors_metadata(tensors, key);
    return !text || strcmp(text, "none") == 0 ? 0 : strtod(text, NULL);
}

static const struct safetensors_tensor *must_find(const struct safetensors *tensors, const char *name)
{
    const struct safetensors_tensor *tensor = safetensors_find(tensors, name);
    if (!tensor)
        fatal("no tensor %s", name);
    return tensor;
}

/* Outputs of part.0, part.1 …: its widths, the head's last. Returns how many. */
static int widths_of(const struct safetensors *tensors, const char *part, int *ret)
{
    for (int n = 0;; n++) {
        char name[NET_NAME_MAX];
        snprintf(name, sizeof name, "%s.%d.weight", part, n);
        const struct safetensors_tensor *tensor = safetensors_find(tensors, name);
        if (!tensor || n > NET_LAYERS_MAX)
            return n;
        ret[n] = (int)tensor->dims[0];
    }
}

static void read_shape(const struct safetensors *tensors, struct net_shape *ret)
{
    int pi[NET_LAYERS_MAX + 1], vf[NET_LAYERS_MAX + 1];
    *ret = (struct net_shape){0};
    ret->observation = (int)must_find(tensors, "obs")->dims[1];
    ret->actions = (int)must_find(tensors, "actions")->dims[1];
    ret->levels = (int)number(tensors, "levels");
    ret->layer_norm = number(tensors, "layer_norm") > 0;
    ret->recurrent = (int)number(tensors, "recurrent");
    const char *activation = safetensors_metadata(tensors, "activation");
    if (!activation || !policy_net_activation_parse(activation, &ret->activation))
        fatal("no activation");
    ret->shared = safetensors_find(tensors, "shared.0.weight") != NULL;
    if (ret->shared) {
        ret->n_pi = widths_of(tensors, "shared", pi);
    } else {
        ret->n_pi = widths_of(tensors, "pi", pi) - 1;
        ret->n_vf = widths_of(tensors, "vf", vf) - 1;
    }
    for (int i = 0; i < ret->n_pi; i++)
        ret->pi[i] = pi[i];
    for (int i = 0; i < ret->n_vf; i++)
        ret->vf[i] = vf[i];
}

void grad_file_open(const char *path, struct grad_file *ret)
{
    char err[SAFETENSORS_ERROR_MAX], why[NET_ERROR_MAX];
    struct net_shape shape;
    if (safetensors_read(path, &ret->tensors, err) < 0)
        fatal("%s", err);
    read_shape(ret->tensors, &shape);
    if (policy_net_layout_init(&ret->layout, &shape, why) < 0)
        fatal("%s: %s", path, why);
    ret->rows = (size_t)must_find(ret->tensors, "obs")->dims[0];
    ret->steps = shape.recurrent ? (size_t)number(ret->tensors, "steps") : 1;
    ret->loss = (struct nn_loss){.clip_range = number(ret->tensors, "clip_range"),
                                 .clip_range_vf = number(ret->tensors, "clip_range_vf"),
                                 .vf_coef = number(ret->tensors, "vf_coef"),
                                 .ent_coef = number(ret->tensors, "ent_coef"),
                                 .entropy_bound = number(ret->tensors, "entropy_bound"),
                                 .value_bound = number(ret->tensors, "value_bound")};
}

void grad_file_close(struct grad_file *file)
{
    safetensors_destroy(file->tensors);
}

static const double *values_of(const struct grad_file *file, const char *name, size_t n)
{
    const struct safetensors_tensor *tensor = must_find(file->tensors, name);
    if (tensor->type != SAFETENSORS_F64 || tensor->bytes != n * sizeof(double))
        fatal("%s: not %zu numbers of float64", name, n);
    return tensor->data;
}

real *grad_file_tensor(const struct grad_file *file, const char *name, size_t n)
{
    const double *values = values_of(file, name, n);
    real *ret = fatal_calloc(n, sizeof *ret);
    for (size_t i = 0; i < n; i++)
        ret[i] = (real)values[i];
    return ret;
}

real *grad_file_params(const struct grad_file *file, const char *prefix)
{
    real *ret = fatal_calloc(file->layout.n_params, sizeof *ret);
    for (int t = 0; t < file->layout.n_tensors; t++) {
        const struct net_tensor *tensor = &file->layout.tensors[t];
        char name[NET_NAME_MAX + 8];
        snprintf(name, sizeof name, "%s%s", prefix, tensor->name);
        const double *values = values_of(file, name, (size_t)tensor->rows * (size_t)tensor->cols);
        for (int row = 0; row < tensor->rows; row++)
            for (int col = 0; col < tensor->cols; col++)
                ret[tensor->offset + (size_t)row * (size_t)tensor->stride + (size_t)col] =
                    (real)values[(size_t)col * (size_t)tensor->rows + (size_t)row];
    }
    return ret;
}

uint8_t *grad_file_starts(const struct grad_file *file)
{
    const struct safetensors_tensor *tensor = safetensors_find(file->tensors, "starts");
    if (!tensor)
        return NULL;
    uint8_t *ret = fatal_calloc(file->rows, 1);
    memcpy(ret, tensor->data, file->rows);
    return ret;
}

static void normalise(real *values, size_t n)
{
    double mean = 0, squares = 0;
    for (size_t i = 0; i < n; i++)
        mean += (double)values[i] / (double)n;
    for (size_t i = 0; i < n; i++)
        squares += ((double)values[i] - mean) * ((double)values[i] - mean);
    for (size_t i = 0; i < n; i++)
        values[i] = (real)(((double)values[i] - mean) / (sqrt(squares / (double)(n - 1)) + 1e-8));
}

void grad_file_rows(const struct grad_file *file, struct grad_rows *ret)
{
    const size_t rows = file->rows, hidden = (size_t)file->layout.hidden;
    real *advantages = grad_file_tensor(file, "advantages", rows);
    normalise(advantages, rows);
    *ret = (struct grad_rows){
        .rows = {.rows = rows,
                 .obs = grad_file_tensor(file, "obs", rows * (size_t)file->layout.shape.observation),
                 .steps = file->steps,
                 .hidden = hidden ? grad_file_tensor(file, "hidden", rows / file->steps * hidden) : NULL,
                 .starts = grad_file_starts(file)},
        .sample = {.actions = grad_file_tensor(file, "actions", rows * (size_t)file->layout.shape.actions),
                   .old_logp = grad_file_tensor(file, "old_logp", rows),
                   .old_values = grad_file_tensor(file, "old_values", rows),
                   .advantages = advantages,
                   .returns = grad_file_tensor(file, "returns", rows)},
    };
}

void grad_rows_free(struct grad_rows *rows)
{
    free((void *)rows->rows.obs);
    free((void *)rows->rows.hidden);
    free((void *)rows->rows.starts);
    free((void *)rows->sample.actions);
    free((void *)rows->sample.old_logp);
    free((void *)rows->sample.old_values);
    free((void *)rows->sample.advantages);
    free((void *)rows->sample.returns);
}
