/* Lists of the database as JSON, read by a thread of their own, one after the other, for clients that may be
 * slow: at most LISTS_BUFFER bytes of a list wait for its client, however long the list is. */
#ifndef DAEMON_HTTP_LISTS_H
#define DAEMON_HTTP_LISTS_H

#include <stddef.h>
#include <sys/types.h>

struct db_reader;
struct daemon_http_lists;
struct daemon_http_list; /* one that is being read */

/* Writes a list in parts; `put` returns 0, or what ends it. 0 or -errno, with db_reader_error(). */
typedef int daemon_http_list_write(struct db_reader *reader, const char *account,
                                   int (*put)(void *ctx, const char *bytes, size_t n), void *ctx);

/* `news` is called on the thread when a list has more, or ends. NULL without memory or thread. */
struct daemon_http_lists *daemon_http_lists_create(const char *database, void (*news)(void *ctx), void *ctx);
/* All lists have been released. */
void daemon_http_lists_destroy(struct daemon_http_lists *lists);

/* Queues one, of one account, or of all (""). NULL without memory. */
struct daemon_http_list *daemon_http_list_ask(struct daemon_http_lists *lists, daemon_http_list_write *write,
                                              const char *account);

enum daemon_http_list_state {
    LIST_WAITS,   /* there are no bytes yet */
    LIST_FLOWS,   /* the first ones are there, or all: no error from before them is known */
    LIST_UNKNOWN, /* there is no such account */
    LIST_FAILED,
};
enum { LIST_WORDS_MAX = 256, LISTS_BUFFER = 256 * 1024 };
enum daemon_http_list_state daemon_http_list_look(struct daemon_http_list *list,
                                                  char words[static LIST_WORDS_MAX]);

/* Takes at most `max` of its next bytes. 0: there are none yet; -ENODATA: that was all; -EIO: it failed on
 * the way. */
ssize_t daemon_http_list_take(struct daemon_http_list *list, char *to, size_t max);

/* It is no longer wanted, read or not. NULL is fine. */
void daemon_http_list_release(struct daemon_http_list *list);

#endif
