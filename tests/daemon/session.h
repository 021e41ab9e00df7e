/* A session that a test opens, begins and closes: with a loop of its own, and hooks that do nothing but the
 * test's for alerts. */
#ifndef TESTS_DAEMON_SESSION_H
#define TESTS_DAEMON_SESSION_H

#include "daemon/session_internal.h"
#include "tests/check.h"

enum { SESSION_CLOSE_TIMEOUT_MS = 60000 };

static struct daemon_config config;
static struct session *session;
static uv_loop_t loop;

static inline void session_no_snapshot(void *ctx, int at)
{
    (void)ctx, (void)at;
}

static inline void session_no_bars(void *ctx, int at, int64_t from_open_ns, int64_t to_open_ns)
{
    (void)ctx, (void)at, (void)from_open_ns, (void)to_open_ns;
}

static inline void session_nothing(void *ctx)
{
    (void)ctx;
}

static inline void session_open(const struct state_dir *state,
                                void (*alert)(void *ctx, const struct alert *alert, int64_t closed_ns))
{
    const struct session_hooks hooks = {.need_snapshot = session_no_snapshot,
                                        .need_bars = session_no_bars,
                                        .log_replaced = session_nothing,
                                        .storage_failing = session_nothing,
                                        .commands_redone = session_nothing,
                                        .alert = alert};
    char err[SESSION_ERROR_MAX] = "";
    CHECK_INT(daemon_session_open(&loop, &config, state, &hooks, &session, err, sizeof err), 0);
    CHECK_STR(err, "");
}

static inline void session_begin(const struct symbol *symbols, int n, int64_t now_ns)
{
    char err[SESSION_ERROR_MAX] = "";
    CHECK_INT(daemon_session_begin(session, symbols, n, now_ns, err, sizeof err), 0);
    CHECK_STR(err, "");
}

static inline void session_close(void)
{
    char err[SESSION_ERROR_MAX] = "";
    CHECK_INT(daemon_session_close(session, SESSION_CLOSE_TIMEOUT_MS, err, sizeof err), 0);
    uv_run(&loop, UV_RUN_DEFAULT);
}

#endif
