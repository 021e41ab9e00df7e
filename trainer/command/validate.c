#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/state.h"
#include "db/studies/store.h"
#include "exchange/bars_number.h"
#include "strategy/metrics/overfit.h"
#include "trainer/command/args.h"
#include "trainer/study/artifacts.h"
#include "trainer/study/members.h"

struct validate_request {
    const char *returns_path, *study, *storage, *artifacts, *state, *report;
    int64_t blocks;
    double periods;
    struct returns_matrix returns;
    int left_out;
    char proposed[STUDY_COLUMN_MAX]; /* for a study the name of its best trial, which it would propose */
};

#define AT(member) offsetof(struct validate_request, member)

static int take_blocks(struct option_call *call, const struct option_row *row, const char *value)
{
    const struct validate_request *request = call->into;
    (void)row;
    return request->blocks % 2 == 0
               ? EXIT_OK
               : option_fail(call, EXIT_USAGE, "--blocks: \"%.32s\": an even number is needed", value);
}

static int take_periods(struct option_call *call, const struct option_row *row, const char *value)
{
    struct validate_request *request = call->into;
    int digits = 0;
    (void)row;
    if (bars_number(value, strlen(value), &request->periods, &digits) && request->periods > 0)
        return EXIT_OK;
    return option_fail(call, EXIT_USAGE, "--periods: \"%.32s\": the rows of a year, as 8760, are needed",
                       value);
}

static const struct option_row options[] = {
    {"returns", "FILE",
     "a header of names and a row for each bar: a column of returns (0.01 is 1 %; less than -1 is refused) "
     "for each trial. Known by name are timestamp_ns; holding and equal_weight, which are benchmarks; and "
     "timestamp, date, time and a column without a name, which are times where they can be read. Without a "
     "header columns are called 0, 1, 2 ...",
     AT(returns_path)},
    {"study", "STUDY",
     "the complete trials of that study, of NAME_1, NAME_2 ..., which are workers of one study, and of its "
     "other runs NAME@TIME on the same bars; deflated is of the study's best trial, which it proposes, "
     "deflated_best of the one with the best Sharpe ratio",
     AT(study)},
    TRAINER_STORAGE(struct validate_request, "; studies.db of the state by default"),
    TRAINER_ARTIFACTS(struct validate_request, "; by default the study's own"),
    {"blocks", "S",
     "blocks of rows of which halves are made: even; 14 by default, which are 3432 half splits", AT(blocks),
     take_blocks, .low = 2, .high = OVERFIT_BLOCKS_MAX},
    {"periods", "N",
     "rows of a year, for Sharpe ratios; by default by the times of the first row and the last, nights without "
     "rows included; without those they are a row's",
     .take = take_periods},
    {"report", "FILE",
     "write a page with pictures to FILE: equity, the distribution of lambda, out-of-sample over in-sample "
     "Sharpe, all trials",
     AT(report)},
};

/* ---- a study's returns ---- */

static int read_trials(struct validate_request *request, struct study_members *members, char *err)
{
    const struct study_trial *best = study_members_best(members);
    const struct study_members others = {members->of + 1, members->n - 1};
    return study_members_returns(members->of[0].study, members->of[0].folder, &others,
                                 best ? best->number : -1, &request->returns, request->proposed,
                                 &request->left_out, err);
}

static void warn(void *ctx, const char *words)
{
    (void)ctx;
    trainer_args_say(EXIT_SUCCESS, "%s", words);
}

/* The study of that name, and of NAME those of NAME_1, NAME_2 … too; other runs on the same bars. */
static int find_studies(struct validate_request *request, struct study_store *store, const char *folders,
                        struct study_members *ret, char *err)
{
    int64_t id;
    int r = study_members_load(store, request->study, NULL, folders, warn, NULL, ret, err);
    if (r == 0 && ret->n == 0)
        r = study_store_find(store, request->study, &id, err); /* its error lists the studies that exist */
    return r;
}

/* What this machine lacks of the trials' returns. */
static int fetch(const struct validate_request *request, struct study_members *members, const char *folders,
                 char *err)
{
    const struct trial_calls calls = {.warned = warn};
    char why[TRIAL_ERROR_MAX];
    struct artifact_store *given = NULL;
    void (*before)(int) = signal(SIGPIPE, SIG_IGN); /* a store may close its connection */
    int r = request->artifacts ? artifact_store_open(request->artifacts, NULL, &given, why) : 0;
    if (r == 0)
        r = study_artifacts_fetch_members(given, members, folders, &calls, NULL, why);
    if (r < 0)
        snprintf(err, STUDY_ERROR_MAX, "artifacts: %.480s", why);
    artifact_store_close(given);
    signal(SIGPIPE, before);
    return r;
}

static int read_study(struct validate_request *request)
{
    struct state_dir state;
    struct study_store *store = NULL;
    struct study_members members = {0};
    char *url = NULL, folders[STATE_PATH_MAX + 32], err[STUDY_ERROR_MAX] = "out of memory";
    int r = db_state_dir_find(request->state, &state, err, sizeof err);
    if (r < 0)
        return trainer_args_say(EXIT_FAILURE, "%s", err);
    int status = request->storage ? trainer_args_storage(request->storage) : GO_ON;
    if (status != GO_ON)
        return status;
    if ((r = study_store_of_state(state.path, &url, err)) < 0)
        return trainer_args_say(EXIT_FAILURE, "%s", err);
    snprintf(folders, sizeof folders, "%s/studies", state.path);
    r = study_store_open(request->storage ? request->storage : url, STUDY_STORE_READ, 0, &store, err);
    free(url);
    if (r == 0)
        r = find_studies(request, store, folders, &members, err);
    if (r == 0 && members.n == 0) { /* it was created just now */
        snprintf(err, sizeof err, "study %.64s: no trial yet", request->study);
        r = -1;
    }
    if (r == 0)
        r = fetch(request, &members, folders, err);
    if (r == 0)
        r = read_trials(request, &members, err);
    study_members_finish(&members);
    study_store_close(store);
    return r == 0 ? GO_ON : trainer_args_say(EXIT_FAILURE, "%s", err);
}

static int read_returns(struct validate_request *request)
{
    char err[VALIDATION_ERROR_MAX];
    if (request->study)
        return read_study(request);
    return returns_read_csv(request->returns_path, &request->returns, err) == 0
               ? GO_ON
               : trainer_args_say(EXIT_FAILURE, "%s", err);
}

/* ---- the run ---- */

static int validate(struct validate_request *request)
{
    char err[VALIDATION_ERROR_MAX], title[256];
    const char *what = request->study ? request->study : request->returns_path;
    json_t *object = NULL;
    int status = read_returns(request);
    if (status != GO_ON)
        return status;
    if (validation_json(&request->returns, (int)request->blocks, request->periods, &object, err) < 0)
        return trainer_args_say(EXIT_FAILURE, "%.200s: %s", what, err);
    what = json_object_set_new(object, request->study ? "study" : "returns", json_string(what)) == 0
               ? what
               : "returns"; /* a name that is not UTF-8 is left out of JSON and the page */
    json_object_set_new(object, "left_out", json_integer(request->left_out));
    const long long n = json_integer_value(json_object_get(object, "trials"));
    snprintf(title, sizeof title, "Validation of %.150s", what);
    if (request->left_out > 0)
        snprintf(title, sizeof title, "Validation of %.150s: %lld of its %lld trials have returns here", what,
                 n, n + request->left_out);
    if (request->report && validation_report(&request->returns, object, title, request->report, err) < 0)
        status = trainer_args_say(EXIT_FAILURE, "%s", err);
    if (status == GO_ON &&
        (json_dumpf(object, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(17)) < 0 || putchar('\n') == EOF))
        status = trainer_args_say(EXIT_FAILURE, "cannot write: stdout: a file or a reader");
    json_decref(object);
    return status;
}

static int run(struct option_call *call)
{
    struct validate_request *request = call->into;
    request->state = call->state;
    int status = validate(request);
    return status == GO_ON ? EXIT_SUCCESS : status;
}

static void init(void *into)
{
    ((struct validate_request *)into)->blocks = VALIDATION_BLOCKS;
}

static void finish(void *into)
{
    returns_finish(&((struct validate_request *)into)->returns);
}

static const struct option_action actions[] = {{.needed = "returns|study", .run = run}};
TRAINER_VERB(validate) = {
    .name = "validate",
    .words = "is a study's best result luck? From its trials' returns",
    .about =
        "Is the best of many trials luck? Computes from their out-of-sample returns the probability of "
        "backtest overfitting over all half splits, of loss, the degradation of the Sharpe ratio and the "
        "deflated Sharpe ratio, and prints them as JSON, papertape.validation/1 (docs/studies.md).",
    .exits = TRAINER_STORAGE_EXITS ".",
    OPTION_ACTIONS(actions),
    OPTION_OPTIONS(options),
    .size = sizeof(struct validate_request),
    .init = init,
    .finish = finish,
};
