#include <math.h>
#include <string.h>

#include "cli/text.h"
#include "tui/status_reader.h"

#define ROW struct status_training
static const struct record training = STATUS_RECORD(
    TEXT(training), TEXT(state), TEXT(reason), TEXT(cause), TEXT(device), TEXT(backend), TEXT(policy),
    TEXT(study), COUNT(steps), COUNT(total_steps), COUNT(iteration), COUNT(attempts), COUNT(restarts),
    COUNT(retry_in_ms), MOMENT(started_ns), MOMENT(ended_ns), MOMENT(due_ns), COUNT(age_ms),
    COUNT(expected_ms), COUNT(checkpoint_steps), AS(REAL, steps_s, "steps_per_second"),
    AS(REAL, episode_return, "return"), REAL(memory_mib), REAL(memory_limit_mib), REAL(device_mib),
    REAL(cpu_s), REAL(utilisation), REAL(cpu_utilisation), TRUE(stale), TRUE(stopping));
#undef ROW
#define ROW struct status_policy
const struct record tui_status_policy_record = STATUS_RECORD(
    TEXT(policy), TEXT(role), TEXT(account), TEXT(id), TEXT(training), TEXT(reason), TEXT(state),
    TEXT(detail), TEXT(backend), TEXT(interval), MOMENT(since_ns), MOMENT(expires_ns), COUNT(trades),
    MOMENT(decided_ns), REAL(equity), REAL(return_pct), REAL(sharpe));
static const struct record evidence =
    STATUS_RECORD(AS(TEXT, evidence.against, "against"), AS(UNSIGNED, evidence.days, "days"),
                  AS(UNSIGNED, evidence.days_needed, "days_needed"), AS(REAL, evidence.value, "value"),
                  AS(REAL, evidence.value_needed, "value_needed"));
#undef ROW
#define ROW struct status_trainer
const struct record tui_status_trainer_record =
    STATUS_RECORD(TEXT(state), TEXT(detail), TEXT(version), COUNT(pid), COUNT(age_ms));
#undef ROW

void tui_status_training_init(struct status_training *row)
{
    *row = (struct status_training){0};
    tui_status_read(&training, NULL, row);
}

void tui_status_policy_init(struct status_policy *policy)
{
    *policy = (struct status_policy){0};
    tui_status_read(&tui_status_policy_record, NULL, policy);
    tui_status_read(&evidence, NULL, policy);
}

/* How many there are; a daemon that does not say has told of all. */
static int64_t total(const json_t *object, const char *key, int shown)
{
    int64_t n = tui_status_count(object, key);

    return n > shown ? n : shown;
}

void tui_status_read_trainings(const json_t *object, struct status *s)
{
    const json_t *all = json_object_get(object, "trainings");
    size_t n = json_array_size(all), at = n > STATUS_TRAININGS_MAX ? n - STATUS_TRAININGS_MAX : 0;

    tui_status_read(&tui_status_trainer_record, json_object_get(object, "trainer"), &s->trainer);
    s->n_trainings = 0;
    for (; at < n; at++) {
        const json_t *e = json_array_get(all, at);
        if (!json_is_string(json_object_get(e, "training")))
            continue;
        struct status_training *row = &s->trainings[s->n_trainings++];
        *row = (struct status_training){.priority = json_integer_value(json_object_get(e, "priority"))};
        tui_status_read(&training, e, row);
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
    (void)s;
    tui_status_read(&evidence, json_object_get(object, "evidence"), row);
    read_actions(object, row);
}
