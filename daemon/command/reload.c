/* reload, by command and by SIGHUP. */
#include "daemon/command/reload.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/execution/executions.h"
#include "daemon/http/http.h"
#include "daemon/log.h"
#include "engine/event.h"
#include "exchange/net/context.h"
#include "exchange/net/secret.h"

#define REFUSED_ALERT "the configuration was not taken: "

/* ---- words ---- */

static const char *file_of(const struct reload *reload)
{
    return reload->given->file ? reload->given->file : "defaults";
}

void daemon_reload_add_line(struct reload *reload, const char *line)
{
    size_t n = strlen(reload->errors);
    snprintf(reload->errors + n, sizeof reload->errors - n, "%s\n", line);
}

void daemon_reload_refuse(struct reload *reload, const char *format, ...)
{
    char words[CONFIG_ERROR_MAX], placed[CONFIG_ERROR_MAX + 200];
    va_list args;
    va_start(args, format);
    vsnprintf(words, sizeof words, format, args);
    va_end(args);
    daemon_config_place(reload->given->file, words, placed, sizeof placed);
    daemon_reload_add_line(reload, placed);
}

/* "FILE:LINE: [SECTION] KEY = VALUE (before: VALUE)" */
static void describe(const struct reload *reload, size_t i, char *ret, size_t size)
{
    const struct daemon_config_change *change = &reload->changes.list[i];
    char line[16] = "", now[256], was[256];
    if (reload->lines[i] > 0)
        snprintf(line, sizeof line, ":%d", reload->lines[i]);
    if (!change->key[0])
        snprintf(ret, size, "%s%s: [%s] %s", file_of(reload), line, change->section,
                 change->now ? "is new" : "is gone");
    else
        snprintf(ret, size, "%s%s: [%s] %s = %s (before: %s)", file_of(reload), line, change->section,
                 change->key,
                 change->now ? daemon_config_shown(change->section, change->key, change->now, now, sizeof now)
                             : "",
                 change->was ? daemon_config_shown(change->section, change->key, change->was, was, sizeof was)
                             : "");
}

/* ---- its end ---- */

static void destroy(struct reload *reload)
{
    if (!reload)
        return;
    daemon_config_changes_finish(&reload->changes);
    daemon_reload_symbols_finish(reload);
    json_decref(reload->request.args);
    json_decref(reload->contents);
    net_secret_free(reload->keys);
    net_secret_free(reload->execution_keys);
    net_trust_destroy(reload->trust);
    free(reload->lines);
    free(reload->read);
    free(reload->merged);
    free(reload);
}

static void end(struct reload *reload)
{
    struct commands *commands = reload->commands;
    bool again = commands->reload_again;
    commands->reload = NULL;
    commands->reload_again = false;
    if (!commands->daemon->stopping) /* then they are gone, or about to be */
        feeds_leave_tried(commands->daemon->feeds);
    destroy(reload);
    if (again)
        daemon_commands_reload(commands);
}

static void refuse(struct reload *reload)
{
    struct session *session = reload->commands->daemon->session;
    char text[DB_ALERT_TEXT_MAX];
    json_t *errors = json_array();
    for (char *line = reload->errors, *next; *line; line = next) {
        next = line + strcspn(line, "\n");
        if (*next)
            *next++ = '\0';
        daemon_log_event(LOG_RELOAD_REFUSED, NULL, "reload: %s", line);
        json_array_append_new(errors, json_string(line));
    }
    daemon_log_event(LOG_RELOAD_REFUSED, LOG_OF(.alert = "reload-refused"),
                     "reload: refused: nothing has changed");
    snprintf(text, sizeof text, REFUSED_ALERT "%.400s", reload->errors); /* the first line */
    daemon_session_alert_lasting(session, DB_WARNING, "reload-refused", REFUSED_ALERT, text);
    if (reload->request.call)
        control_error_with(reload->request.call, "EINVAL", "errors", errors, "%s", reload->errors);
    else
        json_decref(errors);
    end(reload);
}

/* ---- it takes effect ---- */

static json_t *changes_object(const struct reload *reload, bool live)
{
    json_t *array = json_array();
    for (size_t i = 0; i < reload->changes.n; i++) {
        const struct daemon_config_change *change = &reload->changes.list[i];
        char was[256], now[256];
        json_t *line = reload->lines[i] > 0 ? json_integer(reload->lines[i]) : json_null();
        if (change->live == live)
            json_array_append_new(
                array,
                json_pack(
                    "{s:s, s:s, s:s?, s:s?, s:o}", "section", change->section, "key", change->key, "was",
                    daemon_config_shown(change->section, change->key, change->was, was, sizeof was), "now",
                    daemon_config_shown(change->section, change->key, change->now, now, sizeof now), "line",
                    line));
        else
            json_decref(line);
    }
    return array;
}

static void log_changes(const struct reload *reload)
{
    char words[1024];
    size_t live = 0;
    for (size_t i = 0; i < reload->changes.n; i++) {
        describe(reload, i, words, sizeof words);
        live += reload->changes.list[i].live;
        if (reload->changes.list[i].live)
            daemon_log_info("reload: %s", words);
        else
            daemon_log_warning("reload: %s: needs a restart", words);
    }
    daemon_log_event(LOG_RELOADED, NULL, "reload: %s: %zu taken, %zu need a restart", file_of(reload), live,
                     reload->changes.n - live);
}

/* What its event carries, for the log: the command's arguments, and the changes. */
static char *reported(const struct reload *reload)
{
    json_t *args = json_deep_copy(reload->request.args);
    json_object_set_new(args, "applied", changes_object(reload, true));
    char *text = json_dumps(args, JSON_COMPACT);
    json_decref(args);
    return text;
}

static json_t *answer_of(const struct reload *reload)
{
    return json_pack("{s:s, s:o, s:o, s:O, s:o}", "file", file_of(reload), "applied",
                     changes_object(reload, true), "restart", changes_object(reload, false), "contents",
                     reload->contents, "left_out", daemon_command_left_out(reload->commands->daemon));
}

/* It holds, and what it left for a restart is remembered. */
static void taken(struct reload *reload)
{
    struct commands *commands = reload->commands;
    daemon_session_alert_over(commands->daemon->session, "reload-refused", REFUSED_ALERT);
    json_decref(commands->restart);
    commands->restart = changes_object(reload, false);
}

/* Without an event and a row, which begin with the session: nothing depends on what was configured before. */
static void carry_out_early(struct reload *reload)
{
    if (daemon_reload_apply_early(reload) < 0) {
        refuse(reload);
        return;
    }
    log_changes(reload);
    daemon_log_info("reload: no venue had answered: each is asked again, as it is configured now");
    taken(reload);
    if (reload->request.call)
        control_ok(reload->request.call, answer_of(reload));
    end(reload);
}

/* Its rows and those of all that follows are one group. */
static void carry_out(struct reload *reload)
{
    struct commands *commands = reload->commands;
    struct event event = {.command.kind = COMMAND_CONFIGURE};
    struct work work;
    int n = 0;
    struct account_spec *accounts = daemon_reload_accounts(reload, &n);
    char *text = reported(reload);
    if (!accounts || !text) {
        daemon_reload_refuse(reload, "out of memory");
        refuse(reload);
    } else if (!daemon_command_begin(&reload->request, &work)) {
        end(reload); /* it came before, and is answered */
    } else {
        work.reported = text;
        event.command.configure.accounts = accounts;
        event.command.configure.n = n;
        daemon_command_event(&work, &event);
        if (work.reason == ORDER_OK) {
            log_changes(reload);
            daemon_reload_apply(reload);
            taken(reload);
            daemon_command_log_left_out(commands->daemon);
        }
        daemon_command_end(&work, answer_of(reload));
        end(reload);
    }
    free(accounts);
    free(text);
}

static void judge_metrics(struct reload *reload)
{
    const struct daemon_http *http = reload->commands->daemon->http;
    char error[CONFIG_ERROR_MAX];
    if (http && daemon_http_check(http, reload->merged, error) < 0)
        daemon_reload_refuse(reload, "%s", error);
}

/* What the next start would refuse of them. */
static void judge_executions(struct reload *reload)
{
    const struct engine *engine = daemon_session_engine(reload->commands->daemon->session);
    char error[CONFIG_ERROR_MAX];
    for (int a = 0; a < reload->read->n_accounts; a++) {
        const struct account_config *account = &reload->read->accounts[a];
        int index = engine_find_account(engine, account->name);
        if (index >= 0 && !daemon_config_execution_kept(
                              account, engine_account(engine, index)->rules.execution, error, sizeof error))
            daemon_reload_refuse(reload, "%s", error);
    }
}

/* Before the session all accounts are taken as they are read; those at their venue are of the start. */
static void judge_new_executions(struct reload *reload)
{
    const char *name = daemon_executions_lack(reload->commands->daemon->executions, reload->merged);
    if (name)
        daemon_reload_refuse(
            reload,
            "[account %s] execution: before a venue has answered, an account at its venue is not "
            "added by a reload: start the daemon again",
            name);
}

json_t *daemon_command_restart(const struct commands *commands)
{
    return commands && commands->restart ? json_incref(commands->restart) : json_array();
}

void daemon_reload_go(struct reload *reload)
{
    if (!reload->commands) {
        destroy(reload);
        return;
    }
    if (!reload->errors[0] && !reload->commands->daemon->stopping) {
        if (!reload->early) {
            daemon_reload_judge(reload);
            judge_executions(reload);
        } else {
            judge_new_executions(reload);
        }
        judge_metrics(reload);
    }
    if (reload->commands->daemon->stopping)
        daemon_reload_refuse(reload, "the daemon stops");
    if (reload->errors[0])
        refuse(reload);
    else if (reload->early)
        carry_out_early(reload);
    else
        carry_out(reload);
}

static int begin(const struct request *request);

/* A venue answered meanwhile: what can be taken is another question now. */
static void compare_again(struct reload *reload)
{
    struct request request = reload->request;
    request.engine = daemon_session_engine(reload->commands->daemon->session);
    if (begin(&request) == 0) {
        destroy(reload);
        return;
    }
    daemon_reload_refuse(reload, "out of memory");
    refuse(reload);
}

static void read_again(uv_work_t *work)
{
    daemon_reload_read(work->data);
}

static void have_read(uv_work_t *work, int status)
{
    struct reload *reload = work->data;
    (void)status; /* it is never cancelled */
    if (reload->commands && reload->early && !reload->commands->daemon->stopping &&
        daemon_session_started(reload->commands->daemon->session))
        compare_again(reload);
    else if (reload->commands && !reload->early && !reload->commands->daemon->stopping && !reload->errors[0])
        daemon_reload_ask(reload);
    else
        daemon_reload_go(reload);
}

/* ---- its begin ---- */

static struct reload *make(const struct request *request)
{
    struct daemon *daemon = request->commands->daemon;
    struct reload *reload = calloc(1, sizeof *reload);
    if (!reload)
        return NULL;
    reload->commands = request->commands;
    reload->early = !request->engine;
    reload->given = daemon->given;
    reload->running = &daemon->config;
    reload->read = calloc(1, sizeof *reload->read);
    reload->merged = calloc(1, sizeof *reload->merged);
    reload->contents = json_array();
    reload->keys = net_secret_alloc(CONFIG_VENUES_MAX * sizeof *reload->keys);
    reload->request = *request;
    reload->request.given = NULL; /* the call's */
    reload->request.cmd = "reload";
    reload->request.args = json_incref(request->args);
    reload->peer = *request->peer;
    reload->request.peer = &reload->peer;
    reload->work.data = reload;
    if (reload->read && reload->merged && reload->keys && reload->contents)
        return reload;
    destroy(reload);
    return NULL;
}

static int begin(const struct request *request)
{
    struct commands *commands = request->commands;
    struct reload *reload = make(request);
    if (!reload)
        return -ENOMEM;
    int r = uv_queue_work(commands->daemon->loop, &reload->work, read_again, have_read);
    if (r < 0)
        destroy(reload);
    else
        commands->reload = reload;
    return r;
}

void daemon_command_reload(const struct request *request)
{
    struct commands *commands = request->commands;
    if (daemon_command_came_before(request))
        return;
    if (commands->reload)
        control_error(request->call, "EBUSY", "the configuration is being read again already");
    else if (begin(request) < 0)
        control_error(request->call, "ENOMEM", "out of memory");
}

void daemon_commands_reload(struct commands *commands)
{
    const struct control_peer self = {.uid = getuid(), .pid = getpid()};
    const struct request request = {.commands = commands,
                                    .cmd = "reload",
                                    .args = json_pack("{s:s}", "signal", "SIGHUP"),
                                    .peer = &self,
                                    .engine = daemon_session_engine(commands->daemon->session)};
    if (commands->reload)
        commands->reload_again = true; /* the file may have changed since */
    else if (!request.args || begin(&request) < 0)
        daemon_log_error("reload: out of memory: nothing has changed");
    json_decref(request.args);
}

void daemon_commands_started(struct commands *commands)
{
    bool again = commands->reload_again;
    commands->reload_again = false;
    daemon_command_log_left_out(commands->daemon);
    if (again)
        daemon_commands_reload(commands);
}

void daemon_command_reload_finish(struct commands *commands)
{
    struct reload *reload = commands->reload;
    json_decref(commands->restart);
    commands->restart = NULL;
    if (!reload)
        return;
    if (reload->request.call)
        control_error(reload->request.call, "ESHUTDOWN", "the daemon stopped before it was read");
    reload->commands = NULL;
    commands->reload = NULL;
}
