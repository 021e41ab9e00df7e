/* A disk in doubt: nothing is stored, and it is not reported to work, before the file was compared and
 * checked, and replaced where it is damaged; a stop that could not finish that reports it. */
#include "db/doubt.h"

#include <errno.h>
#include <string.h>

#include "db/writer.h"
#include "tests/check.h"
#include "tests/db/sql.h"
#include "tests/scratch.h"

enum { PATIENCE_MS = 60000, STEPS_MAX = 64 };

/* The disk, and what was asked of it and reported, in order: m repair, s same, t settle, c check, r rebuild;
 * ! fails, ? checks, R rebuilds, + works. */
static struct {
    int keeps_after; /* so many mends find that the disk does not keep it */
    int damaged;     /* so many checks find the file damaged */
    bool refuses;    /* a rebuild fails */
    char steps[STEPS_MAX];
    int n;
    int doubts;
} disk;

static char path[SCRATCH_PATH_MAX];

static void note(char what)
{
    if (disk.n < STEPS_MAX - 1 && (disk.n == 0 || disk.steps[disk.n - 1] != what))
        disk.steps[disk.n++] = what;
    disk.steps[disk.n] = '\0';
}

static int repair(void *ctx, const char *file)
{
    (void)ctx;
    (void)file;
    note('m');
    return disk.keeps_after-- <= 0;
}

static int same(void *ctx, const char *file)
{
    (void)ctx;
    (void)file;
    note('s');
    return 1;
}

static int settle(void *ctx)
{
    (void)ctx;
    note('t');
    return 0;
}

static int check(void *ctx, char *err, size_t err_size)
{
    (void)ctx;
    note('c');
    snprintf(err, err_size, "page 3 is not there");
    return disk.damaged-- > 0 ? -EBADMSG : 0;
}

static int rebuild(void *ctx, const char *why, uint64_t *ret_event, char *text, size_t text_size)
{
    (void)ctx;
    note('r');
    CHECK_STR(why, "page 3 is not there");
    snprintf(text, text_size, "there is no log");
    *ret_event = 0;
    return disk.refuses ? -ENOENT : 0;
}

static void on_state(void *ctx, bool ok, const char *detail)
{
    (void)ctx;
    (void)detail;
    if (ok)
        note('+');
}

static void on_storing(void *ctx, enum storing storing)
{
    (void)ctx;
    if (storing != STORING_OK)
        note("+!?R"[storing]);
}

static void on_doubt(void *ctx)
{
    (void)ctx;
    disk.doubts++;
}

static const struct db_disk table = {NULL, repair, same, settle};

/* One thread: the same steps each time. */
static int64_t clock_ns(void *ctx)
{
    return *(int64_t *)ctx;
}

static void clock_pass(void *ctx, int64_t until_ns)
{
    *(int64_t *)ctx = until_ns;
}

static int64_t now_ns = 1000000000;
static const struct clock_stepped stepped = {&now_ns, clock_ns, clock_pass};

static struct db_writer *opened(bool can_rebuild)
{
    struct db_writer_config config = {.state = on_state,
                                      .storing = on_storing,
                                      .doubt = on_doubt,
                                      .check = check,
                                      .rebuild = can_rebuild ? rebuild : NULL,
                                      .disk = &table,
                                      .stepped = &stepped};
    struct db_writer *writer = NULL;
    char err[DB_ERROR_MAX] = "";
    disk.n = disk.doubts = 0;
    CHECK_INT(db_writer_open(path, &config, &writer, err, sizeof err), 0);
    CHECK_STR(err, "");
    db_writer_put_meta(writer, "a", "1");
    CHECK_INT(db_writer_flush(writer, PATIENCE_MS), 0);
    CHECK_INT(disk.n, 0);
    return writer;
}

/* Doubts, stores a row and closes; what was done for it. */
static void doubt_once(bool can_rebuild, const char *steps)
{
    struct db_writer *writer = opened(can_rebuild);
    struct db_writer_stats stats;
    char err[DB_ERROR_MAX] = "";
    db_writer_doubt(writer);
    db_writer_put_meta(writer, "a", "2");
    CHECK_INT(db_writer_flush(writer, PATIENCE_MS), 0);
    db_writer_stats(writer, &stats);
    CHECK_INT(db_writer_close(writer, PATIENCE_MS, err, sizeof err), 0);
    CHECK(stats.checked >= 1 && stats.rebuilt == (strchr(steps, 'r') ? 1 : 0));
    CHECK_STR(disk.steps, steps);
    CHECK_INT(sql_query_file(path, "SELECT CAST (value AS INTEGER) FROM meta WHERE key = 'a'"), 2);
}

/* Where nothing is to be stored, the check alone says that it works. */
static void doubt_without_rows(void)
{
    struct db_writer *writer = opened(true);
    char err[DB_ERROR_MAX] = "";
    db_writer_doubt(writer);
    CHECK_INT(db_writer_close(writer, PATIENCE_MS, err, sizeof err), 0);
    CHECK_STR(disk.steps, "?mc+");
}

/* The disk never has what was written: nothing is acknowledged, and the stop says so. */
static void never(void)
{
    struct db_writer *writer = opened(true);
    char err[DB_ERROR_MAX] = "";
    disk.keeps_after = 1 << 20;
    db_writer_doubt(writer);
    CHECK_INT(db_writer_close(writer, 200, err, sizeof err), -EIO);
    CHECK(strstr(err, "could not be checked") && strstr(err, "does not keep"));
    CHECK(strchr(disk.steps, '+') == NULL && strchr(disk.steps, '!') != NULL);
    CHECK_INT(disk.doubts, 0); /* what reported it knows */
    disk.keeps_after = 0;
}

/* It is damaged, and nothing can be built: the same. */
static void hopeless(bool can_rebuild)
{
    struct db_writer *writer = opened(can_rebuild);
    char err[DB_ERROR_MAX] = "";
    disk.damaged = 1 << 20;
    disk.refuses = true;
    db_writer_doubt(writer);
    CHECK_INT(db_writer_close(writer, 200, err, sizeof err), -EIO);
    CHECK(strstr(err, "page 3 is not there") != NULL);
    CHECK(strstr(err, "there is no log") != NULL || !can_rebuild);
    CHECK(strchr(disk.steps, '+') == NULL);
    disk.damaged = 0;
    disk.refuses = false;
}

int main(void)
{
    char directory[SCRATCH_MAX];
    scratch_make(directory);
    snprintf(path, sizeof path, "%s/doubt.db", directory);
    doubt_once(true, "?mcst+");
    disk.keeps_after = 3;
    doubt_once(true, "?m!?m!?m!?mcst+");
    disk.damaged = 1;
    doubt_once(true, "?mcRrst+");
    never();
    doubt_without_rows();
    hopeless(true);
    hopeless(false);
    return check_done("doubt");
}
