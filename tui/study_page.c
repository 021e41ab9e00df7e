#include "tui/study_page.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/studies/python_json.h"

enum { MEMORY_BLOCK = 64 << 10, IMPORTANCE_SEED = 1 };

/* Blocks that live and go with the page. */
struct tui_study_memory {
    struct tui_study_memory *next;
    size_t used, size;
    _Alignas(16) char bytes[];
};

static void *take(struct tui_study_page *page, size_t size)
{
    struct tui_study_memory *block = page->memory;

    size = (size + 15) & ~(size_t)15;
    if (!block || block->size - block->used < size) {
        size_t room = size > MEMORY_BLOCK ? size : MEMORY_BLOCK;
        block = malloc(sizeof(*block) + room);
        if (!block)
            return NULL;
        *block = (struct tui_study_memory){.next = page->memory, .size = room};
        page->memory = block;
    }
    void *at = block->bytes + block->used;
    block->used += size;
    memset(at, 0, size);
    return at;
}

static const char *keep_text(struct tui_study_page *page, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = take(page, size);

    return copy ? memcpy(copy, text, size) : NULL;
}

void tui_study_page_destroy(struct tui_study_page *page)
{
    if (!page)
        return;
    if (page->order)
        free(page->order->rows);
    free(page->order);
    for (struct tui_study_memory *block = page->memory, *next; block; block = next) {
        next = block->next;
        free(block);
    }
    free(page);
}

/* ---- Parameters. ---- */

static int param_index(struct tui_study_page *page, const char *name)
{
    for (int i = 0; i < page->n_params; i++)
        if (strcmp(page->params[i], name) == 0)
            return i;
    page->params[page->n_params] = keep_text(page, name);
    return page->params[page->n_params] ? page->n_params++ : -1;
}

static bool keep_choices(struct tui_study_page *page, const struct distribution *from,
                         struct tui_study_distribution *ret)
{
    ret->choices = take(page, ((size_t)from->n_choices + 1) * sizeof(*ret->choices));
    for (int i = 0; ret->choices && i < from->n_choices; i++) {
        const json_t *choice = json_array_get(from->choices, (size_t)i);
        const char *word = study_python_json_word(choice), *carried = study_python_json_carried(choice);
        const char *bare = word ? word : carried ? carried : json_string_value(choice);
        char *text = bare || !choice ? NULL : json_dumps(choice, JSON_ENCODE_ANY | JSON_REAL_PRECISION(6));
        ret->choices[i] = keep_text(page, bare ? bare : text ? text : "?");
        free(text);
        if (!ret->choices[i])
            return false;
    }
    return ret->choices != NULL;
}

/* The indices of each member's parameters and distributions in the page. */
struct mapped {
    int *params, *distributions;
};

static bool map_member(struct tui_study_page *page, const struct study *study,
                       struct tui_study_distribution *distributions, struct mapped *ret)
{
    ret->params = take(page, ((size_t)study->n_params + 1) * sizeof(int));
    ret->distributions = take(page, ((size_t)study->n_distributions + 1) * sizeof(int));
    if (!ret->params || !ret->distributions)
        return false;
    for (int i = 0; i < study->n_params; i++)
        if ((ret->params[i] = param_index(page, study->params[i])) < 0)
            return false;
    for (int i = 0; i < study->n_distributions; i++) {
        const struct distribution *from = &study->distributions[i];
        struct tui_study_distribution *to = &distributions[page->n_distributions];
        *to = (struct tui_study_distribution){.kind = from->kind,
                                              .log = from->log,
                                              .low = from->low,
                                              .high = from->high,
                                              .step = from->step,
                                              .n_choices = from->n_choices};
        if (from->kind == DISTRIBUTION_CATEGORICAL && !keep_choices(page, from, to))
            return false;
        ret->distributions[i] = page->n_distributions++;
    }
    return true;
}

/* ---- Trials. ---- */

static void take_progress(struct tui_study_trial *row, const struct study_trial *trial)
{
    json_t *json = study_attribute_json(trial->user, trial->n_user, "papertape:progress");
    const json_t *share = json_object_get(json, "share"), *steps = json_object_get(json, "steps_per_second"),
                 *split = json_object_get(json, "split"), *splits = json_object_get(json, "splits");

    row->share = json_is_number(share) ? json_number_value(share) : NAN;
    row->steps_s = json_is_number(steps) ? json_number_value(steps) : NAN;
    row->split = json_is_integer(split) ? (int)json_integer_value(split) : -1;
    row->splits = json_is_integer(splits) ? (int)json_integer_value(splits) : -1;
    json_decref(json);
}

static int count_retries(const struct study_trial *trial)
{
    json_t *json = study_attribute_json(trial->system, trial->n_system, "retry_history");
    int n = (int)json_array_size(json);

    json_decref(json);
    return n;
}

static const char *failure_of(struct tui_study_page *page, const struct study_trial *trial)
{
    char *text = study_attribute_text(trial->user, trial->n_user, "papertape:failure");

    if (!text)
        text = study_attribute_text(trial->system, trial->n_system, "fail_reason");
    const char *kept = text ? keep_text(page, text) : NULL;
    free(text);
    return kept;
}

static bool take_trial(struct tui_study_page *page, const struct study *study, int member,
                       const struct mapped *mapped, const struct study_trial *trial,
                       struct tui_study_trial *row)
{
    struct tui_study_cell *cells = take(page, ((size_t)page->n_params + 1) * sizeof(*cells));
    char *worker = study_attribute_text(trial->user, trial->n_user, "papertape:worker");

    *row = (struct tui_study_trial){.member = member,
                                    .number = trial->number,
                                    .state = trial->state,
                                    .started_us = trial->started_us,
                                    .completed_us = trial->completed_us,
                                    .heartbeat_us = trial->heartbeat_us,
                                    .cells = cells,
                                    .n_reports = trial->n_reports,
                                    .violation = study_trial_violation(trial),
                                    .retries = count_retries(trial),
                                    .ours = worker != NULL,
                                    .grace_ms = page->study.grace_ms,
                                    .failure = failure_of(page, trial)};
    snprintf(row->worker, sizeof(row->worker), "%s", worker ? worker : "");
    free(worker);
    take_progress(row, trial);
    if (!cells)
        return false;
    for (int i = 0; i < page->n_params; i++)
        cells[i] = (struct tui_study_cell){.value = NAN};
    for (int i = 0; i < trial->n_params; i++)
        cells[mapped->params[trial->params[i].param]] = (struct tui_study_cell){
            trial->params[i].value, mapped->distributions[trial->params[i].distribution]};
    if (trial->values) {
        double *values = take(page, ((size_t)study->n_objectives + 1) * sizeof(*values));
        if (!values)
            return false;
        memcpy(values, trial->values, (size_t)study->n_objectives * sizeof(*values));
        row->values = values;
    }
    if (trial->n_reports > 0) {
        struct trial_report *reports = take(page, (size_t)trial->n_reports * sizeof(*reports));
        if (!reports)
            return false;
        memcpy(reports, trial->reports, (size_t)trial->n_reports * sizeof(*reports));
        row->reports = reports;
    }
    return true;
}

static int by_number(const void *a, const void *b)
{
    const struct tui_study_trial *p = a, *q = b;

    return p->number != q->number ? (p->number < q->number ? -1 : 1) : p->member - q->member;
}

static bool take_trials(struct tui_study_page *page, struct study *const *members, size_t n)
{
    size_t params = 1, distributions = 1, trials = 1;

    for (size_t i = 0; i < n; i++) {
        params += (size_t)members[i]->n_params;
        distributions += (size_t)members[i]->n_distributions;
        trials += (size_t)members[i]->n_trials;
    }
    struct mapped *mapped = take(page, n * sizeof(*mapped));
    struct tui_study_distribution *room = take(page, distributions * sizeof(*room));
    struct tui_study_trial *rows = take(page, trials * sizeof(*rows));
    page->params = take(page, params * sizeof(*page->params));
    page->members = take(page, n * sizeof(*page->members));
    page->distributions = room;
    page->trials = rows;
    if (!mapped || !room || !rows || !page->params || !page->members)
        return false;
    for (size_t i = 0; i < n; i++) {
        page->members[page->n_members++] = keep_text(page, members[i]->name);
        if (!page->members[i] || !map_member(page, members[i], room, &mapped[i]))
            return false;
    }
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < members[i]->n_trials; k++)
            if (!take_trial(page, members[i], (int)i, &mapped[i], members[i]->trials[k],
                            &rows[page->n_trials++]))
                return false;
    qsort(rows, (size_t)page->n_trials, sizeof(*rows), by_number);
    return true;
}

/* ---- The rest. ---- */

static bool take_results(struct tui_study_page *page, struct study *const *members, size_t n)
{
    size_t n_results;
    struct tui_study_result *results = tui_study_results(members, n, &n_results);
    double *values = take(page, (n_results + 1) * sizeof(*values));
    double *best = take(page, (n_results + 1) * sizeof(*best));

    page->values = values;
    page->best = best;
    for (size_t i = 0; values && best && members[0]->n_objectives == 1 && i < n_results; i++) {
        int at = page->n_results++;
        double before = at ? best[at - 1] : NAN;
        values[at] = results[i].trial->values[0];
        best[at] = isnan(before) || tui_study_better(members[0]->directions[0], values[at], before)
                       ? values[at]
                       : before;
    }
    free(results);
    return values && best;
}

struct tui_study_complete tui_study_complete(struct study *const *studies, size_t n)
{
    struct tui_study_complete complete = {.studies = (int64_t)n};

    for (size_t i = 0; i < n; i++) {
        complete.ids += studies[i]->id;
        for (int k = 0; k < studies[i]->n_trials; k++)
            complete.trials += studies[i]->trials[k]->state == TRIAL_COMPLETE;
    }
    return complete;
}

/* Of all workers; of several objectives the first. Computed again only where more trials have completed. */
static void take_importance(struct tui_study_page *page, struct study *const *members, size_t n,
                            struct tui_study_kept *kept)
{
    static const struct tui_study_kept nothing;
    struct importance found[STUDY_IMPORTANCE_MAX];
    const struct tui_study_complete complete = tui_study_complete(members, n);
    struct tui_study_kept own = nothing;

    kept = kept ? kept : &own;
    if (strcmp(kept->key, page->study.key) != 0 ||
        memcmp(&kept->complete, &complete, sizeof(complete)) != 0) {
        *kept = nothing;
        int r = importance_compute(members, n, 0, IMPORTANCE_SEED, found, STUDY_IMPORTANCE_MAX,
                                   &kept->importance_of);
        snprintf(kept->key, sizeof(kept->key), "%s", page->study.key);
        kept->complete = complete;
        kept->n_importance = r > 0 ? r : 0;
        for (int i = 0; i < kept->n_importance; i++) {
            snprintf(kept->importance_params[i], sizeof(kept->importance_params[i]), "%s", found[i].param);
            kept->importance_shares[i] = found[i].share;
        }
    }
    page->importance_of = kept->importance_of;
    for (int i = 0; i < kept->n_importance; i++)
        for (int k = 0; k < page->n_params; k++)
            if (strncmp(page->params[k], kept->importance_params[i],
                        sizeof(kept->importance_params[i]) - 1) == 0 &&
                page->n_importance < STUDY_IMPORTANCE_MAX) {
                page->importance[page->n_importance].param = k;
                page->importance[page->n_importance++].share = kept->importance_shares[i];
                break;
            }
}

static bool rank_params(struct tui_study_page *page)
{
    const size_t n = (size_t)page->n_params;
    int *ranked = take(page, (n + 1) * sizeof(*ranked)), count = 0;
    bool *seen = calloc(n + 1, sizeof(*seen));

    for (int i = 0; ranked && seen && i < page->n_importance + page->n_params; i++) {
        const int param = i < page->n_importance ? page->importance[i].param : i - page->n_importance;
        if (!seen[param])
            ranked[count++] = param;
        seen[param] = true;
    }
    page->ranked = ranked;
    bool done = ranked && seen;
    free(seen);
    return done;
}

static bool keep_attributes(struct tui_study_page *page, struct tui_study_attribute *to,
                            const struct study_attribute *from, int n, bool system)
{
    for (int i = 0; i < n; i++) {
        struct tui_study_attribute *attribute = &to[page->n_attributes++];
        attribute->key = keep_text(page, from[i].key);
        attribute->json = keep_text(page, from[i].json ? from[i].json : "null");
        attribute->system = system;
        if (!attribute->key || !attribute->json)
            return false;
    }
    return true;
}

static bool take_attributes(struct tui_study_page *page, struct study *const *members, size_t n,
                            const struct tui_study_want *want)
{
    page->attributes_trial = -1;
    for (size_t i = 0; i < n; i++) {
        if (strcmp(members[i]->name, want->study) != 0 || want->trial < 0 ||
            want->trial >= members[i]->n_trials)
            continue;
        const struct study_trial *trial = members[i]->trials[want->trial];
        struct tui_study_attribute *room =
            take(page, (size_t)(trial->n_user + trial->n_system + 1) * sizeof(*room));
        page->attributes = room;
        page->attributes_trial = want->trial;
        snprintf(page->attributes_study, sizeof(page->attributes_study), "%s", want->study);
        return room && keep_attributes(page, room, trial->user, trial->n_user, false) &&
               keep_attributes(page, room, trial->system, trial->n_system, true);
    }
    return true;
}

struct tui_study_page *tui_study_page_make(struct study *const *members, size_t n,
                                           const struct tui_study_want *want, struct tui_study_kept *kept,
                                           int64_t now_us)
{
    struct tui_study_page *page = calloc(1, sizeof(*page));
    struct tui_studies *one = tui_studies_make(members, n, now_us);

    if (page)
        page->order = calloc(1, sizeof(*page->order));
    if (!page || !page->order || !one || one->n < 1)
        goto failed;
    page->study = one->study[0];
    page->study.config = NULL;
    page->study.ks = take(page, n * sizeof(*page->study.ks));
    if (!page->study.ks)
        goto failed;
    memcpy(page->study.ks, one->study[0].ks, n * sizeof(*page->study.ks));
    if (!take_trials(page, members, n) || !take_results(page, members, n) ||
        !take_attributes(page, members, n, want))
        goto failed;
    take_importance(page, members, n, kept);
    if (!rank_params(page))
        goto failed;
    tui_studies_destroy(one);
    return page;
failed:
    tui_studies_destroy(one);
    tui_study_page_destroy(page);
    return NULL;
}

/* ---- As text. ---- */

const char *tui_study_number(char *buf, size_t size, double value)
{
    double much = fabs(value);

    if (isnan(value))
        snprintf(buf, size, "n/a");
    else if (isinf(value))
        snprintf(buf, size, value > 0 ? "inf" : "-inf");
    else if (much != 0 && (much < 1e-3 || much >= 1e6))
        snprintf(buf, size, "%.3g", value);
    else
        snprintf(buf, size, "%.*f",
                 much < 10     ? 4
                 : much < 100  ? 3
                 : much < 1000 ? 2
                               : 1,
                 much > 0 ? value : 0);
    return buf;
}

const char *tui_study_cell_text(const struct tui_study_page *page, const struct tui_study_cell *cell,
                                char *buf, size_t size)
{
    buf[0] = '\0';
    if (isnan(cell->value))
        return buf;
    const struct tui_study_distribution *d = &page->distributions[cell->distribution];
    if (d->kind == DISTRIBUTION_CATEGORICAL) {
        bool known = cell->value >= 0 && cell->value < d->n_choices;
        snprintf(buf, size, "%s", known ? d->choices[(int)cell->value] : "?");
    } else if (d->kind == DISTRIBUTION_INT && fabs(cell->value) < 1e15) {
        snprintf(buf, size, "%.0f", cell->value);
    } else {
        int digits = 4;
        do
            snprintf(buf, size, "%.*g", digits, cell->value);
        while (strlen(buf) > STUDY_CELL_COLUMNS && --digits > 1);
    }
    return buf;
}

double tui_study_cell_place(const struct tui_study_page *page, const struct tui_study_cell *cell)
{
    if (isnan(cell->value))
        return NAN;
    const struct tui_study_distribution *d = &page->distributions[cell->distribution];
    double low = d->kind == DISTRIBUTION_CATEGORICAL ? 0 : d->low;
    double high = d->kind == DISTRIBUTION_CATEGORICAL ? d->n_choices - 1 : d->high, value = cell->value;
    if (d->log && low > 0) {
        low = log(low);
        high = log(high);
        value = log(value);
    }
    double place = high > low ? (value - low) / (high - low) : 0.5;
    return isnan(place) ? NAN : place < 0 ? 0 : place > 1 ? 1 : place;
}

const char *tui_study_trial_name(const struct tui_study_page *page, const struct tui_study_trial *trial,
                                 char *buf, size_t size)
{
    char base[STUDY_NAME_MAX + 1];

    if (page->n_members > 1)
        snprintf(buf, size, "%d#%d", study_base_name(page->members[trial->member], base), trial->number);
    else
        snprintf(buf, size, "#%d", trial->number);
    return buf;
}

const char *tui_study_validation_name(const struct tui_study_page *page, int trial, char *buf, size_t size)
{
    snprintf(buf, size, "%s#%d", page->n_members > 1 ? page->validation.study : "", trial);
    return buf;
}

int64_t tui_study_trial_duration_ms(const struct tui_study_trial *trial, int64_t now_us)
{
    int64_t end = trial->state == TRIAL_RUNNING ? now_us : trial->completed_us;

    if (trial->started_us == STUDY_NO_TIME || end == STUDY_NO_TIME || end < trial->started_us)
        return -1;
    return (end - trial->started_us) / 1000;
}

int64_t tui_study_trial_age_ms(const struct tui_study_trial *trial, int64_t now_us)
{
    if (trial->heartbeat_us == STUDY_NO_TIME)
        return -1;
    return now_us > trial->heartbeat_us ? (now_us - trial->heartbeat_us) / 1000 : 0;
}

int64_t tui_study_trial_expected_ms(const struct tui_study_trial *trial)
{
    return trial->ours ? STUDY_HEARTBEAT_MS : STUDY_HEARTBEAT_OTHER_MS;
}

double tui_study_trial_value(const struct tui_study_trial *trial)
{
    bool so_far = trial->state == TRIAL_RUNNING || trial->state == TRIAL_PRUNED;

    if (trial->values)
        return trial->values[0];
    return so_far && trial->n_reports > 0 ? trial->reports[trial->n_reports - 1].value : NAN;
}

const struct tui_study_trial *tui_study_page_trial(const struct tui_study_page *page, const char *study,
                                                   int number)
{
    for (int i = 0; i < page->n_trials; i++)
        if (page->trials[i].number == number && strcmp(page->members[page->trials[i].member], study) == 0)
            return &page->trials[i];
    return NULL;
}
