/* The lists of a status. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "tui/status.h"

enum { ROOM_LEAST = 4 };

#define LIST(member, most) \
    { \
        offsetof(struct status, member), offsetof(struct status, n_##member), \
            sizeof(*((struct status *)0)->member), most \
    }
static const struct {
    size_t at, n_at, size; /* of a row */
    int most;              /* rows */
} lists[STATUS_LISTS] = {
    [STATUS_STREAMS] = LIST(streams, STATUS_STREAMS_MAX),
    [STATUS_VENUES] = LIST(venues, STATUS_VENUES_MAX),
    [STATUS_SYMBOLS] = LIST(symbols, INT_MAX),
    [STATUS_ACCOUNTS] = LIST(accounts, STATUS_ACCOUNTS_MAX),
    [STATUS_TOTALS] = LIST(totals, STATUS_TOTALS_MAX),
    [STATUS_POSITIONS] = LIST(positions, INT_MAX),
    [STATUS_ORDERS] = LIST(orders, STATUS_ORDERS_MAX),
    [STATUS_EXTERNALS] = LIST(externals, STATUS_EXTERNALS_MAX),
    [STATUS_PRICE_ALERTS] = LIST(price_alerts, STATUS_PRICE_ALERTS_MAX),
    [STATUS_DEVICES] = LIST(devices, STATUS_DEVICES_MAX),
    [STATUS_SOURCES] = LIST(sources, STATUS_SOURCES_MAX),
    [STATUS_TRAININGS] = LIST(trainings, INT_MAX),
    [STATUS_POLICIES] = LIST(policies, INT_MAX),
};

static void *rows_of(const struct status *status, enum status_list list)
{
    void *rows;

    memcpy(&rows, (const char *)status + lists[list].at, sizeof(rows));
    return rows;
}

static int *count_of(struct status *status, enum status_list list)
{
    return (int *)(void *)((char *)status + lists[list].n_at);
}

static void set_rows(struct status *status, enum status_list list, void *rows, int room)
{
    memcpy((char *)status + lists[list].at, &rows, sizeof(rows));
    status->room[list] = room;
}

void *tui_status_add(struct status *status, enum status_list list)
{
    int *n = count_of(status, list), room = status->room[list];
    char *rows = rows_of(status, list);

    if (*n == lists[list].most)
        return NULL;
    if (*n == room) {
        room = room > 0 ? 2 * room : ROOM_LEAST;
        rows = reallocarray(rows, (size_t)room, lists[list].size);
        if (!rows)
            return NULL;
        set_rows(status, list, rows, room);
    }
    return memset(rows + (size_t)(*n)++ * lists[list].size, 0, lists[list].size);
}

static void drop(struct status *status, enum status_list list)
{
    free(rows_of(status, list));
    set_rows(status, list, NULL, 0);
    *count_of(status, list) = 0;
}

void tui_status_finish(struct status *status)
{
    for (int list = 0; list < STATUS_LISTS; list++)
        drop(status, (enum status_list)list);
}

void tui_status_move(struct status *from, struct status *to, enum status_list list)
{
    drop(to, list);
    set_rows(to, list, rows_of(from, list), from->room[list]);
    *count_of(to, list) = *count_of(from, list);
    set_rows(from, list, NULL, 0);
    *count_of(from, list) = 0;
}

bool tui_status_copy(const struct status *from, struct status *ret)
{
    void *copies[STATUS_LISTS] = {0};
    bool ok = true;

    for (int i = 0; i < STATUS_LISTS; i++) {
        const size_t size = (size_t)from->room[i] * lists[i].size;
        copies[i] = size ? malloc(size) : NULL;
        ok &= !size || copies[i];
        if (copies[i])
            memcpy(copies[i], rows_of(from, (enum status_list)i), size);
    }
    for (int i = 0; !ok && i < STATUS_LISTS; i++)
        free(copies[i]);
    if (!ok)
        return false;
    *ret = *from;
    for (int i = 0; i < STATUS_LISTS; i++)
        set_rows(ret, (enum status_list)i, copies[i], from->room[i]);
    return true;
}
