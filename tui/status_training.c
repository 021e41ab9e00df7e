#include <math.h>
#include <string.h>

#include "cli/text.h"
#include "tui/status_reader.h"

RECORD_SHOWN_RECORD(training, status_training, STATUS_TRAINING);
RECORD_SHOWN_RECORD(policy_now, status_policy, RECORD_SHOWN_POLICY_NOW);
RECORD_SHOWN_RECORD(policy, status_policy, RECORD_SHOWN_POLICY);
RECORD_SHOWN_RECORD(evidence, status_evidence, RECORD_SHOWN_EVIDENCE);

const struct record *tui_status_policy_record(void)
{
    return policy();
}

const struct record *tui_status_training_record(void)
{
    return training();
}

void tui_status_policy_init(struct status_policy *policy)
{
    *policy = (struct status_policy){0};
    tui_status_read(tui_status_policy_record(), NULL, policy);
    tui_status_read(policy_now(), NULL, policy);
    tui_status_read(evidence(), NULL, &policy->evidence);
}

/* How many there are; a daemon that does not say has listed all. */
static int64_t total(const json_t *object, const char *key, int shown)
{
    int64_t n = tui_status_count(object, key);

    return n > shown ? n : shown;
}

void tui_status_read_trainings(const json_t *object, struct status *s)
{
    const json_t *all = json_object_get(object, "trainings");

    for (size_t i = 0; i < json_array_size(all); i++) {
        const json_t *e = json_array_get(all, i);
        struct status_training *row =
            json_is_string(json_object_get(e, "training")) ? tui_status_add(s, STATUS_TRAININGS) : NULL;
        if (!row)
            continue;
        tui_status_read(training(), e, row);
        row->priority = json_integer_value(json_object_get(e, "priority"));
    }
    s->trainings_total = total(object, "trainings_total", s->n_trainings);
    s->policies_total = total(object, "policies_total", s->n_policies);
}

static void read_actions(const json_t *e, struct status_policy *p)
{
    const char *key;
    json_t *value, *actions = json_object_get(e, "actions");

    json_object_foreach(actions, key, value)
    {
        if (p->n_actions == STATUS_ACTIONS_MAX)
            break;
        cli_text_clean(p->actions[p->n_actions].symbol, sizeof(p->actions[0].symbol), key);
        p->actions[p->n_actions++].action = json_is_number(value) ? json_number_value(value) : NAN;
    }
}

void tui_status_read_policy(const json_t *object, struct status *s, void *row)
{
    struct status_policy *p = row;

    (void)s;
    tui_status_read(policy_now(), object, p);
    tui_status_read(evidence(), json_object_get(object, "evidence"), &p->evidence);
    read_actions(object, row);
}
