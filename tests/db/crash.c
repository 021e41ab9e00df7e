/* kill -9 in the middle of a load, again and again on one database: what was acknowledged is there,
 * everything adds up, and the next run continues from it. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "db/verify.h"
#include "tests/db/resume.h"

#ifdef __SANITIZE_ADDRESS__
enum { ROUNDS = 6 };
#else
enum { ROUNDS = 12 };
#endif
enum { ROUNDS_LONG = 500, ACKS_MAX = 40, TRADES_MAX = 100000, BACKLOG = 300 };

/* The child's: trade i was put with tickets up to trades[i].ticket and ended with fill trades[i].fill. */
static struct {
    pthread_mutex_t lock;
    struct {
        uint64_t ticket, fill;
    } trades[TRADES_MAX];
    size_t n, acknowledged;
    int pipe;
} child = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void acknowledge(void *ctx, uint64_t ticket)
{
    (void)ctx;
    pthread_mutex_lock(&child.lock);
    size_t before = child.acknowledged;
    while (child.acknowledged < child.n && child.trades[child.acknowledged].ticket <= ticket)
        child.acknowledged++;
    uint64_t fill = child.acknowledged > 0 ? child.trades[child.acknowledged - 1].fill : 0;
    bool notify = child.acknowledged > before;
    pthread_mutex_unlock(&child.lock);
    if (notify && write(child.pipe, &fill, sizeof fill) != sizeof fill)
        _exit(3);
}

static void run_child(const char *path, int pipe)
{
    child.pipe = pipe;
    struct db_writer_config config = {.committed = acknowledge};
    struct db_writer *writer;
    char err[DB_ERROR_MAX];
    if (db_writer_open(path, &config, &writer, err, sizeof err) != 0) {
        fprintf(stderr, "child: %s\n", err);
        _exit(2);
    }
    struct fixture f;
    if (!fixture_resume(&f, writer, path))
        _exit(4);
    while (child.n < TRADES_MAX) {
        uint64_t ticket = fixture_trade(&f);
        struct bar bar = {.open_ns = f.ts_ns, .open = 1, .high = 1, .low = 1, .close = 1};
        db_writer_put_bar(writer, 0, 60000000000, BAR_TRADES, &bar);
        pthread_mutex_lock(&child.lock);
        child.trades[child.n].ticket = ticket;
        child.trades[child.n++].fill = f.fill_id;
        pthread_mutex_unlock(&child.lock);
        if (db_writer_last(writer) - db_writer_committed(writer) > BACKLOG)
            db_writer_flush(writer, 60000);
    }
    pause();
}

/* Lets a child work for some acknowledgements, kills it, and returns the last fill that it acknowledged. */
static uint64_t work_and_kill(const char *path, unsigned *seed)
{
    int ends[2], status;
    CHECK_INT(pipe(ends), 0);
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        run_child(path, ends[1]);
        _exit(0);
    }
    close(ends[1]);
    uint64_t fill = 0, next;
    int wanted = 1 + rand_r(seed) % ACKS_MAX;
    while (wanted-- > 0 && read(ends[0], &next, sizeof next) == sizeof next)
        fill = next;
    for (int spin = rand_r(seed) % 20000; spin > 0; spin--)
        __asm__ volatile("");
    CHECK_INT(kill(pid, SIGKILL), 0);
    CHECK_INT(waitpid(pid, &status, 0), pid);
    CHECK(WIFSIGNALED(status));
    while (read(ends[0], &next, sizeof next) == sizeof next) /* acknowledged before it died */
        fill = next;
    close(ends[0]);
    return fill;
}

int main(int argc, char **argv)
{
    char directory[SCRATCH_MAX], path[SCRATCH_PATH_MAX], err[DB_ERROR_MAX] = "";
    int rounds = argc > 1 ? atoi(argv[1]) : getenv("PAPERTAPE_LONG") ? ROUNDS_LONG : ROUNDS;
    unsigned seed = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : (unsigned)time(NULL);
    printf("counts: %d kills, seed %u (crash ROUNDS SEED)\n", rounds, seed);
    fflush(stdout);
    scratch_make(directory);
    snprintf(path, sizeof path, "%s/papertape.db", directory);
    uint64_t fills = 0;
    for (int round = 0; round < rounds; round++) {
        uint64_t acknowledged = work_and_kill(path, &seed);
        struct db_reader *reader = NULL;
        struct db_verified *verified = NULL;
        CHECK_INT(db_reader_open(path, &reader, err, sizeof err), 0);
        CHECK_INT(db_verify(reader, &verified), 0);
        if (!verified->ok)
            fprintf(stderr, "round %d: %s\n", round, verified->failure);
        CHECK(verified->ok);
        CHECK(acknowledged > fills);
        CHECK(verified->fills >= acknowledged);
        fills = verified->fills;
        db_verified_destroy(verified);
        db_reader_close(reader);
    }
    printf("%" PRIu64 " fills stored\n", fills);
    return check_done("crash");
}
