/* Recorded policies: what the two files may say, what is refused and in which words, and the cache. */
#include <errno.h>

#include "strategy/policy/cache.h"
#include "strategy/policy/recorded.h"
#include "tests/check.h"
#include "tests/scratch.h"

#define FIVE_MINUTES_NS (INT64_C(300) * 1000000000)

static const char params[] =
    "{\"symbols\":[\"BTC\",\"ETHUSDT\"],\"first_bar\":\"2025-04-21 01:50:00+00:00\",\"bars\":9,"
    "\"min_order_qty\":[0.00001,0.5],\"params\":{\"lookback\":3,\"norm_action\":100,"
    "\"initial_capital\":1000.5,\"buy_cost_pct\":0.0025,\"sell_cost_pct\":0.0025,"
    "\"trailing_stop_pct\":0.02,\"gamma\":0.99,\"time_decay_floor\":0.5}}";
static const char actions[] = "t,action_ETH,cash,action_BTCUSDT\n3,1.5,7,-2\n4,0,7,1e3\n5,-1,7,0.25\n";

static int load(const char *json, const char *csv, struct policy **ret, char err[static POLICY_ERROR_MAX])
{
    char full[POLICY_ERROR_MAX] = "";
    const char *a = scratch_write("params.json", json), *b = scratch_write("actions.csv", csv);
    int r = policy_recorded_load(a, b, ret, full);
    const char *name = strrchr(full, '/'); /* the folder is another each time */
    snprintf(err, POLICY_ERROR_MAX, "%s", name ? name + 1 : full);
    return r;
}

/* `json` with one text in another's place. */
static void with(char *to, size_t size, const char *text, const char *was, const char *is)
{
    const char *at = strstr(text, was);
    CHECK(at);
    if (at)
        snprintf(to, size, "%.*s%s%s", (int)(at - text), text, is, at + strlen(was));
}

static void test_read(void)
{
    struct policy *policy = NULL;
    char err[POLICY_ERROR_MAX];
    float now[2] = {9, 9};
    CHECK_INT(load(params, actions, &policy, err), 0);
    CHECK_STR(err, "");
    if (!policy)
        return;
    CHECK_INT(policy->n_assets, 2);
    CHECK_STR(policy->assets[0].name, "BTC");
    CHECK_STR(policy->assets[1].name, "ETHUSDT");
    CHECK(policy->assets[0].least == 0.00001 && policy->assets[1].least == 0.5);
    CHECK_INT(policy->first_ns, INT64_C(1745200200) * 1000000000);
    CHECK_INT(policy->interval_ns, FIVE_MINUTES_NS);
    CHECK_INT(policy->lookback, 3);
    const struct policy_rules *rules = &policy->rules;
    CHECK(rules->norm_action == 100 && rules->capital == 1000.5 && rules->trailing_stop == 0.02);
    CHECK(rules->fee_e6 == 2500 && rules->exit_bars == 48 && rules->exit_share == 0.05);
    CHECK(rules->max_position == 0 && rules->min_cash == 0 && rules->cooldown_bars == 0);
    /* Row t is decided at the bar before it. */
    CHECK(!policy->act(policy, policy->first_ns + FIVE_MINUTES_NS, now));
    CHECK(!policy->act(policy, policy->first_ns - FIVE_MINUTES_NS, now));
    CHECK(policy->act(policy, policy->first_ns + 2 * FIVE_MINUTES_NS, now));
    CHECK(now[0] == -2 && now[1] == 1.5f);
    CHECK(policy->act(policy, policy->first_ns + 4 * FIVE_MINUTES_NS, now));
    CHECK(now[0] == 0.25f && now[1] == -1);
    CHECK(!policy->act(policy, policy->first_ns + 5 * FIVE_MINUTES_NS, now));
    policy_recorded_destroy(policy);
    CHECK_INT(load(params, "action_ETH,action_BTC\r\n1,2\r\n\n3,4\r\n5,6", &policy, err), 0);
    CHECK(policy->act(policy, policy->first_ns + 3 * FIVE_MINUTES_NS, now) && now[0] == 4 && now[1] == 3);
    policy_recorded_destroy(policy);
}

/* What an environment's file may say in addition, as long as it is what an account does. */
static void test_defaults(void)
{
    struct policy *policy = NULL;
    char text[2048], err[POLICY_ERROR_MAX];
    with(text, sizeof text, params, "\"gamma\":0.99",
         "\"preset\":\"market\",\"execution\":\"market\",\"task\":\"portfolio\",\"actions\":"
         "\"continuous\",\"start\":0,\"episode_bars\":9,\"random_start\":false,\"ruin\":0,"
         "\"max_position_pct\":1,\"autoreset\":\"off\",\"levels\":5");
    CHECK_INT(load(text, actions, &policy, err), 0);
    CHECK_STR(err, "");
    policy_recorded_destroy(policy);
    with(text, sizeof text, params, "\"gamma\":0.99", "\"episode_bars\":0");
    CHECK_INT(load(text, actions, &policy, err), 0);
    policy_recorded_destroy(policy);
}

static void test_first_close(void)
{
    struct policy *policy = NULL, *without = NULL;
    char json[sizeof params + 64], err[POLICY_ERROR_MAX];
    with(json, sizeof json, params, "\"bars\":9,", "\"bars\":9,\"first_close\":[86000.5,1600],");
    CHECK_INT(load(json, actions, &policy, err), 0);
    CHECK_INT(load(params, actions, &without, err), 0);
    CHECK(policy && policy->first_closes && policy->first_closes[0] == 86000.5 &&
          policy->first_closes[1] == 1600);
    CHECK(without && !without->first_closes);
    CHECK(policy && without && policy_same_rules(policy, without));
    policy_recorded_destroy(without);
    with(json, sizeof json, params, "\"norm_action\":100", "\"norm_action\":99");
    CHECK_INT(load(json, actions, &without, err), 0);
    CHECK(policy && without && !policy_same_rules(policy, without));
    policy_recorded_destroy(without);
    policy_recorded_destroy(policy);
}

static void test_params_refused(void)
{
    static const struct {
        const char *was, *is, *err;
    } cases[] = {
        {"\"norm_action\":100,", "", "params.json: params.norm_action: it is missing"},
        {"\"bars\":9,", "\"bars\":9,\"first_close\":[7],",
         "params.json: first_close: a number for each of the 2 symbols is needed: its close at first_bar"},
        {"\"bars\":9,", "\"bars\":9,\"first_close\":[7,0],",
         "params.json: first_close: a close of ETHUSDT, above 0, is needed"},
        {":100,", ":0,", "params.json: params.norm_action: a number from 1e-12 to 1e+12 is needed"},
        {"1000.5", "\"900..1100\"",
         "params.json: params.initial_capital: a number from 0.001 to 1e+09 is needed; a range is for "
         "training"},
        {"\"lookback\":3", "\"lookback\":2.5",
         "params.json: params.lookback: a whole number from 1 to 4096 is needed"},
        {"\"sell_cost_pct\":0.0025", "\"sell_cost_pct\":0.001",
         "params.json: params.sell_cost_pct: it must be as buy_cost_pct, 0.0025: an account has one rate"},
        {"\"gamma\"", "\"gama\"",
         "params.json: params.gama: this program does not know it, so orders might be others"},
        {"\"gamma\":0.99", "\"execution\":\"reference\"",
         "params.json: params.execution: \"market\" is needed: a policy made for another execution was not "
         "made for a market's orders"},
        {"\"gamma\":0.99", "\"shorts\":true",
         "params.json: params.shorts: false is needed: there is no such order here"},
        {"\"gamma\":0.99", "\"preset\":\"reference\"",
         "params.json: params.preset: \"market\" is needed: the actions were made for another environment"},
        {"\"gamma\":0.99", "\"preset\":\"day-trade\"",
         "params.json: params.preset: \"market\" is needed: the actions were made for another environment"},
        {"\"gamma\":0.99", "\"task\":\"day-trade\"",
         "params.json: params.task: \"portfolio\" is needed: this program trades recorded actions of "
         "portfolios"},
        {"\"gamma\":0.99", "\"actions\":\"discrete\"",
         "params.json: params.actions: \"continuous\" is needed: recorded actions are numbers, not levels"},
        {"\"gamma\":0.99", "\"start\":20",
         "params.json: params.start: 0 is needed: the episode begins with first_bar"},
        {"\"gamma\":0.99", "\"random_start\":true",
         "params.json: params.random_start: false is needed: the episode begins with first_bar"},
        {"\"gamma\":0.99", "\"ruin\":0.1",
         "params.json: params.ruin: 0 is needed: an account continues after it"},
        {"\"gamma\":0.99", "\"episode_bars\":8",
         "params.json: params.episode_bars: 0 or 9, as bars says, is needed: the episode has all"},
        {"\"gamma\":0.99", "\"max_position_pct\":1.5",
         "params.json: params.max_position_pct: a number from 0 to 1 is needed"},
        {"\"ETHUSDT\"", "\"BTC\"", "params.json: symbols: BTC is there twice"},
        {"[0.00001,0.5]", "[0.5]",
         "params.json: min_order_qty: a number for each of the 2 symbols is needed"},
        {"0.00001", "-1", "params.json: min_order_qty: a quantity of BTC, 0 or more, is needed"},
        {"01:50:00", "01:52:00", "params.json: first_bar: no bar of 5m opens then"},
        {"2025-04-21 01:50:00+00:00", "soon",
         "params.json: first_bar: a time as \"2025-04-21 01:50:00+00:00\" is needed"},
        {"\"bars\":9", "\"bars\":6",
         "params.json: bars: a whole number above 6 is needed, twice the lookback"},
        {"\"bars\"", "\"bar\"", "params.json: bar: this program does not know it, so orders might be others"},
        {"{\"symbols\"", "[\"symbols\"", NULL},
    };
    char text[2048], err[POLICY_ERROR_MAX];
    struct policy *policy = NULL;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        with(text, sizeof text, params, cases[i].was, cases[i].is);
        CHECK_INT(load(text, actions, &policy, err), -EINVAL);
        if (cases[i].err)
            CHECK_STR(err, cases[i].err);
    }
    CHECK(strncmp(err, "params.json: line 1: it is no JSON: ", 36) == 0);
    CHECK_INT(policy_recorded_load("/nonexistent.json", "/nonexistent.csv", &policy, err), -ENOENT);
    CHECK_STR(err, "/nonexistent.json: No such file or directory");
    CHECK(!policy);
}

static void test_actions_refused(void)
{
    static const struct {
        const char *was, *is, *err;
    } cases[] = {
        {"action_ETH", "action_SOL",
         "actions.csv: action_SOL: the parameters name no such symbol: they begin with BTC"},
        {"action_ETH", "eth", "actions.csv: a column action_ETHUSDT is missing"},
        {"cash", "action_ETHUSDT", "actions.csv: action_ETHUSDT: it is there twice"},
        {"-2\n", "nan\n", "actions.csv: line 2: action_BTC is \"nan\": a finite number is needed"},
        {"1e3", "1e99", "actions.csv: line 3: action_BTC is \"1e99\": a finite number is needed"},
        {"1.5", "", "actions.csv: line 2: action_ETHUSDT is \"\": a finite number is needed"},
        {"4,0,7,1e3\n", "", "actions.csv: line 3: t is \"5\", and row 4 comes next: no row may be left out"},
        {"4,0,7,1e3\n", "3,0,7,1e3\n",
         "actions.csv: line 3: t is \"3\", and row 4 comes next: no row may be left out"},
        {"5,-1,7,0.25\n", "", "actions.csv: it ends before row 5: 3 rows are needed, to t = 5"},
        {"5,-1,7,0.25\n", "5,-1,7,0.25\n6,0,0,0\n",
         "actions.csv: line 5: 3 rows are all that 9 bars and a lookback of 3 have"},
        {"4,0,7,1e3", "4,0,7", "actions.csv: line 3: it has not the header's 4 columns"},
        {"4,0,7,1e3", "4,0,7,1,1", "actions.csv: line 3: it has not the header's 4 columns"},
    };
    char text[2048], err[POLICY_ERROR_MAX];
    struct policy *policy = NULL;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        with(text, sizeof text, actions, cases[i].was, cases[i].is);
        CHECK_INT(load(params, text, &policy, err), -EINVAL);
        CHECK_STR(err, cases[i].err);
    }
    CHECK_INT(load(params, "", &policy, err), -EINVAL);
    CHECK_STR(err, "actions.csv: it is empty: a header and a row a bar are needed");
    CHECK_INT(policy_recorded_load(scratch_path("params.json"), scratch_root(), &policy, err), -EINVAL);
    CHECK(!policy);
}

/* What is kept is found by its id, as it was, and nothing else is. */
static void test_cache(void)
{
    struct policy *policy = NULL, *other = NULL;
    char err[POLICY_ERROR_MAX], dir[SCRATCH_MAX], text[2048], path[4096], id[POLICY_ID_TEXT];
    float a[2], b[2];
    scratch_make(dir);
    CHECK_INT(load(params, actions, &policy, err), 0);
    with(text, sizeof text, actions, "1.5", "1.25");
    CHECK_INT(load(params, text, &other, err), 0);
    CHECK(memcmp(policy->id, other->id, POLICY_ID_SIZE) != 0);
    for (int i = 0; i < 2; i++) /* the second time it is there */
        CHECK_INT(policy_keep(policy, "", dir, err), 0);
    struct policy_cache *cache = policy_cache_open(dir);
    struct policies policies = policy_cache_find(cache);
    const struct policy *found = policies.find(policies.ctx, policy->id);
    CHECK(found && memcmp(found->id, policy->id, POLICY_ID_SIZE) == 0);
    CHECK(policies.find(policies.ctx, policy->id) == found);
    CHECK(!policies.find(policies.ctx, other->id));
    int64_t at_ns = policy->first_ns + 3 * FIVE_MINUTES_NS;
    CHECK(found && policy->act(policy, at_ns, a) && found->act(found, at_ns, b) &&
          memcmp(a, b, sizeof a) == 0);
    policy_cache_close(cache);
    /* Files that were changed are not what the id says. */
    policy_id_text(policy->id, id);
    snprintf(path, sizeof path, "%s/%s/actions.csv", dir, id);
    FILE *file = fopen(path, "we");
    CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
    cache = policy_cache_open(dir);
    policies = policy_cache_find(cache);
    CHECK(!policies.find(policies.ctx, policy->id));
    policy_cache_close(cache);
    CHECK(policy_keep(other, "", "/proc/nowhere", err) < 0);
    CHECK(strncmp(err, "/proc/nowhere: policy ", 22) == 0);
    policy_recorded_destroy(policy);
    policy_recorded_destroy(other);
}

int main(void)
{
    test_read();
    test_defaults();
    test_first_close();
    test_params_refused();
    test_actions_refused();
    test_cache();
    return check_done("strategy/recorded");
}
