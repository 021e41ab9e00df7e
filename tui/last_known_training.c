/* Trainings and policies in the database's last state. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/text.h"
#include "db/records.h"
#include "tui/history_reader.h"
#include "tui/model.h"
#include "tui/status_reader.h"

#define COPY(field, text) cli_text_clean(field, sizeof(field), text)

struct reading {
    struct status *status;
    int64_t wall_ns;
    enum db_policy_role role; /* of the policies that are taken now */
};

static void on_training(void *ctx, const struct db_training *row)
{
    static const struct record_key keys[] = {{"name", "training"}, {"steps_s", "steps_per_second"}};
    struct reading *reading = ctx;
    struct status_training *t = tui_status_add(reading->status, STATUS_TRAININGS);

    reading->status->trainings_total++;
    if (!t)
        return;
    tui_status_stored(tui_status_training_record(), t, &db_record_trainings, row, keys, 2, NULL);
    t->memory_mib = row->memory_bytes >= 0 ? (double)row->memory_bytes / (1 << 20) : NAN;
    if (row->heard_ns > 0 && row->heard_ns <= reading->wall_ns) /* a time in the future has no age */
        t->age_ms = (reading->wall_ns - row->heard_ns) / 1000000;
    if (tui_model_training_works(t))
        t->expected_ms = FRESHNESS_TRAINING_MS;
}

/* Its account's figures are the last ones of the account. */
static void on_policy(void *ctx, const struct db_policy *row)
{
    static const struct record_key keys[] = {{"policy", "id"}, {"name", "policy"}};
    const struct reading *reading = ctx;
    struct status *s = reading->status;

    if (row->role != reading->role)
        return;
    s->policies_total++;
    struct status_policy *p = tui_status_add(s, STATUS_POLICIES);
    if (!p)
        return;
    tui_status_policy_init(p);
    tui_status_stored(tui_status_policy_record(), p, &db_record_policies, row, keys, 2, NULL);
    if (row->role == DB_POLICY_RETIRED)
        COPY(p->state, "retired");
    for (int i = 0; i < s->n_accounts; i++)
        if (strcmp(s->accounts[i].account, p->account) == 0) {
            p->equity = s->accounts[i].equity;
            p->return_pct = s->accounts[i].return_pct;
        }
    if (row->role == DB_POLICY_CHAMPION)
        COPY(s->champion.policy, row->name);
}

static int read_policies(struct history_reader *reader, struct reading *reading)
{
    static const enum db_policy_role roles[] = {DB_POLICY_CHAMPION, DB_POLICY_CHALLENGER, DB_POLICY_RETIRED};
    int r = 0;

    for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]) && r == 0; i++) {
        reading->role = roles[i];
        r = db_reader_policies(reader->db, on_policy, reading);
    }
    return r;
}

int tui_history_status_trainings(struct history_reader *reader, int64_t wall_ns, struct status *status)
{
    struct reading reading = {.status = status, .wall_ns = wall_ns};
    int r = db_reader_trainings(reader->db, NULL, on_training, &reading);

    return r == 0 ? read_policies(reader, &reading) : r;
}

int tui_history_known(struct history_reader *reader, int64_t wall_ns, struct status *ret)
{
    struct status *status = malloc(sizeof(*status));
    int r = status ? db_reader_begin(reader->db) : -ENOMEM;

    if (r == 0) {
        tui_status_init(status);
        r = tui_history_status_trainings(reader, wall_ns, status);
        db_reader_end(reader->db);
        if (r == 0)
            *ret = *status;
        else
            tui_status_finish(status);
    }
    free(status);
    return r;
}
