#include "tui/search_validation.h"

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

#include "trainer/study/overfit.h"
#include "trainer/study/validation.h"
#include "tui/text.h"

enum {
    BLOCKS = 14, /* the paper's; fewer rows than two a block make fewer */
};

static double number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    return json_is_number(value) ? json_number_value(value) : NAN;
}

static int64_t count(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    return json_is_integer(value) ? json_integer_value(value) : -1;
}

static int trial_of(const json_t *proposal)
{
    int64_t trial = count(proposal, "trial");

    return trial >= 0 && trial <= INT_MAX ? (int)trial : -1;
}

static void take_gates(struct search_validation *v, const json_t *gates)
{
    size_t i;
    const json_t *gate;

    json_array_foreach(gates, i, gate)
    {
        const char *name = json_string_value(json_object_get(gate, "gate"));
        if (!name || v->n_gates == SEARCH_GATES_MAX)
            continue;
        text_clean(v->gates[v->n_gates].gate, sizeof(v->gates[0].gate), name);
        v->gates[v->n_gates].figure = number(gate, "figure");
        v->gates[v->n_gates].limit = number(gate, "limit");
        v->gates[v->n_gates++].passed = json_is_true(json_object_get(gate, "passed"));
    }
}

static void take_proposal(struct search_validation *v, const json_t *proposal)
{
    const json_t *holdout = json_object_get(proposal, "holdout");
    const char *words = json_string_value(json_object_get(proposal, "words"));

    v->have = true;
    v->trial = trial_of(proposal);
    v->value = number(proposal, "value");
    v->pbo = number(proposal, "pbo");
    v->loss = number(proposal, "probability_of_loss");
    v->slope = number(proposal, "slope");
    v->intercept = number(proposal, "intercept");
    v->deflated = number(proposal, "deflated_sharpe");
    v->skill = number(proposal, "skill");
    v->expected = number(proposal, "expected_sharpe");
    v->admitted = json_is_true(json_object_get(proposal, "admitted"));
    text_clean(v->verdict, sizeof(v->verdict), words ? words : "");
    v->holdout.sharpe = number(holdout, "sharpe");
    v->holdout.holding = number(holdout, "sharpe_holding");
    v->holdout.equal_weight = number(holdout, "sharpe_equal_weight");
    v->holdout.return_pct = number(holdout, "return_pct");
    v->holdout.drawdown_pct = number(holdout, "drawdown_pct");
    v->holdout.trades = count(holdout, "trades");
    take_gates(v, json_object_get(proposal, "gates"));
}

/* A file that is one: whatever else has its name is not waited for. 0 or -errno; the proposal NULL with
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

int search_proposal_trial(const char *folder)
{
    json_error_t error;
    json_t *proposal;
    int64_t made_ns;

    load_proposal(folder, &made_ns, &proposal, &error);
    int trial = schema_right(proposal) ? trial_of(proposal) : -1;
    json_decref(proposal);
    return trial;
}

static void read_proposal(const char *folder, struct search_validation *v)
{
    json_error_t error;
    json_t *proposal;
    int r = load_proposal(folder, &v->made_ns, &proposal, &error);

    if (r < 0)
        snprintf(v->words, sizeof(v->words), "%s",
                 r == -ENOENT   ? "no proposal yet: it comes when the search ends"
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

static void make_histogram(struct search_validation *v, const struct overfit *overfit)
{
    double low = INFINITY, high = -INFINITY;

    for (size_t i = 0; i < overfit->splits; i++) {
        low = fmin(low, overfit->lambda[i]);
        high = fmax(high, overfit->lambda[i]);
    }
    if (!(low <= high))
        return;
    double most = fmax(fmax(-low, high), 1e-9); /* 0 stands in the middle */
    for (size_t i = 0; i < overfit->splits; i++) {
        int at = (int)floor((overfit->lambda[i] + most) / (2 * most) * SEARCH_LAMBDA_BINS);
        /* A lambda of 0 counts as overfitted: left of the middle. */
        if (overfit->lambda[i] <= 0 && at >= SEARCH_LAMBDA_BINS / 2)
            at = SEARCH_LAMBDA_BINS / 2 - 1;
        v->lambda[at < 0 ? 0 : at >= SEARCH_LAMBDA_BINS ? SEARCH_LAMBDA_BINS - 1 : at]++;
        v->n_lambda++;
    }
}

static void make_equity(struct search_validation *v, const struct returns_matrix *returns, size_t column)
{
    double at[3] = {1, 1, 1};

    v->n_equity = (int)(returns->rows < SEARCH_EQUITY_POINTS ? returns->rows : SEARCH_EQUITY_POINTS);
    for (size_t row = 0; row < returns->rows; row++) {
        size_t point = row * (size_t)v->n_equity / returns->rows;
        at[0] *= 1 + returns->values[row * returns->columns + column];
        at[1] = returns->holding ? at[1] * (1 + returns->holding[row]) : NAN;
        at[2] = returns->equal_weight ? at[2] * (1 + returns->equal_weight[row]) : NAN;
        for (int i = 0; i < 3; i++)
            v->equity[i][point] = at[i];
    }
}

static void read_returns(const char *folder, const int *complete, int n, struct search_validation *v)
{
    struct returns_matrix returns = {0};
    char err[VALIDATION_ERROR_MAX] = "", words[OVERFIT_ERROR_MAX] = "", wanted[32];
    struct overfit overfit;
    size_t column = 0;
    int left_out;

    if (n == 0) {
        snprintf(v->returns_words, sizeof(v->returns_words), "no trial has completed yet");
        return;
    }
    if (returns_of_study(folder, complete, n, &returns, &left_out, err) < 0) {
        text_clean(v->returns_words, sizeof(v->returns_words), err);
        return;
    }
    v->columns = (int)returns.columns;
    v->rows = (int64_t)returns.rows;
    snprintf(wanted, sizeof(wanted), "trial %d", v->trial);
    for (size_t i = 0; i < returns.columns; i++)
        if (returns.names[i] && strcmp(returns.names[i], wanted) == 0)
            column = i;
    if (returns.rows > 0 && returns.columns > 0) {
        v->equity_trial = returns.names[column]
                              ? atoi(returns.names[column] + strcspn(returns.names[column], "0123456789"))
                              : -1;
        make_equity(v, &returns, column);
    }
    int blocks = BLOCKS;
    while (blocks > 2 && returns.rows / 2 < (size_t)blocks)
        blocks -= 2;
    if (overfit_compute(returns.values, returns.rows, returns.columns, blocks, &overfit, words) == 0) {
        make_histogram(v, &overfit);
        if (!v->have) { /* before there is a proposal */
            v->pbo = overfit.pbo;
            v->loss = overfit.probability_of_loss;
            v->slope = overfit.slope;
            v->intercept = overfit.intercept;
        }
        overfit_finish(&overfit);
    } else {
        text_clean(v->returns_words, sizeof(v->returns_words), words);
    }
    returns_finish(&returns);
}

void search_validation_read(const char *folder, const int *complete, int n, struct search_validation *ret)
{
    *ret = (struct search_validation){.trial = -1,
                                      .equity_trial = -1,
                                      .value = NAN,
                                      .pbo = NAN,
                                      .loss = NAN,
                                      .slope = NAN,
                                      .intercept = NAN,
                                      .deflated = NAN,
                                      .expected = NAN,
                                      .skill = NAN,
                                      .holdout = {NAN, NAN, NAN, NAN, NAN, -1}};
    read_proposal(folder, ret);
    read_returns(folder, complete, n, ret);
}
