/* The overfitting check of a study: a proposal and the trials' returns, of one study and of several workers
 * together, against what the trainer makes of the same files. */
#include <locale.h>
#include <stdlib.h>

#include "fixtures/studies.h"
#include "tests/check.h"
#include "tests/scratch.h"
#include "trainer/study/validation.h"
#include "tui/study_source.h"

static const int64_t now_us = 1723161255342000;
static const enum study_direction maximize[] = {STUDY_MAXIMIZE};

static void write_text(const char *folder, const char *name, const char *text)
{
    char path[2 * SCRATCH_PATH_MAX];

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

/* A trial that is the better the higher `number`, beside holding. */
static void write_returns(const char *folder, int number)
{
    char path[SCRATCH_PATH_MAX + 40], *text = NULL;
    size_t size;

    snprintf(path, sizeof(path), "%s/%d", folder, number);
    CHECK_INT(mkdir(path, 0700), 0);
    FILE *out = open_memstream(&text, &size);
    fprintf(out, "timestamp_ns,path_1,path_2,holding,equal_weight\n");
    for (int i = 0; i < 280; i++) {
        double noise = 0.01 * sin(i * (1.3 + 0.1 * number)), edge = 0.001 * number;
        fprintf(out, "%lld,%.17g,%.17g,0.0005,%s\n", 1700000000000000000LL + i * 300000000000LL, noise + edge,
                noise + edge, i % 2 ? "0.001" : "-0.001");
    }
    fclose(out);
    write_text(path, "returns.csv", text);
    free(text);
}

/* A file at a time, also of a minute's slice that is of no use any more; how many readings that took. */
static int read_all(struct study_members *members, struct tui_study_validation *ret)
{
    struct returns_kept *kept = returns_kept_create();
    const atomic_bool stop = true;
    int readings = 0, left = 0;

    do {
        tui_study_validation_read(members, NULL, kept, readings % 2 ? 60000 : 0, &stop, ret);
        CHECK(readings++ == 0 || ret->unread == left - 1);
        CHECK(ret->unread == 0 || (strstr(ret->returns_words, "reading returns: ") && ret->n_lambda == 0));
        left = ret->unread;
    } while (left > 0);
    returns_kept_destroy(kept);
    return readings;
}

/* A study of `n` COMPLETE trials, each better than the one before. */
static struct study *finished_by_hand(const char *name, int n)
{
    fixture_studies_begin();
    struct study *study = fixture_study(name, 1, 1, maximize);
    for (int i = 0; i < n; i++) {
        const double value = i;
        fixture_value(fixture_trial(study, TRIAL_COMPLETE, 100, 50), &value, 1);
    }
    return study;
}

/* A trial finished by hand, in Optuna: it has no returns, and the page those of the best Sharpe. */
static void check_best_without_returns(void)
{
    char folder[SCRATCH_MAX];
    struct tui_study_validation v;
    struct study_member member = {.study = finished_by_hand("own", 4), .folder = folder};
    struct study_members alone = {&member, 1};

    scratch_make(folder);
    for (int i = 0; i < 3; i++)
        write_returns(folder, i);
    CHECK_INT(read_all(&alone, &v), 4);
    CHECK_INT(v.columns, 3);
    CHECK_INT(v.equity_trial, 2);
}

/* Of a study of Optuna's neither a proposal nor returns will come. */
static void check_others_study(void)
{
    char folder[SCRATCH_MAX + 8];
    struct tui_study_validation v;
    struct study_member member = {.study = finished_by_hand("theirs", 3), .folder = folder};
    struct study_members alone = {&member, 1};

    scratch_make(folder);
    strcat(folder, "/none");
    read_all(&alone, &v);
    CHECK_STR(v.words, "no proposal: a study of papertape-trainer's own makes one");
    CHECK_STR(v.returns_words, "no returns: trials of papertape-trainer's own leave them");
    fixture_study_user(member.study, "papertape:trials", "10"); /* ours, and its folder is gone */
    read_all(&alone, &v);
    CHECK_STR(v.words, "no proposal yet: it comes when the study ends");
    CHECK(strstr(v.returns_words, "returns of 0 trials: two or more"));
}

static void check_validation(void)
{
    static const enum trial_state states[] = {TRIAL_COMPLETE, TRIAL_COMPLETE, TRIAL_COMPLETE,
                                              TRIAL_COMPLETE, TRIAL_PRUNED,   TRIAL_COMPLETE};
    char folder[SCRATCH_MAX];
    struct tui_study_validation v;
    struct study_member member = {.folder = folder};
    struct study_members alone = {&member, 1};

    scratch_make(folder);
    fixture_studies_begin();
    member.study = fixture_study("own", 1, 1, maximize);
    fixture_study_user(member.study, "papertape:trials", "6");
    read_all(&alone, &v);
    CHECK_STR(v.returns_words, "no trial has completed yet");
    for (int i = 0; i < 6; i++) {
        const double value = i;
        fixture_value(fixture_trial(member.study, states[i], 100, 50), &value, 1);
    }
    read_all(&alone, &v);
    CHECK(!v.have && strstr(v.words, "no proposal yet") && v.returns_words[0] && v.n_lambda == 0);
    CHECK(isnan(v.pbo) && isnan(v.holdout.sharpe) && v.holdout.trades == -1);
    for (int i = 0; i < 6; i++)
        write_returns(folder, i);
    tui_study_validation_read(&alone, NULL, NULL, 0, NULL, &v); /* only whether there is a proposal */
    CHECK(!v.have && v.columns == 0 && v.n_lambda == 0 && isnan(v.pbo));
    CHECK_INT(read_all(&alone, &v), 5);
    CHECK_STR(v.returns_words, "");
    CHECK_STR(v.study, "own");
    CHECK_STR(v.equity_study, "own");
    CHECK_INT(v.equity_trial, 5); /* the best */
    CHECK(isfinite(v.skill) && isfinite(v.deflated) && isfinite(v.expected));
    CHECK_INT(v.columns, 5);
    CHECK_INT(v.rows, 280);
    CHECK_INT(v.n_lambda, 3432);
    CHECK_NEAR(v.pbo, 0, 0);                /* the best in sample is always the best out of it */
    CHECK(!tui_study_validation_moved(&v)); /* there is no proposal */
    int left = 0, all = 0;
    for (int i = 0; i < STUDY_LAMBDA_BINS; i++) {
        left += i < STUDY_LAMBDA_BINS / 2 ? v.lambda[i] : 0;
        all += v.lambda[i];
    }
    CHECK_INT(left, 0);
    CHECK_INT(all, 3432);
    CHECK_INT(v.n_equity, STUDY_EQUITY_POINTS);
    CHECK_NEAR(v.equity[1][v.n_equity - 1], pow(1.0005, 280), 1e-9);
    CHECK_NEAR(v.equity[2][v.n_equity - 1], pow(1.001 * 0.999, 140), 1e-9);

    write_text(
        folder, "proposal.json",
        "{\"schema\":\"papertape.proposal/"
        "1\",\"trial\":3,\"value\":1.5,\"pbo\":0.25,\"deflated_sharpe\":null,"
        "\"holdout\":{\"sharpe\":1.25,\"trades\":41},\"gates\":[{\"gate\":\"pbo\",\"figure\":0.25,\"limit\":"
        "0.2,"
        "\"passed\":false},7,{\"gate\":null}],\"admitted\":false,\"words\":\"refused: \\u001b[2J pbo\"}");
    read_all(&alone, &v);
    CHECK(v.have && !v.admitted);
    CHECK_STR(v.verdict, "refused: ?[2J pbo");
    CHECK_NEAR(v.pbo, 0.25, 0); /* the proposal's word */
    CHECK_NEAR(v.pbo_now, 0, 0);
    CHECK(tui_study_validation_moved(&v));
    CHECK(isnan(v.deflated) && isnan(v.holdout.holding));
    CHECK_NEAR(v.holdout.sharpe, 1.25, 0);
    CHECK_INT(v.n_gates, 1);
    CHECK_STR(v.gates[0].gate, "pbo");
    CHECK_INT(v.equity_trial, 3);
    write_text(folder, "proposal.json",
               "{\"schema\":\"papertape.proposal/1\",\"trial\":4294967299,\"skill\":0.75}");
    read_all(&alone, &v);
    CHECK(v.have && v.trial == -1);
    CHECK_NEAR(v.skill, 0.75, 0);
    write_text(folder, "proposal.json", "{\"schema\":\"papertape.proposal/2\"}");
    read_all(&alone, &v);
    CHECK(!v.have && strstr(v.words, "papertape.proposal/1 would be right"));
    write_text(folder, "proposal.json", "{\"schema\":");
    read_all(&alone, &v);
    CHECK(!v.have && strstr(v.words, "proposal.json: line 1"));
    char path[SCRATCH_PATH_MAX + 40];
    snprintf(path, sizeof(path), "%s/proposal.json", folder);
    CHECK(unlink(path) == 0 && mkfifo(path, 0600) == 0); /* no process writes to it: it is not waited for */
    alarm(20);
    read_all(&alone, &v);
    alarm(0);
    CHECK(!v.have && strstr(v.words, "a regular file would be right"));
}

/* ---- A validation of several workers. ---- */

/* A study with trials in the storage, and `trials` COMPLETE ones of these rows, each with returns of its own;
 * of value number + above. */
static int64_t write_study(struct study_store *store, const char *name, int trials, double above, int rows)
{
    char err[STUDY_ERROR_MAX] = "", path[2 * SCRATCH_PATH_MAX], *text = NULL;
    int64_t id, trial;
    size_t size;
    int number;

    CHECK_INT(study_store_create(store, name, maximize, 1, &id, NULL, err), 0);
    snprintf(path, sizeof(path), "%s/%s", scratch_path("studies"), name);
    CHECK_INT(mkdir(path, 0700), 0);
    for (int i = 0; i < trials; i++) {
        const double value = i + above;
        CHECK_INT(study_store_ask(store, id, false, &trial, &number, err), 0);
        CHECK_INT(study_store_tell(store, trial, TRIAL_COMPLETE, &value, 1, err), 0);
        snprintf(path, sizeof(path), "%s/%s/%d", scratch_path("studies"), name, number);
        CHECK_INT(mkdir(path, 0700), 0);
        FILE *out = open_memstream(&text, &size);
        fprintf(out, "timestamp_ns,path_1,holding\n");
        for (int row = 0; row < rows; row++)
            fprintf(out, "%lld,%.17g,0.0005\n", 1700000000000000000LL + row * 300000000000LL,
                    0.01 * sin(row * (1.3 + 0.17 * i + 0.05 * above) + row * row * 0.01 * (i + 1)) + 1e-4);
        fclose(out);
        write_text(path, "returns.csv", text);
        free(text);
    }
    return id;
}

static void write_proposal(const char *name, int trial, double pbo)
{
    char path[2 * SCRATCH_PATH_MAX], text[160];

    snprintf(path, sizeof(path), "%s/%s", scratch_path("studies"), name);
    snprintf(text, sizeof(text), "{\"schema\":\"papertape.proposal/1\",\"trial\":%d,\"pbo\":%.15g}", trial,
             pbo);
    write_text(path, "proposal.json", text);
}

static void read_page(struct tui_study_source *source, const char *key, bool returns,
                      struct tui_study_validation *ret)
{
    struct tui_study_want want = {.trial = -1, .validation = true, .returns = returns};
    struct tui_study_reading reading;

    static int64_t later_us; /* a proposal is looked for every five seconds */

    snprintf(want.key, sizeof(want.key), "%s", key);
    later_us += 6000000;
    tui_study_source_read(source, &want, now_us + later_us, 0, &reading);
    while (reading.more) {
        CHECK(reading.page && reading.page->validation.unread > 0);
        tui_study_reading_finish(&reading);
        tui_study_source_read(source, &want, now_us + later_us, 0, &reading);
    }
    CHECK_INT(reading.error, 0);
    *ret = (struct tui_study_validation){0};
    if (reading.page) {
        CHECK(reading.page->have_validation);
        *ret = reading.page->validation;
    }
    CHECK(reading.page != NULL);
    tui_study_reading_finish(&reading);
}

/* What the trainer makes of the same: `of` first, whose trial number is proposed. */
static json_t *compute(struct study_store *store, const char *of, int trial)
{
    struct returns_matrix returns = {0};
    struct study_members members = {0};
    char err[STUDY_ERROR_MAX + VALIDATION_ERROR_MAX] = "", name[STUDY_COLUMN_MAX], folders[SCRATCH_PATH_MAX];
    json_t *validation = NULL;
    int left_out;

    snprintf(folders, sizeof(folders), "%s", scratch_path("studies"));
    CHECK_INT(study_members_load(store, "own", NULL, folders, NULL, NULL, &members, err), 0);
    for (int i = 1; i < members.n; i++)
        if (strcmp(members.of[i].study->name, of) == 0) {
            struct study_member first = members.of[0];
            members.of[0] = members.of[i];
            members.of[i] = first;
        }
    const struct study_members others = {members.of + 1, members.n - 1};
    CHECK_INT(study_members_returns(members.of[0].study, members.of[0].folder, &others, trial, &returns, name,
                                    &left_out, err),
              0);
    CHECK_INT(validation_json(&returns, VALIDATION_BLOCKS, 0, &validation, err), 0);
    returns_finish(&returns);
    study_members_finish(&members);
    return validation;
}

static double figure(const json_t *validation, const char *key)
{
    return json_number_value(json_object_get(validation, key));
}

/* A run that was started again is judged among the trials of those before it, on the same bars; the best is
 * its own. */
static void check_runs(void)
{
    static const char *const bars[] = {"\"1\"", "\"1\"", "\"2\"", NULL};
    static const char *const names[] = {"often", "often@T", "often@U", "often@V"};
    char path[SCRATCH_PATH_MAX], folders[SCRATCH_PATH_MAX], err[STUDY_ERROR_MAX];
    struct study_members members = {0};
    struct study_store *store;
    struct tui_study_validation v;

    snprintf(path, sizeof(path), "%s", scratch_path("runs.db"));
    snprintf(folders, sizeof(folders), "%s", scratch_path("studies"));
    CHECK_INT(study_store_open(path, STUDY_STORE_WRITE, 0, &store, err), 0);
    for (int i = 0; i < 4; i++) {
        int64_t id = write_study(store, names[i], 4 - i, 10 - 3 * i, 280);
        if (bars[i])
            CHECK_INT(study_store_set_study_user(store, id, "papertape:bars", bars[i], err), 0);
    }
    struct tui_study_source *source = tui_study_source_create(path, folders, 20);
    read_page(source, "often@T", true, &v);
    CHECK_INT(v.columns, 3 + 4);
    CHECK_STR(v.equity_study, "often@T");
    CHECK_INT(v.equity_trial, 2);
    CHECK_INT(study_members_load(store, "often@T", NULL, folders, NULL, NULL, &members, err), 0);
    const struct study_members others = {members.of + 1, members.n - 1};
    struct returns_matrix returns = {0};
    char name[STUDY_COLUMN_MAX];
    json_t *validation = NULL;
    int left_out;
    CHECK_INT(study_members_returns(members.of[0].study, members.of[0].folder, &others, 2, &returns, name,
                                    &left_out, err),
              0);
    CHECK_INT(validation_json(&returns, VALIDATION_BLOCKS, 0, &validation, err), 0);
    CHECK_NEAR(v.skill, figure(json_object_get(validation, "deflated"), "skill"), 0);
    CHECK_NEAR(v.pbo, figure(validation, "pbo"), 0);
    json_decref(validation);
    returns_finish(&returns);
    study_members_finish(&members);
    read_page(source, "often@U", true, &v);
    CHECK_INT(v.columns, 2);
    read_page(source, "often", true, &v);
    CHECK_INT(v.columns, 4 + 3);
    CHECK_STR(v.equity_study, "often");
    tui_study_source_destroy(source);
    study_store_close(store);
}

/* The page has the PBO and the distribution of the trials of all: those of the rows of what is proposed. */
static void check_workers(void)
{
    char path[SCRATCH_PATH_MAX], err[STUDY_ERROR_MAX];
    struct study_store *store;
    struct tui_study_validation v;
    int left = 0;

    snprintf(path, sizeof(path), "%s", scratch_path("workers.db"));
    CHECK_INT(mkdir(scratch_path("studies"), 0700), 0);
    CHECK_INT(study_store_open(path, STUDY_STORE_WRITE, 0, &store, err), 0);
    write_study(store, "own_1", 4, 0, 280);
    write_study(store, "own_2", 3, 10, 280);
    write_study(store, "own_3", 2, 5, 300); /* other rows */
    write_study(store, "owner_1", 2, 50, 280);
    char folders[SCRATCH_PATH_MAX];
    snprintf(folders, sizeof(folders), "%s", scratch_path("studies"));
    struct tui_study_source *source = tui_study_source_create(path, folders, 20);

    /* Without a proposal: as of the best trial, which is own_2's. */
    json_t *right = compute(store, "own_2", 2);
    read_page(source, "own_*2", true, &v);
    CHECK(!v.have);
    CHECK_INT(v.columns, 7);
    CHECK_INT(v.left_out, 2);
    CHECK_INT(v.rows, 280);
    CHECK_STR(v.equity_study, "own_2");
    CHECK_INT(v.equity_trial, 2);
    CHECK_NEAR(v.pbo, figure(right, "pbo"), 0);
    CHECK_NEAR(v.pbo_now, v.pbo, 0);
    CHECK_NEAR(v.loss, figure(right, "probability_of_loss"), 0);
    CHECK_NEAR(v.slope, figure(right, "slope"), 0);
    CHECK_NEAR(v.intercept, figure(right, "intercept"), 0);
    CHECK_NEAR(v.skill, figure(json_object_get(right, "deflated"), "skill"), 0);
    CHECK(v.pbo > 0.02 && v.pbo < 0.98); /* or it could not be seen which trials it is of */
    for (int i = 0; i < STUDY_LAMBDA_BINS / 2; i++)
        left += v.lambda[i];
    CHECK_NEAR((double)left / v.n_lambda, v.pbo, 1e-12);
    json_decref(right);

    /* A proposal of own_1, the only one: the same matrix, its own trial's equity. */
    right = compute(store, "own_1", 3);
    write_proposal("own_1", 3, figure(right, "pbo"));
    read_page(source, "own_*2", true, &v);
    CHECK(v.have && !tui_study_validation_moved(&v));
    CHECK_STR(v.study, "own_1");
    CHECK_STR(v.equity_study, "own_1");
    CHECK_INT(v.equity_trial, 3);
    CHECK_INT(v.columns, 7);
    CHECK_NEAR(v.pbo_now, figure(right, "pbo"), 0);
    double before = v.pbo;
    json_decref(right);

    /* Another worker ends: the proposal's word stays, what is known by now stands beside it. */
    write_study(store, "own_4", 3, 20, 280);
    right = compute(store, "own_1", 3);
    read_page(source, "own_*2", true, &v);
    CHECK(v.have && tui_study_validation_moved(&v));
    CHECK_NEAR(v.pbo, before, 1e-12);
    CHECK_INT(v.columns, 10);
    CHECK_NEAR(v.pbo_now, figure(right, "pbo"), 0);
    left = 0;
    for (int i = 0; i < STUDY_LAMBDA_BINS / 2; i++)
        left += v.lambda[i];
    CHECK_NEAR((double)left / v.n_lambda, v.pbo_now, 1e-12);
    json_decref(right);

    /* What was read is kept while the page is looked at. */
    write_text(scratch_path("studies/own_2/0"), "returns.csv", "spoilt\n");
    write_study(store, "own_5", 1, 30, 280);
    read_page(source, "own_*2", true, &v);
    CHECK_INT(v.columns, 11);
    CHECK_INT(v.left_out, 2);
    read_page(source, "own_*2", false, &v); /* what a verb asks for */
    CHECK(v.have && v.columns == 0 && v.n_lambda == 0);
    read_page(source, "own_*2", true, &v);
    CHECK_INT(v.columns, 10);
    CHECK_INT(v.left_out, 3);

    /* The proposal of a study that is called NAME counts its workers' trials too. */
    write_study(store, "own", 2, 0, 280);
    write_proposal("own", 1, 0.5);
    read_page(source, "own", true, &v);
    CHECK_STR(v.study, "own");
    CHECK_INT(v.columns, 12);
    read_page(source, "owner_*2", true, &v);
    CHECK_INT(v.columns, 2);
    CHECK_STR(v.equity_study, "owner_1");
    tui_study_source_destroy(source);
    study_store_close(store);
}

int main(void)
{
    setlocale(LC_CTYPE, "C.UTF-8");
    check_validation();
    check_best_without_returns();
    check_others_study();
    check_workers();
    check_runs();
    return check_done("tui/study_validation");
}
