#include <string.h>

#include "cli/stored.h"
#include "tui/panel/training_words.h"
#include "tui/print.h"

static void training(FILE *out, const struct model *model, const struct status_training *t, struct moment now)
{
    enum freshness freshness = tui_model_training_freshness(model, t, now);
    bool gone = freshness == GONE, works = tui_model_training_works(t);
    char a[FORMAT_MAX], b[FORMAT_MAX], steps[PANEL_TRAINING_STEPS_MAX];
    enum style unused;

    fprintf(out, "training  %s %s", t->training, panel_training_state(t, freshness, &unused));
    if (gone) {
        fprintf(out, " steps - return -");
    } else {
        if (panel_training_endless(t))
            fprintf(out, " steps %s until stopped", cli_format_count(a, panel_training_number(t->steps)));
        else
            fprintf(out, " steps %s %s", panel_training_steps(steps, t, ""),
                    panel_training_percent(b, panel_training_share(t)));
        fprintf(out, " return %s", panel_training_return(a, t->episode_return));
        if (works)
            fprintf(out, " steps/s %s", cli_format_count(a, t->steps_s));
    }
    if (t->device[0] && works)
        fprintf(out, " on %s", t->device);
    if (t->retry_in_ms >= 0 && !gone)
        fprintf(out, " again in %s", cli_format_age(a, t->retry_in_ms));
    if (t->verdict[0] && !gone)
        fprintf(out, " verdict %s", t->verdict);
    fprintf(out, " age %s%s%s\n", cli_format_age(a, panel_training_age(model, t, now)),
            t->reason[0] ? ": " : "", t->reason);
}

static void policy(FILE *out, const struct model *model, const struct status_policy *p, struct moment now)
{
    bool gone = tui_model_freshness(model, now) == GONE;
    char a[FORMAT_MAX], b[FORMAT_MAX], c[FORMAT_MAX];

    fprintf(out, "policy    %s %s account %s", p->policy, p->role, p->account);
    if (p->state[0] && strcmp(p->state, p->role) != 0)
        fprintf(out, " %s", gone ? "-" : p->state);
    fprintf(out, " trades %s sharpe %s return %s",
            gone ? "-" : cli_format_count(a, panel_training_number(p->trades)),
            gone ? "-" : cli_format_number(b, p->sharpe, 2),
            gone ? "-" : cli_format_percent(c, p->return_pct, 2));
    if (tui_model_policy_freshness(model, p, now) != GONE)
        for (int i = 0; i < p->n_actions; i++)
            fprintf(out, " %s %s", p->actions[i].symbol, cli_format_signed(a, p->actions[i].action, 2));
    if (p->evidence.against[0] && !gone)
        fprintf(out, " evidence %.3g on %lld of %lld days against %s", p->evidence.value,
                (long long)p->evidence.days, (long long)p->evidence.days_needed, p->evidence.against);
    if (p->expires_ns > 0)
        fprintf(out, " expires in %s", cli_format_age(a, tui_model_until_ms(model, p->expires_ns, now)));
    const char *why = p->detail[0] ? p->detail : p->reason;
    fprintf(out, "%s%s\n", why[0] ? ": " : "", why);
}

void tui_print_trainings(FILE *out, const struct model *model, struct moment now)
{
    const struct status *s = &model->status;
    const struct status_trainer *trainer = &s->trainer;
    char a[FORMAT_MAX];

    if (trainer->state[0])
        fprintf(out, "trainer   %s age %s%s%s\n", trainer->state,
                cli_format_age(a, tui_model_age(model, trainer->age_ms, now)), trainer->detail[0] ? ": " : "",
                trainer->detail);
    fprintf(out, "trainings %d", s->n_trainings);
    if (s->trainings_total > s->n_trainings)
        fprintf(out, " of %lld", (long long)s->trainings_total);
    fputc('\n', out);
    for (int i = 0; i < s->n_trainings; i++)
        training(out, model, tui_model_training(model, i), now);
    for (int i = 0; i < s->n_policies; i++)
        policy(out, model, &s->policies[i], now);
}

/* ---- as JSON: the names are those of the status object (docs/control.md) ---- */

PRINT_OBJECT(training_object, struct status_training, PRINT_TEXT(training), PRINT_TEXT(state),
             PRINT_TEXT(reason), PRINT_WORD(cause), PRINT_WHOLE(priority), PRINT_WORD(device),
             PRINT_WORD(backend), PRINT_COUNT(steps), PRINT_COUNT(total_steps), PRINT_COUNT(iteration),
             PRINT_AS(REAL, OPTIONAL, steps_s, "steps_per_second"),
             PRINT_AS(REAL, OPTIONAL, episode_return, "return"), PRINT_COUNT(attempts),
             PRINT_COUNT(started_ns), PRINT_COUNT(ended_ns), PRINT_COUNT(age_ms), PRINT_BOOL(stale),
             PRINT_BOOL(stopping), PRINT_REAL(memory_mib), PRINT_REAL(cpu_s), PRINT_WORD(policy));

json_t *tui_print_trainings_json(const struct model *model, struct moment now)
{
    json_t *list = json_array();

    for (int i = 0; i < model->status.n_trainings; i++) {
        const struct status_training *t = &model->status.trainings[i];
        json_t *object = training_object(t, NULL);
        json_object_set_new(object, "age_ms", record_json_count(panel_training_age(model, t, now)));
        json_object_set_new(object, "stale",
                            json_boolean(tui_model_training_freshness(model, t, now) != FRESH));
        json_array_append_new(list, object);
    }
    return list;
}

PRINT_OBJECT(policy_object, struct status_policy, PRINT_TEXT(policy), PRINT_TEXT(role), PRINT_WORD(account),
             PRINT_WORD(id), PRINT_WORD(training), PRINT_TEXT(reason), PRINT_WORD(state), PRINT_WORD(detail),
             PRINT_WORD(backend), PRINT_COUNT(since_ns), PRINT_COUNT(expires_ns), PRINT_LATER("evidence"),
             PRINT_REAL(equity), PRINT_REAL(return_pct), PRINT_COUNT(trades), PRINT_REAL(sharpe),
             PRINT_LATER("actions"));
PRINT_OBJECT(evidence_object, struct status_evidence, PRINT_TEXT(against), PRINT_COUNT(days),
             PRINT_COUNT(days_needed), PRINT_REAL(value), PRINT_REAL(value_needed));

json_t *tui_print_policies_json(const struct model *model)
{
    json_t *list = json_array();

    for (int i = 0; i < model->status.n_policies; i++) {
        const struct status_policy *p = &model->status.policies[i];
        json_t *object = policy_object(p, NULL), *actions = p->n_actions > 0 ? json_object() : NULL;
        for (int k = 0; k < p->n_actions; k++)
            json_object_set_new(actions, p->actions[k].symbol, record_json_real(p->actions[k].action));
        if (p->evidence.against[0])
            json_object_set_new(object, "evidence", evidence_object(&p->evidence, NULL));
        if (actions)
            json_object_set_new(object, "actions", actions);
        json_array_append_new(list, object);
    }
    return list;
}
