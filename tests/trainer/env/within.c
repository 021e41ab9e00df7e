/* A market within blocks: no episode ever shows a row that lies in none, whatever is drawn, and all rows that
 * an episode can begin at are. */
#include "tests/check.h"
#include "tests/fatal.h"
#include "tests/random.h"
#include "trainer/env/internal.h"

#include <errno.h>

enum { ROWS = 400, COPIES = 33, STEPS = 2000, BLOCKS_MAX = 12, ROUNDS = 40 };

static char err[ENV_ERROR_MAX];

static struct env_market *make_market(const struct env_params *params, size_t first_row)
{
    double close[ROWS], volume[ROWS];
    float features[ROWS];
    struct env_market *market = NULL;
    for (size_t r = 0; r < ROWS; r++) {
        close[r] = 100 + (double)(r % 7);
        volume[r] = 1;
        features[r] = (float)r; /* the observation is the row's number */
    }
    const struct env_asset_source asset = {.name = "A", .close = close, .volume = volume};
    const struct env_market_source source = {.rows = ROWS,
                                             .n_assets = 1,
                                             .assets = &asset,
                                             .interval_ns = 60000000000,
                                             .features = features,
                                             .n_features = 1,
                                             .first_row = first_row};
    if (env_market_create(&source, params, &market, err) < 0)
        fatal("%s", err);
    return market;
}

static struct env_params make_params(int lookback, int64_t bars, bool random_start,
                                     enum env_autoreset autoreset)
{
    struct env_params params;
    if (env_params_preset("reference", &params, err) < 0)
        fatal("%s", err);
    params.lookback = lookback;
    params.episode_bars = bars;
    params.random_start = random_start;
    params.autoreset = autoreset;
    params.norm_tech = 1;
    return params;
}

static int draw_blocks(struct random *random, size_t first_row, struct env_block *ret)
{
    int n = (int)random_between(random, 1, BLOCKS_MAX);
    int32_t at = (int32_t)first_row;
    for (int i = 0; i < n; i++) {
        int32_t room = (ROWS - at) / (n - i);
        int32_t gap = (int32_t)random_between(random, 0, room / 3);
        int32_t length = (int32_t)random_between(random, 1, room - gap - 1 > 1 ? room - gap - 1 : 1);
        ret[i] = (struct env_block){at + gap, at + gap + length};
        at = ret[i].to; /* the next may follow at once: it is still another block */
    }
    return n;
}

static int block_of(const struct env_block *blocks, int n, int64_t row)
{
    for (int i = 0; i < n; i++)
        if (row >= blocks[i].from && row < blocks[i].to)
            return i;
    return -1;
}

/* Steps it with actions at random and looks at all rows that are seen: those of one observation, and of one
 * episode, lie in one block. */
static void walk(struct env *env, const struct env_params *params, const struct env_block *blocks, int n,
                 struct random *random, bool *seen_start)
{
    size_t lookback = (size_t)params->lookback, o = 2 + lookback, bad = 0;
    float *obs = fatal_calloc(COPIES * o, sizeof(float)), *last = fatal_calloc(COPIES * o, sizeof(float));
    float actions[COPIES], rewards[COPIES];
    uint8_t terminated[COPIES], truncated[COPIES];
    int in[COPIES];
    const struct env_io io = {.actions = actions,
                              .rewards = rewards,
                              .terminated = terminated,
                              .truncated = truncated,
                              .final_obs = params->autoreset == ENV_SAME_STEP ? last : NULL};
    for (size_t e = 0; e < COPIES; e++)
        in[e] = -2; /* an episode begins */
    for (int step = 0; step < STEPS; step++) {
        env_observe(env, obs);
        for (size_t e = 0; e < COPIES; e++) {
            int64_t newest = (int64_t)obs[e * o + 2], oldest = newest - params->lookback + 1;
            int block = block_of(blocks, n, newest);
            if (in[e] == -2 && oldest >= 0)
                seen_start[oldest] = true;
            bad += block < 0 || block_of(blocks, n, oldest) != block || (in[e] >= 0 && block != in[e]);
            for (size_t k = 0; k < lookback; k++)
                bad += obs[e * o + 2 + k] != (float)(newest - (int64_t)k);
            in[e] = block;
            actions[e] = (float)random_between(random, -50, 50);
        }
        if (env_step(env, &io, err) < 0)
            fatal("%s", err);
        for (size_t e = 0; e < COPIES; e++) {
            bool ends = terminated[e] || truncated[e];
            if (ends && params->autoreset == ENV_SAME_STEP)
                bad += block_of(blocks, n, (int64_t)last[e * o + 2]) != in[e];
            if (ends && params->autoreset == ENV_SAME_STEP)
                in[e] = -2;
        }
        if (params->autoreset == ENV_NEXT_STEP) { /* the ended episode's last observation is shown again */
            int32_t row[COPIES];
            env_info(env, &(struct env_info){.row = row});
            for (size_t e = 0; e < COPIES; e++)
                if (block_of(blocks, n, row[e]) < 0)
                    bad++;
            for (size_t e = 0; e < COPIES; e++)
                in[e] = -1;
        }
    }
    CHECK_INT(bad, 0);
    free(obs);
    free(last);
}

static void test_rows(struct random *random)
{
    for (int round = 0; round < ROUNDS; round++) {
        struct env_block blocks[BLOCKS_MAX];
        struct env_market *within = NULL;
        struct env *env = NULL;
        bool starts[ROWS] = {false}, drawn = random_chance(random, 60);
        size_t first_row = random_chance(random, 50) ? 0 : 30;
        int lookback = (int)random_between(random, 1, 4), n = draw_blocks(random, first_row, blocks);
        int64_t bars = drawn || random_chance(random, 50) ? random_between(random, 2 * lookback + 1, 15) : 0;
        enum env_autoreset autoreset = random_chance(random, 70) ? ENV_SAME_STEP : ENV_NEXT_STEP;
        const struct env_params params = make_params(lookback, bars, drawn, autoreset);
        const struct env_options options = {
            .copies = COPIES, .seed = random_next(random), .threads = round % 16 == 0 ? 2 : 1};
        struct env_market *market = make_market(&params, first_row);
        CHECK_INT(env_market_blocks(market, blocks, n, &within, err), 0);
        int64_t needed = bars ? bars : 2 * lookback + 1;
        size_t possible = 0, found = 0, wrong = 0;
        for (int i = 0; i < n; i++)
            possible += blocks[i].to - blocks[i].from >= needed
                            ? (drawn ? (size_t)(blocks[i].to - blocks[i].from - needed + 1) : 1)
                            : 0;
        int r = env_create(&params, within, &options, &env, err);
        CHECK_INT(r, possible > 0 ? 0 : -EINVAL);
        if (r == 0) {
            walk(env, &params, blocks, n, random, starts);
            for (int32_t row = 0; row < ROWS; row++) {
                int block = block_of(blocks, n, row);
                found += starts[row];
                wrong += starts[row] && (block < 0 || row + needed > blocks[block].to ||
                                         (!drawn && row != blocks[block].from));
            }
            CHECK_INT(wrong, 0);
            if (autoreset == ENV_SAME_STEP)
                CHECK_INT(found, possible);
            env_destroy(env);
        } else {
            CHECK(strstr(err, "no block of the market has room"));
        }
        env_market_destroy(within);
        env_market_destroy(market);
    }
}

/* Saved and loaded it continues; into another market's blocks it does not load. */
static void test_saved(struct random *random)
{
    const struct env_params params = make_params(2, 20, true, ENV_SAME_STEP);
    const struct env_block blocks[] = {{10, 60}, {100, 180}}, others[] = {{10, 60}, {100, 181}};
    const struct env_options options = {.copies = COPIES, .seed = 7};
    struct env_market *market = make_market(&params, 0), *within, *other;
    struct env *a, *b, *c;
    bool starts[ROWS];
    CHECK_INT(env_market_blocks(market, blocks, 2, &within, err), 0);
    CHECK_INT(env_market_blocks(market, others, 2, &other, err), 0);
    CHECK_INT(env_create(&params, within, &options, &a, err), 0);
    CHECK_INT(env_create(&params, within, &(struct env_options){.copies = COPIES, .seed = 8}, &b, err), 0);
    CHECK_INT(env_create(&params, other, &options, &c, err), 0);
    walk(a, &params, blocks, 2, random, starts);
    size_t n = env_state_bytes(a);
    char *state = fatal_calloc(2, n);
    env_save(a, state);
    CHECK_INT(env_load(b, state, err), 0);
    struct random same = *random;
    walk(a, &params, blocks, 2, random, starts);
    walk(b, &params, blocks, 2, &same, starts);
    env_save(a, state);
    env_save(b, state + n);
    CHECK(memcmp(state, state + n, n) == 0);
    CHECK_INT(env_load(c, state, err), -EINVAL);
    CHECK(strstr(err, "another market"));
    free(state);
    env_destroy(a);
    env_destroy(b);
    env_destroy(c);
    env_market_destroy(within);
    env_market_destroy(other);
    env_market_destroy(market);
}

static void test_refusals(void)
{
    struct env_params params = make_params(2, 20, true, ENV_SAME_STEP);
    struct env_market *market = make_market(&params, 30), *within = NULL;
    const struct env_options options = {.copies = COPIES};
    struct env *env = NULL;
    static const struct {
        struct env_block blocks[2];
        int n;
    } bad[] = {{{{30, 60}}, 0},  {{{29, 60}}, 1},           {{{30, 30}}, 1},           {{{40, 30}}, 1},
               {{{30, 401}}, 1}, {{{30, 60}, {59, 90}}, 2}, {{{60, 90}, {30, 60}}, 2}, {{{-5, 60}}, 1}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK_INT(env_market_blocks(market, bad[i].blocks, bad[i].n, &within, err), -EINVAL);
        CHECK(strstr(err, "block"));
    }
    const struct env_block blocks[] = {{30, 60}, {60, 90}};
    const int64_t starts[COPIES] = {0};
    CHECK_INT(env_market_blocks(market, blocks, 2, &within, err), 0);
    params.start = 30;
    CHECK_INT(env_create(&params, within, &options, &env, err), -EINVAL);
    CHECK(strstr(err, "start: 30"));
    params.start = 0;
    params.episode_bars = 31;
    CHECK_INT(env_create(&params, within, &options, &env, err), -EINVAL);
    params.episode_bars = 0; /* of drawn starts: a quarter of a block */
    CHECK_INT(env_create(&params, within, &options, &env, err), 0);
    CHECK_INT(env->view.params.episode_bars, 7);
    env_destroy(env);
    params.episode_bars = 30;
    CHECK_INT(env_create(&params, within, &options, &env, err), 0);
    CHECK_INT(env_windows(env, starts, NULL, err), -EINVAL);
    CHECK(strstr(err, "blocks"));
    env_destroy(env);
    env_market_destroy(within);
    env_market_destroy(market);
}

int main(void)
{
    struct random random = random_seeded("within", 20261122);
    test_rows(&random);
    test_saved(&random);
    test_refusals();
    return check_done("within");
}
