#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

#include "db/as_of.h"
#include "tui/list_source.h"
#include "tui/reader_thread.h"

struct tui_list_reader {
    struct reader_thread thread;
    char *path;
    /* Under the thread's mutex. */
    struct db_reader *db; /* the thread's, except to interrupt it; NULL while it cannot be opened */
    struct lists_want want;
    struct list_rows rows[DB_LISTS]; /* that were read and not taken yet */
    /* The thread's own: what it reads, what was read last, and of which version of the database. */
    struct lists_want now;
    int64_t at_ns; /* of which `db` reads */
    struct list_want done[DB_LISTS];
    int64_t done_version[DB_LISTS]; /* of those that failed the file's */
    bool failed[DB_LISTS];
};

static void closed(struct tui_list_reader *reader)
{
    struct db_reader *db = reader->db;

    pthread_mutex_lock(&reader->thread.mutex);
    reader->db = NULL;
    pthread_mutex_unlock(&reader->thread.mutex);
    if (db)
        db_reader_close(db);
}

static bool opened(struct tui_list_reader *reader, int64_t at_ns)
{
    char words[DB_ERROR_MAX];
    struct db_reader *db = NULL;

    if (reader->db && reader->at_ns != at_ns)
        closed(reader);
    if (!reader->db && db_reader_open(reader->path, &db, words, sizeof(words)) == 0) {
        if (at_ns > 0 && db_reader_as_of(db, at_ns) < 0) {
            db_reader_close(db);
            return false;
        }
        reader->at_ns = at_ns;
        pthread_mutex_lock(&reader->thread.mutex);
        reader->db = db;
        pthread_mutex_unlock(&reader->thread.mutex);
        memset(reader->done, 0, sizeof(reader->done));
        memset(reader->failed, 0, sizeof(reader->failed));
    }
    return reader->db != NULL;
}

static void put(struct tui_list_reader *reader, int list, struct list_rows *rows)
{
    pthread_mutex_lock(&reader->thread.mutex);
    if (!rows->answered) { /* an answer that was not taken yet stays */
        rows->answered = reader->rows[list].answered;
        rows->result = reader->rows[list].result;
    }
    tui_list_rows_keep_sums(rows, &reader->rows[list]);
    tui_list_rows_finish(&reader->rows[list]);
    reader->rows[list] = *rows;
    pthread_mutex_unlock(&reader->thread.mutex);
    eventfd_write(reader->thread.event, 1);
}

/* Is it a filter whose first rows can come before all are counted? Not in another order, which needs all. */
static bool is_new_filter(const struct tui_list_reader *reader, int list, const struct list_want *want)
{
    return want->query.filter[0] && want->query.sort == 0 && !want->id && !want->at && !want->asked &&
           memcmp(&want->query, &reader->done[list].query, sizeof(want->query)) != 0;
}

static int read_windows(struct tui_list_reader *reader, int list, const struct list_want *want, bool sums)
{
    struct list_want now = *want;
    struct list_rows rows;
    int r;

    now.query.first = is_new_filter(reader, list, want);
    do {
        if ((r = tui_list_source_read(reader->db, (enum db_list)list, &now, sums, &rows)) < 0)
            return r;
        put(reader, list, &rows);
        now.query.first = sums = false;
    } while (rows.window.partial);
    return 0;
}

/* How many rows the list has without its filter, which is wrong; 0: not known. */
static int64_t total_of(struct tui_list_reader *reader, int list, const struct list_want *want)
{
    struct list_want all = *want;
    struct list_rows rows;

    all.query.filter[0] = '\0';
    all.asked = 0;
    if (tui_list_source_read(reader->db, (enum db_list)list, &all, false, &rows) < 0)
        return 0;
    const int64_t total = rows.window.total;
    tui_list_rows_finish(&rows);
    return total;
}

/* An answer, too: no row, and why. */
static void put_words(struct tui_list_reader *reader, int list, const struct list_want *want, int r)
{
    struct list_rows rows = {.have = true,
                             .at_ns = want->at_ns,
                             .query = want->query,
                             .answered = want->asked,
                             .summed = list == DB_LIST_TRIPS};
    const char *words = db_reader_error(reader->db);

    snprintf(rows.words, sizeof(rows.words), "%s", words[0] ? words : strerror(-r));
    if (r == -ERANGE && want->query.filter[0])
        rows.window.total = total_of(reader, list, want);
    put(reader, list, &rows);
}

/* Reads the list unless nothing has changed since; one that failed waits for another version of the file. 0
 * or -errno. */
static int read_list(struct tui_list_reader *reader, int list, const struct list_want *want)
{
    bool same = memcmp(want, &reader->done[list], sizeof(*want)) == 0, failed = reader->failed[list];
    int64_t file, version;
    int r = db_reader_version(reader->db, &file);

    if (r < 0 || (same && failed && file == reader->done_version[list]))
        return r;
    version = file;
    r = list == DB_LIST_TRIPS ? db_trips_version(reader->db, &version) : 0;
    bool old = !failed && version == reader->done_version[list];
    if (r == 0 && same && old)
        return 0;
    r = r < 0 ? r : read_windows(reader, list, want, !old);
    if (r == -EINTR || r == -EBUSY) {
        reader->done[list].used = false; /* first rows of this may have come in place of what was done */
        return r;
    }
    if (r < 0)
        put_words(reader, list, want, r);
    reader->done[list] = *want;
    reader->done_version[list] = r < 0 ? file : version;
    reader->failed[list] = r < 0;
    return r;
}

/* Something else is wanted by now, or nothing any more. */
static bool is_over(struct tui_list_reader *reader)
{
    pthread_mutex_lock(&reader->thread.mutex);
    bool over = reader->thread.ends || reader->thread.wants;
    pthread_mutex_unlock(&reader->thread.mutex);
    return over;
}

static void read_lists(void *ctx)
{
    struct tui_list_reader *reader = ctx;

    pthread_mutex_lock(&reader->thread.mutex);
    reader->now = reader->want;
    pthread_mutex_unlock(&reader->thread.mutex);
    for (int list = 0; list < DB_LISTS && !is_over(reader); list++) {
        if (!reader->now.list[list].used || !opened(reader, reader->now.list[list].at_ns))
            continue;
        int r = read_list(reader, list, &reader->now.list[list]);
        if (r == -EINTR)
            return;
        if (r < 0 && r != -EBUSY && r != -EBADMSG && r != -ERANGE) /* the file may be another by now */
            closed(reader);
    }
}

struct tui_list_reader *tui_list_reader_create(const char *path)
{
    struct tui_list_reader *reader = calloc(1, sizeof(*reader));

    if (!reader)
        return NULL;
    reader->path = strdup(path);
    if (reader->path && tui_reader_thread_start(&reader->thread, read_lists, reader))
        return reader;
    free(reader->path);
    free(reader);
    return NULL;
}

void tui_list_reader_destroy(struct tui_list_reader *reader)
{
    if (!reader)
        return;
    pthread_mutex_lock(&reader->thread.mutex);
    reader->thread.ends = true; /* before the interruption: it begins no other list */
    if (reader->db)
        db_reader_interrupt(reader->db);
    pthread_mutex_unlock(&reader->thread.mutex);
    tui_reader_thread_stop(&reader->thread);
    if (reader->db)
        db_reader_close(reader->db);
    for (int list = 0; list < DB_LISTS; list++)
        tui_list_rows_finish(&reader->rows[list]);
    free(reader->path);
    free(reader);
}

int tui_list_reader_fd(const struct tui_list_reader *reader)
{
    return reader->thread.event;
}

/* Would the answer to the one be of no use to the other? A cursor that moved on is not worth an
 * interruption. */
static bool obsolete(const struct lists_want *old, const struct lists_want *new)
{
    for (int i = 0; i < DB_LISTS; i++) {
        const struct list_want *a = &old->list[i], *b = &new->list[i];
        if (a->used && (!b->used || a->at_ns != b->at_ns ||
                        memcmp(&a->query, &b->query, sizeof(a->query)) != 0 || a->asked != b->asked))
            return true;
    }
    return false;
}

void tui_list_reader_want(struct tui_list_reader *reader, const struct lists_want *want)
{
    pthread_mutex_lock(&reader->thread.mutex);
    if (reader->db && obsolete(&reader->want, want))
        db_reader_interrupt(reader->db);
    reader->want = *want;
    reader->thread.wants = true;
    pthread_cond_signal(&reader->thread.wanted);
    pthread_mutex_unlock(&reader->thread.mutex);
}

bool tui_list_reader_take(struct tui_list_reader *reader, struct list_rows ret[static DB_LISTS])
{
    eventfd_t unused;
    bool any = false;

    pthread_mutex_lock(&reader->thread.mutex);
    eventfd_read(reader->thread.event, &unused);
    for (int list = 0; list < DB_LISTS; list++) {
        ret[list] = reader->rows[list];
        reader->rows[list] = (struct list_rows){0};
        any |= ret[list].have;
    }
    pthread_mutex_unlock(&reader->thread.mutex);
    return any;
}
