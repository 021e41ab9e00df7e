/* Reads a storage of studies for the dashboard: opens it for reading only, keeps what it has read, and
 * reads only what may have changed. A caller may wait for a lock as long as busy_ms; the dashboard's thread
 * does (tui/study_reader.c), and verbs do. */
#ifndef TUI_STUDY_SOURCE_H
#define TUI_STUDY_SOURCE_H

#include "db/studies/store.h"
#include "tui/study_page.h"

enum { STUDY_WORDS_MAX = STUDY_ERROR_MAX };

struct tui_study_reading {
    struct tui_studies *studies; /* owned; NULL: nothing has changed, or it failed */
    struct tui_study_page *page; /* likewise; of what is wanted, if it is there */
    bool more;                   /* returns are still being read: another reading continues with them */
    bool soon;                   /* files are still being fetched: a later reading has them */
    int error;                   /* 0 or -errno; then nothing else */
    char words[STUDY_WORDS_MAX]; /* why not */
    int64_t mono_ms;             /* when */
};
void tui_study_reading_finish(struct tui_study_reading *reading); /* fine on a zeroed one */

bool tui_study_want_equal(const struct tui_study_want *a, const struct tui_study_want *b);

struct tui_study_source;

/* Opens nothing yet. `url` as study_store_open() has it; `folder` is where studies keep theirs that do not
 * say (STATE/studies). NULL without memory. destroy(NULL) is fine. */
struct tui_study_source *tui_study_source_create(const char *url, const char *folder, int busy_ms);
void tui_study_source_destroy(struct tui_study_source *source);

/* As study_store_open_stopped_by(): a reading ends soon with -EINTR while *stop is true, and what it has read
 * so far is kept. Before the first reading. */
void tui_study_source_stop(struct tui_study_source *source, const atomic_bool *stop);

/* Reads what has changed since; of trials' returns some, and `more` are left. A storage that cannot be read
 * is opened again the next time; one study that cannot is no error, but its study says why (unread). */
void tui_study_source_read(struct tui_study_source *source, const struct tui_study_want *want, int64_t now_us,
                           int64_t mono_ms, struct tui_study_reading *ret);

/* A thread that reads the storage of studies, so that a lock, a slow disk or a long computation never holds
 * the screen up (study_reader.c). */
struct tui_study_reader;

/* Starts it; it waits until something is wanted. NULL without memory or a thread. */
struct tui_study_reader *tui_study_reader_create(const char *url, const char *folder);
void tui_study_reader_destroy(struct tui_study_reader *reader); /* interrupts it; NULL is fine */

/* Readable when there is something to take. */
int tui_study_reader_fd(const struct tui_study_reader *reader);

/* A server's storage is read at once when a process of ours has stored something, by a second connection that
 * listens, and then only each five seconds; else each time that it is wanted.
 *
 * Requests a reading; one that is under way is followed by this. That of another study's page, or of a
 * validation that is wanted no more, is interrupted. Waits for nothing. */
void tui_study_reader_want(struct tui_study_reader *reader, const struct tui_study_want *want);

/* The newest reading that was not taken yet. */
bool tui_study_reader_take(struct tui_study_reader *reader, struct tui_study_reading *ret);

#endif
