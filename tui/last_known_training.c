/* Trainings and policies as the database last knew them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tui/history_reader.h"
#include "tui/status_reader.h"
#include "tui/text.h"

#define COPY(field, text) text_clean(field, sizeof(field), text)

struct reading {
    struct status *status;
    int64_t wall_ns;
    int seen; /* trainings; the newest that fit stay, each where its turn is */
};

static int64_t moment(int64_t ns)
{
    return ns > 0 ? ns : -1;
}

static void on_training(void *ctx, const struct db_training *row)
{
    struct reading *reading = ctx;
    struct status_training *t = &reading->status->trainings[reading->seen++ % STATUS_TRAININGS_MAX];

    status_training_init(t);
    COPY(t->training, row->name);
    COPY(t->state, row->state);
    COPY(t->reason, row->reason);
    COPY(t->cause, row->cause);
    COPY(t->device, row->device);
    COPY(t->backend, row->backend);
    COPY(t->policy, row->policy);
    t->priority = row->priority;
    t->steps = row->steps;
    t->total_steps = row->total_steps;
    t->iteration = row->iteration;
    t->attempts = row->attempts;
    t->steps_s = row->steps_s;
    t->episode_return = row->episode_return;
    t->cpu_s = row->cpu_s;
    t->memory_mib = row->memory_bytes >= 0 ? (double)row->memory_bytes / (1 << 20) : NAN;
    t->started_ns = moment(row->started_ns);
    t->ended_ns = moment(row->ended_ns);
    if (row->heard_ns > 0)
        t->age_ms = row->heard_ns < reading->wall_ns ? (reading->wall_ns - row->heard_ns) / 1000000 : 0;
}

/* Its account's figures are those that the account had last. */
static void on_policy(void *ctx, const struct db_policy *row)
{
    struct status *s = ((struct reading *)ctx)->status;

    if (s->n_policies == STATUS_POLICIES_MAX)
        return;
    struct status_policy *p = &s->policies[s->n_policies++];
    status_policy_init(p);
    COPY(p->policy, row->name);
    COPY(p->role, db_policy_role_name(row->role));
    COPY(p->account, row->account);
    COPY(p->training, row->training);
    COPY(p->reason, row->reason);
    if (row->role == DB_POLICY_RETIRED)
        COPY(p->state, "retired");
    for (int i = 0; i < POLICY_ID_SIZE; i++)
        snprintf(p->id + 2 * (size_t)i, sizeof(p->id) - 2 * (size_t)i, "%02x", row->id[i]);
    p->since_ns = moment(row->since_ns);
    for (int i = 0; i < s->n_accounts; i++)
        if (strcmp(s->accounts[i].account, p->account) == 0) {
            p->equity = s->accounts[i].equity;
            p->return_pct = s->accounts[i].return_pct;
        }
    if (row->role == DB_POLICY_CHAMPION)
        COPY(s->champion_policy, row->name);
}

static void reverse(struct status_training *trainings, int from, int to)
{
    for (; from < --to; from++) {
        struct status_training kept = trainings[from];
        trainings[from] = trainings[to];
        trainings[to] = kept;
    }
}

int history_status_trainings(struct history_reader *reader, int64_t wall_ns, struct status *status)
{
    struct reading reading = {.status = status, .wall_ns = wall_ns};
    int r = db_reader_trainings(reader->db, NULL, on_training, &reading);

    status->n_trainings = reading.seen < STATUS_TRAININGS_MAX ? reading.seen : STATUS_TRAININGS_MAX;
    if (r == 0 && reading.seen > STATUS_TRAININGS_MAX) { /* the oldest first again */
        int oldest = reading.seen % STATUS_TRAININGS_MAX;
        reverse(status->trainings, 0, oldest);
        reverse(status->trainings, oldest, STATUS_TRAININGS_MAX);
        reverse(status->trainings, 0, STATUS_TRAININGS_MAX);
    }
    return r == 0 ? db_reader_policies(reader->db, on_policy, &reading) : r;
}
