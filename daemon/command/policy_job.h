/* A promotion or retirement of a policy under way: policy_queue.c runs them one by one, policy_file.c reads
 * the file of a promotion, policy_events.c carries it out, policy_answer.c reports the outcome. */
#ifndef DAEMON_COMMAND_POLICY_JOB_H
#define DAEMON_COMMAND_POLICY_JOB_H

#include <uv.h>

#include "daemon/arena/file.h"
#include "daemon/arena/row.h"
#include "daemon/command/internal.h"

struct policy_job {
    struct policy_job *next;
    struct request request; /* its args are a reference, its peer is … */
    struct control_peer peer;
    enum arena_step step;
    bool retires, confirmed;
    enum db_policy_role to; /* the role that its client expects it to have then; DB_POLICY_RETIRED: any */
    char name[ACCOUNT_NAME_MAX];
    char reason[ARENA_REASON_MAX]; /* "": by command */
    struct proposed *proposed;     /* NULL: it is no proposal; else … */
    char proposal[ARENA_PROPOSAL_MAX], training[ACCOUNT_NAME_MAX];
    int64_t expires_ns;
    uv_work_t work;
    bool reading;               /* on the other thread */
    struct arena_limits limits; /* as asked */
    struct arena_file file;     /* name, path: as asked */
};

static inline struct arena *policy_job_arena(const struct policy_job *job)
{
    return job->request.commands->daemon->arena;
}

/* ---- policy_queue.c ---- */

/* Frees it and takes it out of the queue, where it is the first, unless it was taken out before. */
void daemon_command_policy_job_end(struct policy_job *job);
/* Runs jobs until one continues on another thread. */
void daemon_command_policy_jobs_continue(struct commands *commands);

/* ---- policy_file.c ---- */

/* Reads job->file, and continues from the callback. False, with the job denied, without memory. */
bool daemon_command_policy_job_read(struct policy_job *job);

/* ---- policy_events.c ---- */

/* Carries job->step out with the policy that was read, or the one that it has; NULL where it retires. */
void daemon_command_policy_job_take_step(struct policy_job *job, const struct policy *policy);

/* ---- policy_answer.c ---- */

/* As daemon_command_begin(); of a proposal its pending row. */
bool daemon_command_policy_job_begin(const struct policy_job *job, struct work *work);
/* Answers the client; a proposal's row is settled, except where the cause may pass: a minute later it may
 * succeed. */
void daemon_command_policy_job_deny(struct policy_job *job, bool passes, const char *code, const char *format,
                                    ...) __attribute__((format(printf, 4, 5)));
/* Promotes a policy whose evaluation says that it is no better than holding only where its client confirmed
 * that: else the job is denied with the verdict. A policy that was not evaluated needs none. */
bool daemon_command_policy_job_confirmed(struct policy_job *job, const struct policy *policy);
/* Reports the engine's outcome where no client waits for the answer. */
void daemon_command_policy_job_say(const struct policy_job *job, const struct work *work);

#endif
