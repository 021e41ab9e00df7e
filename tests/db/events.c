/* The event log is never behind the database: the hook before a commit, and the event that each holds. */
#include <errno.h>
#include <pthread.h>

#include "tests/db/fixture.h"
#include "tests/db/reported.h"
#include "tests/db/sql.h"

/* What the journal holds, and what the hook was asked for; it runs on the writer's thread. */
struct journal {
    pthread_mutex_t lock;
    uint64_t holds, asked, newest;
    unsigned long refused, backwards;
    struct reported reported;
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
    reports_state(&journal->reported, ok, detail);
}

static void hold(struct journal *journal, uint64_t seq)
{
    pthread_mutex_lock(&journal->lock);
    journal->holds = seq;
    pthread_mutex_unlock(&journal->lock);
}

#define STORED_EVENT "SELECT CAST (value AS INTEGER) FROM meta WHERE key = 'event_seq'"

static struct db_writer *open_writer(const char *path, struct journal *journal)
{
    struct db_writer_config config = {.ctx = journal, .state = on_state, .before_commit = before_commit};
    return fixture_writer(path, &config);
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
    char directory[SCRATCH_MAX], path[SCRATCH_PATH_MAX];
    scratch_make(directory);
    snprintf(path, sizeof path, "%s/papertape.db", directory);
    struct journal journal = {.lock = PTHREAD_MUTEX_INITIALIZER, .reported = REPORTS_INIT, .holds = 3};
    struct db_writer *writer = open_writer(path, &journal);
    struct fixture f;

    /* Rows of no event need no event on disk. */
    fixture_open(&f, writer);
    db_writer_put_event(writer, 99); /* outside a group: of nothing */
    db_writer_put_meta(writer, "word", "1");
    CHECK_INT(db_writer_flush(writer, 30000), 0);
    CHECK_INT(journal.asked, 0);
    CHECK_INT(sql_query_file(path, STORED_EVENT), -1);

    /* An event without rows is no transaction; one with rows is noted with them. */
    db_writer_group_begin(writer);
    db_writer_put_event(writer, 1);
    db_writer_group_end(writer);
    trade(&f, 2);
    trade(&f, 3);
    CHECK_INT(db_writer_flush(writer, 30000), 0);
    CHECK_INT(sql_query_file(path, STORED_EVENT), 3);
    CHECK(journal.asked >= 1);
    CHECK_INT(journal.newest, 3);

    /* What the journal does not hold is not committed; what waits goes in once it is there. */
    uint64_t before = db_writer_committed(writer);
    trade(&f, 4);
    CHECK(reports_wait(&journal.reported, &journal.reported.failures, 1));
    CHECK_STR(journal.reported.detail, "the event log does not hold event 4: No space left on device");
    CHECK_INT(db_writer_committed(writer), before);
    CHECK_INT(sql_query_file(path, STORED_EVENT), 3);
    CHECK_INT(sql_query_file(path, "SELECT count(*) FROM fills"), 12);
    db_writer_put_meta(writer, "word", "2");
    trade(&f, 1000);
    hold(&journal, 1000);
    CHECK_INT(db_writer_flush(writer, 30000), 0);
    CHECK(reports_wait(&journal.reported, &journal.reported.recoveries, 1));
    CHECK_INT(sql_query_file(path, STORED_EVENT), 1000);
    CHECK_INT(sql_query_file(path, "SELECT count(*) FROM fills"), 24);
    CHECK_INT(sql_query_file(path, "SELECT count(*) FROM meta WHERE key = 'word' AND value = '2'"), 1);
    CHECK(journal.refused > 0);
    CHECK_INT(journal.backwards, 0);
    fixture_close(writer);
    return check_done("events");
}
