#include "tests/tui/fixture_study.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tui/fixture.h"

enum { POOL = 32 << 20, TRIALS = 4096, FEW = 64 };

static char *pool;
static size_t used;

void fixture_studies_begin(void)
{
    if (!pool)
        pool = malloc(POOL);
    if (!pool)
        abort();
    used = 0;
}

static void *room(size_t size)
{
    void *at = pool + used;

    used += (size + 15) & ~(size_t)15;
    if (used > POOL)
        abort();
    return memset(at, 0, size);
}

static char *text(const char *words)
{
    return strcpy(room(strlen(words) + 1), words);
}

static int64_t at_us(double ago_s)
{
    return ago_s < 0 ? STUDY_NO_TIME : fixture_now_ns / 1000 - (int64_t)(ago_s * 1e6);
}

struct study *fixture_study(const char *name, int64_t id, int objectives,
                            const enum study_direction *directions)
{
    struct study *study = room(sizeof(*study));

    study->id = id;
    study->name = text(name);
    study->n_objectives = objectives;
    for (int i = 0; i < objectives; i++)
        study->directions[i] = directions[i];
    study->user = room(FEW * sizeof(*study->user));
    study->params = room(FEW * sizeof(*study->params));
    study->distributions = room(FEW * sizeof(*study->distributions));
    study->trials = room(TRIALS * sizeof(struct study_trial *));
    return study;
}

/* Attributes stand in the order of their keys. */
static void put(struct study_attribute *attributes, int *n, const char *key, const char *json)
{
    int at = *n;

    while (at > 0 && strcmp(attributes[at - 1].key, key) > 0) {
        attributes[at] = attributes[at - 1];
        at--;
    }
    attributes[at] = (struct study_attribute){text(key), text(json)};
    ++*n;
}

void fixture_study_user(struct study *study, const char *key, const char *json)
{
    put(study->user, &study->n_user, key, json);
}

struct study_trial *fixture_trial(struct study *study, enum trial_state state, double began_s, double ended_s)
{
    struct study_trial *trial = room(sizeof(*trial));

    *trial = (struct study_trial){.id = study->id * TRIALS + study->n_trials,
                                  .number = study->n_trials,
                                  .state = state,
                                  .started_us = at_us(began_s),
                                  .completed_us = at_us(ended_s),
                                  .heartbeat_us = STUDY_NO_TIME,
                                  .params = room(16 * sizeof(struct trial_param)),
                                  .reports = room(16 * sizeof(struct trial_report)),
                                  .user = room(8 * sizeof(struct study_attribute)),
                                  .system = room(8 * sizeof(struct study_attribute))};
    return study->trials[study->n_trials++] = trial;
}

void fixture_value(struct study_trial *trial, const double *values, int n)
{
    trial->values = room((size_t)n * sizeof(*values));
    memcpy(trial->values, values, (size_t)n * sizeof(*values));
}

void fixture_report(struct study_trial *trial, int64_t step, double value)
{
    trial->reports[trial->n_reports++] = (struct trial_report){step, value};
}

void fixture_trial_user(struct study_trial *trial, const char *key, const char *json)
{
    put(trial->user, &trial->n_user, key, json);
}

void fixture_trial_system(struct study_trial *trial, const char *key, const char *json)
{
    put(trial->system, &trial->n_system, key, json);
}

static int param_of(struct study *study, const char *name)
{
    for (int i = 0; i < study->n_params; i++)
        if (strcmp(study->params[i], name) == 0)
            return i;
    study->params[study->n_params] = text(name);
    return study->n_params++;
}

static void draw(struct study *study, struct study_trial *trial, const char *name,
                 const struct distribution *distribution, double value)
{
    int param = param_of(study, name), at = 0, k = trial->n_params;

    while (at < study->n_distributions && !distribution_equal(&study->distributions[at], distribution))
        at++;
    if (at == study->n_distributions)
        study->distributions[study->n_distributions++] = *distribution;
    for (; k > 0 && trial->params[k - 1].param > param; k--)
        trial->params[k] = trial->params[k - 1];
    trial->params[k] = (struct trial_param){param, at, value};
    trial->n_params++;
}

void fixture_number(struct study *study, struct study_trial *trial, const char *name,
                    enum distribution_kind kind, double low, double high, bool log, double value)
{
    struct distribution distribution = {
        .kind = kind, .log = log, .low = low, .high = high, .step = kind == DISTRIBUTION_INT};

    draw(study, trial, name, &distribution, value);
}

void fixture_choice(struct study *study, struct study_trial *trial, const char *name, const char *choices,
                    int value)
{
    static struct { /* kept for good: a choice's JSON is counted */
        char text[64];
        json_t *json;
    } known[16];
    int at = 0;

    while (known[at].json && strcmp(known[at].text, choices) != 0)
        at++;
    if (!known[at].json) {
        snprintf(known[at].text, sizeof(known[at].text), "%s", choices);
        known[at].json = json_loads(choices, 0, NULL);
    }
    int n = (int)json_array_size(known[at].json);
    struct distribution distribution = {
        .kind = DISTRIBUTION_CATEGORICAL, .high = n - 1, .n_choices = n, .choices = known[at].json};
    draw(study, trial, name, &distribution, value);
}

static int salt; /* so that workers do not try the same */

/* 0 to 1, the same each time. */
static double even(int i, int k)
{
    i += salt;
    return fmod(0.5 + i * 0.6180339887498949 + k * 0.41421356 + 0.37 * fmod(i * k * 0.7548776662, 1), 1);
}

struct study *fixture_search(const char *name, int64_t id, int trials, int wanted, bool ended)
{
    static const enum study_direction maximize[] = {STUDY_MAXIMIZE};
    struct study *study = fixture_study(name, id, 1, maximize);
    char words[160];

    salt = 100 * (int)(id % 50);
    snprintf(words, sizeof(words), "%d", wanted);
    fixture_study_user(study, "papertape:trials", words);
    fixture_study_user(study, "papertape:config",
                       "\"[study]\\ntrials = 9\\n\\n[search]\\ngamma = 0.9..0.99\\n\"");
    for (int i = 0; i < trials; i++) {
        double ago_s = 90.0 * (trials - i) + (ended ? 7200 : 0), lr = pow(10, -6 + 3 * even(i, 1));
        double gamma = 0.88 + 0.11 * even(i, 2);
        int width = 512 + (int)(even(i, 3) * 1024), kind = (int)(even(i, 4) * 3);
        bool runs = !ended && i >= trials - 2;
        enum trial_state state = runs         ? TRIAL_RUNNING
                                 : i % 9 == 5 ? TRIAL_PRUNED
                                 : i == 11    ? TRIAL_FAIL
                                              : TRIAL_COMPLETE;
        struct study_trial *trial =
            fixture_trial(study, state, ago_s, runs ? -1 : ago_s - 60 - 25 * even(i, 5));
        double value = 1.5 - 0.4 * fabs(log10(lr) + 4) + (kind == 1 ? 0.6 : 0) - 8 * fabs(gamma - 0.96) +
                       0.2 * even(i, 6);
        fixture_number(study, trial, "learning_rate", DISTRIBUTION_FLOAT, 1e-6, 1e-3, true, lr);
        fixture_number(study, trial, "gamma", DISTRIBUTION_FLOAT, 0.88, 0.99, false, gamma);
        fixture_number(study, trial, "net_dimension", DISTRIBUTION_INT, 512, 1536, false, width);
        fixture_choice(study, trial, "lr_schedule", "[\"none\",\"linear\",\"exponential\"]", kind);
        fixture_number(study, trial, "clip_range", DISTRIBUTION_FLOAT, 0.1, 0.4, false,
                       0.1 + 0.3 * even(i, 7));
        fixture_number(study, trial, "epochs", DISTRIBUTION_INT, 4, 16, false, 4 + (int)(13 * even(i, 8)));
        snprintf(words, sizeof(words), "\"trade-1:%d\"", 4000 + i % 3);
        fixture_trial_user(trial, "papertape:worker", words);
        int reports = state == TRIAL_COMPLETE ? 10 : state == TRIAL_PRUNED ? 4 : runs ? 6 - i % 2 : 0;
        for (int k = 1; k <= reports; k++)
            fixture_report(trial, k, value * (1 - exp(-0.4 * k)) + 0.1 * even(i, 8 + k) - 0.05);
        if (state == TRIAL_COMPLETE)
            fixture_value(trial, &value, 1);
        else if (state == TRIAL_PRUNED)
            fixture_value(trial, &trial->reports[3].value, 1);
        if (state == TRIAL_FAIL)
            fixture_trial_user(trial, "papertape:failure",
                               "\"diverged: policy loss nan: iteration 812: a lower "
                               "learning_rate\"");
        if (runs) {
            bool silent = i == trials - 2;
            trial->heartbeat_us = fixture_now_ns / 1000 - (silent ? 64000000 : 400000);
            snprintf(words, sizeof(words),
                     "{\"share\":%.2f,\"steps_per_second\":1.9e6,\"split\":%d,\"splits\":10}",
                     silent ? 0.22 : 0.61, silent ? 2 : 6);
            fixture_trial_user(trial, "papertape:progress", words);
            if (silent)
                fixture_trial_system(trial, "retry_history", "[11]");
        }
    }
    return study;
}

struct study *fixture_foreign(const char *name, int64_t id)
{
    static const enum study_direction minimize[] = {STUDY_MINIMIZE};
    struct study *study = fixture_study(name, id, 1, minimize);
    const double infinite = INFINITY;

    for (int i = 0; i < 8; i++) {
        struct study_trial *trial = fixture_trial(study, TRIAL_COMPLETE, 86400 - 60 * i, 86400 - 60 * i - 30);
        double value = 4 - i * 0.25;
        fixture_number(study, trial, "x", DISTRIBUTION_FLOAT, -10, 10 + i % 2, false, 2.5 * i - 9);
        if (i % 2)
            fixture_number(study, trial, "only sometimes", DISTRIBUTION_INT, 1, 64, true, 1 << i % 7);
        fixture_choice(study, trial, "kind", i < 4 ? "[\"a\",null,true]" : "[\"b\",1.5]", i % 2);
        fixture_value(trial, i == 6 ? &infinite : &value, 1);
        if (i == 7)
            fixture_trial_system(trial, "constraints", "[0.5, -1.0]");
    }
    fixture_trial_system(fixture_trial(study, TRIAL_WAITING, -1, -1), "fixed_params", "{\"x\": 1.0}");
    fixture_trial(study, TRIAL_FAIL, 3600, 3500);
    fixture_trial(study, TRIAL_RUNNING, 3400, -1); /* without a heartbeat: never stale */
    return study;
}

struct study *fixture_two(const char *name, int64_t id)
{
    static const enum study_direction both[] = {STUDY_MAXIMIZE, STUDY_MINIMIZE};
    struct study *study = fixture_study(name, id, 2, both);

    for (int i = 0; i < 6; i++) {
        struct study_trial *trial = fixture_trial(study, TRIAL_COMPLETE, 5000 - 60 * i, 4960 - 60 * i);
        const double values[] = {i, i < 4 ? i * 0.5 : 9};
        fixture_number(study, trial, "x", DISTRIBUTION_FLOAT, 0, 6, false, i);
        fixture_value(trial, values, 2);
    }
    return study;
}
