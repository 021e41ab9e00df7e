/* The kernels of a rollout against plain loops in float64: a rollout of random observations, rewards and
 * ends, step by step, then its statistics, advantages and figures. */
#include "tests/trainer/ppo/blocks_try.h"
#include "trainer/env/philox.h"
#include "trainer/ppo/draw.h"

struct shape {
    uint32_t copies, steps, size, actions, levels, slots;
    bool half, normalise;
};

/* A whole rollout's buffers. */
struct rollout {
    struct shape shape;
    size_t rows;
    struct kernel_clock *clock;
    struct kernel_figures *figures;
    float *raw; /* [steps + 1][copies][size] */
    float *rewards, *final_obs;
    uint8_t *terminated, *truncated; /* [steps][copies] */
    struct kernel_rollout begin;
    struct kernel_act act;
    struct kernel_stepped stepped;
    struct kernel_observed observed;
    struct kernel_returned returned;
    struct kernel_advantages advantages;
    struct kernel_explained explained;
    float *mean_before, *scale_before;
    struct kernel_moments *moments_before, return_before;
};

static void make(struct try *t, struct rollout *r, const struct shape *s)
{
    size_t n = s->copies, rows = n * s->steps;
    *r = (struct rollout){.shape = *s, .rows = rows};
    uint32_t stride = try_stride(s->size, 8);
    r->clock = try_zeros(t, sizeof(*r->clock));
    r->figures = try_room(t, sizeof(*r->figures));
    memset(r->figures, 0x11, sizeof(*r->figures));
    r->raw = try_floats(t, (rows + n) * s->size, -3, 9);
    r->rewards = try_floats(t, rows, -1, 2);
    r->final_obs = try_floats(t, n * s->size, -3, 9);
    r->terminated = try_room(t, rows);
    r->truncated = try_room(t, rows);
    for (size_t i = 0; i < rows; i++) {
        r->terminated[i] = random_chance(&t->random, 10);
        r->truncated[i] = random_chance(&t->random, 20);
    }
    float *mean = try_floats(t, s->size, 2, 4), *scale = try_floats(t, s->size, 0.1, 1);
    struct kernel_moments *moments = try_room(t, s->size * sizeof(*moments));
    for (uint32_t c = 0; c < s->size; c++)
        moments[c] = (struct kernel_moments){c % 3 ? 100 : 0, c % 3 ? mean[c] : 0, c % 3 ? 321 : 0};
    r->mean_before = malloc(s->size * sizeof(float));
    r->scale_before = malloc(s->size * sizeof(float));
    r->moments_before = malloc(s->size * sizeof(*moments));
    memcpy(r->mean_before, mean, s->size * sizeof(float));
    memcpy(r->scale_before, scale, s->size * sizeof(float));
    memcpy(r->moments_before, moments, s->size * sizeof(*moments));
    double *sums = try_room(t, kernel_observe_sums_bytes(s->copies, s->size));
    uint8_t *started = try_room(t, n), *ends = try_room(t, rows);
    memset(started, 1, n);
    uint32_t *n_truncated = try_room(t, n * sizeof(uint32_t));
    double *copy = try_zeros(t, n * KERNEL_COPY_COLUMNS * sizeof(double));
    r->begin = (struct kernel_rollout){r->clock, r->figures, sums, n_truncated, copy, s->copies, s->size};
    r->stepped.clock = r->clock;
    r->stepped.observe = (struct kernel_observe){.clock = r->clock,
                                                 .raw = r->raw,
                                                 .copies = s->copies,
                                                 .size = s->size,
                                                 .steps = s->steps,
                                                 .mean = mean,
                                                 .scale = scale,
                                                 .clip = 0.5f,
                                                 .rows = try_rows(t, rows + n, stride, s->half),
                                                 .now = try_rows(t, n, stride, s->half),
                                                 .sums = sums,
                                                 .started = started,
                                                 .starts = try_room(t, rows + n)};
    uint32_t outputs = s->actions * (s->levels ? s->levels : 1);
    float *heads = try_floats(t, n * (outputs + 3), -2, 2);
    r->act = (struct kernel_act){.clock = r->clock,
                                 .seed = 77,
                                 .heads = heads,
                                 .head_stride = outputs + 3,
                                 .copies = s->copies,
                                 .actions = s->actions,
                                 .levels = s->levels,
                                 .log_std = s->levels ? NULL : try_floats(t, s->actions, -2, 0.5),
                                 .env_actions = try_room(t, n * s->actions * sizeof(float)),
                                 .taken = try_room(t, rows * s->actions * sizeof(float)),
                                 .logp = try_room(t, rows * sizeof(float))};
    r->stepped.finals = (struct kernel_finals){r->final_obs,
                                               NULL,
                                               NULL,
                                               n_truncated,
                                               s->copies,
                                               s->size,
                                               s->slots,
                                               mean,
                                               scale,
                                               0.5f,
                                               try_rows(t, n * s->slots, stride, s->half)};
    r->stepped.reward = (struct kernel_reward){.clock = r->clock,
                                               .copies = s->copies,
                                               .slots = s->slots,
                                               .gamma = 0.9,
                                               .kept = try_room(t, rows * sizeof(float)),
                                               .ends = ends,
                                               .started = started,
                                               .n_truncated = n_truncated,
                                               .final_rows = try_room(t, n * s->slots * sizeof(uint32_t)),
                                               .copy = copy};
    r->observed = (struct kernel_observed){sums, s->copies, s->steps, s->size, moments, mean, scale};
    struct kernel_moments *running = try_room(t, sizeof(*running));
    r->return_before = *running = (struct kernel_moments){50, 1.5, 80};
    float *reward_scale = try_room(t, sizeof(float));
    r->returned = (struct kernel_returned){copy,         n_truncated, s->copies,    s->steps,  s->slots,
                                           s->normalise, running,     reward_scale, r->figures};
    r->advantages = (struct kernel_advantages){.rewards = r->stepped.reward.kept,
                                               .values = try_floats(t, rows + n, -2, 2),
                                               .ends = ends,
                                               .final_values = try_floats(t, n * s->slots, -2, 2),
                                               .n_truncated = n_truncated,
                                               .reward_scale = reward_scale,
                                               .clip_rewards = s->normalise ? 1.25f : INFINITY,
                                               .copies = s->copies,
                                               .steps = s->steps,
                                               .slots = s->slots,
                                               .gamma = 0.9f,
                                               .lambda = 0.8f,
                                               .advantages = try_room(t, rows * sizeof(float)),
                                               .returns = try_room(t, rows * sizeof(float))};
    r->explained = (struct kernel_explained){
        .returns = r->advantages.returns,
        .values = r->advantages.values,
        .rows = rows,
        .log_std = r->act.log_std,
        .actions = s->actions,
        .partials = try_room(t, (size_t)kernel_tiles(rows, KERNEL_FLAT_TILE) * 4 * sizeof(double)),
        .figures = r->figures};
}

static float normal(const struct rollout *r, float raw, uint32_t c)
{
    return fminf(fmaxf((raw - r->mean_before[c]) * r->scale_before[c], -0.5f), 0.5f);
}

static void check_rows(const struct rollout *r, const struct kernel_matrix *rows, size_t first,
                       const float *raw, uint32_t copies)
{
    const struct shape *s = &r->shape;
    size_t wrong = 0;
    for (size_t i = 0; i < copies; i++)
        for (uint32_t c = 0; c < rows->stride; c++) {
            float right = c < s->size ? normal(r, raw[i * s->size + c], c) : 0;
            wrong += !(fabsf(try_at(rows, first + i, c) - right) <= (s->half ? 0x1p-8f * fabsf(right) : 0));
        }
    CHECK_INT(wrong, 0);
}

/* The step's actions by the definitions, to the bit; log-probabilities in float64. */
static void check_actions(const struct rollout *r, uint32_t step, uint64_t run_step)
{
    const struct shape *s = &r->shape;
    const struct kernel_act *k = &r->act;
    for (uint32_t copy = 0; copy < s->copies; copy++) {
        const float *heads = k->heads + (size_t)copy * k->head_stride;
        double logp = 0;
        for (uint32_t i = 0; i < s->actions; i++) {
            struct philox words = philox(k->seed, copy, (uint32_t)run_step, (uint32_t)(run_step >> 32),
                                         (uint32_t)PPO_DRAW_ACTION << 24 | i / 4);
            float taken = k->taken[((size_t)step * s->copies + copy) * s->actions + i];
            CHECK(taken == k->env_actions[(size_t)copy * s->actions + i]);
            if (s->levels == 0) {
                float draw[2];
                ppo_normals(words.word[i % 4 / 2 * 2], words.word[i % 4 / 2 * 2 + 1], &draw[0], &draw[1]);
                double deviation = exp(k->log_std[i]), off = (taken - (double)heads[i]) / deviation;
                CHECK_NEAR(off, draw[i % 2], 1e-5);
                logp += -off * off / 2 - k->log_std[i] - log(2 * M_PI) / 2;
                continue;
            }
            double total = 0, below = 0, u = ppo_uniform(words.word[i % 4]);
            const float *logits = heads + (size_t)i * s->levels;
            for (uint32_t j = 0; j < s->levels; j++)
                total += exp(logits[j]);
            for (uint32_t j = 0; j < s->levels && (float)j < taken; j++)
                below += exp(logits[j]);
            CHECK(taken >= 0 && taken < (float)s->levels && taken == floorf(taken));
            CHECK(u * total >= below - 1e-5 * total);
            CHECK(u * total <= below + exp(logits[(int)taken]) + 1e-5 * total);
            logp += logits[(int)taken] - log(total);
        }
        CHECK_NEAR(k->logp[(size_t)step * s->copies + copy], logp, 1e-5 + 1e-5 * fabs(logp));
    }
}

static void walk(struct try *t, struct rollout *r)
{
    const struct shape *s = &r->shape;
    size_t n = s->copies;
    r->clock->run_step = 0xFFFFFFFEu; /* into its high word */
    TRY_RUN(t, ppo_launch_rollout_begin(&r->begin, NULL));
    TRY_RUN(t, ppo_launch_observe(&r->stepped.observe, NULL));
    for (uint32_t step = 0; step <= s->steps; step++) {
        uint64_t run_step = r->clock->run_step;
        check_rows(r, &r->stepped.observe.rows, step * n, r->stepped.observe.raw, s->copies);
        check_rows(r, &r->stepped.observe.now, 0, r->stepped.observe.raw, s->copies);
        for (size_t c = 0; c < n; c++)
            CHECK_INT(r->stepped.observe.starts[step * n + c],
                      step == 0 || r->terminated[(step - 1) * n + c] || r->truncated[(step - 1) * n + c]);
        if (step == s->steps)
            break;
        TRY_RUN(t, ppo_launch_act(&r->act, NULL));
        check_actions(r, step, run_step);
        r->stepped.finals.terminated = r->stepped.reward.terminated = r->terminated + step * n;
        r->stepped.finals.truncated = r->stepped.reward.truncated = r->truncated + step * n;
        r->stepped.reward.rewards = r->rewards + step * n;
        r->stepped.observe.raw = r->raw + (step + 1) * n * s->size;
        uint32_t *slots = malloc(n * sizeof(*slots));
        memcpy(slots, r->stepped.reward.n_truncated, n * sizeof(*slots));
        TRY_RUN(t, ppo_launch_stepped(&r->stepped, NULL));
        for (size_t c = 0; c < n; c++) {
            uint32_t slot = slots[c];
            if (r->truncated[step * n + c] && !r->terminated[step * n + c] && slot < s->slots)
                check_rows(r, &r->stepped.finals.rows, slot * n + c, r->final_obs + c * s->size, 1);
        }
        free(slots);
        CHECK(r->clock->step == step + 1 && r->clock->ticket == 0);
        CHECK(r->clock->run_step == run_step + 1);
    }
}

/* Normalisers: mean and deviation of all that was seen, each number once. */
static void check_moments(const struct kernel_moments *got, const struct kernel_moments *before,
                          const float *more, size_t n, size_t step)
{
    double count = before->count + (double)n, sum = before->count * before->mean, m2 = before->m2;
    for (size_t i = 0; i < n; i++)
        sum += more[i * step];
    double mean = sum / count;
    m2 += before->count * (before->mean - mean) * (before->mean - mean);
    for (size_t i = 0; i < n; i++)
        m2 += (more[i * step] - mean) * (more[i * step] - mean);
    CHECK_NEAR(got->count, count, 0);
    CHECK_NEAR(got->mean, mean, 1e-9);
    CHECK_NEAR(got->m2, m2, 1e-9 * m2 + 1e-9);
}

static void check_observed(struct try *t, struct rollout *r)
{
    const struct shape *s = &r->shape;
    TRY_RUN(t, ppo_launch_observed(&r->observed, NULL));
    for (uint32_t c = 0; c < s->size; c++) {
        const struct kernel_moments *m = &r->observed.moments[c];
        check_moments(m, &r->moments_before[c], r->raw + c, r->rows, s->size);
        CHECK_NEAR(r->observed.mean[c], m->mean, 1e-6 * fabs(m->mean));
        CHECK_NEAR(r->observed.scale[c] * sqrt(m->m2 / m->count + 1e-8), 1, 1e-6);
    }
}

static void check_returned(struct try *t, struct rollout *r)
{
    const struct shape *s = &r->shape;
    const struct kernel_figures *f = r->figures;
    double rewards = 0, episodes = 0, returns = 0, squares = 0, lengths = 0;
    uint32_t lost = 0, slot = 0;
    size_t n = s->copies;
    float *running = malloc((r->rows + 1) * sizeof(float));
    double *exact = malloc((r->rows + 1) * sizeof(double));
    for (size_t c = 0; c < n; c++) {
        double all = 0, sum = 0, length = 0;
        slot = 0;
        for (size_t step = 0; step < s->steps; step++) {
            size_t row = step * n + c;
            all = all * 0.9 + r->rewards[row];
            exact[row] = all;
            sum += r->rewards[row];
            rewards += r->rewards[row];
            length++;
            CHECK_INT(r->stepped.reward.ends[row], r->terminated[row] ? 1 : r->truncated[row] ? 2 : 0);
            CHECK(r->stepped.reward.kept[row] == r->rewards[row]);
            if (!r->terminated[row] && !r->truncated[row])
                continue;
            if (!r->terminated[row]) {
                if (slot < s->slots)
                    CHECK_INT(r->stepped.reward.final_rows[slot * n + c], row);
                lost += slot >= s->slots;
                slot++;
            }
            episodes++;
            returns += sum;
            squares += sum * sum;
            lengths += length;
            all = sum = length = 0;
        }
        CHECK_INT(r->stepped.reward.n_truncated[c], slot);
        CHECK_NEAR(r->stepped.reward.copy[c], all, 1e-9);
        CHECK_NEAR(r->stepped.reward.copy[n + c], sum, 1e-9);
        CHECK_NEAR(r->stepped.reward.copy[2 * n + c], length, 0);
    }
    TRY_RUN(t, ppo_launch_returned(&r->returned, NULL));
    CHECK_NEAR(f->reward_sum, rewards, 1e-9 * (double)r->rows);
    CHECK_NEAR(f->episodes, episodes, 0);
    CHECK_NEAR(f->return_sum, returns, 1e-9 * (double)r->rows);
    CHECK_NEAR(f->return_squares, squares, 1e-9 * (1 + squares));
    CHECK_NEAR(f->length_sum, lengths, 0);
    CHECK_INT(f->lost_finals, lost);
    const struct kernel_moments *m = r->returned.moments;
    if (s->normalise) {
        double count = 50 + (double)r->rows, sum = 50 * 1.5, m2 = 80;
        for (size_t i = 0; i < r->rows; i++)
            sum += exact[i];
        m2 += 50 * (1.5 - sum / count) * (1.5 - sum / count);
        for (size_t i = 0; i < r->rows; i++)
            m2 += (exact[i] - sum / count) * (exact[i] - sum / count);
        CHECK_NEAR(m->count, count, 0);
        CHECK_NEAR(m->mean, sum / count, 1e-9);
        CHECK_NEAR(m->m2, m2, 1e-9 * m2);
        CHECK_NEAR(*r->returned.reward_scale * sqrt(m2 / count + 1e-8), 1, 1e-6);
    } else {
        CHECK(memcmp(m, &r->return_before, sizeof(*m)) == 0 && *r->returned.reward_scale == 1);
    }
    free(running);
    free(exact);
}

static void check_advantages(struct try *t, struct rollout *r)
{
    const struct shape *s = &r->shape;
    const struct kernel_advantages *k = &r->advantages;
    size_t n = s->copies, wrong = 0;
    double scale = *k->reward_scale, mean = 0, missed = 0, variance = 0, rest = 0, deviations = 0;
    TRY_RUN(t, ppo_launch_advantages(k, NULL));
    for (size_t c = 0; c < n; c++) {
        double gain = 0;
        uint32_t slot = r->stepped.reward.n_truncated[c];
        for (size_t step = s->steps; step-- > 0;) {
            size_t row = step * n + c;
            double reward = fmax(fmin(r->rewards[row] * scale, k->clip_rewards), -k->clip_rewards);
            bool end = r->stepped.reward.ends[row];
            if (r->stepped.reward.ends[row] == 2 && --slot < s->slots)
                reward += 0.9 * k->final_values[slot * n + c];
            double delta = reward + (end ? 0 : 0.9 * k->values[row + n]) - k->values[row];
            gain = delta + (end ? 0 : 0.9 * 0.8 * gain);
            wrong += !(fabs(k->advantages[row] - gain) <= 1e-5 * (1 + fabs(gain)));
            wrong += !(fabs(k->returns[row] - gain - k->values[row]) <= 1e-5 * (1 + fabs(gain)));
        }
    }
    CHECK_INT(wrong, 0);
    TRY_RUN(t, ppo_launch_explained(&r->explained, NULL));
    for (size_t i = 0; i < r->rows; i++) {
        mean += k->returns[i] / (double)r->rows;
        missed += ((double)k->returns[i] - k->values[i]) / (double)r->rows;
    }
    for (size_t i = 0; i < r->rows; i++) {
        variance += (k->returns[i] - mean) * (k->returns[i] - mean);
        rest += pow((double)k->returns[i] - k->values[i] - missed, 2);
    }
    if (r->rows > 1)
        CHECK_NEAR(r->figures->explained_variance, 1 - rest / variance, 1e-9 * (1 + rest / variance));
    else
        CHECK(isnan(r->figures->explained_variance));
    for (uint32_t i = 0; !s->levels && i < s->actions; i++)
        deviations += exp(k->steps > 0 ? r->act.log_std[i] : 0) / s->actions;
    if (s->levels)
        CHECK(isnan(r->figures->std));
    else
        CHECK_NEAR(r->figures->std, deviations, 1e-5);
}

static void try_rollout(struct try *t, struct shape s)
{
    struct rollout r;
    make(t, &r, &s);
    walk(t, &r);
    check_observed(t, &r);
    check_returned(t, &r);
    check_advantages(t, &r);

    /* A slot has a truncated copy's observation, and no other's. */
    size_t touched = 0;
    for (size_t row = 0; row < (size_t)s.slots * s.copies; row++)
        for (uint32_t c = 0; row / s.copies >= r.stepped.reward.n_truncated[row % s.copies] && c < s.size;
             c++)
            touched += !isnan(try_at(&r.stepped.finals.rows, row, c));
    CHECK_INT(touched, 0);

    /* The next rollout begins with clean sums; what runs on does. */
    double *copy = r.stepped.reward.copy;
    TRY_RUN(t, ppo_launch_rollout_begin(&r.begin, NULL));
    for (size_t i = 0; i < kernel_observe_sums_bytes(s.copies, s.size) / sizeof(double); i++)
        CHECK(r.begin.observe_sums[i] == 0);
    for (size_t i = 3 * (size_t)s.copies; i < (size_t)KERNEL_COPY_COLUMNS * s.copies; i++)
        CHECK(copy[i] == 0);
    CHECK(r.clock->step == 0 && r.figures->episodes == 0 && r.figures->minibatches == 0);

    /* A head's first column, packed. */
    struct kernel_take take = {.from = r.act.heads, .stride = r.act.head_stride, .rows = s.copies};
    take.to = try_room(t, s.copies * sizeof(float));
    TRY_RUN(t, ppo_launch_take(&take, NULL));
    for (uint32_t i = 0; i < s.copies; i++)
        CHECK(take.to[i] == r.act.heads[(size_t)i * r.act.head_stride]);
    free(r.mean_before);
    free(r.scale_before);
    free(r.moments_before);
    try_end(t);
}

int main(void)
{
    struct try t = {.random = random_seeded("trainer/ppo/blocks_rollout", 20260202)};
    /* copies, steps, size, actions, levels, slots, half, normalise */
    try_rollout(&t, (struct shape){1, 1, 1, 1, 0, 1, false, true});
    try_rollout(&t, (struct shape){31, 3, 5, 2, 3, 4, false, false});
    try_rollout(&t, (struct shape){32, 9, 36, 3, 0, 10, true, true});
    try_rollout(&t, (struct shape){33, 8, 36, 5, 2, 2, true, true}); /* more truncations than slots */
    try_rollout(&t, (struct shape){65, 17, 350, 31, 0, 18, true, true});
    try_rollout(&t, (struct shape){65, 16, 350, 33, 0, 17, false, false});
    try_rollout(&t, (struct shape){300, 5, 64, 70, 0, 6, true, true});
    try_rollout(&t, (struct shape){129, 33, 65, 9, 7, 34, false, true});
    return check_done("trainer/ppo/blocks_rollout");
}
