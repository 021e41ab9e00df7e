/* Whole networks by the kernels, with products as plain loops between them, against trainer/nn in float64:
 * every shape and option of its cases. Loss, log-probabilities and all gradients; in float32, and in bfloat16
 * with float32 sums. Then Adam's steps against trainer/nn's. */
#include "tests/counts.h"
#include "tests/trainer/nn/cases.h"
#include "tests/trainer/ppo/blocks_try.h"
#include "trainer/nn/adam.h"

#define TOLERANCE 1e-5 /* of a tensor's largest gradient, and of the largest of all */
/* bfloat16: of the norm of all gradients, the median of some draws, since where rows cancel in a sum their
 * rounding does not. Some units of ReLU are on the other side of 0 when rounded, and then a whole gradient is
 * there or not. */
#define TOLERANCE_HALF      2e-2
#define TOLERANCE_HALF_RELU 0.1
/* No ratio and no value is so far off: where rounding decides on which side of a clip a row is, gradients of
 * both precisions are right and nothing alike. */
#define FAR 100

enum { DRAWS = 5, LARGE_DRAWS = 1, EACH = COUNTS_PART ? 3 : 1 };

struct pass {
    struct try *t;
    struct nn_case *c;
    const struct net_layout *layout;
    bool half;
    size_t rows, sequences;
    float *params, *grads, *hidden;
    uint16_t *halves;
    uint8_t *starts;
    struct kernel_add sums;
};

/* One chain's, kept for the way back. */
struct chain {
    struct kernel_matrix x; /* what it reads */
    struct kernel_layer layers[NET_LAYERS_MAX];
    struct kernel_scan scan;
    struct kernel_matrix top; /* what its head reads */
};

static const struct net_tensor *tensor(const struct pass *p, int index)
{
    return &p->layout->tensors[index];
}

static struct kernel_matrix weight(const struct pass *p, int index)
{
    const struct net_tensor *w = tensor(p, index);
    void *at = p->half ? (void *)(p->halves + w->offset) : (void *)(p->params + w->offset);
    return (struct kernel_matrix){at, (uint32_t)w->stride, p->half};
}

static struct kernel_matrix rows_like(struct pass *p, int index)
{
    return try_rows(p->t, p->rows, (uint32_t)tensor(p, index)->stride, p->half);
}

/* The first `rows` rows as float32, packed. */
static float *whole(const struct kernel_matrix *m, size_t rows, size_t cols)
{
    float *ret = malloc(rows * cols * sizeof(float) + 1);
    for (size_t row = 0; row < rows; row++)
        for (size_t c = 0; c < cols; c++)
            ret[row * cols + c] = try_at(m, row, c);
    return ret;
}

static void put(const struct kernel_matrix *m, size_t rows, size_t cols, float *from)
{
    for (size_t row = 0; row < rows; row++)
        for (size_t c = 0; c < cols; c++)
            try_set(m, row, c, from[row * cols + c]);
    free(from);
}

/* y = x W, of all columns of the stride; sums in float32, in order. */
static void product(const struct pass *p, const struct kernel_matrix *x, int index,
                    const struct kernel_matrix *y)
{
    struct kernel_matrix w = weight(p, index);
    size_t in = (size_t)tensor(p, index)->rows_padded, out = w.stride;
    float *a = whole(x, p->rows, in), *b = whole(&w, in, out), *c = calloc(p->rows * out, sizeof(float));
    for (size_t row = 0; row < p->rows; row++)
        for (size_t i = 0; i < in; i++)
            for (size_t j = 0; j < out; j++)
                c[row * out + j] += a[row * in + i] * b[i * out + j];
    put(y, p->rows, out, c);
    free(a);
    free(b);
}

/* dW = x^T dy into the gradients; dx = dy W^T, or added to it. */
static void product_back(const struct pass *p, const struct kernel_matrix *x, const struct kernel_matrix *dy,
                         int index, const struct kernel_matrix *dx, bool add)
{
    const struct net_tensor *t = tensor(p, index);
    struct kernel_matrix w = weight(p, index);
    size_t in = (size_t)t->rows_padded, out = w.stride;
    float *a = whole(x, p->rows, in), *b = whole(&w, in, out), *d = whole(dy, p->rows, out);
    float *dw = p->grads + t->offset;
    memset(dw, 0, in * out * sizeof(float));
    for (size_t row = 0; row < p->rows; row++)
        for (size_t i = 0; i < in; i++)
            for (size_t j = 0; j < out; j++)
                dw[i * out + j] += a[row * in + i] * d[row * out + j];
    for (size_t row = 0; dx && row < p->rows; row++)
        for (size_t i = 0; i < in; i++) {
            float sum = add ? try_at(dx, row, i) : 0;
            for (size_t j = 0; j < out; j++)
                sum += d[row * out + j] * b[i * out + j];
            try_set(dx, row, i, sum);
        }
    free(a);
    free(b);
    free(d);
}

/* Sums over rows of the gradients by some kernel, into a bias's. */
static float *sums_for(struct pass *p, int index, uint32_t tile)
{
    const struct net_tensor *t = tensor(p, index);
    uint32_t tiles = kernel_tiles(p->rows, tile);
    struct kernel_job *job = &p->sums.jobs[p->sums.n++];
    float *from = try_room(p->t, (size_t)tiles * (size_t)t->stride * sizeof(float));
    *job = (struct kernel_job){
        from, p->grads + t->offset, tiles, (uint32_t)t->stride, (uint32_t)t->cols, (uint32_t)t->stride};
    return from;
}

static void forward(struct pass *p, enum net_part part, struct kernel_matrix x, struct chain *ret)
{
    const struct net_chain *chain = &p->layout->chains[part];
    *ret = (struct chain){.x = x};
    for (int i = 0; i < chain->n_hidden; i++) {
        const struct net_layer *l = &chain->hidden[i];
        struct kernel_layer *k = &ret->layers[i];
        *k = (struct kernel_layer){.rows = (uint32_t)p->rows,
                                   .cols = (uint32_t)l->out,
                                   .activation = (enum kernel_activation)p->c->shape.activation,
                                   .x = rows_like(p, l->weight),
                                   .y = rows_like(p, l->weight),
                                   .bias = p->params + tensor(p, l->bias)->offset};
        if (l->norm_weight >= 0) {
            k->norm_weight = p->params + tensor(p, l->norm_weight)->offset;
            k->norm_bias = p->params + tensor(p, l->norm_bias)->offset;
            k->norm_stats = try_room(p->t, p->rows * 2 * sizeof(float));
            k->norm_pulls = try_room(p->t, p->rows * 2 * sizeof(float));
        }
        product(p, &x, l->weight, &k->x);
        TRY_RUN(p->t, ppo_launch_activate(k, NULL));
        x = k->y;
    }
    if (chain->has_recurrent) {
        const struct net_layer *l = &chain->recurrent;
        uint32_t units = (uint32_t)p->c->shape.recurrent;
        struct kernel_scan *k = &ret->scan;
        *k = (struct kernel_scan){.sequences = (uint32_t)p->sequences,
                                  .steps = (uint32_t)p->c->steps,
                                  .units = units,
                                  .x = rows_like(p, l->weight),
                                  .bias = p->params + tensor(p, l->bias)->offset,
                                  .starts = p->c->has_starts ? p->starts : NULL,
                                  .before_stride = (uint32_t)p->layout->hidden,
                                  .y = try_rows(p->t, p->rows, try_stride(units, 16), p->half)};
        if (p->c->has_hidden)
            k->before = p->hidden + (part == NET_VF ? units : 0);
        product(p, &x, l->weight, &k->x);
        TRY_RUN(p->t, ppo_launch_scan(k, NULL));
        x = k->y;
    }
    ret->top = x;
}

/* A head's product, in float32 with its bias. */
static struct kernel_matrix head(struct pass *p, enum net_part part, const struct kernel_matrix *x)
{
    const struct net_layer *l = &p->layout->chains[part].head;
    uint32_t stride = (uint32_t)tensor(p, l->weight)->stride;
    struct kernel_matrix y = try_rows(p->t, p->rows, stride, false);
    product(p, x, l->weight, &y);
    for (size_t row = 0; row < p->rows; row++)
        for (int j = 0; j < l->out; j++)
            try_set(&y, row, (size_t)j,
                    try_at(&y, row, (size_t)j) + p->params[tensor(p, l->bias)->offset + (size_t)j]);
    return y;
}

/* `dy`: by what the chain gives to its head. */
static void backward(struct pass *p, enum net_part part, struct chain *kept, struct kernel_matrix dy)
{
    const struct net_chain *chain = &p->layout->chains[part];
    int n = chain->n_hidden;
    if (chain->has_recurrent) {
        const struct net_layer *l = &chain->recurrent;
        struct kernel_scan *k = &kept->scan;
        const struct kernel_matrix *x = n > 0 ? &kept->layers[n - 1].y : &kept->x;
        k->dy = dy;
        k->dx = rows_like(p, l->weight);
        TRY_RUN(p->t, ppo_launch_scan_back(k, NULL));
        struct kernel_layer sums = {.rows = (uint32_t)p->rows,
                                    .cols = (uint32_t)l->out,
                                    .activation = KERNEL_IDENTITY,
                                    .dy = k->dx,
                                    .bias_sums = sums_for(p, l->bias, KERNEL_SUM_TILE)};
        TRY_RUN(p->t, ppo_launch_pull_back(&sums, NULL));
        if (n > 0)
            dy = rows_like(p, chain->hidden[n - 1].weight);
        product_back(p, x, &k->dx, l->weight, n > 0 ? &dy : NULL, false);
    }
    for (int i = n; i-- > 0;) {
        const struct net_layer *l = &chain->hidden[i];
        struct kernel_layer *k = &kept->layers[i];
        k->dy = k->dx = dy;
        k->bias_sums = sums_for(p, l->bias, KERNEL_SUM_TILE);
        if (l->norm_weight >= 0) {
            k->norm_weight_sums = sums_for(p, l->norm_weight, KERNEL_SUM_TILE);
            k->norm_bias_sums = sums_for(p, l->norm_bias, KERNEL_SUM_TILE);
        }
        TRY_RUN(p->t, ppo_launch_pull_back(k, NULL));
        if (i > 0)
            dy = rows_like(p, chain->hidden[i - 1].weight);
        product_back(p, i > 0 ? &kept->layers[i - 1].y : &kept->x, &k->dx, l->weight, i > 0 ? &dy : NULL,
                     false);
    }
}

/* Row of trainer/nn's order, sequence after sequence, that is `row` here, step after step. */
static size_t their_row(const struct pass *p, size_t row)
{
    return row % p->sequences * (size_t)p->c->steps + row / p->sequences;
}

static float *floats_of(struct pass *p, const double *from, size_t width)
{
    float *ret = try_room(p->t, p->rows * width * sizeof(float));
    for (size_t row = 0; row < p->rows; row++)
        for (size_t i = 0; i < width; i++)
            ret[row * width + i] = (float)from[their_row(p, row) * width + i];
    return ret;
}

static void make(struct pass *p)
{
    const struct nn_case *c = p->c;
    size_t n = p->layout->n_params, hidden = p->sequences * (size_t)p->layout->hidden;
    p->params = try_room(p->t, n * sizeof(float));
    p->halves = try_room(p->t, n * sizeof(uint16_t));
    p->grads = try_zeros(p->t, n * sizeof(float)); /* the places of log_std's padding are sums', too */
    p->hidden = try_room(p->t, hidden * sizeof(float));
    p->starts = try_room(p->t, p->rows);
    for (size_t i = 0; i < n; i++)
        p->params[i] = (float)c->params[i];
    for (size_t i = 0; i < hidden; i++)
        p->hidden[i] = (float)c->hidden[i];
    for (size_t row = 0; row < p->rows; row++)
        p->starts[row] = c->starts[their_row(p, row)];
    struct kernel_halve halve = {p->params, p->halves, n};
    TRY_RUN(p->t, ppo_launch_halve(&halve, NULL));
}

static struct kernel_loss loss_of(struct pass *p, const struct kernel_matrix *heads,
                                  const struct kernel_matrix *values)
{
    const struct nn_case *c = p->c;
    const struct net_chain *chains = p->layout->chains;
    uint32_t tiles = kernel_tiles(p->rows, KERNEL_LOSS_TILE);
    struct kernel_rates *rates = try_room(p->t, sizeof(*rates));
    *rates = (struct kernel_rates){0, c->clip_range, c->ent_coef};
    size_t actions = (size_t)c->shape.actions;
    struct kernel_loss k = {.clock = try_zeros(p->t, sizeof(struct kernel_clock)),
                            .rates = rates,
                            .figures = try_zeros(p->t, sizeof(struct kernel_figures)),
                            .rows = (uint32_t)p->rows,
                            .actions = (uint32_t)actions,
                            .levels = (uint32_t)c->shape.levels,
                            .heads = heads->at,
                            .values = values->at,
                            .head_stride = heads->stride,
                            .value_stride = values->stride,
                            .taken = floats_of(p, c->actions, actions),
                            .old_logp = floats_of(p, c->old_logp, 1),
                            .old_values = floats_of(p, c->old_values, 1),
                            .advantages = floats_of(p, c->advantages, 1),
                            .returns = floats_of(p, c->returns, 1),
                            .clip_range_vf = c->clip_range_vf,
                            .vf_coef = c->vf_coef,
                            .entropy_bound = c->entropy_bound,
                            .value_bound = c->value_bound,
                            .bad_updates = 1,
                            .logp = try_room(p->t, p->rows * sizeof(float)),
                            .soft = try_room(p->t, p->rows * actions * 2 * sizeof(float)),
                            .partials = try_room(p->t, (size_t)tiles * KERNEL_LOSS_SUMS * sizeof(double)),
                            .d_heads = try_rows(p->t, p->rows, heads->stride, p->half),
                            .d_values = try_rows(p->t, p->rows, values->stride, p->half),
                            .head_sums = sums_for(p, chains[NET_PI].head.bias, KERNEL_LOSS_TILE),
                            .value_sums = sums_for(p, chains[NET_VF].head.bias, KERNEL_LOSS_TILE)};
    if (p->layout->log_std >= 0) {
        k.log_std = p->params + tensor(p, p->layout->log_std)->offset;
        k.log_std_sums = sums_for(p, p->layout->log_std, KERNEL_LOSS_TILE);
        k.log_std_stride = (uint32_t)tensor(p, p->layout->log_std)->stride;
    }
    return k;
}

/* Returns how far all are off together, as a share of their norm. */
static double check_grads(const struct pass *p, const double *right)
{
    double all = 0, apart = 0, largest = 0;
    for (size_t j = 0; j < p->layout->n_params; j++) {
        all += right[j] * right[j];
        apart += (p->grads[j] - right[j]) * (p->grads[j] - right[j]);
        largest = fmax(largest, fabs(right[j]));
    }
    for (int i = 0; !p->half && i < p->layout->n_tensors; i++) {
        const struct net_tensor *t = tensor(p, i);
        double most = 0, off = 0;
        for (size_t j = t->offset; j < t->offset + (size_t)t->rows_padded * (size_t)t->stride; j++) {
            double d = fabs(p->grads[j] - right[j]);
            most = fmax(most, fabs(right[j]));
            off = d <= off ? off : d; /* NaN stays */
        }
        CHECK(off <= TOLERANCE * (most + largest));
        if (!(off <= TOLERANCE * (most + largest)))
            fprintf(stderr, "  %s, %s: %.3g of %.3g, %.3g\n", p->c->name, t->name, off, most, largest);
    }
    return sqrt(apart / all);
}

static double try_case(struct try *t, struct nn_case *c, bool half)
{
    struct pass p = {.t = t,
                     .c = c,
                     .layout = &c->layout,
                     .half = half,
                     .rows = (size_t)c->rows,
                     .sequences = (size_t)(c->rows / c->steps)};
    const struct net_chain *chains = c->layout.chains;
    struct chain trunk, pi, vf;
    struct nn_outcome right;
    if (half) {
        c->clip_range = FAR;
        c->clip_range_vf = 0;
    }
    outcome_alloc(&right, c);
    CHECK(pass_f64(c, c->params, NULL, 1, &right));
    make(&p);
    struct kernel_matrix x =
        try_rows(t, p.rows, try_stride((uint32_t)c->shape.observation, NET_ROWS_UNIT), half);
    for (size_t row = 0; row < p.rows; row++)
        for (size_t i = 0; i < x.stride; i++) {
            size_t n = (size_t)c->shape.observation;
            try_set(&x, row, i, i < n ? (float)c->obs[their_row(&p, row) * n + i] : 0);
        }
    if (c->shape.shared) {
        forward(&p, NET_SHARED, x, &trunk);
        x = trunk.top;
    }
    forward(&p, NET_PI, x, &pi);
    forward(&p, NET_VF, x, &vf);
    struct kernel_matrix heads = head(&p, NET_PI, &pi.top), values = head(&p, NET_VF, &vf.top);
    struct kernel_loss loss = loss_of(&p, &heads, &values);
    TRY_RUN(t, ppo_launch_loss_sums(&loss, NULL); ppo_launch_loss_pull(&loss, NULL));

    double tolerance = half ? 0.05 : 1e-5;
    for (size_t row = 0; row < p.rows; row++) {
        double logp = right.logp[their_row(&p, row)];
        CHECK_NEAR(loss.logp[row], logp, tolerance * (1 + fabs(logp)));
    }
    if (!half) {
        CHECK_NEAR(loss.clock->policy, right.policy, 1e-5 * (1 + fabs(right.policy)));
        CHECK_NEAR(loss.clock->value, right.value, 1e-5 * (1 + fabs(right.value)));
        CHECK_NEAR(loss.clock->entropy, right.entropy, 1e-5 * (1 + fabs(right.entropy)));
        CHECK_NEAR(loss.clock->loss, right.loss, 1e-5 * (1 + fabs(right.loss)));
        CHECK_NEAR(loss.clock->kl, right.kl, 1e-5 * (1 + fabs(right.kl)));
        CHECK_NEAR(loss.clock->old_kl, right.old_kl, 1e-5 * (1 + fabs(right.old_kl)));
        CHECK_NEAR(loss.clock->clipped, right.clipped, 1.001 / (double)p.rows); /* one on the border */
    }

    /* Two heads upon one trunk pull together. */
    bool one = c->shape.shared, deeper = !one || trunk.top.at != trunk.x.at;
    struct kernel_matrix d_pi = try_rows(t, p.rows, pi.top.stride, half);
    struct kernel_matrix d_vf = one ? d_pi : try_rows(t, p.rows, vf.top.stride, half);
    bool under_pi = deeper && (one || chains[NET_PI].n_hidden > 0 || chains[NET_PI].has_recurrent);
    bool under_vf = deeper && (one || chains[NET_VF].n_hidden > 0 || chains[NET_VF].has_recurrent);
    product_back(&p, &pi.top, &loss.d_heads, chains[NET_PI].head.weight, under_pi ? &d_pi : NULL, false);
    product_back(&p, &vf.top, &loss.d_values, chains[NET_VF].head.weight, under_vf ? &d_vf : NULL, one);
    if (one && deeper)
        backward(&p, NET_SHARED, &trunk, d_pi);
    if (!one) {
        backward(&p, NET_PI, &pi, d_pi);
        backward(&p, NET_VF, &vf, d_vf);
    }
    TRY_RUN(t, ppo_launch_add_sums(&p.sums, NULL));
    double share = check_grads(&p, right.grads);
    outcome_free(&right);
    try_end(t);
    return share;
}

static void try_adam(struct try *t, size_t n)
{
    struct kernel_rates *rates = try_room(t, sizeof(*rates));
    *rates = (struct kernel_rates){1e-3, 0.2, 0};
    struct kernel_adam k = {.clock = try_zeros(t, sizeof(struct kernel_clock)),
                            .rates = rates,
                            .figures = try_zeros(t, sizeof(struct kernel_figures)),
                            .n_params = n,
                            .params = try_floats(t, n, -1, 1),
                            .m = try_zeros(t, n * sizeof(float)),
                            .v = try_zeros(t, n * sizeof(float)),
                            .partials = try_room(t, kernel_tiles(n, KERNEL_FLAT_TILE) * sizeof(double)),
                            .beta1 = 0.9,
                            .beta2 = 0.999,
                            .epsilon = 1e-5,
                            .max_grad_norm = 0.5,
                            .bad_updates = 1};
    float *params = try_room(t, n * sizeof(float)), *m = try_zeros(t, n * sizeof(float));
    float *v = try_zeros(t, n * sizeof(float)), *grads = try_floats(t, n, -1, 1);
    memcpy(params, k.params, n * sizeof(float));
    k.grads = grads;
    for (int step = 1; step <= 20; step++) {
        for (size_t i = 0; i < n; i++)
            grads[i] = (float)try_number(t, -1, 1) * (float)pow(0.7, step);
        const float *const theirs[] = {grads};
        double norm = sqrt(nn_grad_squares_f32(theirs, 1, 0, n)), off = 0;
        struct nn_adam adam = {.lr = 1e-3,
                               .beta1 = 0.9,
                               .beta2 = 0.999,
                               .epsilon = 1e-5,
                               .scale = fmin(1, 0.5 / (norm + 1e-6)),
                               .correction1 = 1 - pow(0.9, step),
                               .correction2 = 1 - pow(0.999, step)};
        double before = k.figures->grad_norm;
        TRY_RUN(t, ppo_launch_grad_squares(&k, NULL); ppo_launch_grad_step(&k, NULL);
                ppo_launch_adam(&k, NULL));
        nn_adam_f32(&adam, params, m, v, theirs, 1, 0, n);
        CHECK_NEAR(k.figures->grad_norm - before, norm, 1e-6 * norm);
        for (size_t i = 0; i < n; i++)
            off = fmax(off, fabs(k.params[i] - params[i]));
        CHECK_NEAR(off, 0, 1e-6);
    }
    try_end(t);
}

static int ascending(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

int main(void)
{
    struct try t = {.random = random_seeded("trainer/ppo/blocks_network", 20260205)};
    counts_of("cases", nn_n_cases, (nn_n_cases + EACH - 1) / EACH);
    for (int i = 0; i < nn_n_cases; i += EACH) {
        struct nn_case *c = &nn_cases[i];
        double shares[DRAWS], bound = c->shape.activation == NET_RELU ? TOLERANCE_HALF_RELU : TOLERANCE_HALF;
        const struct nn_case as_given = *c;
        const int draws = c->large ? LARGE_DRAWS : DRAWS;
        for (int draw = 0; draw < draws; draw++) {
            *c = as_given;
            case_draw(c, random_next(&t.random));
            try_case(&t, c, false);
            shares[draw] = try_case(&t, c, true);
            CHECK(isfinite(shares[draw]));
            case_free(c);
        }
        qsort(shares, (size_t)draws, sizeof(*shares), ascending);
        printf("  %-30s bfloat16 gradients off by %.2g\n", as_given.name, shares[draws / 2]);
        CHECK(shares[draws / 2] <= bound);
    }
    try_adam(&t, 16);
    try_adam(&t, 4112);
    return check_done("trainer/ppo/blocks_network");
}
