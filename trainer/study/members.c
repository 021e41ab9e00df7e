#include "trainer/study/members.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "db/studies/store.h"
#include "trainer/study/runs.h"

char *study_folder(const struct study *study, const char *folders)
{
    char *folder = study_attribute_text(study->user, study->n_user, "papertape:folder");
    /* Of a study with an artifact store another machine's folder may be named. */
    if (folder && access(folder, F_OK) < 0 &&
        study_attribute_find(study->user, study->n_user, "papertape:artifacts")) {
        free(folder);
        folder = NULL;
    }
    if (!folder && asprintf(&folder, "%s/%s", folders, study->name) < 0)
        folder = NULL;
    return folder;
}

static bool same_directions(const struct study_summary *a, const struct study_summary *b)
{
    return a->n_objectives == b->n_objectives &&
           memcmp(a->directions, b->directions, (size_t)a->n_objectives * sizeof a->directions[0]) == 0;
}

static int by_number(const void *a, const void *b)
{
    const struct study_member *x = a, *y = b;
    char base[STUDY_NAME_MAX + 1];
    if (x->run != y->run)
        return x->run ? 1 : -1;
    if (x->run)
        return strcmp(x->study->name, y->study->name);
    int i = study_base_name(x->study->name, base), k = study_base_name(y->study->name, base);
    return (i > k) - (i < k);
}

/* ---- Finding them. ---- */

struct finding {
    struct study_store *store;
    const char *name, *folders;
    const struct study *own;
    const struct study_summary *first; /* by whose directions the others go; NULL: of the next */
    void (*warn)(void *ctx, const char *words);
    void *ctx;
    struct study_members members;
};

static bool is_named(const struct finding *finding, const char *name, bool run)
{
    char base[STUDY_NAME_MAX + 1];
    study_base_name(name, base);
    const bool member = strcmp(base, finding->name) == 0 || strcmp(name, finding->name) == 0;
    return run ? !member && study_runs_named(finding->name, name) : member;
}

static bool same_bars(const struct finding *finding, const struct study *run)
{
    const struct study_members *members = &finding->members;
    bool same = finding->own && study_runs_same_bars(finding->own, run);
    for (int i = 0; i < members->n && !same; i++)
        same = !members->of[i].run && study_runs_same_bars(members->of[i].study, run);
    return same;
}

static int load(struct finding *finding, int64_t id, bool run, char err[static STUDY_ERROR_MAX])
{
    struct study_member member = {.run = run};
    int r = study_store_peek(finding->store, id, &member.study, err);
    if (r < 0)
        return r;
    const bool counts = !run || same_bars(finding, member.study); /* a schedule leaves many that do not */
    if (counts)
        r = study_store_sync(finding->store, member.study, err);
    if (r < 0 || !counts) {
        study_destroy(member.study);
        return r;
    }
    member.folder = study_folder(member.study, finding->folders);
    finding->members.of[finding->members.n++] = member;
    if (!member.folder)
        snprintf(err, STUDY_ERROR_MAX, "out of memory: a study's folder");
    return member.folder ? 0 : -ENOMEM;
}

/* Of all studies those of this run, or those of others. */
static int find(struct finding *finding, const struct study_summary *all, size_t n, bool run,
                char err[static STUDY_ERROR_MAX])
{
    char words[STUDY_ERROR_MAX + STUDY_NAME_MAX + 64];
    int r = 0;
    for (size_t i = 0; r == 0 && i < n; i++) {
        if (!is_named(finding, all[i].name, run) || (finding->own && all[i].id == finding->own->id) ||
            (finding->first && !same_directions(finding->first, &all[i])))
            continue;
        finding->first = finding->first ? finding->first : &all[i];
        r = load(finding, all[i].id, run, err);
        if (r == -EBADMSG && (finding->own || strcmp(all[i].name, finding->name) != 0)) {
            snprintf(words, sizeof words, "study %s is left out: %s", all[i].name, err);
            if (finding->warn)
                finding->warn(finding->ctx, words);
            r = 0;
        }
        r = r == -ENOENT ? 0 : r; /* it was deleted meanwhile */
    }
    return r;
}

int study_members_load(struct study_store *store, const char *name, const struct study *own,
                       const char *folders, void (*warn)(void *ctx, const char *words), void *ctx,
                       struct study_members *ret, char err[static STUDY_ERROR_MAX])
{
    struct finding finding = {store, name, folders, own, NULL, warn, ctx, {0}};
    struct study_members *members = &finding.members;
    struct study_summary *all = NULL;
    size_t n = 0;
    int r = study_store_list(store, &all, &n, err);
    for (size_t i = 0; r == 0 && i < n; i++)
        if (own ? all[i].id == own->id : strcmp(all[i].name, name) == 0)
            finding.first = &all[i];
    if (r == 0 && !(members->of = calloc(n + 1, sizeof *members->of))) {
        snprintf(err, STUDY_ERROR_MAX, "out of memory: %zu studies", n);
        r = -ENOMEM;
    }
    if (r == 0)
        r = find(&finding, all, n, false, err);
    if (r == 0 && (own || members->n > 0))
        r = find(&finding, all, n, true, err);
    study_summaries_finish(all, n);
    free(all);
    if (r < 0) {
        study_members_finish(members);
        return r;
    }
    if (members->n > 1)
        qsort(members->of, (size_t)members->n, sizeof *members->of, by_number);
    *ret = *members;
    return 0;
}

void study_members_finish(struct study_members *members)
{
    for (int i = 0; i < members->n; i++) {
        study_destroy(members->of[i].study);
        free(members->of[i].folder);
    }
    free(members->of);
    *members = (struct study_members){0};
}

const struct study_trial *study_members_best(struct study_members *members)
{
    const struct study_trial *best = NULL;
    for (int i = 0; i < members->n; i++) {
        const struct study *study = members->of[i].study;
        const struct study_trial *trial = study_best(study);
        bool more = trial && best && trial->values[0] > best->values[0];
        bool less = trial && best && trial->values[0] < best->values[0];
        if (!trial || members->of[i].run || (best && !(study->directions[0] == STUDY_MINIMIZE ? less : more)))
            continue;
        struct study_member first = members->of[0];
        members->of[0] = members->of[i];
        members->of[i] = first;
        best = trial;
    }
    return best;
}

/* ---- Their returns. ---- */

static void add(struct study_columns *columns, const struct study *study, const char *folder, bool several)
{
    for (int i = 0; i < study->n_trials; i++) {
        if (study->trials[i]->state != TRIAL_COMPLETE)
            continue;
        int number = study->trials[i]->number;
        char *name = columns->names[columns->n];
        if (several)
            snprintf(name, STUDY_COLUMN_MAX, "%s trial %d", study->name, number);
        else
            snprintf(name, STUDY_COLUMN_MAX, "trial %d", number);
        columns->trials[columns->n++] = (struct returns_trial){folder, name, number};
    }
}

int study_members_columns(const struct study *own, const char *folder, const struct study_members *others,
                          int proposed, struct study_columns *ret)
{
    int n_others = others ? others->n : 0;
    size_t trials = (size_t)own->n_trials + 1;
    for (int i = 0; i < n_others; i++)
        trials += (size_t)others->of[i].study->n_trials;
    struct study_columns columns = {calloc(trials, sizeof *columns.trials),
                                    calloc(trials, sizeof *columns.names), 0, -1};
    if (!columns.trials || !columns.names) {
        study_columns_finish(&columns);
        return -ENOMEM;
    }
    add(&columns, own, folder, n_others > 0);
    for (int i = 0; i < columns.n; i++)
        if (columns.trials[i].number == proposed)
            columns.like = i;
    for (int i = 0; i < n_others; i++)
        add(&columns, others->of[i].study, others->of[i].folder, true);
    *ret = columns;
    return 0;
}

void study_columns_finish(struct study_columns *columns)
{
    free(columns->trials);
    free(columns->names);
    *columns = (struct study_columns){0};
}

static size_t tried_in(const struct study *study)
{
    size_t tried = 0;
    for (int i = 0; i < study->n_trials; i++)
        tried += study->trials[i]->state == TRIAL_COMPLETE || study->trials[i]->state == TRIAL_PRUNED;
    return tried;
}

size_t study_members_tried(const struct study *own, const struct study_members *others)
{
    size_t tried = tried_in(own);
    for (int i = 0; others && i < others->n; i++)
        tried += tried_in(others->of[i].study);
    return tried;
}

int study_members_returns(const struct study *own, const char *folder, const struct study_members *others,
                          int proposed, struct returns_matrix *ret, char ret_name[static STUDY_COLUMN_MAX],
                          int *ret_left_out, char err[static VALIDATION_ERROR_MAX])
{
    struct study_columns columns;
    int r = study_members_columns(own, folder, others, proposed, &columns);
    ret_name[0] = '\0';
    if (r < 0) {
        snprintf(err, VALIDATION_ERROR_MAX, "out of memory: the trials of %.200s", own->name);
        return r;
    }
    if (columns.like >= 0)
        snprintf(ret_name, STUDY_COLUMN_MAX, "%s", columns.names[columns.like]);
    r = returns_of_trials(columns.trials, columns.n, columns.like, ret, ret_left_out, err);
    if (r == 0) {
        ret->tried = study_members_tried(own, others);
        ret->proposed = columns.like >= 0 ? ret_name : NULL;
    }
    study_columns_finish(&columns);
    return r;
}
