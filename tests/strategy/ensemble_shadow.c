/* Shadow accounts that go by random rows, printed for ensemble_shadow.py: the rules as key=value, then a line
 * a row of inputs and results, every number as its exact digits. */
#include "strategy/policy/ensemble_internal.h"
#include "tests/check.h"
#include "tests/random.h"

enum { ASSETS = 3, ROWS = 400, WINDOW = 50, RUNS = 6 };

static double unit(struct random *random)
{
    return (double)(random_next(random) >> 11) * 0x1p-53;
}

static void print(const char *name, double value)
{
    printf("%s=%a\n", name, value);
}

static void run(struct random *random, int n)
{
    const struct policy_asset assets[ASSETS] = {{"A", 0}, {"B", 0.01}, {"C", 0.5}};
    const struct policy policy = {.n_assets = ASSETS,
                                  .assets = assets,
                                  .rules = {.norm_action = 4 + 4 * unit(random),
                                            .capital = 1000 * (1 + unit(random)),
                                            .trailing_stop = n % 2 ? 0.02 : 0,
                                            .max_position = n % 3 ? 0.4 : 0,
                                            .min_cash = n % 4 ? 0.1 : 0,
                                            .exit_bars = n % 5 ? 7 : 0,
                                            .exit_share = 0.25,
                                            .cooldown_bars = n % 2 ? 3 : 0,
                                            .fee_e6 = 1000},
                                  .slippage_e6 = 300};
    double closes[ASSETS] = {100, 7, 0.4}, units[ASSETS];
    struct shadow *shadow;
    CHECK_INT(policy_shadow_create(&policy, WINDOW, &shadow), 0);
    puts("run");
    print("capital", policy.rules.capital);
    print("trailing_stop", policy.rules.trailing_stop);
    print("max_position", policy.rules.max_position);
    print("min_cash", policy.rules.min_cash);
    print("exit_bars", policy.rules.exit_bars);
    print("exit_share", policy.rules.exit_share);
    print("cooldown_bars", policy.rules.cooldown_bars);
    print("fee", policy.rules.fee_e6 / 1e6);
    print("slippage", policy.slippage_e6 / 1e6);
    print("window", WINDOW);
    for (int i = 0; i < ASSETS; i++) {
        units[i] = policy.rules.capital / (closes[i] * policy.rules.norm_action);
        printf("asset=%a %a\n", assets[i].least, units[i]);
    }
    for (int row = 0; row < ROWS; row++) {
        const double *qty;
        for (int i = 0; i < ASSETS; i++)
            closes[i] *= 1 + 0.04 * (unit(random) - 0.49);
        policy_shadow_mark(shadow, closes);
        for (int i = 0; i < ASSETS; i++) {
            bool there = !random_chance(random, 10);
            float action = (float)(6 * unit(random) - 2.7);
            if (there)
                policy_shadow_trade(shadow, i, action, units[i], closes[i]);
            printf("%a %a %d ", closes[i], (double)action, there);
        }
        double cash = policy_shadow_holds(shadow, &qty);
        printf("%a %a %a %a %a\n", cash, qty[0], qty[1], qty[2], policy_shadow_sharpe(shadow));
    }
    policy_shadow_destroy(shadow);
}

int main(void)
{
    struct random random = {20261124};
    for (int n = 0; n < RUNS; n++)
        run(&random, n);
    return check_failures > 0;
}
