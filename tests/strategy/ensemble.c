/* Ensembles: how members' actions become one, by hand; what a text may say; which members belong together;
 * and copies that are found after the originals are gone. */
#include "strategy/policy/ensemble.h"

#include <errno.h>

#include "strategy/policy/cache.h"
#include "strategy/policy/ensemble_internal.h"
#include "strategy/policy/limit_file.h"
#include "strategy/policy/limit_keys.h"
#include "tests/strategy/ensemble_made.h"

/* ---- one action of many ---- */

static void votes_of(struct policy_vote *votes, const float *actions, int n)
{
    for (int m = 0; m < n; m++)
        votes[m] = (struct policy_vote){.action = actions[m], .sharpe = NAN, .weight = -1};
}

static void test_mean(void)
{
    const float three[] = {0.5f, -1.0f, 2.0f}, same[] = {0.1f, 0.1f};
    struct policy_vote votes[3];
    votes_of(votes, three, 3);
    CHECK(ensemble_vote(ENSEMBLE_MEAN, 3, votes, 2, 0.1) == 0.5f);
    for (int m = 0; m < 3; m++)
        CHECK(votes[m].weight == 1.0 / 3);
    votes_of(votes, same, 2);
    CHECK(ensemble_vote(ENSEMBLE_MEAN, 2, votes, 2, 0.1) == 0.1f); /* of one twice, to the bit */
    const float bad[] = {1.0f, INFINITY};
    votes_of(votes, bad, 2);
    CHECK(!isfinite(ensemble_vote(ENSEMBLE_MEAN, 2, votes, 2, 0.1)));
}

static void majority(const float *actions, int n, float right, const double *weights)
{
    struct policy_vote votes[5];
    votes_of(votes, actions, n);
    CHECK(ensemble_vote(ENSEMBLE_MAJORITY, n, votes, 2, 0.125) == right);
    for (int m = 0; m < n; m++)
        CHECK(votes[m].weight == weights[m]);
}

static void test_majority(void)
{
    majority((const float[]){0.5f, 1.0f, -4.0f}, 3, 0.75f, (const double[]){0.5, 0.5, 0});
    majority((const float[]){-0.5f, 1.0f, -4.0f}, 3, -2.25f, (const double[]){0.5, 0, 0.5});
    majority((const float[]){0.5f, -1.0f}, 2, 0, (const double[]){0, 0});                /* a tie */
    majority((const float[]){0.5f, 0.04f}, 2, 0, (const double[]){0, 0});                /* and another */
    majority((const float[]){0.0625f, -0.0625f, 3.0f}, 3, 0, (const double[]){0, 0, 0}); /* worth the least */
    majority((const float[]){1, 3, -1, 0.01f}, 4, 2, (const double[]){0.5, 0.5, 0, 0});  /* most of all */
    majority((const float[]){1, 3, -1, -2, 0.01f}, 5, 0, (const double[]){0, 0, 0, 0, 0});   /* two as many */
    majority((const float[]){1, 3, 0, 0.01f, 0.02f}, 5, 0, (const double[]){0, 0, 0, 0, 0}); /* three */
    majority((const float[]){0.1f, 0.1f}, 2, 0.1f, (const double[]){0.5, 0.5});
}

static void test_sharpe(void)
{
    const float actions[] = {1.0f, -2.0f, 4.0f};
    struct policy_vote votes[3];
    votes_of(votes, actions, 3);
    votes[0].sharpe = 0.25;
    votes[1].sharpe = -3;
    votes[2].sharpe = 0.75;
    CHECK(ensemble_vote(ENSEMBLE_SHARPE, 3, votes, 2, 0.1) == 3.25f);
    CHECK(votes[0].weight == 0.25 && votes[1].weight == 0 && votes[2].weight == 0.75);
    votes[2].sharpe = NAN; /* not known: nothing */
    CHECK(ensemble_vote(ENSEMBLE_SHARPE, 3, votes, 2, 0.1) == 1.0f);
    votes[0].sharpe = 0; /* no member earned anything: all alike */
    CHECK(ensemble_vote(ENSEMBLE_SHARPE, 3, votes, 2, 0.1) == 1.0f);
    CHECK(votes[1].weight == 1.0 / 3);
}

/* ---- the text ---- */

static void said(const char *name, const char *text, const char *why)
{
    struct ensemble_policy *ensemble = NULL;
    char err[POLICY_ERROR_MAX] = "";
    CHECK_INT(ensemble_load(scratch_write(name, text), &ensemble, err), -EINVAL);
    CHECK(strstr(err, name) && strstr(err, why));
    if (!strstr(err, why))
        fprintf(stderr, "said: %s\nright: %s\n", err, why);
    CHECK(!strchr(err, '\n') && !strstr(err, "SECRET")); /* a file of something else is not shown */
}

static void test_text(void)
{
    char many[1024] = "{\"schema\":\"papertape.ensemble/1\",\"members\":[\"a.safetensors\"";
    said("t.ensemble.json", "", "line 1");
    said("t.ensemble.json", "SECRET:19000::::\n", "line 1: '[' or '{' expected");
    said("t.ensemble.json", "[1]", "an object");
    said("t.ensemble.json", "{\"members\":[]}", "schema is missing");
    said("t.ensemble.json", "{\"schema\":\"papertape.ensemble/2\"}",
         "this program reads papertape.ensemble/1");
#define HEAD "{\"schema\":\"papertape.ensemble/1\","
#define TWO  "\"members\":[\"a.safetensors\",\"b.safetensors\"]"
    said("t.ensemble.json", HEAD "\"members\":\"a\"}", "a list of 2 to 16 files");
    said("t.ensemble.json", HEAD "\"members\":[\"a.safetensors\"]}", "a list of 2 to 16 files");
    for (int i = 0; i < 16; i++)
        strcat(many, ",\"a.safetensors\"");
    said("t.ensemble.json", strcat(many, "]}"), "a list of 2 to 16 files");
    said("t.ensemble.json", HEAD "\"members\":[\"a.safetensors\",7]}", "number 2: no text: F.safetensors");
    said("t.ensemble.json", HEAD "\"members\":[\"a.safetensors\",\"b\\n.ensemble.json\"]}",
         "number 2: \"b?.ensemble.json\": F.safetensors");
    said("t.ensemble.json", HEAD TWO ",\"combine\":\"median\"}",
         "combine: \"median\": mean, majority or sharpe");
    said("t.ensemble.json", HEAD TWO ",\"combine\":1}", "combine: no text");
    said("t.ensemble.json", HEAD TWO ",\"window_bars\":1}", "window_bars: a whole number from 2 to 10000");
    said("t.ensemble.json", HEAD TWO ",\"window_bars\":2.5}", "window_bars: a whole number");
    said("t.ensemble.json", HEAD TWO ",\"windowbars\":9}", "no such key: did you mean window_bars?");
    said("t.ensemble.json", HEAD TWO "," TWO "}", "line 1: duplicate");
#undef HEAD
#undef TWO
}

static void test_write(void)
{
    const char *const names[] = {"w-1.safetensors", "w-2.safetensors", "w-3.safetensors"};
    const char *path = scratch_path("written.ensemble.json");
    char err[POLICY_ERROR_MAX] = "", bytes[4096];
    struct ensemble_text text;
    CHECK_INT(ensemble_write(path, names, 3, ENSEMBLE_MAJORITY, 99, err), 0);
    FILE *file = fopen(path, "re");
    size_t n = file ? fread(bytes, 1, sizeof bytes, file) : 0;
    if (file)
        fclose(file);
    CHECK_INT(ensemble_text_parse(path, bytes, n, &text, err), 0);
    CHECK_INT(text.n, 3);
    CHECK_STR(text.members[2], names[2]);
    CHECK_INT(text.combine, ENSEMBLE_MAJORITY);
    CHECK_INT(text.window_bars, 99);
    ensemble_text_finish(&text);
    CHECK_INT(ensemble_write(path, names, 1, ENSEMBLE_MEAN, 99, err), -EINVAL);
    CHECK(strstr(err, "2 to 16"));
    CHECK_INT(ensemble_write(path, names, 2, ENSEMBLE_SHARPE, 0, err), -EINVAL);
    CHECK(strstr(err, "window_bars"));
    CHECK_INT(ensemble_write(scratch_path("written.json"), names, 2, ENSEMBLE_SHARPE, 9, err), -EINVAL);
    CHECK(strstr(err, "NAME.ensemble.json is right"));
    CHECK_INT(ensemble_write("/nonexistent/x.ensemble.json", names, 2, ENSEMBLE_MEAN, 9, err), -ENOENT);
    CHECK(strstr(err, "/nonexistent/x.ensemble.json: No such file"));
    const char *const odd[] = {"w-1.safetensors", "\xff.safetensors"};
    CHECK_INT(ensemble_write(path, odd, 2, ENSEMBLE_MEAN, 9, err), -EINVAL);
    CHECK(strstr(err, "UTF-8"));
    CHECK(policy_names_ensemble("ensemble.json") && policy_names_ensemble("a/ensemble.json") &&
          policy_names_ensemble("a.ensemble.json") && !policy_names_ensemble("aensemble.json") &&
          !policy_names_ensemble("a/.ensemble.json"));
}

/* ---- what members share ---- */

static void differ(struct random *random, const struct ensemble_member *other, const char *its,
                   const char *right)
{
    const char *const names[] = {"one.safetensors", "two.safetensors"};
    char err[POLICY_ERROR_MAX] = "", whole[256];
    struct ensemble_policy *ensemble = NULL;
    const char *path = scratch_path("differ.ensemble.json");
    ensemble_member(random, names[0], &(struct ensemble_member){0});
    ensemble_member(random, names[1], other);
    CHECK_INT(ensemble_write(path, names, 2, ENSEMBLE_MEAN, 9, err), 0);
    CHECK_INT(ensemble_load(path, &ensemble, err), its ? -EINVAL : 0);
    snprintf(whole, sizeof whole, "%s and one.safetensors has %s: the same", its ? its : "", right);
    if (its && !strstr(err, whole)) {
        fprintf(stderr, "said: %s\nright: %s\n", err, whole);
        CHECK(strstr(err, whole));
    }
    ensemble_destroy(ensemble);
}

static void dearer(struct env_params *params)
{
    params->buy_cost_pct = params->sell_cost_pct = (struct env_range){0.002, 0.002};
}

static void richer(struct env_params *params)
{
    params->initial_capital = (struct env_range){6000, 6000};
}

static void tighter(struct env_params *params)
{
    params->trailing_stop_pct = 0.01;
}

static void slower(struct env_params *params)
{
    params->cooldown_bars = 3;
}

static void weaker(struct env_params *params)
{
    params->norm_action = 9;
}

static void slips(struct env_params *params)
{
    params->slippage_pct = (struct env_range){0, 0};
}

static void other_norms(struct env_params *params)
{
    params->norm_cash = 0.1;
    params->weight_cash = 0.5;
    params->time_decay_floor = 0.2;
}

static void test_members(struct random *random)
{
    const struct ensemble_member good = {
        .lookback = 7, .features = true, .recurrent = 16, .change = other_norms};
    differ(random, &good, NULL, ""); /* what it sees, and what it was rewarded for, is its own */
    differ(random, &(struct ensemble_member){.n_assets = 3},
           "members: symbols, in their order: two.safetensors has C0USDT,C1USDT,C2USDT", "C0USDT,C1USDT");
    differ(random, &(struct ensemble_member){.interval_ns = INT64_C(3600000000000)},
           "members: interval: two.safetensors has 1h", "5m");
    differ(random, &(struct ensemble_member){.levels = 5}, "members: actions: two.safetensors has discrete",
           "continuous");
    differ(random, &(struct ensemble_member){.change = dearer},
           "members: buy_cost_pct: two.safetensors has 0.002", "0.001");
    differ(random, &(struct ensemble_member){.change = richer},
           "members: initial_capital: two.safetensors has 6000", "5000");
    differ(random, &(struct ensemble_member){.change = tighter},
           "members: trailing_stop_pct: two.safetensors has 0.01", "0.03");
    differ(random, &(struct ensemble_member){.change = slower},
           "members: cooldown_bars: two.safetensors has 3", "2");
    differ(random, &(struct ensemble_member){.change = weaker}, "members: norm_action: two.safetensors has 9",
           "8");
    differ(random, &(struct ensemble_member){.change = slips}, "members: slippage_pct: two.safetensors has 0",
           "0.0002");
}

/* ---- ids and copies ---- */

static struct policy *made(const char *path, const char *const *names, int n, enum ensemble_combine combine)
{
    char err[POLICY_ERROR_MAX] = "";
    struct policy *policy = NULL;
    CHECK_INT(ensemble_write(path, names, n, combine, 9, err), 0);
    CHECK_INT(policy_load(path, NULL, &policy, err), 0);
    CHECK_STR(err, "");
    if (!policy)
        exit(EXIT_FAILURE);
    return policy;
}

static bool same_id(const struct policy *a, const struct policy *b)
{
    return memcmp(a->id, b->id, POLICY_ID_SIZE) == 0;
}

static void test_ids(struct random *random)
{
    const char *const names[] = {"i-1.safetensors", "i-2.safetensors"};
    const char *path = scratch_path("ids.ensemble.json");
    ensemble_member(random, names[0], &(struct ensemble_member){.lookback = 4});
    ensemble_member(random, names[1], &(struct ensemble_member){.lookback = 6});
    struct policy *first = made(path, names, 2, ENSEMBLE_MEAN), *again = made(path, names, 2, ENSEMBLE_MEAN);
    struct policy *other = made(path, names, 2, ENSEMBLE_MAJORITY);
    CHECK_STR(first->kind, "ensemble");
    CHECK_INT(first->lookback, 6);
    CHECK_INT(first->n_members, 2);
    CHECK(same_id(first, again) && !same_id(first, other) && !same_id(first, first->members[0]));
    ensemble_member(random, names[1], &(struct ensemble_member){.lookback = 6}); /* another network */
    struct policy *changed = made(path, names, 2, ENSEMBLE_MEAN);
    CHECK(!same_id(first, changed) && same_id(first->members[0], changed->members[0]));
    CHECK(policy_same_rules(first, again) && !policy_same_rules(first, changed));
    policy_destroy(first);
    policy_destroy(again);
    policy_destroy(other);
    policy_destroy(changed);
}

static void test_cache(struct random *random)
{
    char dir[SCRATCH_MAX], err[POLICY_ERROR_MAX] = "", sub[SCRATCH_MAX], name[SCRATCH_PATH_MAX];
    scratch_make(dir);
    scratch_make(sub);
    const char *one = ensemble_member(random, "s-1.safetensors", &(struct ensemble_member){0});
    ensemble_member(random, "s-2.safetensors", &(struct ensemble_member){.features = true});
    /* from the root on, and from the ensemble's folder on */
    const char *const names[] = {one, "../s-2.safetensors", one};
    snprintf(name, sizeof name, "%s/cache.ensemble.json", sub);
    struct policy *policy = made(name, names, 3, ENSEMBLE_SHARPE);
    for (int i = 0; i < 2; i++) /* the second time it is there */
        CHECK_INT(policy_keep(policy, name, dir, err), 0);
    CHECK_INT(remove(one), 0);
    CHECK_INT(remove(scratch_path("s-2.safetensors")), 0);
    scratch_remove(sub);
    struct policy_cache *cache = policy_cache_open(dir);
    struct policies policies = policy_cache_find(cache);
    const struct policy *found = policies.find(policies.ctx, policy->id);
    CHECK(found && found != policy && same_id(found, policy) && found->n_members == 3);
    for (int m = 0; found && m < 3; m++) {
        CHECK(same_id(found->members[m], policy->members[m]));
        CHECK_STR(found->member_names[m], names[m]);
    }
    /* what was read from copies is kept elsewhere, too */
    char beside[SCRATCH_MAX];
    scratch_make(beside);
    CHECK(found && policy_keep(found, "", beside, err) == 0);
    policy_cache_close(cache);
    scratch_remove(dir);
    cache = policy_cache_open(beside);
    policies = policy_cache_find(cache);
    CHECK(policies.find(policies.ctx, policy->id));
    policy_cache_close(cache);
    policy_destroy(policy);
}

/* A copy with limits is another policy, and found as such; without any, limits are none. */
static void check_limited(const char *from, const char *to, const struct policy_limits *limits)
{
    char dir[SCRATCH_MAX], err[POLICY_ERROR_MAX] = "";
    struct policy *before = NULL, *after = NULL;
    scratch_make(dir);
    CHECK_INT(policy_limit_file(from, to, limits, err), 0);
    CHECK_INT(policy_load(from, NULL, &before, err), 0);
    CHECK_INT(policy_load(to, NULL, &after, err), 0);
    CHECK_STR(err, "");
    if (!before || !after)
        exit(EXIT_FAILURE);
    CHECK(!same_id(before, after) && policy_limits_same(&after->rules.limits, limits));
    CHECK(before->rules.trailing_stop == after->rules.trailing_stop && before->n_members == after->n_members);
    for (int m = 0; m < after->n_members; m++)
        CHECK(same_id(before->members[m], after->members[m]));
    CHECK_INT(policy_keep(after, to, dir, err), 0);
    struct policy_cache *cache = policy_cache_open(dir);
    struct policies policies = policy_cache_find(cache);
    const struct policy *found = policies.find(policies.ctx, after->id);
    CHECK(found && policy_limits_same(&found->rules.limits, limits));
    policy_cache_close(cache);
    policy_destroy(before);
    policy_destroy(after);
}

static void test_limits(struct random *random)
{
    static const struct policy_limits all = {.exposure = 0.75,
                                             .exposure_symbol = 0.3,
                                             .daily_loss = 0.05,
                                             .stop_loss = 1.0 / 3,
                                             .trailing_stop = 0.07,
                                             .portfolio_trailing_stop = 0.15,
                                             .cooldown_s = 5400,
                                             .take_profit = {0.1, 0.5}},
                                      none;
    const char *const names[] = {"l-1.safetensors", "l-2.safetensors"};
    char sub[SCRATCH_MAX], to[SCRATCH_PATH_MAX], err[POLICY_ERROR_MAX], one[SCRATCH_PATH_MAX];
    scratch_make(sub);
    snprintf(one, sizeof one, "%s", ensemble_member(random, names[0], &(struct ensemble_member){0}));
    ensemble_member(random, names[1], &(struct ensemble_member){.features = true});
    snprintf(to, sizeof to, "%s/limited.safetensors", sub);
    check_limited(one, to, &all);
    check_limited(to, one, &none);
    const char *path = scratch_path("l.ensemble.json");
    policy_destroy(made(path, names, 2, ENSEMBLE_MEAN));
    snprintf(to, sizeof to, "%s/limited.ensemble.json", sub);
    check_limited(path, to, &all);
    CHECK_INT(policy_limit_file("/nonexistent/f.safetensors", to, &all, err), -ENOENT);
    CHECK_INT(policy_limit_file("/nonexistent/f.ensemble.json", to, &all, err), -ENOENT);
}

static void test_changed(struct random *random)
{
    const char *const names[] = {"c-1.safetensors", "c-2.safetensors"};
    const char *path = scratch_path("changed.ensemble.json");
    char dir[SCRATCH_MAX], err[POLICY_ERROR_MAX] = "";
    struct policy *policy = NULL;
    scratch_make(dir);
    ensemble_member(random, names[0], &(struct ensemble_member){0});
    ensemble_member(random, names[1], &(struct ensemble_member){0});
    policy = made(path, names, 2, ENSEMBLE_MEAN);
    ensemble_member(random, names[1], &(struct ensemble_member){0});
    CHECK_INT(policy_keep(policy, path, dir, err), -ESTALE);
    CHECK(strstr(err, "its file is another than the one that was read"));
    policy_destroy(policy);
    CHECK_INT(remove(scratch_path(names[1])), 0);
    CHECK_INT(policy_load(path, NULL, &policy, err), -ENOENT);
    CHECK(strstr(err, "changed.ensemble.json: members: number 2: ") && strstr(err, "c-2.safetensors"));
    scratch_write(names[1], "no policy, but long enough to have a header\n");
    CHECK_INT(policy_load(path, NULL, &policy, err), -EINVAL);
    CHECK(strstr(err, "members: number 2: ") && strstr(err, "c-2.safetensors"));
}

int main(void)
{
    struct random random = random_seeded("strategy/ensemble", 20261122);
    test_mean();
    test_majority();
    test_sharpe();
    test_text();
    test_write();
    test_members(&random);
    test_ids(&random);
    test_cache(&random);
    test_limits(&random);
    test_changed(&random);
    return check_done("strategy/ensemble");
}
