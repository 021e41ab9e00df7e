/* The event log's disk side: what is recorded is read again; a disk that refuses (a limit on the size of
 * files stands for a full one) loses nothing that memory can hold, and beyond that leaves a hole which says
 * so. */
#include "daemon/recorder.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "engine/record.h"
#include "tests/check.h"
#include "tests/scratch.h"

enum { CLOSE_MS = 60000, PATIENCE_S = 60, TRIES = 500 };

static char dir[64], err[JOURNAL_ERROR_MAX];

/* What the recorder's thread said. */
static struct {
    pthread_mutex_t lock;
    int failed, worked;
    char detail[RECORDER_ERROR_MAX];
} reports = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void report(void *ctx, bool ok, const char *detail)
{
    (void)ctx;
    pthread_mutex_lock(&reports.lock);
    reports.failed += !ok;
    reports.worked += ok;
    snprintf(reports.detail, sizeof reports.detail, "%s", detail);
    pthread_mutex_unlock(&reports.lock);
}

static int times_failed(void)
{
    pthread_mutex_lock(&reports.lock);
    int n = reports.failed;
    pthread_mutex_unlock(&reports.lock);
    return n;
}

static int times_worked(void)
{
    pthread_mutex_lock(&reports.lock);
    int n = reports.worked;
    pthread_mutex_unlock(&reports.lock);
    return n;
}

static void empty_dir(void)
{
    DIR *listing = opendir(dir);
    for (const struct dirent *entry; listing && (entry = readdir(listing));) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", dir, entry->d_name);
        if (entry->d_name[0] != '.' || strlen(entry->d_name) > 2)
            unlink(path);
    }
    if (listing)
        closedir(listing);
    rmdir(dir);
    reports.failed = reports.worked = 0;
}

static void limit_files(rlim_t bytes)
{
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
    setrlimit(RLIMIT_FSIZE, &limit);
}

static struct recorder_config daemon_config_of(void)
{
    return (struct recorder_config){
        .journal = {.dir = dir, .segment_bytes = 64 << 20, .level = 1, .sync = true},
        .delay_ms = 1,
        .state = report,
    };
}

static struct recorder *opened(const struct recorder_config *config)
{
    struct recorder *recorder = NULL;
    struct journal_tail tail;
    CHECK_INT(daemon_recorder_open(config, &recorder, &tail, err, sizeof err), 0);
    if (!recorder) {
        fprintf(stderr, "%s\n", err);
        exit(1);
    }
    return recorder;
}

static int64_t time_of(uint64_t seq)
{
    return 1700000000000000000 + (int64_t)seq * 1000000;
}

static void give_state(struct recorder *recorder, uint64_t seq)
{
    char bytes[32];
    int len = snprintf(bytes, sizeof bytes, "state %llu", (unsigned long long)seq);
    daemon_recorder_put_state(recorder, seq, time_of(seq), bytes, (size_t)len);
}

/* A book of random prices: it does not compress. */
static void give_event(struct recorder *recorder, uint64_t seq)
{
    struct book_level bids[40];
    struct event event = {.seq = seq, .recv_ns = time_of(seq), .kind = EVENT_SNAPSHOT};
    uint64_t random = seq;
    for (size_t i = 0; i < 40; i++) {
        random = random * 6364136223846793005 + 1442695040888963407;
        bids[i] = (struct book_level){(int64_t)(random >> 8), (int64_t)(random >> 20)};
    }
    event.snapshot = (struct event_snapshot){.last_id = seq, .bids = bids, .n_bids = 40};
    daemon_recorder_event(recorder, &event);
}

/* Reads everything: events from..to in order except [hole_from, hole_to], which a state ends. */
static void read_back(uint64_t to, uint64_t hole_from, uint64_t hole_to, uint64_t *ret_states)
{
    struct journal_reader *reader = NULL;
    struct journal_record record;
    struct event_memory memory = {0};
    uint64_t next = 1;
    *ret_states = 0;
    int r = 0;
    CHECK_INT(journal_reader_open(dir, &reader, err, sizeof err), 0);
    while (reader && (r = journal_reader_next(reader, &record)) > 0) {
        *ret_states += record.kind == JOURNAL_STATE;
        if (record.kind != JOURNAL_EVENT)
            continue;
        if (next == hole_from)
            next = hole_to + 1;
        struct event event;
        CHECK_INT(record.seq, next);
        CHECK_INT(event_decode(record.bytes, record.len, &memory, &event), 0);
        CHECK(event.kind == EVENT_SNAPSHOT && event.snapshot.last_id == record.seq &&
              event.snapshot.n_bids == 40);
        next++;
    }
    CHECK_INT(r, 0);
    CHECK_INT(next, to + 1);
    event_memory_finish(&memory);
    journal_reader_close(reader);
    struct journal_summary summary;
    CHECK_INT(journal_verify(dir, &summary, err, sizeof err), 0);
    CHECK_INT(summary.holes, hole_from ? 1 : 0);
}

static void test_records(void)
{
    struct recorder_config config = daemon_config_of();
    struct recorder *recorder = opened(&config);
    struct recorder_stats stats;
    uint64_t states;
    give_state(recorder, 0);
    for (uint64_t seq = 1; seq <= 1000; seq++) {
        give_event(recorder, seq);
        if (seq % 100 == 0) {
            CHECK_INT(daemon_recorder_sync(recorder, seq), 0);
            daemon_recorder_stats(recorder, &stats);
            CHECK(stats.seq >= seq);
        }
    }
    CHECK(daemon_recorder_wants_state(recorder) == RECORDER_NOTHING);
    daemon_recorder_stats(recorder, &stats);
    CHECK(stats.ok && stats.events == 1000 && stats.lost == 0 && stats.event_bytes > 1000 * 40 * 8);
    CHECK_INT(daemon_recorder_close(recorder, CLOSE_MS), 0);
    read_back(1000, 0, 0, &states);
    CHECK_INT(states, 1);
    CHECK_INT(times_failed(), 0);
    empty_dir();
}

static void test_rotation(void)
{
    struct recorder_config config = daemon_config_of();
    config.journal.segment_bytes = 100000;
    struct recorder *recorder = opened(&config);
    uint64_t states, given = 1;
    give_state(recorder, 0);
    for (uint64_t seq = 1; seq <= 2000; seq++) {
        give_event(recorder, seq);
        if (seq % 20 == 0)
            CHECK_INT(daemon_recorder_sync(recorder, seq), 0);
        if (daemon_recorder_wants_state(recorder) != RECORDER_NOTHING) {
            CHECK(daemon_recorder_wants_state(recorder) == RECORDER_ROTATION);
            give_state(recorder, seq);
            given++;
        }
    }
    CHECK_INT(daemon_recorder_close(recorder, CLOSE_MS), 0);
    read_back(2000, 0, 0, &states);
    CHECK(given >= 5);
    CHECK_INT(states, given);
    empty_dir();
}

/* The disk is full for a while: everything is there afterwards, and a state begins a segment before it is
 * said to work. */
static void test_full_disk(void)
{
    struct recorder_config config = daemon_config_of();
    struct recorder *recorder = opened(&config);
    struct recorder_stats stats;
    uint64_t states;
    give_state(recorder, 0);
    for (uint64_t seq = 1; seq <= 100; seq++)
        give_event(recorder, seq);
    CHECK_INT(daemon_recorder_sync(recorder, 100), 0);
    daemon_recorder_stats(recorder, &stats);
    limit_files(stats.journal.file_bytes + 4096);
    for (uint64_t seq = 101; seq <= 1000; seq++)
        give_event(recorder, seq);
    int r = daemon_recorder_sync(recorder, 1000);
    CHECK(r == -EFBIG || r == -ENOSPC);
    CHECK(times_failed() >= 1);
    daemon_recorder_stats(recorder, &stats);
    CHECK(!stats.ok && stats.storing != STORING_OK && stats.detail[0] && stats.waiting_bytes > 0 &&
          stats.lost == 0);
    CHECK(daemon_recorder_wants_state(recorder) == RECORDER_NOTHING);
    limit_files(RLIM_INFINITY);
    time_t until = time(NULL) + PATIENCE_S;
    while (daemon_recorder_wants_state(recorder) != RECORDER_ROTATION && time(NULL) < until)
        usleep(1000);
    CHECK_INT(daemon_recorder_sync(recorder, 1000), -EAGAIN); /* it is there, and in doubt still */
    daemon_recorder_stats(recorder, &stats);
    CHECK(!stats.ok && times_worked() == 0);
    give_state(recorder, 1000);
    while ((r = daemon_recorder_sync(recorder, 1000)) < 0 && time(NULL) < until)
        usleep(1000);
    CHECK_INT(r, 0);
    CHECK_INT(daemon_recorder_close(recorder, CLOSE_MS), 0);
    CHECK_INT(reports.worked, 1);
    read_back(1000, 0, 0, &states);
    CHECK_INT(states, 2);
    empty_dir();
}

/* It is full for longer than memory lasts: a hole, ended by a state; commits of what is lost may continue. */
static void test_hole(void)
{
    struct recorder_config config = daemon_config_of();
    config.memory_max = 100000;
    struct recorder *recorder = opened(&config);
    struct recorder_stats stats;
    uint64_t states, seq = 0;
    give_state(recorder, 0);
    for (; seq < 100; seq++)
        give_event(recorder, seq + 1);
    CHECK_INT(daemon_recorder_sync(recorder, seq), 0);
    daemon_recorder_stats(recorder, &stats);
    limit_files(stats.journal.file_bytes + 4096);
    give_event(recorder, ++seq);
    for (int i = 0; i < 20; i++) /* a block that cannot be written */
        give_event(recorder, ++seq);
    CHECK(daemon_recorder_sync(recorder, seq) < 0);
    daemon_recorder_stats(recorder, &stats);
    uint64_t written = stats.seq; /* the first few alone may have made a block, which still fitted */
    CHECK(written >= 100 && written < seq);
    while (daemon_recorder_wants_state(recorder) != RECORDER_AFTER_HOLE && seq < 5000)
        give_event(recorder, ++seq);
    CHECK(seq < 5000);
    for (int i = 0; i < 50; i++)
        give_event(recorder, ++seq);
    CHECK_INT(daemon_recorder_sync(recorder, seq), 0); /* lost: it need not be waited for */
    daemon_recorder_stats(recorder, &stats);
    CHECK_INT(stats.holes, 1);

    limit_files(RLIM_INFINITY);
    give_state(recorder, seq);
    uint64_t hole_to = seq;
    for (int i = 0; i < 100; i++)
        give_event(recorder, ++seq);
    time_t until = time(NULL) + PATIENCE_S;
    int r;
    while ((r = daemon_recorder_sync(recorder, seq)) < 0 && time(NULL) < until)
        usleep(1000);
    CHECK_INT(r, 0);
    daemon_recorder_stats(recorder, &stats);
    CHECK_INT(stats.lost, hole_to - written);
    CHECK_INT(stats.seq, seq);
    CHECK_INT(daemon_recorder_close(recorder, CLOSE_MS), 0);
    read_back(seq, written + 1, hole_to, &states);
    CHECK_INT(states, 2);
    empty_dir();
}

/* The system's files, of which the disk cannot be read for a while. */
static atomic_bool unreadable;

static int same_unless(void *ctx, int at, const char *name, int64_t from, int64_t to)
{
    return atomic_load(&unreadable) ? -EIO : journal_files_system.same(ctx, at, name, from, to);
}

/* What a former process left is read, and is not known to be on the disk: it counts once that is seen. */
static void test_opened_in_doubt(void)
{
    struct recorder_config config = daemon_config_of();
    struct recorder *recorder = opened(&config);
    struct recorder_stats stats;
    uint64_t states;
    give_state(recorder, 0);
    for (uint64_t seq = 1; seq <= 100; seq++)
        give_event(recorder, seq);
    CHECK_INT(daemon_recorder_close(recorder, CLOSE_MS), 0);

    struct journal_files files = journal_files_system;
    files.same = same_unless;
    config.files = &files;
    atomic_store(&unreadable, true);
    recorder = opened(&config);
    CHECK(daemon_recorder_sync(recorder, 100) < 0);
    daemon_recorder_stats(recorder, &stats);
    CHECK_INT(stats.seq, 0);
    atomic_store(&unreadable, false);
    give_state(recorder, 100);
    time_t until = time(NULL) + PATIENCE_S;
    int r;
    while ((r = daemon_recorder_sync(recorder, 100)) < 0 && time(NULL) < until)
        usleep(1000);
    CHECK_INT(r, 0);
    daemon_recorder_stats(recorder, &stats);
    CHECK_INT(stats.seq, 100);
    CHECK_INT(daemon_recorder_close(recorder, CLOSE_MS), 0);
    read_back(100, 0, 0, &states);
    CHECK_INT(states, 2);
    empty_dir();
}

/* The system's files, on a device that has nothing of the newest segment from here on. */
static _Atomic int64_t lost_from;

static int same_up_to(void *ctx, int at, const char *name, int64_t from, int64_t to)
{
    return to > atomic_load(&lost_from) ? 0 : journal_files_system.same(ctx, at, name, from, to);
}

static int64_t newest_size(void)
{
    DIR *listing = opendir(dir);
    struct stat st = {0};
    for (const struct dirent *entry; listing && (entry = readdir(listing));)
        if (strstr(entry->d_name, ".journal"))
            CHECK_INT(fstatat(dirfd(listing), entry->d_name, &st, 0), 0);
    closedir(listing);
    return st.st_size;
}

/* Syncs succeed, and the device has nothing of it: what was put waits in memory, is cut off the file each
 * time, and is there once the device takes it, with no segment written again. */
static void test_unseen(void)
{
    struct recorder_config config = daemon_config_of();
    struct journal_files files = journal_files_system;
    struct recorder_stats stats;
    uint64_t states;
    files.same = same_up_to;
    config.files = &files;
    atomic_store(&lost_from, INT64_MAX);
    struct recorder *recorder = opened(&config);
    give_state(recorder, 0);
    for (uint64_t seq = 1; seq <= 10; seq++)
        give_event(recorder, seq);
    CHECK_INT(daemon_recorder_sync(recorder, 10), 0);
    int64_t size = newest_size();
    atomic_store(&lost_from, size);
    give_event(recorder, 11);
    CHECK_INT(daemon_recorder_sync(recorder, 11), -EILSEQ);
    time_t until = time(NULL) + PATIENCE_S;
    do {
        usleep(1000);
        daemon_recorder_stats(recorder, &stats);
    } while (stats.retries < 3 && time(NULL) < until);
    while (newest_size() != size && time(NULL) < until)
        usleep(1000);
    CHECK_INT(newest_size(), size);
    CHECK(!stats.ok && stats.seq == 10 && stats.waiting_bytes > 0);
    atomic_store(&lost_from, INT64_MAX);
    give_state(recorder, 11);
    int r;
    while ((r = daemon_recorder_sync(recorder, 11)) < 0 && time(NULL) < until)
        usleep(1000);
    CHECK_INT(r, 0);
    daemon_recorder_stats(recorder, &stats);
    CHECK_INT(stats.journal.mended, 0);
    CHECK_INT(daemon_recorder_close(recorder, CLOSE_MS), 0);
    read_back(11, 0, 0, &states);
    CHECK_INT(states, 2);
    empty_dir();
}

/* Syncs to `seq`, with a state where one is wanted, until it is written or has had its tries. */
static struct recorder_stats take_up(struct recorder *recorder, uint64_t seq)
{
    struct recorder_stats stats;
    int tries = 0;
    do {
        daemon_recorder_sync(recorder, seq);
        usleep(1000);
        if (daemon_recorder_wants_state(recorder) != RECORDER_NOTHING)
            give_state(recorder, seq);
        daemon_recorder_stats(recorder, &stats);
    } while ((!stats.ok || stats.seq != seq) && ++tries < TRIES);
    return stats;
}

/* Gives events until all are written: a failure may be noticed with the next one only. Returns the newest. */
static uint64_t recover(struct recorder *recorder, uint64_t seq)
{
    time_t until = time(NULL) + PATIENCE_S;
    struct recorder_stats stats;
    do {
        give_event(recorder, ++seq);
        stats = take_up(recorder, seq);
    } while ((!stats.ok || stats.seq != seq) && time(NULL) < until);
    CHECK(stats.ok && stats.seq == seq);
    return seq;
}

static void newest_name(char ret[static 512])
{
    DIR *listing = opendir(dir);
    char path[512];
    ret[0] = '\0';
    for (const struct dirent *entry; listing && (entry = readdir(listing));) {
        snprintf(path, sizeof path, "%s/%s", dir, entry->d_name);
        if (strstr(path, ".journal") && strcmp(path, ret) > 0)
            memcpy(ret, path, sizeof path);
    }
    closedir(listing);
}

enum gone { REMOVED, RENAMED, NEWEST, GONES };

/* The log is taken away under it: that is noticed with the next event, or a look, and a state begins a new
 * one, which reads whole and follows the numbers; what was renamed is left as it is. */
static void test_gone(enum gone how, bool rotated)
{
    struct recorder_config config = daemon_config_of();
    if (rotated) /* the last that is written begins a segment */
        config.journal.segment_bytes = 1;
    struct recorder *recorder = opened(&config);
    struct journal_summary summary;
    struct recorder_stats stats;
    char away[80], newest[512];
    snprintf(away, sizeof away, "%s.away", dir);
    give_state(recorder, 0);
    for (uint64_t seq = 1; seq <= 50; seq++)
        give_event(recorder, seq);
    give_state(recorder, 50);
    for (uint64_t seq = 51; seq <= 100; seq++)
        give_event(recorder, seq);
    CHECK_INT(daemon_recorder_sync(recorder, 100), 0);
    if (rotated) {
        give_state(recorder, 100);
        give_event(recorder, 101);
        CHECK_INT(daemon_recorder_sync(recorder, 101), 0);
    }
    newest_name(newest);
    if (how == REMOVED)
        scratch_remove(dir);
    else
        CHECK_INT(how == RENAMED ? rename(dir, away) : unlink(newest), 0);
    daemon_recorder_look(recorder); /* while nothing comes */
    time_t until = time(NULL) + PATIENCE_S;
    while (daemon_recorder_wants_state(recorder) != RECORDER_AFTER_HOLE && time(NULL) < until)
        usleep(1000);
    CHECK(daemon_recorder_wants_state(recorder) == RECORDER_AFTER_HOLE);
    uint64_t last = recover(recorder, rotated ? 101 : 100);
    daemon_recorder_stats(recorder, &stats);
    CHECK(stats.holes == 1 && stats.restarts == 1 && stats.lost == 1 && times_failed() >= 1);
    CHECK_INT(daemon_recorder_close(recorder, CLOSE_MS), 0);
    CHECK_INT(journal_verify(dir, &summary, err, sizeof err), 0);
    CHECK(summary.last_seq == last && summary.holes == 0 && summary.segments >= 1);
    newest_name(newest);
    CHECK(strcmp(strrchr(newest, '/'), "/00000003") > 0);
    recorder = opened(&config);
    CHECK_INT(daemon_recorder_close(recorder, CLOSE_MS), 0);
    if (how == RENAMED) {
        CHECK_INT(journal_verify(away, &summary, err, sizeof err), 0);
        CHECK_INT(summary.last_seq, rotated ? 101 : 100);
    }
    scratch_remove(away);
    scratch_remove(dir);
    reports.failed = reports.worked = 0;
}

/* Another log in its place is left alone and reported; once that is removed, recording starts again. */
static void test_replaced(void)
{
    struct recorder_config config = daemon_config_of();
    struct recorder *recorder = opened(&config);
    struct recorder_stats stats;
    char away[80], path[160];
    snprintf(away, sizeof away, "%s.away", dir);
    snprintf(path, sizeof path, "%s/00000001-20261123T000000Z-0.journal", dir);
    give_state(recorder, 0);
    give_event(recorder, 1);
    CHECK_INT(daemon_recorder_sync(recorder, 1), 0);
    CHECK_INT(rename(dir, away) | mkdir(dir, 0750), 0);
    fclose(fopen(path, "w"));
    give_event(recorder, 2);
    CHECK_INT(daemon_recorder_sync(recorder, 2), -EEXIST);
    daemon_recorder_stats(recorder, &stats);
    CHECK(!stats.ok && stats.lost == 0 && strstr(stats.detail, "another log is in its place"));
    CHECK_INT(unlink(path), 0);
    recover(recorder, 2);
    CHECK_INT(daemon_recorder_close(recorder, CLOSE_MS), 0);
    scratch_remove(away);
    scratch_remove(dir);
    reports.failed = reports.worked = 0;
}

/* A recording ends at its first failure, and holds up nothing. */
static void test_once(void)
{
    struct recorder_config config = daemon_config_of();
    config.once = config.raw = true;
    struct recorder *recorder = opened(&config);
    struct recorder_stats stats;
    give_state(recorder, 0);
    daemon_recorder_reply(recorder, 0, time_of(0), "/api/v3/time", "{\"serverTime\":1}", 16);
    daemon_recorder_frame(recorder, 0, time_of(0), "{\"e\":\"trade\"}", 13);
    give_event(recorder, 1);
    CHECK_INT(daemon_recorder_sync(recorder, 1), 0);
    daemon_recorder_stats(recorder, &stats);
    limit_files(stats.journal.file_bytes + 1024);
    for (uint64_t seq = 2; seq <= 200; seq++)
        give_event(recorder, seq);
    CHECK_INT(daemon_recorder_sync(recorder, 200), 0); /* it gave up */
    limit_files(RLIM_INFINITY);
    give_event(recorder, 201);
    daemon_recorder_stats(recorder, &stats);
    CHECK(stats.lost > 0 && !stats.ok);
    CHECK(daemon_recorder_close(recorder, CLOSE_MS) < 0);
    CHECK_INT(times_failed(), 1);

    struct journal_reader *reader = NULL;
    struct journal_record record;
    CHECK_INT(journal_reader_open(dir, &reader, err, sizeof err), 0);
    CHECK(journal_reader_next(reader, &record) > 0 && record.kind == JOURNAL_STATE);
    CHECK(journal_reader_next(reader, &record) > 0 && record.kind == JOURNAL_REPLY);
    CHECK_INT(record.len, 29);
    CHECK(memcmp(record.bytes, "/api/v3/time\n{\"serverTime\":1}", 29) == 0);
    CHECK(journal_reader_next(reader, &record) > 0 && record.kind == JOURNAL_FRAME && record.len == 13);
    journal_reader_close(reader);
    empty_dir();
}

int main(void)
{
    signal(SIGXFSZ, SIG_IGN);
    snprintf(dir, sizeof dir, "/tmp/papertape-recorder-%d", (int)getpid());
    empty_dir();
    test_records();
    test_rotation();
    test_full_disk();
    test_hole();
    test_opened_in_doubt();
    test_unseen();
    for (enum gone how = REMOVED; how < GONES; how++) {
        test_gone(how, false);
        test_gone(how, true);
    }
    test_replaced();
    test_once();
    return check_done("daemon/recorder");
}
