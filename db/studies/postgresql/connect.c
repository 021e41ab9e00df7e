/* Connects, and connects again. */
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "db/studies/postgresql/postgresql_store.h"
#include "exchange/clock.h"

enum {
    SERVER_LEAST = 100000, /* 10: txid_status() */
    NAP_FIRST_MS = 50,
    NAP_MOST_MS = 2000,
    ATTEMPT_LEAST_S = 1, /* the last one */
    WORDS_MAX = 400,
};

bool study_postgresql_connected(const struct study_postgresql *store)
{
    return store->conn && PQstatus(store->conn) == CONNECTION_OK;
}

/* libpq's words, in one line. With sslmode=prefer it has tried twice, and says what was refused twice. */
static void words_of(const PGconn *conn, char ret[static WORDS_MAX])
{
    snprintf(ret, WORDS_MAX, "%s", conn ? PQerrorMessage(conn) : "no memory");
    size_t first = strcspn(ret, "\n");
    if (ret[first] && strncmp(ret + first + 1, ret, first) == 0)
        ret[first] = '\0';
    for (char *at = ret; *at; at++)
        if (*at == '\n' || *at == '\t')
            *at = ' ';
    for (size_t n = strlen(ret); n > 0 && ret[n - 1] == ' '; n--)
        ret[n - 1] = '\0';
}

static bool has_any(const char *words, const char *const *list)
{
    for (; *list; list++)
        if (strstr(words, *list))
            return true;
    return false;
}

/* Refused for good, and not because the server starts, stops, is full or is not there? Words of another
 * language are tried again, which ends with the time-out. */
static bool is_refused(const char *words)
{
    static const char *const passing[] = {"starting up", "shutting down", "recovery",
                                          "too many",    "remaining",     NULL};
    static const char *const final[] = {"FATAL",       "password",  "certificate", "does not match",
                                        "support SSL", "not found", "invalid",     NULL};
    return has_any(words, final) && !has_any(words, passing);
}

/* Has its host no address? Of a server that was reached before that passes, as a failing name server does. */
static bool is_nowhere(const struct study_postgresql *store, const char *words)
{
    return !store->reached && strstr(words, "could not translate") && !strstr(words, "Temporary failure");
}

/* 53300, whose number libpq does not give. */
static bool is_full(const char *words)
{
    static const char *const full[] = {"too many clients", "too many connections",
                                       "remaining connection slots", NULL};
    return has_any(words, full);
}

static int cannot(struct study_postgresql *store, char err[static STUDY_ERROR_MAX])
{
    char words[WORDS_MAX];
    words_of(store->conn, words);
    PQfinish(store->conn);
    store->conn = NULL;
    int r = is_full(words) ? -EUSERS : is_refused(words) || is_nowhere(store, words) ? -EACCES : -ENOTCONN;
    return study_store_fail(&store->sql.base, r, err, "cannot be opened: %s%s", words,
                            strstr(words, "no password") ? ": PGPASSFILE, or passfile=FILE, is needed"
                            : r == -EUSERS
                                ? ": fewer workers, or more connections of the server (max_connections) and "
                                  "the role, are needed"
                                : "");
}

/* True: established. False: it failed, or took too long, with *ret. */
static bool poll_connection(struct study_postgresql *store, double most_s, int *ret)
{
    double until_s = clock_now_s() + (most_s < store->params.connect_s ? most_s : store->params.connect_s);
    PostgresPollingStatusType what = PGRES_POLLING_WRITING;
    *ret = -ENOTCONN;
    if (!store->conn || PQstatus(store->conn) == CONNECTION_BAD)
        return false;
    for (; what != PGRES_POLLING_OK && what != PGRES_POLLING_FAILED; what = PQconnectPoll(store->conn)) {
        struct pollfd fd = {.fd = PQsocket(store->conn),
                            .events = what == PGRES_POLLING_READING ? POLLIN : POLLOUT};
        int ready = 0;
        while (ready == 0 && !study_postgresql_stopped(store) && clock_now_s() < until_s)
            ready = poll(&fd, 1, STUDY_POSTGRESQL_LOOK_MS);
        if (ready == 0) {
            *ret = study_postgresql_stopped(store) ? -EINTR : -ETIMEDOUT;
            return false;
        }
    }
    return what == PGRES_POLLING_OK;
}

/* A session reads and writes times in UTC, and numbers to the bit. A server that has started has kept workers
 * away before; one whose connection was waited for may have. */
static int prepare_session(struct study_postgresql *store, char err[static STUDY_ERROR_MAX])
{
    char text[480], now[STUDY_SQL_TIME], started[STUDY_SQL_TIME];
    if (PQserverVersion(store->conn) < SERVER_LEAST)
        return study_store_fail(&store->sql.base, -EPROTONOSUPPORT, err,
                                "its server is of version %d: 10 or above is needed",
                                PQserverVersion(store->conn) / 10000);
    snprintf(text, sizeof text,
             "SET timezone = 'UTC'; SET datestyle = 'ISO'; SET extra_float_digits = 3; "
             "SET standard_conforming_strings = on; SET lock_timeout = %d; "
             "SET default_transaction_read_only = %s; SELECT clock_timestamp()::timestamp, "
             "pg_postmaster_start_time()::timestamp",
             store->busy_ms, store->sql.base.mode == STUDY_STORE_READ ? "on" : "off");
    int r = study_postgresql_ask(
        store, text,
        RECORD_INTO(record_into_chars(now, sizeof now), record_into_chars(started, sizeof started)), err);
    if (r < 0)
        return r;
    store->clock_us = study_sql_time(now) - clock_wall_ns() / 1000;
    store->reached = true;
    int64_t since_us = study_sql_time(store->waited ? now : started);
    if (since_us > store->judges_us)
        store->judges_us = since_us;
    return 0;
}

bool study_postgresql_judges(const struct study_sql *sql, double grace_s)
{
    const struct study_postgresql *store = (const struct study_postgresql *)sql;
    return (double)(sql->driver->now_us(sql) - store->judges_us) >= grace_s * 1e6;
}

/* By default libpq prints what it is notified of. */
static void ignore(void *ctx, const char *notice)
{
    (void)ctx, (void)notice;
}

static int attempt(struct study_postgresql *store, double most_s, char err[static STUDY_ERROR_MAX])
{
    int r;
    study_postgresql_drop_later(store);
    if (store->conn) {
        study_postgresql_forget(store);
        PQfinish(store->conn);
    }
    memset(store->prepared, 0, sizeof store->prepared);
    store->listens = store->readied = false;
    store->conn = PQconnectStartParams(store->params.keys, store->params.values, 0);
    if (store->conn)
        PQsetNoticeProcessor(store->conn, ignore, NULL);
    if (poll_connection(store, most_s, &r))
        return prepare_session(store, err);
    if (r == -ENOTCONN)
        return cannot(store, err);
    PQfinish(store->conn);
    store->conn = NULL;
    return study_store_fail(&store->sql.base, r == -EINTR ? r : -ENOTCONN, err,
                            r == -EINTR ? "was interrupted" : "cannot be opened: its server does not answer");
}

int study_postgresql_connect(struct study_postgresql *store, char err[static STUDY_ERROR_MAX])
{
    store->waited = false;
    return attempt(store, store->params.connect_s, err);
}

/* ---- Waiting. ---- */

static void say(const struct study_postgresql *store, int error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void say(const struct study_postgresql *store, int error, const char *format, ...)
{
    const struct study_store_waits *waits = &store->sql.base.waits;
    char words[STUDY_ERROR_MAX + 128];
    va_list args;
    if (!waits->said)
        return;
    va_start(args, format);
    vsnprintf(words, sizeof words, format, args);
    va_end(args);
    waits->said(waits->ctx, error, words);
}

/* Workers that lost it at the same time do not all come back at once. */
static void nap(struct study_postgresql *store, unsigned most_ms, double left_s)
{
    unsigned part_ms = most_ms / 2 + (unsigned)(clock_wall_ns() / 1000) % (most_ms / 2 + 1);
    if (part_ms * 1e-3 > left_s)
        part_ms = (unsigned)(left_s * 1e3) + 1; /* the last attempt is at the end of the time-out */
    for (unsigned slept = 0; slept < part_ms && !study_postgresql_stopped(store); slept += 10)
        usleep(10 * 1000);
}

static bool passes(int r)
{
    return r == -ENOTCONN || r == -ECONNRESET || r == -EUSERS;
}

/* One of a wait that began at store->lost_s. */
static int attempt_again(struct study_postgresql *store, double left_s, bool *said,
                         char err[static STUDY_ERROR_MAX])
{
    int r = attempt(store, left_s > ATTEMPT_LEAST_S ? left_s : ATTEMPT_LEAST_S, err);
    if (r == 0 && *said)
        say(store, 0, "%s: the connection is there again, after %.0f s", store->sql.base.url,
            clock_now_s() - store->lost_s);
    else if (passes(r) && (!*said || (r == -EUSERS && !store->full)))
        say(store, r == -EUSERS ? r : -ENOTCONN, "%s; it is waited for, %g s at most", err,
            store->busy_ms * 1e-3);
    *said = true;
    store->full = store->full || r == -EUSERS;
    return r == -ECONNRESET ? -ENOTCONN : r;
}

int study_postgresql_wait(struct study_postgresql *store, char err[static STUDY_ERROR_MAX])
{
    bool said = store->lost_s > 0; /* by an earlier call, whose time-out it is */
    if (!said) {
        store->lost_s = clock_now_s();
        store->full = false;
    }
    store->waited = store->reached || said;
    double until_s = store->lost_s + store->busy_ms * 1e-3;
    for (unsigned nap_ms = NAP_FIRST_MS;; nap_ms = 2 * nap_ms < NAP_MOST_MS ? 2 * nap_ms : NAP_MOST_MS) {
        int r = attempt_again(store, until_s - clock_now_s(), &said, err);
        double left_s = until_s - clock_now_s();
        if (r == 0)
            store->lost_s = 0;
        if (!passes(r) || left_s <= 0)
            return r;
        store->waited = true;
        nap(store, nap_ms, left_s);
    }
}
