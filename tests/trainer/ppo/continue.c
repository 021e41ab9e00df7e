/* A learner that is saved and continues, and one that loads what was saved and continues, are the same to the
 * bit: with every option, one thread and two. Pieces that are missing or of other sizes are refused and
 * change nothing. */
#include <errno.h>

#include "tests/check.h"
#include "tests/trainer/ppo/script.h"
#include "trainer/ppo/learner.h"

static char err[PPO_ERROR_MAX];

/* Pieces in memory. */
struct stored_state {
    struct {
        char name[32];
        void *bytes;
        size_t n;
    } pieces[16];
    int n;
    int fails_at; /* the piece at which saving fails, from 1; 0: none */
};

static int put(void *ctx, const char *name, const void *bytes, size_t n)
{
    struct stored_state *saved = ctx;
    if (saved->n + 1 == saved->fails_at)
        return -ENOSPC;
    snprintf(saved->pieces[saved->n].name, sizeof saved->pieces[0].name, "%s", name);
    saved->pieces[saved->n].bytes = malloc(n ? n : 1);
    memcpy(saved->pieces[saved->n].bytes, bytes, n);
    saved->pieces[saved->n++].n = n;
    return 0;
}

static const void *get(void *ctx, const char *name, size_t *ret_n)
{
    const struct stored_state *saved = ctx;
    for (int i = 0; i < saved->n; i++)
        if (strcmp(saved->pieces[i].name, name) == 0) {
            *ret_n = saved->pieces[i].n;
            return saved->pieces[i].bytes;
        }
    *ret_n = 0;
    return NULL;
}

static void empty(struct stored_state *saved)
{
    for (int i = 0; i < saved->n; i++)
        free(saved->pieces[i].bytes);
    *saved = (struct stored_state){0};
}

static void save(struct learner *l, struct stored_state *ret)
{
    *ret = (struct stored_state){0};
    const struct ppo_sink sink = {ret, put};
    CHECK_INT(ppo_learner_save(l, &sink, err), 0);
}

static bool same(const struct stored_state *a, const struct stored_state *b)
{
    bool all = a->n == b->n;
    for (int i = 0; all && i < a->n; i++)
        all = strcmp(a->pieces[i].name, b->pieces[i].name) == 0 && a->pieces[i].n == b->pieces[i].n &&
              memcmp(a->pieces[i].bytes, b->pieces[i].bytes, a->pieces[i].n) == 0;
    return all;
}

static struct ppo_params small(void)
{
    struct ppo_params params;
    CHECK_INT(ppo_params_preset("default", &params, err), 0);
    params.net = (struct net_shape){.n_pi = 2, .pi = {9, 8}, .n_vf = 1, .vf = {11}, .activation = NET_TANH};
    params.copies = 6;
    params.steps = 16;
    params.minibatch = 32;
    params.epochs = 2;
    params.sequence = 8;
    params.learning_rate = 0.01;
    params.threads = 1;
    params.total_steps = 96 * 8;
    return params;
}

static struct learner *learner_of(const struct ppo_params *params, struct script *script)
{
    struct learner *l = NULL;
    *script = (struct script){
        .copies = params->copies, .actions = 2, .levels = script->levels, .lie_from = INT64_MAX};
    const struct ppo_world world = script_world(script);
    CHECK_INT(ppo_learner_create_cpu(params, &world, &l, err), 0);
    if (!l) {
        fprintf(stderr, "%s\n", err);
        exit(EXIT_FAILURE);
    }
    return l;
}

static void iterate(struct learner *l, int n, struct ppo_update *ret)
{
    for (int i = 0; i < n; i++)
        CHECK_INT(ppo_learner_iterate(l, ret, err), 0);
}

static bool same_figures(const struct ppo_update *a, const struct ppo_update *b)
{
    struct ppo_update x = *a, y = *b;
    x.seconds_rollout = x.seconds_advantage = x.seconds_update = 0;
    y.seconds_rollout = y.seconds_advantage = y.seconds_update = 0;
    return memcmp(&x, &y, sizeof x) == 0;
}

#ifdef __SANITIZE_THREAD__ /* with one there is nothing to find, with two less */
enum { THREADS_FEWEST = 3 };
#else
enum { THREADS_FEWEST = 1 };
#endif

static void test_continue(const char *what, struct ppo_params params, int levels)
{
    const bool wide = params.net.pi[0] >= 256;
    for (int threads = wide ? 2 : THREADS_FEWEST; threads <= (wide ? 2 : 3); threads++) {
        params.threads = threads;
        struct script first = {.levels = levels}, second = {.levels = levels};
        struct learner *a = learner_of(&params, &first), *b = learner_of(&params, &second);
        struct ppo_update figures[2];
        memset(figures, 0, sizeof figures);
        struct stored_state middle, end_a, end_b, again;
        iterate(a, 2, &figures[0]);
        save(a, &middle);
        iterate(a, 3, &figures[0]);
        save(a, &end_a);

        iterate(b, 1, &figures[1]); /* what it was before counts for nothing */
        const struct ppo_source source = {&middle, get};
        CHECK_INT(ppo_learner_load(b, &source, err), 0);
        save(b, &again);
        CHECK(same(&middle, &again));
        iterate(b, 3, &figures[1]);
        save(b, &end_b);
        unsigned long before = check_failures;
        CHECK(same(&end_a, &end_b));
        CHECK(same_figures(&figures[0], &figures[1]));
        CHECK(!same(&middle, &end_a) || check_failures > before);
        CHECK(figures[0].iteration == 5 && figures[0].steps == 5 * 96);
        if (check_failures > before)
            fprintf(stderr, "%s, %d threads\n", what, threads);
        empty(&middle);
        empty(&end_a);
        empty(&end_b);
        empty(&again);
        ppo_learner_destroy(a);
        ppo_learner_destroy(b);
    }
}

static void test_options(void)
{
    struct ppo_params p = small();
    test_continue("plain", p, 0);
    test_continue("discrete", p, 3);
    p.normalise_observations = p.normalise_rewards = p.normalise_advantages = false;
    test_continue("without normalisation", p, 0);
    p = small();
    p.target_kl = 1e-3;
    p.lr_schedule = PPO_EXPONENTIAL;
    test_continue("target_kl", p, 0);
    p = small();
    p.net.layer_norm = true;
    p.bounded = true;
    p.ent_coef = 0.05;
    p.clip_range_vf = 0.2;
    test_continue("layer_norm", p, 0);
    p.net.shared = true;
    p.net.activation = NET_SILU;
    test_continue("shared, layer_norm", p, 3);
    p = small();
    p.net.recurrent = 16;
    test_continue("recurrent", p, 0);
    test_continue("recurrent, discrete", p, 3);
    p.net.shared = true;
    p.net.layer_norm = true;
    test_continue("recurrent, shared", p, 0);
    p = small();
    p.net.pi[0] = p.net.pi[1] = 420; /* so wide that rollouts are divided, too */
    test_continue("wide", p, 0);
    p = small();
    p.minibatch = 1;
    p.normalise_advantages = false;
    test_continue("minibatches of one row", p, 0);
    p = small();
    p.minibatch = 20;
    test_continue("a remainder", p, 0);
}

static void test_refusals(void)
{
    const struct ppo_params params = small();
    struct script script = {0}, other = {0};
    struct learner *l = learner_of(&params, &script);
    struct ppo_params larger = params;
    larger.net.pi[0] = 20;
    struct learner *wide = learner_of(&larger, &other);
    struct ppo_update figures;
    iterate(l, 1, &figures);
    struct stored_state good, after, foreign;
    save(l, &good);
    save(wide, &foreign);
    const struct ppo_source from_wide = {&foreign, get};
    CHECK_INT(ppo_learner_load(l, &from_wide, err), -EINVAL);
    CHECK(strstr(err, "params") != NULL && strstr(err, "bytes") != NULL);
    CHECK_INT(good.n, 7);
    for (int i = 0; i < good.n; i++) {
        struct stored_state less = good;
        less.pieces[i].n++;
        const struct ppo_source source = {&less, get};
        err[0] = '\0';
        CHECK_INT(ppo_learner_load(l, &source, err), -EINVAL);
        CHECK(strncmp(err, good.pieces[i].name, strlen(good.pieces[i].name)) == 0);
        char sizes[64];
        snprintf(sizes, sizeof sizes, "%zu bytes: %zu are right", good.pieces[i].n + 1, good.pieces[i].n);
        CHECK(strstr(err, sizes) != NULL);
        less.pieces[i].name[0] = 'X';
        CHECK_INT(ppo_learner_load(l, &source, err), -EINVAL);
        CHECK(strstr(err, "missing") != NULL);
    }
    struct stored_state counters = good;
    for (int i = 0; i < counters.n; i++)
        if (strcmp(counters.pieces[i].name, "counters") == 0) {
            int64_t wrong[6] = {-1};
            counters.pieces[i].bytes = wrong;
            const struct ppo_source source = {&counters, get};
            CHECK_INT(ppo_learner_load(l, &source, err), -EINVAL);
            CHECK(strstr(err, "counters") != NULL);
        }
    save(l, &after);
    CHECK(same(&good, &after));
    for (int i = 1; i <= good.n; i++) {
        struct stored_state full = {.fails_at = i};
        const struct ppo_sink sink = {&full, put};
        CHECK_INT(ppo_learner_save(l, &sink, err), -ENOSPC);
        CHECK(strstr(err, good.pieces[i - 1].name) != NULL);
        empty(&full);
    }
    empty(&good);
    empty(&after);
    empty(&foreign);
    ppo_learner_destroy(wide);
    ppo_learner_destroy(l);
    ppo_learner_destroy(NULL);
}

int main(void)
{
    if (THREADS_FEWEST > 1)
        printf("counts: 3 threads (without TSan: 1 and 2 too)\n");
    test_options();
    test_refusals();
    return check_done("trainer/ppo/continue");
}
