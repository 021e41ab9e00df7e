/* The cache of markets: what comes from it is what the files say, to the bit; whatever happens to its files,
 * to the files that it stands for, and to the processes that write it. */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

#include "engine/market/cache.h"
#include "engine/market/image.h"
#include "tests/engine/market_files.h"
#include "tests/engine/market_same.h"

enum { N_FILES = 2, COPY_MAX = 1 << 20 };

static const int64_t minute = 60000000000, second = 1000000000, epoch = 1672531200000000000;
static char err[MARKET_ERROR_MAX], folder[SCRATCH_MAX];
static struct made_file files[N_FILES];
static const char *paths[N_FILES];
static struct market_options cached, plain = {.no_cache = true};
static struct market *fresh; /* as the files say */

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return t.tv_sec * second + t.tv_nsec;
}

/* Loads with the cache; whether it came from there. The result is always the right one. */
static bool load_from(const struct market_options *options, char *note)
{
    struct market_load load = {0};
    struct market *m = NULL;
    CHECK_INT(market_store_load_files(paths, N_FILES, options, &m, &load, err), 0);
    CHECK(m && market_same(m, fresh));
    CHECK(load.cached == (load.source_bytes == 0));
    if (note)
        memcpy(note, load.note, sizeof(load.note));
    else
        CHECK_STR(load.note, "");
    market_store_close(m);
    return load.cached;
}

static size_t count(const char *pattern, char last[static PATH_MAX])
{
    char all[PATH_MAX];
    glob_t found;
    snprintf(all, sizeof(all), "%s/%s", folder, pattern);
    size_t n = glob(all, 0, NULL, &found) == 0 ? found.gl_pathc : 0;
    if (n > 0)
        snprintf(last, PATH_MAX, "%s", found.gl_pathv[n - 1]);
    globfree(&found);
    return n;
}

static void clean(void)
{
    scratch_remove(folder);
    CHECK_INT(mkdir(folder, 0700), 0);
}

static size_t slurp(const char *path, unsigned char buf[static COPY_MAX])
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = read(fd, buf, COPY_MAX);
    CHECK(fd >= 0 && n > 0);
    close(fd);
    return n > 0 ? (size_t)n : 0;
}

static void spill(const char *path, const unsigned char *bytes, size_t n)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    CHECK(fd >= 0 && write(fd, bytes, n) == (ssize_t)n);
    close(fd);
}

static void make_files(struct random *random)
{
    static const char *const names[N_FILES] = {"ONEUSDT", "TWOUSDT"};
    for (int i = 0; i < N_FILES; i++) {
        made_draw(random, &files[i], 60, epoch + 7 * i * minute, minute, 10);
        made_write(random, &files[i], names[i]);
        paths[i] = files[i].path;
    }
    market_store_close(fresh);
    plain.interval_ns = cached.interval_ns = minute;
    cached.cache = folder;
    cached.now_ns = now_ns() + 10 * second; /* the files are old enough to be known by their looks */
    CHECK_INT(market_store_load_files(paths, N_FILES, &plain, &fresh, NULL, err), 0);
}

static void test_round_trip(struct random *random)
{
    char path[PATH_MAX];
    for (int i = 0; i < 20; i++) {
        clean();
        make_files(random);
        CHECK(!load_from(&cached, NULL));
        CHECK(load_from(&cached, NULL));
        CHECK_INT(count("*.market", path), 1);
        CHECK_INT(count("*.hash", path), N_FILES);
        CHECK_INT(count("tmp-*", path), 0);
    }
    /* What decides what a market holds decides which file it is in. */
    struct market_options other = cached;
    struct market_load load;
    struct market *m, *direct;
    other.from_ns = files[0].open_ns[5];
    other.to_ns = files[0].open_ns[40];
    for (int i = 0; i < 2; i++) {
        CHECK_INT(market_store_load_files(paths, N_FILES, &other, &m, &load, err), 0);
        CHECK_INT(load.cached, i);
        struct market_options without = other;
        without.no_cache = true;
        CHECK_INT(market_store_load_files(paths, N_FILES, &without, &direct, NULL, err), 0);
        CHECK(market_same(m, direct) && m->rows < fresh->rows && m->series[0].first == 0);
        market_store_close(direct);
        market_store_close(m);
    }
    CHECK_INT(count("*.market", path), 2);
    other = cached;
    other.names = (const char *const[]){"ONEUSDT", "thrbtc"};
    for (int i = 0; i < 2; i++) {
        CHECK_INT(market_store_load_files(paths, N_FILES, &other, &m, &load, err), 0);
        CHECK_INT(load.cached, i);
        CHECK_STR(m->series[1].symbol.name, "THRBTC");
        CHECK_STR(m->series[1].symbol.quote, "BTC");
        CHECK(memcmp(m->content, fresh->content, sizeof(m->content)) != 0);
        market_store_close(m);
    }
    const char *backwards[] = {paths[1], paths[0]};
    CHECK_INT(market_store_load_files(backwards, 2, &cached, &m, &load, err), 0);
    CHECK(!load.cached);
    CHECK_STR(m->series[0].symbol.name, "TWOUSDT");
    market_store_close(m);
    CHECK(load_from(&cached, NULL));
}

/* A market whose bars were repaired, or whose terms were given, hides nothing from a load without. */
static void test_repaired(void)
{
    struct market_options repair = cached, lots = cached;
    struct market_load load;
    struct market *m;
    const char *path = scratch_write("GAPUSDT_1m.csv", "open_time,open,high,low,close,volume\n"
                                                       "60,1,1,1,1,1\n120,3,2,1,1,1\n180,1,1,1,1,1\n");
    const char *const one[] = {path}, *const lot[] = {"0.5"};
    repair.repair = true;
    for (int i = 0; i < 2; i++) {
        CHECK_INT(market_store_load_files(one, 1, &repair, &m, &load, err), 0);
        CHECK_INT(load.cached, i);
        CHECK(m->series[0].repaired == 1 && m->series[0].high[1] == 3);
        market_store_close(m);
        CHECK_INT(market_store_load_files(one, 1, &cached, &m, &load, err), -ERANGE);
        CHECK(strstr(err, "open is outside low to high") && strstr(err, ":3:"));
    }
    lots.repair = true;
    lots.terms.lots = lot;
    for (int i = 0; i < 2; i++) {
        CHECK_INT(market_store_load_files(one, 1, &lots, &m, &load, err), 0);
        CHECK_INT(load.cached, i);
        CHECK_INT(m->series[0].symbol.filters.step, 50000000);
        market_store_close(m);
    }
}

/* Every byte of a cached market, changed alone, is noticed. */
static void test_every_byte(struct random *random)
{
    static unsigned char bytes[COPY_MAX];
    uint8_t key[MARKET_HASH_SIZE];
    char path[PATH_MAX], why[BLOB_WHY_MAX];
    struct blob blob;
    clean();
    CHECK(!load_from(&cached, NULL));
    CHECK_INT(count("*.market", path), 1);
    size_t n = slurp(path, bytes), unnoticed = 0;
    memcpy(key, ((struct blob_header *)bytes)->key, sizeof(key));
    int fd = memfd_create("damaged", MFD_CLOEXEC);
    CHECK(write(fd, bytes, n) == (ssize_t)n);
    CHECK_INT(market_store_blob_map(fd, IMAGE_KIND, key, 1, &blob, why), 0);
    market_store_blob_release(&blob);
    for (size_t i = 0; i < n; i++) {
        unsigned char other = bytes[i] ^ (unsigned char)random_between(random, 1, 255);
        CHECK(pwrite(fd, &other, 1, (off_t)i) == 1);
        if (market_store_blob_map(fd, IMAGE_KIND, key, 1, &blob, why) != -EBADMSG)
            unnoticed++;
        CHECK(pwrite(fd, &bytes[i], 1, (off_t)i) == 1);
    }
    CHECK_INT(unnoticed, 0);
    printf("every byte: %zu of them\n", n);
    for (size_t size = 0; size < n; size += (size_t)random_between(random, 1, 200)) {
        CHECK_INT(ftruncate(fd, (off_t)size), 0);
        CHECK_INT(market_store_blob_map(fd, IMAGE_KIND, key, 1, &blob, why), -EBADMSG);
    }
    CHECK(pwrite(fd, bytes, n, 0) == (ssize_t)n);
    CHECK_INT(ftruncate(fd, (off_t)n + 1), 0);
    CHECK_INT(market_store_blob_map(fd, IMAGE_KIND, key, 1, &blob, why), -EBADMSG);
    CHECK_INT(ftruncate(fd, (off_t)n), 0);
    CHECK_INT(market_store_blob_map(fd, "other", key, 1, &blob, why), -EBADMSG);
    key[5] ^= 1;
    CHECK_INT(market_store_blob_map(fd, IMAGE_KIND, key, 1, &blob, why), -EBADMSG);
    close(fd);
}

/* The same through the whole load, which deletes the file, says so, and makes it again. */
static void test_damage(struct random *random)
{
    static unsigned char bytes[COPY_MAX];
    char path[PATH_MAX], note[MARKET_ERROR_MAX];
    struct blob_header *header = (struct blob_header *)bytes;
    clean();
    CHECK(!load_from(&cached, NULL));
    CHECK_INT(count("*.market", path), 1);
    size_t n = slurp(path, bytes);
    for (int i = 0; i < 120; i++) {
        const char *said = "cache thrown away: ";
        size_t at = i < 60 ? (size_t)random_between(random, 0, (int64_t)n - 1)
                           : (size_t)random_between(random, 0, sizeof(*header) - 1);
        bytes[at] ^= 0x40;
        spill(path, bytes, n);
        bytes[at] ^= 0x40;
        CHECK(!load_from(&cached, note));
        CHECK(strncmp(note, said, strlen(said)) == 0 && strstr(note, path) && !strchr(note, '\n'));
        CHECK(load_from(&cached, NULL));
    }
    static const struct {
        const char *words;
        size_t at, size;
        uint64_t value;
    } cases[] = {
        {"is no file of this cache", offsetof(struct blob_header, magic), 8, 0},
        {"another byte order", offsetof(struct blob_header, order), 4, 0x04030201},
        {"layout is 7, newer than 1", offsetof(struct blob_header, layout), 4, 7},
        {"layout is 0, older than 1", offsetof(struct blob_header, layout), 4, 0},
        {"bytes of", offsetof(struct blob_header, size), 8, 1ull << 60},
        {"header is damaged", offsetof(struct blob_header, data), 8, UINT64_MAX - 7},
        {"header is damaged", offsetof(struct blob_header, head), 8, UINT64_MAX - 7},
        {"header is damaged", offsetof(struct blob_header, chunks), 8, UINT64_MAX},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct blob_header was = *header;
        memcpy(bytes + cases[i].at, &cases[i].value, cases[i].size);
        spill(path, bytes, n);
        *header = was;
        CHECK(!load_from(&cached, note));
        bool said = strstr(note, cases[i].words) != NULL;
        CHECK(said);
        if (!said)
            fprintf(stderr, "case %zu: %s\n", i, note);
        CHECK(load_from(&cached, NULL));
    }
    spill(path, bytes, n / 2);
    CHECK(!load_from(&cached, note) && strstr(note, "bytes of"));
    CHECK(load_from(&cached, NULL));
    spill(path, (const unsigned char *)"x", 1);
    CHECK(!load_from(&cached, note) && strstr(note, "less than a header"));
    CHECK(load_from(&cached, NULL));
    CHECK_INT(unlink(path), 0);
    CHECK(!load_from(&cached, NULL));
    CHECK(load_from(&cached, NULL));

    /* Heads with good sums that contradict themselves. */
    for (int i = 0; i < 8; i++) {
        struct market_image *image;
        struct blob blob;
        CHECK_INT(market_store_blob_create(IMAGE_KIND, header->head, n - header->data, &blob), 0);
        memcpy(blob.bytes, bytes, n);
        struct image_head *head = blob_head(&blob);
        struct image_symbol *symbols = (struct image_symbol *)(head + 1);
        if (i == 0)
            head->n_symbols = 0;
        else if (i == 1)
            head->n_symbols = UINT32_MAX;
        else if (i == 2)
            head->rows = UINT64_MAX / 8;
        else if (i == 3)
            head->rows += 100000;
        else if (i == 4)
            head->interval_ns = 0;
        else if (i == 5)
            memset(symbols[1].symbol.name, 'A', sizeof(symbols[1].symbol.name));
        else if (i == 6)
            symbols[0].last = head->rows;
        else
            symbols[0].symbol.price_scale = 19;
        market_store_blob_seal(&blob, header->key, 1);
        spill(path, blob.bytes, n);
        CHECK_INT(market_store_image_open(&blob, &image), -EBADMSG);
        market_store_blob_release(&blob);
        CHECK(!load_from(&cached, note) && strstr(note, "contradicts itself"));
        CHECK(load_from(&cached, NULL));
    }
}

/* A market of many chunks, on several threads. */
static void test_large(struct random *random)
{
    const size_t n = getenv("PAPERTAPE_LONG") ? 2000000 : 150000;
    struct market_options options = {.cache = folder, .now_ns = cached.now_ns + 60 * second, .threads = 3};
    struct market_load load;
    struct market *m, *again;
    const char *large[N_FILES];
    char path[PATH_MAX], why[BLOB_WHY_MAX];
    uint8_t key[MARKET_HASH_SIZE];
    clean();
    for (int i = 0; i < N_FILES; i++) {
        large[i] = scratch_path(i ? "LARGEBTC_1m.csv" : "LARGEUSDT_1m.csv");
        FILE *out = fopen(large[i], "we");
        for (size_t k = 0; k < n; k++) {
            size_t cents = (k + 1) * (size_t)(i + 7) % 9000 + 100;
            if (k % 1000 != 999)
                fprintf(out, "%zu,%zu.%02zu,%zu.5,%zu,%zu.25,%zu.125\n", 60 * k, cents / 100, cents % 100,
                        cents / 100 + 1, cents / 100 - 1 + (cents < 200), cents / 100, k % 77);
        }
        CHECK_INT(fclose(out), 0);
    }
    CHECK_INT(market_store_load_files(large, N_FILES, &options, &m, &load, err), 0);
    CHECK(!load.cached && m->rows == n - (n % 1000 == 0));
    CHECK_INT(load.bars, N_FILES * (n - n / 1000));
    size_t bad = 0;
    for (int i = 0; i < N_FILES; i++)
        for (size_t k = 0; k < m->rows; k++) {
            const struct market_series *s = &m->series[i];
            size_t cents = (k + 1) * (size_t)(i + 7) % 9000 + 100;
            bool there = k % 1000 != 999;
            bad += market_present(s, k) != there;
            bad += s->open[k] != (there ? (double)cents / 100 : s->close[k - 1]);
            bad += s->volume[k] != (there ? (double)(k % 77) + 0.125 : 0);
        }
    CHECK_INT(bad, 0);
    CHECK_INT(market_store_load_files(large, N_FILES, &options, &again, &load, err), 0);
    CHECK(load.cached && market_same(m, again));
    market_store_close(again);

    /* A byte anywhere in the data. */
    CHECK_INT(count("*.market", path), 1);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    struct stat st;
    struct blob blob;
    CHECK_INT(fstat(fd, &st), 0);
    CHECK(pread(fd, key, sizeof(key), offsetof(struct blob_header, key)) == sizeof(key));
    CHECK(st.st_size > 5 * BLOB_CHUNK);
    for (int i = 0; i < 40; i++) {
        off_t at = i == 0 ? st.st_size - 1 : random_between(random, 0, st.st_size - 1);
        unsigned char byte;
        CHECK(pread(fd, &byte, 1, at) == 1);
        byte ^= 0x80;
        CHECK(pwrite(fd, &byte, 1, at) == 1);
        CHECK_INT(market_store_blob_map(fd, IMAGE_KIND, key, 3, &blob, why), -EBADMSG);
        byte ^= 0x80;
        CHECK(pwrite(fd, &byte, 1, at) == 1);
    }
    CHECK_INT(market_store_blob_map(fd, IMAGE_KIND, key, 3, &blob, why), 0);
    market_store_blob_release(&blob);
    close(fd);
    market_store_close(m);
}

/* Another hash in what is known of a file, with a good sum: both are its end. */
static void forge(const char *path)
{
    static unsigned char bytes[COPY_MAX];
    size_t n = slurp(path, bytes);
    bytes[n - sizeof(uint64_t) - 1] ^= 1;
    const uint64_t sum = XXH3_64bits(bytes, n - sizeof sum);
    memcpy(bytes + n - sizeof sum, &sum, sizeof sum);
    spill(path, bytes, n);
}

static void test_files_change(struct random *random)
{
    static unsigned char bytes[COPY_MAX];
    char path[PATH_MAX];
    struct stat st;
    clean();
    make_files(random);
    CHECK(!load_from(&cached, NULL));
    CHECK(load_from(&cached, NULL));

    /* Another file of the same size and with the same time of modification. */
    CHECK_INT(stat(paths[0], &st), 0);
    size_t n = slurp(paths[0], bytes);
    struct made_file was = files[0];
    for (int i = 0; i < 20; i++) {
        made_write(random, &files[0], "ONEUSDT");
        files[0].volume[3] ^= 1;
        struct stat now;
        market_store_close(fresh);
        CHECK_INT(stat(paths[0], &now), 0);
        struct timespec times[] = {st.st_atim, st.st_mtim};
        CHECK_INT(utimensat(AT_FDCWD, paths[0], times, 0), 0);
        CHECK_INT(market_store_load_files(paths, N_FILES, &plain, &fresh, NULL, err), 0);
        load_from(&cached, NULL);
        CHECK(load_from(&cached, NULL));
    }
    files[0] = was;
    spill(paths[0], bytes, n);
    market_store_close(fresh);
    CHECK_INT(market_store_load_files(paths, N_FILES, &plain, &fresh, NULL, err), 0);

    /* Of one that changed less than two seconds before it was hashed the bytes are hashed again, however
     * often, and what was known of them is not believed. */
    clean();
    struct market_options racy = cached;
    CHECK_INT(stat(paths[0], &st), 0);
    int64_t changed = st.st_ctim.tv_sec * second + st.st_ctim.tv_nsec;
    CHECK_INT(stat(paths[1], &st), 0);
    int64_t other = st.st_ctim.tv_sec * second + st.st_ctim.tv_nsec;
    int64_t before = other < changed ? other : changed;
    changed = other > changed ? other : changed;
    for (int64_t after = -5 * second; after < CACHE_RACY_NS; after += second - 1) {
        racy.now_ns = changed + after;
        clean();
        CHECK(!load_from(&racy, NULL));
        CHECK(load_from(&racy, NULL));
        CHECK_INT(count("*.hash", path), N_FILES);
        if (racy.now_ns - before < CACHE_RACY_NS) /* so is either file's */
            forge(path);
        CHECK(load_from(&racy, NULL));
    }
    CHECK_INT(count("*.market", path), 1);
    racy.now_ns = changed + CACHE_RACY_NS;
    CHECK(load_from(&racy, NULL));
    CHECK(load_from(&racy, NULL));
    CHECK_INT(count("*.hash", path), N_FILES);
    n = slurp(path, bytes);
    forge(path); /* later it is believed: the market of that hash is not there */
    CHECK(!load_from(&racy, NULL));
    spill(path, bytes, n);

    /* What is known of a file, damaged: every byte. */
    n = slurp(path, bytes);
    for (size_t i = 0; i < n; i++) {
        bytes[i] ^= 0x10;
        spill(path, bytes, n);
        bytes[i] ^= 0x10;
        racy.now_ns = changed; /* so that it is not written again */
        CHECK(!load_from(&racy, NULL));
    }
    spill(path, bytes, n / 2);
    CHECK(!load_from(&racy, NULL));
    spill(path, bytes, n);
    CHECK(load_from(&racy, NULL));
}

struct making {
    int asked, r;
};

static int make_again(void *ctx, char error[MARKET_ERROR_MAX])
{
    struct making *making = ctx;
    (void)error;
    making->asked++;
    return making->r;
}

/* Files that are made where the cache has not what their content follows from: once for each of it. */
static void test_made(struct random *random)
{
    uint8_t hash[MARKET_HASH_SIZE] = {1};
    const uint8_t *hashes[N_FILES] = {hash, NULL};
    struct making making = {0};
    struct market_options made = cached;
    char path[PATH_MAX];
    clean();
    make_files(random);
    made.hashes = hashes;
    made.write = make_again;
    made.write_ctx = &making;
    CHECK(!load_from(&made, NULL) && making.asked == 1);
    CHECK(load_from(&made, NULL) && making.asked == 1);
    CHECK_INT(count("*.hash", path), 1); /* of the other file */
    hash[0]++;
    making.r = -EIO;
    struct market *m;
    err[0] = '\0';
    CHECK_INT(market_store_load_files(paths, N_FILES, &made, &m, NULL, err), -EIO);
    CHECK(err[0] == '\0' && making.asked == 2);
    making.r = 0;
    CHECK(!load_from(&made, NULL) && making.asked == 3);
    CHECK(load_from(&made, NULL) && making.asked == 3);
    CHECK_INT(count("*.market", path), 2);
}

static void test_processes(struct random *random)
{
    static unsigned char bytes[COPY_MAX];
    char path[PATH_MAX], note[MARKET_ERROR_MAX];

    int status;

    clean();

    fflush(stdout); /* children would print it again */

    /* Killed at a byte of the write. */
    CHECK(!load_from(&cached, NULL));
    CHECK_INT(count("*.market", path), 1);
    size_t n = slurp(path, bytes);
    for (int i = 0; i < 20; i++) {
        clean();
        pid_t child = fork();
        if (child == 0) {
            struct rlimit limit = {.rlim_cur = (rlim_t)random_between(random, 200, (int64_t)n - 1),
                                   .rlim_max = RLIM_INFINITY};
            struct rlimit no_core = {0};
            setrlimit(RLIMIT_CORE, &no_core);
            setrlimit(RLIMIT_FSIZE, &limit);
            signal(SIGXFSZ, SIG_DFL);
            load_from(&cached, NULL);
            _exit(0);
        }
        random_next(random);
        CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGXFSZ);
        CHECK_INT(count("*.market", path), 0);
        CHECK_INT(count("tmp-*", path), 1);
        CHECK(!load_from(&cached, NULL));
        CHECK(load_from(&cached, NULL));
        CHECK_INT(count("tmp-*", path), 1); /* somebody may still write it */
        struct market_options later = cached;
        later.now_ns += 3601 * second;
        later.from_ns = files[0].open_ns[0];
        later.to_ns = INT64_MAX;
        struct market *m;
        CHECK_INT(market_store_load_files(paths, N_FILES, &later, &m, NULL, err), 0);
        market_store_close(m);
        CHECK_INT(count("tmp-*", path), 0);
    }

    /* A disk that is full: no cache, and nothing else. */
    clean();
    pid_t child = fork();
    if (child == 0) {
        struct rlimit limit = {.rlim_cur = 5000, .rlim_max = RLIM_INFINITY};
        setrlimit(RLIMIT_FSIZE, &limit);
        signal(SIGXFSZ, SIG_IGN);
        CHECK(!load_from(&cached, note));
        CHECK(strncmp(note, "cache not written: ", 19) == 0 && strstr(note, folder));
        CHECK_INT(count("tmp-*", path) + count("*.market", path), 0);
        _exit(check_failures > 0);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);

    /* Many at once, one of which breaks what the others write. */
    for (int round = 0; round < 10; round++) {
        pid_t children[8];
        clean();
        for (int k = 0; k < 8; k++) {
            children[k] = fork();
            if (children[k] == 0) {
                struct random own = {(uint64_t)(round * 100 + k)};
                struct market_options options = cached;
                options.threads = 1;
                for (int i = 0; i < 12; i++) {
                    if (k == 0 && count("*.market", path) > 0) {
                        int fd = open(path, O_RDWR | O_CLOEXEC);
                        unsigned char junk = (unsigned char)random_next(&own);
                        if (fd >= 0 &&
                            random_chance(&own, 50)) { /* as the disk would: in a file of its own */
                            size_t have = slurp(path, bytes);
                            bytes[random_between(&own, 0, (int64_t)have - 1)] ^= junk | 1;
                            char temporary[PATH_MAX + 8];
                            snprintf(temporary, sizeof(temporary), "%s.x", path);
                            spill(temporary, bytes, have);
                            CHECK(rename(temporary, path) == 0);
                        }
                        if (fd >= 0)
                            close(fd);
                    }
                    load_from(&options, note);
                }
                _exit(check_failures > 0);
            }
        }
        for (int k = 0; k < 8; k++)
            CHECK(waitpid(children[k], &status, 0) == children[k] && status == 0);
        load_from(&cached, note);
        CHECK(load_from(&cached, NULL));
        CHECK_INT(count("tmp-*", path), 0);
    }
}

static void test_folder(struct random *random)
{
    char path[PATH_MAX], note[MARKET_ERROR_MAX], home[PATH_MAX];
    struct market_options options = cached;
    struct market *m;
    clean();

    /* The limit: what was used longest ago goes. */
    CHECK(!load_from(&cached, NULL));
    CHECK_INT(count("*.market", path), 1);
    struct stat st;
    CHECK_INT(stat(path, &st), 0);
    uint64_t one = (uint64_t)st.st_blocks * 512;
    options.cache_bytes = 4 * one + N_FILES * 4096;
    struct timespec old[2] = {{1000, 0}, {1000, 0}};
    for (int i = 0; i < 12; i++) {
        options.to_ns = INT64_MAX;
        options.from_ns = files[0].open_ns[0] - 1000 * minute + i;
        CHECK_INT(market_store_load_files(paths, N_FILES, &options, &m, NULL, err), 0);
        market_store_close(m);
        CHECK(load_from(&cached, NULL)); /* always used, never gone */
        CHECK_INT(count("*.market", path), i < 3 ? i + 2 : 4);
        glob_t found;
        char all[PATH_MAX];
        snprintf(all, sizeof(all), "%s/*.market", folder);
        CHECK_INT(glob(all, 0, NULL, &found), 0);
        for (size_t k = 0; k < found.gl_pathc; k++) { /* only the one that is used every time is new */
            old[0].tv_sec = old[1].tv_sec = 1000 + i;
            CHECK_INT(utimensat(AT_FDCWD, found.gl_pathv[k], old, 0), 0);
        }
        globfree(&found);
        CHECK(load_from(&cached, NULL));
    }
    options = cached;
    options.from_ns = 1;
    options.to_ns = INT64_MAX;
    options.cache_bytes = 4096;
    struct market_load load;
    CHECK_INT(market_store_load_files(paths, N_FILES, &options, &m, &load, err), 0);
    CHECK(strstr(load.note, "limit: 4096"));
    market_store_close(m);

    /* Not every file there is ours. */
    clean();
    snprintf(home, sizeof(home), "%s/notes.txt", folder);
    spill(home, (const unsigned char *)"mine", 4);
    options = cached;
    options.cache_bytes = 1 << 16;
    for (int i = 0; i < 12; i++) {
        options.to_ns = INT64_MAX;
        options.from_ns = files[0].open_ns[0] - 1000 * minute + i;
        CHECK_INT(market_store_load_files(paths, N_FILES, &options, &m, NULL, err), 0);
        market_store_close(m);
    }
    CHECK_INT(access(home, R_OK), 0);

    /* A folder that cannot be: no cache, and a word on it. */
    options = cached;
    options.cache = home; /* a file */
    CHECK(!load_from(&options, note) && strncmp(note, "no cache: ", 10) == 0 && strstr(note, home));
    options.cache = "";
    CHECK(!load_from(&options, note) && strncmp(note, "no cache: ", 10) == 0);

    /* The default place. */
    options.cache = NULL;
    snprintf(home, sizeof(home), "%s/home", folder);
    setenv("HOME", home, 1);
    unsetenv("XDG_CACHE_HOME");
    CHECK(!load_from(&options, NULL));
    CHECK(load_from(&options, NULL));
    CHECK_INT(count("home/.cache/papertape/market/*.market", path), 1);
    setenv("XDG_CACHE_HOME", home, 1);
    CHECK(!load_from(&options, NULL));
    CHECK(load_from(&options, NULL));
    CHECK_INT(count("home/papertape/market/*.market", path), 1);
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    CHECK(!load_from(&options, note) && strstr(note, "HOME"));
    (void)random;
}

static const char info_text[] =
    "{\"symbols\":[{\"symbol\":\"ONEUSDT\",\"status\":\"TRADING\",\"baseAsset\":\"ONE\","
    "\"baseAssetPrecision\":8,"
    "\"quoteAsset\":\"USDT\",\"quotePrecision\":8,\"quoteAssetPrecision\":8,\"filters\":[{\"filterType\":"
    "\"PRICE_FILTER\",\"minPrice\":\"0.01\",\"maxPrice\":\"1000\",\"tickSize\":\"%s\"}]},{\"symbol\":"
    "\"TWOUSDT\",\"status\":\"TRADING\",\"baseAsset\":\"TWO\",\"baseAssetPrecision\":6,\"quoteAsset\":"
    "\"USDT\",\"quotePrecision\":8,\"quoteAssetPrecision\":8,\"filters\":[]}]}";

static void test_exchange_info(void)
{
    struct market_options options = cached;
    struct market_load load;
    struct market *m = NULL;
    char text[1024];
    clean();
    for (int i = 0; i < 4; i++) {
        snprintf(text, sizeof(text), info_text, i < 2 ? "0.01" : "0.05");
        options.exchange_info = scratch_write("info.json", text);
        for (int k = 0; k < 2; k++) {
            CHECK_INT(market_store_load_files(paths, N_FILES, &options, &m, &load, err), 0);
            CHECK_INT(load.cached, k == 1 || i % 2 == 1);
            CHECK_INT(m->series[0].symbol.filters.tick, i < 2 ? 1000000 : 5000000);
            CHECK_INT(m->series[1].symbol.qty_scale, 6);
            market_store_close(m);
        }
    }
    options.names = (const char *const[]){"ONEUSDT", "TWOUSTD"};
    CHECK_INT(market_store_load_files(paths, N_FILES, &options, &m, &load, err), -EINVAL);
    CHECK(strstr(err, "TWOUSTD") && strstr(err, "perhaps TWOUSDT") && strstr(err, options.exchange_info));
    options.names = NULL;
    options.exchange_info = scratch_write("info.json", "{\"symbols\":[");
    CHECK_INT(market_store_load_files(paths, N_FILES, &options, &m, &load, err), -EINVAL);
    CHECK(strstr(err, "no exchangeInfo") && strstr(err, "info.json"));
    options.exchange_info = scratch_path("absent.json");
    CHECK_INT(market_store_load_files(paths, N_FILES, &options, &m, &load, err), -ENOENT);
    CHECK(strstr(err, "absent.json"));
    options.no_cache = true;
    CHECK_INT(market_store_load_files(paths, N_FILES, &options, &m, &load, err), -ENOENT);
}

int main(void)
{
    struct random random = random_seeded("market_cache", 20261121);
    scratch_in_memory();
    scratch_make(folder);
    test_round_trip(&random);
    test_repaired();
    test_every_byte(&random);
    test_damage(&random);
    test_large(&random);
    test_files_change(&random);
    test_made(&random);
    test_processes(&random);
    make_files(&random);
    test_exchange_info();
    test_folder(&random);
    market_store_close(fresh);
    return check_done("market_cache");
}
