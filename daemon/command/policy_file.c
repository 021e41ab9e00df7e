/* The file of a promotion: read on another thread, then used, or refused with the reason. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "daemon/arena/arena.h"
#include "daemon/command/policy_job.h"
#include "daemon/log.h"

/* A full or failing disk, lack of memory or descriptors, a file that is being written. */
static bool is_passing_cause(int error)
{
    static const int causes[] = {ENOMEM, EIO,    ENOSPC, EDQUOT, EMFILE, ENFILE,   EAGAIN,
                                 EINTR,  ESTALE, EBUSY,  EROFS,  ENXIO,  ECANCELED};
    for (size_t i = 0; i < sizeof causes / sizeof *causes; i++)
        if (error == -causes[i])
            return true;
    return false;
}

static void refuse_file(struct policy_job *job)
{
    const struct arena_file *file = &job->file;
    char text[ARENA_ERROR_MAX + ACCOUNT_NAME_MAX + 16];
    if (!file->refused) {
        const char *code = file->error == -ENOENT   ? "ENOENT"
                           : file->error == -ENOMEM ? "ENOMEM"
                           : file->error == -EINVAL ? "EINVAL"
                                                    : "EIO";
        daemon_command_policy_job_deny(job, is_passing_cause(file->error), code, "%s", file->why);
        return;
    }
    if (!job->proposed) {
        snprintf(text, sizeof text, "policy %s: %s", job->name, file->why);
        daemon_log_event_at(LOG_LEVEL_ERROR, LOG_POLICY_REFUSED,
                            LOG_OF(.policy = job->name, .alert = "POLICY_REFUSED"), "%s", text);
        daemon_session_alert(job->request.commands->daemon->session, DB_ERROR, "POLICY_REFUSED", text);
    }
    daemon_command_policy_job_deny(job, false, "POLICY_REFUSED", "%s", file->why);
}

static void take_file(struct policy_job *job)
{
    const struct arena_row *row = arena_find(policy_job_arena(job), job->name);
    if (job->file.error < 0) {
        refuse_file(job);
        return;
    }
    bool same = row && memcmp(row->id, job->file.policy->id, sizeof row->id) == 0;
    if (job->step == ARENA_SWAP && same && !job->proposed &&
        !arena_refused(policy_job_arena(job), job->name)) {
        daemon_command_policy_job_deny(job, false, "EALREADY",
                                       "%s is %s, and trades by that policy already: %.300s", job->name,
                                       db_policy_role_name(row->role), job->file.path);
        return;
    }
    if (!daemon_command_policy_job_confirmed(job, job->file.policy))
        return;
    const struct policy *policy = arena_take(policy_job_arena(job), &job->file);
    if (policy)
        daemon_command_policy_job_take_step(job, policy);
    else
        daemon_command_policy_job_deny(job, true, "ENOMEM", "out of memory");
}

static void on_thread(uv_work_t *work)
{
    struct policy_job *job = work->data;
    arena_file_read(&job->file);
}

static void file_read(uv_work_t *work, int status)
{
    struct policy_job *job = work->data;
    struct commands *commands = job->request.commands;
    job->reading = false;
    if (!commands) { /* the daemon stopped meanwhile */
        daemon_command_policy_job_end(job);
        return;
    }
    if (status < 0)
        daemon_command_policy_job_deny(job, true, "EIO", "the file was not read");
    else
        take_file(job);
    daemon_command_policy_job_end(job);
    daemon_command_policy_jobs_continue(commands);
}

static void add_currency(struct arena_file *file, const char *currency)
{
    int i = 0;
    while (i < file->n_currencies && strcmp(file->currencies[i], currency) != 0)
        i++;
    if (i == file->n_currencies && i < ARENA_CURRENCIES_MAX)
        snprintf(file->currencies[file->n_currencies++], sizeof file->currencies[i], "%s", currency);
}

/* Its account's currency, or of a new one those that may be. */
static void find_currencies(const struct policy_job *job, struct arena_file *file)
{
    const struct engine *engine = job->request.engine;
    int account = engine_find_account(engine, job->name);
    if (account >= 0) {
        add_currency(file, engine_account(engine, account)->currency);
        return;
    }
    add_currency(file, engine_account(engine, 0)->currency);
    for (int s = 0; s < engine_symbols(engine); s++)
        add_currency(file, engine_symbol(engine, s)->quote);
}

bool daemon_command_policy_job_read(struct policy_job *job)
{
    struct daemon *daemon = job->request.commands->daemon;
    struct arena_file *file = &job->file;
    file->state = daemon->state;
    file->interval_ns = daemon->config.interval_ns;
    file->extended_hours = daemon_config_extended(&daemon->config);
    file->symbols = arena_symbols(job->request.engine);
    file->n_symbols = engine_symbols(job->request.engine);
    memcpy(file->name, job->name, sizeof file->name);
    snprintf(file->recording, sizeof file->recording, "%s", daemon->config.record_dir);
    find_currencies(job, file);
    job->work.data = job;
    job->reading = file->symbols && uv_queue_work(daemon->loop, &job->work, on_thread, file_read) == 0;
    if (!job->reading)
        daemon_command_policy_job_deny(job, true, "ENOMEM", "out of memory");
    return job->reading;
}
