/* The outside strategies that this program has opened, by their names. They live as long as it does. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "strategy/external.h"

struct opened_strategy {
    struct opened_strategy *next;
    const struct strategy *strategy;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct opened_strategy *newest;

int strategy_opened(const struct strategy *strategy)
{
    struct opened_strategy *entry = malloc(sizeof *entry);
    if (!entry)
        return -ENOMEM;
    pthread_mutex_lock(&lock);
    *entry = (struct opened_strategy){.next = newest, .strategy = strategy};
    newest = entry;
    pthread_mutex_unlock(&lock);
    return 0;
}

const struct strategy *strategy_find_opened(const char *name)
{
    pthread_mutex_lock(&lock);
    const struct opened_strategy *entry = newest;
    while (entry && strcmp(entry->strategy->name, name) != 0)
        entry = entry->next;
    pthread_mutex_unlock(&lock);
    return entry ? entry->strategy : NULL;
}
