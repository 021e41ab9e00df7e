/* Which training goes next, by examples, and by drawn queues that are played to their end: none overtakes,
 * devices and memory are never given twice, all end. */
#include "trainer/serve/schedule.h"

#include "tests/check.h"
#include "tests/random.h"

enum { MOST = 12 };

static struct schedule_item waiting(int priority, int64_t created_ns, bool on_device, int64_t memory_mib)
{
    return (struct schedule_item){.priority = priority,
                                  .created_ns = created_ns,
                                  .waits = true,
                                  .on_device = on_device,
                                  .device = SCHEDULE_CPU,
                                  .memory_mib = memory_mib};
}

static struct schedule_item running(int priority, int64_t created_ns, int device, int64_t memory_mib)
{
    return (struct schedule_item){.priority = priority,
                                  .created_ns = created_ns,
                                  .runs = true,
                                  .on_device = device >= 0,
                                  .device = device,
                                  .memory_mib = memory_mib};
}

static void check_step(struct schedule_step step, enum schedule_act act, size_t item, int device)
{
    CHECK_INT(step.act, act);
    if (act == SCHEDULE_NOTHING)
        return;
    CHECK_INT(step.item, item);
    if (act == SCHEDULE_START)
        CHECK_INT(step.device, device);
}

static void test_order(void)
{
    const struct schedule_room room = {0, 1, 1000};
    struct schedule_item items[] = {waiting(0, 1, false, 10), waiting(5, 3, false, 10),
                                    waiting(5, 2, true, 10)};
    check_step(serve_schedule_next(items, 0, &room), SCHEDULE_NOTHING, 0, 0);
    check_step(serve_schedule_next(items, 1, &room), SCHEDULE_START, 0, SCHEDULE_CPU);
    check_step(serve_schedule_next(items, 3, &room), SCHEDULE_START, 2,
               SCHEDULE_CPU); /* without devices: a slot */
    items[2].waits = false;
    check_step(serve_schedule_next(items, 3, &room), SCHEDULE_START, 1, SCHEDULE_CPU);
    items[1].waits = false;
    check_step(serve_schedule_next(items, 3, &room), SCHEDULE_START, 0, SCHEDULE_CPU);
}

static void test_devices(void)
{
    const struct schedule_room room = {2, 1, 1000};
    struct schedule_item items[] = {running(0, 1, 0, 10), waiting(0, 2, true, 10), waiting(0, 3, false, 10)};
    check_step(serve_schedule_next(items, 3, &room), SCHEDULE_START, 1, 1);
    items[1] = running(0, 2, 1, 10);
    check_step(serve_schedule_next(items, 3, &room), SCHEDULE_START, 2,
               SCHEDULE_CPU); /* the CPU is another place */
    items[2] = waiting(0, 3, true, 10);
    check_step(serve_schedule_next(items, 3, &room), SCHEDULE_NOTHING, 0,
               0); /* equal priority pauses no training */
    items[2].priority = 1;
    check_step(serve_schedule_next(items, 3, &room), SCHEDULE_PAUSE, 1, 0); /* the younger of the two */
    items[1].stopping = true;
    check_step(serve_schedule_next(items, 3, &room), SCHEDULE_NOTHING, 0, 0); /* one is enough */
}

static void test_two_wait_for_two(void)
{
    const struct schedule_room room = {0, 2, 1000};
    struct schedule_item items[] = {running(0, 1, SCHEDULE_CPU, 1), running(-1, 2, SCHEDULE_CPU, 1),
                                    waiting(3, 3, false, 1), waiting(2, 4, false, 1)};
    check_step(serve_schedule_next(items, 4, &room), SCHEDULE_PAUSE, 1, 0); /* the lowest first */
    items[1].stopping = true;
    check_step(serve_schedule_next(items, 4, &room), SCHEDULE_PAUSE, 0, 0); /* its place is the first one's */
    items[0].stopping = true;
    check_step(serve_schedule_next(items, 4, &room), SCHEDULE_NOTHING, 0, 0);
}

static void test_memory(void)
{
    const struct schedule_room room = {0, 4, 100};
    struct schedule_item items[] = {running(0, 1, SCHEDULE_CPU, 60), waiting(0, 2, false, 50),
                                    waiting(0, 3, false, 10)};
    check_step(serve_schedule_next(items, 3, &room), SCHEDULE_NOTHING, 0,
               0); /* the small one does not overtake */
    items[1].memory_mib = 40;
    check_step(serve_schedule_next(items, 3, &room), SCHEDULE_START, 1, SCHEDULE_CPU); /* to the last MiB */
    items[1].memory_mib = 50;
    items[1].priority = 1;
    check_step(serve_schedule_next(items, 3, &room), SCHEDULE_PAUSE, 0, 0);
    items[0].stopping = true;
    check_step(serve_schedule_next(items, 3, &room), SCHEDULE_NOTHING, 0, 0);
    items[0].stopping = false;
    items[1].memory_mib = 101; /* never: no training is paused in vain */
    check_step(serve_schedule_next(items, 3, &room), SCHEDULE_NOTHING, 0, 0);
}

static void test_times(void)
{
    CHECK_INT(serve_schedule_retry_ms(1, 1000), 1000);
    CHECK_INT(serve_schedule_retry_ms(2, 1000), 2000);
    CHECK_INT(serve_schedule_retry_ms(9, 1000), 256000);
    CHECK_INT(serve_schedule_retry_ms(10, 1000), 300000);
    CHECK_INT(serve_schedule_retry_ms(1000000, 1000), 300000);
    CHECK_INT(serve_schedule_grace_ms(-1, -1, 120000), 120000); /* nothing was seen */
    CHECK_INT(serve_schedule_grace_ms(0.01, -1, 120000), 10000);
    CHECK_INT(serve_schedule_grace_ms(4, 2, 120000), 18000);
    CHECK_INT(serve_schedule_grace_ms(4, 2, 15000), 15000);
    CHECK_INT(serve_schedule_grace_ms(0.01, 0, 500), 500);
    CHECK_INT(serve_schedule_grace_ms(1e300, 0, 120000), 120000);
}

/* ---- Drawn queues. ---- */

static bool within(const struct schedule_item *items, size_t n, const struct schedule_room *room)
{
    int slots = 0, taken[SCHEDULE_DEVICES_MAX] = {0};
    int64_t memory_mib = 0;
    for (size_t i = 0; i < n; i++) {
        if (!items[i].runs)
            continue;
        memory_mib += items[i].memory_mib;
        if (items[i].device == SCHEDULE_CPU)
            slots++;
        else if (items[i].device >= room->devices || taken[items[i].device]++)
            return false;
    }
    return slots <= room->cpu_slots && memory_mib <= room->memory_mib;
}

/* Does one wait that goes before `item` and wants the same kind of place? */
static bool overtakes(const struct schedule_item *items, size_t n, size_t item, bool has_devices)
{
    for (size_t i = 0; i < n; i++) {
        const struct schedule_item *a = &items[i], *b = &items[item];
        bool same = !has_devices || a->on_device == b->on_device;
        bool before =
            a->priority > b->priority || (a->priority == b->priority && a->created_ns < b->created_ns);
        if (i != item && a->waits && same && before)
            return true;
    }
    return false;
}

static int64_t random_below(struct random *random, int64_t n)
{
    return random_between(random, 0, n - 1);
}

static void play(struct random *random)
{
    const struct schedule_room room = {(int)random_below(random, 3), 1 + (int)random_below(random, 3),
                                       50 + random_below(random, 100)};
    struct schedule_item items[MOST];
    int left[MOST]; /* turns of work */
    size_t n = 1 + (size_t)random_below(random, MOST), done = 0;
    for (size_t i = 0; i < n; i++) {
        items[i] = waiting((int)random_below(random, 3), (int64_t)i, random_below(random, 2),
                           1 + random_below(random, room.memory_mib));
        left[i] = 1 + (int)random_below(random, 3);
    }
    for (int turn = 0; turn < 1000 && done < n; turn++) {
        struct schedule_step step;
        for (int acts = 0; (step = serve_schedule_next(items, n, &room)).act != SCHEDULE_NOTHING; acts++) {
            struct schedule_item *item = &items[step.item];
            if (acts > 3 * MOST) {
                CHECK(!"it ends");
                return;
            }
            if (step.act == SCHEDULE_PAUSE) {
                CHECK(item->runs && !item->stopping);
                item->stopping = true;
                continue;
            }
            CHECK(item->waits);
            CHECK(!overtakes(items, n, step.item, room.devices > 0));
            CHECK_INT(step.device >= 0, item->on_device && room.devices > 0);
            item->waits = false;
            item->runs = true;
            item->device = step.device;
            CHECK(within(items, n, &room));
        }
        for (size_t i = 0; i < n; i++) {
            if (!items[i].runs)
                continue;
            bool paused = items[i].stopping;
            if (!paused && --left[i] > 0)
                continue;
            items[i].runs = items[i].stopping = false;
            items[i].waits = paused;
            items[i].device = SCHEDULE_CPU;
            done += !paused;
        }
    }
    CHECK_INT(done, n); /* no training waits for ever */
}

static void test_state_limit(void)
{
    CHECK_NEAR(serve_schedule_state_limit_s(-1), 1800, 0);
    CHECK_NEAR(serve_schedule_state_limit_s(0), 60, 0);
    CHECK_NEAR(serve_schedule_state_limit_s(6), 60, 0);
    CHECK_NEAR(serve_schedule_state_limit_s(60), 600, 0);
}

int main(void)
{
    struct random random = random_seeded("trainer/serve/schedule", 20261122);
    test_order();
    test_devices();
    test_two_wait_for_two();
    test_memory();
    test_times();
    test_state_limit();
    for (int i = 0; i < 2000; i++)
        play(&random);
    return check_done("trainer/serve/schedule");
}
