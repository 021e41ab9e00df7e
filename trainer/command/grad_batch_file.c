#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trainer/command/grad_batch.h"

enum { NAME_SIZE = NET_NAME_MAX + 8, TENSORS_MAX = 2 * NET_TENSORS_MAX + 16, PAIRS_MAX = 16, TEXT_SIZE = 32 };

struct file {
    struct safetensors_tensor tensors[TENSORS_MAX];
    char names[TENSORS_MAX][NAME_SIZE];
    size_t n_tensors;
    struct safetensors_pair pairs[PAIRS_MAX];
    char texts[PAIRS_MAX][TEXT_SIZE];
    size_t n_pairs;
    double *turned; /* parameters and gradients in the file's layout, one after the other */
};

static void add(struct file *file, const char *prefix, const char *name, const double *data, int n_dims,
                int64_t first, int64_t second)
{
    struct safetensors_tensor *tensor = &file->tensors[file->n_tensors];
    snprintf(file->names[file->n_tensors], NAME_SIZE, "%s%s", prefix, name);
    *tensor =
        (struct safetensors_tensor){.name = file->names[file->n_tensors],
                                    .type = SAFETENSORS_F64,
                                    .n_dims = n_dims,
                                    .dims = {first, second},
                                    .data = data,
                                    .bytes = (size_t)(first * (n_dims > 1 ? second : 1)) * sizeof *data};
    file->n_tensors++;
}

static void put_number(struct file *file, const char *key, double value, bool none)
{
    char *text = file->texts[file->n_pairs];
    if (none)
        snprintf(text, TEXT_SIZE, "none");
    else
        snprintf(text, TEXT_SIZE, "%.17g", value);
    file->pairs[file->n_pairs++] = (struct safetensors_pair){key, text};
}

/* Appends parameters or gradients, weights as [out, in]; returns the rest of the room. */
static double *add_params(struct file *file, const struct net_layout *layout, const char *prefix,
                          const double *values, double *room)
{
    for (int t = 0; t < layout->n_tensors; t++) {
        const struct net_tensor *tensor = &layout->tensors[t];
        const double *from = values + tensor->offset;
        bool weight = tensor->kind == NET_WEIGHT;
        for (int col = 0; col < tensor->cols; col++)
            for (int row = 0; row < tensor->rows; row++)
                room[(size_t)col * (size_t)tensor->rows + (size_t)row] =
                    from[(size_t)row * (size_t)tensor->stride + (size_t)col];
        add(file, prefix, tensor->name, room, weight ? 2 : 1, tensor->cols, tensor->rows);
        room += (size_t)tensor->cols * (size_t)tensor->rows;
    }
    return room;
}

static void add_metadata(struct file *file, const struct grad_batch *batch)
{
    const struct net_shape *shape = &batch->layout.shape;
    const struct nn_loss *loss = &batch->loss;
    file->pairs[file->n_pairs++] =
        (struct safetensors_pair){"activation", policy_net_activation_name(shape->activation)};
    put_number(file, "clip_range", loss->clip_range, false);
    put_number(file, "vf_coef", loss->vf_coef, false);
    put_number(file, "ent_coef", loss->ent_coef, false);
    put_number(file, "clip_range_vf", loss->clip_range_vf, loss->clip_range_vf == 0);
    put_number(file, "entropy_bound", loss->entropy_bound, loss->entropy_bound == 0);
    put_number(file, "value_bound", loss->value_bound, loss->value_bound == 0);
    if (shape->layer_norm)
        put_number(file, "layer_norm", 1, false);
    if (shape->levels)
        put_number(file, "levels", shape->levels, false);
    if (shape->recurrent) {
        put_number(file, "recurrent", shape->recurrent, false);
        put_number(file, "steps", (double)batch->steps, false);
    }
}

static void add_batch(struct file *file, const struct grad_batch *batch)
{
    const int64_t rows = (int64_t)batch->rows, sequences = (int64_t)(batch->rows / batch->steps);
    const struct net_shape *shape = &batch->layout.shape;
    add(file, "", "obs", batch->obs, 2, rows, shape->observation);
    add(file, "", "actions", batch->actions, 2, rows, shape->actions);
    add(file, "", "old_logp", batch->old_logp, 1, rows, 0);
    add(file, "", "old_values", batch->old_values, 1, rows, 0);
    add(file, "", "advantages", batch->advantages, 1, rows, 0);
    add(file, "", "returns", batch->returns, 1, rows, 0);
    add(file, "", shape->levels ? "logits" : "mean", batch->heads, 2, rows, batch->layout.outputs);
    add(file, "", "values", batch->values, 1, rows, 0);
    add(file, "", "logp", batch->logp, 1, rows, 0);
    add(file, "", "policy_loss", &batch->terms.policy, 1, 1, 0);
    add(file, "", "value_loss", &batch->terms.value, 1, 1, 0);
    add(file, "", "entropy_loss", &batch->terms.entropy, 1, 1, 0);
    add(file, "", "loss", &batch->terms.loss, 1, 1, 0);
    if (!shape->recurrent)
        return;
    add(file, "", "hidden", batch->hidden, 2, sequences, batch->layout.hidden);
    struct safetensors_tensor *starts = &file->tensors[file->n_tensors];
    snprintf(file->names[file->n_tensors++], NAME_SIZE, "starts");
    *starts = (struct safetensors_tensor){.name = file->names[file->n_tensors - 1],
                                          .type = SAFETENSORS_U8,
                                          .n_dims = 1,
                                          .dims = {rows},
                                          .data = batch->starts,
                                          .bytes = batch->rows};
}

int trainer_grad_batch_write(const struct grad_batch *batch, const char *path,
                             char err[static SAFETENSORS_ERROR_MAX])
{
    struct file *file = calloc(1, sizeof *file);
    double *room = calloc(2 * batch->layout.n_learned, sizeof *room);
    int r = -ENOMEM;
    if (file && room) {
        file->turned = room;
        add_batch(file, batch);
        room = add_params(file, &batch->layout, "", batch->params, room);
        add_params(file, &batch->layout, "grad.", batch->grads, room);
        add_metadata(file, batch);
        r = safetensors_write(path, file->tensors, file->n_tensors, file->pairs, file->n_pairs, err);
        free(file->turned);
    } else {
        snprintf(err, SAFETENSORS_ERROR_MAX, "out of memory: %s: a smaller network", path);
        free(room);
    }
    free(file);
    return r;
}
