/* The event log is never behind the database: the hook before a commit, and the event that each holds. */
#include <errno.h>
#include <pthread.h>
#include <sqlite3.h>
#include <time.h>

#include "tests/db/fixture.h"

/* What the journal holds, and what the hook was asked for; it runs on the writer's thread. */
struct journal {
    pthread_mutex_t lock;
    uint64_t holds, asked, newest;
    unsigned long refused, backwards;
    char detail[DB_ERROR_MAX];
    int failures, recoveries;
};

static int before_commit(void *ctx, uint64_t event_seq)
{
    struct journal *journal = ctx;
    pthread_mutex_lock(&journal->lock);
    journal->asked++;
    journal->backwards += event_seq < journal->newest;
    journal->newest = event_seq;
    bool refuse = event_seq > journal->holds;
    journal->refused += refuse;
    pthread_mutex_unlock(&journal->lock);
    return refuse ? -ENOSPC : 0;
}

static void on_state(void *ctx, bool ok, const char *detail)
{
    struct journal *journal = ctx;
    pthread_mutex_lock(&journal->lock);
    if (ok)
        journal->recoveries++;
    else
        journal->failures++;
    snprintf(journal->detail, sizeof journal->detail, "%s", detail);
    pthread_mutex_unlock(&journal->lock);
}

static void hold(struct journal *journal, uint64_t seq)
{
    pthread_mutex_lock(&journal->lock);
    journal->holds = seq;
    pthread_mutex_unlock(&journal->lock);
}

static bool wait_for(struct journal *journal, const int *counter, int wanted)
{
    struct timespec pause = {.tv_nsec = 2000000};
    for (int i = 0; i < 15000; i++) {
        pthread_mutex_lock(&journal->lock);
        bool there = *counter >= wanted;
        pthread_mutex_unlock(&journal->lock);
        if (there)
            return true;
        nanosleep(&pause, NULL);
    }
    return false;
}

static int64_t query(const char *path, const char *sql)
{
    sqlite3 *db;
    sqlite3_stmt *stmt;
    int64_t value = -1;
    CHECK_INT(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    CHECK_INT(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
    if (sqlite3_step(stmt) == SQLITE_ROW)
        value = sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    sqlite3_close(db);
    return value;
}

#define STORED_EVENT "SELECT CAST (value AS INTEGER) FROM meta WHERE key = 'event_seq'"

static struct db_writer *open_writer(const char *path, struct journal *journal)
{
    struct db_writer_config config = {.ctx = journal, .state = on_state, .before_commit = before_commit};
    struct db_writer *writer = NULL;
    char err[DB_ERROR_MAX] = "";
    if (db_writer_open(path, &config, &writer, err, sizeof err) != 0) {
        fprintf(stderr, "%s: %s\n", path, err);
        exit(EXIT_FAILURE);
    }
    return writer;
}

static void trade(struct fixture *f, uint64_t event)
{
    db_writer_group_begin(f->writer);
    db_writer_put_event(f->writer, event);
    fixture_trade(f);
    db_writer_group_end(f->writer);
}

int main(void)
{
    char directory[64], path[128], err[DB_ERROR_MAX] = "";
    fixture_directory(directory);
    snprintf(path, sizeof path, "%s/papertape.db", directory);
    struct journal journal = {.lock = PTHREAD_MUTEX_INITIALIZER, .holds = 3};
    struct db_writer *writer = open_writer(path, &journal);
    struct fixture f;

    /* Rows of no event ask nobody. */
    fixture_open(&f, writer);
    db_writer_put_event(writer, 99); /* outside a group: of nothing */
    db_writer_put_meta(writer, "word", "1");
    CHECK_INT(db_writer_flush(writer, 30000), 0);
    CHECK_INT(journal.asked, 0);
    CHECK_INT(query(path, STORED_EVENT), -1);

    /* An event without rows is no transaction; one with rows is noted with them. */
    db_writer_group_begin(writer);
    db_writer_put_event(writer, 1);
    db_writer_group_end(writer);
    trade(&f, 2);
    trade(&f, 3);
    CHECK_INT(db_writer_flush(writer, 30000), 0);
    CHECK_INT(query(path, STORED_EVENT), 3);
    CHECK(journal.asked >= 1);
    CHECK_INT(journal.newest, 3);

    /* What the journal does not hold is not committed; what waits goes in once it is there. */
    uint64_t before = db_writer_committed(writer);
    trade(&f, 4);
    CHECK(wait_for(&journal, &journal.failures, 1));
    CHECK_STR(journal.detail, "the event log does not hold event 4: No space left on device");
    CHECK_INT(db_writer_committed(writer), before);
    CHECK_INT(query(path, STORED_EVENT), 3);
    CHECK_INT(query(path, "SELECT count(*) FROM fills"), 12);
    db_writer_put_meta(writer, "word", "2");
    trade(&f, 1000);
    hold(&journal, 1000);
    CHECK_INT(db_writer_flush(writer, 30000), 0);
    CHECK(wait_for(&journal, &journal.recoveries, 1));
    CHECK_INT(query(path, STORED_EVENT), 1000);
    CHECK_INT(query(path, "SELECT count(*) FROM fills"), 24);
    CHECK_INT(query(path, "SELECT count(*) FROM meta WHERE key = 'word' AND value = '2'"), 1);
    CHECK(journal.refused > 0);
    CHECK_INT(journal.backwards, 0);
    CHECK_INT(db_writer_close(writer, 30000, err, sizeof err), 0);
    fixture_remove(directory);
    return check_done("events");
}
