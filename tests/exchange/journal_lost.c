/* Syncs that fail, and with them what was written: the disk has other bytes, or zeros, where the journal
 * still reads well, as kernels leave it, and syncs that succeed after that say nothing of it. What was
 * acknowledged is there when all that is read comes from the disk; where neither has it, bad segments are set
 * aside and a state begins the log. And a device that loses writes and never reports it: at any moment the
 * disk has all that was acknowledged. */
#include "exchange/journal/files.h"
#include "tests/exchange/journal.h"

enum {
    ROUNDS = 300,
    ROUNDS_LONG = 5000,
    RECORDS = 60,
    STATES = 9,
    PAGE = 4096,
    FILES_MAX = 64,
    SPELL_MAX = 6
};

/* What the disk has of a file. */
struct medium {
    ino_t number;
    uint8_t *bytes;
    bool *dirty; /* pages that a sync would write */
    int64_t size, cap;
};

static struct {
    struct medium media[FILES_MAX];
    int n;
    struct random random;
    int spell;   /* so many more syncs lose what they should store */
    bool torn;   /* what was there before is gone from those pages too */
    int lost;    /* pages */
    bool honest; /* such a sync reports an error */
    bool lies;   /* no sync reports an error */
} disk;

static char err[JOURNAL_ERROR_MAX];

static void grow(struct medium *m, int64_t size)
{
    if (size <= m->size)
        return;
    if (size > m->cap) {
        int64_t cap = (size / PAGE + 16) * PAGE;
        m->bytes = realloc(m->bytes, (size_t)cap);
        m->dirty = realloc(m->dirty, (size_t)(cap / PAGE));
        if (!m->bytes || !m->dirty)
            exit(EXIT_FAILURE);
        memset(m->bytes + m->cap, 0, (size_t)(cap - m->cap));
        memset(m->dirty + m->cap / PAGE, 0, (size_t)((cap - m->cap) / PAGE));
        m->cap = cap;
    }
    m->size = size;
}

static struct medium *medium_of(int fd)
{
    struct stat st;
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return NULL;
    for (int i = 0; i < disk.n; i++)
        if (disk.media[i].number == st.st_ino)
            return &disk.media[i];
    if (disk.n == FILES_MAX)
        exit(EXIT_FAILURE);
    disk.media[disk.n] = (struct medium){.number = st.st_ino};
    return &disk.media[disk.n++];
}

static void forget(void)
{
    for (int i = 0; i < disk.n; i++) {
        free(disk.media[i].bytes);
        free(disk.media[i].dirty);
    }
    disk.n = 0;
}

static int lossy_open(void *ctx, int dir, const char *name, int flags)
{
    int fd = journal_files_system.open(ctx, dir, name, flags);
    struct medium *m = fd >= 0 && (flags & O_TRUNC) ? medium_of(fd) : NULL;
    if (m) /* a new file may have the number of one that was removed */
        m->size = 0;
    if (m && m->cap > 0) {
        memset(m->bytes, 0, (size_t)m->cap);
        memset(m->dirty, 0, (size_t)(m->cap / PAGE));
    }
    return fd;
}

static ssize_t lossy_write(void *ctx, int fd, const void *bytes, size_t len, int64_t at)
{
    struct medium *m = medium_of(fd);
    ssize_t n = journal_files_system.write(ctx, fd, bytes, len, at);
    if (n > 0) {
        int64_t size = m->size;
        grow(m, at + n);
        for (int64_t page = at / PAGE; page * PAGE < at + n; page++)
            m->dirty[page] = true;
        m->size = size; /* until a sync */
    }
    return n;
}

static void write_back(struct medium *m, int fd, int64_t page, bool loses)
{
    uint8_t bytes[PAGE] = {0};
    m->dirty[page] = false;
    disk.lost += loses;
    if (!loses && journal_files_system.read(NULL, fd, bytes, PAGE, page * PAGE) < 0)
        exit(EXIT_FAILURE);
    if (!loses || disk.torn)
        memcpy(m->bytes + page * PAGE, bytes, PAGE);
}

static int lossy_sync(void *ctx, int fd)
{
    struct medium *m = medium_of(fd);
    bool bad = disk.spell > 0;
    (void)ctx;
    if (!m)
        return 0;
    disk.spell -= bad;
    grow(m, journal_files_size(fd));
    for (int64_t page = 0; page * PAGE < m->size; page++)
        if (m->dirty[page])
            write_back(m, fd, page, bad && random_chance(&disk.random, 70));
    return bad && disk.honest && !disk.lies ? -EIO : 0;
}

static int lossy_cut(void *ctx, int fd, int64_t size)
{
    struct medium *m = medium_of(fd);
    if (m->size > size)
        m->size = size;
    return journal_files_system.cut(ctx, fd, size);
}

static int lossy_same(void *ctx, int dir, const char *name, int64_t from, int64_t to)
{
    uint8_t bytes[PAGE];
    int fd = journal_files_system.open(ctx, dir, name, O_RDONLY), equal = 1;
    struct medium *m = fd >= 0 ? medium_of(fd) : NULL;
    if (fd < 0)
        return fd;
    if (m->size < to)
        equal = 0;
    for (int64_t at = from; equal == 1 && at < to; at += PAGE) {
        size_t len = to - at < PAGE ? (size_t)(to - at) : PAGE;
        ssize_t n = journal_files_read(&journal_files_system, fd, bytes, len, at);
        equal = n == (ssize_t)len && memcmp(bytes, m->bytes + at, len) == 0;
    }
    close(fd);
    return equal;
}

static struct journal_files lossy;

static void lossy_init(uint64_t seed)
{
    lossy = journal_files_system;
    lossy.open = lossy_open;
    lossy.write = lossy_write;
    lossy.sync = lossy_sync;
    lossy.cut = lossy_cut;
    lossy.same = lossy_same;
    lossy.settle = NULL;
    forget();
    disk.random = (struct random){seed};
    disk.spell = disk.lost = 0;
}

/* The page cache is empty: the file is what the disk has. `share`, per cent: of the pages. */
static void evict(const char *path, int share)
{
    int fd = open(path, O_RDWR);
    struct medium *m = fd >= 0 ? medium_of(fd) : NULL;
    for (int64_t page = 0; m && page * PAGE < m->size; page++) {
        int64_t left = m->size - page * PAGE;
        if (!m->dirty[page] && random_chance(&disk.random, share))
            journal_files_write(&journal_files_system, fd, m->bytes + page * PAGE,
                                left < PAGE ? (size_t)left : PAGE, page * PAGE);
    }
    if (m && share == 100 && ftruncate(fd, m->size) < 0)
        exit(EXIT_FAILURE);
    if (fd >= 0)
        close(fd);
}

static void evict_all(const char *path)
{
    evict(path, 100);
}

static void evict_some(const char *path)
{
    evict(path, 50);
}

static const struct journal_writer_config config = {.dir = journal_dir, .block_bytes = 700, .sync = true};

/* Has the disk every segment as it reads? */
static void check_segment(const char *path)
{
    struct stat st;
    CHECK_INT(stat(path, &st), 0);
    CHECK_INT(lossy_same(NULL, AT_FDCWD, path, 0, st.st_size), 1);
}

/* Puts a batch as the recorder does: after a failure nothing before a proof, and nothing is acknowledged
 * before another. 1; 0: a segment could not be mended, and the log is to begin with a state. */
static int insist(struct journal_writer *writer, const struct journal_batch *batch, bool evicts, bool *doubt)
{
    bool put = false;
    for (int tries = 0; tries < 100; tries++) {
        int r = *doubt ? journal_writer_prove(writer, err, sizeof err) : 0;
        if (r == -EBADMSG)
            return 0;
        if (r == 0 && put)
            return 1;
        if (r == 0)
            r = journal_writer_put(writer, batch);
        put = r == 0;
        if (r == 0 && !*doubt)
            return 1;
        if (evicts && !*doubt)
            journal_files_ending(".journal", evict_some);
        *doubt = true;
    }
    CHECK(false);
    return 0;
}

/* A journal over a spell; returns how many records were acknowledged from the newest beginning on. */
static void one_round(uint64_t seed, bool evicts, uint64_t counts[static 3])
{
    struct journal_writer *writer = NULL;
    struct journal_tail tail;
    struct journal_batch batch;
    struct making making = making_begin(STATES);
    uint64_t read = 0;
    bool doubt = false, whole = true;
    lossy_init(seed);
    journal_files_ending("", journal_remove);
    CHECK_INT(journal_writer_open_on(&lossy, &config, &writer, &tail, err, sizeof err), 0);
    journal_batch_init(&batch);
    int bad_at = (int)random_between(&disk.random, 1, RECORDS - 10);
    for (int i = 0; i < RECORDS && whole; i++) {
        CHECK_INT(journal_batch_add(&batch, making_next(&making)), 0);
        if (i == bad_at) {
            disk.spell = (int)random_between(&disk.random, 1, SPELL_MAX);
            disk.torn = random_chance(&disk.random, 50);
        }
        disk.honest =
            disk.spell == 1 || random_chance(&disk.random, 60); /* each spell is reported once at least */
        if (!random_chance(&disk.random, 40) && i + 1 < RECORDS)
            continue;
        whole = insist(writer, &batch, evicts, &doubt) == 1;
        if (disk.lies)
            journal_files_ending(".journal", check_segment);
        journal_batch_clear(&batch);
    }
    if (whole) /* the end of a spell may not have come up */
        whole = journal_writer_prove(writer, err, sizeof err) == 0;
    counts[0] += disk.lost > 0;
    if (!whole) {
        char aside[64];
        struct made state;
        CHECK_INT(journal_writer_set_aside(writer, aside, sizeof aside), 0);
        made_record(making.i, making.seq, JOURNAL_STATE, &state);
        journal_batch_clear(&batch);
        CHECK_INT(journal_batch_add(&batch, &state.record), 0);
        CHECK_INT(insist(writer, &batch, false, &doubt), 1);
        counts[1]++;
    }
    journal_batch_finish(&batch);
    journal_writer_close(writer);
    journal_files_ending(".journal", evict_all);
    if (whole) {
        CHECK_INT(journal_read_all(STATES, &read, err), 0);
        CHECK_STR(err, "");
        CHECK_INT(read, RECORDS);
    } else {
        struct journal_summary summary;
        CHECK_INT(journal_verify(journal_dir, &summary, err, sizeof err), 0);
        CHECK(summary.records >= 1 && summary.last_seq == making.seq);
    }
    counts[2] += whole;
}

static void remove_aside(void)
{
    char command[SCRATCH_MAX + 32];
    snprintf(command, sizeof command, "rm -rf %s/damaged-*", journal_dir);
    CHECK_INT(system(command), 0);
}

int main(void)
{
    int rounds = getenv("PAPERTAPE_LONG") ? ROUNDS_LONG : ROUNDS;
    uint64_t kept[3] = {0}, evicted[3] = {0}, denied[3] = {0};
    journal_dir_make();
    for (int i = 0; i < rounds && !check_failures; i++) {
        one_round((uint64_t)i + 1, false, kept);
        if (check_failures)
            fprintf(stderr, "seed %d: %s\n", i + 1, err);
    }
    CHECK_INT(kept[1], 0);
    disk.lies = true;
    for (int i = 0; i < rounds / 3 && !check_failures; i++) {
        one_round((uint64_t)i + 1, false, denied);
        if (check_failures)
            fprintf(stderr, "seed %d, denied: %s\n", i + 1, err);
    }
    CHECK_INT(denied[1], 0);
    disk.lies = false;
    for (int i = 0; i < rounds && !check_failures; i++) {
        one_round((uint64_t)i + 1, true, evicted);
        remove_aside();
        if (check_failures)
            fprintf(stderr, "seed %d, evicted: %s\n", i + 1, err);
    }
    CHECK(kept[0] > 0 && denied[0] > 0 && evicted[1] > 0);
    printf(
        "%d journals lost pages: %d read whole from the disk; of %d whose syncs denied it, %d; of %d whose "
        "pages were evicted too, %d whole, %d set aside\n",
        (int)kept[0], (int)kept[2], (int)denied[0], (int)denied[2], rounds, (int)evicted[2], (int)evicted[1]);
    forget();
    return check_done("journal_lost");
}
