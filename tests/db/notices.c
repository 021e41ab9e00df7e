/* notify.db: what is stored once, accepted once and read again; a file that is damaged, another program's or
 * newer. */
#include "db/notices.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/check.h"

#define DAY (INT64_C(86400) * 1000000000)

static char folder[] = "/tmp/papertape-notices-XXXXXX", path[128], err[600];
static bool aside;
static const char *const both[] = {"one", "two"};

static struct db_notices *reopen(struct db_notices *before)
{
    struct db_notices *notices = NULL;
    db_notices_close(before);
    CHECK_INT(db_notices_open(path, 100 * DAY, &notices, &aside, err, sizeof err), 0);
    return notices;
}

static struct db_notice notice_of(uint64_t alert, enum db_notice_state state, enum db_severity severity)
{
    struct db_notice notice = {.alert = alert,
                               .state = state,
                               .severity = severity,
                               .lasts = true,
                               .raised_ns = DAY + (int64_t)alert};
    notice.over_ns = state == DB_NOTICE_RECOVERED ? 2 * DAY : 0;
    snprintf(notice.key, sizeof notice.key, "%llu-%d-%d", (unsigned long long)alert, state, severity);
    snprintf(notice.rule, sizeof notice.rule, "DISK");
    snprintf(notice.text, sizeof notice.text, "disk: /x: %llu %%", (unsigned long long)alert);
    return notice;
}

static int put(struct db_notices *notices, uint64_t alert, enum db_notice_state state,
               enum db_severity severity)
{
    struct db_notice notice = notice_of(alert, state, severity);
    int r = db_notices_severity(notices, &notice);
    return r == 0 ? db_notices_put(notices, &notice, both, 2) : r;
}

static char seen[256];
static struct db_notice last;

static void see(void *ctx, const struct db_notice *notice)
{
    size_t n = strlen(seen);
    (void)ctx;
    snprintf(seen + n, sizeof seen - n, " %llu%c%d", (unsigned long long)notice->alert,
             notice->state ? '.' : '!', notice->severity);
    last = *notice;
}

static const char *pending(struct db_notices *notices, const char *sink)
{
    seen[0] = '\0';
    CHECK_INT(db_notices_pending(notices, sink, see, NULL), 0);
    return seen;
}

static const char *lasting(struct db_notices *notices)
{
    seen[0] = '\0';
    CHECK_INT(db_notices_lasting(notices, see, NULL), 0);
    return seen;
}

static void test_notices(void)
{
    char instance[DB_NOTICE_INSTANCE_MAX];
    struct db_notices *notices = reopen(NULL);
    struct stat st;
    CHECK(db_notices_is_new(notices) && !aside);
    CHECK(stat(path, &st) == 0 && (st.st_mode & 07777 & ~0640) == 0);
    snprintf(instance, sizeof instance, "%s", db_notices_instance(notices));
    CHECK_INT((int64_t)strlen(instance), 16);
    CHECK_INT(put(notices, 7, DB_NOTICE_RAISED, DB_WARNING), 0);
    CHECK_INT(put(notices, 7, DB_NOTICE_RAISED, DB_WARNING), 1);    /* again */
    CHECK_INT(put(notices, 7, DB_NOTICE_RAISED, DB_ERROR), 0);      /* worse */
    CHECK_INT(put(notices, 7, DB_NOTICE_RAISED, DB_WARNING), 1);    /* better is no news */
    CHECK_INT(put(notices, 8, DB_NOTICE_RECOVERED, DB_WARNING), 1); /* no begin was sent */
    CHECK_INT(put(notices, 9, DB_NOTICE_RAISED, DB_INFO), 0);
    CHECK_STR(pending(notices, "one"), " 7!1 7!2 9!0");
    CHECK_STR(last.text, "disk: /x: 9 %");
    CHECK_STR(last.rule, "DISK");
    CHECK_STR(last.key, "9-0-0");
    CHECK_INT(last.raised_ns, DAY + 9);
    CHECK_INT(db_notices_accepted(notices, last.id, "one"), 0);
    CHECK_STR(pending(notices, "one"), " 7!1 7!2");
    CHECK_STR(pending(notices, "two"), " 7!1 7!2 9!0");
    CHECK_STR(lasting(notices), " 7!2 9!0");
    CHECK_INT(put(notices, 7, DB_NOTICE_RECOVERED, DB_WARNING), 0);
    CHECK_STR(pending(notices, "one"), " 7!1 7!2 7.2"); /* as severe as the worst */
    CHECK_STR(lasting(notices), " 9!0");

    notices = reopen(notices);
    CHECK(!db_notices_is_new(notices));
    CHECK_STR(db_notices_instance(notices), instance);
    CHECK_INT((int64_t)db_notices_last_alert(notices), 9);
    CHECK_STR(pending(notices, "two"), " 7!1 7!2 9!0 7.2");
    int64_t since_ns;
    for (int i = 0; i < 2; i++)
        CHECK_INT(db_notices_put_failing(notices, both[i], 5 + i), 0);
    CHECK_INT(db_notices_keep_sinks(notices, both, 1), 4);
    CHECK(db_notices_failing(notices, "one", &since_ns) == 0 && since_ns == 5);
    CHECK(db_notices_failing(notices, "two", &since_ns) == 0 && since_ns == 0); /* it is gone */
    CHECK_STR(pending(notices, "two"), "");
    CHECK_STR(pending(notices, "one"), " 7!1 7!2 7.2");
    db_notices_close(notices);
}

static void test_except(void)
{
    struct db_notices *notices = reopen(NULL);
    struct db_notice notice = notice_of(20, DB_NOTICE_RAISED, DB_WARNING);
    snprintf(notice.except, sizeof notice.except, "one");
    CHECK_INT(db_notices_begin(notices), 0);
    CHECK_INT(db_notices_put(notices, &notice, both, 2), 0);
    CHECK_INT(db_notices_commit(notices), 0);
    CHECK_STR(pending(notices, "two"), " 20!1");
    CHECK(!strstr(pending(notices, "one"), "20"));
    db_notices_close(notices);
}

/* What is delivered, over and old goes; the newest number stays known. */
static void test_prune(void)
{
    struct db_notices *notices = reopen(NULL);
    CHECK_INT(db_notices_keep_sinks(notices, NULL, 0), 4);
    CHECK_INT(db_notices_prune(notices, 31 * DAY), 0);
    CHECK_INT(put(notices, 7, DB_NOTICE_RAISED, DB_ERROR), 1); /* not old yet */
    CHECK_INT(db_notices_prune(notices, 40 * DAY), 0);
    CHECK_INT(put(notices, 9, DB_NOTICE_RAISED, DB_INFO), 1);     /* it lasts */
    CHECK_INT(put(notices, 7, DB_NOTICE_RECOVERED, DB_ERROR), 1); /* it is gone */
    notices = reopen(notices);
    CHECK_INT((int64_t)db_notices_last_alert(notices), 20);
    db_notices_close(notices);
}

static void write_file(const char *text)
{
    FILE *file = fopen(path, "w");
    if (!file || fputs(text, file) < 0 || fclose(file) != 0)
        abort();
}

static void execute(const char *sql)
{
    sqlite3 *db;
    if (sqlite3_open(path, &db) != SQLITE_OK || sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        abort();
    sqlite3_close(db);
}

static void test_faults(void)
{
    char other[200];
    struct db_notices *notices = NULL;
    write_file(
        "not a database, but long enough to be looked at as one, with more than a hundred bytes of text in it: "
        "so many");
    notices = reopen(NULL);
    CHECK(aside && db_notices_is_new(notices));
    snprintf(other, sizeof other, "%s.damaged-%lld", path, 100LL * 86400);
    CHECK(access(other, F_OK) == 0 && unlink(other) == 0);
    db_notices_close(notices);
    execute("PRAGMA application_id = 5");
    notices = reopen(NULL);
    CHECK(aside);
    CHECK(unlink(other) == 0);
    db_notices_close(notices);
    execute("PRAGMA user_version = 2");
    CHECK_INT(db_notices_open(path, 0, &notices, &aside, err, sizeof err), -EOVERFLOW);
    CHECK(!aside && strstr(err, "update papertape") && strstr(err, path));
    CHECK(unlink(path) == 0);
    CHECK_INT(db_notices_open("/nonexistent/notify.db", 0, &notices, &aside, err, sizeof err), -ENOENT);
    CHECK(symlink("/etc/passwd", path) == 0); /* not followed */
    CHECK(db_notices_open(path, 0, &notices, &aside, err, sizeof err) < 0 && !aside);
    CHECK(unlink(path) == 0);
}

int main(void)
{
    char command[200];
    if (!mkdtemp(folder))
        abort();
    snprintf(path, sizeof path, "%s/notify.db", folder);
    test_notices();
    test_except();
    test_prune();
    snprintf(command, sizeof command, "%s-wal", path);
    unlink(command);
    snprintf(command, sizeof command, "%s-shm", path);
    unlink(command);
    unlink(path);
    test_faults();
    rmdir(folder);
    return check_done("db/notices");
}
