/* When the daemon ran, into the table `runs`: it began with its log's first state, says now and then that it
 * is alive, and ends with its last state. Of a run before, which the log is played of, what that says. */
#include "daemon/session_internal.h"
#include "engine/replay.h"

static void put(struct session *session, int64_t alive_ns, enum db_run_state state)
{
    const struct db_run row = {
        .run = session->run, .began_ns = session->run_began_ns, .alive_ns = alive_ns, .state = state};
    session->run_alive_ns = alive_ns;
    db_writer_put_run(session->writer, &row);
}

void daemon_session_run_begin(struct session *session)
{
    session->run_began_ns = session->now_ns;
    put(session, session->now_ns, DB_RUN_RUNNING);
}

void daemon_session_run_alive(struct session *session)
{
    if (!session->engine || !session->writer || session->run_began_ns == 0)
        return;
    int64_t now_ns = daemon_session_now(session);
    if (now_ns - session->run_alive_ns >= DB_RUN_ALIVE_NS)
        put(session, now_ns, DB_RUN_RUNNING);
}

void daemon_session_run_end(struct session *session)
{
    put(session, session->now_ns, DB_RUN_STOPPED);
}

void daemon_session_run_played(void *ctx, const struct replay_run *run)
{
    struct session *session = ctx;
    const struct db_run row = {.run = run->number,
                               .began_ns = run->began_ns,
                               .alive_ns = run->last_ns,
                               .state = run->stopped ? DB_RUN_STOPPED : DB_RUN_KILLED};
    if (run->number > 0 && run->last_ns >= run->began_ns)
        db_writer_put_run(session->writer, &row);
}
