/* The kernels of an update against plain loops in float64: which rows a minibatch has, the loss with all its
 * options, what it pulls on, and when a minibatch is left out. */
#include "tests/trainer/ppo/blocks_try.h"

enum { UNIT_SEED = 4242 };

/* ---- gathering ---- */

static void try_gather(struct try *t, uint32_t copies, uint32_t chunks, uint32_t sequence, uint32_t rows,
                       uint32_t size, bool half)
{
    size_t all = (size_t)copies * chunks * sequence;
    uint32_t stride = try_stride(size, 8), actions = 3, hidden = 5, sequences = rows / sequence;
    uint32_t n = copies * chunks, minibatches = n / sequences;
    struct kernel_clock *clock = try_zeros(t, sizeof(*clock));
    struct kernel_order order = {clock, UNIT_SEED, n, minibatches};
    uint8_t *starts = try_room(t, all);
    for (size_t i = 0; i < all; i++)
        starts[i] = (uint8_t)random_between(&t->random, 0, 1);
    struct kernel_gather k = {
        .clock = clock,
        .rows = rows,
        .sequence = sequence,
        .copies = copies,
        .obs = try_random_rows(t, all, size, stride, half, -2, 2),
        .to_obs = try_rows(t, rows, stride, half),
        .actions = actions,
        .taken = try_floats(t, all * actions, -1, 1),
        .logp = try_floats(t, all, -1, 1),
        .values = try_floats(t, all, -1, 1),
        .advantages = try_floats(t, all, -1, 3),
        .returns = try_floats(t, all, -1, 1),
        .to_taken = try_room(t, (size_t)rows * actions * sizeof(float)),
        .to_logp = try_room(t, rows * sizeof(float)),
        .to_values = try_room(t, rows * sizeof(float)),
        .to_advantages = try_room(t, rows * sizeof(float)),
        .to_returns = try_room(t, rows * sizeof(float)),
        .advantage_sums = try_room(t, (size_t)kernel_tiles(rows, KERNEL_GATHER_TILE) * 2 * sizeof(double)),
        .hidden = try_floats(t, (size_t)n * hidden, -1, 1),
        .to_hidden = try_room(t, (size_t)sequences * hidden * sizeof(float)),
        .hidden_size = hidden,
        .starts = starts,
        .to_starts = try_room(t, rows),
    };
    uint8_t *seen = calloc(all, 1);
    clock->epoch = 3;
    clock->stop = clock->skip = clock->minibatch = 9;
    TRY_RUN(t, ppo_launch_update_begin(&order, NULL));
    CHECK(clock->stop == 0 && clock->skip == 0 && clock->minibatch == 0);
    struct ppo_shuffle shuffle = ppo_shuffle_make(UNIT_SEED, 3, n);
    for (uint32_t m = 0; m < minibatches; m++) {
        double sum = 0, squares = 0, got[2] = {0};
        clock->minibatch = m;
        TRY_RUN(t, ppo_launch_gather(&k, NULL));
        size_t wrong = 0;
        for (uint32_t row = 0; row < rows; row++) {
            uint32_t s = row % sequences, q = ppo_shuffle_at(&shuffle, m * sequences + s);
            size_t from = ((size_t)(q / copies) * sequence + row / sequences) * copies + q % copies;
            seen[from]++;
            for (uint32_t c = 0; c < stride; c++)
                wrong += try_at(&k.to_obs, row, c) != try_at(&k.obs, from, c);
            for (uint32_t i = 0; i < actions; i++)
                wrong += k.to_taken[row * actions + i] != k.taken[from * actions + i];
            for (uint32_t i = 0; row < sequences && i < hidden; i++)
                wrong += k.to_hidden[row * hidden + i] != k.hidden[(size_t)q * hidden + i];
            wrong += k.to_logp[row] != k.logp[from] || k.to_values[row] != k.values[from] ||
                     k.to_returns[row] != k.returns[from] || k.to_advantages[row] != k.advantages[from] ||
                     k.to_starts[row] != starts[from];
            sum += k.advantages[from];
            squares += (double)k.advantages[from] * k.advantages[from];
        }
        CHECK_INT(wrong, 0);
        for (uint32_t tile = 0; tile < kernel_tiles(rows, KERNEL_GATHER_TILE); tile++)
            for (int i = 0; i < 2; i++)
                got[i] += k.advantage_sums[tile * 2 + i];
        CHECK_NEAR(got[0], sum, 1e-9 * rows);
        CHECK_NEAR(got[1], squares, 1e-9 * rows);
    }
    size_t twice = 0, missing = 0;
    for (size_t i = 0; i < all; i++) {
        twice += seen[i] > 1;
        missing += seen[i] == 0;
    }
    CHECK_INT(twice, 0);
    CHECK_INT(missing, all - (size_t)minibatches * rows);
    free(seen);
    try_end(t);
}

/* ---- the loss ---- */

struct loss_shape {
    uint32_t rows, actions, levels;
    bool half, normalise, clip_values;
    double entropy_bound, value_bound; /* 0, or so small that they hold */
};

/* float64: terms, and d loss / d everything. */
struct plain {
    double policy, value, entropy, loss, old_kl, kl, clipped;
    double *d_heads, *d_values, *d_log_std; /* [rows][outputs], [rows], [actions] */
    double *all_log_std;                    /* [actions] sizes of what was added up */
};

static double clip(double x, double low, double high)
{
    return fmin(fmax(x, low), high);
}

/* One row's log-probability and entropy. */
static double plain_logp(const struct kernel_loss *k, size_t row, double *ret_entropy)
{
    const float *heads = k->heads + row * k->head_stride, *taken = k->taken + row * k->actions;
    double logp = 0, entropy = 0;
    for (uint32_t i = 0; i < k->actions; i++) {
        if (k->levels == 0) {
            double off = ((double)taken[i] - heads[i]) * exp(-k->log_std[i]);
            logp += -off * off / 2 - k->log_std[i] - log(2 * M_PI) / 2;
            entropy += k->log_std[i] + log(2 * M_PI * M_E) / 2;
            continue;
        }
        double total = 0;
        for (uint32_t j = 0; j < k->levels; j++)
            total += exp(heads[i * k->levels + j]);
        for (uint32_t j = 0; j < k->levels; j++) {
            double log_p = heads[i * k->levels + j] - log(total);
            entropy -= exp(log_p) * log_p;
        }
        logp += heads[i * k->levels + (uint32_t)taken[i]] - log(total);
    }
    *ret_entropy = entropy;
    return logp;
}

static void plain_loss(const struct kernel_loss *k, struct plain *p)
{
    double n = k->rows, mean = 0, m2 = 0, range = k->rates->clip_range;
    uint32_t outputs = k->actions * (k->levels ? k->levels : 1);
    for (size_t row = 0; row < k->rows; row++)
        mean += k->advantages[row] / n;
    for (size_t row = 0; row < k->rows; row++)
        m2 += (k->advantages[row] - mean) * (k->advantages[row] - mean);
    double times = k->normalise_advantages ? 1 / (sqrt(m2 / (n - 1)) + 1e-8) : 1;
    for (int pass = 0; pass < 2; pass++) { /* sums, then gradients */
        double value = p->value / n, entropy = p->entropy / n;
        bool value_free = !(k->value_bound > 0 && fabs(value) > k->value_bound);
        bool entropy_free = !(k->entropy_bound > 0 && fabs(entropy) > k->entropy_bound);
        double pull_entropy = entropy_free ? k->rates->ent_coef / n : 0;
        for (size_t row = 0; row < k->rows; row++) {
            double h, logp = plain_logp(k, row, &h), ratio = exp(logp - k->old_logp[row]);
            double gain = (k->advantages[row] - (k->normalise_advantages ? mean : 0)) * times;
            double free = ratio * gain, kept = clip(ratio, 1 - range, 1 + range) * gain;
            double v = k->values[row * k->value_stride], old = k->old_values[row];
            bool near = !(k->clip_range_vf > 0) || fabs(v - old) <= k->clip_range_vf;
            if (!near)
                v = old + clip(v - old, -k->clip_range_vf, k->clip_range_vf);
            if (pass == 0) {
                p->policy -= fmin(free, kept);
                p->value += (k->returns[row] - v) * (k->returns[row] - v);
                p->entropy -= h;
                p->old_kl += k->old_logp[row] - logp;
                p->kl += ratio - 1 - (logp - k->old_logp[row]);
                p->clipped += fabs(ratio - 1) > range;
                continue;
            }
            double pull = free <= kept ? -free / n : 0;
            p->d_values[row] = near && value_free ? 2 * (v - k->returns[row]) * k->vf_coef / n : 0;
            for (uint32_t c = 0; c < outputs; c++) {
                const float *heads = k->heads + row * k->head_stride;
                uint32_t i = k->levels ? c / k->levels : c;
                double taken = k->taken[row * k->actions + i], total = 0, own = 0;
                if (k->levels == 0) {
                    double inverse = exp(-k->log_std[c]), off = (taken - heads[c]) * inverse;
                    p->d_heads[row * outputs + c] = pull * off * inverse;
                    p->d_log_std[c] += pull * (off * off - 1) - pull_entropy;
                    p->all_log_std[c] += fabs(pull) * (off * off + 1) + pull_entropy;
                    continue;
                }
                for (uint32_t j = 0; j < k->levels; j++)
                    total += exp(heads[i * k->levels + j]);
                for (uint32_t j = 0; j < k->levels; j++) {
                    double log_p = heads[i * k->levels + j] - log(total);
                    own -= exp(log_p) * log_p;
                }
                double log_p = heads[c] - log(total);
                p->d_heads[row * outputs + c] = pull * ((taken == c % k->levels) - exp(log_p)) +
                                                pull_entropy * exp(log_p) * (log_p + own);
            }
        }
    }
    p->policy /= n;
    p->value = clip(p->value / n, k->value_bound > 0 ? -k->value_bound : -INFINITY,
                    k->value_bound > 0 ? k->value_bound : INFINITY);
    p->entropy = clip(p->entropy / n, k->entropy_bound > 0 ? -k->entropy_bound : -INFINITY,
                      k->entropy_bound > 0 ? k->entropy_bound : INFINITY);
    p->loss = p->policy + k->rates->ent_coef * p->entropy + k->vf_coef * p->value;
    p->old_kl /= n;
    p->kl /= n;
    p->clipped /= n;
}

static struct kernel_loss make_loss(struct try *t, const struct loss_shape *s)
{
    uint32_t outputs = s->actions * (s->levels ? s->levels : 1),
             tiles = kernel_tiles(s->rows, KERNEL_LOSS_TILE);
    uint32_t gathered = kernel_tiles(s->rows, KERNEL_GATHER_TILE), stride = try_stride(outputs, 16);
    size_t rows = s->rows;
    struct kernel_rates *rates = try_room(t, sizeof(*rates));
    *rates = (struct kernel_rates){3e-4, 0.2, 0.03};
    double *sums = try_room(t, (size_t)gathered * 2 * sizeof(double));
    float *taken = try_floats(t, rows * s->actions, -1.5, 1.5), *old_logp = try_room(t, rows * sizeof(float));
    struct kernel_loss k = {.clock = try_zeros(t, sizeof(struct kernel_clock)),
                            .rates = rates,
                            .figures = try_zeros(t, sizeof(struct kernel_figures)),
                            .rows = s->rows,
                            .actions = s->actions,
                            .levels = s->levels,
                            .heads = try_floats(t, rows * (outputs + 1), -1, 1),
                            .values = try_floats(t, rows * 3, -1, 1),
                            .head_stride = outputs + 1,
                            .value_stride = 3,
                            .log_std = s->levels ? NULL : try_floats(t, s->actions, -1, 0.3),
                            .taken = taken,
                            .old_logp = old_logp,
                            .old_values = try_floats(t, rows, -1, 1),
                            .advantages = try_floats(t, rows, -2, 5),
                            .returns = try_floats(t, rows, -2, 2),
                            .advantage_sums = sums,
                            .normalise_advantages = s->normalise,
                            .clip_range_vf = s->clip_values ? 0.3 : 0,
                            .vf_coef = 0.7,
                            .entropy_bound = s->entropy_bound,
                            .value_bound = s->value_bound,
                            .bad_updates = 3,
                            .logp = try_room(t, rows * sizeof(float)),
                            .soft = s->levels ? try_room(t, rows * s->actions * 2 * sizeof(float)) : NULL,
                            .partials = try_room(t, (size_t)tiles * KERNEL_LOSS_SUMS * sizeof(double)),
                            .d_heads = try_rows(t, rows, stride, s->half),
                            .d_values = try_rows(t, rows, 16, s->half),
                            .head_sums = try_room(t, (size_t)tiles * stride * sizeof(float)),
                            .value_sums = try_room(t, (size_t)tiles * 16 * sizeof(float)),
                            .log_std_stride = try_stride(s->actions, 16)};
    if (!s->levels)
        k.log_std_sums = try_room(t, (size_t)tiles * k.log_std_stride * sizeof(float));
    memset(sums, 0, (size_t)gathered * 2 * sizeof(double));
    for (size_t row = 0; row < rows; row++) {
        sums[row / KERNEL_GATHER_TILE * 2] += k.advantages[row];
        sums[row / KERNEL_GATHER_TILE * 2 + 1] += (double)k.advantages[row] * k.advantages[row];
        for (uint32_t i = 0; s->levels && i < s->actions; i++)
            taken[row * s->actions + i] = (float)random_between(&t->random, 0, (int64_t)s->levels - 1);
    }
    for (size_t row = 0; row < rows; row++) {
        double h;
        old_logp[row] = (float)(plain_logp(&k, row, &h) + try_number(t, -0.5, 0.5));
    }
    return k;
}

static double add_tiles(const float *sums, uint32_t rows, uint32_t stride, uint32_t column)
{
    double sum = 0;
    for (uint32_t tile = 0; tile < kernel_tiles(rows, KERNEL_LOSS_TILE); tile++)
        sum += sums[(size_t)tile * stride + column];
    return sum;
}

static void try_loss(struct try *t, struct loss_shape s)
{
    struct kernel_loss k = make_loss(t, &s);
    uint32_t outputs = s.actions * (s.levels ? s.levels : 1);
    size_t rows = s.rows, wrong = 0;
    struct plain p = {.d_heads = calloc(rows * outputs + 1, sizeof(double)),
                      .d_values = calloc(rows + 1, sizeof(double)),
                      .d_log_std = calloc(s.actions, sizeof(double)),
                      .all_log_std = calloc(s.actions, sizeof(double))};
    plain_loss(&k, &p);
    TRY_RUN(t, ppo_launch_loss_sums(&k, NULL); ppo_launch_loss_pull(&k, NULL));
    const struct kernel_clock *clock = k.clock;
    CHECK_NEAR(clock->policy, p.policy, 1e-5);
    CHECK_NEAR(clock->value, p.value, 1e-5 * (1 + p.value));
    CHECK_NEAR(clock->entropy, p.entropy, 1e-5 * (1 + fabs(p.entropy)));
    CHECK_NEAR(clock->loss, p.loss, 1e-5 * (1 + fabs(p.loss)));
    CHECK_NEAR(clock->old_kl, p.old_kl, 1e-5);
    CHECK_NEAR(clock->kl, p.kl, 1e-5);
    CHECK_NEAR(clock->clipped, p.clipped, 1e-12);
    CHECK(clock->skip == 0 && clock->stop == 0 && k.figures->epochs == 1 && k.figures->skipped == 0);
    /* A ratio is exp of two log-probabilities of some hundred, each rounded to float32. */
    double size = 30.0 / (double)rows, ratios = 3e-5;
    for (size_t row = 0; row < rows; row++) {
        for (uint32_t c = 0; c < k.d_heads.stride; c++) {
            double right = c < outputs ? p.d_heads[row * outputs + c] : 0;
            wrong += !(fabs(try_at(&k.d_heads, row, c) - right) <=
                       (c < outputs ? try_tolerance(s.half, right, size) + ratios * fabs(right) : 0));
        }
        for (uint32_t c = 0; c < 16; c++) {
            double right = c == 0 ? p.d_values[row] : 0;
            wrong += !(fabs(try_at(&k.d_values, row, c) - right) <=
                       (c == 0 ? try_tolerance(s.half, right, size) : 0));
        }
    }
    CHECK_INT(wrong, 0);
    for (uint32_t c = 0; c < k.d_heads.stride; c++) {
        double right = 0, all = 0;
        for (size_t row = 0; c < outputs && row < rows; row++) {
            right += p.d_heads[row * outputs + c];
            all += fabs(p.d_heads[row * outputs + c]);
        }
        CHECK_NEAR(add_tiles(k.head_sums, s.rows, k.d_heads.stride, c), right, 1e-5 * all + 1e-9 * (all > 0));
    }
    double values = 0;
    for (size_t row = 0; row < rows; row++)
        values += p.d_values[row];
    CHECK_NEAR(add_tiles(k.value_sums, s.rows, 16, 0), values, 1e-5);
    CHECK_NEAR(add_tiles(k.value_sums, s.rows, 16, 15), 0, 0);
    for (uint32_t c = 0; !s.levels && c < k.log_std_stride; c++)
        CHECK_NEAR(add_tiles(k.log_std_sums, s.rows, k.log_std_stride, c), c < s.actions ? p.d_log_std[c] : 0,
                   c < s.actions ? 1e-5 * p.all_log_std[c] : 0);
    free(p.d_heads);
    free(p.d_values);
    free(p.d_log_std);
    free(p.all_log_std);
    try_end(t);
}

/* What is left out, counted and stopped. */
static void try_flags(struct try *t)
{
    struct loss_shape s = {65, 2, 0, false, true, false, 0, 0};
    struct kernel_loss k = make_loss(t, &s);
    float *returns = (float *)(uintptr_t)k.returns, kept = returns[7];
    k.clock->minibatch = 1;
    returns[7] = NAN;
    TRY_RUN(t, ppo_launch_loss_sums(&k, NULL); ppo_launch_loss_pull(&k, NULL));
    CHECK(k.clock->skip == 1 && k.clock->stop == 0 && k.clock->bad_in_row == 1);
    CHECK(k.figures->skipped == 1 && k.figures->bad == 0 && k.figures->epochs == 0 && isnan(k.clock->loss));
    returns[7] = INFINITY;
    TRY_RUN(t, ppo_launch_loss_sums(&k, NULL); ppo_launch_loss_pull(&k, NULL));
    CHECK(k.clock->bad_in_row == 2 && k.clock->stop == 0);
    TRY_RUN(t, ppo_launch_loss_sums(&k, NULL); ppo_launch_loss_pull(&k, NULL));
    CHECK(k.clock->bad_in_row == 3 && k.clock->stop == 1 && k.figures->bad == 1 && k.figures->skipped == 3);
    /* Stopped: nothing more is counted. */
    k.clock->minibatch = 0;
    returns[7] = kept;
    TRY_RUN(t, ppo_launch_loss_sums(&k, NULL); ppo_launch_loss_pull(&k, NULL));
    CHECK(k.clock->skip == 1 && k.figures->skipped == 3 && k.figures->epochs == 0);

    /* target_kl at 1.5 of itself. */
    k.clock->stop = k.clock->bad_in_row = 0;
    k.target_kl = 1e9;
    TRY_RUN(t, ppo_launch_loss_sums(&k, NULL); ppo_launch_loss_pull(&k, NULL));
    CHECK(k.clock->skip == 0 && k.clock->stop == 0 && k.figures->kl_stop == 0 && k.clock->kl > 0.01);
    k.target_kl = k.clock->kl / 1.49;
    TRY_RUN(t, ppo_launch_loss_sums(&k, NULL); ppo_launch_loss_pull(&k, NULL));
    CHECK(k.clock->skip == 0 && k.clock->stop == 0);
    k.target_kl = k.clock->kl / 1.51;
    TRY_RUN(t, ppo_launch_loss_sums(&k, NULL); ppo_launch_loss_pull(&k, NULL));
    CHECK(k.clock->skip == 1 && k.clock->stop == 1 && k.figures->kl_stop == 1);
    CHECK(k.figures->skipped == 3);
    try_end(t);
}

int main(void)
{
    struct try t = {.random = random_seeded("trainer/ppo/blocks_update", 20260203)};
    /* copies, chunks, sequence, rows, size */
    for (int half = 0; half < 2; half++) {
        try_gather(&t, 1, 1, 1, 1, 5, half);
        try_gather(&t, 65, 3, 1, 33, 5, half);
        try_gather(&t, 32, 4, 1, 32, 36, half);
        try_gather(&t, 65, 5, 1, 130, 350, half);
        try_gather(&t, 33, 3, 8, 264, 36, half);
        try_gather(&t, 5, 4, 4, 12, 2100, half);
    }
    static const uint32_t rows[] = {2, 31, 32, 33, 65, 128, 300};
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        for (int kind = 0; kind < 8; kind++) {
            bool half = kind & 1, normalise = kind & 2, clip_values = kind & 4;
            try_loss(&t, (struct loss_shape){rows[i], 5, 0, half, normalise, clip_values, 0, 0});
            try_loss(&t, (struct loss_shape){rows[i], 3, 4, half, normalise, clip_values, 1e3, 1e3});
            try_loss(&t, (struct loss_shape){rows[i], 36, 0, half, normalise, clip_values, 0.5, 0});
            try_loss(&t, (struct loss_shape){rows[i], 1, 1, half, normalise, clip_values, 0, 0.01});
            try_loss(&t, (struct loss_shape){rows[i], 9, 5, half, normalise, clip_values, 0.5, 0.01});
        }
    try_flags(&t);
    return check_done("trainer/ppo/blocks_update");
}
