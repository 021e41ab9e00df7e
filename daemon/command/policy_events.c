/* Carries a promotion or retirement out: the rows and accounts that follow from it, checked as a whole,
 * then given to the engine as events. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/arena/arena.h"
#include "daemon/command/policy_job.h"
#include "engine/event.h"
#include "exchange/order_reason.h"

/* The changes of a step, all checked before the first event. */
struct policy_plan {
    struct arena_row rows[2];
    const char *accounts[2];
    struct account_spec made[2]; /* of accounts that are not there yet */
    int n_rows, n_accounts;
    const struct policy *policy; /* NULL: no policy trades on them any more */
};

static bool plan_account(struct policy_job *job, struct policy_plan *plan, int i)
{
    char why[ARENA_ERROR_MAX];
    const char *code;
    if (!plan->policy || !arena_account_refusal(policy_job_arena(job), plan->accounts[i], job->file.currency,
                                                plan->policy, plan->n_accounts, &plan->made[i], &code, why))
        return true;
    daemon_command_policy_job_deny(job, strcmp(code, "ENOMEM") == 0, code, "%s", why);
    return false;
}

/* The arguments in the events, and the rows that follow from them. */
static char *event_args(const struct policy_job *job, const struct policy_plan *plan)
{
    json_t *args = json_copy(job->request.args), *rows = json_array();
    for (int i = 0; i < plan->n_rows; i++)
        json_array_append_new(rows, arena_row_object(&plan->rows[i]));
    json_object_set_new(args, ARENA_ROWS, rows);
    char *text = json_dumps(args, JSON_COMPACT);
    json_decref(args);
    return text;
}

static void give_events(const struct policy_job *job, struct work *work, const struct policy_plan *plan)
{
    for (int i = 0; i < plan->n_accounts && work->reason == ORDER_OK; i++) {
        if (!plan->policy && arena_configured(policy_job_arena(job), plan->accounts[i]))
            continue; /* the configuration decides what trades there by now */
        if (engine_find_account(job->request.engine, plan->accounts[i]) < 0) {
            struct event create = {.command.kind = COMMAND_ACCOUNT_CREATE};
            create.command.account = plan->made[i];
            daemon_command_event(work, &create);
        }
        struct event event = {.command.kind = COMMAND_ACCOUNT_POLICY};
        event.command.policy.account = engine_find_account(job->request.engine, plan->accounts[i]);
        event.command.policy.policy = plan->policy;
        event.command.policy.close = plan->policy == NULL;
        if (work->reason == ORDER_OK)
            daemon_command_event(work, &event);
    }
}

static void carry_out(struct policy_job *job, struct policy_plan *plan)
{
    struct arena *arena = policy_job_arena(job);
    struct work work;
    for (int i = 0; i < plan->n_accounts; i++)
        if (!plan_account(job, plan, i))
            return;
    char *text = event_args(job, plan);
    if (!text) {
        daemon_command_policy_job_deny(job, true, "ENOMEM", "out of memory");
    } else if (daemon_command_policy_job_begin(job, &work)) {
        work.reported = text;
        give_events(job, &work, plan);
        for (int i = 0; i < plan->n_rows && work.reason == ORDER_OK; i++)
            arena_put(arena, &plan->rows[i]);
        work.order = 0;
        if (job->proposed && work.reason != ORDER_OK) {
            daemon_command_proposal_refuse(&work, job->proposed, order_reason_words(work.reason));
        } else {
            daemon_command_policy_job_say(job, &work);
            daemon_command_end(&work, json_pack("{s:o}", "policy", arena_object(arena, job->name)));
        }
    }
    free(text);
}

void daemon_command_policy_job_take_step(struct policy_job *job, const struct policy *policy)
{
    const struct arena_row *row = arena_find(policy_job_arena(job), job->name);
    struct arena_row next = row ? *row : (struct arena_row){0};
    struct policy_plan plan = {.policy = policy};
    if (arena_step_needs_file(job->step)) {
        memcpy(next.name, job->name, sizeof next.name);
        memcpy(next.account, job->name, sizeof next.account);
        memcpy(next.training, job->proposed ? job->training : job->file.training, sizeof next.training);
        memcpy(next.proposal, job->proposal, sizeof next.proposal);
        next.expires_ns = job->expires_ns;
        memcpy(next.path, job->file.path, sizeof next.path);
        memcpy(next.id, policy->id, sizeof next.id);
    }
    plan.n_rows = arena_take_step(job->step, row, arena_champion(policy_job_arena(job)), &next,
                                  job->reason[0] ? job->reason : NULL,
                                  daemon_session_now(job->request.commands->daemon->session), plan.rows,
                                  plan.accounts, &plan.n_accounts);
    if (job->step == ARENA_RETIRE || job->step == ARENA_CROWN)
        snprintf(job->file.currency, sizeof job->file.currency, "%s",
                 engine_account(job->request.engine, engine_find_account(job->request.engine, row->account))
                     ->currency);
    carry_out(job, &plan);
    arena_tidy(policy_job_arena(job));
}
