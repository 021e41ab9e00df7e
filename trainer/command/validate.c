#include "trainer/command/validate.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/state.h"
#include "db/studies/store.h"
#include "exchange/bars_number.h"
#include "trainer/command/args.h"
#include "trainer/study/members.h"
#include "trainer/study/overfit.h"

static const char help[] =
    "Usage: papertape-trainer validate --returns F.csv [OPTION]...\n"
    "       papertape-trainer validate --study NAME [OPTION]...\n"
    "\n"
    "Is the best of many trials luck? Reckons from their out-of-sample returns the probability of\n"
    "backtest overfitting, of loss, the degradation and the deflated Sharpe ratio, and prints them\n"
    "as JSON, papertape.validation/1.\n"
    "\n"
    "      --returns F.csv       a column of returns for each trial, with or without a header of\n"
    "                            names. Columns timestamp_ns, holding and equal_weight are what\n"
    "                            they say\n"
    "      --study NAME          the complete trials of that study, and of NAME_1, NAME_2 …\n"
    "                            which are workers of it, and of its other runs NAME@TIME on the\n"
    "                            same bars; `deflated` is of its best one, `deflated_best` of\n"
    "                            that with the best Sharpe ratio\n"
    "      --storage URL         where studies are kept: sqlite:///F; STATE/studies.db by default\n"
    "      --state DIR           the state directory: $STATE_DIRECTORY, else\n"
    "                            $XDG_STATE_HOME/papertape\n"
    "      --blocks S            of which half splits are made, even, 2 to 20 (14)\n"
    "      --periods N           rows of a year; by the rows' times, else not annualised\n"
    "      --report F.html       write a page with pictures to F\n"
    "      --json                the default: nothing else is printed\n"
    "      --help                this text\n"
    "\n"
    "Exit status: 0 done, 1 an error, 2 a wrong command line.\n";

enum { RETURNS = 256, STUDY, STORAGE, STATE, BLOCKS, PERIODS, REPORT, JSON };

static const struct option long_options[] = {
    {"returns", required_argument, NULL, RETURNS}, {"study", required_argument, NULL, STUDY},
    {"storage", required_argument, NULL, STORAGE}, {"state", required_argument, NULL, STATE},
    {"blocks", required_argument, NULL, BLOCKS},   {"periods", required_argument, NULL, PERIODS},
    {"report", required_argument, NULL, REPORT},   {"json", no_argument, NULL, JSON},
    {"help", no_argument, NULL, ARGS_HELP},        {0},
};

struct request {
    const char *returns_path, *study, *storage, *state, *report;
    uint64_t blocks;
    double periods;
    struct returns_matrix returns;
    int left_out;
    char proposed[SEARCH_COLUMN_MAX]; /* of a study the name of its best trial, which it would propose */
};

static int take(void *ctx, int option)
{
    struct request *request = ctx;
    int digits = 0, status = GO_ON;
    switch (option) {
    case RETURNS:
        request->returns_path = optarg;
        return GO_ON;
    case STUDY:
        request->study = optarg;
        return GO_ON;
    case STORAGE:
        request->storage = optarg;
        return GO_ON;
    case STATE:
        request->state = optarg;
        return GO_ON;
    case BLOCKS:
        status = trainer_args_whole("blocks", optarg, 2, OVERFIT_BLOCKS_MAX, &request->blocks);
        if (status == GO_ON && request->blocks % 2 != 0)
            return trainer_args_say(EXIT_USAGE, "bad number: --blocks %.32s: an even one from 2 to %d",
                                    optarg, OVERFIT_BLOCKS_MAX);
        return status;
    case PERIODS:
        if (!bars_number(optarg, strlen(optarg), &request->periods, &digits) || !(request->periods > 0))
            return trainer_args_say(EXIT_USAGE, "bad number: --periods %.32s: the rows of a year, as 8760",
                                    optarg);
        return GO_ON;
    case REPORT:
        request->report = optarg;
        return GO_ON;
    case JSON:
        return GO_ON;
    default:
        return trainer_args_say(
            EXIT_USAGE, "not an option: %.64s: --returns F.csv is right; see validate --help", optarg);
    }
}

/* ---- a study's returns ---- */

static int read_trials(struct request *request, struct study_members *members, char *err)
{
    const struct study_trial *best = study_members_best(members);
    const struct study_members others = {members->of + 1, members->n - 1};
    return study_members_returns(members->of[0].study, members->of[0].folder, &others,
                                 best ? best->number : -1, &request->returns, request->proposed,
                                 &request->left_out, err);
}

static void tell(void *ctx, const char *words)
{
    (void)ctx;
    trainer_args_say(EXIT_SUCCESS, "%s", words);
}

/* The study of that name, and of NAME those of NAME_1, NAME_2 … too; other runs on the same bars. */
static int find_studies(struct request *request, struct study_store *store, const char *folders,
                        struct study_members *ret, char *err)
{
    int64_t id;
    int r = study_members_load(store, request->study, NULL, folders, tell, NULL, ret, err);
    if (r == 0 && ret->n == 0)
        r = study_store_find(store, request->study, &id, err); /* which says what there is */
    return r;
}

static int read_study(struct request *request)
{
    struct state_dir state;
    struct study_store *store = NULL;
    struct study_members members = {0};
    char url[STATE_PATH_MAX + 32], folders[STATE_PATH_MAX + 32], err[STUDY_ERROR_MAX] = "out of memory";
    int r = db_state_dir_find(request->state, &state, err, sizeof err);
    if (r < 0)
        return trainer_args_say(EXIT_FAILURE, "%s", err);
    snprintf(url, sizeof url, "%s/studies.db", state.path);
    snprintf(folders, sizeof folders, "%s/studies", state.path);
    r = study_store_open(request->storage ? request->storage : url, STUDY_STORE_READ, 0, &store, err);
    if (r == 0)
        r = find_studies(request, store, folders, &members, err);
    if (r == 0 && members.n == 0) { /* it was made just now */
        snprintf(err, sizeof err, "study %.64s: no trial yet", request->study);
        r = -1;
    }
    if (r == 0)
        r = read_trials(request, &members, err);
    study_members_finish(&members);
    study_store_close(store);
    return r == 0 ? GO_ON : trainer_args_say(EXIT_FAILURE, "%s", err);
}

static int read_returns(struct request *request)
{
    char err[VALIDATION_ERROR_MAX];
    if (request->study)
        return read_study(request);
    return returns_read_csv(request->returns_path, &request->returns, err) == 0
               ? GO_ON
               : trainer_args_say(EXIT_FAILURE, "%s", err);
}

/* ---- the run ---- */

static int run(struct request *request)
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
               : "returns"; /* a name that is no UTF-8 is in no JSON, and no page */
    json_object_set_new(object, "left_out", json_integer(request->left_out));
    snprintf(title, sizeof title, "Validation of %.200s", what);
    if (request->report && validation_report(&request->returns, object, title, request->report, err) < 0)
        status = trainer_args_say(EXIT_FAILURE, "%s", err);
    if (status == GO_ON &&
        (json_dumpf(object, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(17)) < 0 || putchar('\n') == EOF))
        status = trainer_args_say(EXIT_FAILURE, "cannot write: stdout: a file or a reader");
    json_decref(object);
    return status;
}

int trainer_command_validate(int argc, char **argv)
{
    static const struct args_rules rules = {
        .verb = "validate", .help = help, .letters = "", .options = long_options, .take = take};
    struct request request = {.blocks = VALIDATION_BLOCKS};
    int status = trainer_args_parse(&rules, argc, argv, &request);
    if (status == GO_ON && !request.study == !request.returns_path)
        status = trainer_args_say(EXIT_USAGE, "%s: command line: --returns F.csv or --study NAME is right",
                                  request.study ? "two sources" : "no returns");
    if (status == GO_ON)
        status = run(&request);
    returns_finish(&request.returns);
    return status == GO_ON ? EXIT_SUCCESS : status;
}
