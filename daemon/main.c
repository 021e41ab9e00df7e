/* papertaped: the service. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/alert_watch.h"
#include "daemon/anchors.h"
#include "daemon/arena/arena.h"
#include "daemon/board.h"
#include "daemon/column_files.h"
#include "daemon/command/command.h"
#include "daemon/compute.h"
#include "daemon/config_load.h"
#include "daemon/credential.h"
#include "daemon/daemon.h"
#include "daemon/execution/executions.h"
#include "daemon/feed/feeds.h"
#include "daemon/http/http.h"
#include "daemon/log.h"
#include "daemon/loop_time.h"
#include "daemon/memory.h"
#include "daemon/notify/notify.h"
#include "daemon/parity.h"
#include "daemon/policies.h"
#include "daemon/priority.h"
#include "daemon/reach.h"
#include "daemon/rebuild.h"
#include "daemon/roles.h"
#include "daemon/telemetry.h"
#include "daemon/training/trainings.h"
#include "daemon/universe.h"
#include "exchange/clock.h"
#include "exchange/early_stop.h"
#include "exchange/net/lazy_curl.h"
#include "exchange/net/notify.h"
#include "indicators_gpu/plugin_watch.h"
#include "record/option.h"
#include "strategy/policy/device.h"

enum {
    DRAIN_TIMEOUT_MS = 18000, /* of the queue; SESSION_FAILING_MS where the disk refuses, … */
    CLOSE_TIMEOUT_MS = 3000,  /* … of what comes after, and what the queue left of its time: in all less
                               * than the unit's TimeoutStopSec= */
    GIVE_UP_MS = 100,
    DEVICE_RETRY_MAX_MS = 3600000,
};

struct arguments {
    struct daemon_config_given given;
    const char *state;
    bool check, print, rebuild;
};

#define AT(member) offsetof(struct arguments, member)

static const struct option_row options[] = {
    {"config", "FILE", "read FILE (INI); papertaped.ini(5) lists the keys", AT(given.file), .letter = 'c'},
    {"state", "DIR",
     "keep everything in DIR, which is made if it is missing, @NAME: /var/lib/papertape-NAME, an instance's; else the first of $STATE_DIRECTORY (set by "
     "systemd), $XDG_STATE_HOME/papertape and ~/.local/state/papertape that the environment gives",
     AT(state), .letter = 's'},
    {"check-config", NULL,
     "read the configuration and the policies, certificates and files of keys that it names, say whether it is "
     "good, and exit; what the venue takes and lists is checked by a start",
     AT(check)},
    {"print-config", NULL,
     "print the whole configuration that would be used, with a line on each key, and exit; the output is "
     "itself a configuration file",
     AT(print)},
    {"venue-url", "URL", "the venue's websocket, wss://HOST:PORT; the key ws_url", AT(given.venue_url)},
    {"rest-url", "URL", "the venue's REST, https://HOST:PORT; the key rest_url", AT(given.rest_url)},
    {"ca-file", "FILE", "trust these certificates (PEM) instead of the system's; the key ca_file",
     AT(given.ca_file)},
    {"clock", "wall|feed",
     "stamp events with the time of day, or with that of the feed, which makes a replay "
     "repeatable; the key clock",
     AT(given.clock)},
    {"rebuild", NULL,
     "build the database again from the event log and what can be read of the present file, print the "
     "result, and exit; no daemon may run on the state directory; a start does this by itself where the "
     "database is damaged or missing",
     AT(rebuild)},
    {"record", "DIR",
     "keep every frame and every reply of the first venue in DIR too, as they were received, with the "
     "events that all venues' became; those of each other venue in DIR/NAME; papertape-replay(1) plays "
     "them; when it cannot be written an alert says so, and the recording ends; trading continues",
     AT(given.record)},
    {"log-level", "error|warning|info|debug", "the key level", AT(given.log_level)},
};

static int exit_status = EXIT_SUCCESS;
static bool stored; /* at the stop, all that there was */
static uv_signal_t signals[2], hangup;
static uv_async_t
    failed; /* ends the daemon from the loop, not from within the function that found the failure */

/* A full disk is no failure of a stop: what could not be stored was not acknowledged to any client. */
static void report_lost(int drained, const char *what)
{
    daemon_log_event(LOG_STORAGE_FAILING, NULL, "%s", what);
    if (drained == -EIO && exit_status == EXIT_SUCCESS)
        daemon_log_event(
            LOG_STORAGE_FAILING, NULL,
            "stopped while the disk refuses: none of that was acknowledged, and commands that waited for it "
            "were answered with an error; the next start plays what the event log has of it");
    else
        exit_status = exit_status == EXIT_SUCCESS ? EXIT_FAILURE : exit_status;
}

static void session_drained(void *user)
{
    struct daemon *daemon = user;
    char err[SESSION_ERROR_MAX];
    daemon_session_stopped(daemon->session);
    int64_t until = clock_now_ms() + DRAIN_TIMEOUT_MS;
    int drained = daemon_session_drain(daemon->session, DRAIN_TIMEOUT_MS);
    if (daemon_session_writer(daemon->session))
        daemon_commands_committed(daemon->commands,
                                  db_writer_committed(daemon_session_writer(daemon->session)));
    daemon_notify_stop(daemon->notify); /* answers tests of sinks */
    daemon_http_stop(daemon->http);
    daemon->http = NULL;
    daemon_commands_destroy(daemon->commands);
    daemon_roles_close(daemon);
    arena_destroy(daemon->arena);
    daemon_alert_watch_stop(daemon->watch);
    daemon_telemetry_stop(daemon->telemetry);
    daemon_parity_stop(daemon->parity);
    daemon_reach_stop(daemon->reach);
    daemon->reach = NULL;
    daemon_column_files_stop(daemon->columns);
    daemon_universe_stop(daemon->universe);
    daemon_anchors_stop(daemon->anchors);
    daemon_compute_stop(daemon->compute);
    daemon_loop_time_stop();
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        uv_close((uv_handle_t *)&signals[i], NULL);
    uv_close((uv_handle_t *)&hangup, NULL);
    uv_close((uv_handle_t *)&failed, NULL);
    int64_t left = until - clock_now_ms();
    int64_t timeout = CLOSE_TIMEOUT_MS + (left > 0 ? left : 0);
    stored = daemon_session_close(daemon->session, drained == 0 ? timeout : GIVE_UP_MS, err, sizeof err) == 0;
    if (!stored)
        report_lost(drained, err);
}

static void feeds_stopped(void *user)
{
    struct daemon *daemon = user;
    struct board *board = daemon->board ? daemon->board : daemon->board_before;
    daemon->board = NULL;
    daemon_board_stop(board, session_drained, daemon);
}

static void stop(struct daemon *daemon)
{
    if (daemon->stopping)
        return;
    daemon->stopping = true;
    net_notify_stopping();
    daemon_trainings_stop(daemon->trainings); /* answers what waits for the co-process */
    daemon->trainings = NULL;
    daemon_executions_stop(daemon->executions); /* while there is a network */
    daemon->executions = NULL;
    if (daemon->telemetry && daemon_session_started(daemon->session))
        daemon_telemetry_prices(daemon->telemetry);
    feeds_stop(daemon->feeds, feeds_stopped, daemon);
}

static void end(int status)
{
    exit_status = status;
    uv_async_send(&failed);
}

static void on_failed(uv_async_t *async)
{
    stop(async->data);
}

static void on_signal(uv_signal_t *handle, int number)
{
    struct daemon *daemon = handle->data;
    daemon_log_event(LOG_STOPPING, NULL, "%s: stopping", strsignal(number));
    stop(daemon);
}

/* Before the loop handles it. */
static atomic_bool early_hangup;

static void note_hangup(int number)
{
    (void)number;
    atomic_store(&early_hangup, true);
}

static void on_hangup(uv_signal_t *handle, int number)
{
    struct daemon *daemon = handle->data;
    (void)number;
    if (!daemon->stopping)
        daemon_commands_reload(daemon->commands);
}

static void clock_jumped(void *ctx)
{
    struct daemon *daemon = ctx;
    if (daemon->feeds && !daemon->stopping)
        feeds_report_clocks(daemon->feeds);
}

static void need_snapshot(void *ctx, int symbol)
{
    struct daemon *daemon = ctx;
    if (!daemon->stopping)
        feeds_need_snapshot(daemon->feeds, symbol);
}

static void ask_venue(void *ctx, enum engine_venue_request request, const struct order *order)
{
    struct daemon *daemon = ctx;
    if (!daemon->stopping && daemon->executions)
        daemon_executions_request(daemon->executions, request, order);
}

static void need_bars(void *ctx, int symbol, int64_t from_open_ns, int64_t to_open_ns)
{
    struct daemon *daemon = ctx;
    if (!daemon->stopping)
        feeds_need_bars(daemon->feeds, symbol, from_open_ns, to_open_ns);
}

static void command_done(void *ctx, const struct event_command *command, enum order_reason reason,
                         uint64_t order_id)
{
    struct daemon *daemon = ctx;
    daemon_commands_done(daemon->commands, command->command_id, reason, order_id);
}

static void command_redone(void *ctx, int64_t ts_ns, const struct event_command *command,
                           enum order_reason reason, uint64_t order_id)
{
    struct daemon *daemon = ctx;
    daemon_commands_redone(daemon->commands, ts_ns, command, reason, order_id);
    arena_redone(daemon->arena, command, reason);
}

static void last_redone(void *ctx)
{
    struct daemon *daemon = ctx;
    daemon_commands_redone_end(daemon->commands);
}

static void command_known(void *ctx, const char *cmd, const char *args, const char *answer)
{
    struct daemon *daemon = ctx;
    daemon_commands_remember(daemon->commands, cmd, args, answer);
}

static void storage_failing(void *ctx)
{
    struct daemon *daemon = ctx;
    daemon_commands_not_stored(daemon->commands);
}

static void alert_changed(void *ctx, const struct alert *alert, int64_t closed_ns)
{
    const struct daemon *daemon = ctx;
    daemon_notify_alert(daemon->notify, alert, closed_ns);
}

static void started(void *ctx)
{
    struct daemon *daemon = ctx;
    size_t n;
    const struct alert *alerts = daemon_session_alerts(daemon->session, &n);
    daemon_notify_open_alerts(daemon->notify, alerts, n);
    arena_started(daemon->arena);
    daemon_column_files_started(daemon->columns);
    daemon_universe_started(daemon->universe);
    daemon_http_started(daemon->http);
    daemon_commands_started(daemon->commands);
    daemon_executions_start(daemon->executions);
}

static void log_replaced(void *ctx)
{
    struct daemon *daemon = ctx;
    daemon_parity_log_replaced(daemon->parity);
}

static void committed(void *ctx, uint64_t ticket)
{
    struct daemon *daemon = ctx;
    if (!daemon->stopping)
        daemon_commands_committed(daemon->commands, ticket);
    if (!daemon->stopping && daemon->executions)
        daemon_executions_committed(daemon->executions, ticket);
    daemon_board_committed(daemon->board, ticket);
}

static void closed_bar(void *ctx, int symbol, const struct bar *bar)
{
    struct daemon *daemon = ctx;
    if (!daemon->stopping)
        daemon_board_bar(daemon->board, symbol, bar);
}

static void closed_book(void *ctx, const struct engine_book_bar *bar)
{
    struct daemon *daemon = ctx;
    if (!daemon->stopping)
        daemon_board_book_bar(daemon->board, bar);
}

static void split(void *ctx, int symbol)
{
    struct daemon *daemon = ctx;
    if (!daemon->stopping)
        daemon_board_again(daemon->board, symbol);
}

static void device_found(void *ctx, struct gpu_module *module)
{
    struct daemon *daemon = ctx;
    daemon_board_take_device(daemon->board, module);
}

static struct notify *create_notify(struct daemon *daemon)
{
    char path[STATE_PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/notify.db", daemon->state.path);
    return daemon_notify_create(daemon->loop, path, &daemon->config.notify);
}

/* Of the configuration one is called as its account is. */
static const char *policy_of(void *ctx, const char *account)
{
    const struct daemon *daemon = ctx;
    const char *name = daemon->arena ? arena_policy_of_account(daemon->arena, account) : NULL;
    return name ? name : account;
}

/* Opens everything in order; a failure is reported in one line. */
static int start(struct daemon *daemon)
{
    char err[SESSION_ERROR_MAX] = "";
    int r = net_curl_load(err, sizeof err);
    if (r == 0)
        daemon->notify = create_notify(daemon);
    struct session_hooks hooks = {
        .ctx = daemon,
        .stop = early_stop_flag(),
        .clock_jumped = clock_jumped,
        .need_snapshot = need_snapshot,
        .need_bars = need_bars,
        .venue = ask_venue,
        .command_done = command_done,
        .command_redone = command_redone,
        .commands_redone = last_redone,
        .command_known = command_known,
        .storage_failing = storage_failing,
        .started = started,
        .log_replaced = log_replaced,
        .committed = committed,
        .bar = closed_bar,
        .book_bar = closed_book,
        .split = split,
        .alert = alert_changed,
        .policy_of = policy_of,
        .last_alert = daemon->notify ? daemon_notify_last_alert(daemon->notify) : 0,
    };
    daemon->commands = daemon_commands_create(daemon);
    if (r == 0 && !(daemon->commands && daemon->notify))
        r = -ENOMEM;
    if (r == 0)
        r = daemon_session_open(daemon->loop, &daemon->config, &daemon->state, &hooks, &daemon->session, err,
                                sizeof err);
    if (r < 0)
        goto no_session;
    r = daemon_roles_open(daemon, err, sizeof err);
    if (r < 0)
        goto no_control;
    r = daemon_executions_create(daemon, &daemon->executions, err, sizeof err);
    if (r == 0)
        r = feeds_create(daemon, &daemon->feeds, err, sizeof err);
    if (r < 0)
        goto no_feed;
    struct compute_config compute = {.ctx = daemon,
                                     .found = device_found,
                                     .unwanted = daemon_board_no_device(daemon),
                                     .retry_ms = daemon->config.device_retry_ms,
                                     .retry_max_ms = DEVICE_RETRY_MAX_MS};
    daemon->compute = daemon_compute_create(daemon->loop, &compute);
    daemon->telemetry = daemon_telemetry_create(daemon);
    daemon->parity = daemon_parity_create(daemon);
    daemon->reach = daemon_reach_create(daemon);
    daemon->columns = daemon_column_files_create(daemon);
    daemon->universe = daemon_universe_create(daemon);
    daemon->arena = arena_create(daemon);
    daemon->board = daemon_board_create(daemon);
    daemon->trainings = daemon_trainings_create(daemon);
    daemon->watch = daemon_alert_watch_create(daemon);
    daemon->http = daemon_http_create(daemon);
    daemon->anchors = daemon_anchors_create(daemon);
    if (!daemon->compute || !daemon->telemetry || !daemon->parity || !daemon->reach || !daemon->columns ||
        !daemon->universe || !daemon->board || !daemon->trainings || !daemon->arena || !daemon->watch ||
        !daemon->http || !daemon->anchors) {
        /* No clean-up: without these few bytes nothing will run. */
        fputs("papertaped: out of memory\n", stderr);
        daemon_log_finish();
        _exit(EXIT_FAILURE);
    }
    struct db_reader *reader;
    if (db_reader_open(daemon->state.database, &reader, err, sizeof err) == 0) {
        daemon_parity_remember(daemon->parity, reader);
        daemon_trainings_remember(daemon->trainings, reader);
        daemon_commands_recover(daemon->commands, reader);
        arena_remember(daemon->arena, reader);
        db_reader_close(reader);
    }
    uv_async_init(daemon->loop, &failed, on_failed);
    failed.data = daemon;
    daemon_on_fail(end);
    static const int numbers[] = {SIGTERM, SIGINT};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        uv_signal_init(daemon->loop, &signals[i]);
        signals[i].data = daemon;
        uv_signal_start(&signals[i], on_signal, numbers[i]);
    }
    uv_signal_init(daemon->loop, &hangup);
    hangup.data = daemon;
    uv_signal_start(&hangup, on_hangup, SIGHUP);
    return 0;
no_feed:
    daemon_executions_stop(daemon->executions);
    daemon->executions = NULL;
    daemon_roles_close(daemon);
no_control : {
    char ignored[SESSION_ERROR_MAX];
    daemon_session_close(daemon->session, CLOSE_TIMEOUT_MS, ignored, sizeof ignored);
}
no_session:
    daemon_notify_stop(daemon->notify);
    daemon_commands_destroy(daemon->commands);
    uv_run(daemon->loop, UV_RUN_DEFAULT);
    if (r != -ECANCELED)
        daemon_say(err[0] ? err : strerror(-r));
    return r;
}

static int status_of(int error)
{
    if (error != -ECANCELED)
        return exit_status_of_start(error);
    daemon_log_event(LOG_STOPPED, NULL,
                     "stopped at the start: the next one does what this one did not come to");
    return EXIT_SUCCESS;
}

/* Rebuilds by command, in whatever state the database is. */
static int rebuild(const struct daemon *daemon)
{
    char err[1024];
    struct rebuild_result result;
    const char *venue = daemon->config.venues[0].venue->format->name;
    int r = daemon_rebuild_state(&daemon->state, venue, early_stop_flag(), &result, err, sizeof err);
    if (r < 0) {
        daemon_say(err);
        return r == -ECANCELED ? EXIT_FAILURE : status_of(r);
    }
    printf("%s\n", result.text);
    return EXIT_SUCCESS;
}

/* Of accounts whose strategy can never open a position: on stdout, or in the log. */
static void warn_of_entries(const struct daemon_config *config, bool logs)
{
    char words[CONFIG_ERROR_MAX];
    for (int a = 0; a < config->n_accounts; a++) {
        if (!daemon_config_refuses_entries(config, &config->accounts[a], words))
            continue;
        if (logs)
            daemon_log_warning("%s", words);
        else
            printf("papertaped: %s\n", words);
    }
}

static int run(struct daemon *daemon)
{
    char err[1024];
    int r = db_state_dir_create(&daemon->state, err, sizeof err);
    if (r == 0)
        r = db_state_dir_lock(&daemon->state, &daemon->lock, err, sizeof err);
    if (r < 0) {
        daemon_say(err);
        return status_of(r);
    }
    uv_loop_t loop;
    uv_loop_init(&loop);
    daemon->loop = &loop;
    daemon->started_ms = uv_now(&loop);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a limit on the size of files then gives EFBIG, reported like a full disk */
    r = start(daemon);
    if (r < 0) {
        bool ended = daemon_notify_finish(daemon->notify);
        uv_loop_close(&loop);
        close(daemon->lock);
        r = status_of(r);
        if (!ended) {
            daemon_log_finish();
            _exit(r);
        }
        return r;
    }
    if (early_stop_asked()) /* before the loop took the signals */
        end(EXIT_SUCCESS);
    if (atomic_load(&early_hangup))
        daemon_commands_reload(daemon->commands);
    daemon_log_event(LOG_STARTED, NULL, "papertaped %s: state in %s", PAPERTAPE_VERSION, daemon->state.path);
    warn_of_entries(&daemon->config, true);
    feeds_start(daemon->feeds);
    daemon_loop_time_start(&loop);
    daemon_priority_prompt();
    net_notify_ready("waiting for the venue");
    uv_run(&loop, UV_RUN_DEFAULT);
    bool ended = daemon_notify_finish(daemon->notify);
    r = uv_loop_close(&loop);
    if (r < 0)
        daemon_log_error("the loop did not end cleanly: %s", uv_strerror(r));
    daemon_anchors_finish(daemon->anchors, stored && exit_status == EXIT_SUCCESS);
    close(daemon->lock);
    daemon_log_event(LOG_STOPPED, NULL, "stopped");
    daemon_log_finish();
    if (!ended || daemon_board_abandoned() || daemon_compute_abandoned() ||
        policy_net_device_abandoned()) { /* their memory stays where it is until the very end */
        fflush(NULL);
        _exit(exit_status);
    }
    return exit_status;
}

/* For --check-config: a daemon starts without a bad one, and an alert says so. False after a line on stderr.
 */
static bool check_columns(const struct daemon_config *config)
{
    char error[CONFIG_ERROR_MAX];
    struct external_columns columns;
    if (daemon_column_files_read(config, &columns, error) < 0) {
        daemon_say(error);
        return false;
    }
    backtest_external_finish(&columns);
    return true;
}

/* For --check-config: where the state directory is known. False after a line on stderr. */
static bool check_place(const struct daemon_config *config, const char *option)
{
    char err[CONFIG_ERROR_MAX];
    struct state_dir state;
    if (db_state_dir_find(option, &state, err, sizeof err) < 0 ||
        daemon_anchor_check(&config->ledger, &state, false, err, sizeof err) == 0)
        return true;
    daemon_say(err);
    return false;
}

/* The last of --check-config: false after a line on stderr. */
static bool check_keys(const struct daemon_config *config, const char *name)
{
    char error[CONFIG_ERROR_MAX];
    const char *unseen, *unseen_execution;
    if (feeds_check_keys(config, &unseen, error) < 0 ||
        daemon_executions_check_keys(config, &unseen_execution, error) < 0) {
        daemon_say(error);
        return false;
    }
    printf("papertaped: %s: ok\n", name);
    if (unseen)
        printf("papertaped: keys = %s: a credential, which only the unit is given: not looked at\n", unseen);
    if (daemon_credential_unseen(config->ledger.key))
        printf("papertaped: [ledger] key = %s: a credential, which only the unit is given: not looked at\n",
               config->ledger.key);
    if (unseen_execution)
        printf("papertaped: execution_keys = %s: a credential, which only the unit is given: not looked at\n",
               unseen_execution);
    return true;
}

/* Of accounts whose own session gives way to their policy's. */
static void print_sessions(const struct daemon_config *config, const struct policy_set *policies)
{
    for (int a = 0; a < config->n_accounts; a++) {
        const struct account_config *account = &config->accounts[a];
        const struct policy *policy = daemon_policy_set_of(policies, account->name);
        if (policy && policy->calendar && account->session != SESSION_REGULAR &&
            account->session != policy->session)
            printf("papertaped: [account %s] session = %s has no effect: its policy has session %s\n",
                   account->name, session_choice_names[account->session],
                   session_choice_names[policy->session]);
    }
}

/* Of a configuration that cannot be read, or of a file that it names: is it what another start would find
 * again? */
static int status_of_config(int error)
{
    static const int passing[] = {ENOMEM, EIO, EMFILE, ENFILE, ETIMEDOUT};
    for (size_t i = 0; i < sizeof passing / sizeof *passing; i++)
        if (error == -passing[i])
            return EXIT_FAILURE;
    return EXIT_USAGE;
}

static int run_call(struct option_call *call)
{
    static struct daemon daemon;
    const struct arguments *arguments = call->into;
    struct policy_set *policies = NULL;
    char error[CONFIG_ERRORS_MAX], err[1024];
    bool read;
    if (arguments->check || arguments->print)
        early_stop_release();
    else if (!arguments->rebuild)
        signal(SIGHUP, note_hangup);
    daemon.given = &arguments->given;
    int r = daemon_config_load(&arguments->given, &daemon.config, &read, error);
    daemon_config_is(read ? arguments->given.file : NULL);
    if (r < 0) {
        daemon_say(error);
        return status_of_config(r);
    }
    r = arguments->print ? 0 : daemon_config_check_files(&arguments->given, &daemon.config, &policies, error);
    if (r < 0) {
        daemon_say(error);
        return status_of_config(r);
    }
    bool checks = arguments->check && !arguments->print;
    const char *name = arguments->given.file ? arguments->given.file : "defaults";
    bool sound = !checks || (check_columns(&daemon.config) && check_place(&daemon.config, arguments->state) &&
                             check_keys(&daemon.config, name));
    if (checks && sound) {
        print_sessions(&daemon.config, policies);
        warn_of_entries(&daemon.config, false);
    }
    daemon_policy_set_destroy(policies); /* the session reads them again */
    if (!sound)
        return EXIT_USAGE;
    if (arguments->print)
        daemon_config_print(&daemon.config, stdout);
    if (arguments->print || arguments->check)
        return EXIT_SUCCESS;
    r = db_state_dir_find(arguments->state, &daemon.state, err, sizeof err);
    if (r == 0)
        r = db_state_dir_check_socket(&daemon.state, err, sizeof err);
    if (r == 0)
        r = daemon_anchor_check(&daemon.config.ledger, &daemon.state, true, err, sizeof err);
    if (r < 0) {
        daemon_say(err);
        return status_of(r);
    }
    daemon_log_init(daemon.config.log_level);
    indicator_plugin_watch_crashes();
    if (early_stop_asked())
        return status_of(-ECANCELED);
    return arguments->rebuild ? rebuild(&daemon) : run(&daemon);
}

static const struct option_action actions[] = {{.run = run_call}};
static const struct option_verb daemon_verb = {
    .about = "Streams market data, runs strategies and fills their orders on paper.\n"
             "Options come after the configuration file and win over it.",
    .exits =
        "0 also: ended by a signal, on a full disk too. 2 is what another start would find again, which "
        "systemd does not restart: a bad configuration, keys that are missing or not safe, a state "
        "directory in which every user may write, that is none, or belongs to another user, a database "
        "or an event log that this user may not read and write, or that a newer papertape wrote, "
        "something else in the place of the database, of the lock or of the socket, a strategy or policy that "
        "the event log names and that is not there, only venues that refuse for good. 1 also: another papertaped "
        "runs on the state directory, or the process of a strategy does not answer in time.",
    OPTION_ACTIONS(actions),
    OPTION_OPTIONS(options),
    .size = sizeof(struct arguments),
};
static const struct option_row globals[] = {OPTION_HELP, OPTION_VERSION};
static const struct option_program program = {
    .name = "papertaped",
    .version = PAPERTAPE_VERSION,
    .bare = &daemon_verb,
    .global = globals,
    .n_global = sizeof globals / sizeof *globals,
};

int main(int argc, char **argv)
{
    indicator_plugin_watch_exit();
    daemon_memory_begin();
    early_stop_catch();
    return option_main(&program, argc, argv);
}
