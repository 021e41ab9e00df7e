/* Journals for the tests: a directory of their own, records whose bytes identify them, and a reading that
 * knows which must come. */
#ifndef TESTS_EXCHANGE_JOURNAL_H
#define TESTS_EXCHANGE_JOURNAL_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exchange/journal/journal.h"
#include "tests/check.h"
#include "tests/random.h"
#include "tests/scratch.h"

enum { START_SEQ = 100, BYTES_MAX = 400 };
#define START_NS 1723161240000000000LL

static char journal_dir[SCRATCH_MAX];

static inline void journal_dir_make(void)
{
    scratch_in_memory();
    scratch_make(journal_dir);
}

/* Calls `each` for every file of the directory whose name ends so. */
static inline int journal_files_ending(const char *ending, void (*each)(const char *path))
{
    int n = 0;
    DIR *dir = opendir(journal_dir);
    for (const struct dirent *entry; dir && (entry = readdir(dir)) != NULL;) {
        size_t len = strlen(entry->d_name), end = strlen(ending);
        if (entry->d_name[0] == '.' || len < end || strcmp(entry->d_name + len - end, ending) != 0)
            continue;
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%s/%s", journal_dir, entry->d_name);
        if (each)
            each(path);
        n++;
    }
    if (dir)
        closedir(dir);
    return n;
}

static inline void journal_remove(const char *path)
{
    unlink(path);
}

static inline void journal_dir_clear(void)
{
    journal_files_ending("", journal_remove);
}

static char journal_newest_path[PATH_MAX], journal_oldest_path[PATH_MAX];

static inline void journal_note(const char *path)
{
    if (!*journal_newest_path || strcmp(path, journal_newest_path) > 0)
        strcpy(journal_newest_path, path);
    if (!*journal_oldest_path || strcmp(path, journal_oldest_path) < 0)
        strcpy(journal_oldest_path, path);
}

/* Sets both paths; returns how many segments there are. */
static inline int journal_find(void)
{
    *journal_newest_path = *journal_oldest_path = '\0';
    return journal_files_ending(".journal", journal_note);
}

/* ---- a file in memory ---- */

struct bytes {
    uint8_t *bytes;
    size_t len;
};

static inline struct bytes bytes_read(const char *path)
{
    struct bytes file = {NULL, 0};
    struct stat st;
    int fd = open(path, O_RDONLY);
    if (fd < 0 || fstat(fd, &st) < 0)
        exit(EXIT_FAILURE);
    file.bytes = malloc((size_t)st.st_size + 1);
    if (!file.bytes || read(fd, file.bytes, (size_t)st.st_size) != st.st_size)
        exit(EXIT_FAILURE);
    file.len = (size_t)st.st_size;
    close(fd);
    return file;
}

static inline void bytes_write(const char *path, const uint8_t *bytes, size_t len)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0640);
    if (fd < 0 || write(fd, bytes, len) != (ssize_t)len)
        exit(EXIT_FAILURE);
    close(fd);
}

/* ---- records ---- */

/* The i-th record of a journal: every 50th is a state, some are frames and replies, the rest events. Its
 * bytes follow from its number. */
struct made {
    struct journal_record record;
    uint8_t bytes[BYTES_MAX];
};

static inline void made_record(uint64_t i, uint64_t seq, enum journal_kind kind, struct made *ret)
{
    struct random random = {i * 1000003 + 17};
    size_t len = kind == JOURNAL_STATE ? (size_t)random_between(&random, 100, BYTES_MAX)
                                       : (size_t)random_between(&random, 0, 60);
    for (size_t k = 0; k < len; k++)
        ret->bytes[k] = random_chance(&random, 60) ? (uint8_t)('a' + k % 26) : (uint8_t)random_next(&random);
    ret->record = (struct journal_record){kind, seq, START_NS + (int64_t)i * 1000000 + (int64_t)(i % 7),
                                          ret->bytes, len};
}

static inline enum journal_kind made_kind(uint64_t i, int states)
{
    if (i % (uint64_t)states == 0)
        return JOURNAL_STATE;
    return i % 11 == 3 ? JOURNAL_FRAME : i % 17 == 5 ? JOURNAL_REPLY : JOURNAL_EVENT;
}

/* Goes through records: making_next() gives record 0, 1, 2 … */
struct making {
    uint64_t i, seq;
    int states; /* one every so many records */
    struct made made;
};

static inline struct making making_begin(int states)
{
    return (struct making){.i = 0, .seq = START_SEQ, .states = states};
}

static inline const struct journal_record *making_next(struct making *making)
{
    enum journal_kind kind = made_kind(making->i, making->states);
    making->seq += kind == JOURNAL_EVENT;
    made_record(making->i++, making->seq, kind, &making->made);
    making->made.record.bytes = making->made.bytes;
    return &making->made.record;
}

static inline bool records_equal(const struct journal_record *a, const struct journal_record *b)
{
    return a->kind == b->kind && a->seq == b->seq && a->recv_ns == b->recv_ns && a->len == b->len &&
           (a->len == 0 || memcmp(a->bytes, b->bytes, a->len) == 0);
}

/* Puts n records in batches of `each`. */
static inline void journal_put(struct journal_writer *writer, struct making *making, int n, int each)
{
    struct journal_batch batch;
    journal_batch_init(&batch);
    for (int i = 0; i < n; i++) {
        CHECK_INT(journal_batch_add(&batch, making_next(making)), 0);
        if ((i + 1) % each == 0 || i + 1 == n) {
            CHECK_INT(journal_writer_put(writer, &batch), 0);
            journal_batch_clear(&batch);
        }
    }
    journal_batch_finish(&batch);
}

/* A journal of n records in the emptied directory. */
static inline void journal_make(int n, int states, int each, size_t block_bytes)
{
    char err[JOURNAL_ERROR_MAX] = "";
    struct journal_writer_config config = {.dir = journal_dir, .block_bytes = block_bytes};
    struct journal_writer *writer = NULL;
    struct journal_tail tail;
    struct making making = making_begin(states);
    journal_dir_clear();
    CHECK_INT(journal_writer_open(&config, &writer, &tail, err, sizeof err), 0);
    CHECK_STR(err, "");
    if (writer)
        journal_put(writer, &making, n, each);
    journal_writer_close(writer);
}

/* Reads on: how many records of `making` come, each as it was made, and then what the reader says (0 or an
 * error). -1000 for one that is not as it was made. */
static inline int journal_read(struct journal_reader *reader, struct making *making, uint64_t *ret_n)
{
    struct journal_record record;
    int r;
    *ret_n = 0;
    while ((r = journal_reader_next(reader, &record)) == 1) {
        if (!records_equal(&record, making_next(making)))
            return -1000;
        (*ret_n)++;
    }
    return r;
}

/* The same from the directory's beginning. */
static inline int journal_read_all(int states, uint64_t *ret_n, char err[static JOURNAL_ERROR_MAX])
{
    struct journal_reader *reader;
    struct making making = making_begin(states);
    *ret_n = 0;
    int r = journal_reader_open(journal_dir, &reader, err, JOURNAL_ERROR_MAX);
    if (r < 0)
        return r;
    r = journal_read(reader, &making, ret_n);
    snprintf(err, JOURNAL_ERROR_MAX, "%s", r < 0 ? journal_reader_error(reader) : "");
    journal_reader_close(reader);
    return r;
}

#endif
