/* Reads a storage of studies for the dashboard: opens it for reading alone, keeps what it has read, and asks
 * only for what may have changed. Whoever calls may wait for a lock as long as busy_ms; the dashboard's
 * thread does (tui/study_reader.h), and verbs do. */
#ifndef TUI_STUDY_SOURCE_H
#define TUI_STUDY_SOURCE_H

#include "db/studies/store.h"
#include "tui/study_page.h"

enum { SEARCH_WORDS_MAX = STUDY_ERROR_MAX };

/* What one reading brought. */
struct search_reading {
    struct searches *searches;    /* owned; NULL: nothing has changed, or it failed */
    struct search_page *page;     /* likewise; of what is wanted, if it is there */
    bool more;                    /* returns are still being read: another reading goes on with them */
    int error;                    /* 0 or -errno; then nothing else */
    char words[SEARCH_WORDS_MAX]; /* why not */
    int64_t mono_ms;              /* when */
};
void tui_study_reading_finish(struct search_reading *reading); /* fine on a zeroed one */

bool tui_study_want_equal(const struct search_want *a, const struct search_want *b);

struct search_source;

/* Opens nothing yet. `url` as study_store_open() has it; `folder` is where searches keep theirs that do not
 * say (STATE/studies). NULL without memory. destroy(NULL) is fine. */
struct search_source *tui_study_source_create(const char *url, const char *folder, int busy_ms);
void tui_study_source_destroy(struct search_source *source);

/* Reads what has changed since; of trials' returns some, and `more` are left. A storage that cannot be read
 * is opened anew the next time; one study that cannot is no error, but its search says why (unread). */
void tui_study_source_read(struct search_source *source, const struct search_want *want, int64_t now_us,
                           int64_t mono_ms, struct search_reading *ret);

#endif
