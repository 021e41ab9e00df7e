#include <math.h>
#include <string.h>

#include "tui/panel/training_words.h"
#include "tui/print.h"

static void training(FILE *out, const struct model *model, const struct status_training *t, struct moment now)
{
    enum freshness freshness = model_training_freshness(model, t, now);
    bool gone = freshness == GONE, works = model_training_works(t);
    char a[FORMAT_MAX], b[FORMAT_MAX];
    enum style unused;

    fprintf(out, "training  %s %s", t->training, training_state(t, freshness, &unused));
    if (gone) {
        fprintf(out, " steps - return -");
    } else {
        fprintf(out, " steps %s", format_count(a, training_number(t->steps)));
        if (training_endless(t))
            fprintf(out, " until stopped");
        else
            fprintf(out, " of %s %s", format_count(a, (double)t->total_steps),
                    training_percent(b, training_share(t)));
        fprintf(out, " return %s", training_return(a, t->episode_return));
        if (works)
            fprintf(out, " steps/s %s", format_count(a, t->steps_s));
    }
    if (t->device[0] && works)
        fprintf(out, " on %s", t->device);
    if (t->retry_in_ms >= 0 && !gone)
        fprintf(out, " again in %s", format_age(a, t->retry_in_ms));
    fprintf(out, " age %s%s%s\n", format_age(a, training_age(model, t, now)), t->reason[0] ? ": " : "",
            t->reason);
}

static void policy(FILE *out, const struct model *model, const struct status_policy *p, struct moment now)
{
    bool gone = model_freshness(model, now) == GONE;
    char a[FORMAT_MAX], b[FORMAT_MAX], c[FORMAT_MAX];

    fprintf(out, "policy    %s %s account %s", p->policy, p->role, p->account);
    if (p->state[0] && strcmp(p->state, p->role) != 0)
        fprintf(out, " %s", gone ? "-" : p->state);
    fprintf(out, " trades %s sharpe %s return %s", gone ? "-" : format_count(a, training_number(p->trades)),
            gone ? "-" : format_number(b, p->sharpe, 2), gone ? "-" : format_percent(c, p->return_pct, 2));
    if (model_policy_freshness(model, p, now) != GONE)
        for (int i = 0; i < p->n_actions; i++)
            fprintf(out, " %s %s", p->actions[i].symbol, format_signed(a, p->actions[i].action, 2));
    const char *why = p->detail[0] ? p->detail : p->reason;
    fprintf(out, "%s%s\n", why[0] ? ": " : "", why);
}

void print_trainings(FILE *out, const struct model *model, struct moment now)
{
    const struct status *s = &model->status;
    const struct status_trainer *trainer = &s->trainer;
    char a[FORMAT_MAX];

    if (trainer->state[0])
        fprintf(out, "trainer   %s age %s%s%s\n", trainer->state,
                format_age(a, model_age(model, trainer->age_ms, now)), trainer->detail[0] ? ": " : "",
                trainer->detail);
    fprintf(out, "trainings %d\n", s->n_trainings);
    for (int i = 0; i < s->n_trainings; i++)
        training(out, model, model_training(model, i), now);
    for (int i = 0; i < s->n_policies; i++)
        policy(out, model, &s->policies[i], now);
}
