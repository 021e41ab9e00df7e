/* A writer in a process of its own, which is killed at any moment while this one reads what it writes: what
 * was read is what was written, what was acknowledged is there, and the next writer continues. */
#include <signal.h>
#include <sys/wait.h>

#include "tests/exchange/journal.h"

enum { STATES = 60, PUTS_MAX = 100000 };

static char err[JOURNAL_ERROR_MAX];

/* The child: writes, and reports how many records are acknowledged, until it is killed. */
_Noreturn static void write_on(int reported, uint64_t seed)
{
    struct journal_writer_config config = {.dir = journal_dir, .block_bytes = 600, .sync = seed % 2};
    struct journal_writer *writer;
    struct journal_tail tail;
    struct journal_batch batch;
    struct making making = making_begin(STATES);
    struct random random = {seed};
    if (journal_writer_open(&config, &writer, &tail, err, sizeof err) < 0)
        _exit(1);
    journal_batch_init(&batch);
    for (int put = 0; put < PUTS_MAX; put++) {
        journal_batch_clear(&batch);
        for (int64_t n = random_between(&random, 1, 25); n > 0; n--)
            if (journal_batch_add(&batch, making_next(&making)) < 0)
                _exit(2);
        if (journal_writer_put(writer, &batch) < 0 || write(reported, &making.i, sizeof making.i) < 0)
            _exit(3);
    }
    _exit(0);
}

static uint64_t last_reported(int fd)
{
    uint64_t reported = 0, next;
    while (read(fd, &next, sizeof next) == sizeof next)
        reported = next;
    return reported;
}

static bool has_ended(pid_t writer)
{
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)writer, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || info.si_pid != 0;
}

/* Reads on until `wanted` records were read in all; false when the writer ended before. */
static bool follow(struct journal_reader *reader, struct making *making, uint64_t wanted, pid_t writer)
{
    for (bool ended = false;; ended = has_ended(writer)) {
        uint64_t n;
        int r = journal_read(reader, making, &n);
        CHECK_INT(r, 0);
        if (r != 0 || making->i >= wanted)
            return r == 0;
        if (ended)
            return false;
    }
}

static struct journal_reader *open_reader(pid_t writer)
{
    struct journal_reader *reader = NULL;
    while (journal_reader_open(journal_dir, &reader, err, sizeof err) == -ENOENT && !has_ended(writer))
        ;
    return reader;
}

/* The next run: it begins where the last one was cut, with a state. */
static void continue_writing(uint64_t records, uint64_t last_seq)
{
    struct journal_writer_config config = {.dir = journal_dir};
    struct journal_writer *writer;
    struct journal_tail tail;
    struct journal_batch batch;
    struct journal_summary sum;
    CHECK_INT(journal_writer_open(&config, &writer, &tail, err, sizeof err), 0);
    CHECK_INT(tail.last_seq, last_seq);
    journal_batch_init(&batch);
    struct journal_record record = {JOURNAL_STATE, tail.last_seq, tail.last_ns, "state", 5};
    journal_batch_add(&batch, &record);
    record.kind = JOURNAL_EVENT;
    record.seq++;
    journal_batch_add(&batch, &record);
    CHECK_INT(journal_writer_put(writer, &batch), 0);
    journal_batch_finish(&batch);
    journal_writer_close(writer);
    CHECK_INT(journal_verify(journal_dir, &sum, err, sizeof err), 0);
    CHECK_INT(sum.records, records + 2);
    CHECK_INT(sum.holes + sum.torn_bytes, 0);
}

static void one_round(struct random *random)
{
    uint64_t records, seed = random_next(random);
    int reported[2];
    journal_dir_clear();
    if (pipe(reported) < 0)
        exit(EXIT_FAILURE);
    pid_t writer = fork();
    if (writer == 0) {
        close(reported[0]);
        write_on(reported[1], seed);
    }
    close(reported[1]);
    struct journal_reader *reader = open_reader(writer);
    struct making reading = making_begin(STATES);
    CHECK(reader != NULL);
    if (reader)
        CHECK(follow(reader, &reading, (uint64_t)random_between(random, 1, 1500), writer));
    kill(writer, SIGKILL);
    waitpid(writer, NULL, 0);
    uint64_t acknowledged = last_reported(reported[0]);
    close(reported[0]);
    if (reader) /* it finds the rest */
        CHECK_INT(journal_read(reader, &reading, &records), 0);
    journal_reader_close(reader);
    CHECK(reading.i >= acknowledged);
    CHECK_INT(journal_read_all(STATES, &records, err), 0);
    CHECK_INT(records, reading.i);
    continue_writing(records, reading.seq);
}

int main(void)
{
    struct random random = random_seeded("journal_process", 77);
    int rounds = getenv("PAPERTAPE_LONG") ? 300 : 25;
    signal(SIGPIPE, SIG_IGN);
    journal_dir_make();
    for (int i = 0; i < rounds; i++)
        one_round(&random);
    return check_done("journal_process");
}
