/* The kernels of layers against plain loops in float64: activations, layer normalisation, minGRU, their
 * gradients and these' sums. Widths and rows that fill nothing. */
#include "tests/trainer/ppo/blocks_try.h"

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

static double activate(enum kernel_activation a, double x)
{
    return a == KERNEL_TANH ? tanh(x) : a == KERNEL_RELU ? fmax(x, 0) : a == KERNEL_SILU ? x * sigmoid(x) : x;
}

static double slope(enum kernel_activation a, double x)
{
    double s = sigmoid(x), y = tanh(x);
    return a == KERNEL_TANH   ? 1 - y * y
           : a == KERNEL_RELU ? x > 0
           : a == KERNEL_SILU ? s + x * s * (1 - s)
                              : 1;
}

/* A row in float64: what the layer makes of it, and with dy what goes back. */
struct plain_row {
    double *normal, *pre; /* normalised, and what the activation is given */
    double mean, inverse;
};

static void plain_forward(const struct kernel_layer *k, const struct kernel_matrix *x, size_t row,
                          struct plain_row *r)
{
    double sum = 0, squares = 0;
    for (uint32_t c = 0; c < k->cols; c++)
        sum += r->pre[c] = (double)try_at(x, row, c) + (k->bias ? k->bias[c] : 0);
    r->mean = sum / k->cols;
    for (uint32_t c = 0; c < k->cols; c++)
        squares += (r->pre[c] - r->mean) * (r->pre[c] - r->mean);
    r->inverse = 1 / sqrt(squares / k->cols + 1e-5);
    for (uint32_t c = 0; k->norm_weight && c < k->cols; c++) {
        r->normal[c] = (r->pre[c] - r->mean) * r->inverse;
        r->pre[c] = r->normal[c] * k->norm_weight[c] + k->norm_bias[c];
    }
}

static void check_forward(const struct kernel_layer *k, const struct kernel_matrix *x, bool half)
{
    struct plain_row r = {calloc(k->cols, sizeof(double)), calloc(k->cols, sizeof(double)), 0, 0};
    size_t wrong = 0;
    for (size_t row = 0; row < k->rows; row++) {
        plain_forward(k, x, row, &r);
        for (uint32_t c = 0; c < k->y.stride; c++) {
            double right = c < k->cols ? activate(k->activation, r.pre[c]) : 0, y = try_at(&k->y, row, c);
            wrong += !(fabs(y - right) <= (c < k->cols ? try_tolerance(half, right, 1) : 0));
        }
        if (k->norm_weight) {
            CHECK_NEAR(k->norm_stats[row * 2], r.mean, 1e-5);
            CHECK_NEAR(k->norm_stats[row * 2 + 1], r.inverse, 1e-4 * r.inverse);
        }
    }
    CHECK_INT(wrong, 0);
    free(r.normal);
    free(r.pre);
}

static void check_sums(const float *sums, uint32_t tiles, uint32_t stride, uint32_t cols, const double *right,
                       const double *size)
{
    size_t wrong = 0;
    for (uint32_t c = 0; c < stride; c++) {
        double sum = 0;
        for (uint32_t tile = 0; tile < tiles; tile++)
            sum += sums[(size_t)tile * stride + c];
        wrong += c < cols ? !(fabs(sum - right[c]) <= 1e-6 + 1e-5 * size[c]) : !(sum == 0);
    }
    CHECK_INT(wrong, 0);
}

static void check_back(const struct kernel_layer *k, const struct kernel_matrix *x,
                       const struct kernel_matrix *dy, bool half)
{
    struct plain_row r = {calloc(k->cols, sizeof(double)), calloc(k->cols, sizeof(double)), 0, 0};
    double *sums = calloc((size_t)6 * k->cols, sizeof(double)), *g = calloc(k->cols, sizeof(double));
    uint32_t tiles = kernel_tiles(k->rows, KERNEL_SUM_TILE), n = k->cols;
    /* bfloat16 outputs, by which tanh's slope 1 - y^2 is known, are off by 2^-9: so is dx by a share of dy.
     */
    double share = half && k->activation == KERNEL_TANH && !k->norm_weight ? 5e3 : 1;
    size_t wrong = 0;
    for (size_t row = 0; row < k->rows; row++) {
        double pull = 0, normals = 0;
        plain_forward(k, x, row, &r);
        for (uint32_t c = 0; c < n; c++) {
            double w = k->norm_weight ? k->norm_weight[c] : 1;
            g[c] = try_at(dy, row, c) * slope(k->activation, r.pre[c]);
            pull += g[c] * w / n;
            normals += g[c] * w * r.normal[c] / n;
        }
        for (uint32_t c = 0; c < k->dx.stride; c++) {
            double d = 0;
            if (c < n)
                d = k->norm_weight ? r.inverse * (g[c] * k->norm_weight[c] - pull - r.normal[c] * normals)
                                   : g[c];
            wrong += !(fabs(try_at(&k->dx, row, c) - d) <= (c < n ? try_tolerance(half, d, 2 * share) : 0));
            if (c >= n)
                continue;
            double parts[3] = {d, g[c] * r.normal[c], g[c]};
            for (int s = 0; s < 3; s++) {
                sums[(size_t)s * n + c] += parts[s];
                sums[(size_t)(3 + s) * n + c] += fabs(parts[s]) + fabs((double)try_at(dy, row, c)) * share;
            }
        }
    }
    CHECK_INT(wrong, 0);
    check_sums(k->bias_sums, tiles, k->dy.stride, n, sums, sums + (size_t)3 * n);
    if (k->norm_weight) {
        check_sums(k->norm_weight_sums, tiles, k->dy.stride, n, sums + n, sums + (size_t)4 * n);
        check_sums(k->norm_bias_sums, tiles, k->dy.stride, n, sums + (size_t)2 * n, sums + (size_t)5 * n);
    }
    free(r.normal);
    free(r.pre);
    free(sums);
    free(g);
}

static void try_layer(struct try *t, uint32_t rows, uint32_t cols, enum kernel_activation activation,
                      bool norm, bool half, bool bias)
{
    uint32_t stride = try_stride(cols, 16), tiles = kernel_tiles(rows, KERNEL_SUM_TILE);
    struct kernel_matrix x = try_random_rows(t, rows, cols, stride, half, -3, 3);
    struct kernel_matrix dy = try_random_rows(t, rows, cols, stride, half, -1, 1);
    struct kernel_layer k = {.rows = rows,
                             .cols = cols,
                             .activation = activation,
                             .x = x,
                             .y = try_rows(t, rows, stride, half),
                             .dy = dy,
                             .dx = try_rows(t, rows, stride, half)};
    size_t sums = (size_t)tiles * stride * sizeof(float);
    if (bias)
        k.bias = try_floats(t, cols, -1, 1);
    k.bias_sums = try_room(t, sums);
    if (norm) {
        k.norm_weight = try_floats(t, cols, 0.5, 1.5);
        k.norm_bias = try_floats(t, cols, -1, 1);
        k.norm_stats = try_room(t, (size_t)rows * 2 * sizeof(float));
        k.norm_pulls = try_room(t, (size_t)rows * 2 * sizeof(float));
        k.norm_weight_sums = try_room(t, sums);
        k.norm_bias_sums = try_room(t, sums);
    }
    TRY_RUN(t, ppo_launch_activate(&k, NULL));
    check_forward(&k, &x, half);
    TRY_RUN(t, ppo_launch_pull_back(&k, NULL));
    check_back(&k, &x, &dy, half);

    /* In place, as a trainer has it: the same bits. */
    struct kernel_layer in_place = k;
    size_t bytes = kernel_matrix_bytes(rows, stride, half);
    in_place.dx = in_place.dy = (struct kernel_matrix){try_room(t, bytes), stride, half};
    if (bytes > 0)
        memcpy(in_place.dy.at, dy.at, bytes);
    TRY_RUN(t, ppo_launch_pull_back(&in_place, NULL));
    CHECK(bytes == 0 || memcmp(in_place.dx.at, k.dx.at, bytes) == 0);
    if (!norm && activation != KERNEL_SILU) {
        in_place.x = in_place.y = (struct kernel_matrix){try_room(t, bytes), stride, half};
        if (bytes > 0)
            memcpy(in_place.x.at, x.at, bytes);
        TRY_RUN(t, ppo_launch_activate(&in_place, NULL));
        CHECK(bytes == 0 || memcmp(in_place.y.at, k.y.at, bytes) == 0);
    }

    /* Sums alone. */
    struct kernel_layer alone = {.rows = rows, .cols = cols, .activation = KERNEL_IDENTITY, .dy = dy};
    alone.bias_sums = try_room(t, sums);
    TRY_RUN(t, ppo_launch_pull_back(&alone, NULL));
    double *right = calloc((size_t)2 * cols, sizeof(double));
    for (size_t row = 0; row < rows; row++)
        for (uint32_t c = 0; c < cols; c++) {
            right[c] += try_at(&dy, row, c);
            right[cols + c] += fabs((double)try_at(&dy, row, c));
        }
    check_sums(alone.bias_sums, tiles, stride, cols, right, right + cols);
    free(right);
    try_end(t);
}

/* ---- minGRU ---- */

/* Forward and back in float64 along one sequence and unit; dx as the gradient of sum(dy * y). */
static void plain_scan(const struct kernel_scan *k, uint32_t sequence, uint32_t unit, double h, double *ret_y,
                       double *ret_dz, double *ret_dc)
{
    double before[64], z[64], c[64], carried = 0;
    for (uint32_t step = 0; step < k->steps; step++) {
        size_t row = (size_t)step * k->sequences + sequence;
        z[step] = sigmoid((double)try_at(&k->x, row, unit) + (k->bias ? k->bias[unit] : 0));
        c[step] = (double)try_at(&k->x, row, k->units + unit) + (k->bias ? k->bias[k->units + unit] : 0);
        if (k->starts && k->starts[row])
            h = 0;
        before[step] = h;
        h = ret_y[step] = (1 - z[step]) * h + z[step] * c[step];
    }
    for (uint32_t step = k->steps; step-- > 0;) {
        size_t row = (size_t)step * k->sequences + sequence;
        double pull = try_at(&k->dy, row, unit) + carried;
        ret_dz[step] = pull * (c[step] - before[step]) * z[step] * (1 - z[step]);
        ret_dc[step] = pull * z[step];
        carried = k->starts && k->starts[row] ? 0 : pull * (1 - z[step]);
    }
}

static void try_scan(struct try *t, uint32_t sequences, uint32_t steps, uint32_t units, bool half)
{
    uint32_t stride = try_stride(units, 8) + 8, wide = 2 * units + 8, keep_every = 2;
    size_t rows = (size_t)sequences * steps;
    struct kernel_scan k = {.sequences = sequences,
                            .steps = steps,
                            .units = units,
                            .x = try_random_rows(t, rows, 2 * units, wide, half, -2, 2),
                            .bias = try_floats(t, 2 * units, -1, 1),
                            .before = try_floats(t, (size_t)sequences * (units + 3), -1, 1),
                            .before_stride = units + 3,
                            .y = try_rows(t, rows, stride, half),
                            .after = try_room(t, (size_t)sequences * (units + 3) * sizeof(float)),
                            .keep_every = keep_every,
                            .keep_stride = units + 1,
                            .dy = try_random_rows(t, rows, units, stride, half, -1, 1),
                            .dx = try_rows(t, rows, wide, half)};
    size_t keeps = (size_t)((steps + keep_every - 1) / keep_every) * sequences * (units + 1);
    uint8_t *starts = try_room(t, rows);
    for (size_t i = 0; i < rows; i++)
        starts[i] = random_chance(&t->random, 30);
    k.starts = starts;
    k.keep = try_room(t, keeps * sizeof(float));
    TRY_RUN(t, ppo_launch_scan(&k, NULL));
    TRY_RUN(t, ppo_launch_scan_back(&k, NULL));
    size_t wrong = 0;
    for (uint32_t s = 0; s < sequences; s++)
        for (uint32_t u = 0; u < units; u++) {
            double y[64], dz[64], dc[64], h = k.before[(size_t)s * (units + 3) + u];
            plain_scan(&k, s, u, h, y, dz, dc);
            for (uint32_t step = 0; step < steps; step++) {
                size_t row = (size_t)step * sequences + s;
                double size = half ? 5e3 : 3; /* back by states that were rounded */
                if (step % keep_every == 0) {
                    float kept = k.keep[((size_t)step / keep_every * sequences + s) * (units + 1) + u];
                    wrong += !(fabs(kept - (step > 0 ? y[step - 1] : h)) <= 1e-5);
                }
                wrong += !(fabs(try_at(&k.y, row, u) - y[step]) <= try_tolerance(half, y[step], 2));
                wrong += !(fabs(try_at(&k.dx, row, u) - dz[step]) <= try_tolerance(half, dz[step], size));
                wrong +=
                    !(fabs(try_at(&k.dx, row, units + u) - dc[step]) <= try_tolerance(half, dc[step], size));
                for (uint32_t c = units; c < stride; c++)
                    wrong += !(try_at(&k.y, row, c) == 0);
                for (uint32_t c = 2 * units; c < wide; c++)
                    wrong += !(try_at(&k.dx, row, c) == 0);
            }
            wrong += !(fabs(k.after[(size_t)s * (units + 3) + u] - y[steps - 1]) <= 1e-5);
        }
    CHECK_INT(wrong, 0);

    /* A step at a time with the clock, the state in place, is the same bits. */
    struct kernel_clock *clock = try_zeros(t, sizeof(*clock));
    struct kernel_scan one = k;
    one.steps = 1;
    one.clock = clock;
    one.after = try_room(t, (size_t)sequences * (units + 3) * sizeof(float));
    one.keep = try_room(t, keeps * sizeof(float));
    if (sequences > 0)
        memcpy(one.after, k.before, (size_t)sequences * (units + 3) * sizeof(float));
    one.before = one.after;
    one.y = try_rows(t, sequences, stride, half);
    for (uint32_t step = 0; step < steps; step++) {
        size_t bytes = kernel_matrix_bytes(sequences, stride, half);
        one.x.at = (char *)k.x.at + step * kernel_matrix_bytes(sequences, wide, half);
        TRY_RUN(t, ppo_launch_scan(&one, NULL));
        CHECK(bytes == 0 || memcmp(one.y.at, (char *)k.y.at + step * bytes, bytes) == 0);
        clock->step++;
    }
    CHECK_INT(clock->step, steps);
    CHECK(keeps == 0 || memcmp(one.keep, k.keep, keeps * sizeof(float)) == 0);

    /* Final observations continue rows of a scan. */
    struct kernel_scan last = {.sequences = 7,
                               .steps = 1,
                               .units = units,
                               .x = try_random_rows(t, 7, 2 * units, wide, half, -2, 2),
                               .from = k.y,
                               .y = try_rows(t, 7, stride, half)};
    uint32_t *from = try_room(t, 7 * sizeof(*from));
    for (int i = 0; i < 7; i++)
        from[i] = (uint32_t)random_between(&t->random, 0, (int64_t)rows - (rows > 0));
    last.from_rows = from;
    if (rows > 0) {
        TRY_RUN(t, ppo_launch_scan(&last, NULL));
        for (size_t i = 0; i < 7; i++)
            for (uint32_t u = 0; u < units; u++) {
                double z = sigmoid(try_at(&last.x, i, u)), c = try_at(&last.x, i, units + u);
                double y = (1 - z) * try_at(&k.y, from[i], u) + z * c;
                CHECK_NEAR(try_at(&last.y, i, u), y, try_tolerance(half, y, 2));
            }
    }
    try_end(t);
}

int main(void)
{
    struct try t = {.random = random_seeded("trainer/ppo/blocks_layers", 20260201)};
    static const uint32_t rows[] = {0, 1, 31, 32, 33, 65, 130}, widths[] = {1, 5, 36, 64, 350, 2048};
    static const enum kernel_activation activations[] = {KERNEL_TANH, KERNEL_RELU, KERNEL_SILU};
    for (size_t w = 0; w < sizeof(widths) / sizeof(*widths); w++)
        for (size_t r = 0; r < sizeof(rows) / sizeof(*rows); r++)
            for (int a = 0; a < 3; a++)
                for (int kind = 0; kind < 4; kind++)
                    if (widths[w] < 2048 || r == 4)
                        try_layer(&t, rows[r], widths[w], activations[a], kind & 1, kind & 2,
                                  (a + (int)r) % 2 == 0);
    for (int half = 0; half < 2; half++) {
        try_scan(&t, 1, 1, 16, half);
        try_scan(&t, 33, 8, 16, half);
        try_scan(&t, 5, 64, 48, half);
        try_scan(&t, 0, 3, 16, half);
    }
    return check_done("trainer/ppo/blocks_layers");
}
