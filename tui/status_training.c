#include <math.h>
#include <string.h>

#include "cli/text.h"
#include "tui/status_reader.h"

#define TEXT(object, key, field) status_text(object, key, field, sizeof(field))

void status_training_init(struct status_training *training)
{
    *training = (struct status_training){
        .priority = 0,
        .steps = -1,
        .total_steps = -1,
        .iteration = -1,
        .attempts = -1,
        .restarts = -1,
        .retry_in_ms = -1,
        .started_ns = -1,
        .ended_ns = -1,
        .age_ms = -1,
        .expected_ms = -1,
        .checkpoint_steps = -1,
        .due_ns = -1,
        .steps_s = NAN,
        .episode_return = NAN,
        .memory_mib = NAN,
        .memory_limit_mib = NAN,
        .device_mib = NAN,
        .cpu_s = NAN,
        .utilisation = NAN,
        .cpu_utilisation = NAN,
    };
}

void status_policy_init(struct status_policy *policy)
{
    *policy = (struct status_policy){
        .since_ns = -1,
        .expires_ns = -1,
        .evidence = {.days = -1, .days_needed = -1, .value = NAN, .value_needed = NAN},
        .trades = -1,
        .decided_ns = -1,
        .equity = NAN,
        .return_pct = NAN,
        .sharpe = NAN,
    };
}

/* A moment; 0 stands for none. */
static int64_t moment(const json_t *object, const char *key)
{
    int64_t ns = status_count(object, key);

    return ns > 0 ? ns : -1;
}

static void read_training(const json_t *e, struct status_training *t)
{
    const json_t *priority = json_object_get(e, "priority");

    status_training_init(t);
    TEXT(e, "training", t->training);
    TEXT(e, "state", t->state);
    TEXT(e, "reason", t->reason);
    TEXT(e, "cause", t->cause);
    TEXT(e, "device", t->device);
    TEXT(e, "backend", t->backend);
    TEXT(e, "policy", t->policy);
    TEXT(e, "study", t->study);
    t->priority = json_integer_value(priority);
    t->steps = status_count(e, "steps");
    t->total_steps = status_count(e, "total_steps");
    t->iteration = status_count(e, "iteration");
    t->attempts = status_count(e, "attempts");
    t->restarts = status_count(e, "restarts");
    t->retry_in_ms = status_count(e, "retry_in_ms");
    t->started_ns = moment(e, "started_ns");
    t->ended_ns = moment(e, "ended_ns");
    t->due_ns = moment(e, "due_ns");
    t->age_ms = status_count(e, "age_ms");
    t->expected_ms = status_count(e, "expected_ms");
    t->checkpoint_steps = status_count(e, "checkpoint_steps");
    t->steps_s = status_real(e, "steps_per_second");
    t->episode_return = status_real(e, "return");
    t->memory_mib = status_real(e, "memory_mib");
    t->memory_limit_mib = status_real(e, "memory_limit_mib");
    t->device_mib = status_real(e, "device_mib");
    t->cpu_s = status_real(e, "cpu_s");
    t->utilisation = status_real(e, "utilisation");
    t->cpu_utilisation = status_real(e, "cpu_utilisation");
    t->stale = json_is_true(json_object_get(e, "stale"));
    t->stopping = json_is_true(json_object_get(e, "stopping"));
}

/* How many there are; a daemon that does not say has told of all. */
static int64_t total(const json_t *object, const char *key, int shown)
{
    int64_t n = status_count(object, key);

    return n > shown ? n : shown;
}

void status_read_trainings(const json_t *object, struct status *s)
{
    const json_t *trainer = json_object_get(object, "trainer"), *all = json_object_get(object, "trainings");
    size_t n = json_array_size(all), at = n > STATUS_TRAININGS_MAX ? n - STATUS_TRAININGS_MAX : 0;

    TEXT(trainer, "state", s->trainer.state);
    TEXT(trainer, "detail", s->trainer.detail);
    TEXT(trainer, "version", s->trainer.version);
    s->trainer.pid = status_count(trainer, "pid");
    s->trainer.age_ms = status_count(trainer, "age_ms");
    s->n_trainings = 0;
    for (; at < n; at++) {
        const json_t *e = json_array_get(all, at);
        if (json_is_string(json_object_get(e, "training")))
            read_training(e, &s->trainings[s->n_trainings++]);
    }
    s->trainings_total = total(object, "trainings_total", s->n_trainings);
}

static void read_actions(const json_t *e, struct status_policy *p)
{
    const char *key;
    json_t *value, *actions = json_object_get(e, "actions");

    json_object_foreach(actions, key, value)
    {
        if (p->n_actions == STATUS_ACTIONS_MAX)
            break;
        text_clean(p->actions[p->n_actions].symbol, sizeof(p->actions[0].symbol), key);
        p->actions[p->n_actions++].action = json_is_number(value) ? json_number_value(value) : NAN;
    }
}

static void read_evidence(const json_t *e, struct status_policy *p)
{
    const json_t *evidence = json_object_get(e, "evidence");

    TEXT(evidence, "against", p->evidence.against);
    p->evidence.days = status_count(evidence, "days");
    p->evidence.days_needed = status_count(evidence, "days_needed");
    p->evidence.value = status_real(evidence, "value");
    p->evidence.value_needed = status_real(evidence, "value_needed");
}

void status_read_policies(const json_t *object, struct status *s)
{
    const json_t *champion = json_object_get(object, "champion"), *all = json_object_get(object, "policies");

    TEXT(champion, "account", s->champion_account);
    TEXT(champion, "policy", s->champion_policy);
    s->n_policies = 0;
    for (size_t i = 0; i < json_array_size(all) && s->n_policies < STATUS_POLICIES_MAX; i++) {
        const json_t *e = json_array_get(all, i);
        if (!json_is_string(json_object_get(e, "policy")))
            continue;
        struct status_policy *p = &s->policies[s->n_policies++];
        status_policy_init(p);
        TEXT(e, "policy", p->policy);
        TEXT(e, "role", p->role);
        TEXT(e, "account", p->account);
        TEXT(e, "id", p->id);
        TEXT(e, "training", p->training);
        TEXT(e, "reason", p->reason);
        TEXT(e, "state", p->state);
        TEXT(e, "detail", p->detail);
        TEXT(e, "backend", p->backend);
        TEXT(e, "interval", p->interval);
        p->since_ns = moment(e, "since_ns");
        p->expires_ns = moment(e, "expires_ns");
        read_evidence(e, p);
        p->trades = status_count(e, "trades");
        p->decided_ns = moment(e, "decided_ns");
        p->equity = status_real(e, "equity");
        p->return_pct = status_real(e, "return_pct");
        p->sharpe = status_real(e, "sharpe");
        read_actions(e, p);
    }
    s->policies_total = total(object, "policies_total", s->n_policies);
}
