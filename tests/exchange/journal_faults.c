/* Every call to the file system fails once: nothing acknowledged is lost, a put that failed can be put again,
 * and what a process that died there left behind opens and continues. Exhaustive: for each n, the n-th
 * call. */
#include "exchange/journal/files.h"
#include "tests/exchange/journal.h"

enum { RECORDS = 30, STATES = 8, EACH = 5, TRIES = 12 };

struct faulty {
    struct journal_files files;
    long calls, fail_at, failures; /* the fail_at-th call fails, and those after it, `failures` in all */
    int error;
    bool half; /* of a write that fails, half is written */
    bool fired;
};

static char err[JOURNAL_ERROR_MAX];

static int fault(struct faulty *faulty)
{
    long call = ++faulty->calls;
    bool fails = call >= faulty->fail_at && call < faulty->fail_at + faulty->failures;
    faulty->fired |= fails;
    return fails ? faulty->error : 0;
}

static int faulty_open(void *ctx, int dir, const char *name, int flags)
{
    int r = fault(ctx);
    return r < 0 ? r : journal_files_system.open(NULL, dir, name, flags);
}

static ssize_t faulty_read(void *ctx, int fd, void *bytes, size_t len, int64_t at)
{
    int r = fault(ctx);
    return r < 0 ? r : journal_files_system.read(NULL, fd, bytes, len > 7 ? len - len / 3 : len, at);
}

static ssize_t faulty_write(void *ctx, int fd, const void *bytes, size_t len, int64_t at)
{
    struct faulty *faulty = ctx;
    int r = fault(faulty);
    if (r < 0 && faulty->half && len > 1)
        journal_files_system.write(NULL, fd, bytes, len / 2, at);
    return r < 0 ? r : journal_files_system.write(NULL, fd, bytes, len > 20 ? len - len / 3 : len, at);
}

static int faulty_sync(void *ctx, int fd)
{
    int r = fault(ctx);
    (void)fd; /* the disk is not what is tried here */
    return r;
}

static int faulty_cut(void *ctx, int fd, int64_t size)
{
    int r = fault(ctx);
    return r < 0 ? r : journal_files_system.cut(NULL, fd, size);
}

static int faulty_rename(void *ctx, int dir, const char *from, const char *to)
{
    int r = fault(ctx);
    return r < 0 ? r : journal_files_system.rename(NULL, dir, from, to);
}

static int faulty_remove(void *ctx, int dir, const char *name)
{
    int r = fault(ctx);
    return r < 0 ? r : journal_files_system.remove(NULL, dir, name);
}

static void faulty_init(struct faulty *faulty, long fail_at, long failures, int error, bool half)
{
    *faulty = (struct faulty){.fail_at = fail_at, .failures = failures, .error = error, .half = half};
    faulty->files = (struct journal_files){faulty,      faulty_open, faulty_read,   faulty_write,
                                           faulty_sync, faulty_cut,  faulty_rename, faulty_remove};
}

static const struct journal_writer_config config = {.dir = journal_dir, .block_bytes = 150, .sync = true};

/* Puts all records; every put that fails is put again. True when all are in. */
static bool put_all(struct faulty *faulty, struct journal_writer *writer, struct making *making)
{
    struct journal_batch batch;
    bool in = true;
    journal_batch_init(&batch);
    while (in && making->i < RECORDS) {
        journal_batch_clear(&batch);
        for (int i = 0; i < EACH && making->i < RECORDS; i++)
            journal_batch_add(&batch, making_next(making));
        int r, tries = 0;
        while ((r = journal_writer_put(writer, &batch)) < 0 && tries++ < TRIES)
            CHECK_INT(r, faulty->error);
        in = r == 0;
    }
    journal_batch_finish(&batch);
    return in;
}

/* A disk that is full, or fails, for a while. Returns whether the fault came at all. */
static bool try_again(long n, long failures, int error, bool half)
{
    struct faulty faulty;
    struct journal_writer *writer = NULL;
    struct journal_tail tail;
    struct making making = making_begin(STATES);
    struct journal_summary sum;
    uint64_t records;
    journal_dir_clear();
    faulty_init(&faulty, n, failures, error, half);
    int r, tries = 0;
    while ((r = journal_writer_open_on(&faulty.files, &config, &writer, &tail, err, sizeof err)) < 0 &&
           tries++ < TRIES)
        CHECK_INT(r, error);
    CHECK_INT(r, 0);
    if (r < 0)
        return false;
    CHECK(put_all(&faulty, writer, &making));
    CHECK_INT(journal_read_all(STATES, &records, err), 0); /* while the writer stands */
    CHECK_INT(records, RECORDS);
    journal_writer_close(writer);
    CHECK_INT(journal_verify(journal_dir, &sum, err, sizeof err), 0);
    CHECK_INT(sum.records, RECORDS);
    CHECK_INT(sum.holes + sum.torn_bytes, 0);
    return faulty.fired;
}

/* A process that dies at the n-th call. */
static bool die_at(long n, bool half)
{
    struct faulty faulty;
    struct journal_writer *writer = NULL;
    struct journal_tail tail;
    struct making making = making_begin(STATES);
    struct journal_batch batch;
    uint64_t acknowledged = 0, records;
    journal_dir_clear();
    faulty_init(&faulty, n, 1000000, -EIO, half);
    int r = journal_writer_open_on(&faulty.files, &config, &writer, &tail, err, sizeof err);
    journal_batch_init(&batch);
    while (r == 0 && making.i < RECORDS) {
        journal_batch_clear(&batch);
        for (int i = 0; i < EACH && making.i < RECORDS; i++)
            journal_batch_add(&batch, making_next(&making));
        r = journal_writer_put(writer, &batch);
        if (r == 0)
            acknowledged = making.i;
    }
    journal_batch_finish(&batch);
    journal_writer_close(writer);

    r = journal_read_all(STATES, &records, err);
    CHECK(r == 0 || (r == -ENOENT && acknowledged == 0));
    CHECK(records >= acknowledged && records <= making.i);
    CHECK_INT(journal_writer_open(&config, &writer, &tail, err, sizeof err), 0);
    struct making again = making_begin(STATES);
    for (uint64_t i = 0; i < records; i++)
        making_next(&again);
    CHECK_INT(tail.last_seq, records > 0 ? again.seq : 0);
    while (again.i % STATES != 0) /* to the next state: a new run begins */
        making_next(&again);
    journal_put(writer, &again, STATES, EACH);
    journal_writer_close(writer);
    struct journal_summary sum;
    CHECK_INT(journal_verify(journal_dir, &sum, err, sizeof err), 0);
    CHECK_INT(sum.records, records + STATES);
    return faulty.fired;
}

/* Opening a journal that has a torn tail: the cut itself fails. */
static bool cut_fails(long n, int error)
{
    struct faulty faulty;
    struct journal_writer *writer = NULL;
    struct journal_tail tail;
    uint64_t records, before;
    journal_make(RECORDS, STATES, EACH, 0);
    journal_find();
    struct bytes file = bytes_read(journal_newest_path);
    bytes_write(journal_newest_path, file.bytes, file.len - 10);
    free(file.bytes);
    CHECK_INT(journal_read_all(STATES, &before, err), 0);
    faulty_init(&faulty, n, 1, error, true);
    int r = journal_writer_open_on(&faulty.files, &config, &writer, &tail, err, sizeof err);
    CHECK(r == 0 || r == error);
    if (r < 0) {
        CHECK_INT(journal_read_all(STATES, &records, err), 0);
        CHECK_INT(records, before);
        CHECK_INT(journal_writer_open(&config, &writer, &tail, err, sizeof err), 0);
    }
    journal_writer_close(writer);
    struct journal_summary sum;
    CHECK_INT(journal_verify(journal_dir, &sum, err, sizeof err), 0);
    CHECK_INT(sum.records, before);
    CHECK_INT(sum.torn_bytes, 0);
    return faulty.fired;
}

/* What is read in vain is an error, never an end. */
static bool read_fails(long n)
{
    struct faulty faulty;
    struct journal_reader *reader;
    struct making making = making_begin(STATES);
    uint64_t records;
    faulty_init(&faulty, n, 1, -EIO, false);
    int r = journal_reader_open_on(&faulty.files, journal_dir, &reader, err, sizeof err);
    if (r == 0) {
        r = journal_read(reader, &making, &records);
        journal_reader_close(reader);
    }
    CHECK_INT(r, faulty.fired ? -EIO : 0);
    return faulty.fired;
}

int main(void)
{
    long n, most = 0;
    journal_dir_make();
    for (int half = 0; half < 2; half++)
        for (long failures = 1; failures <= 4; failures++)
            for (n = 1; try_again(n, failures, half ? -ENOSPC : -EIO, half); n++)
                most = n > most ? n : most;
    for (int half = 0; half < 2; half++)
        for (n = 1; die_at(n, half); n++)
            ;
    for (n = 1; cut_fails(n, -EIO); n++)
        ;
    for (n = 1; cut_fails(n, -ENOSPC); n++)
        ;
    journal_make(RECORDS, STATES, EACH, 0);
    for (n = 1; read_fails(n); n++)
        ;
    printf("journal_faults: %ld calls, each of which failed\n", most);
    CHECK(most > 20);
    return check_done("journal_faults");
}
