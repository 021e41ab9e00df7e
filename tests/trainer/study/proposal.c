/* What a study proposes: which policy, its figures, and what is written. */
#include "tests/trainer/study/hunt.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "strategy/policy/ensemble.h"
#include "trainer/study/proposal_folder.h"
#include "trainer/study/validation.h"

enum { ROWS = 1600, TRIALS = 4, CAP = 1 << 20 };

static const char *const search = "[study]\nvalidation = kfold:4\nsampler = random\nensemble = 1\n"
                                  "[search]\nlearning_rate = 1e-5..1e-2 log\nlookback = 1..3\n";

static const char *in_folder(const struct hunt *hunt, const char *name)
{
    static char path[4][SCRATCH_PATH_MAX + 64];
    static int next;
    char *at = path[next++ % 4];
    snprintf(at, sizeof path[0], "%s/%s", hunt->folder, name);
    return at;
}

static bool same_files(const char *a, const char *b)
{
    static char text[2][CAP];
    size_t n[2];
    const char *paths[2] = {a, b};
    for (int i = 0; i < 2; i++) {
        FILE *in = fopen(paths[i], "re");
        n[i] = in ? fread(text[i], 1, CAP, in) : 0;
        if (in)
            fclose(in);
    }
    return n[0] > 0 && n[0] == n[1] && memcmp(text[0], text[1], n[0]) == 0;
}

static double number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    CHECK(json_is_number(value));
    return json_number_value(value);
}

/* Of the trials by their value; numbers in *ret, best first. */
static void rank(const struct study *study, int ret[static TRIALS])
{
    for (int i = 0; i < TRIALS; i++) {
        int at = i;
        for (; at > 0 && study->trials[i]->values[0] > study->trials[ret[at - 1]]->values[0]; at--)
            ret[at] = ret[at - 1];
        ret[at] = i;
    }
}

/* What can be computed again from the folder's files. */
static void check_luck(const struct hunt *hunt, const json_t *proposal)
{
    const struct returns_trial trials[TRIALS] = {{hunt->folder, "trial 0", 0},
                                                 {hunt->folder, "trial 1", 1},
                                                 {hunt->folder, "trial 2", 2},
                                                 {hunt->folder, "trial 3", 3}};
    struct returns_matrix returns = {0};
    json_t *validation = NULL;
    char err[VALIDATION_ERROR_MAX] = "", name[32];
    int left_out;
    snprintf(name, sizeof name, "trial %d", (int)number(proposal, "trial"));
    CHECK_INT(returns_of_trials(trials, TRIALS, -1, &returns, &left_out, err), 0);
    CHECK_INT(left_out, 0);
    CHECK_INT(returns.rows, hunt->market->search.to - hunt->market->search.from);
    returns.proposed = name;
    CHECK_INT(validation_json(&returns, VALIDATION_BLOCKS, 0, &validation, err), 0);
    CHECK_NEAR(number(proposal, "pbo"), number(validation, "pbo"), 1e-12);
    CHECK_NEAR(number(proposal, "slope"), number(validation, "slope"), 1e-12);
    const json_t *deflated = json_object_get(validation, "deflated");
    CHECK_NEAR(number(proposal, "deflated_sharpe"), number(deflated, "deflated_sharpe"), 1e-12);
    CHECK_NEAR(number(proposal, "skill"), number(deflated, "skill"), 1e-12);
    CHECK_STR(json_string_value(json_object_get(deflated, "name")), name);
    CHECK_INT(number(deflated, "trials"), TRIALS);
    json_decref(validation);
    returns_finish(&returns);
}

static void check_figures(const struct hunt *hunt, const json_t *proposal, const struct trial_split *split)
{
    const struct study_market *market = hunt->market;
    const json_t *holdout = json_object_get(proposal, "holdout");
    struct gate_figures figures;
    struct gate_verdict verdicts[GATES_MAX];
    char err[GATE_ERROR_MAX] = "", words[512];
    bool all;
    CHECK_STR(json_string_value(json_object_get(proposal, "schema")), "papertape.proposal/1");
    CHECK_STR(json_string_value(json_object_get(proposal, "study")), hunt->study->name);
    CHECK_STR(json_string_value(json_object_get(proposal, "name")), "small");
    CHECK_INT(number(proposal, "trials"), TRIALS);
    CHECK_INT(number(proposal, "complete"), TRIALS);
    CHECK(json_is_null(json_object_get(proposal, "expires_s")));
    CHECK(access(json_string_value(json_object_get(proposal, "policy")), R_OK) == 0);
    CHECK(json_string_value(json_object_get(proposal, "policy"))[0] == '/');
    CHECK_INT(number(holdout, "rows"), market->holdout.to - market->holdout.from);
    CHECK_NEAR(number(holdout, "from_ns"), (1704067200 + 3600.0 * (double)market->holdout.from) * 1e9, 1);
    CHECK_NEAR(number(holdout, "to_ns"), (1704067200 + 3600.0 * (double)market->holdout.to) * 1e9, 1);
    if (split) {
        CHECK_NEAR(number(holdout, "sharpe"), split->sharpe, 1e-9);
        CHECK_NEAR(number(holdout, "sharpe_holding"), split->holding, 1e-9);
        CHECK_NEAR(number(holdout, "return_pct"), 100 * split->total_return, 1e-9);
        CHECK_NEAR(number(holdout, "drawdown_pct"), -100 * split->drawdown, 1e-9);
        CHECK_INT(number(holdout, "trades"), split->trades);
    }
    /* The daemon judges by the same file. */
    CHECK_INT(gate_figures_parse(proposal, &figures, err), 0);
    int n = gate_judge(&hunt->settings.gates, &figures, verdicts, &all);
    gate_words(verdicts, n, all, words, sizeof words);
    CHECK(json_is_true(json_object_get(proposal, "admitted")) == all);
    const char *said = json_string_value(json_object_get(proposal, "words")),
               *begin = all ? "admitted: " : "refused: ";
    CHECK(said && strncmp(said, begin, strlen(begin)) == 0 && strcmp(said + strlen(begin), words) == 0);
    CHECK_INT(json_array_size(json_object_get(proposal, "gates")), n);
    json_t *kept = json_load_file(in_folder(hunt, "proposal.json"), 0, NULL);
    CHECK(kept && json_object_size(kept) == json_object_size(proposal));
    json_decref(kept);
    CHECK(access(in_folder(hunt, "report.html"), R_OK) == 0);
}

/* ---- One policy. ---- */

static void test_best(struct hunt *hunt)
{
    json_t *proposal = NULL;
    char err[TRIAL_ERROR_MAX] = "", policy[64];
    int best[TRIALS];
    struct trial_split split;
    rank(hunt->study, best);
    hunt->reported[0] = '\0';
    CHECK_INT(hunt_propose(hunt, &proposal, err), 0);
    CHECK_STR(err, "");
    CHECK_STR(hunt->reported, "");
    CHECK_STR(json_string_value(json_object_get(proposal, "kind")), "policy");
    CHECK_INT(number(proposal, "trial"), best[0]);
    CHECK_NEAR(number(proposal, "value"), hunt->study->trials[best[0]]->values[0], 1e-12);
    const char *trained = json_string_value(json_object_get(proposal, "policy"));
    snprintf(policy, sizeof policy, "/proposals/1/%d/policy.safetensors", best[0]);
    CHECK(strstr(trained, policy) != NULL);
    snprintf(policy, sizeof policy, "proposals/1/%d/policy.safetensors", best[1]);
    CHECK(access(in_folder(hunt, policy), F_OK) < 0);

    /* The trial's own parameters, all rows of the study. */
    struct train_config *config = fatal_calloc(1, sizeof *config);
    const struct space *space = &hunt->settings.space;
    double values[8];
    for (int i = 0; i < space->n; i++)
        values[i] = study_trial_param(hunt->study->trials[best[0]],
                                      study_param_find(hunt->study, space->params[i].name))
                        ->value;
    CHECK_INT(study_settings_apply(hunt->config, space, values, config, err), 0);
    CHECK_INT(study_trial_final(hunt->market, config, in_folder(hunt, "again"), NULL, &split, err), 0);
    CHECK(same_files(trained, in_folder(hunt, "again/policy.safetensors")));
    check_figures(hunt, proposal, &split);
    check_luck(hunt, proposal);
    free(config);
    json_decref(proposal);
}

/* ---- Other members of the same study. ---- */

static void copy_returns(const char *from, const char *to)
{
    static char text[CAP];
    FILE *in = fopen(from, "re"), *out = fopen(to, "we");
    size_t n = in ? fread(text, 1, CAP, in) : 0;
    CHECK(n > 0 && n < CAP && out && fwrite(text, 1, n, out) == n);
    if (in)
        fclose(in);
    if (out)
        fclose(out);
}

static int again(struct hunt *hunt, const struct study_members *others, json_t *proposal)
{
    char err[TRIAL_ERROR_MAX] = "";
    return study_proposal_rejudge(hunt->config, &hunt->settings, hunt->study, others, hunt->folder, NULL,
                                  proposal, err);
}

/* Every figure of the one, and its gates, are the other's; the policy, which lies in a folder of its own, and
 * what it did are those that were made for it. */
static bool same_figures(const json_t *a, const json_t *b)
{
    const char *key;
    json_t *value;
    bool same = json_object_size(a) == json_object_size(b);
    json_object_foreach((json_t *)(uintptr_t)a, key, value)
    {
        const json_t *other = json_object_get(b, key);
        if (json_is_real(value))
            same = same && fabs(json_real_value(value) - json_number_value(other)) <= 1e-9;
        else if (strcmp(key, "policy") != 0 && strcmp(key, "gates") != 0 && strcmp(key, "holdout") != 0 &&
                 strcmp(key, "verdict_figures") != 0)
            same = same && json_equal(value, other);
    }
    return same;
}

/* `alone` was proposed by the study's trials, `among` by those of the others too. Figures beside the trained
 * trial's are computed again; what another trial would be trained for is made again. */
static void test_again(struct hunt *hunt, json_t *alone, json_t *among)
{
    const struct study_members *others = &hunt->others;
    struct study *study = hunt->study;
    int best[TRIALS];
    rank(study, best);
    struct study_trial *first = study->trials[best[0]], *last = study->trials[best[TRIALS - 1]],
                       *other = others->of[1].study->trials[0];
    json_t *now = json_deep_copy(among), *before = json_deep_copy(among);
    CHECK_INT(number(alone, "tried"), TRIALS);
    CHECK_INT(number(among, "tried"), TRIALS + 3 + 2);
    CHECK_INT(again(hunt, others, now), 1);
    CHECK(json_equal(now, among));
    json_decref(now);
    now = json_deep_copy(alone);
    CHECK_INT(again(hunt, others, now), 1); /* others have started since */
    CHECK(same_figures(now, among) && !same_figures(now, alone));
    CHECK_STR(json_string_value(json_object_get(now, "policy")),
              json_string_value(json_object_get(alone, "policy")));
    json_t *kept = json_load_file(in_folder(hunt, "proposal.json"), 0, NULL);
    CHECK(same_figures(kept, among));
    json_decref(kept);
    CHECK_INT(again(hunt, NULL, now), 1);
    CHECK(same_figures(now, alone));

    other->state = TRIAL_RUNNING; /* one of another study's has not ended */
    CHECK_INT(again(hunt, others, before), 1);
    CHECK_INT(number(before, "tried"), TRIALS + 3 + 1);
    other->state = TRIAL_COMPLETE;
    CHECK_INT(again(hunt, others, before), 1);
    CHECK(same_figures(before, among));

    /* As many, but others. */
    last->values[0] -= 1;
    CHECK_INT(again(hunt, others, before), 1);
    CHECK(!json_equal(json_object_get(before, "of_trials"), json_object_get(among, "of_trials")));
    last->values[0] += 1;
    first->completed_us++;
    CHECK_INT(again(hunt, others, before), 0);
    first->completed_us--;
    first->params[0].value *= 1.5;
    CHECK_INT(again(hunt, others, before), 0);
    first->params[0].value /= 1.5;
    last->values[0] += 1000; /* it is the best */
    CHECK_INT(again(hunt, others, before), 0);
    last->values[0] -= 1000;
    json_object_set_new(before, "policy", json_string("/none"));
    json_object_del(before, "of_trials");
    CHECK_INT(again(hunt, others, before), 0);
    json_decref(now);
    json_decref(before);
}

/* search_1 proposes; search_2 has two trials of the same rows and a pruned one, search_3 one of other rows;
 * searcher_1 is another study. */
static void test_members(void)
{
    struct hunt hunt;
    json_t *alone = NULL, *among = NULL;
    char err[TRIAL_ERROR_MAX] = "", path[SCRATCH_PATH_MAX + 64], folders[SCRATCH_PATH_MAX];
    static const char *const names[] = {"search_2", "search_3", "searcher_1"};
    int best[TRIALS];
    hunt_begin(&hunt, ROWS, true, 8, search);
    for (int i = 0; i < TRIALS; i++)
        hunt_trial(&hunt);
    rank(hunt.study, best);
    CHECK_INT(hunt_propose(&hunt, &alone, err), 0);
    snprintf(folders, sizeof folders, "%s", scratch_path("members"));
    scratch_remove(folders);
    CHECK_INT(mkdir(folders, 0700), 0);
    for (int s = 0; s < 3; s++) {
        const enum study_direction up = STUDY_MAXIMIZE;
        const double value = 0;
        int64_t id, trial;
        int number;
        hunt_check(study_store_create(hunt.store, names[s], &up, 1, &id, NULL, err), err);
        snprintf(path, sizeof path, "%s/%s", folders, names[s]);
        CHECK_INT(mkdir(path, 0700), 0);
        for (int i = 0; i < 3 - s; i++) {
            hunt_check(study_store_ask(hunt.store, id, false, &trial, &number, err), err);
            hunt_check(i == 2 ? study_store_tell(hunt.store, trial, TRIAL_PRUNED, NULL, 0, err)
                              : study_store_tell(hunt.store, trial, TRIAL_COMPLETE, &value, 1, err),
                       err);
            snprintf(path, sizeof path, "%s/%s/%d", folders, names[s], number);
            CHECK_INT(mkdir(path, 0700), 0);
            snprintf(path, sizeof path, "%s/%s/%d/returns.csv", folders, names[s], number);
            char own[32];
            snprintf(own, sizeof own, "%d/returns.csv", best[1 + i % 3]);
            if (s == 0)
                copy_returns(in_folder(&hunt, own), path);
            else
                scratch_write(path + strlen(scratch_root()) + 1, "timestamp_ns,path_1\n1,0.1\n2,0.2\n");
        }
    }
    CHECK_INT(
        study_members_load(hunt.store, "search", NULL, folders, hunt_reported, &hunt, &hunt.others, err), 0);
    CHECK_INT(hunt.others.n, 2);
    CHECK_STR(hunt.others.of[0].study->name, "search_2");
    CHECK_INT(hunt_propose(&hunt, &among, err), 0);
    CHECK_INT(number(among, "trial"), number(alone, "trial"));
    CHECK(number(among, "expected_sharpe") != number(alone, "expected_sharpe")); /* more were tried */

    struct returns_matrix returns = {0};
    char name[STUDY_COLUMN_MAX];
    int left_out;
    CHECK_INT(
        study_members_returns(hunt.study, hunt.folder, &hunt.others, best[0], &returns, name, &left_out, err),
        0);
    CHECK_INT(returns.columns, TRIALS + 2);
    CHECK_INT(returns.tried, TRIALS + 3 + 2);
    CHECK_INT(left_out, 2);
    CHECK_STR(returns.names[TRIALS], "search_2 trial 0");
    snprintf(path, sizeof path, "%s trial %d", hunt.study->name, best[0]);
    CHECK_STR(name, path);
    json_t *validation = NULL;
    CHECK_INT(validation_json(&returns, VALIDATION_BLOCKS, 0, &validation, err), 0);
    const json_t *deflated = json_object_get(validation, "deflated");
    CHECK_STR(json_string_value(json_object_get(deflated, "name")), name);
    CHECK_INT(number(deflated, "trials"), TRIALS + 3 + 2);
    CHECK_NEAR(number(among, "pbo"), number(validation, "pbo"), 1e-12);

    CHECK_NEAR(number(among, "expected_sharpe"), number(deflated, "expected_sharpe"), 1e-12);
    CHECK_NEAR(number(among, "skill"), number(deflated, "skill"), 1e-12);
    test_again(&hunt, alone, among);
    json_decref(validation);
    returns_finish(&returns);
    study_members_finish(&hunt.others);
    CHECK_INT(study_members_load(hunt.store, "none", NULL, folders, hunt_reported, &hunt, &hunt.others, err),
              0);
    CHECK_INT(hunt.others.n, 0);
    json_decref(alone);
    json_decref(among);
    study_members_finish(&hunt.others);
    hunt_end(&hunt);
}

/* ---- Several. ---- */

static void test_together(struct hunt *hunt)
{
    static const char *const combines[] = {"mean", "majority", "sharpe"};
    char err[TRIAL_ERROR_MAX] = "", name[64];
    int best[TRIALS];
    rank(hunt->study, best);
    for (size_t c = 0; c < sizeof combines / sizeof *combines; c++) {
        json_t *proposal = NULL;
        struct ensemble_policy *ensemble = NULL;
        hunt->settings.ensemble = 3;
        CHECK(ensemble_combine_parse(combines[c], &hunt->settings.combine));
        hunt->reported[0] = '\0';
        CHECK_INT(hunt_propose(hunt, &proposal, err), 0);
        CHECK_STR(hunt->reported, "");
        CHECK_STR(json_string_value(json_object_get(proposal, "kind")), "ensemble");
        CHECK(strstr(json_string_value(json_object_get(proposal, "policy")), "/ensemble.json"));
        CHECK_INT(json_array_size(json_object_get(proposal, "trials_proposed")), 3);
        for (int i = 0; i < 3; i++)
            CHECK_INT(
                json_integer_value(json_array_get(json_object_get(proposal, "trials_proposed"), (size_t)i)),
                best[i]);
        CHECK_INT(ensemble_load(json_string_value(json_object_get(proposal, "policy")), &ensemble, err), 0);
        if (ensemble) {
            CHECK_INT(ensemble->policy.n_members, 3);
            snprintf(name, sizeof name, "%d/policy.safetensors", best[2]);
            CHECK_STR(ensemble->policy.member_names[2], name);
        }
        ensemble_destroy(ensemble);
        check_figures(hunt, proposal, NULL);
        CHECK(number(json_object_get(proposal, "holdout"), "trades") > 0);
        json_decref(proposal);
    }
    /* Three times the same: what that one does, to the precision of float32 sums. */
    json_t *alone = NULL, *thrice = NULL;
    struct study_trial *const trials[2] = {hunt->study->trials[best[1]], hunt->study->trials[best[2]]};
    struct study_trial copies[2] = {*hunt->study->trials[best[0]], *hunt->study->trials[best[0]]};
    for (int i = 0; i < 2; i++)
        hunt->study->trials[best[1 + i]] = &copies[i]; /* their number too: one folder */
    hunt->settings.ensemble = 1;
    CHECK_INT(hunt_propose(hunt, &alone, err), 0);
    hunt->settings.ensemble = 3;
    hunt->settings.combine = ENSEMBLE_MEAN;
    CHECK_INT(hunt_propose(hunt, &thrice, err), 0);
    CHECK_STR(json_string_value(json_object_get(thrice, "kind")), "ensemble");
    const json_t *one = json_object_get(alone, "holdout"), *three = json_object_get(thrice, "holdout");
    CHECK_NEAR(number(three, "sharpe"), number(one, "sharpe"), 0.01 * fabs(number(one, "sharpe")));
    CHECK_NEAR(number(three, "trades"), number(one, "trades"), 0.02 * number(one, "trades"));
    CHECK_NEAR(number(three, "sharpe_holding"), number(one, "sharpe_holding"), 1e-9);
    json_decref(alone);
    json_decref(thrice);
    for (int i = 0; i < 2; i++)
        hunt->study->trials[best[1 + i]] = trials[i];
    hunt->settings.ensemble = 1;
}

/* Trials that traded by other rules act together by the best one's. */
static void test_rules(void)
{
    struct hunt hunt;
    struct ensemble_policy *ensemble = NULL;
    json_t *proposal = NULL;
    char err[TRIAL_ERROR_MAX] = "";
    hunt_begin(&hunt, ROWS, true, 4,
               "[study]\nvalidation = kfold:3\nsampler = random\nensemble = 2\n"
               "[search]\nnorm_action = 0.2..2\nmin_cash_reserve = 0.04..0.3\ntrailing_stop_pct = 0..0.2\n");
    for (int i = 0; i < 2; i++)
        hunt_trial(&hunt);
    const struct study_trial *best = study_best(hunt.study);
    double norm_action = study_trial_param(best, study_param_find(hunt.study, "norm_action"))->value;
    CHECK_INT(hunt_propose(&hunt, &proposal, err), 0);
    CHECK_STR(json_string_value(json_object_get(proposal, "kind")), "ensemble");
    CHECK_STR(hunt.reported, "");
    CHECK_INT(ensemble_load(json_string_value(json_object_get(proposal, "policy")), &ensemble, err), 0);
    for (int i = 0; ensemble && i < 2; i++)
        CHECK(fabs(ensemble->members[i]->policy.rules.norm_action - norm_action) <= 1e-9 * norm_action);
    ensemble_destroy(ensemble);
    json_decref(proposal);
    hunt_end(&hunt);
}

/* ---- A training that is refused or diverges, a machine that fails. ---- */

static void spoil(struct study_trial *trial, const struct study *study, double rate)
{
    for (int i = 0; i < trial->n_params; i++)
        if (strcmp(study->params[trial->params[i].param], "learning_rate") == 0)
            trial->params[i].value = rate;
}

/* A proposal's figures match the files that it names, whatever becomes of the next one. */
static void test_next_best(void)
{
    struct hunt hunt;
    json_t *proposal = NULL, *next = NULL;
    char err[TRIAL_ERROR_MAX] = "", kept[SCRATCH_PATH_MAX + 64];
    int best[TRIALS];
    hunt_begin(&hunt, ROWS, true, 6, search);
    for (int i = 0; i < TRIALS; i++)
        hunt_trial(&hunt);
    rank(hunt.study, best);
    CHECK_INT(hunt_propose(&hunt, &proposal, err), 0);
    const char *first = json_string_value(json_object_get(proposal, "policy"));
    CHECK_INT(number(proposal, "trial"), best[0]);
    snprintf(kept, sizeof kept, "%s", in_folder(&hunt, "kept.safetensors"));
    CHECK_INT(link(first, kept), 0);

    spoil(hunt.study->trials[best[0]], hunt.study, 1e30);
    CHECK_INT(mkdir(in_folder(&hunt, "proposals/2"), 0700), 0);
    CHECK_INT(mkdir(in_folder(&hunt, "proposals/2/0"), 0700), 0); /* it was reported before */
    CHECK_INT(hunt_propose(&hunt, &next, err), 0);
    CHECK(strstr(hunt.reported, "is not proposed, the next best is"));
    CHECK_INT(number(next, "trial"), best[1]);
    CHECK(strstr(json_string_value(json_object_get(next, "policy")), "/proposals/3/") != NULL);
    CHECK(access(in_folder(&hunt, "proposals/2/0"), F_OK) == 0);
    CHECK_NEAR(number(next, "value"), hunt.study->trials[best[1]]->values[0], 1e-12);
    CHECK(same_files(first, kept));
    check_luck(&hunt, next);
    json_decref(next);
    hunt.settings.ensemble = 2; /* of which the third best takes the place of the best */
    next = NULL;
    CHECK_INT(hunt_propose(&hunt, &next, err), 0);
    CHECK_STR(err, "");
    const json_t *members = json_object_get(next, "trials_proposed");
    CHECK_INT(json_array_size(members), 2);
    CHECK_INT(json_integer_value(json_array_get(members, 0)), best[1]);
    CHECK_INT(json_integer_value(json_array_get(members, 1)), best[2]);
    json_decref(next);

    hunt.config->ppo.bad_updates = 1;
    hunt.config->ppo.net.activation = NET_RELU;
    hunt.config->env.weight_alpha = 1e6;
    hunt.config->env.initial_capital = (struct env_range){1e7, 1e7};
    hunt.config->env.norm_reward = 1e12;
    hunt.config->ppo.normalise_rewards = false;
    hunt.config->ppo.max_grad_norm = 0;
    hunt.config->ppo.total_steps = 1 << 16;
    for (int i = 0; i < TRIALS; i++)
        spoil(hunt.study->trials[best[i]], hunt.study, 0.01);
    next = NULL;
    CHECK_INT(hunt_propose(&hunt, &next, err), -EDOM); /* of none there is anything to propose */
    CHECK(err[0] && !next);
    CHECK(access(in_folder(&hunt, "proposals/4"), F_OK) == 0); /* of the one before */
    CHECK(access(in_folder(&hunt, "proposals/5"), F_OK) < 0);
    snprintf(kept, sizeof kept, "trial %d is not proposed", best[TRIALS - 1]);
    CHECK(strstr(hunt.reported, kept)); /* all were tried */
    json_t *reported = json_load_file(in_folder(&hunt, "proposal.json"), 0, NULL);
    CHECK(access(json_string_value(json_object_get(reported, "policy")), R_OK) ==
          0); /* the last one's still */
    CHECK_INT(json_array_size(json_object_get(reported, "trials_proposed")), 2);
    json_decref(reported);
    json_decref(proposal);
    hunt_end(&hunt);
}

/* ---- Folders of killed processes. ---- */

/* Another process that has started to propose; it ends by `ret_hold`, whose end it waits for. */
static pid_t begin_proposing(const struct hunt *hunt, int *ret_hold)
{
    int started[2], hold[2];
    char byte = 0;
    if (pipe2(started, O_CLOEXEC) < 0 || pipe2(hold, O_CLOEXEC) < 0)
        fatal("pipes");
    pid_t child = fork();
    if (child == 0) {
        struct proposal_folder own;
        char err[TRIAL_ERROR_MAX], path[PATH_MAX + 16];
        close(hold[1]);
        if (study_proposal_folder_make(hunt->folder, &own, err) < 0)
            _exit(1);
        snprintf(path, sizeof path, "%s/0", own.path);
        mkdir(path, 0700);
        if (write(started[1], "b", 1) == 1)
            (void)!read(hold[0], &byte, 1);
        _exit(0); /* nothing is finished */
    }
    close(started[1]);
    close(hold[0]);
    CHECK_INT(read(started[0], &byte, 1), 1);
    close(started[0]);
    *ret_hold = hold[1];
    return child;
}

static void end_proposing(pid_t child, int hold)
{
    int status = 0;
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    close(hold);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void propose_in(struct hunt *hunt, const char *where)
{
    json_t *proposal = NULL;
    char err[TRIAL_ERROR_MAX] = "";
    CHECK_INT(hunt_propose(hunt, &proposal, err), 0);
    CHECK_STR(err, "");
    const char *policy = json_string_value(json_object_get(proposal, "policy"));
    CHECK(policy && strstr(policy, where));
    json_decref(proposal);
}

/* The files of a killed process are removed when another proposes; not those of a live one, nor a proposal
 * that was reported, however its process ended. */
static void test_abandoned(void)
{
    struct hunt hunt;
    int hold, others_hold;
    hunt_begin(&hunt, ROWS, true, 9, search);
    hunt_trial(&hunt);
    pid_t live = begin_proposing(&hunt, &hold), killed = begin_proposing(&hunt, &others_hold);
    end_proposing(killed, others_hold);
    CHECK_INT(mkdir(in_folder(&hunt, "proposals/3"), 0700), 0); /* killed before it was at anything */
    CHECK_INT(mkdir(in_folder(&hunt, "proposals/9"), 0700), 0);
    CHECK_INT(mkdir(in_folder(&hunt, "proposals/9/0"), 0700), 0); /* of one that is finished */
    CHECK_INT(mkdir(in_folder(&hunt, "proposals/mine"), 0700), 0);
    CHECK(access(in_folder(&hunt, "proposals/1/unfinished"), F_OK) == 0);
    CHECK(access(in_folder(&hunt, "proposals/2/0"), F_OK) == 0);
    propose_in(&hunt, "/proposals/2/");
    CHECK(access(in_folder(&hunt, "proposals/1/0"), F_OK) == 0);
    CHECK(access(in_folder(&hunt, "proposals/1/unfinished"), F_OK) == 0);
    CHECK(access(in_folder(&hunt, "proposals/2/unfinished"), F_OK) < 0);
    CHECK(access(in_folder(&hunt, "proposals/3"), F_OK) < 0);
    CHECK(access(in_folder(&hunt, "proposals/9/0"), F_OK) == 0);
    CHECK(access(in_folder(&hunt, "proposals/mine"), F_OK) == 0);

    /* Killed when proposal.json was written already. */
    int fd = open(in_folder(&hunt, "proposals/2/unfinished"), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    close(fd);
    end_proposing(live, hold);
    CHECK_INT(rename(in_folder(&hunt, "proposal.json"), in_folder(&hunt, "kept")), 0);
    fd = open(in_folder(&hunt, "proposal.json"), O_CREAT | O_WRONLY | O_CLOEXEC, 0600); /* it is empty */
    close(fd);
    struct proposal_folder own;
    char err[TRIAL_ERROR_MAX];
    CHECK_INT(study_proposal_folder_make(hunt.folder, &own, err), 0);
    CHECK(strstr(own.path, "/proposals/3"));
    study_proposal_folder_finish(&own, false);
    CHECK(access(own.path, F_OK) < 0);
    CHECK(access(in_folder(&hunt, "proposals/1/0"), F_OK) == 0);
    CHECK_INT(rename(in_folder(&hunt, "kept"), in_folder(&hunt, "proposal.json")), 0);
    propose_in(&hunt, "/proposals/3/");
    CHECK(access(in_folder(&hunt, "proposals/1"), F_OK) < 0);
    CHECK(access(in_folder(&hunt, "proposals/2/unfinished"), F_OK) < 0);
    propose_in(&hunt, "/proposals/4/");
    char policy[64]; /* the daemon may be at it still */
    snprintf(policy, sizeof policy, "proposals/2/%d/policy.safetensors", hunt.study->trials[0]->number);
    CHECK(access(in_folder(&hunt, policy), R_OK) == 0);

    /* Killed so while another was at its own, which is reported next. */
    CHECK_INT(study_proposal_folder_make(hunt.folder, &own, err), 0);
    fd = open(in_folder(&hunt, "proposals/4/unfinished"), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    close(fd);
    char reported[PATH_MAX + 16];
    snprintf(reported, sizeof reported, "%s/policy", own.path);
    json_t *next = json_pack("{s:s}", "policy", reported);
    CHECK_INT(study_proposal_file_write(next, hunt.folder, err), 0);
    json_decref(next);
    study_proposal_folder_finish(&own, true);
    CHECK_INT(study_proposal_folder_make(hunt.folder, &own, err), 0);
    study_proposal_folder_finish(&own, false);
    snprintf(policy, sizeof policy, "proposals/4/%d/policy.safetensors", hunt.study->trials[0]->number);
    CHECK(access(in_folder(&hunt, policy), R_OK) == 0);
    hunt_end(&hunt);
}

/* No room for the files of the best trial: no other is proposed instead. */
static void test_machine(void)
{
    struct hunt hunt;
    json_t *proposal = NULL;
    char err[TRIAL_ERROR_MAX] = "";
    hunt_begin(&hunt, ROWS, true, 7, search);
    for (int i = 0; i < 2; i++)
        hunt_trial(&hunt);
    int fd = open(in_folder(&hunt, "proposals"), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    close(fd);
    CHECK_INT(hunt_propose(&hunt, &proposal, err), -ENOTDIR);
    CHECK_STR(hunt.reported, "");
    CHECK(!proposal && access(in_folder(&hunt, "proposal.json"), F_OK) < 0);
    hunt_end(&hunt);
}

/* ---- What is not known passes no gate. ---- */

static void test_unknown(void)
{
    struct hunt hunt;
    json_t *proposal = NULL;
    char err[TRIAL_ERROR_MAX] = "";
    hunt_begin(&hunt, ROWS, true, 5,
               "[study]\nvalidation = kfold:3\nholdout = 0\n[search]\ngamma = 0.9..0.99\n");
    CHECK_INT(hunt_propose(&hunt, &proposal, err), -ENODATA);
    CHECK(strstr(err, "no trial is complete"));
    hunt_trial(&hunt);
    CHECK_INT(hunt_propose(&hunt, &proposal, err), 0);
    const json_t *holdout = json_object_get(proposal, "holdout");
    CHECK(json_is_null(json_object_get(proposal, "pbo")) && hunt.reported[0]);
    CHECK(json_is_null(json_object_get(holdout, "sharpe")) &&
          json_integer_value(json_object_get(holdout, "rows")) == 0);
    CHECK(json_is_false(json_object_get(proposal, "admitted")));
    CHECK(strstr(json_string_value(json_object_get(proposal, "words")), "trades is not known"));
    json_decref(proposal);
    hunt_end(&hunt);
}

int main(void)
{
    struct hunt hunt;
    scratch_in_memory();
    hunt_begin(&hunt, ROWS, true, 3, search);
    for (int i = 0; i < TRIALS; i++)
        hunt_trial(&hunt);
    test_best(&hunt);
    test_together(&hunt);
    hunt_end(&hunt);
    test_rules();
    test_members();
    test_next_best();
    test_abandoned();
    test_machine();
    test_unknown();
    return check_done("proposal");
}
