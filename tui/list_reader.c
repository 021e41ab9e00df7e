#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

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
    struct list_want done[DB_LISTS];
    int64_t done_version[DB_LISTS];
};

static bool opened(struct tui_list_reader *reader)
{
    char words[DB_ERROR_MAX];
    struct db_reader *db = NULL;

    if (!reader->db && db_reader_open(reader->path, &db, words, sizeof(words)) == 0) {
        pthread_mutex_lock(&reader->thread.mutex);
        reader->db = db;
        pthread_mutex_unlock(&reader->thread.mutex);
        memset(reader->done, 0, sizeof(reader->done));
    }
    return reader->db != NULL;
}

static void closed(struct tui_list_reader *reader)
{
    struct db_reader *db = reader->db;

    pthread_mutex_lock(&reader->thread.mutex);
    reader->db = NULL;
    pthread_mutex_unlock(&reader->thread.mutex);
    if (db)
        db_reader_close(db);
}

static void put(struct tui_list_reader *reader, int list, struct list_rows *rows)
{
    pthread_mutex_lock(&reader->thread.mutex);
    if (!rows->answered) { /* an answer that was not taken yet stays */
        rows->answered = reader->rows[list].answered;
        rows->result = reader->rows[list].result;
    }
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

/* Reads the list unless nothing has changed since. 0 or -errno. */
static int read_list(struct tui_list_reader *reader, int list, const struct list_want *want)
{
    struct list_want now = *want;
    struct list_rows rows;
    int64_t version;
    int r = list == DB_LIST_TRIPS ? db_trips_version(reader->db, &version)
                                  : db_reader_version(reader->db, &version);

    if (r < 0 ||
        (version == reader->done_version[list] && memcmp(want, &reader->done[list], sizeof(*want)) == 0))
        return r;
    now.query.first = is_new_filter(reader, list, want);
    do {
        if ((r = tui_list_source_read(reader->db, (enum db_list)list, &now, &rows)) < 0)
            return r;
        put(reader, list, &rows);
        now.query.first = false;
    } while (rows.window.partial);
    reader->done[list] = *want;
    reader->done_version[list] = version;
    return 0;
}

static void read_lists(void *ctx)
{
    struct tui_list_reader *reader = ctx;

    pthread_mutex_lock(&reader->thread.mutex);
    reader->now = reader->want;
    pthread_mutex_unlock(&reader->thread.mutex);
    for (int list = 0; list < DB_LISTS; list++) {
        if (!reader->now.list[list].used || !opened(reader))
            continue;
        int r = read_list(reader, list, &reader->now.list[list]);
        if (r == -EINTR)
            return; /* something else is wanted by now */
        if (r < 0 && r != -EBUSY)
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
    reader->thread.ends = true; /* before the interruption: it begins no other query */
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
        if (a->used &&
            (!b->used || memcmp(&a->query, &b->query, sizeof(a->query)) != 0 || a->asked != b->asked))
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
