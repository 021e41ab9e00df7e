#include "tui/study_validation.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/text.h"
#include "exchange/clock.h"
#include "record/json.h"
#include "strategy/metrics/overfit.h"
#include "trainer/study/validation.h"
#include "tui/status_reader.h"

static int trial_of(const json_t *proposal)
{
    int64_t trial = tui_status_count(proposal, "trial");

    return trial >= 0 && trial <= INT_MAX ? (int)trial : -1;
}

static void take_gates(struct tui_study_validation *v, const json_t *gates)
{
    size_t i;
    const json_t *gate;

    json_array_foreach(gates, i, gate)
    {
        const char *name = json_string_value(json_object_get(gate, "gate"));
        if (!name || v->n_gates == STUDY_GATES_MAX)
            continue;
        cli_text_clean(v->gates[v->n_gates].gate, sizeof(v->gates[0].gate), name);
        v->gates[v->n_gates].figure = record_json_number(gate, "figure");
        v->gates[v->n_gates].limit = record_json_number(gate, "limit");
        v->gates[v->n_gates++].passed = json_is_true(json_object_get(gate, "passed"));
    }
}

static void take_figures(struct tui_study_validation *v, const json_t *proposal)
{
    v->pbo = record_json_number(proposal, "pbo");
    v->loss = record_json_number(proposal, "probability_of_loss");
    v->slope = record_json_number(proposal, "slope");
    v->intercept = record_json_number(proposal, "intercept");
    v->deflated = record_json_number(proposal, "deflated_sharpe");
    v->skill = record_json_number(proposal, "skill");
    v->expected = record_json_number(proposal, "expected_sharpe");
}

static void take_proposal(struct tui_study_validation *v, const json_t *proposal)
{
    const json_t *holdout = json_object_get(proposal, "holdout");
    const char *words = json_string_value(json_object_get(proposal, "words"));

    v->have = true;
    v->trial = trial_of(proposal);
    v->value = record_json_number(proposal, "value");
    take_figures(v, proposal);
    v->admitted = json_is_true(json_object_get(proposal, "admitted"));
    cli_text_clean(v->verdict, sizeof(v->verdict), words ? words : "");
    v->holdout.sharpe = record_json_number(holdout, "sharpe");
    v->holdout.holding = record_json_number(holdout, "sharpe_holding");
    v->holdout.equal_weight = record_json_number(holdout, "sharpe_equal_weight");
    v->holdout.return_pct = record_json_number(holdout, "return_pct");
    v->holdout.drawdown_pct = record_json_number(holdout, "drawdown_pct");
    v->holdout.trades = tui_status_count(holdout, "trades");
    take_gates(v, json_object_get(proposal, "gates"));
}

/* Reads a regular file: anything else of that name is not waited for. 0 or -errno; the proposal NULL with
 * error->text where it is no JSON. */
static int load_proposal(const char *folder, int64_t *ret_made_ns, json_t **ret, json_error_t *error)
{
    char path[1100];
    struct stat st;

    *ret = NULL;
    snprintf(path, sizeof(path), "%s/proposal.json", folder);
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    int r = fstat(fd, &st) < 0 ? -errno : S_ISREG(st.st_mode) ? 0 : -EINVAL;
    if (r == 0) {
        *ret_made_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
        *ret = json_loadfd(fd, 0, error);
    }
    close(fd);
    return r;
}

static bool schema_right(const json_t *proposal)
{
    const char *schema = json_string_value(json_object_get(proposal, "schema"));

    return schema && strcmp(schema, "papertape.proposal/1") == 0;
}

int tui_study_proposal_trial(const char *folder)
{
    json_error_t error;
    json_t *proposal;
    int64_t made_ns;

    load_proposal(folder, &made_ns, &proposal, &error);
    int trial = schema_right(proposal) ? trial_of(proposal) : -1;
    json_decref(proposal);
    return trial;
}

bool tui_study_proposal_verdict(const char *folder, char ret_word[static STATUS_WORD_MAX],
                                char ret_text[static STUDY_VERDICT_MAX])
{
    json_error_t error;
    json_t *proposal;
    int64_t made_ns;

    load_proposal(folder, &made_ns, &proposal, &error);
    const char *word = json_string_value(json_object_get(proposal, "verdict"));
    const char *text = json_string_value(json_object_get(proposal, "verdict_text"));
    bool found = schema_right(proposal) && word && text;
    if (found) {
        cli_text_clean(ret_word, STATUS_WORD_MAX, word);
        cli_text_clean(ret_text, STUDY_VERDICT_MAX, text);
    }
    json_decref(proposal);
    return found;
}

/* A study of ours says how many trials are wanted; workers are of one study. */
static bool is_ours(const struct study_members *members)
{
    for (int i = 0; i < members->n; i++) {
        const struct study *study = members->of[i].study;
        if (study_attribute_find(study->user, study->n_user, "papertape:trials"))
            return true;
    }
    return false;
}

static void read_proposal(const struct study_members *members, struct tui_study_fetched *fetched,
                          struct tui_study_validation *v)
{
    char folder[PATH_MAX], why[FETCHED_WORDS_MAX];
    enum fetched_state state =
        tui_study_fetched_proposal(fetched, members->of[0].study, members->of[0].folder, folder, why);
    json_error_t error;
    json_t *proposal;
    int r = load_proposal(folder, &v->made_ns, &proposal, &error);

    if (state == FETCHED_HERE)
        v->made_ns = 0;
    v->soon = state == FETCHED_SOON;
    if (r < 0 && state == FETCHED_SOON)
        snprintf(v->words, sizeof(v->words), "its proposal is being fetched");
    else if (r < 0 && state == FETCHED_FAILED)
        cli_text_clean(v->words, sizeof(v->words), why);
    else if (r < 0)
        snprintf(v->words, sizeof(v->words), "%s",
                 r == -ENOENT   ? is_ours(members) ? "no proposal yet: it comes when the study ends"
                                                   : "no proposal: a study of papertape-trainer's own makes one"
                 : r == -EINVAL ? "proposal.json: a regular file would be right"
                                : "proposal.json: cannot be read");
    else if (!proposal)
        snprintf(v->words, sizeof(v->words), "proposal.json: line %d: %.80s", error.line, error.text);
    else if (!schema_right(proposal))
        snprintf(v->words, sizeof(v->words), "proposal.json: papertape.proposal/1 would be right");
    else
        take_proposal(v, proposal);
    json_decref(proposal);
}

static void make_histogram(struct tui_study_validation *v, const struct overfit *overfit)
{
    double low = INFINITY, high = -INFINITY;

    for (size_t i = 0; i < overfit->splits; i++) {
        low = fmin(low, overfit->lambda[i]);
        high = fmax(high, overfit->lambda[i]);
    }
    if (!(low <= high))
        return;
    double most = fmax(fmax(-low, high), 1e-9); /* 0 is in the middle */
    for (size_t i = 0; i < overfit->splits; i++) {
        int at = (int)floor((overfit->lambda[i] + most) / (2 * most) * STUDY_LAMBDA_BINS);
        /* A lambda of 0 counts as overfitted: left of the middle. */
        if (overfit->lambda[i] <= 0 && at >= STUDY_LAMBDA_BINS / 2)
            at = STUDY_LAMBDA_BINS / 2 - 1;
        v->lambda[at < 0 ? 0 : at >= STUDY_LAMBDA_BINS ? STUDY_LAMBDA_BINS - 1 : at]++;
        v->n_lambda++;
    }
}

static void make_equity(struct tui_study_validation *v, const struct returns_matrix *returns, size_t column)
{
    double at[3] = {1, 1, 1};

    v->n_equity = (int)(returns->rows < STUDY_EQUITY_POINTS ? returns->rows : STUDY_EQUITY_POINTS);
    for (size_t row = 0; row < returns->rows; row++) {
        size_t point = row * (size_t)v->n_equity / returns->rows;
        at[0] *= 1 + returns->values[row * returns->columns + column];
        at[1] = returns->holding ? at[1] * (1 + returns->holding[row]) : NAN;
        at[2] = returns->equal_weight ? at[2] * (1 + returns->equal_weight[row]) : NAN;
        for (int i = 0; i < 3; i++)
            v->equity[i][point] = at[i];
    }
}

/* Of "NAME trial 29", and of "trial 29", which is of `own`. */
static void name_equity(struct tui_study_validation *v, const char *name, const char *own)
{
    const char *number = strrchr(name, ' ');
    size_t words = number && number - name > 6 ? (size_t)(number - name) - strlen(" trial") : 0;

    v->equity_trial = number ? atoi(number) : -1;
    snprintf(v->equity_study, sizeof(v->equity_study), "%.*s", (int)words, name);
    if (words == 0)
        snprintf(v->equity_study, sizeof(v->equity_study), "%s", own);
}

/* The figures that `papertape-trainer validate` prints, where there is no proposal yet. */
static void take_validation(struct tui_study_validation *v, const struct returns_matrix *returns)
{
    char words[VALIDATION_ERROR_MAX];
    json_t *validation = NULL, *figures = json_object();

    if (figures && validation_json(returns, VALIDATION_BLOCKS, 0, &validation, words) == 0) {
        validation_figures(validation, figures);
        take_figures(v, figures);
    }
    json_decref(validation);
    json_decref(figures);
}

/* The column of the proposed trial; where it has no returns, as a trial of Optuna's, that of the best
 * Sharpe ratio. */
static size_t shown_column(const struct returns_matrix *returns)
{
    double best = -INFINITY;
    size_t column = 0;

    for (size_t i = 0; returns->proposed && i < returns->columns; i++)
        if (strcmp(returns->names[i], returns->proposed) == 0)
            return i;
    for (size_t i = 0; i < returns->columns; i++) {
        double sharpe = overfit_sharpe(returns->values + i, returns->rows, returns->columns);
        if (sharpe > best) {
            best = sharpe;
            column = i;
        }
    }
    return column;
}

static void take_returns(struct tui_study_validation *v, const struct returns_matrix *returns,
                         const struct study *own)
{
    char words[OVERFIT_ERROR_MAX] = "";
    struct overfit overfit;

    v->columns = (int)returns->columns;
    v->rows = (int64_t)returns->rows;
    if (returns->rows > 0 && returns->columns > 0) {
        const size_t column = shown_column(returns);
        name_equity(v, returns->names[column], own->name);
        make_equity(v, returns, column);
    }
    if (overfit_compute(returns->values, returns->rows, returns->columns, VALIDATION_BLOCKS, &overfit,
                        words) < 0) {
        cli_text_clean(v->returns_words, sizeof(v->returns_words), words);
        return;
    }
    make_histogram(v, &overfit);
    v->pbo_now = overfit.pbo;
    overfit_finish(&overfit);
    if (!v->have)
        take_validation(v, returns);
}

static bool any_complete(const struct study_members *members)
{
    for (int i = 0; i < members->n; i++)
        for (int k = 0; k < members->of[i].study->n_trials; k++)
            if (members->of[i].study->trials[k]->state == TRIAL_COMPLETE)
                return true;
    return false;
}

static bool any_folder(const struct study_members *members)
{
    for (int i = 0; i < members->n; i++)
        if (access(members->of[i].folder, F_OK) == 0)
            return true;
    return false;
}

/* Reads as many files as there is time for. 0, -EAGAIN: there are more, -ENOMEM. */
static int read_slice(struct returns_kept *kept, const struct study_columns *columns, int slice_ms,
                      const atomic_bool *stop, int *ret_done)
{
    int64_t until_ms = clock_now_ms() + slice_ms;
    int r;

    do
        r = returns_kept_read(kept, columns->trials, columns->n);
    while (r > 0 && clock_now_ms() < until_ms && !(stop && atomic_load(stop)));
    *ret_done = returns_kept_count(kept, columns->trials, columns->n);
    return r < 0 ? r : *ret_done < columns->n ? -EAGAIN : 0;
}

static void read_columns(struct returns_kept *kept, const struct study_columns *columns, int slice_ms,
                         const atomic_bool *stop, const struct study_members *members,
                         struct tui_study_validation *v)
{
    struct returns_matrix returns = {0};
    char err[VALIDATION_ERROR_MAX] = "out of memory";
    int done = 0, r = read_slice(kept, columns, slice_ms, stop, &done);

    v->unread = r == -EAGAIN ? columns->n - done : 0;
    if (v->unread > 0) {
        snprintf(v->returns_words, sizeof(v->returns_words), "reading returns: %d of %d trials", done,
                 columns->n);
        return;
    }
    if (r == 0)
        r = returns_kept_join(kept, columns->trials, columns->n, columns->like, &returns, &v->left_out, err);
    if (r == -EINVAL && !is_ours(members) && !any_folder(members))
        snprintf(err, sizeof(err), "no returns: trials of papertape-trainer's own leave them");
    if (r < 0) {
        if (v->missing == 0)
            cli_text_clean(v->returns_words, sizeof(v->returns_words), err);
        return;
    }
    v->returns_words[0] = '\0';
    const struct study_members others = {members->of + 1, members->n - 1};
    returns.tried = study_members_tried(members->of[0].study, &others);
    returns.proposed = columns->like >= 0 ? columns->names[columns->like] : NULL;
    take_returns(v, &returns, members->of[0].study);
    returns_finish(&returns);
}

/* Of the member whose folder that is, and the trial's index in its study; NULL: none. */
static const struct study *study_of(const struct study_members *members, const struct returns_trial *trial,
                                    int *ret_trial)
{
    for (int i = 0; i < members->n; i++)
        for (int k = 0; members->of[i].folder == trial->folder && k < members->of[i].study->n_trials; k++)
            if (members->of[i].study->trials[k]->number == trial->number) {
                *ret_trial = k;
                return members->of[i].study;
            }
    return NULL;
}

/* A trial whose returns are not in its folder: they may be fetched, into a folder that is kept in
 * `*ret_folder`, for free(). */
static void find_elsewhere(struct tui_study_fetched *fetched, const struct study_members *members,
                           struct returns_trial *trial, char **ret_folder, char why[static FETCHED_WORDS_MAX],
                           int *soon, int *missing)
{
    char path[PATH_MAX], folder[PATH_MAX], words[FETCHED_WORDS_MAX];
    int at;

    snprintf(path, sizeof(path), "%.*s/%d/returns.csv", PATH_MAX - 32, trial->folder, trial->number);
    const struct study *study = access(path, F_OK) < 0 ? study_of(members, trial, &at) : NULL;
    enum fetched_state state =
        study ? tui_study_fetched_get(fetched, study, at, folder, words) : FETCHED_NONE;
    *soon += state == FETCHED_SOON;
    if (state == FETCHED_FAILED && (*missing)++ == 0)
        memcpy(why, words, FETCHED_WORDS_MAX);
    if (state == FETCHED_HERE && (*ret_folder = strdup(folder)))
        trial->folder = *ret_folder;
}

/* False: some are still being fetched. */
static bool find_all(struct tui_study_fetched *fetched, const struct study_members *members,
                     struct study_columns *columns, char **folders, struct tui_study_validation *v)
{
    char why[FETCHED_WORDS_MAX] = "";
    int soon = 0;

    for (int i = 0; i < columns->n; i++)
        find_elsewhere(fetched, members, &columns->trials[i], &folders[i], why, &soon, &v->missing);
    v->soon = v->soon || soon > 0;
    if (soon > 0)
        snprintf(v->returns_words, sizeof(v->returns_words), "fetching returns: %d of %d trials",
                 columns->n - soon, columns->n);
    else if (v->missing > 0)
        cli_text_clean(v->returns_words, sizeof(v->returns_words), why);
    return soon == 0;
}

static void read_found(struct study_members *members, struct tui_study_fetched *fetched,
                       struct returns_kept *kept, struct study_columns *columns, int slice_ms,
                       const atomic_bool *stop, struct tui_study_validation *v)
{
    char **folders = calloc((size_t)columns->n + 1, sizeof(*folders));

    if (!folders)
        snprintf(v->returns_words, sizeof(v->returns_words), "out of memory");
    else if (!fetched || find_all(fetched, members, columns, folders, v))
        read_columns(kept, columns, slice_ms, stop, members, v);
    for (int i = 0; folders && i < columns->n; i++)
        free(folders[i]);
    free(folders);
}

static void read_returns(struct study_members *members, struct tui_study_fetched *fetched,
                         struct returns_kept *kept, int slice_ms, const atomic_bool *stop,
                         struct tui_study_validation *v)
{
    struct study_columns columns;
    int trial = v->trial;

    if (!any_complete(members)) {
        snprintf(v->returns_words, sizeof(v->returns_words), "no trial has completed yet");
        return;
    }
    if (!v->have) {
        const struct study_trial *best = study_members_best(members);
        trial = best ? best->number : -1;
    }
    const struct study_members others = {members->of + 1, members->n - 1};
    if (study_members_columns(members->of[0].study, members->of[0].folder, &others, trial, &columns) < 0) {
        snprintf(v->returns_words, sizeof(v->returns_words), "out of memory");
        return;
    }
    read_found(members, fetched, kept, &columns, slice_ms, stop, v);
    study_columns_finish(&columns);
}

void tui_study_validation_read(struct study_members *members, struct tui_study_fetched *fetched,
                               struct returns_kept *returns, int slice_ms, const atomic_bool *stop,
                               struct tui_study_validation *ret)
{
    *ret = (struct tui_study_validation){.trial = -1,
                                         .equity_trial = -1,
                                         .value = NAN,
                                         .pbo = NAN,
                                         .loss = NAN,
                                         .slope = NAN,
                                         .intercept = NAN,
                                         .deflated = NAN,
                                         .expected = NAN,
                                         .skill = NAN,
                                         .pbo_now = NAN,
                                         .holdout = {NAN, NAN, NAN, NAN, NAN, -1}};
    snprintf(ret->study, sizeof(ret->study), "%s", members->of[0].study->name);
    read_proposal(members, fetched, ret);
    if (returns)
        read_returns(members, fetched, returns, slice_ms, stop, ret);
}

bool tui_study_validation_moved(const struct tui_study_validation *validation)
{
    const double rounding = 1e-9; /* the file has 15 digits */

    return validation->have && isfinite(validation->pbo_now) &&
           !(fabs(validation->pbo_now - validation->pbo) <= rounding);
}
