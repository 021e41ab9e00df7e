/* A process from its beginning to its end. */
#include <errno.h>
#include <sqlite3.h>

#include "tests/system/power/sim.h"

#define START_NS 1723161240000000000LL
enum { PATIENCE_MS = 20000 };

/* daemon/main.c's, which feeds call: no feed runs here. */
void daemon_end(int status, const char *format, ...)
{
    fprintf(stderr, "power: the daemon ends with %d: %s\n", status, format);
    abort();
}

static void need_snapshot(void *ctx, int symbol)
{
    (void)ctx, (void)symbol;
}

static void need_bars(void *ctx, int symbol, int64_t from_ns, int64_t to_ns)
{
    (void)ctx, (void)symbol, (void)from_ns, (void)to_ns;
}

static void command_done(void *ctx, const struct event_command *command, enum order_reason reason,
                         uint64_t order_id)
{
    struct sim *sim = ctx;
    daemon_commands_done(sim->daemon.commands, command->command_id, reason, order_id);
}

static void command_redone(void *ctx, int64_t ts_ns, const struct event_command *command,
                           enum order_reason reason, uint64_t order_id)
{
    struct sim *sim = ctx;
    daemon_commands_redone(sim->daemon.commands, ts_ns, command, reason, order_id);
}

static void commands_redone_all(void *ctx)
{
    daemon_commands_redone_end(((struct sim *)ctx)->daemon.commands);
}

static void command_known(void *ctx, const char *cmd, const char *args, const char *answer)
{
    daemon_commands_remember(((struct sim *)ctx)->daemon.commands, cmd, args, answer);
}

static void storage_failing(void *ctx)
{
    daemon_commands_not_stored(((struct sim *)ctx)->daemon.commands);
}

static void log_replaced(void *ctx)
{
    ((struct sim *)ctx)->aside++;
}

static void committed(void *ctx, uint64_t ticket)
{
    daemon_commands_committed(((struct sim *)ctx)->daemon.commands, ticket);
}

static void close_loop(struct sim *sim)
{
    uv_run(&sim->loop, UV_RUN_DEFAULT);
    if (uv_loop_close(&sim->loop) < 0)
        sim_fail(sim, "the loop did not end cleanly");
}

int life_begin(struct sim *sim)
{
    char err[SESSION_ERROR_MAX] = "";
    const struct session_hooks hooks = {
        .ctx = sim,
        .stepped = &sim->clock,
        .files = &faulty_disk_files,
        .need_snapshot = need_snapshot,
        .need_bars = need_bars,
        .command_done = command_done,
        .command_redone = command_redone,
        .commands_redone = commands_redone_all,
        .command_known = command_known,
        .storage_failing = storage_failing,
        .log_replaced = log_replaced,
        .committed = committed,
    };
    sqlite3_randomness(0, NULL); /* it draws again, from the disk's */
    uv_loop_init(&sim->loop);
    sim->daemon.loop = &sim->loop;
    sim->daemon.session = NULL;
    sim->daemon.commands = daemon_commands_create(&sim->daemon);
    sim->lives_n++;
    int r = daemon_session_open(&sim->loop, &sim->daemon.config, &sim->state, &hooks, &sim->daemon.session,
                                err, sizeof err);
    sim_trace(sim, "open", "", r, NULL, 0);
    if (r < 0 && sim->echo)
        printf("%s\n", err);
    if (r < 0) {
        daemon_commands_destroy(sim->daemon.commands);
        close_loop(sim);
        return r;
    }
    r = daemon_session_begin(sim->daemon.session, sim->symbols, SYMBOLS, START_NS + sim->now_ns, err,
                             sizeof err);
    sim_trace(sim, "begin", daemon_session_recovery(sim->daemon.session)->from, r, NULL, 0);
    if (r < 0 && sim->echo)
        printf("%s\n", err);
    if (r < 0) {
        life_end(sim, false);
        return r;
    }
    struct event up = {.kind = EVENT_CONNECTION, .connection.up = true};
    daemon_session_event(sim->daemon.session, &up);
    sim->begun_ns = sim->now_ns;
    sim->lives = true;
    return 0;
}

void life_end(struct sim *sim, bool clean)
{
    char err[SESSION_ERROR_MAX] = "";
    struct db_writer *writer = daemon_session_writer(sim->daemon.session);
    sim->lives = false;
    if (clean && db_writer_flush(writer, PATIENCE_MS) == 0)
        daemon_commands_committed(sim->daemon.commands, db_writer_committed(writer));
    daemon_commands_destroy(sim->daemon.commands);
    int r = daemon_session_close(sim->daemon.session, clean ? PATIENCE_MS : 0, err, sizeof err);
    sim_trace(sim, "end", "", clean ? r : 0, NULL, 0);
    close_loop(sim);
}
