/* Connects, and connects again. */
#include <errno.h>
#include <poll.h>
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

static int cannot(struct study_postgresql *store, char err[static STUDY_ERROR_MAX])
{
    char words[WORDS_MAX];
    words_of(store->conn, words);
    PQfinish(store->conn);
    store->conn = NULL;
    return study_store_fail(&store->sql.base, is_refused(words) ? -EACCES : -ENOTCONN, err,
                            "cannot be opened: %s%s", words,
                            strstr(words, "no password") ? ": PGPASSFILE, or passfile=FILE, is needed" : "");
}

/* True: established. False: it failed, or took too long, with *ret. */
static bool poll_connection(struct study_postgresql *store, int *ret)
{
    double until_s = clock_now_s() + store->params.connect_s;
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

/* A session reads and writes times in UTC, and numbers to the bit. */
static int prepare_session(struct study_postgresql *store, char err[static STUDY_ERROR_MAX])
{
    char text[400], now[STUDY_SQL_TIME];
    if (PQserverVersion(store->conn) < SERVER_LEAST)
        return study_store_fail(&store->sql.base, -EPROTONOSUPPORT, err,
                                "its server is of version %d: 10 or above is needed",
                                PQserverVersion(store->conn) / 10000);
    snprintf(text, sizeof text,
             "SET timezone = 'UTC'; SET datestyle = 'ISO'; SET extra_float_digits = 3; "
             "SET standard_conforming_strings = on; SET lock_timeout = %d; "
             "SET default_transaction_read_only = %s; SELECT clock_timestamp()::timestamp",
             store->busy_ms, store->sql.base.mode == STUDY_STORE_READ ? "on" : "off");
    int r = study_postgresql_ask(store, text, RECORD_INTO(record_into_chars(now, sizeof now)), err);
    if (r == 0)
        store->clock_us = study_sql_time(now) - clock_wall_ns() / 1000;
    return r;
}

/* By default libpq prints what it is notified of. */
static void ignore(void *ctx, const char *notice)
{
    (void)ctx, (void)notice;
}

int study_postgresql_connect(struct study_postgresql *store, char err[static STUDY_ERROR_MAX])
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
    if (poll_connection(store, &r))
        return prepare_session(store, err);
    if (r == -ENOTCONN)
        return cannot(store, err);
    PQfinish(store->conn);
    store->conn = NULL;
    return study_store_fail(&store->sql.base, r == -EINTR ? r : -ENOTCONN, err,
                            r == -EINTR ? "was interrupted" : "cannot be opened: its server does not answer");
}

int study_postgresql_wait(struct study_postgresql *store, char err[static STUDY_ERROR_MAX])
{
    double until_s = clock_now_s() + store->busy_ms * 1e-3;
    unsigned nap_ms = NAP_FIRST_MS;
    for (;;) {
        int r = study_postgresql_connect(store, err);
        if (r != -ENOTCONN && r != -ECONNRESET)
            return r;
        if (clock_now_s() + nap_ms * 1e-3 >= until_s)
            return r == -ECONNRESET ? -ENOTCONN : r;
        /* Workers that lost it at the same time do not all come back at once. */
        unsigned part_ms = nap_ms / 2 + (unsigned)(clock_wall_ns() / 1000) % (nap_ms / 2 + 1);
        for (unsigned slept = 0; slept < part_ms && !study_postgresql_stopped(store); slept += 10)
            usleep(10 * 1000);
        nap_ms = 2 * nap_ms < NAP_MOST_MS ? 2 * nap_ms : NAP_MOST_MS;
    }
}
