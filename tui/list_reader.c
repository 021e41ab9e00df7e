#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "tui/list_source.h"

struct tui_list_reader {
    pthread_t thread;
    pthread_mutex_t mutex; /* of all that follows; held for no longer than it takes to copy them */
    pthread_cond_t wanted;
    char *path;
    struct db_reader *db; /* the thread's, except to interrupt it; NULL while it cannot be opened */
    struct lists_want want;
    bool wants, ends;
    struct list_rows rows[DB_LISTS]; /* that were read and not taken yet */
    int event;
    /* The thread's own: what was read last, and of which version of the database. */
    struct list_want done[DB_LISTS];
    int64_t done_version[DB_LISTS];
};

static bool opened(struct tui_list_reader *reader)
{
    char words[DB_ERROR_MAX];
    struct db_reader *db = NULL;

    if (!reader->db && db_reader_open(reader->path, &db, words, sizeof(words)) == 0) {
        pthread_mutex_lock(&reader->mutex);
        reader->db = db;
        pthread_mutex_unlock(&reader->mutex);
        memset(reader->done, 0, sizeof(reader->done));
    }
    return reader->db != NULL;
}

static void closed(struct tui_list_reader *reader)
{
    struct db_reader *db = reader->db;

    pthread_mutex_lock(&reader->mutex);
    reader->db = NULL;
    pthread_mutex_unlock(&reader->mutex);
    if (db)
        db_reader_close(db);
}

static void put(struct tui_list_reader *reader, int list, struct list_rows *rows)
{
    pthread_mutex_lock(&reader->mutex);
    if (!rows->answered) { /* an answer that was not taken yet stays */
        rows->answered = reader->rows[list].answered;
        rows->result = reader->rows[list].result;
    }
    tui_list_rows_finish(&reader->rows[list]);
    reader->rows[list] = *rows;
    pthread_mutex_unlock(&reader->mutex);
    eventfd_write(reader->event, 1);
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
    int r = db_list_version(reader->db, &version);

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

static void read_lists(struct tui_list_reader *reader, const struct lists_want *want)
{
    for (int list = 0; list < DB_LISTS; list++) {
        if (!want->list[list].used || !opened(reader))
            continue;
        int r = read_list(reader, list, &want->list[list]);
        if (r == -EINTR)
            return; /* something else is wanted by now */
        if (r < 0 && r != -EBUSY)
            closed(reader);
    }
}

static void *run(void *ctx)
{
    struct tui_list_reader *reader = ctx;
    struct lists_want *want = malloc(sizeof(*want));

    pthread_mutex_lock(&reader->mutex);
    while (want && !reader->ends) {
        if (!reader->wants) {
            pthread_cond_wait(&reader->wanted, &reader->mutex);
            continue;
        }
        *want = reader->want;
        reader->wants = false;
        pthread_mutex_unlock(&reader->mutex);
        read_lists(reader, want);
        pthread_mutex_lock(&reader->mutex);
    }
    pthread_mutex_unlock(&reader->mutex);
    free(want);
    return NULL;
}

struct tui_list_reader *tui_list_reader_create(const char *path)
{
    struct tui_list_reader *reader = calloc(1, sizeof(*reader));
    sigset_t all, before;

    if (!reader)
        return NULL;
    reader->event = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    reader->path = strdup(path);
    pthread_mutex_init(&reader->mutex, NULL);
    pthread_cond_init(&reader->wanted, NULL);
    sigfillset(&all); /* signals are the main loop's */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool ok = reader->event >= 0 && reader->path && pthread_create(&reader->thread, NULL, run, reader) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (ok)
        return reader;
    if (reader->event >= 0)
        close(reader->event);
    free(reader->path);
    free(reader);
    return NULL;
}

void tui_list_reader_destroy(struct tui_list_reader *reader)
{
    if (!reader)
        return;
    pthread_mutex_lock(&reader->mutex);
    reader->ends = true;
    if (reader->db)
        db_list_interrupt(reader->db);
    pthread_cond_signal(&reader->wanted);
    pthread_mutex_unlock(&reader->mutex);
    pthread_join(reader->thread, NULL);
    closed(reader);
    pthread_cond_destroy(&reader->wanted);
    pthread_mutex_destroy(&reader->mutex);
    for (int list = 0; list < DB_LISTS; list++)
        tui_list_rows_finish(&reader->rows[list]);
    close(reader->event);
    free(reader->path);
    free(reader);
}

int tui_list_reader_fd(const struct tui_list_reader *reader)
{
    return reader->event;
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
    pthread_mutex_lock(&reader->mutex);
    if (reader->db && obsolete(&reader->want, want))
        db_list_interrupt(reader->db);
    reader->want = *want;
    reader->wants = true;
    pthread_cond_signal(&reader->wanted);
    pthread_mutex_unlock(&reader->mutex);
}

bool tui_list_reader_take(struct tui_list_reader *reader, struct list_rows ret[static DB_LISTS])
{
    eventfd_t unused;
    bool any = false;

    pthread_mutex_lock(&reader->mutex);
    eventfd_read(reader->event, &unused);
    for (int list = 0; list < DB_LISTS; list++) {
        ret[list] = reader->rows[list];
        reader->rows[list] = (struct list_rows){0};
        any |= ret[list].have;
    }
    pthread_mutex_unlock(&reader->mutex);
    return any;
}
