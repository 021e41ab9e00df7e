/* events.jsonl: numbers, a torn end, thinning by its rule, another training's rest, a full disk. */
#include "trainer/serve/events.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>

#include "tests/check.h"
#include "tests/scratch.h"

static json_t *make(const char *kind, int64_t steps)
{
    return json_pack("{s:s, s:I}", "event", kind, "steps", (json_int_t)steps);
}

static int add(struct events *events, const char *kind, int64_t steps, int64_t ts_ns)
{
    json_t *event = make(kind, steps);
    int r = serve_events_add(events, event, ts_ns);
    json_decref(event);
    return r;
}

static int64_t seq_at(const json_t *array, size_t i)
{
    return json_integer_value(json_object_get(json_array_get(array, i), "seq"));
}

static void check_range(const struct events *events, int64_t after, size_t limit, size_t bytes, size_t n,
                        int64_t first)
{
    json_t *array = NULL;
    CHECK_INT(serve_events_read(events, after, limit, bytes, &array), 0);
    CHECK_INT(json_array_size(array), n);
    if (n > 0)
        CHECK_INT(seq_at(array, 0), first);
    for (size_t i = 1; i < json_array_size(array); i++)
        CHECK(seq_at(array, i) > seq_at(array, i - 1));
    json_decref(array);
}

static void test_numbers(void)
{
    const char *path = scratch_path("numbers.jsonl");
    struct events events;
    CHECK_INT(serve_events_open(&events, path, 100, 0), 0);
    check_range(&events, 0, 10, 1000, 0, 0);
    for (int i = 1; i <= 20; i++)
        CHECK_INT(add(&events, "update", i, 100 + i), 0);
    CHECK_INT(events.last, 20);
    check_range(&events, 0, 100, 1 << 20, 20, 1);
    check_range(&events, 5, 4, 1 << 20, 4, 6);
    check_range(&events, 20, 4, 1 << 20, 0, 0);
    check_range(&events, 0, 100, 1, 1, 1); /* at least one, however long */
    serve_events_close(&events);

    CHECK_INT(serve_events_open(&events, path, 100, 0), 0); /* as after a crash */
    CHECK_INT(events.last, 20);
    CHECK_INT(events.n, 20);
    CHECK_INT(add(&events, "end", 21, 200), 0);
    check_range(&events, 19, 100, 1 << 20, 2, 20);
    serve_events_close(&events);

    CHECK_INT(serve_events_open(&events, path, 100, 50), 0); /* the record knows of more */
    CHECK_INT(add(&events, "update", 22, 200), 0);
    CHECK_INT(events.last, 51);
    serve_events_close(&events);

    CHECK_INT(serve_events_open(&events, path, 150, 0), 0); /* restarted since */
    CHECK_INT(events.n, 0);
    CHECK_INT(add(&events, "update", 1, 150), 0);
    check_range(&events, 0, 100, 1 << 20, 1, 1);
    serve_events_close(&events);
}

/* Whatever a killed writer left behind its last whole line. */
static void test_torn(void)
{
    static const char *const ends[] = {"{\"seq\":3,\"ts_ns\":1,\"event\":\"upd",
                                       "\n",
                                       "x\n",
                                       "{}\n",
                                       "null\n",
                                       "{\"seq\":2,\"ts_ns\":9}\n",
                                       "{\"seq\":3,\"ts_ns\":1.5}\n"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        char text[256];
        struct events events;
        snprintf(text, sizeof text,
                 "{\"seq\":1,\"ts_ns\":1,\"event\":\"start\"}\n{\"seq\":2,\"ts_ns\":2}\n%s", ends[i]);
        const char *path = scratch_write("torn.jsonl", text);
        CHECK_INT(serve_events_open(&events, path, 0, 0), 0);
        CHECK_INT(events.n, 2);
        CHECK_INT(events.last, 2);
        CHECK_INT(add(&events, "update", 7, 3), 0);
        check_range(&events, 0, 10, 1 << 20, 3, 1);
        serve_events_close(&events);
        CHECK_INT(serve_events_open(&events, path, 0, 0), 0);
        CHECK_INT(events.n, 3);
        serve_events_close(&events);
    }
}

static void test_rule(void)
{
    struct event_entry entries[10] = {{0}};
    bool keep[10];
    entries[0].lasting = entries[3].lasting = entries[9].lasting = true;
    CHECK_INT(serve_events_thin(entries, 10, 7, keep), 0);
    CHECK_INT(serve_events_thin(entries, 10, 3, keep),
              2); /* others: 1 2 4 5 | 6 7 8: of the old 2 and 5 go */
    for (int i = 0; i < 10; i++)
        CHECK_INT(keep[i], i != 2 && i != 5);
    CHECK_INT(serve_events_thin(entries, 10, 0, keep), 3);
    CHECK_INT(serve_events_thin(entries, 0, 0, keep), 0);
}

static void test_thinned(void)
{
    const char *path = scratch_path("thinned.jsonl");
    struct events events;
    int64_t most = 0;
    CHECK_INT(serve_events_open(&events, path, 0, 0), 0);
    CHECK_INT(add(&events, "start", 0, 1), 0);
    for (int i = 1; i <= 5 * EVENTS_NEWEST; i++) {
        CHECK_INT(add(&events, i % 1000 ? "update" : "evaluation", i, 1 + i), 0);
        most = events.size > most ? events.size : most;
    }
    CHECK(events.thinnable <= EVENTS_MOST);
    CHECK_INT(events.n - events.thinnable, 1 + 5 * EVENTS_NEWEST / 1000);
    CHECK(most < (EVENTS_MOST + 100) * 64);
    size_t n = events.n;
    json_t *array = NULL;
    CHECK_INT(serve_events_read(&events, 0, n, 1 << 30, &array), 0);
    CHECK_INT(json_array_size(array), n);
    for (size_t i = 0; i < n; i++) /* each line is where the index says */
        CHECK_INT(json_integer_value(json_object_get(json_array_get(array, i), "steps")),
                  seq_at(array, i) - 1);
    for (size_t i = n - EVENTS_NEWEST; i < n; i++)
        CHECK_INT(seq_at(array, i), 5 * EVENTS_NEWEST + 1 - (int64_t)(n - 1 - i));
    json_decref(array);
    serve_events_close(&events);
    CHECK_INT(serve_events_open(&events, path, 0, 0), 0);
    CHECK_INT(events.n, n);
    CHECK_INT(events.last, 5 * EVENTS_NEWEST + 1);
    serve_events_close(&events);
}

static void test_full(void)
{
    const char *path = scratch_path("full.jsonl");
    struct events events;
    struct rlimit before, small;
    signal(SIGXFSZ, SIG_IGN);
    CHECK_INT(serve_events_open(&events, path, 0, 0), 0);
    CHECK_INT(add(&events, "update", 1, 1), 0);
    getrlimit(RLIMIT_FSIZE, &before);
    small = (struct rlimit){(rlim_t)events.size + 10, before.rlim_max};
    CHECK_INT(setrlimit(RLIMIT_FSIZE, &small), 0);
    CHECK(add(&events, "update", 2, 2) < 0);
    CHECK_INT(events.last, 1);
    CHECK_INT(setrlimit(RLIMIT_FSIZE, &before), 0);
    CHECK_INT(add(&events, "update", 3, 3), 0);
    check_range(&events, 0, 10, 1 << 20, 2, 1);
    serve_events_close(&events);
    CHECK_INT(serve_events_open(&events, path, 0, 0), 0);
    CHECK_INT(events.n, 2);
    serve_events_close(&events);
    CHECK_INT(serve_events_open(&events, scratch_path("none/full.jsonl"), 0, 0), -ENOENT);
}

int main(void)
{
    scratch_in_memory();
    test_numbers();
    test_torn();
    test_rule();
    test_thinned();
    test_full();
    return check_done("trainer/serve/events");
}
