/* The learner on a device: its gradients beside float64's, whole iterations beside the CPU's learner, its
 * state over a checkpoint, its memory. Without a device: exit 77.
 *
 * Arguments: the module's path (the real one, or the tests' whose device is the CPU), and `small` for sizes
 * that a sanitizer gets through. */
#define NN_DOUBLE /* trainer/nn's oracle */
#include <dlfcn.h>
#include <errno.h>
#include <unistd.h>

#include "tests/indicators_gpu/cpu_device.h"
#include "tests/trainer/ppo/device_place.h"
#include "trainer/nn/train.h"
#include "trainer/ppo/cuda/abi.h"

static struct gpu_module *module;
static const char *path;
static bool small;

static bool is_cpu(void)
{
    return strcmp(gpu_module_device(module), "the CPU") == 0;
}

/* A learner on the device, and the CPU's of the same world. */
struct place {
    struct env_params env_params;
    struct env_market *market;
    struct env_device_market *on_device;
    struct env *env, *cpu_env;
    struct ppo_world world;
    struct learner *device, *cpu;
};

static void close_place(struct place *p)
{
    ppo_learner_destroy(p->device);
    ppo_learner_destroy(p->cpu);
    env_device_market_destroy(p->on_device);
    env_destroy(p->env);
    env_destroy(p->cpu_env);
    env_market_destroy(p->market);
}

static bool open_learner(struct place *p, const struct ppo_params *params, uint64_t seed,
                         struct env **ret_env, struct learner **ret)
{
    char err[PPO_ERROR_MAX] = "";
    struct env_options options = {.copies = (size_t)params->copies, .seed = seed};
    CHECK_INT(env_create(&p->env_params, p->market, &options, ret_env, err), 0);
    CHECK_INT(ppo_learner_create_device(params, module, p->on_device, *ret_env, ret, err), 0);
    CHECK_STR(err, "");
    return *ret != NULL;
}

static bool open_place(struct place *p, struct random *random, const struct ppo_params *params, bool discrete,
                       int bars, bool with_cpu)
{
    char err[PPO_ERROR_MAX] = "";
    *p = (struct place){.env_params = place_params(discrete, bars)};
    p->market = place_market(random, &p->env_params);
    if (!p->market)
        return false;
    CHECK_INT(env_device_market_create(module, p->market, &p->on_device, err), 0);
    CHECK_STR(err, "");
    if (!p->on_device || !open_learner(p, params, 3, &p->env, &p->device))
        return false;
    if (!with_cpu)
        return true;
    struct env_options options = {.copies = (size_t)params->copies, .seed = 3};
    CHECK_INT(env_create(&p->env_params, p->market, &options, &p->cpu_env, err), 0);
    CHECK_INT(ppo_world_trading(p->cpu_env, &p->world, err), 0);
    CHECK_INT(ppo_learner_create_cpu(params, &p->world, &p->cpu, err), 0);
    CHECK_STR(err, "");
    return p->cpu != NULL;
}

static bool iterate(struct learner *l, struct ppo_update *ret)
{
    char err[PPO_ERROR_MAX] = "";
    int r = ppo_learner_iterate(l, ret, err);
    CHECK_INT(r, 0);
    CHECK_STR(err, "");
    return r == 0;
}

/* ---- gradients ---- */

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
    if (open_place(&p, random, params, discrete, 40, false)) {
        const struct net_layout *layout = &p.device->layout;
        const size_t rows = (size_t)params->minibatch, actions = (size_t)layout->shape.actions;
        const bool half = params->precision == PPO_BF16;
        size_t n;
        place_save(p.device, &before);
        if (params->precision != PPO_FLOAT32 && params->net.activation == NET_RELU)
            round_weights(p.device, &before);
        double *weights = doubles(place_give(&before, "params", &n), layout->n_params);
        if (iterate(p.device, &update)) {
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
    close_place(&p);
}

/* ReLU's derivative jumps at 0: of two precisions one may see a unit on, the other off, and both are right.
 * So with less than float32 ReLU has one hidden layer and weights that bfloat16 holds, where its inputs'
 * signs are the same in both, and no normalisation before it. */
static void all_grads(struct random *random)
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

/* ---- iterations ---- */

static void compare_figures(const struct ppo_update *a, const struct ppo_update *b, double tolerance)
{
    const double of_a[] = {a->policy_loss,   a->value_loss,         a->entropy_loss, a->loss,
                           a->clip_fraction, a->explained_variance, a->grad_norm,    a->reward};
    const double of_b[] = {b->policy_loss,   b->value_loss,         b->entropy_loss, b->loss,
                           b->clip_fraction, b->explained_variance, b->grad_norm,    b->reward};
    static const char *const names[] = {"policy_loss",   "value_loss",         "entropy_loss", "loss",
                                        "clip_fraction", "explained_variance", "grad_norm",    "reward"};
    for (size_t i = 0; i < sizeof(of_a) / sizeof(of_a[0]); i++) {
        check_count++;
        if (!(fabs(of_a[i] - of_b[i]) <= tolerance * (1 + fabs(of_b[i])))) {
            check_failures++;
            fprintf(stderr, "iteration %" PRId64 ": %s: %.9g, the CPU's %.9g\n", b->iteration, names[i],
                    of_a[i], of_b[i]);
        }
    }
    CHECK_INT(a->iteration, b->iteration);
    CHECK_INT(a->steps, b->steps);
    CHECK_INT(a->minibatches, b->minibatches);
    CHECK_INT(a->skipped, b->skipped);
    CHECK_INT(a->epochs, b->epochs);
    CHECK_INT(a->kl_stop, b->kl_stop);
    CHECK_INT(a->episodes, b->episodes);
    CHECK_NEAR(a->learning_rate, b->learning_rate, 0);
    CHECK_NEAR(a->clip_range, b->clip_range, 0);
    CHECK_NEAR(a->ent_coef, b->ent_coef, 0);
    CHECK(isnan(a->std) == isnan(b->std));
    if (!isnan(b->std))
        CHECK_NEAR(a->std, b->std, tolerance);
    if (b->episodes > 0) {
        CHECK_NEAR(a->episode_return, b->episode_return, tolerance * (1 + fabs(b->episode_return)));
        CHECK_NEAR(a->episode_return_std, b->episode_return_std, tolerance);
        CHECK_NEAR(a->episode_length, b->episode_length, 1e-9);
    }
}

static void compare_params(struct learner *a, struct learner *b, double tolerance)
{
    struct place_pieces of_a, of_b;
    size_t n;
    place_save(a, &of_a);
    place_save(b, &of_b);
    const float *pa = place_give(&of_a, "params", &n), *pb = place_give(&of_b, "params", &n);
    double off = 0;
    for (size_t i = 0; i < a->layout.n_params; i++) {
        double d = fabs((double)pa[i] - pb[i]);
        off = isnan(off) || d <= off ? off : d;
    }
    CHECK_NEAR(off, 0, tolerance);
    const struct ppo_moments *ma = place_give(&of_a, "normaliser", &n),
                             *mb = place_give(&of_b, "normaliser", &n);
    for (int i = 0; i <= a->layout.shape.observation; i++) {
        CHECK_NEAR(ma[i].count, mb[i].count, 0);
        CHECK_NEAR(ma[i].mean, mb[i].mean, tolerance * (1 + fabs(mb[i].mean)));
        CHECK_NEAR(ma[i].m2, mb[i].m2, tolerance * (1 + mb[i].m2));
    }
    const struct ppo_counters *ca = place_give(&of_a, "counters", &n),
                              *cb = place_give(&of_b, "counters", &n);
    CHECK(memcmp(ca, cb, sizeof(*ca)) == 0);
    const struct ppo_copy *ea = place_give(&of_a, "copies", &n), *eb = place_give(&of_b, "copies", &n);
    for (int i = 0; i < a->params.copies; i++) {
        CHECK_INT(ea[i].length, eb[i].length);
        CHECK_NEAR(ea[i].reward, eb[i].reward, tolerance * (1 + fabs(eb[i].reward)));
        CHECK_NEAR(ea[i].running, eb[i].running, tolerance * (1 + fabs(eb[i].running)));
    }
    place_drop(&of_a);
    place_drop(&of_b);
}

/* What a learner says that it goes into. */
struct course {
    enum ppo_phase phases[32];
    int n;
};

static void take_phase(void *ctx, enum ppo_phase phase)
{
    struct course *course = ctx;
    CHECK(course->n < 32);
    course->phases[course->n++ % 32] = phase;
}

static bool alternates(const struct course *course, int iterations)
{
    bool right = course->n == 2 * iterations;
    for (int i = 0; i < course->n && right; i++)
        right = course->phases[i] == (i % 2 == 0 ? PPO_ROLLOUT : PPO_UPDATE);
    return right;
}

/* The same draws, minibatches and environment as the CPU's. Episodes of 7 steps: several of a copy end in a
 * rollout of 24. */
static void try_iterations(struct random *random, const struct ppo_params *params, bool discrete)
{
    struct place p;
    struct course there = {0}, here = {0};
    if (open_place(&p, random, params, discrete, 13, true))
        for (int i = 0; i < (small ? 1 : 4); i++) {
            struct ppo_update device, cpu;
            ppo_learner_watch(p.cpu, take_phase, &here);
            ppo_learner_watch(p.device, i < 2 ? NULL : take_phase,
                              &there); /* a watched learner waits again */
            if (!iterate(p.device, &device) || !iterate(p.cpu, &cpu))
                break;
            compare_figures(&device, &cpu, 1e-5);
            CHECK_INT(ppo_learner_device_waits(p.device), 2 * (i + 1) + (i < 2 ? 0 : i - 1));
            CHECK(alternates(&here, i + 1) && alternates(&there, i < 2 ? 0 : i - 1));
        }
    if (p.device && p.cpu)
        compare_params(p.device, p.cpu, 1e-5);
    close_place(&p);
}

static void all_iterations(struct random *random)
{
    struct ppo_params params = place_ppo(11, 24, 64);
    params.adam_epsilon = 1e-3; /* so that what is 0 except for rounding makes no step of either sign */
    try_iterations(random, &params, false);
    params.epochs = 4;
    params.learning_rate = 0.003;
    params.target_kl = 0.002;
    params.lr_schedule = PPO_LINEAR;
    params.clip_range_final = 0.1;
    params.net.activation = NET_RELU;
    try_iterations(random, &params, false);
    params.normalise_rewards = false;
    params.target_kl = 0;
    params.net.shared = true;
    try_iterations(random, &params, true);

    params = place_ppo(11, 24, 64);
    params.adam_epsilon = 1e-3;
    params.net.pi[0] = 150; /* a rollout's products */
    try_iterations(random, &params, false);
    params.net.activation = NET_RELU;
    params.net.shared = true;
    try_iterations(random, &params, true);

    params = place_ppo(11, 24, 64);
    params.adam_epsilon = 1e-3;
    params.net.recurrent = 16;
    params.sequence = 8;
    try_iterations(random, &params, false);
    params.net.n_pi = 0;
    params.sequence = 4;
    params.net.shared = true;
    try_iterations(random, &params, true);
}

/* A line a product, as reports have them. */
static void try_products(struct random *random)
{
    static const bool plain_has[QUEUE_EPILOGUES] = {true, true};
    struct queue_record records[QUEUE_PRODUCTS_MAX];
    struct ppo_params params = place_ppo(11, 24, 64);
    const char *plain = getenv("QUEUE_PLAIN");
    struct place p;
    params.net.activation = NET_RELU;
    if (open_place(&p, random, &params, false, 13, false)) {
        const size_t n = ppo_learner_device_products(p.device, records, QUEUE_PRODUCTS_MAX);
        bool asked[QUEUE_EPILOGUES] = {false};
        CHECK(n > 0 && n <= QUEUE_PRODUCTS_MAX);
        CHECK_INT(ppo_learner_device_products(p.device, NULL, 0), n);
        for (size_t i = 0; i < n; i++) {
            const struct queue_record *r = &records[i];
            asked[r->asked] = true;
            CHECK(r->m > 0 && r->n > 0 && r->k > 0);
            CHECK(r->got == r->asked || r->got == QUEUE_EPILOGUE_NONE || r->got == QUEUE_EPILOGUE_BIAS);
            if (is_cpu()) /* which fuses all, or with QUEUE_PLAIN no more than the bias */
                CHECK(plain ? plain_has[r->got] : r->got == r->asked);
            CHECK(r->kind != QUEUE_WEIGHT || r->k == 64);
        }
        for (int i = 0; i < QUEUE_EPILOGUES; i++)
            CHECK(asked[i] ||
                  (plain && i >= QUEUE_EPILOGUE_RELU_BACK)); /* asked after the one before is had */
    }
    close_place(&p);
}

/* ---- state ---- */

static void compare_pieces(struct place_pieces *a, struct place_pieces *b)
{
    CHECK_INT(a->n, 7);
    CHECK_INT(b->n, 7);
    for (int i = 0; i < a->n; i++) {
        size_t n;
        const void *other = place_give(b, a->names[i], &n);
        CHECK(other != NULL);
        CHECK_INT(a->bytes[i], n);
        bool same = other && a->bytes[i] == n && memcmp(a->at[i], other, n) == 0;
        check_count++;
        if (!same) {
            check_failures++;
            fprintf(stderr, "piece %s is not the same\n", a->names[i]);
        }
    }
}

/* Each ran, and runs again, which an update does not notice. */
static void time_products(struct learner *l)
{
    char err[PPO_ERROR_MAX] = "";
    double seconds = 0;
    for (size_t id = 0; id < ppo_learner_device_products(l, NULL, 0); id++) {
        CHECK_INT(ppo_learner_device_product_seconds(l, (int)id, 2, &seconds, err), 0);
        CHECK(seconds > 0);
    }
}

/* Saved and continued, loaded and continued, where another environment was trained in and products are timed
 * in between: the same bits. */
static void try_resume(struct random *random, enum ppo_precision precision, int recurrent)
{
    struct ppo_params params = place_ppo(11, 24, 64);
    params.net.recurrent = recurrent;
    params.sequence = 8;
    struct place p;
    struct place_pieces middle, end, again;
    struct ppo_update update, other;
    struct env *env = NULL;
    struct learner *second = NULL;
    params.precision = precision;
    if (open_place(&p, random, &params, false, 40, false) && open_learner(&p, &params, 4, &env, &second) &&
        iterate(p.device, &update)) {
        place_save(p.device, &middle);
        for (int i = 0; i < 2; i++)
            iterate(p.device, &update);
        place_save(p.device, &end);
        iterate(second, &other);
        iterate(second, &other);
        place_load(second, &middle);
        for (int i = 0; i < 2; i++) {
            time_products(second);
            iterate(second, &other);
        }
        place_save(second, &again);
        compare_pieces(&end, &again);
        CHECK(update.loss == other.loss && update.reward == other.reward && update.kl == other.kl);
        place_drop(&middle);
        place_drop(&end);
        place_drop(&again);
    }
    ppo_learner_destroy(second);
    env_destroy(env);
    close_place(&p);
}

/* The CPU's checkpoint on the device, and the device's on the CPU. */
static void try_exchange(struct random *random, int recurrent)
{
    struct ppo_params params = place_ppo(11, 24, 64);
    params.net.recurrent = recurrent;
    params.sequence = 8;
    struct place p;
    struct place_pieces from_cpu, on_device, back;
    struct ppo_update update, other;
    char err[PPO_ERROR_MAX] = "";
    if (open_place(&p, random, &params, false, 40, true)) {
        iterate(p.cpu, &update);
        place_save(p.cpu, &from_cpu);
        place_load(p.device, &from_cpu);
        place_save(p.device, &on_device);
        compare_pieces(&from_cpu, &on_device);
        iterate(p.cpu, &update);
        iterate(p.device, &other);
        compare_figures(&other, &update, 1e-5);
        place_drop(&on_device);
        place_save(p.device, &on_device);
        place_load(p.cpu, &on_device);
        place_save(p.cpu, &back);
        compare_pieces(&on_device, &back);

        /* Pieces that are missing or of other shapes change nothing. */
        from_cpu.bytes[0] -= 4;
        CHECK_INT(ppo_learner_load(p.device, &(struct ppo_source){&from_cpu, place_give}, err), -EINVAL);
        CHECK(strstr(err, from_cpu.names[0]) != NULL && strstr(err, "bytes") != NULL);
        from_cpu.bytes[0] += 4;
        from_cpu.names[from_cpu.n - 1][0] = 'X';
        CHECK_INT(ppo_learner_load(p.device, &(struct ppo_source){&from_cpu, place_give}, err), -EINVAL);
        place_drop(&back);
        place_save(p.device, &back);
        compare_pieces(&on_device, &back);

        float *weights = place_room(p.device->layout.n_params, sizeof(float)), *scaling[4];
        for (int i = 0; i < 4; i++)
            scaling[i] = place_room((size_t)p.device->layout.shape.observation, sizeof(float));
        size_t n, bytes = (size_t)p.device->layout.shape.observation * sizeof(float);
        CHECK_INT(
            ppo_learner_snapshot(p.device, &(struct ppo_snapshot){weights, scaling[0], scaling[1]}, err), 0);
        CHECK(memcmp(weights, place_give(&back, "params", &n), p.device->layout.n_params * sizeof(float)) ==
              0);
        CHECK_INT(ppo_learner_snapshot(p.cpu, &(struct ppo_snapshot){weights, scaling[2], scaling[3]}, err),
                  0);
        CHECK(memcmp(scaling[0], scaling[2], bytes) == 0 && memcmp(scaling[1], scaling[3], bytes) == 0);
        free(weights);
        for (int i = 0; i < 4; i++)
            free(scaling[i]);
        place_drop(&from_cpu);
        place_drop(&on_device);
        place_drop(&back);
    }
    close_place(&p);
}

/* ---- graphs ---- */

/* What the tests' device counts; NULL: another device. */
static const struct cpu_counts *counts(void)
{
    void *library = is_cpu() ? dlopen(path, RTLD_NOW | RTLD_NOLOAD) : NULL;
    return library ? dlsym(library, "cpu_counts") : NULL;
}

static char notice[PPO_ERROR_MAX];
static int n_notices;

static void take_notice(void *ctx, const char *sentence)
{
    CHECK(ctx == notice);
    n_notices++;
    snprintf(notice, sizeof(notice), "%s", sentence);
}

/* Three iterations, and the state after them. `waits`: in iterations. */
static void run_iterations(const struct ppo_params *params, const char *fails, struct place_pieces *ret,
                           struct ppo_update *ret_last, uint64_t *ret_waits)
{
    struct random random = {20261124};
    struct place p;
    if (fails)
        setenv("QUEUE_CAPTURE_FAILS", fails, 1);
    n_notices = 0;
    if (open_place(&p, &random, params, false, 13, false)) {
        p.device->warned = take_notice;
        p.device->warned_ctx = notice;
        for (int i = 0; i < 3; i++)
            iterate(p.device, ret_last);
        place_save(p.device, ret);
        *ret_waits = ppo_learner_device_waits(p.device);
    }
    close_place(&p);
    unsetenv("QUEUE_CAPTURE_FAILS");
}

/* A graph that cannot be recorded: the same bits by launches, said once; the device is not lost. */
static void try_captures(void)
{
    static const char *const where[] = {"begin", "work", "end", "launch"};
    struct ppo_params params = place_ppo(11, 24, 64);
    struct place_pieces right, other;
    struct ppo_update update;
    uint64_t waits = 0;
    if (!is_cpu())
        return;
    run_iterations(&params, NULL, &right, &update, &waits);
    CHECK_INT(n_notices, 0);
    for (size_t i = 0; i < sizeof(where) / sizeof(where[0]); i++) {
        run_iterations(&params, where[i], &other, &update, &waits);
        compare_pieces(&right, &other);
        CHECK_INT(n_notices, 1);
        CHECK(strstr(notice, where[i]) && strstr(notice, "launched one by one"));
        CHECK_INT(waits, 2 * 3);
        place_drop(&other);
    }
    place_drop(&right);
}

/* target_kl ends every iteration in its first epoch: of the other epochs no product is done. Where graphs
 * have no condition, the host looks before each epoch, which takes a wait, and the epoch that stopped is
 * launched to its end. The bits are the same, as those without any of that. */
static void try_early_stop(void)
{
    enum { MINIBATCHES = 4, EPOCHS = 5, ITERATIONS = 3 };
    struct ppo_params params = place_ppo(11, 24, 64);
    struct place_pieces pieces[4];
    struct ppo_update update;
    uint64_t waits = 0, products[4], skipped[4];
    const struct cpu_counts *done = counts();
    if (!done)
        return;
    params.epochs = EPOCHS;
    params.learning_rate = 0.02;
    for (int kind = 0; kind < 4; kind++) { /* no stop; a condition; none; none that can be recorded */
        const struct cpu_counts before = *done;
        params.target_kl = kind == 0 ? 0 : 1e-9;
        if (kind == 2)
            setenv("QUEUE_NO_SKIPS", "1", 1);
        run_iterations(&params, kind == 3 ? "condition" : NULL, &pieces[kind], &update, &waits);
        unsetenv("QUEUE_NO_SKIPS");
        products[kind] = done->products - before.products;
        skipped[kind] = done->skipped - before.skipped;
        CHECK_INT(update.kl_stop, kind > 0);
        CHECK_INT(update.epochs, kind == 0 ? EPOCHS : 1);
        CHECK_INT(waits, (uint64_t)ITERATIONS * (kind < 2 ? 2 : 3));
        CHECK_INT(n_notices, 0);
    }
    /* A stopped iteration's minibatches: the one that stopped it ran, the rest did not. */
    const uint64_t each = (products[0] - products[2]) / (ITERATIONS * (EPOCHS - 1) * MINIBATCHES);
    printf("target_kl in the first epoch: products of %d iterations: %" PRIu64 " without it, %" PRIu64
           " with a condition, %" PRIu64 " with the host's look\n",
           ITERATIONS, products[0], products[1], products[2]);
    CHECK(each >= 10 && (products[0] - products[2]) % each == 0);
    CHECK_INT(skipped[0], 0);
    CHECK(skipped[1] > (uint64_t)ITERATIONS * (EPOCHS - 1) * MINIBATCHES);
    CHECK_INT(products[1], products[0] - skipped[1] * each);
    CHECK_INT(skipped[2], 0);
    CHECK_INT(products[2], products[3]);
    compare_pieces(&pieces[1], &pieces[2]);
    compare_pieces(&pieces[1], &pieces[3]);
    for (int kind = 0; kind < 4; kind++)
        place_drop(&pieces[kind]);
}

/* Launches of an iteration of `steps` steps with 4 minibatches: kernels, products and the environment's. */
static uint64_t launches_of(struct ppo_params params, int steps)
{
    const struct cpu_counts *done = counts();
    struct random random = {20261124};
    struct place p;
    struct ppo_update update;
    uint64_t ret = 0;
    params.steps = steps;
    params.minibatch = params.copies * steps / 4;
    params.normalise_observations = false; /* else there is a rehearsal */
    if (open_place(&p, &random, &params, false, 13, false)) {
        const struct cpu_counts before = *done;
        iterate(p.device, &update);
        ret = done->kernels - before.kernels + done->products - before.products + done->steps - before.steps;
    }
    close_place(&p);
    return ret;
}

/* Of a rollout's step: a narrow network with the actions, the environment's, what follows the step. A wide
 * one has a product a layer and the head, a kernel a layer whose activation the product does not do, and the
 * actions. With a recurrent layer there are its product and scan, and the 8 launches of the step's values. */
static void try_launches(void)
{
    static const struct {
        enum net_activation activation;
        int layers, width, recurrent, right, plain;
    } cases[] = {{NET_TANH, 2, 37, 0, 3, 3},   {NET_RELU, 2, 37, 0, 3, 3},   {NET_SILU, 2, 37, 0, 3, 3},
                 {NET_TANH, 2, 200, 0, 8, 8},  {NET_RELU, 2, 200, 0, 6, 8},  {NET_SILU, 2, 200, 0, 8, 8},
                 {NET_RELU, 3, 200, 0, 7, 10}, {NET_TANH, 2, 37, 16, 18, 18}};
    struct ppo_params params = place_ppo(8, 24, 64);
    if (!counts())
        return;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        params.net.activation = cases[i].activation;
        params.net.n_pi = cases[i].layers;
        params.net.pi[0] = params.net.pi[2] = cases[i].width;
        params.net.recurrent = cases[i].recurrent;
        params.sequence = 4;
        const uint64_t few = launches_of(params, 8), many = launches_of(params, 24);
        CHECK_INT((many - few) % 16, 0);
        CHECK_INT((many - few) / 16, getenv("QUEUE_PLAIN") ? cases[i].plain : cases[i].right);
        printf("launches of a rollout's step: %s, %d layers %d wide%s: %" PRIu64 "\n",
               policy_net_activation_name(cases[i].activation), cases[i].layers, cases[i].width,
               cases[i].recurrent ? ", recurrent" : "", (many - few) / 16);
    }
}

/* ---- plans by measuring ---- */

/* With timings (NULL: none) and a cache's file (NULL: none). */
static void run_measured(const struct ppo_params *params, const char *times, const char *plans,
                         struct place_pieces *ret)
{
    struct ppo_update update;
    uint64_t waits = 0;
    if (times)
        setenv("QUEUE_TIMES", times, 1);
    if (plans)
        setenv("QUEUE_PLANS", plans, 1);
    run_iterations(params, NULL, ret, &update, &waits);
    CHECK_INT(waits, 2 * 3);
    unsetenv("QUEUE_TIMES");
    unsetenv("QUEUE_PLANS");
}

/* What a learner's products say of themselves: those with an epilogue to take apart, and the others. */
static void check_records(const struct ppo_params *params, const char *times, bool apart, double seconds,
                          int tried, int tried_plain)
{
    struct queue_record records[QUEUE_PRODUCTS_MAX];
    struct random random = {20261124};
    struct place p;
    setenv("QUEUE_TIMES", times, 1);
    if (open_place(&p, &random, params, false, 13, false)) {
        const size_t n = ppo_learner_device_products(p.device, records, QUEUE_PRODUCTS_MAX);
        for (size_t i = 0; i < n; i++) {
            const struct queue_record *r = &records[i];
            const bool parts = r->asked > QUEUE_EPILOGUE_BIAS;
            CHECK_INT(r->got == r->asked, !(apart && parts));
            CHECK(r->tried == 0 || r->tried == (parts ? tried : tried_plain)); /* 0: another's of its shape */
            if (parts)
                CHECK(isnan(seconds) ? isnan(r->seconds) : r->seconds == seconds);
        }
    }
    close_place(&p);
    unsetenv("QUEUE_TIMES");
}

/* The fastest is taken, with the bits of its kind; the arena that it was measured in is as it was; a file of
 * choices keeps them though the timings are others. */
static void try_measured(void)
{
    char plans[] = "/tmp/papertape-plans-XXXXXX";
    struct ppo_params params = place_ppo(11, 24, 64);
    int fd = is_cpu() && !getenv("QUEUE_PLAIN") ? mkstemp(plans) : -1;
    if (fd < 0)
        return;
    close(fd);
    params.net.activation = NET_RELU;
    check_records(&params, "3,2;2.5,4", false, 2, 4, 2);
    check_records(&params, "3,nan,2;1", true, 1, 4, 3);
    check_records(&params, "nan,-1;nan", false, NAN, 3, 2);
    check_records(&params, "inf,3;2", true, 2, 3, 2);
    params.product_plans = PPO_FIRST;
    check_records(&params, "3,2;1", false, NAN, 0, 0);
    params.product_plans = PPO_MEASURED;
    for (int kind = 0; kind < 3; kind++) { /* apart; a shared trunk; recurrent */
        struct place_pieces fused, parts, other;
        params.net.shared = kind == 1;
        params.net.recurrent = kind == 2 ? 16 : 0;
        params.sequence = 8;
        run_measured(&params, NULL, NULL, &fused);
        setenv("QUEUE_PLAIN", "1", 1);
        run_measured(&params, NULL, NULL, &parts);
        unsetenv("QUEUE_PLAIN");
        run_measured(&params, "3,2;4,5", NULL, &other);
        compare_pieces(&fused, &other);
        place_drop(&other);
        for (int again = 0; again < 2; again++) {
            run_measured(&params, again ? "1;2" : "2;1", plans, &other);
            compare_pieces(&parts, &other);
            place_drop(&other);
        }
        place_drop(&fused);
        place_drop(&parts);
    }
    CHECK_INT(unlink(plans), 0);
}

/* Values that are no numbers: every minibatch is skipped, and the training ends. */
static void try_bad(struct random *random)
{
    struct ppo_params params = place_ppo(11, 24, 64);
    struct place p;
    struct place_pieces pieces;
    struct ppo_update update;
    char err[PPO_ERROR_MAX] = "";
    params.bad_updates = 3;
    if (open_place(&p, random, &params, false, 40, false)) {
        const struct net_layout *layout = &p.device->layout;
        size_t n;
        place_save(p.device, &pieces);
        float *weights = (float *)(uintptr_t)place_give(&pieces, "params", &n);
        weights[layout->tensors[layout->chains[NET_VF].head.bias].offset] = NAN;
        place_load(p.device, &pieces);
        CHECK_INT(ppo_learner_iterate(p.device, &update, err), -EDOM);
        CHECK(strstr(err, "3 minibatches in a row") != NULL);
        weights[layout->tensors[layout->chains[NET_PI].head.bias].offset] = NAN;
        place_load(p.device, &pieces);
        CHECK_INT(ppo_learner_iterate(p.device, &update, err), -EINVAL);
        CHECK(strstr(err, "not finite") != NULL);
        place_drop(&pieces);
    }
    close_place(&p);
}

/* ---- memory ---- */

enum { DRIVER = 1 << 20 }; /* of the tests' device */

static char reported[4][PPO_ERROR_MAX];
static int n_reported;

static void report(void *ctx, const char *sentence)
{
    (void)ctx;
    if (n_reported < 4)
        snprintf(reported[n_reported++], sizeof(reported[0]), "%s", sentence);
}

/* With a learner that a ladder left with fewer copies: it continues with as many, on either backend. */
static void try_fewer(const struct ppo_params *params, struct learner_source source, int copies)
{
    struct learner_stack stack = {0};
    struct place_pieces pieces;
    struct ppo_update update, other;
    char err[PPO_ERROR_MAX] = "";
    CHECK_INT(ppo_learner_create_auto(params, &source, &stack, err), 0);
    if (!stack.learner)
        return;
    CHECK_INT(stack.learner->params.copies, copies);
    iterate(stack.learner, &update);
    place_save(stack.learner, &pieces);
    iterate(stack.learner, &update);
    ppo_learner_stack_destroy(&stack);
    struct ppo_params fewer = *params;
    fewer.copies = copies;
    source.all_copies = true;
    for (int on_cpu = 0; on_cpu < 2; on_cpu++) {
        if (on_cpu)
            source.module_limit = (size_t)32 << 20;
        n_reported = 0;
        CHECK_INT(ppo_learner_create_auto(&fewer, &source, &stack, err), 0);
        CHECK_STR(err, "");
        if (!stack.learner)
            break;
        CHECK_INT(stack.learner->params.copies, copies);
        CHECK((stack.module == NULL) == on_cpu);
        CHECK_INT(n_reported, on_cpu); /* the CPU; no fewer copies before */
        place_load(stack.learner, &pieces);
        iterate(stack.learner, &other);
        if (on_cpu)
            compare_figures(&other, &update, 1e-4);
        else
            CHECK(other.loss == update.loss && other.kl == update.kl);
        ppo_learner_stack_destroy(&stack);
    }
    place_drop(&pieces);
}

/* The same rung for a device of that memory that is only planned for: no module is opened. */
static void climb_planned(const struct ppo_params *params, const struct learner_source *source,
                          const struct learner_prediction *here, int reports)
{
    const struct learner_memory memory = {source->module_limit, DRIVER};
    struct learner_source nowhere = *source;
    struct learner_prediction planned = {0};
    char err[PPO_ERROR_MAX] = "";
    nowhere.module_path = "/nowhere/papertape-gpu.so";
    n_reported = 0;
    CHECK_INT(ppo_learner_predict(params, &nowhere, &memory, &planned, err), 0);
    CHECK_INT(n_reported, reports);
    CHECK_INT(planned.copies, here->copies);
    CHECK_INT(planned.device_bytes, here->device_bytes);
    CHECK_INT(planned.of.learner, here->of.learner);
    CHECK_INT(planned.of.environment, here->of.environment);
    CHECK_INT(planned.of.market, here->of.market);
    CHECK_INT(planned.of.driver, here->of.driver);
    CHECK_INT(planned.of.learner + planned.of.environment + planned.of.market + planned.of.driver,
              planned.device_bytes);
}

static void climb(const struct ppo_params *params, const struct learner_source *source, int copies,
                  const char *backend)
{
    struct learner_stack stack = {0};
    struct learner_prediction predicted = {0};
    struct ppo_update update;
    char err[PPO_ERROR_MAX] = "";
    n_reported = 0;
    CHECK_INT(ppo_learner_predict(params, source, NULL, &predicted, err), 0);
    int n_predicted = n_reported;
    n_reported = 0;
    CHECK_INT(ppo_learner_create_auto(params, source, &stack, err), 0);
    CHECK_STR(err, "");
    if (!stack.learner)
        return;
    if (is_cpu() || source->module_limit == 0) { /* a real one's memory is more than its limit */
        CHECK_INT(predicted.copies, copies);
        CHECK_INT(n_predicted, n_reported);
        CHECK_INT(predicted.device_bytes, stack.module ? stack.learner->ops->bytes(stack.learner) : 0);
    }
    if (is_cpu() && source->module_limit > 0)
        climb_planned(params, source, &predicted, n_predicted);
    CHECK_INT(stack.learner->params.copies, copies);
    CHECK(strncmp(stack.learner->ops->backend, backend, strlen(backend)) == 0);
    iterate(stack.learner, &update);
    CHECK_INT(update.steps, (int64_t)copies * params->steps);
    ppo_learner_stack_destroy(&stack);
}

/* What a limit must leave: the tests' device counts its driver's part among it. */
static size_t bytes_of(const struct place *p, const struct ppo_params *params, int copies)
{
    struct ppo_params other = *params;
    struct env_options options = {.copies = (size_t)copies, .seed = 3};
    const struct learner_source source = {
        .env_params = &p->env_params, .market = p->market, .module_path = path};
    struct learner_prediction predicted = {0};
    struct env *env = NULL;
    char err[PPO_ERROR_MAX] = "";
    struct learner_room room = {0};
    other.copies = copies;
    CHECK_INT(env_create(&p->env_params, p->market, &options, &env, err), 0);
    CHECK_INT(ppo_learner_check_device(&other, module, env, true, false, &room, err), 0);
    CHECK_INT(ppo_learner_predict(&other, &source, NULL, &predicted, err), 0);
    CHECK_INT(predicted.copies, copies);
    CHECK_INT(predicted.device_bytes, room.all);
    const size_t allocated = ppo_learner_bytes_device(&other, &p->device->layout, env);
    CHECK(allocated > 0 && room.all > allocated);
    env_destroy(env);
    return is_cpu() ? room.all : allocated;
}

/* What the tests' device has given out for a learner is within 5 % of its plan, part by part. */
static void try_held(struct random *random)
{
    static const struct {
        int copies, steps, minibatch, recurrent;
        enum ppo_precision precision;
    } shapes[] = {{512, 24, 64, 0, PPO_FLOAT32}, {64, 32, 512, 0, PPO_BF16}, {96, 16, 128, 16, PPO_BF16}};
    const struct gpu_indicators *g = gpu_module_handle(module);
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]) && is_cpu(); i++) {
        struct ppo_params params = place_ppo(shapes[i].copies, shapes[i].steps, shapes[i].minibatch);
        struct learner_memory memory = ppo_learner_memory((size_t)12 << 30);
        struct learner_bytes of = {0};
        struct place p = {0};
        char err[PPO_ERROR_MAX] = "";
        params.precision = shapes[i].precision;
        params.net.recurrent = shapes[i].recurrent;
        params.sequence = shapes[i].recurrent ? 8 : params.sequence;
        const size_t before = g->held;
        if (open_place(&p, random, &params, i % 2, 40, false)) {
            const double held = (double)(g->held - before);
            CHECK_INT(ppo_learner_check_memory(&params, &memory, p.env, &of, err), 0);
            CHECK_NEAR(held, (double)(of.learner + of.environment + of.market), 0.05 * held);
            CHECK(of.learner > of.environment && of.market > 0 && of.driver == memory.driver);
            memory.total = (size_t)900 << 20; /* 0.8 of it is less than the driver's */
            CHECK_INT(ppo_learner_check_memory(&params, &memory, p.env, &of, err), -ENOMEM);
            CHECK(strstr(err, "of the device's 900 MiB memory_cap 0.8 is 720 MiB"));
        }
        close_place(&p);
        CHECK_INT(g->held, before);
    }
}

static void try_memory(struct random *random)
{
    struct ppo_params params = place_ppo(512, 24, 64);
    struct place p;
    params.memory_cap = 1;
    if (!open_place(&p, random, &params, false, 40, false)) {
        close_place(&p);
        return;
    }
    struct learner_source source = {
        .env_params = &p.env_params, .market = p.market, .module_path = path, .warned = report};
    const size_t whole = bytes_of(&p, &params, 512), half = bytes_of(&p, &params, 256),
                 quarter = bytes_of(&p, &params, 128);
    CHECK(quarter < half && half < whole);

    climb(&params, &source, 512, "cuda: ");
    CHECK_INT(n_reported, 0);
    source.module_limit = half + (half - quarter) / 2; /* with what the environment holds */
    climb(&params, &source, 256, "cuda: ");
    CHECK_INT(n_reported, 1);
    CHECK(strstr(reported[0], "512 copies") && strstr(reported[0], "256 are tried") &&
          strstr(reported[0], "out of memory"));
    try_fewer(&params, source, 256);
    source.module_limit = quarter + (quarter - bytes_of(&p, &params, 64)) / 2;
    climb(&params, &source, 128, "cuda: ");
    CHECK_INT(n_reported, 2);
    source.module_limit = (size_t)32 << 20; /* less than the products' workspace */
    params.copies = 8;
    climb(&params, &source, 8, "cpu");
    CHECK_INT(n_reported, 2); /* with 4 copies a rollout still has a minibatch, with 2 not */
    CHECK(strstr(reported[0], "4 are tried") && strstr(reported[1], "on the CPU"));
    params.device = PPO_CUDA;
    climb(&params, &source, 8, "cpu");
    params.device = PPO_CPU;
    climb(&params, &source, 8, "cpu");
    CHECK_INT(n_reported, 0);

    /* The cap, of all that the device has: the tests' has its limit. */
    params.device = PPO_AUTO;
    if (is_cpu()) {
        source.module_limit = bytes_of(&p, &params, 8) * 4;
        params.memory_cap = 0.2;
        climb(&params, &source, 8, "cpu");
        CHECK(n_reported == 2 && strstr(reported[0], "memory_cap 0.2"));
        params.memory_cap = 0.5;
        climb(&params, &source, 8, "cuda");
        CHECK_INT(n_reported, 0);
    }
    source.module_limit = 0;
    params.memory_cap = 0.8;

    /* No device. */
    struct learner_stack stack = {0};
    char err[PPO_ERROR_MAX] = "";
    params.device = PPO_CUDA;
    source.module_path = "/nowhere/papertape-gpu.so";
    CHECK_INT(ppo_learner_create_auto(&params, &source, &stack, err), -ENOENT);
    params.device = PPO_AUTO;
    climb(&params, &source, 8, "cpu");
    CHECK(n_reported == 1 && strstr(reported[0], "on the CPU"));
    close_place(&p);
}

int main(int argc, char **argv)
{
    char reason[GPU_REASON_MAX] = "";
    CHECK(argc > 1);
    if (argc < 2)
        return check_done("trainer/ppo/device");
    path = argv[1];
    small = argc > 2 && strcmp(argv[2], "small") == 0;
    int r = gpu_module_open(path, &module, reason, sizeof(reason));
    if (r == -ENODEV || r == -ENOENT) {
        printf("skipped: %s\n", reason);
        return CHECK_SKIP;
    }
    CHECK_INT(r, 0);
    if (r < 0) {
        fprintf(stderr, "%s\n", reason);
        return check_done("trainer/ppo/device");
    }
    printf("device: %s\n", gpu_module_device(module));
    struct random random = random_seeded("trainer/ppo/device", 20261122);
    all_grads(&random);
    all_iterations(&random);
    try_products(&random);
    try_captures();
    try_early_stop();
    try_measured();
    try_launches();
    for (int precision = PPO_FLOAT32; precision <= PPO_BF16; precision++)
        for (int recurrent = 0; recurrent <= 16; recurrent += 16)
            try_resume(&random, (enum ppo_precision)precision, recurrent);
    try_exchange(&random, 0);
    try_exchange(&random, 16);
    try_bad(&random);
    if (!small)
        try_memory(&random);
    try_held(&random);
    gpu_module_close(module);
    return check_done("trainer/ppo/device");
}
