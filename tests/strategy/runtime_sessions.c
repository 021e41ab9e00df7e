/* A trained policy's runtime in a market with a calendar, over months: what a calendar does not reach back to
 * any more changes no decision, also after the runtime was saved and restored. */
#include "strategy/policy/runtime.h"

#include "indicators_gpu/indicators.h"
#include "strategy/policy/cache.h"
#include "tests/check.h"
#include "tests/scratch.h"
#include "tests/strategy/runtime_tape.h"
#include "tests/strategy/trained_made.h"

enum { DAYS = 60, LOOKBACK = 5, KNOWN = 3, DAY_ROWS = 13 };

#define HOUR_NS     (3600 * INT64_C(1000000000))
#define INTERVAL_NS (HOUR_NS / 2)
#define START_NS    (INT64_C(1745107200) * 1000000000) /* 2025-04-20 */

static struct trading_day days[DAYS];

static void make_days(void)
{
    for (int i = 0; i < DAYS; i++) {
        int64_t at = START_NS + (i + i / 5 * 2) * 24 * HOUR_NS;
        days[i] = (struct trading_day){at + 8 * HOUR_NS, at + 13 * HOUR_NS + INTERVAL_NS, at + 20 * HOUR_NS,
                                       at + 24 * HOUR_NS};
    }
}

/* The days from one on. */
static struct trading_calendar calendar_of(int from)
{
    return (struct trading_calendar){.name = "nyse",
                                     .days = days + from,
                                     .n = (size_t)(DAYS - from),
                                     .from_ns = days[from].early_ns,
                                     .to_ns = days[DAYS - 1].late_ns};
}

static struct policy *open_policy(struct random *random, int recurrent)
{
    const struct net_shape shape = {.n_pi = 1, .pi = {16}, .n_vf = 1, .vf = {8}, .recurrent = recurrent};
    const char *path = scratch_path("sessions.safetensors");
    struct env_params params;
    struct trained_made made;
    struct policy *policy = NULL;
    char err[POLICY_ERROR_MAX] = "";
    CHECK_INT(env_params_preset("market", &params, err), 0);
    params.lookback = LOOKBACK;
    params.session = SESSION_REGULAR;
    params.buy_cost_pct = params.sell_cost_pct = (struct env_range){0.001, 0.001};
    trained_made_open(&made, random, shape, 1, NULL, 0, &params);
    made.source.interval_ns = INTERVAL_NS;
    made.source.calendar = "nyse";
    CHECK_INT(policy_trained_write(path, &made.source, err), 0);
    CHECK_INT(policy_load(path, NULL, &policy, err), 0);
    CHECK_STR(err, "");
    trained_made_close(&made);
    if (!policy)
        exit(EXIT_FAILURE);
    return policy;
}

/* The action on a bar; false: none. */
static bool decide(const struct policy *policy, struct policy_runtime *runtime,
                   const struct trading_calendar *calendar, int64_t open_ns, double close, float *ret)
{
    const struct indicator_bar bar = {close, close, close, close, 1000, (double)open_ns / 1e9};
    const double held = 2;
    policy->runtime->use(runtime, calendar);
    policy->runtime->see(runtime, 0, open_ns, &bar);
    bool ready = policy->runtime->ready(runtime, open_ns),
         decides = policy->runtime->act(runtime, open_ns, 5000, &held, ret);
    CHECK_INT(decides, ready);
    return decides;
}

static void test_cut(struct random *random, int recurrent)
{
    struct policy *policy = open_policy(random, recurrent);
    const struct trading_calendar all = calendar_of(0);
    struct policy_runtime *whole, *cut;
    int decisions = 0;
    double close = 100;
    CHECK_INT(policy->runtime->create(policy, &whole), 0);
    CHECK_INT(policy->runtime->create(policy, &cut), 0);
    for (int day = 0; day < DAYS; day++) {
        const struct trading_calendar known = calendar_of(day > KNOWN ? day - KNOWN : 0);
        for (int row = 0; row < DAY_ROWS; row++) {
            int64_t open_ns = days[day].open_ns + row * INTERVAL_NS;
            float right = 0, action = 0;
            close *= 1 + 0.02 * trained_uniform(random);
            if (row % 9 == 4)
                continue;
            bool decides = decide(policy, whole, &all, open_ns, close, &right);
            CHECK_INT(decides, day * DAY_ROWS + row >= LOOKBACK - 1);
            CHECK_INT(decide(policy, cut, &known, open_ns, close, &action), decides);
            CHECK(memcmp(&action, &right, sizeof action) == 0);
            decisions += decides;
        }
        if (day % 7 == 0)
            cut = runtime_moved(policy, cut);
    }
    CHECK(decisions > 600);
    policy->runtime->destroy(whole);
    policy->runtime->destroy(cut);
    policy_destroy(policy);
}

int main(void)
{
    struct random random = random_seeded("runtime_sessions", 20251103);
    make_days();
    test_cut(&random, 0);
    test_cut(&random, 16);
    return check_done("strategy/runtime_sessions");
}
