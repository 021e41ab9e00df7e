/* A thread that reads the storage of studies, so that a lock, a slow disk or a long reckoning never holds the
 * screen up. */
#ifndef TUI_SEARCH_READER_H
#define TUI_SEARCH_READER_H

#include "tui/search_source.h"

struct search_reader;

/* Starts it; it waits until something is wanted. NULL without memory or a thread. */
struct search_reader *search_reader_create(const char *url, const char *folder);
void search_reader_destroy(struct search_reader *reader); /* waits for it; NULL is fine */

/* Readable when there is something to take. */
int search_reader_fd(const struct search_reader *reader);

/* Asks for a reading; one that is under way goes on, and is followed by this. Waits for nothing. */
void search_reader_want(struct search_reader *reader, const struct search_want *want);

/* The newest reading that was not taken yet. */
bool search_reader_take(struct search_reader *reader, struct search_reading *ret);

#endif
