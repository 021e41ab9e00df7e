#include "tui/studies.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trainer/study/tally.h"

enum { US = 1000000, PARETO_MAX = 4000 /* trials, of more the newest count */ };

/* The number that an attribute's JSON is; NaN: none such. */
static double attribute_number(const struct study_attribute *attributes, int n, const char *key)
{
    json_t *json = study_attribute_json(attributes, n, key);
    double value = json_is_number(json) ? json_number_value(json) : NAN;

    json_decref(json);
    return value;
}

int tui_study_running(const struct tui_study *shown)
{
    return shown->counts[TRIAL_RUNNING] - shown->stale;
}

int tui_study_done(const struct tui_study *shown)
{
    return shown->counts[TRIAL_COMPLETE] + shown->counts[TRIAL_PRUNED] + tui_study_failed(shown);
}

int tui_study_failed(const struct tui_study *shown)
{
    return shown->counts[TRIAL_FAIL] - shown->retried;
}

const char *tui_study_direction(const struct tui_study *shown, char buf[static STATUS_WORD_MAX])
{
    static const char *const words[STUDY_DIRECTIONS] = {"n/a", "min", "max"};
    size_t at = 0;

    buf[0] = '\0';
    for (int i = 0; i < shown->n_objectives && at + 5 < STATUS_WORD_MAX; i++)
        at += (size_t)snprintf(buf + at, STATUS_WORD_MAX - at, "%s%s", i ? "," : "",
                               words[shown->directions[i]]);
    return buf;
}

const char *tui_study_best_name(const struct tui_study *shown, char buf[static STATUS_WORD_MAX])
{
    if (shown->best_k > 0)
        snprintf(buf, STATUS_WORD_MAX, "%d#%d", shown->best_k, shown->best_number);
    else
        snprintf(buf, STATUS_WORD_MAX, "#%d", shown->best_number);
    return buf;
}

bool tui_study_has(const struct tui_study *shown, const char *study)
{
    char base[STUDY_NAME_MAX + 1], own[STUDY_NAME_MAX + 1];
    int k = study_base_name(study, base);

    if (study_base_name(shown->name, own) <= 0 || k <= 0)
        return strcmp(study, shown->name) == 0;
    for (int i = 0; i < shown->members && strcmp(base, own) == 0; i++)
        if (shown->ks[i] == k)
            return true;
    return false;
}

/* ---- Groups. ---- */

/* The key by which a study is grouped: its name, or that of its study with the directions, which must
 * agree. */
static void group_key(const struct study *study, char ret[static STUDY_LABEL_MAX])
{
    char base[STUDY_NAME_MAX + 1];
    int at, k = study_base_name(study->name, base);

    if (k <= 0) {
        snprintf(ret, STUDY_LABEL_MAX, "%s", study->name);
        return;
    }
    at = snprintf(ret, STUDY_LABEL_MAX, "%s_*", base);
    for (int i = 0; i < study->n_objectives && at + 1 < STUDY_LABEL_MAX; i++)
        at += snprintf(ret + at, STUDY_LABEL_MAX - (size_t)at, "%d", (int)study->directions[i]);
}

struct place {
    int k;
    size_t at;
};

static int by_k(const void *a, const void *b)
{
    const struct place *p = a, *q = b;

    return p->k != q->k ? (p->k < q->k ? -1 : 1) : p->at < q->at ? -1 : p->at > q->at;
}

size_t tui_studies_members(struct study *const *studies, size_t n, const char *key, size_t *ret, size_t cap)
{
    struct place *places = calloc(n + 1, sizeof(*places));
    char own[STUDY_LABEL_MAX], base[STUDY_NAME_MAX + 1];
    size_t found = 0;

    for (size_t i = 0; places && i < n; i++) {
        group_key(studies[i], own);
        if (strcmp(own, key) == 0)
            places[found++] = (struct place){study_base_name(studies[i]->name, base), i};
    }
    if (places)
        qsort(places, found, sizeof(*places), by_k);
    found = found < cap ? found : cap;
    for (size_t i = 0; i < found; i++)
        ret[i] = places[i].at;
    free(places);
    return found;
}

static void make_label(struct tui_study *shown, struct study *const *members, size_t n)
{
    char base[STUDY_NAME_MAX + 1];
    int first = study_base_name(members[0]->name, base);
    int last = study_base_name(members[n - 1]->name, base);

    shown->first_k = first;
    shown->last_k = last;
    if (n == 1)
        snprintf(shown->label, sizeof(shown->label), "%s", members[0]->name);
    else if (last - first + 1 == (int)n)
        snprintf(shown->label, sizeof(shown->label), "%s_%d..%d", base, first, last);
    else
        snprintf(shown->label, sizeof(shown->label), "%s_%d..%d (%zu)", base, first, last, n);
    snprintf(shown->job, sizeof(shown->job), "%s", base);
    char *run = strchr(shown->job, '@'); /* of a schedule */
    if (run && run > shown->job)
        *run = '\0';
}

/* ---- Results. ---- */

static int by_completion(const void *a, const void *b)
{
    const struct tui_study_result *p = a, *q = b;

    if (p->completed_us != q->completed_us)
        return p->completed_us < q->completed_us ? -1 : 1;
    return p->number != q->number ? (p->number < q->number ? -1 : 1) : p->member - q->member;
}

struct tui_study_result *tui_study_results(struct study *const *members, size_t n, size_t *ret_n)
{
    size_t most = 0, found = 0;

    for (size_t i = 0; i < n; i++)
        most += (size_t)members[i]->n_trials;
    struct tui_study_result *results = most ? malloc(most * sizeof(*results)) : NULL;
    *ret_n = 0;
    for (size_t i = 0; results && i < n; i++)
        for (int k = 0; k < members[i]->n_trials; k++) {
            const struct study_trial *trial = members[i]->trials[k];
            if (trial->state == TRIAL_COMPLETE && trial->values && !(study_trial_violation(trial) > 0))
                results[found++] =
                    (struct tui_study_result){trial->completed_us, (int)i, trial->number, trial};
        }
    if (results)
        qsort(results, found, sizeof(*results), by_completion);
    *ret_n = found;
    return results;
}

static bool dominates(const struct study *study, const double *a, const double *b)
{
    bool better = false;

    for (int i = 0; i < study->n_objectives; i++) {
        if (tui_study_better(study->directions[i], b[i], a[i]) || isnan(a[i]))
            return false;
        better |= tui_study_better(study->directions[i], a[i], b[i]);
    }
    return better;
}

/* How many of these trials no other is better than in all objectives. */
static int pareto(const struct study *study, const struct tui_study_result *results, size_t n)
{
    size_t from = n > PARETO_MAX ? n - PARETO_MAX : 0;
    int front = 0;

    for (size_t i = from; i < n; i++) {
        bool best = true;
        for (size_t k = from; k < n && best; k++)
            best = !dominates(study, results[k].trial->values, results[i].trial->values);
        front += best;
    }
    return front;
}

static void take_results(struct tui_study *shown, struct study *const *members, size_t n)
{
    size_t n_results;
    struct tui_study_result *results = tui_study_results(members, n, &n_results);
    const struct study *first = members[0];
    char base[STUDY_NAME_MAX + 1];

    shown->pareto = -1;
    if (first->n_objectives != 1)
        shown->pareto = pareto(first, results, n_results);
    else
        for (size_t i = 0; i < n_results; i++) {
            double value = results[i].trial->values[0];
            if (isnan(value))
                continue;
            if (!shown->have_best || tui_study_better(first->directions[0], value, shown->best)) {
                shown->have_best = true;
                shown->best = value;
                shown->best_member = results[i].member;
                shown->best_number = results[i].number;
                if (n > 1)
                    shown->best_k = study_base_name(members[results[i].member]->name, base);
            }
            /* The last place that falls into a point is what it shows. */
            size_t at = n_results <= STUDY_POINTS ? i : i * STUDY_POINTS / n_results;
            for (size_t k = (size_t)shown->n_points; k <= at; k++)
                shown->points[k] = NAN;
            shown->points[at] = shown->best;
            shown->n_points = (int)at + 1;
        }
    free(results);
}

/* ---- Times. ---- */

static int newest_first(const void *a, const void *b)
{
    int64_t p = *(const int64_t *)a, q = *(const int64_t *)b;

    return p > q ? -1 : p < q;
}

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b; /* STUDY_NO_TIME is the least */
}

/* The grace of trials without a heartbeat, of all members together; ms. */
static int64_t grace_ms(struct study *const *members, size_t n)
{
    int64_t longest_us = -1;

    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < members[i]->n_trials; k++) {
            const struct study_trial *trial = members[i]->trials[k];
            if (trial_state_finished(trial->state) && trial->started_us != STUDY_NO_TIME &&
                trial->completed_us != STUDY_NO_TIME)
                longest_us = later(longest_us, trial->completed_us - trial->started_us);
        }
    return longest_us < 0 ? STUDY_GRACE_FIRST_MS
                          : later(STUDY_GRACE_MS, STUDY_GRACE_TIMES * (longest_us / 1000));
}

/* Is it a trial whose worker is gone without a word? Optuna never ends one. */
static bool is_forgotten(const struct study_trial *trial, int64_t grace, int64_t now_us)
{
    return trial->state == TRIAL_RUNNING && trial->heartbeat_us == STUDY_NO_TIME &&
           trial->started_us != STUDY_NO_TIME && (now_us - trial->started_us) / 1000 > grace;
}

static void take_stale(struct tui_study *shown, struct study *const *members, size_t n, int64_t now_us)
{
    shown->grace_ms = grace_ms(members, n);
    shown->stale_us = STUDY_NO_TIME;
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < members[i]->n_trials; k++) {
            const struct study_trial *trial = members[i]->trials[k];
            if (!is_forgotten(trial, shown->grace_ms, now_us))
                continue;
            shown->stale++;
            if (shown->stale_us == STUDY_NO_TIME || trial->started_us < shown->stale_us)
                shown->stale_us = trial->started_us;
        }
}

/* Trials that run without a heartbeat are never silent; those that are stale do not count. */
static void take_heartbeats(struct tui_study *shown, struct study *const *members, size_t n, int64_t now_us)
{
    bool all = tui_study_running(shown) > 0, ours = true;

    shown->heartbeat_us = STUDY_NO_TIME;
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < members[i]->n_trials; k++) {
            const struct study_trial *trial = members[i]->trials[k];
            if (trial->state != TRIAL_RUNNING || is_forgotten(trial, shown->grace_ms, now_us))
                continue;
            shown->heartbeat_us = later(shown->heartbeat_us, trial->heartbeat_us);
            all &= trial->heartbeat_us != STUDY_NO_TIME;
            ours &= study_attribute_find(trial->user, trial->n_user, "papertape:worker") != NULL;
        }
    shown->heartbeat_expected_ms = ours ? STUDY_HEARTBEAT_MS : STUDY_HEARTBEAT_OTHER_MS;
    if (!all)
        shown->heartbeat_us = STUDY_NO_TIME;
}

/* Trials an hour: of the newest finished ones, from the first of them to now while some run, so that it falls
 * where nothing comes any more; else to the last. */
static void take_times(struct tui_study *shown, struct study *const *members, size_t n, int64_t now_us)
{
    int64_t *ends = malloc(((size_t)shown->n_trials + 1) * sizeof(*ends));
    int found = 0;

    shown->started_us = shown->newest_us = STUDY_NO_TIME;
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < members[i]->n_trials; k++) {
            const struct study_trial *trial = members[i]->trials[k];
            if (trial->started_us != STUDY_NO_TIME &&
                (shown->started_us == STUDY_NO_TIME || trial->started_us < shown->started_us))
                shown->started_us = trial->started_us;
            shown->newest_us = later(shown->newest_us, later(trial->started_us, trial->completed_us));
            shown->newest_us = later(shown->newest_us, trial->heartbeat_us);
            if (ends && trial_state_finished(trial->state) && trial->completed_us != STUDY_NO_TIME)
                ends[found++] = trial->completed_us;
        }
    if (ends)
        qsort(ends, (size_t)found, sizeof(*ends), newest_first);
    int used = found < STUDY_RATE_TRIALS ? found : STUDY_RATE_TRIALS;
    if (shown->counts[TRIAL_COMPLETE] + shown->counts[TRIAL_PRUNED] == 0)
        used = 0; /* those that failed at once do not say how long a trial takes */
    bool runs = tui_study_running(shown) > 0;
    if (used > 1) {
        int64_t end = runs && now_us > ends[0] ? now_us : ends[0], from = ends[used - 1];
        if (end > from)
            shown->trials_h = (used - 1) * 3600.0 * US / (double)(end - from);
    } else if (used == 1 && shown->started_us != STUDY_NO_TIME) { /* the first alone */
        int64_t end = runs && now_us > ends[0] ? now_us : ends[0];
        if (end > shown->started_us)
            shown->trials_h = 3600.0 * US / (double)(end - shown->started_us);
    }
    int64_t left = shown->wanted - tui_study_done(shown);
    if (shown->wanted >= 0 && (left <= 0 || (runs && shown->trials_h > 0)))
        shown->eta_s = left <= 0 ? 0 : (double)left * 3600 / shown->trials_h;
    free(ends);
}

/* Of the newest study that has it. */
static char *newest_text(struct study *const *members, size_t n, const char *key)
{
    const struct study *newest = NULL;

    for (size_t i = 0; i < n; i++)
        if (study_attribute_find(members[i]->user, members[i]->n_user, key) &&
            (!newest || members[i]->id > newest->id))
            newest = members[i];
    return newest ? study_attribute_text(newest->user, newest->n_user, key) : NULL;
}

/* False without memory: nothing is owned. */
static bool fill(struct tui_study *shown, struct study *const *members, size_t n, int64_t now_us)
{
    const struct study *newest = members[0];
    char base[STUDY_NAME_MAX + 1];
    double wanted = 0;

    *shown = (struct tui_study){.members = (int)n,
                                .n_objectives = members[0]->n_objectives,
                                .wanted = -1,
                                .trials_h = NAN,
                                .eta_s = NAN,
                                .ks = calloc(n, sizeof(*shown->ks))};
    if (!shown->ks)
        return false;
    group_key(members[0], shown->key);
    make_label(shown, members, n);
    memcpy(shown->directions, members[0]->directions, sizeof(shown->directions));
    for (size_t i = 0; i < n; i++) {
        shown->n_trials += members[i]->n_trials;
        shown->retried += study_tally_of(members[i]).retried;
        for (int k = 0; k < members[i]->n_trials; k++)
            shown->counts[members[i]->trials[k]->state]++;
        shown->ks[i] = study_base_name(members[i]->name, base);
        wanted += attribute_number(members[i]->user, members[i]->n_user, "papertape:trials");
        newest = members[i]->id > newest->id ? members[i] : newest;
    }
    if (wanted >= 0 && wanted < 1e9)
        shown->wanted = (int64_t)wanted;
    snprintf(shown->name, sizeof(shown->name), "%s", newest->name);
    shown->config = newest_text(members, n, "papertape:config");
    take_results(shown, members, n);
    take_stale(shown, members, n, now_us);
    take_times(shown, members, n, now_us);
    take_heartbeats(shown, members, n, now_us);
    return true;
}

/* ---- All. ---- */

static int newest_study_first(const void *a, const void *b)
{
    const struct study *p = *(struct study *const *)a, *q = *(struct study *const *)b;

    return p->id > q->id ? -1 : p->id < q->id;
}

static bool has(const struct tui_studies *list, const char *key)
{
    for (int i = 0; i < list->n; i++)
        if (strcmp(list->study[i].key, key) == 0)
            return true;
    return false;
}

struct tui_studies *tui_studies_make(struct study *const *studies, size_t n, int64_t now_us)
{
    size_t most = n < STUDIES_MAX ? n : STUDIES_MAX;
    struct tui_studies *list = calloc(1, sizeof(*list));
    struct study **sorted = calloc(n + 1, sizeof(*sorted)), **members = calloc(n + 1, sizeof(*members));
    size_t *at = calloc(n + 1, sizeof(*at));
    char key[STUDY_LABEL_MAX];

    if (list)
        list->study = calloc(most + 1, sizeof(*list->study));
    if (!list || !list->study || !sorted || !members || !at) {
        tui_studies_destroy(list);
        list = NULL;
        goto done;
    }
    list->studies = n;
    for (size_t i = 0; i < n; i++)
        sorted[i] = studies[i];
    qsort(sorted, n, sizeof(*sorted), newest_study_first);
    for (size_t i = 0; i < n && (size_t)list->n < most; i++) {
        group_key(sorted[i], key);
        if (has(list, key))
            continue;
        size_t found = tui_studies_members(sorted, n, key, at, n);
        for (size_t k = 0; k < found; k++)
            members[k] = sorted[at[k]];
        if (found > 0 && !fill(&list->study[list->n], members, found, now_us)) {
            tui_studies_destroy(list);
            list = NULL;
            goto done;
        }
        list->n += found > 0;
    }
done:
    free(sorted);
    free(members);
    free(at);
    return list;
}

void tui_studies_unread(struct tui_studies *list, const struct study *study, const int *counts,
                        const char *words)
{
    char key[STUDY_LABEL_MAX];

    group_key(study, key);
    for (int i = 0; i < list->n; i++) {
        struct tui_study *shown = &list->study[i];
        if (strcmp(shown->key, key) != 0)
            continue;
        snprintf(shown->unread, sizeof(shown->unread), "%s", words);
        for (int k = 0; counts && k < TRIAL_STATES; k++) {
            shown->counts[k] += counts[k];
            shown->n_trials += counts[k];
        }
    }
}

void tui_studies_judged(struct tui_studies *list, const struct study *study, const char *word,
                        const char *text)
{
    char key[STUDY_LABEL_MAX];

    group_key(study, key);
    for (int i = 0; i < list->n; i++) {
        struct tui_study *shown = &list->study[i];
        if (strcmp(shown->key, key) != 0 || (shown->verdict[0] && study->id < shown->verdict_of))
            continue;
        snprintf(shown->verdict, sizeof(shown->verdict), "%s", word);
        snprintf(shown->verdict_text, sizeof(shown->verdict_text), "%s", text);
        shown->verdict_of = study->id;
    }
}

void tui_studies_destroy(struct tui_studies *list)
{
    if (!list)
        return;
    for (int i = 0; list->study && i < list->n; i++) {
        free(list->study[i].config);
        free(list->study[i].ks);
    }
    free(list->study);
    free(list);
}

/* How a name matches a study: by itself, by one of its workers, by NAME of its workers. */
enum named { NOT_NAMED, BY_STEM, BY_WORKER, BY_ITSELF };

static enum named named_by(const struct tui_study *shown, const char *name)
{
    char base[STUDY_NAME_MAX + 1], own[STUDY_NAME_MAX + 1];

    if (strcmp(shown->key, name) == 0 || strcmp(shown->label, name) == 0 || strcmp(shown->name, name) == 0)
        return BY_ITSELF;
    if (strlen(name) > STUDY_NAME_MAX || study_base_name(shown->name, own) <= 0)
        return NOT_NAMED;
    int k = study_base_name(name, base);
    if (k > 0 && strcmp(own, base) == 0 && k >= shown->first_k && k <= shown->last_k)
        return BY_WORKER;
    return strcmp(own, name) == 0 || strcmp(own, base) == 0 ? BY_STEM : NOT_NAMED;
}

const struct tui_study *tui_studies_find(const struct tui_studies *list, const char *name)
{
    const struct tui_study *found = NULL;
    enum named best = NOT_NAMED;

    for (int i = 0; list && i < list->n; i++) {
        enum named named = named_by(&list->study[i], name);
        if (named > best) {
            best = named;
            found = &list->study[i];
        }
    }
    return found;
}

const struct tui_study *tui_studies_find_other(const struct tui_studies *list, const char *name,
                                               const struct tui_study *after)
{
    const struct tui_study *found = tui_studies_find(list, name);

    for (int i = 0; found && i < list->n; i++)
        if (&list->study[i] > after && &list->study[i] != found &&
            named_by(&list->study[i], name) == named_by(found, name))
            return &list->study[i];
    return NULL;
}
