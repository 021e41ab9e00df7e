/* What the rollout computed step by step the first minibatch computes again in one piece: with one minibatch
 * of all rows, and before any step of Adam, ratios are 1, kl is 0 and values are the old ones. With a
 * recurrent layer that holds only if the state at each sequence's beginning was kept and episodes begin
 * where they did. Then advantages by hand, and values of observations at truncations. */
#include "tests/check.h"
#include "tests/trainer/ppo/script.h"
#include "trainer/ppo/cpu/internal.h"

static char err[PPO_ERROR_MAX];

static struct cpu_learner *learner_of(struct ppo_params *params, struct script *script)
{
    struct learner *l = NULL;
    script->copies = params->copies;
    script->lie_from = INT64_MAX;
    const struct ppo_world world = script_world(script);
    CHECK_INT(ppo_learner_create_cpu(params, &world, &l, err), 0);
    if (!l) {
        fprintf(stderr, "%s\n", err);
        exit(EXIT_FAILURE);
    }
    return (struct cpu_learner *)l;
}

static struct ppo_params whole(void)
{
    struct ppo_params params;
    CHECK_INT(ppo_params_preset("default", &params, err), 0);
    params.net = (struct net_shape){.n_pi = 2, .pi = {19, 33}, .n_vf = 1, .vf = {20}, .activation = NET_TANH};
    params.policy_gain = 1;
    params.copies = 6;
    params.steps = 24;
    params.sequence = 8;
    params.minibatch = 6 * 24;
    params.epochs = 1;
    params.learning_rate = 0.01;
    params.max_grad_norm = 0;
    return params;
}

#ifdef __SANITIZE_THREAD__ /* with one there is nothing to find */
enum { THREADS_FEWEST = 2 };
#else
enum { THREADS_FEWEST = 1 };
#endif

static void test_first(const char *what, struct ppo_params params, int levels)
{
    const unsigned long before = check_failures;
    for (int threads = THREADS_FEWEST; threads <= 2; threads++) {
        struct script script = {.actions = 2, .levels = levels};
        params.threads = threads;
        struct cpu_learner *l = learner_of(&params, &script);
        CHECK_INT(l->rollout_threads, params.net.pi[0] < 256 ? 1 : threads);
        double furthest = 0;
        for (int i = 0; i < 3; i++) {
            struct ppo_update figures;
            CHECK_INT(ppo_learner_iterate(&l->learner, &figures, err), 0);
            double squares = 0;
            for (size_t row = 0; row < l->rows; row++)
                squares += (double)l->advantages[row] * l->advantages[row] / (double)l->rows;
            CHECK_NEAR(figures.old_kl, 0, 1e-6);
            CHECK_NEAR(figures.kl, 0, 1e-10); /* about the mean square of log ratios */
            CHECK(figures.clip_fraction == 0);
            CHECK_NEAR(figures.value_loss, squares, 1e-5 * squares);
            CHECK_NEAR(figures.policy_loss, 0, 1e-5); /* -mean of normalised advantages */
            furthest = fmax(furthest, sqrt(2 * figures.kl));
        }
        printf("%s, %d threads: log ratios' root mean square %.2g\n", what, threads, furthest);
        ppo_learner_destroy(&l->learner);
    }
    if (check_failures > before)
        fprintf(stderr, "%s\n", what);
}

static void test_options(void)
{
    struct ppo_params p = whole();
    test_first("continuous", p, 0);
    test_first("discrete", p, 4);
    p.net.layer_norm = true;
    p.net.activation = NET_SILU;
    test_first("layer_norm", p, 0);
    p.net.shared = true;
    test_first("shared", p, 4);
    /* So wide that rollouts are divided, too. */
    p = whole();
    p.net.pi[0] = p.net.pi[1] = 420;
    test_first("wide", p, 0);
    p.net.recurrent = 32;
    test_first("wide, recurrent", p, 0);
    p = whole();
    p.net.recurrent = 16;
    test_first("recurrent", p, 0);
    test_first("recurrent, discrete", p, 4);
    p.sequence = 1;
    test_first("sequences of one step", p, 0);
    p.sequence = 24;
    test_first("sequences of the whole rollout", p, 0);
    p.sequence = 4;
    p.net.shared = p.net.layer_norm = true;
    test_first("recurrent, shared", p, 0);
}

/* Two copies, four steps: copy 0 terminates after its second, copy 1 is cut short after its third. */
static void test_by_hand(void)
{
    struct ppo_params p = whole();
    struct script script = {.actions = 2};
    p.copies = 2;
    p.steps = 4;
    p.minibatch = 8;
    p.gamma = 0.5;
    p.gae_lambda = 0.5;
    struct cpu_learner *l = learner_of(&p, &script);
    static const float rewards[] = {1, 2, 3, 4, 5, 6, 7, 8}, values[] = {10, 20, 30, 40, 50, 60, 70, 80};
    static const uint8_t ends[] = {0, 0, 1, 0, 0, 1, 0, 0};
    memcpy(l->rewards, rewards, sizeof rewards);
    memcpy(l->values, values, sizeof values);
    memcpy(l->ends, ends, sizeof ends);
    memset(l->bootstrap, 0, 8 * sizeof *l->bootstrap);
    l->bootstrap[5] = 100;
    l->last_values[0] = 4;
    l->last_values[1] = 8;
    ppo_cpu_look_back(l);
    static const double advantages[] = {
        /* delta = r + V'/2 - V; A = delta + A'/4 */
        1 + 15 - 10 + (3 - 30) / 4.0,                /* copy 0: then the end: 3 - 30 */
        2 + 20 - 20 + (4 + 30 - 40 - 4 / 4.0) / 4.0, /* copy 1: its third step: 6 + 50 - 60 = -4 */
        3 - 30,
        4 + 30 - 40 - 4 / 4.0,
        5 + 35 - 50 + (7 + 2 - 70) / 4.0, /* copy 0's next episode */
        6 + 0.5 * 100 - 60,               /* cut short: the final observation's value counts */
        7 + 2 - 70,
        8 + 4 - 80,
    };
    for (int row = 0; row < 8; row++) {
        CHECK_NEAR(l->advantages[row], advantages[row], 0);
        CHECK_NEAR(l->returns[row], advantages[row] + values[row], 0);
    }
    ppo_learner_destroy(&l->learner);
}

/* The bootstrap of each row that was cut short is the value of its final observation, of no other. */
static void test_truncation(int recurrent)
{
    static struct script_step log[4 * 6 * 24];
    struct ppo_params p = whole();
    struct script script = {.actions = 2, .log = log, .log_room = sizeof log / sizeof *log};
    p.net.recurrent = recurrent;
    p.normalise_observations = false;
    struct cpu_learner *l = learner_of(&p, &script);
    float *params = malloc(l->learner.layout.n_params * sizeof *params);
    memcpy(params, l->params, l->learner.layout.n_params * sizeof *params); /* the rollout's */
    struct ppo_update figures;
    CHECK_INT(ppo_learner_iterate(&l->learner, &figures, err), 0);
    struct nn_work_f32 *work;
    CHECK_INT(nn_work_create_f32(&l->learner.layout, 32, false, &work), 0);
    int cut = 0, ended = 0;
    for (size_t row = 0; row < l->rows; row++) {
        CHECK_INT(l->ends[row], log[row].truncated || log[row].terminated);
        ended += log[row].terminated;
        if (!log[row].truncated) {
            CHECK(l->bootstrap[row] == 0);
            continue;
        }
        cut++;
        /* The episode from its beginning, and the final observation behind it. */
        float obs[32][SCRIPT_OBS], values[32];
        size_t first = row, n = 0;
        while (first >= l->copies && !l->ends[first - l->copies])
            first -= l->copies;
        for (; first <= row; first += l->copies)
            memcpy(obs[n++], log[first].obs, sizeof obs[0]);
        memcpy(obs[n++], log[row].final_obs, sizeof obs[0]);
        const struct nn_rows_f32 rows = {.rows = n, .obs = obs[0], .steps = n};
        nn_forward_f32(work, params, &rows, NULL, values, NULL);
        CHECK_NEAR(l->bootstrap[row], values[n - 1], 1e-5);
    }
    CHECK(cut > 5 && ended > 5);
    nn_work_destroy_f32(work);
    free(params);
    ppo_learner_destroy(&l->learner);
}

int main(void)
{
    if (THREADS_FEWEST > 1)
        printf("counts: 2 threads (without TSan: 1 too)\n");
    test_options();
    test_by_hand();
    test_truncation(0);
    test_truncation(16);
    return check_done("trainer/ppo/recompute");
}
