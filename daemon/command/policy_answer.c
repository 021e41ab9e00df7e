/* Where the outcome of a promotion or retirement is reported: to its client, in the row of its proposal, or
 * by an alert where no client waits. */
#include <stdarg.h>
#include <stdio.h>

#include "daemon/arena/arena.h"
#include "daemon/command/policy_job.h"
#include "daemon/log.h"
#include "exchange/order_reason.h"
#include "strategy/metrics/verdict.h"

bool daemon_command_policy_job_begin(const struct policy_job *job, struct work *work)
{
    const struct proposed *proposed = job->proposed;
    return proposed ? daemon_command_begin_again(&job->request, proposed->id, proposed->ts_ns, work)
                    : daemon_command_begin(&job->request, work);
}

static void raise_alert(const struct policy_job *job, enum db_severity severity, const char *code,
                        const char *format, ...) __attribute__((format(printf, 4, 5)));
static void raise_alert(const struct policy_job *job, enum db_severity severity, const char *code,
                        const char *format, ...)
{
    char text[ARENA_ERROR_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    daemon_log_event(LOG_POLICY, LOG_OF(.policy = job->name, .alert = code), "%s", text);
    daemon_session_alert(job->request.commands->daemon->session, severity, code, text);
}

/* A good proposal that failed for a cause that may pass stays pending, and is judged again later. */
static void put_off(struct policy_job *job, const char *why)
{
    if (!job->proposed->put_off)
        raise_alert(job, DB_WARNING, "PROPOSAL_PUT_OFF", "%s: put off, and tried again until it passes: %s",
                    job->proposal, why);
    daemon_command_proposed_again(job->request.commands, job->proposed);
    job->proposed = NULL;
}

void daemon_command_policy_job_deny(struct policy_job *job, bool passes, const char *code, const char *format,
                                    ...)
{
    char why[ARENA_ERROR_MAX + ACCOUNT_NAME_MAX];
    struct work work;
    va_list args;
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    if (job->request.call)
        control_error(job->request.call, code, "%s", why);
    else if (job->proposed && passes)
        put_off(job, why);
    else if (!job->proposed)
        daemon_log_event(LOG_POLICY_REFUSED, LOG_OF(.policy = job->name), "%s %s: %s", job->request.cmd,
                         job->name, why);
    else if (daemon_command_policy_job_begin(job, &work))
        daemon_command_proposal_refuse(&work, job->proposed, why);
}

bool daemon_command_policy_job_confirmed(struct policy_job *job, const struct policy *policy)
{
    if (job->confirmed || !policy->verdict || metrics_verdict_good(metrics_verdict_of_word(policy->verdict)))
        return true;
    daemon_command_policy_job_deny(job, false, "POLICY_VERDICT",
                                   "args.yes: %s: %.24s: %.300s args.yes is needed to promote it", job->name,
                                   policy->verdict, policy->verdict_text);
    return false;
}

void daemon_command_policy_job_say(const struct policy_job *job, const struct work *work)
{
    if (job->request.call)
        return;
    if (work->reason != ORDER_OK)
        raise_alert(job, DB_WARNING, "POLICY_REFUSED", "%s: %s: %s", job->request.cmd, job->name,
                    order_reason_words(work->reason));
    else
        raise_alert(job, DB_INFO,
                    job->step == ARENA_RETIRE  ? "POLICY_RETIRED"
                    : job->step == ARENA_CROWN ? "POLICY_CROWNED"
                                               : "POLICY_ADMITTED",
                    "%s is %s: %s", job->name,
                    job->step == ARENA_RETIRE  ? "retired"
                    : job->step == ARENA_CROWN ? "champion"
                                               : "challenger",
                    job->reason);
}
