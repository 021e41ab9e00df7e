/* Policies promoted and retired: docs/policies.md, "The arena". One at a time, in the order in which they
 * were asked, since a file is read on another thread meanwhile. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/arena/arena.h"
#include "daemon/arena/file.h"
#include "daemon/arena/row.h"
#include "daemon/command/internal.h"
#include "daemon/log.h"

enum { SHOWN = 60 };

struct policy_job {
    struct policy_job *next;
    struct request request; /* its args are a reference, its peer is … */
    struct control_peer peer;
    enum arena_step step;
    bool retires;
    enum db_policy_role to; /* that its giver expects it to have then; DB_POLICY_RETIRED: whatever */
    char name[ACCOUNT_NAME_MAX];
    char reason[ARENA_REASON_MAX]; /* "": by command */
    struct proposed *proposed;     /* NULL: it is no proposal; else … */
    char proposal[ARENA_PROPOSAL_MAX], training[ACCOUNT_NAME_MAX];
    int64_t expires_ns;
    uv_work_t work;
    bool reading;           /* on the other thread */
    struct arena_file file; /* name, path: as asked */
};

/* What is to be done, all of it checked before the first event. */
struct plan {
    struct arena_row rows[2];
    const char *accounts[2];
    struct account_spec made[2]; /* of accounts that are not there yet */
    int n_rows, n_accounts;
    const struct policy *policy; /* NULL: none trades on them any more */
};

static void run_next(struct commands *commands);

static struct arena *arena_of(const struct policy_job *job)
{
    return job->request.commands->daemon->arena;
}

static void end_job(struct policy_job *job)
{
    struct commands *commands = job->request.commands;
    if (commands)
        commands->jobs = job->next;
    json_decref(job->request.args);
    command_proposed_free(job->proposed);
    arena_file_finish(&job->file);
    free(job);
}

/* As command_begin(). */
static bool begin(const struct policy_job *job, struct work *work)
{
    const struct proposed *proposed = job->proposed;
    return proposed ? command_begin_again(&job->request, proposed->id, proposed->ts_ns, work)
                    : command_begin(&job->request, work);
}

static void tell(const struct policy_job *job, enum db_severity severity, const char *code,
                 const char *format, ...) __attribute__((format(printf, 4, 5)));
static void tell(const struct policy_job *job, enum db_severity severity, const char *code,
                 const char *format, ...)
{
    char text[ARENA_ERROR_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    log_info("%s", text);
    session_alert(job->request.commands->daemon->session, severity, code, text);
}

/* One that was good, and whose cause of failure passes, stays pending, and is judged again later. */
static void put_off(struct policy_job *job, const char *why)
{
    if (!job->proposed->put_off)
        tell(job, DB_WARNING, "PROPOSAL_PUT_OFF", "%s: put off, and tried again until it passes: %s",
             job->proposal, why);
    command_proposed_again(job->request.commands, job->proposed);
    job->proposed = NULL;
}

/* Answers who asked; a proposal's row is settled, but where the cause passes: what failed may work a minute
 * later. */
static void deny(struct policy_job *job, bool passes, const char *code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
static void deny(struct policy_job *job, bool passes, const char *code, const char *format, ...)
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
        log_warning("%s %s: %s", job->request.cmd, job->name, why);
    else if (begin(job, &work))
        command_proposal_refuse(&work, job->proposed, why);
}

/* ---- the events ---- */

static bool plan_account(struct policy_job *job, struct plan *plan, int i)
{
    char why[ARENA_ERROR_MAX];
    const char *code;
    if (!plan->policy || !arena_account_refusal(arena_of(job), plan->accounts[i], job->file.currency,
                                                plan->policy, plan->n_accounts, &plan->made[i], &code, why))
        return true;
    deny(job, strcmp(code, "ENOMEM") == 0, code, "%s", why);
    return false;
}

/* What the events carry: the arguments, and the rows that follow from them. */
static char *told(const struct policy_job *job, const struct plan *plan)
{
    json_t *args = json_copy(job->request.args), *rows = json_array();
    for (int i = 0; i < plan->n_rows; i++)
        json_array_append_new(rows, arena_row_object(&plan->rows[i]));
    json_object_set_new(args, ARENA_ROWS, rows);
    char *text = json_dumps(args, JSON_COMPACT);
    json_decref(args);
    return text;
}

static void give_events(const struct policy_job *job, struct work *work, const struct plan *plan)
{
    for (int i = 0; i < plan->n_accounts && work->reason == ORDER_OK; i++) {
        if (!plan->policy && arena_configured(arena_of(job), plan->accounts[i]))
            continue; /* the configuration says what trades there by now */
        if (engine_find_account(job->request.engine, plan->accounts[i]) < 0) {
            struct event create = {.command.kind = COMMAND_ACCOUNT_CREATE};
            create.command.account = plan->made[i];
            command_event(work, &create);
        }
        struct event event = {.command.kind = COMMAND_ACCOUNT_POLICY};
        event.command.policy.account = engine_find_account(job->request.engine, plan->accounts[i]);
        event.command.policy.policy = plan->policy;
        event.command.policy.close = plan->policy == NULL;
        if (work->reason == ORDER_OK)
            command_event(work, &event);
    }
}

/* What nobody waits for is told of. */
static void say(const struct policy_job *job, const struct work *work)
{
    if (job->request.call)
        return;
    if (work->reason != ORDER_OK)
        tell(job, DB_WARNING, "POLICY_REFUSED", "%s: %s: %s", job->request.cmd, job->name,
             command_reason_words(work->reason));
    else
        tell(job, DB_INFO,
             job->step == ARENA_RETIRE  ? "POLICY_RETIRED"
             : job->step == ARENA_CROWN ? "POLICY_CROWNED"
                                        : "POLICY_ADMITTED",
             "%s is %s: %s", job->name,
             job->step == ARENA_RETIRE  ? "retired"
             : job->step == ARENA_CROWN ? "champion"
                                        : "challenger",
             job->reason);
}

static void carry_out(struct policy_job *job, struct plan *plan)
{
    struct arena *arena = arena_of(job);
    struct work work;
    for (int i = 0; i < plan->n_accounts; i++)
        if (!plan_account(job, plan, i))
            return;
    char *text = told(job, plan);
    if (!text) {
        deny(job, true, "ENOMEM", "out of memory");
    } else if (begin(job, &work)) {
        work.told = text;
        give_events(job, &work, plan);
        for (int i = 0; i < plan->n_rows && work.reason == ORDER_OK; i++)
            arena_put(arena, &plan->rows[i]);
        work.order = 0;
        if (job->proposed && work.reason != ORDER_OK) {
            command_proposal_refuse(&work, job->proposed, command_reason_words(work.reason));
        } else {
            say(job, &work);
            command_end(&work, json_pack("{s:o}", "policy", arena_object(arena, job->name)));
        }
    }
    free(text);
}

/* ---- what is asked for ---- */

/* With the policy that was read, or the one that it has. */
static void take_step(struct policy_job *job, const struct policy *policy)
{
    const struct arena_row *row = arena_find(arena_of(job), job->name);
    struct arena_row next = row ? *row : (struct arena_row){0};
    struct plan plan = {.policy = policy};
    if (arena_reads(job->step)) {
        memcpy(next.name, job->name, sizeof next.name);
        memcpy(next.account, job->name, sizeof next.account);
        memcpy(next.training, job->proposed ? job->training : job->file.training, sizeof next.training);
        memcpy(next.proposal, job->proposal, sizeof next.proposal);
        next.expires_ns = job->expires_ns;
        memcpy(next.path, job->file.path, sizeof next.path);
        memcpy(next.id, policy->id, sizeof next.id);
    }
    plan.n_rows = arena_take_step(
        job->step, row, arena_champion(arena_of(job)), &next, job->reason[0] ? job->reason : NULL,
        session_now(job->request.commands->daemon->session), plan.rows, plan.accounts, &plan.n_accounts);
    if (job->step == ARENA_RETIRE || job->step == ARENA_CROWN)
        snprintf(job->file.currency, sizeof job->file.currency, "%s",
                 engine_account(job->request.engine, engine_find_account(job->request.engine, row->account))
                     ->currency);
    carry_out(job, &plan);
    arena_tidy(arena_of(job));
}

/* A disk that is full or fails, memory or files that are short, a file that is written meanwhile. */
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
        const char *code = file->error == -ENOENT ? "ENOENT" : file->error == -ENOMEM ? "ENOMEM" : "EIO";
        deny(job, is_passing_cause(file->error), code, "%s", file->why);
        return;
    }
    if (!job->proposed) {
        snprintf(text, sizeof text, "policy %s: %s", job->name, file->why);
        log_warning("%s", text);
        session_alert(job->request.commands->daemon->session, DB_ERROR, "POLICY_REFUSED", text);
    }
    deny(job, false, "POLICY_REFUSED", "%s", file->why);
}

static void take_file(struct policy_job *job)
{
    const struct arena_row *row = arena_find(arena_of(job), job->name);
    if (job->file.error < 0) {
        refuse_file(job);
        return;
    }
    bool same = row && memcmp(row->id, job->file.policy->id, sizeof row->id) == 0;
    if (job->step == ARENA_SWAP && same && !job->proposed && !arena_refused(arena_of(job), job->name)) {
        deny(job, false, "EALREADY", "%s is %s, and trades by that policy already: %.300s", job->name,
             db_policy_role_name(row->role), job->file.path);
        return;
    }
    const struct policy *policy = arena_take(arena_of(job), &job->file);
    if (policy)
        take_step(job, policy);
    else
        deny(job, true, "ENOMEM", "out of memory");
}

/* ---- reading ---- */

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
        end_job(job);
        return;
    }
    if (status < 0)
        deny(job, true, "EIO", "the file was not read");
    else
        take_file(job);
    end_job(job);
    run_next(commands);
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

static bool start_reading(struct policy_job *job)
{
    struct daemon *daemon = job->request.commands->daemon;
    struct arena_file *file = &job->file;
    file->state = daemon->state;
    file->interval_ns = daemon->config.interval_ns;
    file->symbols = arena_symbols(job->request.engine);
    file->n_symbols = engine_symbols(job->request.engine);
    memcpy(file->name, job->name, sizeof file->name);
    snprintf(file->recording, sizeof file->recording, "%s", daemon->config.record_dir);
    find_currencies(job, file);
    job->work.data = job;
    job->reading = file->symbols && uv_queue_work(daemon->loop, &job->work, on_thread, file_read) == 0;
    if (!job->reading)
        deny(job, true, "ENOMEM", "out of memory");
    return job->reading;
}

/* ---- one after the other ---- */

static void retire(struct policy_job *job)
{
    const struct arena_row *row = arena_find(arena_of(job), job->name);
    job->step = ARENA_RETIRE;
    if (!row)
        deny(job, false, "ENOENT", "args.name: no policy %s was promoted", job->name);
    else if (row->role == DB_POLICY_RETIRED)
        deny(job, false, "EALREADY", "%s has retired already", job->name);
    else
        take_step(job, NULL);
}

static void crown(struct policy_job *job)
{
    const struct arena_row *row = arena_find(arena_of(job), job->name);
    const char *refused = arena_refused(arena_of(job), job->name);
    const struct policy *policy = arena_policy(arena_of(job), row->id);
    if (refused || !policy)
        deny(job, false, "POLICY_REFUSED", "%s does not trade: %s", job->name,
             refused ? refused : "its copy is not there: promote it with args.path");
    else
        take_step(job, policy);
}

/* The account of a new one must not be there for another reason. */
static bool free_name(struct policy_job *job)
{
    const char *name = job->name;
    if (arena_find(arena_of(job), name) || engine_find_account(job->request.engine, name) < 0)
        return true;
    deny(job, false, order_reason_name(ORDER_BAD_ACCOUNT),
         "args.name: there is an account %s already, which is not the arena's: another name is needed", name);
    return false;
}

/* Does the promotion lead where it is to lead? If not, the call is answered. */
static bool leads_there(struct policy_job *job)
{
    const struct arena_row *row = arena_find(arena_of(job), job->name);
    const char *code, *why;
    if (job->to == DB_POLICY_RETIRED || !(why = arena_wrong_role(job->step, row, job->to, &code)))
        return true;
    deny(job, false, code, "args.to: %s %s", job->name, why);
    return false;
}

/* What was promoted since its proposal was judged may have its seat. */
static bool still_seated(struct policy_job *job)
{
    char why[ARENA_ERROR_MAX];
    if (!job->proposed || arena_seat(arena_of(job), job->training, job->name, why, sizeof why) == 0)
        return true;
    deny(job, false, "PROPOSAL_REFUSED", "%s", why);
    return false;
}

/* True when it goes on on another thread. */
static bool run(struct policy_job *job)
{
    job->request.engine = session_engine(job->request.commands->daemon->session);
    if (command_came_before(&job->request))
        return false;
    if (job->retires) {
        retire(job);
        return false;
    }
    if (!still_seated(job))
        return false;
    job->step = arena_promotion(arena_find(arena_of(job), job->name), job->file.given);
    if (!leads_there(job))
        return false;
    if (job->step == ARENA_CROWN)
        crown(job);
    else if (free_name(job))
        return start_reading(job);
    return false;
}

static void run_next(struct commands *commands)
{
    while (commands->jobs && !commands->jobs->reading && !run(commands->jobs))
        end_job(commands->jobs);
}

void command_policy_ask(const struct request *request, const struct policy_ask *ask)
{
    struct policy_job *job = calloc(1, sizeof *job), **end = &request->commands->jobs;
    if (!job) {
        if (request->call)
            control_error(request->call, "ENOMEM", "out of memory");
        command_proposed_free(ask->proposed); /* its row stays pending: the next start finds it */
        return;
    }
    job->request = *request;
    job->request.cmd = ask->cmd;
    job->request.args = json_incref(request->args);
    job->peer = *request->peer;
    job->request.peer = &job->peer;
    job->retires = ask->retires;
    job->to = ask->to;
    job->file.given = ask->path != NULL;
    job->proposed = ask->proposed;
    job->expires_ns = ask->expires_ns;
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
        run_next(request->commands);
}

static bool take_name(const struct args *args, const char **ret)
{
    struct control_call *call = args->request->call;
    if (!args_text(args, "name", ret))
        return false;
    const char *refused = arena_name_refusal(*ret);
    if (refused) {
        control_error(call, "EINVAL", "args.name: \"%.*s\": %s", SHOWN, *ret, refused);
        return false;
    }
    if (!arena_configured(args->request->commands->daemon->arena, *ret))
        return true;
    control_error(call, "EINVAL",
                  "args.name: %s is an account of the configuration, which says what trades there: another "
                  "name is needed",
                  *ret);
    return false;
}

/* *ret is left alone when none is given. */
static bool take_role(const struct args *args, enum db_policy_role *ret)
{
    const char *to;
    if (!args_given(args, "to"))
        return true;
    if (!args_text(args, "to", &to))
        return false;
    if (strcmp(to, "challenger") != 0 && strcmp(to, "champion") != 0) {
        control_error(args->request->call, "EINVAL", "args.to: \"%.*s\": challenger or champion is needed",
                      SHOWN, to);
        return false;
    }
    *ret = strcmp(to, "champion") == 0 ? DB_POLICY_CHAMPION : DB_POLICY_CHALLENGER;
    return true;
}

void command_policy_promote(const struct request *request)
{
    struct args args = {request, request->args, "args"};
    const char *name, *path = NULL;
    enum db_policy_role to = DB_POLICY_RETIRED;
    if (!args_known(&args, "name path to key") || !take_name(&args, &name) ||
        (args_given(&args, "path") && !args_text(&args, "path", &path)) || !take_role(&args, &to))
        return;
    if (path && (path[0] != '/' || strlen(path) >= ARENA_PATH_MAX)) {
        control_error(
            request->call, "EINVAL",
            "args.path: \"%.*s\": an absolute path of a .safetensors or .ensemble.json file is needed", SHOWN,
            path);
        return;
    }
    command_policy_ask(request,
                       &(struct policy_ask){.cmd = "policy_promote", .name = name, .path = path, .to = to});
}

void command_policy_retire(const struct request *request)
{
    struct args args = {request, request->args, "args"};
    const char *name;
    if (args_known(&args, "name key") && take_name(&args, &name))
        command_policy_ask(
            request, &(struct policy_ask){
                         .cmd = "policy_retire", .name = name, .retires = true, .to = DB_POLICY_RETIRED});
}

bool commands_policies_idle(const struct commands *commands)
{
    return !commands->jobs;
}

bool command_policy_proposes(const struct commands *commands, const char *key)
{
    for (const struct policy_job *job = commands->jobs; job; job = job->next)
        if (job->proposed && strcmp(job->proposed->key, key) == 0)
            return true;
    return false;
}

void command_policy_finish(struct commands *commands)
{
    while (commands->jobs) {
        struct policy_job *job = commands->jobs;
        if (job->request.call)
            control_error(job->request.call, "ESHUTDOWN", "the daemon stopped before it was done");
        if (!job->reading) {
            end_job(job);
            continue;
        }
        commands->jobs = job->next; /* it ends by itself */
        job->request.commands = NULL;
    }
}
