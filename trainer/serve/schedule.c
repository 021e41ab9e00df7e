#include "trainer/serve/schedule.h"

enum { STATE_FIRST_S = 1800, STATE_LEAST_S = 60, STATE_TIMES = 10 };
enum { RETRY_MOST_MS = 5 * 60 * 1000, GRACE_LEAST_MS = 10 * 1000, GRACE_FACTOR = 3 };

struct used {
    bool device[SCHEDULE_DEVICES_MAX];
    int slots;
    int64_t memory_mib, stopping_mib;
    int stopping[2]; /* of CPU slots, of devices: workers that are already ending */
};

static bool takes_device(const struct schedule_item *item, const struct schedule_room *room)
{
    return item->on_device && room->devices > 0;
}

static struct used count(const struct schedule_item *items, size_t n)
{
    struct used used = {0};
    for (size_t i = 0; i < n; i++) {
        const struct schedule_item *item = &items[i];
        if (!item->runs)
            continue;
        bool on_device = item->device >= 0 && item->device < SCHEDULE_DEVICES_MAX;
        if (on_device)
            used.device[item->device] = true;
        else
            used.slots++;
        used.memory_mib += item->memory_mib;
        if (item->stopping) {
            used.stopping_mib += item->memory_mib;
            used.stopping[on_device]++;
        }
    }
    return used;
}

/* Does a go before b? */
static bool ranks_before(const struct schedule_item *items, size_t a, size_t b)
{
    if (items[a].priority != items[b].priority)
        return items[a].priority > items[b].priority;
    if (items[a].created_ns != items[b].created_ns)
        return items[a].created_ns < items[b].created_ns;
    return a < b;
}

/* The first that waits and ranks behind `after`; n: none. */
static size_t next_waiting(const struct schedule_item *items, size_t n, size_t after)
{
    size_t best = n;
    for (size_t i = 0; i < n; i++)
        if (items[i].waits && i != after && (after == n || ranks_before(items, after, i)) &&
            (best == n || ranks_before(items, i, best)))
            best = i;
    return best;
}

/* The lowest-ranking that runs below `priority`: on a device (1), in a CPU slot (0), or anywhere (-1). */
static size_t find_victim(const struct schedule_item *items, size_t n, int priority, int on_device)
{
    size_t last = n;
    for (size_t i = 0; i < n; i++) {
        const struct schedule_item *item = &items[i];
        if (item->runs && !item->stopping && item->priority < priority &&
            (on_device < 0 || (item->device >= 0) == (on_device > 0)) &&
            (last == n || ranks_before(items, last, i)))
            last = i;
    }
    return last;
}

/* The memory that would be free if all below `priority` were paused. */
static int64_t reachable_mib(const struct schedule_item *items, size_t n, int priority, int64_t free_mib)
{
    for (size_t i = 0; i < n; i++)
        if (items[i].runs && !items[i].stopping && items[i].priority < priority)
            free_mib += items[i].memory_mib;
    return free_mib;
}

static int free_place(const struct used *used, const struct schedule_room *room, bool device, int *ret)
{
    *ret = SCHEDULE_CPU;
    if (!device)
        return used->slots < room->cpu_slots;
    for (int i = 0; i < room->devices; i++)
        if (!used->device[i]) {
            *ret = i;
            return true;
        }
    return false;
}

struct schedule_step serve_schedule_next(const struct schedule_item *items, size_t n,
                                         const struct schedule_room *room)
{
    const struct schedule_step nothing = {SCHEDULE_NOTHING, n, SCHEDULE_CPU};
    struct used used = count(items, n);
    for (size_t i = next_waiting(items, n, n); i < n; i = next_waiting(items, n, i)) {
        const struct schedule_item *item = &items[i];
        bool device = takes_device(item, room);
        int place;
        if (!free_place(&used, room, device, &place)) {
            if (used.stopping[device] > 0) { /* it takes the place that this one leaves */
                used.stopping[device]--;
                continue;
            }
            size_t victim = find_victim(items, n, item->priority, device);
            if (victim < n)
                return (struct schedule_step){SCHEDULE_PAUSE, victim, SCHEDULE_CPU};
            continue;
        }
        int64_t free_mib = room->memory_mib - used.memory_mib;
        if (item->memory_mib <= free_mib)
            return (struct schedule_step){SCHEDULE_START, i, place};
        free_mib += used.stopping_mib;
        if (item->memory_mib <= free_mib ||
            item->memory_mib > reachable_mib(items, n, item->priority, free_mib))
            return nothing;
        return (struct schedule_step){SCHEDULE_PAUSE, find_victim(items, n, item->priority, -1),
                                      SCHEDULE_CPU};
    }
    return nothing;
}

int64_t serve_schedule_retry_ms(int restarts, int64_t first_ms)
{
    int64_t ms = first_ms;
    for (int i = 1; i < restarts && ms < RETRY_MOST_MS; i++)
        ms *= 2;
    return ms < RETRY_MOST_MS ? ms : RETRY_MOST_MS;
}

int64_t serve_schedule_grace_ms(double iteration_s, double checkpoint_s, int64_t most_ms)
{
    double ms = GRACE_FACTOR * 1e3 * (iteration_s + (checkpoint_s > 0 ? checkpoint_s : 0));
    if (iteration_s < 0 || ms >= (double)most_ms)
        return most_ms;
    int64_t least = GRACE_LEAST_MS < most_ms ? GRACE_LEAST_MS : most_ms;
    return ms > (double)least ? (int64_t)ms : least;
}

double serve_schedule_state_limit_s(double longest_s)
{
    if (longest_s < 0)
        return STATE_FIRST_S;
    return longest_s * STATE_TIMES > STATE_LEAST_S ? longest_s * STATE_TIMES : STATE_LEAST_S;
}
