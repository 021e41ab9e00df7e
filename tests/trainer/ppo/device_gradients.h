/* A learner's gradients on a device beside float64's. */
#ifndef TESTS_TRAINER_PPO_DEVICE_GRADIENTS_H
#define TESTS_TRAINER_PPO_DEVICE_GRADIENTS_H

#include "tests/trainer/ppo/device_parts.h"

static double from_bf16(uint16_t bits)
{
    uint32_t wide = (uint32_t)bits << 16;
    float ret;
    memcpy(&ret, &wide, sizeof(ret));
    return ret;
}

static double *doubles(const float *from, size_t n)
{
    double *ret = place_room(n, sizeof(*ret));
    for (size_t i = 0; i < n; i++)
        ret[i] = from[i];
    return ret;
}

static void fetch(struct learner *l, enum gpu_ppo_array array, void *ret, size_t bytes)
{
    char err[PPO_ERROR_MAX] = "";
    CHECK_INT(ppo_learner_device_fetch(l, (int)array, ret, bytes, err), 0);
    CHECK_STR(err, "");
}

static double *fetch_rows(struct learner *l, enum gpu_ppo_array array, size_t n)
{
    float *rows = place_room(n, sizeof(*rows));
    fetch(l, array, rows, n * sizeof(*rows));
    double *ret = doubles(rows, n);
    free(rows);
    return ret;
}

static double *fetch_observations(struct learner *l, size_t rows, bool half)
{
    const struct net_layout *layout = &l->layout;
    size_t size = (size_t)layout->shape.observation, stride = (size_t)layout->tensors[0].rows_padded;
    void *x = place_room(rows * stride, half ? 2 : 4);
    double *ret = place_room(rows * size, sizeof(*ret));
    fetch(l, GPU_PPO_X, x, rows * stride * (half ? 2 : 4));
    for (size_t row = 0; row < rows; row++)
        for (size_t i = 0; i < size; i++)
            ret[row * size + i] =
                half ? from_bf16(((uint16_t *)x)[row * stride + i]) : (double)((float *)x)[row * stride + i];
    free(x);
    return ret;
}

static void normalise(double *advantages, size_t n)
{
    double mean = 0, squares = 0;
    for (size_t i = 0; i < n; i++)
        mean += advantages[i] / (double)n;
    for (size_t i = 0; i < n; i++)
        squares += (advantages[i] - mean) * (advantages[i] - mean);
    double deviation = sqrt(squares / (double)(n - 1)) + 1e-8;
    for (size_t i = 0; i < n; i++)
        advantages[i] = (advantages[i] - mean) / deviation;
}

static double largest_of(const struct net_tensor *tensor, const double *grads)
{
    double largest = 0;
    for (int i = 0; i < tensor->rows_padded * tensor->stride; i++)
        largest = fmax(largest, fabs(grads[tensor->offset + (size_t)i]));
    return largest;
}

/* Each tensor's gradients, relative to its largest; of one number alone, whose rows' parts may cancel each
 * other, to its layer's. Returns the worst. */
static double compare_grads(const struct net_layout *layout, const float *grads, const double *right,
                            double tolerance, const char *name)
{
    double worst = 0;
    for (int t = 0; t < layout->n_tensors; t++) {
        const struct net_tensor *tensor = &layout->tensors[t];
        double largest = largest_of(tensor, right), off = 0;
        if (tensor->kind == NET_BIAS && tensor->cols == 1)
            largest = fmax(largest, largest_of(tensor - 1, right)); /* the weight lies before its bias */
        for (int i = 0; i < tensor->rows_padded; i++)
            for (int j = 0; j < tensor->stride; j++) {
                size_t at = tensor->offset + (size_t)i * (size_t)tensor->stride + (size_t)j;
                double d = fabs(grads[at] - right[at]);
                off = isnan(off) || d <= off ? off : d;
                if (i >= tensor->rows || j >= tensor->cols)
                    CHECK(grads[at] == 0);
            }
        CHECK(largest > 0);
        if (!(off <= tolerance * largest)) {
            check_failures++;
            fprintf(stderr, "%s: gradients of %s: off by %g of %g, more than %g\n", name, tensor->name, off,
                    largest, tolerance);
        }
        check_count++;
        worst = fmax(worst, off / largest);
    }
    return worst;
}

/* The nearest bfloat16, ties to even. */
static float rounded(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    bits = (bits + 0x7fff + (bits >> 16 & 1)) & ~(uint32_t)0xffff;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

/* So that float64 sees the weights that the device does. */
static void round_weights(struct learner *l, struct place_pieces *pieces)
{
    size_t n;
    float *weights = (float *)(uintptr_t)place_give(pieces, "params", &n);
    for (size_t i = 0; i < l->layout.n_params; i++)
        weights[i] = rounded(weights[i]);
    place_load(l, pieces);
}

/* One minibatch of all rows of a rollout. */
static void try_grads(struct random *random, const struct ppo_params *params, bool discrete, const char *name)
{
    struct place p;
    struct place_pieces before;
    struct ppo_update update;
    if (place_open(&p, random, params, discrete, 40, false)) {
        const struct net_layout *layout = &p.device->layout;
        const size_t rows = (size_t)params->minibatch, actions = (size_t)layout->shape.actions;
        const bool half = params->precision == PPO_BF16;
        size_t n;
        place_save(p.device, &before);
        if (params->precision != PPO_FLOAT32 && params->net.activation == NET_RELU)
            round_weights(p.device, &before);
        double *weights = doubles(place_give(&before, "params", &n), layout->n_params);
        if (place_iterate(p.device, &update)) {
            double *obs = fetch_observations(p.device, rows, half);
            double *taken = fetch_rows(p.device, GPU_PPO_TAKEN, rows * actions);
            double *logp = fetch_rows(p.device, GPU_PPO_OLD_LOGP, rows);
            double *values = fetch_rows(p.device, GPU_PPO_OLD_VALUES, rows);
            double *advantages = fetch_rows(p.device, GPU_PPO_ADVANTAGES, rows);
            double *returns = fetch_rows(p.device, GPU_PPO_RETURNS, rows);
            float *grads = place_room(layout->n_params, sizeof(*grads));
            double *right = place_room(layout->n_params, sizeof(*right));
            fetch(p.device, GPU_PPO_GRADS, grads, layout->n_params * sizeof(*grads));
            if (params->normalise_advantages)
                normalise(advantages, rows);
            struct nn_work_f64 *work = NULL;
            CHECK_INT(nn_work_create_f64(layout, rows, true, &work), 0);
            struct nn_loss loss = {.clip_range = update.clip_range,
                                   .clip_range_vf = params->clip_range_vf,
                                   .vf_coef = params->vf_coef,
                                   .ent_coef = update.ent_coef,
                                   .entropy_bound = params->bounded ? params->entropy_bound : 0,
                                   .value_bound = params->bounded ? params->value_bound : 0};
            struct nn_rows_f64 in = {.rows = rows, .obs = obs, .steps = 1};
            struct nn_sample_f64 sample = {taken, logp, values, advantages, returns};
            struct nn_sums sums = {0};
            nn_loss_f64(work, weights, &loss, &in, &sample, &sums);
            struct nn_terms terms = nn_terms_of(&loss, &sums);
            nn_backward_f64(work, weights, &terms, right);
            const double tolerance = params->precision == PPO_FLOAT32 ? 1e-5 : 2e-2;
            double worst = compare_grads(layout, grads, right, tolerance, name);
            CHECK_NEAR(update.loss, terms.loss, tolerance * (1 + fabs(terms.loss)));
            CHECK_NEAR(update.entropy_loss, terms.entropy, tolerance * (1 + fabs(terms.entropy)));
            printf("gradients: %s: within %.2g of float64's\n", name, worst);
            nn_work_destroy_f64(work);
            free(obs), free(taken), free(logp), free(values), free(advantages), free(returns);
            free(grads), free(right);
        }
        free(weights);
        place_drop(&before);
    }
    place_close(&p);
}

/* ReLU's derivative jumps at 0: of two precisions one may see a unit on, the other off, and both are right.
 * So with less than float32 ReLU has one hidden layer and weights that bfloat16 holds, where its inputs'
 * signs are the same in both, and no normalisation before it. */
static void device_try_gradients(struct random *random)
{
    static const char *const precisions[] = {
        [PPO_FLOAT32] = "float32", [PPO_TF32] = "tf32", [PPO_BF16] = "bf16"};
    static const struct {
        enum net_activation activation;
        bool norm, shared, discrete, bounded;
    } kinds[] = {
        {NET_TANH, false, false, false, false}, {NET_RELU, false, false, false, true},
        {NET_SILU, false, false, true, false},  {NET_RELU, true, false, false, false},
        {NET_TANH, false, true, true, false},   {NET_RELU, false, true, false, false},
        {NET_SILU, true, true, false, true},
    };
    for (int precision = PPO_FLOAT32; precision <= PPO_BF16; precision++)
        for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
            struct ppo_params params = place_ppo(13, 20, 260);
            char name[100];
            if (precision != PPO_FLOAT32 && kinds[k].activation == NET_RELU) {
                params.net.n_pi = params.net.n_vf = 1;
                if (kinds[k].norm || precision == PPO_TF32)
                    continue;
            }
            params.epochs = 1;
            params.precision = (enum ppo_precision)precision;
            params.net.activation = kinds[k].activation;
            params.net.layer_norm = kinds[k].norm;
            params.net.shared = kinds[k].shared;
            params.bounded = kinds[k].bounded;
            params.clip_range_vf = k % 2 ? 0.3 : 0;
            snprintf(name, sizeof(name), "%s %s%s%s%s", precisions[precision],
                     policy_net_activation_name(kinds[k].activation), kinds[k].norm ? ", layer norm" : "",
                     kinds[k].shared ? ", shared" : "", kinds[k].discrete ? ", discrete" : "");
            try_grads(random, &params, kinds[k].discrete, name);
        }
}

#endif
