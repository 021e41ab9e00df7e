/* The trajectories that the reference environment left, $PAPERTAPE_SHARED/data/env: every column after every
 * step, the first and the last observation. With double cash the account is the recorded one digit for digit,
 * nine of them, in all columns but the benchmark and the reward; these, the observations and all that is
 * computed with float cash are within 1e-4 of the value and 2e-5 of the column's largest; counts exactly. By
 * each backend that this processor has, and by the GPU module whose device is the CPU (the argument), in many
 * copies at once, with double and float cash. A step's reward is a difference of two equities: with float
 * cash it is only as fine as they are. */
#include "tests/check.h"
#include "tests/trainer/env/recording.h"
#include "trainer/env/device.h"

enum { COPIES = 17 }; /* no whole block */

struct account {
    double cash[COPIES], equity[COPIES], benchmark[COPIES], fees[COPIES];
    int32_t row[COPIES], buys[COPIES], sells[COPIES];
};

static double tolerance(const struct recording *r, const char *column, double value)
{
    return 1e-4 * fabs(value) + 2e-5 * recording_largest(r, column);
}

static void compare(const struct recording *r, const char *what, size_t step, const char *column, double got)
{
    double expected = recording_cell(r, step, column);
    check_count++;
    if (fabs(got - expected) <= tolerance(r, column, expected))
        return;
    if (check_failures++ < 20)
        fprintf(stderr, "%s, %s: step %zu: %s is %.9g, not %.9g\n", r->name, what, step, column, got,
                expected);
}

/* As printed in the recording. */
static void compare_digits(const struct recording *r, const char *what, size_t step, const char *column,
                           double got, bool float32)
{
    char expected[32], printed[32];
    if (float32) {
        compare(r, what, step, column, got);
        return;
    }
    snprintf(expected, sizeof expected, "%.9g", recording_cell(r, step, column));
    snprintf(printed, sizeof printed, "%.9g", got);
    check_count++;
    if (strcmp(printed, expected) != 0 && check_failures++ < 20)
        fprintf(stderr, "%s, %s: step %zu: %s is %s, not %s\n", r->name, what, step, column, printed,
                expected);
}

/* What the rounding of equity and benchmark to float leaves of a reward. */
static void compare_reward(const struct recording *r, const char *what, size_t step, float got, bool float32)
{
    double expected = recording_cell(r, step, "reward");
    double roundings = r->n_assets + 3, discount = step + 1 == r->steps ? 1 / (1 - r->params.gamma) : 1;
    double fine = roundings * 0x1p-24 * recording_largest(r, "equity") * r->params.norm_reward * discount;
    check_count++;
    if (fabs((double)got - expected) <= tolerance(r, "reward", expected) + (float32 ? fine : 0))
        return;
    if (check_failures++ < 20)
        fprintf(stderr, "%s, %s: step %zu: reward is %.9g, not %.9g\n", r->name, what, step, (double)got,
                expected);
}

static void compare_exactly(const struct recording *r, const char *what, size_t step, const char *column,
                            double got)
{
    double expected = recording_cell(r, step, column);
    check_count++;
    if (got == expected)
        return;
    if (check_failures++ < 20)
        fprintf(stderr, "%s, %s: step %zu: %s is %.9g, not %.9g\n", r->name, what, step, column, got,
                expected);
}

static void compare_observation(const struct recording *r, const char *what, const char *which,
                                const float *got, const double *expected)
{
    double largest = 0;
    for (int i = 0; i < r->observation_size; i++)
        largest = fmax(largest, fabs(expected[i]));
    for (int i = 0; i < r->observation_size; i++) {
        check_count++;
        if (!(fabs((double)got[i] - expected[i]) <= 1e-4 * fabs(expected[i]) + 2e-5 * largest) &&
            check_failures++ < 20)
            fprintf(stderr, "%s, %s: %s observation: %d is %.9g, not %.9g\n", r->name, what, which, i,
                    (double)got[i], expected[i]);
    }
}

static void compare_copy(const struct recording *r, const char *what, const struct env *env, size_t step,
                         size_t copy, const struct account *a, float reward, bool done, bool float32)
{
    double qty[RECORDING_ASSETS], held[RECORDING_ASSETS], peak[RECORDING_ASSETS];
    env_positions(env, copy, qty, held, peak);
    compare_exactly(r, what, step, "t", a->row[copy]);
    compare_digits(r, what, step, "cash", a->cash[copy], float32);
    compare_digits(r, what, step, "equity", a->equity[copy], float32);
    compare(r, what, step, "equity_benchmark", a->benchmark[copy]);
    compare_reward(r, what, step, reward, float32);
    compare_digits(r, what, step, "fees", a->fees[copy], float32);
    compare_exactly(r, what, step, "done", done);
    compare_exactly(r, what, step, "buys", a->buys[copy]);
    compare_exactly(r, what, step, "sells", a->sells[copy]);
    for (int i = 0; i < r->n_assets; i++) {
        compare_digits(r, what, step, recording_of(r, "qty", i), qty[i], float32);
        compare_exactly(r, what, step, recording_of(r, "held", i), held[i]);
        compare_digits(r, what, step, recording_of(r, "peak", i), peak[i], float32);
    }
}

/* The environment of a replay: the host's, or where there is a device that one's, which the host's follows.
 */
struct replayed {
    struct env *env;
    struct env_device_market *on_device;
    struct env_device *device;
};

static bool put_on_device(struct replayed *replayed, struct gpu_module *module,
                          const struct env_market *market)
{
    char err[ENV_ERROR_MAX] = "";
    CHECK_INT(env_device_market_create(module, market, &replayed->on_device, err), 0);
    if (replayed->on_device)
        CHECK_INT(env_device_create(replayed->on_device, replayed->env, &replayed->device, err), 0);
    CHECK_STR(err, "");
    return replayed->device != NULL;
}

static void observe(const struct replayed *replayed, float *ret)
{
    char err[ENV_ERROR_MAX];
    if (replayed->device)
        CHECK_INT(env_device_observe(replayed->device, ret, err), 0);
    else
        env_observe(replayed->env, ret);
}

static void step_all(const struct replayed *replayed, const struct env_io *io)
{
    char err[ENV_ERROR_MAX];
    if (replayed->device) {
        CHECK_INT(env_device_step(replayed->device, io, err), 0);
        CHECK_INT(env_device_store(replayed->device, replayed->env, err), 0);
    } else {
        CHECK_INT(env_step(replayed->env, io, err), 0);
    }
}

static void replay(const struct recording *r, enum env_backend backend, struct gpu_module *module,
                   bool float32)
{
    char err[ENV_ERROR_MAX] = "", what[64];
    snprintf(what, sizeof what, "%s, %s", module ? "the GPU's kernels" : env_backend_name(backend),
             float32 ? "float" : "double");
    struct env_params params = r->params;
    params.float32 = float32;
    params.autoreset = ENV_SAME_STEP;
    struct env_market *market;
    struct env *env;
    struct env_options options = {.copies = COPIES, .backend = backend};
    if (env_market_create(&r->source, &params, &market, err) < 0 ||
        env_create(&params, market, &options, &env, err) < 0) {
        fprintf(stderr, "%s, %s: %s\n", r->name, what, err);
        check_failures++;
        return;
    }
    struct replayed replayed = {.env = env};
    if (module && !put_on_device(&replayed, module, market))
        return;
    CHECK_INT(env_observation_size(env), r->observation_size);
    size_t size = (size_t)r->observation_size;
    float *observations = calloc(COPIES * size, sizeof *observations);
    float actions[COPIES * RECORDING_ASSETS], rewards[COPIES];
    uint8_t terminated[COPIES], truncated[COPIES];
    observe(&replayed, observations);
    compare_observation(r, what, "first", observations + (COPIES - 1) * size, r->first_observation);
    struct account account;
    struct env_info info = {.cash = account.cash,
                            .equity = account.equity,
                            .benchmark = account.benchmark,
                            .fees = account.fees,
                            .row = account.row,
                            .buys = account.buys,
                            .sells = account.sells};
    for (size_t step = 0; step < r->steps; step++) {
        for (int i = 0; i < r->n_assets; i++) {
            float action = (float)recording_cell(r, step, recording_of(r, "action", i));
            for (size_t e = 0; e < COPIES; e++)
                actions[e * (size_t)r->n_assets + (size_t)i] = action;
        }
        struct env_io io = {.actions = actions,
                            .rewards = rewards,
                            .terminated = terminated,
                            .truncated = truncated,
                            .final_obs = observations};
        bool last = step + 1 == r->steps;
        step_all(&replayed, &io);
        env_info(env, &info);
        if (last) { /* the columns are the next episode's already: what is left of this one */
            compare_reward(r, what, step, rewards[0], float32);
            CHECK_INT(truncated[COPIES - 1], 1);
            compare_observation(r, what, "last", observations + (COPIES - 1) * size, r->last_observation);
            struct env_episode ended = {.equity = account.equity,
                                        .benchmark = account.benchmark,
                                        .fees = account.fees,
                                        .buys = account.buys,
                                        .sells = account.sells};
            env_episode(env, &ended);
            compare_digits(r, what, step, "equity", account.equity[0], float32);
            compare(r, what, step, "equity_benchmark", account.benchmark[0]);
            compare_digits(r, what, step, "fees", account.fees[0], float32);
            compare_exactly(r, what, step, "buys", account.buys[0]);
            compare_exactly(r, what, step, "sells", account.sells[0]);
        } else {
            for (size_t e = 0; e < COPIES; e += COPIES - 1)
                compare_copy(r, what, env, step, e, &account, rewards[e], truncated[e], float32);
        }
    }
    free(observations);
    env_device_destroy(replayed.device);
    env_device_market_destroy(replayed.on_device);
    env_destroy(env);
    env_market_destroy(market);
}

int main(int argc, char **argv)
{
    char reason[GPU_REASON_MAX] = "";
    struct gpu_module *module = NULL;
    CHECK(argc > 1);
    if (argc > 1)
        CHECK_INT(gpu_module_open(argv[1], &module, reason, sizeof reason), 0);
    CHECK_STR(reason, "");
    static const char *const names[] = {"big", "concentration", "patient", "plain", "reserve", "trailing"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct recording recording;
        if (!recording_read(names[i], &recording)) {
            printf("trainer/env/trajectories: no sample data: skipped\n");
            gpu_module_close(module);
            return CHECK_SKIP;
        }
        for (enum env_backend backend = ENV_BEST; backend <= ENV_AVX512; backend++) {
            if (!env_backend_works(backend))
                continue;
            replay(&recording, backend, NULL, false);
            replay(&recording, backend, NULL, true);
        }
        for (int float32 = 0; float32 < 2 && module; float32++)
            replay(&recording, ENV_SCALAR, module, float32);
        recording_finish(&recording);
    }
    gpu_module_close(module);
    return check_done("trainer/env/trajectories");
}
