#include "daemon/http/lists.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/reader.h"

enum { ACCOUNT_MAX = 64 };

struct daemon_http_list {
    struct daemon_http_lists *lists;
    struct daemon_http_list *next;
    daemon_http_list_write *write;
    char account[ACCOUNT_MAX];
    /* Under the lock. */
    bool taken, ended, released; /* by the thread; wholly; by its client */
    bool began;                  /* bytes were put */
    int r;                       /* how it ended */
    char words[LIST_WORDS_MAX];
    size_t n, at; /* of the buffer; taken of that */
    char buffer[LISTS_BUFFER];
};

struct daemon_http_lists {
    char *database;
    void (*news)(void *ctx);
    void *ctx;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake; /* a list was queued or released, there is room, or the end */
    struct daemon_http_list *first;
    bool ends;
};

/* ---- on the thread ---- */

/* Waits for room, as long as the client wants it. */
static int put(void *ctx, const char *bytes, size_t n)
{
    struct daemon_http_list *list = ctx;
    struct daemon_http_lists *lists = list->lists;
    while (n > 0) {
        pthread_mutex_lock(&lists->lock);
        while (list->n == LISTS_BUFFER && !list->released)
            pthread_cond_wait(&lists->wake, &lists->lock);
        if (list->released) {
            pthread_mutex_unlock(&lists->lock);
            return -ECANCELED;
        }
        size_t room = LISTS_BUFFER - list->n, part = n < room ? n : room;
        memcpy(list->buffer + list->n, bytes, part);
        list->n += part;
        bool full = list->n == LISTS_BUFFER;
        list->began |= full;
        pthread_mutex_unlock(&lists->lock);
        bytes += part;
        n -= part;
        if (full)
            lists->news(lists->ctx);
    }
    return 0;
}

static int read_list(struct daemon_http_list *list, char words[static LIST_WORDS_MAX])
{
    struct db_reader *reader;
    char err[DB_ERROR_MAX];
    int r = db_reader_open(list->lists->database, &reader, err, sizeof err);
    if (r == 0) {
        r = list->write(reader, list->account[0] ? list->account : NULL, put, list);
        snprintf(err, sizeof err, "%s",
                 r == -ENOMEM ? "out of memory"
                 : r < 0      ? db_reader_error(reader)
                              : "");
        db_reader_close(reader);
    } else if (r == -ENOENT) {
        r = -ENODATA; /* no account is meant */
    }
    snprintf(words, LIST_WORDS_MAX, "%.*s", LIST_WORDS_MAX - 1, err);
    return r;
}

static void leave(struct daemon_http_list *list)
{
    struct daemon_http_list **link = &list->lists->first;
    while (*link != list)
        link = &(*link)->next;
    *link = list->next;
    free(list);
}

static struct daemon_http_list *next_of(struct daemon_http_lists *lists)
{
    struct daemon_http_list *list = lists->first;
    while (list && list->taken)
        list = list->next;
    return list;
}

static void *run(void *arg)
{
    struct daemon_http_lists *lists = arg;
    char words[LIST_WORDS_MAX];
    pthread_mutex_lock(&lists->lock);
    while (!lists->ends) {
        struct daemon_http_list *list = next_of(lists);
        if (!list) {
            pthread_cond_wait(&lists->wake, &lists->lock);
            continue;
        }
        list->taken = true;
        pthread_mutex_unlock(&lists->lock);
        int r = read_list(list, words);
        pthread_mutex_lock(&lists->lock);
        list->r = r;
        list->ended = true;
        memcpy(list->words, words, sizeof words);
        if (list->released)
            leave(list);
        pthread_mutex_unlock(&lists->lock);
        lists->news(lists->ctx);
        pthread_mutex_lock(&lists->lock);
    }
    pthread_mutex_unlock(&lists->lock);
    return NULL;
}

/* ---- its clients ---- */

struct daemon_http_lists *daemon_http_lists_create(const char *database, void (*news)(void *ctx), void *ctx)
{
    struct daemon_http_lists *lists = calloc(1, sizeof *lists);
    char *path = strdup(database);
    if (!lists || !path) {
        free(lists);
        free(path);
        return NULL;
    }
    lists->database = path;
    lists->news = news;
    lists->ctx = ctx;
    pthread_mutex_init(&lists->lock, NULL);
    pthread_cond_init(&lists->wake, NULL);
    if (pthread_create(&lists->thread, NULL, run, lists) == 0)
        return lists;
    pthread_cond_destroy(&lists->wake);
    pthread_mutex_destroy(&lists->lock);
    free(path);
    free(lists);
    return NULL;
}

void daemon_http_lists_destroy(struct daemon_http_lists *lists)
{
    if (!lists)
        return;
    pthread_mutex_lock(&lists->lock);
    lists->ends = true;
    pthread_cond_broadcast(&lists->wake);
    pthread_mutex_unlock(&lists->lock);
    pthread_join(lists->thread, NULL);
    while (lists->first)
        leave(lists->first);
    pthread_cond_destroy(&lists->wake);
    pthread_mutex_destroy(&lists->lock);
    free(lists->database);
    free(lists);
}

struct daemon_http_list *daemon_http_list_ask(struct daemon_http_lists *lists, daemon_http_list_write *write,
                                              const char *account)
{
    struct daemon_http_list *list = calloc(1, sizeof *list), **last;
    if (!list)
        return NULL;
    list->lists = lists;
    list->write = write;
    snprintf(list->account, sizeof list->account, "%s", account);
    pthread_mutex_lock(&lists->lock);
    for (last = &lists->first; *last; last = &(*last)->next)
        ;
    *last = list;
    pthread_cond_broadcast(&lists->wake);
    pthread_mutex_unlock(&lists->lock);
    return list;
}

enum daemon_http_list_state daemon_http_list_look(struct daemon_http_list *list,
                                                  char words[static LIST_WORDS_MAX])
{
    pthread_mutex_lock(&list->lists->lock);
    enum daemon_http_list_state state = list->began          ? LIST_FLOWS
                                        : !list->ended       ? LIST_WAITS
                                        : list->r == -ENOENT ? LIST_UNKNOWN
                                        : list->r < 0        ? LIST_FAILED
                                                             : LIST_FLOWS;
    memcpy(words, list->words, LIST_WORDS_MAX);
    pthread_mutex_unlock(&list->lists->lock);
    return state;
}

ssize_t daemon_http_list_take(struct daemon_http_list *list, char *to, size_t max)
{
    struct daemon_http_lists *lists = list->lists;
    pthread_mutex_lock(&lists->lock);
    size_t left = list->n - list->at, n = left < max ? left : max;
    memcpy(to, list->buffer + list->at, n);
    list->at += n;
    if (list->at == list->n)
        list->at = list->n = 0;
    ssize_t r = n > 0 ? (ssize_t)n : !list->ended ? 0 : list->r < 0 ? -EIO : -ENODATA;
    pthread_cond_broadcast(&lists->wake);
    pthread_mutex_unlock(&lists->lock);
    return r;
}

void daemon_http_list_release(struct daemon_http_list *list)
{
    if (!list)
        return;
    struct daemon_http_lists *lists = list->lists;
    pthread_mutex_lock(&lists->lock);
    list->released = true;
    if (list->ended || !list->taken)
        leave(list);
    pthread_cond_broadcast(&lists->wake);
    pthread_mutex_unlock(&lists->lock);
}
