/* The power goes, again and again, at any write or sync, also after a full disk or a sync that failed: what
 * was acknowledged is there, everything adds up, the next run continues from it. And a disk that is full for
 * a while, in the middle of a commit or of a checkpoint: nothing is lost, nothing is doubled. */
#include <pthread.h>

#include "db/verify.h"
#include "tests/db/faulty_disk.h"
#include "tests/db/resume.h"
#include "tests/db/sql.h"
#include "tests/random.h"

enum { ROUNDS_LONG = 500, TRADES_MAX = 100000, BACKLOG = 200 };

#ifdef __SANITIZE_ADDRESS__
enum { ROUNDS = 3, FULL_ROUNDS = 2 };
#else
enum { ROUNDS = 10, FULL_ROUNDS = 6 };
#endif

/* Trade i was put with tickets up to trades[i].ticket and ended with fill trades[i].fill. */
static struct {
    pthread_mutex_t lock;
    struct {
        uint64_t ticket, fill;
    } trades[TRADES_MAX];
    size_t n, acknowledged;
    uint64_t fill; /* the last that was acknowledged */
    int failures;
} work = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void acknowledge(void *ctx, uint64_t ticket)
{
    (void)ctx;
    pthread_mutex_lock(&work.lock);
    while (work.acknowledged < work.n && work.trades[work.acknowledged].ticket <= ticket)
        work.fill = work.trades[work.acknowledged++].fill;
    pthread_mutex_unlock(&work.lock);
}

static void on_state(void *ctx, bool ok, const char *detail)
{
    (void)ctx;
    (void)detail;
    pthread_mutex_lock(&work.lock);
    work.failures += !ok;
    pthread_mutex_unlock(&work.lock);
}

static struct db_writer *open_writer(const char *path)
{
    struct db_writer_config config = {.committed = acknowledge, .state = on_state};
    struct db_writer *writer = NULL;
    char err[DB_ERROR_MAX] = "";
    work.n = work.acknowledged = 0;
    return db_writer_open(path, &config, &writer, err, sizeof err) == 0 ? writer : NULL;
}

/* A training reports as many events as there are fills: its row says so, and its newest point. */
static uint64_t report(struct db_writer *writer, int64_t seq)
{
    struct db_training training = {.name = "ppo",
                                   .state = "update",
                                   .reason = "",
                                   .cause = "",
                                   .device = "cpu",
                                   .backend = "cpu",
                                   .config = "[ppo]",
                                   .verdict = "",
                                   .verdict_text = "",
                                   .checkpoint = "",
                                   .policy = "",
                                   .seq = seq};
    struct db_training_point point = {.training = "ppo", .steps = seq};
    struct db_training_state state = {
        .training = "ppo", .state = seq % 2 ? "rollout" : "update", .ts_ns = seq};
    db_writer_group_begin(writer);
    db_writer_put_training(writer, &training);
    db_writer_put_training_point(writer, &point);
    uint64_t ticket = db_writer_put_training_state(writer, &state);
    db_writer_group_end(writer);
    return ticket;
}

static void trade(struct fixture *f)
{
    fixture_trade(f);
    uint64_t ticket = report(f->writer, (int64_t)f->fill_id);
    pthread_mutex_lock(&work.lock);
    work.trades[work.n].ticket = ticket;
    work.trades[work.n++].fill = f->fill_id;
    pthread_mutex_unlock(&work.lock);
}

/* A training's points are stored with what its row says of them, and not behind the fills. */
static void check_training(const char *path, uint64_t fills)
{
    int64_t seq = sql_query_file(path, "SELECT seq FROM trainings");
    CHECK(seq < 0 ? work.fill == 0 : (uint64_t)seq >= work.fill && (uint64_t)seq <= fills);
    CHECK(seq < 0 || sql_query_file(path, "SELECT max(steps) FROM training_points") == seq);
    CHECK(seq < 0 || sql_query_file(path, "SELECT max(ts_ns) FROM training_states") == seq);
    CHECK(sql_query_file(path, "SELECT count(*) FROM training_points") <= DB_TRAINING_POINTS_KEPT);
}

/* Fills that verify, 0 for a database that nothing was stored in yet. */
static uint64_t verified_fills(const char *path, int round)
{
    struct db_reader *reader = NULL;
    struct db_verified *verified = NULL;
    char err[DB_ERROR_MAX] = "";
    /* As it was made, not yet migrated, or without its counts, which the first opening ends with. */
    if (work.fill == 0 || db_reader_open(path, &reader, err, sizeof err) != 0) {
        struct db_writer *writer = open_writer(path);
        CHECK(writer != NULL);
        CHECK_INT(db_writer_close(writer, 60000, err, sizeof err), 0);
        CHECK_INT(db_reader_open(path, &reader, err, sizeof err), 0);
    }
    if (!reader || db_verify(reader, &verified) != 0) {
        fprintf(stderr, "round %d: %s\n", round, reader ? db_reader_error(reader) : err);
        check_failures++;
        db_reader_close(reader);
        return 0;
    }
    if (!verified->ok) {
        fprintf(stderr, "round %d: %s\n", round, verified->failure);
        check_failures++;
    }
    uint64_t fills = verified->fills;
    check_training(path, fills);
    db_verified_destroy(verified);
    db_reader_close(reader);
    return fills;
}

static void lose_power(const char *path, struct random *random, bool fresh)
{
    struct faulty_plan plan = {.power_at = (uint64_t)random_between(random, 1, fresh ? 400 : 3000)};
    if (random_chance(random, 40))
        plan.sync_at = (uint64_t)random_between(random, 1, (int64_t)plan.power_at);
    if (random_chance(random, 30)) {
        plan.full_from = (uint64_t)random_between(random, 1, (int64_t)plan.power_at);
        plan.full_to = plan.full_from + (uint64_t)random_between(random, 1, 4);
    }
    faulty_disk_begin(&plan);
    struct db_writer *writer = NULL;
    while (!faulty_disk_lost() && !writer)
        writer = open_writer(path);
    struct fixture f;
    bool started = false;
    while (writer && !faulty_disk_lost() && !started)
        started = fixture_resume(&f, writer, path);
    while (started && !faulty_disk_lost() && work.n < TRADES_MAX) {
        trade(&f);
        while (!faulty_disk_lost() && db_writer_last(writer) - db_writer_committed(writer) > BACKLOG)
            db_writer_flush(writer, 20);
    }
    char err[DB_ERROR_MAX];
    db_writer_close(writer, 0, err, sizeof err);
    faulty_disk_restart(random_next(random));
}

static void test_power(const char *directory, struct random *random, int rounds)
{
    char path[SCRATCH_PATH_MAX] = "";
    uint64_t stored = 0, databases = 0;
    for (int round = 0; round < rounds; round++) {
        bool fresh = round % 8 == 0;
        if (fresh) {
            snprintf(path, sizeof path, "%s/%d.db", directory, round);
            work.fill = 0;
            databases++;
        }
        uint64_t before = stored;
        lose_power(path, random, fresh);
        stored = verified_fills(path, round);
        CHECK(stored >= work.fill);
        if (stored < work.fill)
            fprintf(stderr,
                    "round %d: fill %" PRIu64 " was acknowledged, %" PRIu64 " are there (%" PRIu64
                    " before)\n",
                    round, work.fill, stored, before);
        if (check_failures)
            break;
    }
    printf("power: %d losses, %" PRIu64 " databases, %" PRIu64 " fills in the last\n", rounds, databases,
           stored);
}

static void test_full(const char *directory, struct random *random, int rounds)
{
    static const char *const files[] = {NULL, "-wal", ".db"};
    char path[SCRATCH_PATH_MAX], err[DB_ERROR_MAX];
    uint64_t faults = 0;
    for (int round = 0; round < rounds; round++) {
        snprintf(path, sizeof path, "%s/full-%d.db", directory, round);
        faulty_disk_begin(&(struct faulty_plan){0});
        struct db_writer *writer = open_writer(path);
        struct fixture f;
        CHECK(writer != NULL);
        fixture_open(&f, writer);
        struct faulty_plan plan = {.full_from = (uint64_t)random_between(random, 1, 150),
                                   .only = files[round % 3]};
        plan.full_to = plan.full_from + (uint64_t)random_between(random, 3, 6);
        bool checkpoint = round % 3 == 2; /* the database's own file is written only then */
        if (checkpoint)
            plan.full_to = plan.full_from + (uint64_t)random_between(random, 2500, 3500);
        CHECK_INT(db_writer_flush(writer, 60000), 0);
        faulty_disk_resume(&plan);
        for (int i = 0; i < (checkpoint ? 400 : 100); i++) {
            trade(&f);
            if (db_writer_last(writer) - db_writer_committed(writer) > BACKLOG)
                CHECK_INT(db_writer_flush(writer, 60000), 0);
        }
        CHECK_INT(db_writer_flush(writer, 60000), 0);
        CHECK_INT(db_writer_close(writer, 60000, err, sizeof err), 0);
        faults += faulty_disk_faults();
        CHECK_INT(verified_fills(path, round), f.fill_id);
    }
    faulty_disk_begin(&(struct faulty_plan){0});
    printf("full disk: %d times, %" PRIu64 " writes refused, %d failures reported\n", rounds, faults,
           work.failures);
    CHECK(faults > 0);
}

int main(void)
{
    char directory[SCRATCH_MAX];
    bool thorough = getenv("PAPERTAPE_LONG") != NULL;
    struct random random = random_seeded("power_loss", 20261121);
    scratch_make(directory);
    faulty_disk_install();
    test_power(directory, &random, thorough ? ROUNDS_LONG : ROUNDS);
    test_full(directory, &random, FULL_ROUNDS);
    return check_done("power_loss");
}
