/* A small market to learn in, on the host and on a device, for tests of the learner there. */
#ifndef TESTS_TRAINER_PPO_DEVICE_PLACE_H
#define TESTS_TRAINER_PPO_DEVICE_PLACE_H

#include "exchange/symbol.h"
#include "tests/check.h"
#include "tests/random.h"
#include "trainer/ppo/device.h"

enum { PLACE_ASSETS = 2, PLACE_ROWS = 400 };

static inline double place_uniform(struct random *random, double low, double high)
{
    return low + (high - low) * (double)(random_next(random) >> 11) * 0x1p-53;
}

static inline void *place_room(size_t n, size_t each)
{
    void *p = calloc(n ? n : 1, each);
    if (!p) {
        fprintf(stderr, "out of memory\n");
        exit(EXIT_FAILURE);
    }
    return p;
}

/* Episodes of `bars` rows: of bars - 2 lookback steps. */
static inline struct env_params place_params(bool discrete, int bars)
{
    struct env_params p;
    char err[ENV_ERROR_MAX] = "";
    CHECK_INT(env_params_preset("reference", &p, err), 0);
    p.actions = discrete ? ENV_DISCRETE : ENV_CONTINUOUS;
    p.levels = 5;
    p.action_span = 1;
    p.autoreset = ENV_SAME_STEP;
    p.lookback = 3;
    p.episode_bars = bars;
    p.random_start = true;
    p.ruin = 0.985; /* some end by themselves */
    return p;
}

static inline struct env_market *place_market(struct random *random, const struct env_params *params)
{
    static const char *const names[PLACE_ASSETS] = {"AUSDT", "BUSDT"};
    static double columns[PLACE_ASSETS][5][PLACE_ROWS];
    struct env_asset_source assets[PLACE_ASSETS];
    for (int i = 0; i < PLACE_ASSETS; i++) {
        double price = place_uniform(random, 50, 200);
        for (int row = 0; row < PLACE_ROWS; row++) {
            double close = price * (1 + place_uniform(random, -0.02, 0.0203));
            columns[i][0][row] = price;
            columns[i][1][row] = fmax(price, close);
            columns[i][2][row] = fmin(price, close);
            columns[i][3][row] = close;
            columns[i][4][row] = place_uniform(random, 1, 100);
            price = close;
        }
        assets[i] = (struct env_asset_source){.name = names[i],
                                              .min_order_qty = 0.0001,
                                              .open = columns[i][0],
                                              .high = columns[i][1],
                                              .low = columns[i][2],
                                              .close = columns[i][3],
                                              .volume = columns[i][4]};
    }
    struct env_market_source source = {.rows = PLACE_ROWS,
                                       .n_assets = PLACE_ASSETS,
                                       .assets = assets,
                                       .start_ns = 1700000000LL * 1000000000,
                                       .interval_ns = 300LL * 1000000000};
    struct env_market *market = NULL;
    char err[ENV_ERROR_MAX] = "";
    CHECK_INT(env_market_create(&source, params, &market, err), 0);
    CHECK_STR(err, "");
    return market;
}

static inline struct ppo_params place_ppo(int copies, int steps, int minibatch)
{
    struct ppo_params p;
    char err[PPO_ERROR_MAX] = "";
    CHECK_INT(ppo_params_preset("default", &p, err), 0);
    p.copies = copies;
    p.steps = steps;
    p.minibatch = minibatch;
    p.epochs = 2;
    p.seed = 7;
    p.precision = PPO_FLOAT32;
    p.total_steps = 40 * (int64_t)copies * steps;
    p.threads = 1;
    p.normalise_observations = p.normalise_rewards = true;
    p.net.n_pi = p.net.n_vf = 2;
    p.net.pi[0] = 37;
    p.net.pi[1] = 24;
    p.net.vf[0] = 20;
    p.net.vf[1] = 13;
    return p;
}

/* A learner's pieces as a checkpoint has them. */
enum { PLACE_PIECES = 16 };
struct place_pieces {
    int n;
    char names[PLACE_PIECES][32];
    void *at[PLACE_PIECES];
    size_t bytes[PLACE_PIECES];
};

static inline int place_keep(void *ctx, const char *name, const void *bytes, size_t n)
{
    struct place_pieces *p = ctx;
    if (p->n == PLACE_PIECES)
        return -7; /* E2BIG */
    snprintf(p->names[p->n], sizeof(p->names[0]), "%s", name);
    p->at[p->n] = place_room(n, 1);
    memcpy(p->at[p->n], bytes, n);
    p->bytes[p->n++] = n;
    return 0;
}

static inline const void *place_give(void *ctx, const char *name, size_t *ret_n)
{
    const struct place_pieces *p = ctx;
    *ret_n = 0;
    for (int i = 0; i < p->n; i++)
        if (strcmp(p->names[i], name) == 0) {
            *ret_n = p->bytes[i];
            return p->at[i];
        }
    return NULL;
}

static inline void place_save(struct learner *l, struct place_pieces *ret)
{
    char err[PPO_ERROR_MAX] = "";
    *ret = (struct place_pieces){0};
    CHECK_INT(ppo_learner_save(l, &(struct ppo_sink){ret, place_keep}, err), 0);
    CHECK_STR(err, "");
}

static inline void place_load(struct learner *l, struct place_pieces *from)
{
    char err[PPO_ERROR_MAX] = "";
    CHECK_INT(ppo_learner_load(l, &(struct ppo_source){from, place_give}, err), 0);
    CHECK_STR(err, "");
}

static inline void place_drop(struct place_pieces *p)
{
    for (int i = 0; i < p->n; i++)
        free(p->at[i]);
    p->n = 0;
}

#endif
