/* Writing and reading: what was put comes back, through segments, rotation, retention and several runs. */
#include "tests/exchange/journal.h"

static char err[JOURNAL_ERROR_MAX];

static struct journal_writer *open_writer(const struct journal_writer_config *config,
                                          struct journal_tail *tail)
{
    struct journal_writer *writer = NULL;
    err[0] = '\0';
    CHECK_INT(journal_writer_open(config, &writer, tail, err, sizeof err), 0);
    CHECK_STR(err, "");
    if (!writer)
        exit(EXIT_FAILURE);
    return writer;
}

static void test_round_trip(void)
{
    static const struct {
        int n, states, each;
        size_t block;
    } cases[] = {{1, 50, 1, 0},       {2, 50, 1, 0},      {500, 50, 7, 256},  {500, 50, 1, 0},
                 {500, 1000, 33, 64}, {500, 3, 500, 256}, {2000, 400, 100, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t n;
        journal_make(cases[i].n, cases[i].states, cases[i].each, cases[i].block);
        CHECK_INT(journal_read_all(cases[i].states, &n, err), 0);
        CHECK_INT(n, cases[i].n);
        CHECK_INT(journal_find(), (cases[i].n - 1) / cases[i].states + 1);
        struct journal_summary sum;
        CHECK_INT(journal_verify(journal_dir, &sum, err, sizeof err), 0);
        CHECK_INT(sum.records, cases[i].n);
        CHECK_INT(sum.segments, journal_find());
        CHECK_INT(sum.states, sum.segments);
        CHECK_INT(sum.states + sum.events + sum.frames + sum.replies, cases[i].n);
        CHECK_INT(sum.first_seq, START_SEQ);
        CHECK_INT(sum.last_seq, START_SEQ + sum.events);
        CHECK_INT(sum.first_ns, START_NS);
        CHECK_INT(sum.holes + sum.torn_bytes, 0);
    }
}

static void test_one_segment(void)
{
    struct journal_reader *reader;
    struct making making = making_begin(50);
    uint64_t n;
    journal_make(120, 50, 10, 0);
    journal_find();
    CHECK_INT(journal_reader_open(journal_newest_path, &reader, err, sizeof err), 0);
    for (int i = 0; i < 100; i++)
        making_next(&making);
    CHECK_INT(journal_read(reader, &making, &n), 0);
    CHECK_INT(n, 20);
    journal_reader_close(reader);
}

static void test_runs(void)
{
    struct journal_writer_config config = {.dir = journal_dir, .sync = true};
    struct journal_tail tail;
    struct making making = making_begin(50);
    uint64_t n;
    journal_dir_clear();
    for (int run = 0; run < 4; run++) {
        struct journal_writer *writer = open_writer(&config, &tail), *second = NULL;
        CHECK_INT(tail.last_seq, run == 0 ? 0 : making.seq);
        CHECK_INT(tail.cut_bytes, 0);
        CHECK(journal_writer_full(writer));
        CHECK_INT(journal_writer_open(&config, &second, &tail, err, sizeof err), -EBUSY);
        CHECK(strstr(err, "another process") != NULL);
        journal_put(writer, &making, 50, 9); /* begins with a state */
        CHECK(!journal_writer_full(writer));
        struct journal_writer_stats stats;
        journal_writer_stats(writer, &stats);
        CHECK_INT(stats.records, 50);
        CHECK_INT(stats.segments, 1);
        CHECK(stats.total_bytes >= stats.file_bytes && stats.file_bytes > 0);
        journal_writer_close(writer);
    }
    CHECK_INT(journal_read_all(50, &n, err), 0);
    CHECK_INT(n, 200);
    CHECK_INT(journal_find(), 4);
}

static int put_one(struct journal_writer *writer, enum journal_kind kind, uint64_t seq, int64_t ns)
{
    struct journal_batch batch;
    journal_batch_init(&batch);
    int r = journal_batch_add(&batch, &(struct journal_record){kind, seq, ns, "x", 1});
    if (r == 0)
        r = journal_writer_put(writer, &batch);
    journal_batch_finish(&batch);
    return r;
}

/* Records that do not continue what is there are refused, and nothing of them is written. */
static void test_order(void)
{
    struct journal_writer_config config = {.dir = journal_dir};
    struct journal_tail tail;
    struct journal_summary sum;
    journal_dir_clear();
    struct journal_writer *writer = open_writer(&config, &tail);
    CHECK_INT(put_one(writer, JOURNAL_EVENT, 1, 1), -EINVAL);
    CHECK_INT(put_one(writer, JOURNAL_STATE, 5, 10), 0);
    CHECK_INT(put_one(writer, JOURNAL_EVENT, 5, 10), -EINVAL);
    CHECK_INT(put_one(writer, JOURNAL_EVENT, 7, 10), -EINVAL);
    CHECK_INT(put_one(writer, JOURNAL_EVENT, 6, 9), -EINVAL);
    CHECK_INT(put_one(writer, JOURNAL_EVENT, 6, 10), 0);
    CHECK_INT(put_one(writer, JOURNAL_FRAME, 5, 10), -EINVAL);
    CHECK_INT(put_one(writer, JOURNAL_FRAME, 6, 11), 0);
    CHECK_INT(put_one(writer, JOURNAL_STATE, 4, 11), -EINVAL);
    CHECK_INT(put_one(writer, JOURNAL_STATE, 20, 12), 0); /* a hole */
    CHECK_INT(put_one(writer, JOURNAL_EVENT, 21, 12), 0);
    CHECK_INT(put_one(writer, JOURNAL_KINDS, 22, 12), -EINVAL);
    journal_writer_close(writer);
    CHECK_INT(journal_verify(journal_dir, &sum, err, sizeof err), 0);
    CHECK_INT(sum.records, 5);
    CHECK_INT(sum.holes, 1);
    struct journal_batch batch;
    journal_batch_init(&batch);
    CHECK_INT(journal_batch_add(&batch,
                                &(struct journal_record){JOURNAL_EVENT, 1, 1, "", JOURNAL_RECORD_MAX + 1ul}),
              -EMSGSIZE);
    journal_batch_finish(&batch);
}

static void test_rotation(void)
{
    struct journal_writer_config config = {
        .dir = journal_dir, .segment_bytes = 1000, .segment_ns = 100000000};
    struct journal_tail tail;
    struct making making = making_begin(1000000);
    journal_dir_clear();
    struct journal_writer *writer = open_writer(&config, &tail);
    CHECK(journal_writer_full(writer));
    int n = 0;
    do
        journal_put(writer, &making, 1, 1);
    while (++n < 1000 && !journal_writer_full(writer));
    CHECK(n > 5 && n < 100); /* by its bytes */
    journal_writer_close(writer);
    config.segment_bytes = 0;
    journal_dir_clear();
    making = making_begin(1000000);
    writer = open_writer(&config, &tail);
    n = 0;
    do
        journal_put(writer, &making, 1, 1);
    while (++n < 1000 && !journal_writer_full(writer));
    CHECK_INT(n, 101); /* by its time */
    journal_writer_close(writer);
}

static void test_retention(void)
{
    struct journal_writer_config config = {.dir = journal_dir, .keep_bytes = 1};
    struct journal_tail tail;
    struct journal_summary sum;
    struct making making = making_begin(20);
    journal_dir_clear();
    struct journal_writer *writer = open_writer(&config, &tail);
    journal_put(writer, &making, 100, 20);
    CHECK_INT(journal_find(), 2); /* never the last two */
    struct journal_writer_stats stats;
    journal_writer_stats(writer, &stats);
    CHECK_INT(stats.removed, 3);
    journal_writer_close(writer);
    CHECK_INT(journal_verify(journal_dir, &sum, err, sizeof err), 0);
    CHECK_INT(sum.records, 40);

    config.keep_bytes = 0;
    config.keep_ns = 70 * 1000000; /* a record is a millisecond */
    journal_dir_clear();
    making = making_begin(20);
    writer = open_writer(&config, &tail);
    journal_put(writer, &making, 200, 20);
    CHECK_INT(journal_find(), 4); /* those with one of the last 70 records, when 200 were there */
    journal_writer_close(writer);

    config.keep_ns = 0; /* a writer that finds more than it keeps */
    config.keep_bytes = 1 << 30;
    writer = open_writer(&config, &tail);
    journal_put(writer, &making, 20, 20);
    CHECK_INT(journal_find(), 5);
    journal_writer_close(writer);
    config.keep_bytes = 1;
    writer = open_writer(&config, &tail);
    CHECK_INT(journal_find(), 5); /* opening removes nothing */
    journal_put(writer, &making, 1, 1);
    CHECK_INT(journal_find(), 2);
    journal_writer_close(writer);
}

static void test_follow(void)
{
    struct journal_writer_config config = {.dir = journal_dir};
    struct journal_tail tail;
    struct journal_reader *reader;
    struct making making = making_begin(30), reading = making_begin(30);
    uint64_t n, total = 0;
    journal_dir_clear();
    CHECK_INT(journal_reader_open(journal_dir, &reader, err, sizeof err), -ENOENT);
    struct journal_writer *writer = open_writer(&config, &tail);
    CHECK_INT(journal_reader_open(journal_dir, &reader, err, sizeof err), -ENOENT);
    journal_put(writer, &making, 1, 1);
    CHECK_INT(journal_reader_open(journal_dir, &reader, err, sizeof err), 0);
    for (int i = 0; i < 200; i++) {
        CHECK_INT(journal_read(reader, &reading, &n), 0);
        total += n;
        CHECK_INT(total, making.i);
        journal_put(writer, &making, 1 + i % 40, 1 + i % 9);
    }
    journal_reader_close(reader);
    journal_writer_close(writer);
}

/* A put of which a reader saw whole blocks fails after all, and is taken back. */
static void test_taken_back(void)
{
    struct journal_reader *reader;
    struct journal_record record;
    struct stat st;
    struct making reading = making_begin(1000);
    uint64_t n;
    for (int again = 0; again < 2; again++) {
        journal_make(20, 1000, 5, 0);
        journal_find();
        CHECK_INT(stat(journal_newest_path, &st), 0);
        journal_make(30, 1000, 5, 0);
        reading = making_begin(1000);
        CHECK_INT(journal_reader_open(journal_dir, &reader, err, sizeof err), 0);
        CHECK_INT(journal_read(reader, &reading, &n), 0);
        CHECK_INT(n, 30);
        struct bytes file = bytes_read(journal_newest_path);
        CHECK_INT(truncate(journal_newest_path, st.st_size), 0);
        if (again) { /* and something else is written there */
            memmove(file.bytes, file.bytes + file.len - 300, 300);
            int fd = open(journal_newest_path, O_WRONLY | O_APPEND);
            while (lseek(fd, 0, SEEK_END) < (off_t)file.len + 100)
                CHECK_INT(write(fd, file.bytes, 300), 300);
            close(fd);
        }
        CHECK_INT(journal_reader_next(reader, &record), -ESTALE);
        CHECK(strstr(journal_reader_error(reader), "took back") != NULL);
        CHECK_INT(journal_reader_next(reader, &record), -ESTALE);
        CHECK_INT(journal_reader_seek_seq(reader, 0), -ENOENT);
        CHECK_INT(journal_reader_seek_seq(reader, UINT64_MAX), 0);
        CHECK_INT(journal_reader_next(reader, &record), 1);
        journal_reader_close(reader);
        free(file.bytes);
    }
}

static void test_absent(void)
{
    struct journal_reader *reader;
    struct journal_summary sum;
    CHECK_INT(journal_reader_open("/nonexistent/journal", &reader, err, sizeof err), -ENOENT);
    CHECK(strstr(err, "/nonexistent/journal") != NULL);
    journal_dir_clear();
    CHECK_INT(journal_verify(journal_dir, &sum, err, sizeof err), -ENOENT);
    CHECK(strstr(err, "no segment") != NULL);
    journal_reader_close(NULL);
    journal_writer_close(NULL);
}

int main(void)
{
    journal_dir_make();
    test_round_trip();
    test_one_segment();
    test_runs();
    test_order();
    test_rotation();
    test_retention();
    test_follow();
    test_taken_back();
    test_absent();
    return check_done("journal");
}
