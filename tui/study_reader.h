/* A thread that reads the storage of studies, so that a lock, a slow disk or a long reckoning never holds the
 * screen up. */
#ifndef TUI_STUDY_READER_H
#define TUI_STUDY_READER_H

#include "tui/study_source.h"

struct tui_study_reader;

/* Starts it; it waits until something is wanted. NULL without memory or a thread. */
struct tui_study_reader *tui_study_reader_create(const char *url, const char *folder);
void tui_study_reader_destroy(struct tui_study_reader *reader); /* waits for it; NULL is fine */

/* Readable when there is something to take. */
int tui_study_reader_fd(const struct tui_study_reader *reader);

/* Asks for a reading; one that is under way goes on, and is followed by this. Waits for nothing. */
void tui_study_reader_want(struct tui_study_reader *reader, const struct tui_study_want *want);

/* The newest reading that was not taken yet. */
bool tui_study_reader_take(struct tui_study_reader *reader, struct tui_study_reading *ret);

#endif
