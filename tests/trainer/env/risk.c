/* The penalties on risk, as docs/environment.md specifies them: two environments take the same steps, one
 * with the penalties, one without. The accounts are the same; each reward lacks what a computation in float64
 * from the reported equities alone gives, discounted sums included; and what an episode lacks in all is its
 * largest drawdown and its squared returns. Every backend, execution and task. */
#include "tests/check.h"
#include "tests/trainer/env/walks.h"

enum { COPIES = 19, ROWS = 600, STEPS = 150, ROUNDS = 3, ROUNDS_LONG = 60 };

static const double EPS = 0x1p-23, FLOOR = 0x1p-126;

static struct {
    long steps, deeper, moved, episodes, finals;
} seen;

/* One environment's last step and its outputs. */
struct side {
    struct env *env;
    struct env_market *market;
    float rewards[COPIES];
    uint8_t terminated[COPIES], truncated[COPIES];
    double equity[COPIES], cash[COPIES], fees[COPIES], drawdown[COPIES];
    double last_equity[COPIES], last_reward[COPIES], last_drawdown[COPIES];
};

/* A copy's episode, computed again. `off` is what rounding to float32 may come to, of a step's cost and of
 * the discounted sum; `rewards` the sum of all absolute ones, of both environments. */
struct episode {
    double capital, before, peak, deepest, squares, discounted, off, off_discounted, rewards;
    bool over;
};

static bool side_open(struct side *side, const struct walks *walks, const struct env_params *params,
                      const struct env_options *options)
{
    *side = (struct side){0};
    return walks_env(walks, params, options, &side->market, &side->env);
}

static void side_step(struct side *side, const float *actions)
{
    char err[ENV_ERROR_MAX] = "";
    const struct env_io io = {.actions = actions,
                              .rewards = side->rewards,
                              .terminated = side->terminated,
                              .truncated = side->truncated};
    CHECK_INT(env_step(side->env, &io, err), 0);
    env_info(side->env,
             &(struct env_info){
                 .equity = side->equity, .cash = side->cash, .fees = side->fees, .drawdown = side->drawdown});
    env_episode(side->env, &(struct env_episode){.equity = side->last_equity,
                                                 .reward = side->last_reward,
                                                 .drawdown = side->last_drawdown});
}

static void begin(struct episode *episode, double equity)
{
    *episode = (struct episode){.capital = equity, .before = equity, .peak = equity};
}

/* What a step to `equity` costs. */
static double cost(const struct env_params *params, struct episode *episode, double equity)
{
    const double worth = params->norm_reward * (params->task == ENV_DAY_TRADE ? 1 : episode->capital);
    episode->peak = fmax(episode->peak, equity);
    const double down = (episode->peak - equity) / episode->peak;
    const double deeper = fmax(0, down - episode->deepest);
    const double move = (equity - episode->before) / episode->before;
    const double square = episode->before >= FLOOR ? fmin(move * move, 1) : 0;
    episode->deepest = fmax(episode->deepest, down);
    episode->squares += square;
    episode->before = equity;
    seen.deeper += deeper > 0;
    seen.moved += square > 0;
    const double own = worth * (params->drawdown_penalty * deeper + params->volatility_penalty * square);
    episode->off = EPS * (8 * own + worth * params->drawdown_penalty * 4 * episode->deepest);
    episode->discounted = episode->discounted * params->gamma + own;
    episode->off_discounted = episode->off_discounted * params->gamma + episode->off;
    return own;
}

static void check_end(const struct env_params *params, const struct episode *episode, const struct side *with,
                      const struct side *without, size_t e)
{
    const double worth = params->norm_reward * (params->task == ENV_DAY_TRADE ? 1 : episode->capital);
    CHECK_NEAR(with->last_drawdown[e], episode->deepest, 2 * EPS * episode->deepest);
    seen.episodes++;
    if (params->final_return)
        return;
    const double all = worth * (params->drawdown_penalty * with->last_drawdown[e] +
                                params->volatility_penalty * episode->squares);
    CHECK_NEAR(without->last_reward[e] - with->last_reward[e], all, 16 * EPS * all + EPS * episode->rewards);
}

static void check_copy(const struct env_params *params, struct episode *episode, const struct side *with,
                       const struct side *without, size_t e)
{
    const double reward = (double)with->rewards[e], bare = (double)without->rewards[e];
    const bool ends = with->terminated[e] || with->truncated[e];
    const bool begins = episode->over || (ends && params->autoreset == ENV_SAME_STEP);
    CHECK(with->equity[e] == without->equity[e] && with->cash[e] == without->cash[e] &&
          with->fees[e] == without->fees[e] && with->drawdown[e] == without->drawdown[e] &&
          with->terminated[e] == without->terminated[e] && with->truncated[e] == without->truncated[e]);
    if (episode->over) {
        CHECK(reward == 0 && bare == 0);
    } else {
        const double own = cost(params, episode, ends ? with->last_equity[e] : with->equity[e]);
        const double both = fabs(reward) + fabs(bare);
        const bool final = ends && params->final_return;
        episode->rewards += both;
        if (final)
            CHECK_NEAR(bare - reward, episode->discounted, episode->off_discounted + EPS * episode->rewards);
        else
            CHECK_NEAR(bare - reward, own, episode->off + EPS * both);
        seen.finals += final;
        if (ends)
            check_end(params, episode, with, without, e);
    }
    episode->over = ends && !begins;
    if (begins)
        begin(episode, with->equity[e]);
    seen.steps++;
}

static void play(struct random *random, const struct env_params *params, struct side *with,
                 struct side *without)
{
    struct episode episodes[COPIES];
    size_t n = COPIES * (size_t)env_action_size(with->env);
    float *actions = calloc(n, sizeof *actions);
    env_info(with->env, &(struct env_info){.equity = with->equity});
    for (size_t e = 0; e < COPIES; e++)
        begin(&episodes[e], with->equity[e]);
    for (int step = 0; step < STEPS && check_failures == 0; step++) {
        walks_actions(random, params, actions, n);
        side_step(with, actions);
        side_step(without, actions);
        for (size_t e = 0; e < COPIES; e++)
            check_copy(params, &episodes[e], with, without, e);
    }
    free(actions);
}

/* `which`: 1 the drawdown's, 2 the volatility's, 3 both. */
static void run(struct random *random, enum env_execution execution, enum env_task task,
                enum env_backend backend, int which)
{
    struct walks walks;
    struct side with, without;
    walks_make(&walks, random, ROWS, task == ENV_DAY_TRADE ? 1 : (int)random_between(random, 1, 8),
               execution == ENV_MARKET && random_chance(random, 50));
    struct env_params params = walks_params(random, execution, task), bare;
    params.gamma = walks_between(random, 0.9, 1);
    params.drawdown_penalty = params.volatility_penalty = 0;
    bare = params;
    if (which & 1)
        params.drawdown_penalty = pow(10, walks_between(random, -1, 2));
    if (which & 2)
        params.volatility_penalty = pow(10, walks_between(random, 0, 4));
    const struct env_options options = {.copies = COPIES, .seed = random_next(random), .backend = backend};
    bool made = side_open(&with, &walks, &params, &options) && side_open(&without, &walks, &bare, &options);
    CHECK(made);
    if (made)
        play(random, &params, &with, &without);
    if (check_failures)
        fprintf(stderr, "execution %d, task %d, backend %s, penalties %d\n", execution, task,
                env_backend_name(backend), which);
    env_destroy(with.env);
    env_destroy(without.env);
    env_market_destroy(with.market);
    env_market_destroy(without.market);
    walks_finish(&walks);
}

int main(void)
{
    struct random random = random_seeded("trainer/env/risk", 20261122);
    int rounds = getenv("PAPERTAPE_LONG") ? ROUNDS_LONG : ROUNDS;
    for (int round = 0; round < rounds; round++)
        for (enum env_backend backend = ENV_SCALAR; backend <= ENV_AVX512; backend++)
            for (int execution = ENV_REFERENCE; execution <= ENV_MARKET; execution++)
                for (int task = ENV_PORTFOLIO; task <= ENV_DAY_TRADE; task++)
                    for (int which = 1; which <= 3; which++)
                        if (env_backend_works(backend) && check_failures == 0)
                            run(&random, (enum env_execution)execution, (enum env_task)task, backend, which);
    printf("%ld steps: %ld to a deeper drawdown, %ld that moved; %ld episodes ended, %ld with their sum\n",
           seen.steps, seen.deeper, seen.moved, seen.episodes, seen.finals);
    CHECK(seen.deeper > seen.steps / 20 && seen.moved > seen.steps / 4 && seen.episodes > 100 &&
          seen.finals > 50);
    return check_done("trainer/env/risk");
}
