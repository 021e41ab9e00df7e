#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "indicators_gpu/isa.h"
#include "strategy/policy/model_internal.h"

enum { ALIGNMENT = 64, HUGE_PAGE = 2 << 20 };

struct net_memory {
    const struct net_model *model;
    float *floats;
    float *observation, *a, *b; /* normalised; a layer's input and output */
    float *hidden;              /* [layout.hidden], and room to compute a value without touching it */
    float *aside;
    float *heads; /* [outputs], padded */
};

static size_t padded(size_t n)
{
    return (n + NET_LANES - 1) / NET_LANES * NET_LANES;
}

/* Aligned to a huge page if it is at least that large: a core that streams 12 MB in 0.4 ms has no time for
 * 3000 page walks. */
static float *room(size_t n)
{
    size_t bytes = n * sizeof(float), alignment = bytes >= HUGE_PAGE ? HUGE_PAGE : ALIGNMENT;
    bytes = (bytes + alignment - 1) / alignment * alignment;
    float *floats = aligned_alloc(alignment, bytes);
    if (!floats)
        return NULL;
    if (alignment == HUGE_PAGE)
        madvise(floats, bytes, MADV_HUGEPAGE); /* faster where the system grants it */
    memset(floats, 0, bytes);
    return floats;
}

/* ---- packing ---- */

struct packing {
    const struct net_layout *layout;
    const float *params;
    float *at; /* NULL: only counted */
    size_t n;
};

static float *take(struct packing *packing, size_t n)
{
    float *at = packing->at ? packing->at + packing->n : NULL;
    packing->n += padded(n);
    return at;
}

static const float *take_row(struct packing *packing, int tensor)
{
    if (tensor < 0)
        return NULL;
    const struct net_tensor *from = &packing->layout->tensors[tensor];
    float *at = take(packing, (size_t)from->cols);
    if (at)
        memcpy(at, packing->params + from->offset, (size_t)from->cols * sizeof *at);
    return at;
}

static const float *take_weight(struct packing *packing, int tensor)
{
    const struct net_tensor *from = &packing->layout->tensors[tensor];
    size_t rows = (size_t)from->rows, cols = (size_t)from->cols, out = padded(cols);
    float *packed = take(packing, rows * out), *at = packed;
    for (size_t first = 0; at && first < out; first += INFER_PANEL) {
        size_t width = out - first < INFER_PANEL ? out - first : INFER_PANEL;
        size_t full = cols - first < width ? cols - first : width;
        for (size_t i = 0; i < rows; i++, at += width)
            memcpy(at, packing->params + from->offset + i * (size_t)from->stride + first, full * sizeof *at);
    }
    return packed;
}

static struct model_layer take_layer(struct packing *packing, const struct net_layer *layer)
{
    struct model_layer ret = {.in = (size_t)layer->in, .out = (size_t)layer->out};
    ret.out_padded = padded(ret.out);
    ret.bias = take_row(packing, layer->bias);
    ret.norm_weight = take_row(packing, layer->norm_weight);
    ret.norm_bias = take_row(packing, layer->norm_bias);
    ret.packed = take_weight(packing, layer->weight);
    return ret;
}

static void pack(struct packing *packing, struct net_model *model, const float *mean, const float *scale)
{
    static const enum net_part order[3] = {NET_SHARED, NET_PI, NET_VF};
    size_t n = (size_t)packing->layout->shape.observation;
    float *own_mean = take(packing, n), *own_scale = take(packing, n);
    for (size_t i = 0; own_mean && i < n; i++) {
        own_mean[i] = mean[i];
        own_scale[i] = scale[i];
    }
    model->mean = own_mean;
    model->scale = own_scale;
    for (int k = 0; k < 3; k++) {
        const struct net_chain *from = &packing->layout->chains[order[k]];
        struct model_chain *chain = &model->chains[order[k]];
        chain->n_hidden = from->n_hidden;
        chain->has_recurrent = from->has_recurrent;
        chain->has_head = from->has_head;
        for (int i = 0; i < from->n_hidden; i++)
            chain->hidden[i] = take_layer(packing, &from->hidden[i]);
        if (from->has_recurrent)
            chain->recurrent = take_layer(packing, &from->recurrent);
        if (from->has_head)
            chain->head = take_layer(packing, &from->head);
    }
}

/* NULL: the processor lacks it. */
static const struct infer_kernels *kernels_of(enum net_isa isa)
{
#if HAVE_AVX_SETS
    bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                  __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
    if (isa == NET_AVX512 || (isa == NET_BEST && avx512))
        return avx512 ? &policy_infer_avx512 : NULL;
    if (isa == NET_AVX2 || (isa == NET_BEST && avx2))
        return avx2 ? &policy_infer_avx2 : NULL;
#else
    if (isa == NET_AVX512 || isa == NET_AVX2)
        return NULL;
#endif
    return isa == NET_SCALAR ? &policy_infer_scalar : &policy_infer_baseline;
}

const char *policy_net_model_cpu(const struct net_model *model)
{
    if (model->kernels == &policy_infer_scalar)
        return "cpu-scalar";
#if HAVE_AVX_SETS
    if (model->kernels == &policy_infer_avx512)
        return "cpu-avx512";
    if (model->kernels == &policy_infer_avx2)
        return "cpu-avx2";
#endif
    return "cpu-baseline";
}

int policy_net_model_create(const struct net_layout *layout, const float *params, const float *mean,
                            const float *scale, float clip, enum net_isa isa, struct net_model **ret)
{
    const struct infer_kernels *kernels = kernels_of(isa);
    if (!kernels)
        return -ENOTSUP;
    struct net_model *model = calloc(1, sizeof *model);
    if (!model)
        return -ENOMEM;
    model->layout = *layout;
    model->kernels = kernels;
    model->clip = clip;
    struct packing packing = {.layout = &model->layout, .params = params};
    pack(&packing, model, mean, scale);
    model->floats = room(packing.n);
    if (!model->floats) {
        free(model);
        return -ENOMEM;
    }
    packing.at = model->floats;
    packing.n = 0;
    pack(&packing, model, mean, scale);
    model->n_floats = packing.n;
    *ret = model;
    return 0;
}

void policy_net_model_destroy(struct net_model *model)
{
    if (!model)
        return;
    if (model->slot)
        policy_net_slot_leave(model->slot);
    free(model->floats);
    free(model);
}

/* ---- memory ---- */

size_t policy_net_model_widest(const struct net_model *model)
{
    size_t most = 0;
    for (int k = 0; k < 3; k++) {
        const struct model_chain *chain = &model->chains[k];
        for (int i = 0; i < chain->n_hidden; i++)
            most = chain->hidden[i].out_padded > most ? chain->hidden[i].out_padded : most;
        most = chain->recurrent.out_padded > most ? chain->recurrent.out_padded : most;
        most = chain->head.out_padded > most ? chain->head.out_padded : most;
    }
    return most;
}

int policy_net_memory_create(const struct net_model *model, struct net_memory **ret)
{
    struct net_memory *memory = calloc(1, sizeof *memory);
    size_t observation = padded((size_t)model->layout.shape.observation),
           width = policy_net_model_widest(model), hidden = (size_t)model->layout.hidden,
           outputs = padded((size_t)model->layout.outputs);
    if (memory)
        memory->floats = room(observation + 2 * width + 2 * hidden + outputs);
    if (!memory || !memory->floats) {
        free(memory);
        return -ENOMEM;
    }
    memory->model = model;
    memory->observation = memory->floats;
    memory->a = memory->observation + observation;
    memory->b = memory->a + width;
    memory->heads = memory->b + width;
    memory->hidden = memory->heads + outputs;
    memory->aside = memory->hidden + hidden;
    *ret = memory;
    return 0;
}

void policy_net_memory_destroy(struct net_memory *memory)
{
    if (!memory)
        return;
    free(memory->floats);
    free(memory);
}

float *policy_net_memory_hidden(struct net_memory *memory, size_t *ret_n)
{
    *ret_n = (size_t)memory->model->layout.hidden;
    return memory->hidden;
}

/* ---- forward ---- */

/* In float64, in order, so that the sum does not depend on the instruction set. */
static void normalise_layer(const struct model_layer *layer, float *x)
{
    double mean = 0, squares = 0;
    for (size_t i = 0; i < layer->out; i++)
        mean += (double)x[i];
    mean /= (double)layer->out;
    for (size_t i = 0; i < layer->out; i++)
        squares += ((double)x[i] - mean) * ((double)x[i] - mean);
    double scale = 1.0 / sqrt(squares / (double)layer->out + NET_NORM_EPSILON);
    for (size_t i = 0; i < layer->out; i++) {
        float y = (float)(((double)x[i] - mean) * scale);
        x[i] = y * layer->norm_weight[i] + layer->norm_bias[i];
    }
}

/* From x through the chain's hidden and recurrent layers; the result is in memory->a or in `after`. `before`
 * and `after` are recurrent states, which may be the same. */
static const float *run_body(struct net_memory *memory, const struct model_chain *chain, const float *x,
                             const float *before, float *after)
{
    const struct net_model *model = memory->model;
    const struct infer_kernels *kernels = model->kernels;
    for (int i = 0; i < chain->n_hidden; i++) {
        const struct model_layer *layer = &chain->hidden[i];
        kernels->layer(layer->packed, layer->bias, x, layer->in, layer->out_padded, memory->b);
        if (layer->norm_weight)
            normalise_layer(layer, memory->b);
        kernels->activate(model->layout.shape.activation, memory->b, layer->out_padded);
        float *swap = memory->a;
        memory->a = memory->b;
        memory->b = swap;
        x = memory->a;
    }
    if (chain->has_recurrent) {
        const struct model_layer *layer = &chain->recurrent;
        kernels->layer(layer->packed, layer->bias, x, layer->in, layer->out_padded, memory->b);
        kernels->gate(memory->b, layer->out / 2, before, after);
        x = after;
    }
    return x;
}

static void run_head(struct net_memory *memory, enum net_part part, const float *x, float *ret)
{
    const struct model_layer *layer = &memory->model->chains[part].head;
    memory->model->kernels->layer(layer->packed, layer->bias, x, layer->in, layer->out_padded, ret);
}

static const float *observe(struct net_memory *memory, const float *observation)
{
    const struct net_model *model = memory->model;
    model->kernels->normalise(observation, model->mean, model->scale, model->clip,
                              (size_t)model->layout.shape.observation, memory->observation);
    return memory->observation;
}

static void run_policy(struct net_memory *memory, const float *observation)
{
    const struct net_model *model = memory->model;
    if (model->slot && policy_net_slot_heads(model->slot, observation, memory->hidden, memory->heads))
        return;
    const struct model_chain *body = &model->chains[model->layout.shape.shared ? NET_SHARED : NET_PI];
    const float *x = run_body(memory, body, observe(memory, observation), memory->hidden, memory->hidden);
    run_head(memory, NET_PI, x, memory->heads);
}

void policy_net_model_heads(const struct net_model *model, struct net_memory *memory,
                            const float *observation, float *ret)
{
    run_policy(memory, observation);
    memcpy(ret, memory->heads, (size_t)model->layout.outputs * sizeof *ret);
}

float policy_net_model_value(const struct net_model *model, struct net_memory *memory,
                             const float *observation)
{
    bool shared = model->layout.shape.shared;
    const struct model_chain *body = &model->chains[shared ? NET_SHARED : NET_VF];
    size_t own = shared ? 0 : (size_t)model->layout.shape.recurrent; /* [pi][vf], or the shared one */
    float *before = memory->hidden + own, *after = shared ? memory->aside : before;
    const float *x = run_body(memory, body, observe(memory, observation), before, after);
    run_head(memory, NET_VF, x, memory->b);
    return memory->b[0];
}

void policy_net_model_act(const struct net_model *model, struct net_memory *memory, const float *observation,
                          float *ret)
{
    int actions = model->layout.shape.actions, levels = model->layout.shape.levels;
    run_policy(memory, observation);
    for (int a = 0; a < actions; a++) {
        const float *logits = memory->heads + (size_t)a * (size_t)levels;
        int best = 0;
        for (int k = 1; k < levels; k++)
            best = logits[k] > logits[best] ? k : best;
        ret[a] = levels > 0 ? (float)best : memory->heads[a];
    }
}
