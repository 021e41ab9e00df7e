/* Promotions and retirements wait for their turn: one at a time, in the order of their requests, since a
 * file is read on another thread meanwhile. Which step each one is, is decided when its turn comes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/arena/arena.h"
#include "daemon/command/policy_job.h"

void daemon_command_policy_job_end(struct policy_job *job)
{
    struct commands *commands = job->request.commands;
    if (commands)
        commands->jobs = job->next;
    json_decref(job->request.args);
    daemon_command_proposed_free(job->proposed);
    arena_file_finish(&job->file);
    free(job);
}

static void retire(struct policy_job *job)
{
    const struct arena_row *row = arena_find(policy_job_arena(job), job->name);
    job->step = ARENA_RETIRE;
    if (!row)
        daemon_command_policy_job_deny(job, false, "ENOENT", "args.name: no policy %s was promoted",
                                       job->name);
    else if (row->role == DB_POLICY_RETIRED)
        daemon_command_policy_job_deny(job, false, "EALREADY", "%s has retired already", job->name);
    else
        daemon_command_policy_job_take_step(job, NULL);
}

static void crown(struct policy_job *job)
{
    const struct arena_row *row = arena_find(policy_job_arena(job), job->name);
    const char *refused = arena_refused(policy_job_arena(job), job->name);
    const struct policy *policy = arena_policy(policy_job_arena(job), row->id);
    if (refused || !policy)
        daemon_command_policy_job_deny(job, false, "POLICY_REFUSED", "%s does not trade: %s", job->name,
                                       refused ? refused
                                               : "its copy is not there: promote it with args.path");
    else if (daemon_command_policy_job_confirmed(job, policy))
        daemon_command_policy_job_take_step(job, policy);
}

/* The account of a new one must not be there for another reason. */
static bool free_name(struct policy_job *job)
{
    const char *name = job->name;
    if (arena_find(policy_job_arena(job), name) || engine_find_account(job->request.engine, name) < 0)
        return true;
    daemon_command_policy_job_deny(
        job, false, order_reason_name(ORDER_BAD_ACCOUNT),
        "args.name: there is an account %s already, which is not the arena's: another name is needed", name);
    return false;
}

/* Does the promotion lead to the role that it should? If not, the call is answered. */
static bool leads_there(struct policy_job *job)
{
    const struct arena_row *row = arena_find(policy_job_arena(job), job->name);
    const char *code, *why;
    if (job->to == DB_POLICY_RETIRED || !(why = arena_wrong_role(job->step, row, job->to, &code)))
        return true;
    daemon_command_policy_job_deny(job, false, code, "args.to: %s %s", job->name, why);
    return false;
}

/* A promotion since its proposal was judged may have taken its slot. */
static bool still_has_slot(struct policy_job *job)
{
    char why[ARENA_ERROR_MAX];
    if (!job->proposed || arena_slot(policy_job_arena(job), job->training, job->name, why, sizeof why) == 0)
        return true;
    daemon_command_policy_job_deny(job, false, "PROPOSAL_REFUSED", "%s", why);
    return false;
}

/* Is the limit that a sentence of policy_limits_check() begins with one that was given? Else it is of
 * [arena]. */
static bool is_given(const struct arena_limits *limits, const char *why)
{
    for (int i = 0; i < POLICY_LIMITS_N; i++) {
        size_t n = strlen(policy_limit_keys[i].name);
        if (strncmp(why, policy_limit_keys[i].name, n) == 0 && why[n] == ':')
            return limits->given[i];
    }
    return true;
}

/* The limits that it will trade under, as far as they are known before its file is read: those in force, or
 * those given with those of [arena]. If they may not be, the call is answered. */
static bool has_limits(struct policy_job *job)
{
    const struct arena_row *row = arena_find(policy_job_arena(job), job->name);
    const struct policy *policy =
        job->step == ARENA_CHALLENGE ? NULL : arena_policy(policy_job_arena(job), row->id);
    static const struct policy_limits none;
    struct policy_limits limits;
    char why[POLICY_LIMITS_TEXT_MAX];
    job->file.given_limits = job->limits;
    job->file.configured = job->request.commands->daemon->config.arena_limits;
    job->file.in_force = policy != NULL;
    if (policy)
        job->file.limits = policy->rules.limits;
    int r = policy ? arena_limits_again(job->name, &policy->rules.limits, &job->limits, why)
                   : arena_limits_new(&none, &job->file.configured, &job->limits, &limits, why);
    if (r < 0)
        daemon_command_policy_job_deny(job, false, "EINVAL",
                                       policy                        ? "%s"
                                       : is_given(&job->limits, why) ? "args.%s"
                                                                     : "[arena] %s",
                                       why);
    return r == 0;
}

/* True when it continues on another thread. */
static bool run(struct policy_job *job)
{
    job->request.engine = daemon_session_engine(job->request.commands->daemon->session);
    if (daemon_command_came_before(&job->request))
        return false;
    if (job->retires) {
        retire(job);
        return false;
    }
    if (!still_has_slot(job))
        return false;
    job->step = arena_promotion(arena_find(policy_job_arena(job), job->name), job->file.given);
    if (!leads_there(job) || !has_limits(job))
        return false;
    if (job->step == ARENA_CROWN)
        crown(job);
    else if (free_name(job))
        return daemon_command_policy_job_read(job);
    return false;
}

void daemon_command_policy_jobs_continue(struct commands *commands)
{
    while (commands->jobs && !commands->jobs->reading && !run(commands->jobs))
        daemon_command_policy_job_end(commands->jobs);
}

void daemon_command_policy_ask(const struct request *request, const struct policy_ask *ask)
{
    struct policy_job *job = calloc(1, sizeof *job), **end = &request->commands->jobs;
    if (!job) {
        if (request->call)
            control_error(request->call, "ENOMEM", "out of memory");
        daemon_command_proposed_free(ask->proposed); /* its row stays pending: the next start finds it */
        return;
    }
    job->request = *request;
    job->request.given = NULL; /* the call's */
    job->request.cmd = ask->cmd;
    job->request.args = json_incref(request->args);
    job->peer = *request->peer;
    job->request.peer = &job->peer;
    job->retires = ask->retires;
    job->confirmed = ask->confirmed;
    job->to = ask->to;
    job->file.given = ask->path != NULL;
    job->proposed = ask->proposed;
    job->expires_ns = ask->expires_ns;
    job->limits = ask->limits;
    snprintf(job->name, sizeof job->name, "%s", ask->name);
    snprintf(job->file.path, sizeof job->file.path, "%s", ask->path ? ask->path : "");
    snprintf(job->reason, sizeof job->reason, "%s", ask->reason ? ask->reason : "");
    snprintf(job->proposal, sizeof job->proposal, "%s", ask->proposal ? ask->proposal : "");
    snprintf(job->training, sizeof job->training, "%s", ask->training ? ask->training : "");
    bool idle = !*end;
    while (*end)
        end = &(*end)->next;
    *end = job;
    if (idle)
        daemon_command_policy_jobs_continue(request->commands);
}

bool daemon_commands_policies_idle(const struct commands *commands)
{
    return !commands->jobs;
}

bool daemon_command_policy_proposes(const struct commands *commands, const char *key)
{
    for (const struct policy_job *job = commands->jobs; job; job = job->next)
        if (job->proposed && strcmp(job->proposed->key, key) == 0)
            return true;
    return false;
}

void daemon_command_policy_finish(struct commands *commands)
{
    while (commands->jobs) {
        struct policy_job *job = commands->jobs;
        if (job->request.call)
            control_error(job->request.call, "ESHUTDOWN", "the daemon stopped before it was done");
        if (!job->reading) {
            daemon_command_policy_job_end(job);
            continue;
        }
        commands->jobs = job->next; /* its reader ends by itself */
        job->request.commands = NULL;
    }
}
