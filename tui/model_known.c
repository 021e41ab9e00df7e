/* The trainings and policies that the daemon's status leaves out, from the database. */
#include <stdlib.h>
#include <string.h>

#include "tui/model.h"

/* FNV-1a, 64 bits, of the bytes with the NUL. */
static uint64_t hash(uint64_t before, const char *text)
{
    do
        before = (before ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    while (*text++);
    return before;
}

/* What it lists, and of how many: where that is the same, so is what it leaves out, which has ended. */
static uint64_t listed(const struct status *s)
{
    uint64_t all = UINT64_C(0xcbf29ce484222325);

    for (int i = 0; i < s->n_trainings; i++)
        all = hash(hash(all, s->trainings[i].training), s->trainings[i].state);
    for (int i = 0; i < s->n_policies; i++)
        all = hash(hash(all, s->policies[i].policy), s->policies[i].role);
    all = (all ^ (uint64_t)s->trainings_total) * UINT64_C(0x100000001b3);
    return (all ^ (uint64_t)s->policies_total) * UINT64_C(0x100000001b3);
}

static const struct status_training *training_of(const struct status *s, int n, const char *name)
{
    for (int i = 0; i < n; i++)
        if (strcmp(s->trainings[i].training, name) == 0)
            return &s->trainings[i];
    return NULL;
}

/* The stored order is that in which they were made, as the daemon's is. */
static void add_trainings(struct status *s, const struct status *stored, int64_t later_ms)
{
    struct status all = {0};
    bool ok = true;

    for (int i = 0; ok && i < stored->n_trainings; i++) {
        const struct status_training *own = training_of(s, s->n_trainings, stored->trainings[i].training);
        struct status_training *row = tui_status_add(&all, STATUS_TRAININGS);
        if (!(ok = row != NULL))
            break;
        *row = own ? *own : stored->trainings[i];
        if (!own && row->age_ms >= 0)
            row->age_ms += later_ms;
    }
    for (int i = 0; ok && i < s->n_trainings; i++) { /* since it was read */
        if (training_of(stored, stored->n_trainings, s->trainings[i].training))
            continue;
        struct status_training *row = tui_status_add(&all, STATUS_TRAININGS);
        if ((ok = row != NULL))
            *row = s->trainings[i];
    }
    if (ok)
        tui_status_move(&all, s, STATUS_TRAININGS);
    tui_status_finish(&all);
}

static bool has_policy(const struct status *s, int n, const struct status_policy *policy)
{
    for (int i = 0; i < n; i++)
        if (strcmp(s->policies[i].policy, policy->policy) == 0 &&
            strcmp(s->policies[i].account, policy->account) == 0)
            return true;
    return false;
}

/* Their accounts' figures are the status'. */
static void take_account(const struct status *s, struct status_policy *policy)
{
    for (int i = 0; i < s->n_accounts; i++)
        if (strcmp(s->accounts[i].account, policy->account) == 0) {
            policy->equity = s->accounts[i].equity;
            policy->return_pct = s->accounts[i].return_pct;
        }
}

static void add_policies(struct status *s, const struct status *stored)
{
    const int own = s->n_policies;

    for (int i = 0; i < stored->n_policies; i++) {
        struct status_policy *row =
            has_policy(s, own, &stored->policies[i]) ? NULL : tui_status_add(s, STATUS_POLICIES);
        if (!row)
            continue;
        *row = stored->policies[i];
        take_account(s, row);
    }
}

static void add_known(struct model *model, struct moment now)
{
    struct model_known *known = &model->known;
    struct status *s = &model->status;

    if (!known->short_of || known->added || !known->stored)
        return;
    if (s->trainings_total > s->n_trainings)
        add_trainings(s, known->stored, now.mono_ms - known->mono_ms);
    if (s->policies_total > s->n_policies)
        add_policies(s, known->stored);
    known->added = true;
}

void tui_model_add_known(struct model *model, struct moment now)
{
    const struct status *s = &model->status;

    model->known.short_of = s->trainings_total > s->n_trainings || s->policies_total > s->n_policies;
    model->known.added = false;
    model->known.now = listed(s);
    add_known(model, now);
}

bool tui_model_wants_known(const struct model *model)
{
    const struct model_known *known = &model->known;

    return model->source == MODEL_DAEMON && known->short_of && (!known->stored || known->of != known->now);
}

void tui_model_take_known(struct model *model, struct status *stored, struct moment now)
{
    struct model_known *known = &model->known;

    if (!known->stored)
        known->stored = calloc(1, sizeof(*known->stored));
    if (known->stored) {
        tui_status_move(stored, known->stored, STATUS_TRAININGS);
        tui_status_move(stored, known->stored, STATUS_POLICIES);
        known->of = known->now;
        known->mono_ms = now.mono_ms;
    }
    tui_status_finish(stored);
    add_known(model, now);
}
