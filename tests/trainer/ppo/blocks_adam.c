/* The kernels of a step against plain loops in float64: sums of tiles, the norm and its clipping, Adam, floor
 * and ceiling of log_std, bfloat16 copies to the bit, and what skips a step. */
#include "tests/trainer/ppo/blocks_try.h"

/* The nearest bfloat16 by looking at both neighbours; of two as near, the even one. */
static uint16_t nearest(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof(bits));
    uint16_t down = (uint16_t)(bits >> 16), up = (uint16_t)(down + 1);
    double below = x - (double)try_whole(down), above = (double)try_whole(up) - x;
    if (isinf(try_whole(up))) /* as if the next power of two were there */
        above = copysign(0x1p128, x) - x;
    below = fabs(below);
    above = fabs(above);
    return isinf(x) || below < above || (below == above && down % 2 == 0) ? down : up;
}

static void try_halves(struct try *t)
{
    size_t n = (size_t)1 << 18, wrong = 0;
    float *from = try_room(t, n * sizeof(float));
    uint16_t *to = try_room(t, n * sizeof(uint16_t));
    for (size_t i = 0; i < n; i++) {
        /* All bfloat16 numbers with what is just beside, at, and about a half on top. */
        static const uint32_t tails[] = {0, 0x7FFF, 0x8000, 0x8001};
        uint32_t bits = (uint32_t)(i / 4) << 16 | tails[i % 4];
        memcpy(&from[i], &bits, sizeof(bits));
    }
    struct kernel_halve k = {from, to, n};
    TRY_RUN(t, ppo_launch_halve(&k, NULL));
    for (size_t i = 0; i < n; i++)
        wrong += isnan(from[i]) ? !isnan(try_whole(to[i])) : to[i] != nearest(from[i]);
    CHECK_INT(wrong, 0);
    try_end(t);
    float *few = try_floats(t, 12, -1, 1);
    k = (struct kernel_halve){few, try_room(t, 12 * sizeof(uint16_t)), 12};
    TRY_RUN(t, ppo_launch_halve(&k, NULL));
    for (size_t i = 0; i < 12; i++)
        CHECK(k.to[i] == nearest(few[i]));
    try_end(t);
}

static void try_sums(struct try *t)
{
    static const uint32_t tiles[] = {0, 1, 31, 33, 512}, cols[] = {1, 5, 36, 350};
    struct kernel_add k = {.n = 0};
    for (size_t i = 0; i < 5; i++)
        for (size_t j = 0; j < 4; j++) {
            struct kernel_job *job = &k.jobs[k.n++];
            *job = (struct kernel_job){
                .tiles = tiles[i], .stride = cols[j] + 3, .cols = cols[j], .padded = try_stride(cols[j], 16)};
            job->from = try_floats(t, (size_t)tiles[i] * job->stride, -1, 1);
            job->to = try_room(t, job->padded * sizeof(float));
        }
    TRY_RUN(t, ppo_launch_add_sums(&k, NULL));
    for (uint32_t i = 0; i < k.n; i++)
        for (uint32_t c = 0; c < k.jobs[i].padded; c++) {
            const struct kernel_job *job = &k.jobs[i];
            double sum = 0;
            for (uint32_t tile = 0; c < job->cols && tile < job->tiles; tile++)
                sum += job->from[(size_t)tile * job->stride + c];
            CHECK_NEAR(job->to[c], sum, 1e-7 * fabs(sum) + 1e-12);
        }
    k.n = 0;
    TRY_RUN(t, ppo_launch_add_sums(&k, NULL));
    try_end(t);
}

static void step(struct try *t, const struct kernel_adam *k)
{
    TRY_RUN(t, ppo_launch_grad_squares(k, NULL); ppo_launch_grad_step(k, NULL); ppo_launch_adam(k, NULL));
}

static struct kernel_adam make(struct try *t, size_t n, bool half, double max_norm)
{
    struct kernel_rates *rates = try_room(t, sizeof(*rates));
    *rates = (struct kernel_rates){0.01, 0.2, 0};
    struct kernel_clock *clock = try_zeros(t, sizeof(*clock));
    struct kernel_adam k = {.clock = clock,
                            .rates = rates,
                            .figures = try_zeros(t, sizeof(struct kernel_figures)),
                            .order = {clock, 5, 40, 4},
                            .n_params = n,
                            .params = try_floats(t, n, -1, 1),
                            .m = try_zeros(t, n * sizeof(float)),
                            .v = try_zeros(t, n * sizeof(float)),
                            .grads = try_floats(t, n, -1, 1),
                            .half = half ? try_room(t, n * sizeof(uint16_t)) : NULL,
                            .partials = try_room(t, kernel_tiles(n, KERNEL_FLAT_TILE) * sizeof(double)),
                            .beta1 = 0.9,
                            .beta2 = 0.999,
                            .epsilon = 1e-5,
                            .max_grad_norm = max_norm,
                            .bad_updates = 2,
                            .log_std_first = n - 16,
                            .n_log_std = 5,
                            .log_std_min = -0.5f,
                            .log_std_max = 0.25f};
    return k;
}

static void try_adam(struct try *t, size_t n, bool half, double max_norm)
{
    struct kernel_adam k = make(t, n, half, max_norm);
    float *grads = (float *)(uintptr_t)k.grads;
    double *p = malloc(n * sizeof(double)), *m = calloc(n, sizeof(double)), *v = calloc(n, sizeof(double));
    double norms = 0;
    for (size_t i = 0; i < n; i++)
        p[i] = k.params[i];
    for (int round = 1; round <= 6; round++) {
        double squares = 0, off = 0;
        for (size_t i = 0; i < n; i++) {
            grads[i] = (float)try_number(t, -1, 1);
            squares += (double)grads[i] * grads[i];
        }
        k.clock->policy = round;
        step(t, &k);
        double norm = sqrt(squares), scale = max_norm > 0 ? fmin(1, max_norm / (norm + 1e-6)) : 1;
        norms += norm;
        for (size_t i = 0; i < n; i++) {
            double g = grads[i] * scale;
            m[i] = 0.9 * m[i] + 0.1 * g;
            v[i] = 0.999 * v[i] + 0.001 * g * g;
            p[i] -= 0.01 / (1 - pow(0.9, round)) * m[i] / (sqrt(v[i] / (1 - pow(0.999, round))) + 1e-5);
            if (i >= n - 16 && i < n - 11)
                p[i] = fmin(fmax(p[i], -0.5), 0.25);
            off = fmax(off, fabs(p[i] - k.params[i]));
            off = fmax(off, fabs(m[i] - k.m[i]) / (1e-3 + fabs(m[i])) * 1e-3);
            off = fmax(off, fabs(v[i] - k.v[i]) / (1e-6 + v[i]) * 1e-3);
            if (half)
                CHECK(k.half[i] == nearest(k.params[i]));
        }
        CHECK_NEAR(off, 0, 2e-6);
        CHECK_INT(k.clock->adam_step, round);
        CHECK_NEAR(k.figures->grad_norm, norms, 1e-9 * norms);
        CHECK_NEAR(k.figures->policy_loss, round * (round + 1) / 2, 0);
        CHECK_INT(k.figures->minibatches, round);
        CHECK_INT(k.clock->minibatch, round % 4);
    }
    free(p);
    free(m);
    free(v);
    try_end(t);
}

/* Gradients that are not finite, and minibatches that are not wanted: nothing but the counters moves. */
static void try_skips(struct try *t)
{
    size_t n = 5000 / 16 * 16, bytes = n * sizeof(float);
    struct kernel_adam k = make(t, n, false, 1);
    float *grads = (float *)(uintptr_t)k.grads, *before = malloc(3 * bytes);
    memcpy(before, k.params, bytes);
    memset(before + n, 0, 2 * bytes);
    grads[4097] = INFINITY;
    step(t, &k);
    CHECK(k.clock->skip == 1 && k.clock->adam_step == 0 && k.clock->bad_in_row == 1 && k.clock->stop == 0);
    CHECK(k.figures->skipped == 1 && k.figures->minibatches == 0 && k.clock->minibatch == 1);
    grads[4097] = NAN;
    k.clock->skip = 0;
    step(t, &k);
    CHECK(k.clock->bad_in_row == 2 && k.clock->stop == 1 && k.figures->bad == 1 && k.figures->skipped == 2);
    grads[4097] = 1;
    k.clock->skip = 1; /* the loss' word */
    step(t, &k);
    CHECK(k.figures->skipped == 2 && k.clock->adam_step == 0 && k.clock->minibatch == 0);
    CHECK(memcmp(before, k.params, bytes) == 0 && memcmp(before + n, k.m, bytes) == 0 &&
          memcmp(before + 2 * n, k.v, bytes) == 0);
    k.clock->skip = k.clock->stop = 0;
    k.clock->started = 1;
    step(t, &k);
    CHECK(k.clock->bad_in_row == 0 && k.clock->adam_step == 1 && memcmp(before, k.params, bytes) != 0);
    for (int i = 1; i < 4; i++)
        step(t, &k);

    /* The epoch went by: the next one's order; one that never began is not counted. */
    struct ppo_shuffle next = ppo_shuffle_make(5, 1, 40);
    CHECK(k.clock->minibatch == 0 && k.clock->epoch == 1 && k.clock->started == 0);
    CHECK(memcmp(&k.clock->shuffle, &next, sizeof(next)) == 0);
    k.clock->skip = 1;
    for (int i = 0; i < 4; i++)
        step(t, &k);
    CHECK(k.clock->minibatch == 0 && k.clock->epoch == 1);

    /* One that is stopped ends with that minibatch, whether the others are left out or done. */
    k.clock->started = k.clock->skip = k.clock->stop = 1;
    for (int i = 0; i < 3; i++) {
        step(t, &k);
        CHECK(k.clock->minibatch == 0 && k.clock->epoch == 2 && k.clock->started == 0);
    }
    free(before);
    try_end(t);
}

int main(void)
{
    struct try t = {.random = random_seeded("trainer/ppo/blocks_adam", 20260204)};
    try_halves(&t);
    try_sums(&t);
    try_adam(&t, 16, false, 0);
    try_adam(&t, 48, true, 0.5);
    try_adam(&t, 4096, true, 1e9);
    try_adam(&t, 4112, false, 0.5);
    try_adam(&t, 20000, true, 0.5);
    try_skips(&t);
    return check_done("trainer/ppo/blocks_adam");
}
