/* The accounts' days, read from the database on a thread of the pool when somebody looks at the policies. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/arena/internal.h"

enum { READ_EVERY_MS = 10000 };

struct arena_reading {
    uv_work_t work;
    struct arena *arena; /* NULL: it is gone */
    char database[STATE_PATH_MAX];
    size_t n;
    struct read_account {
        char name[ACCOUNT_NAME_MAX];
        int number, scale;
        int64_t from_ns;
        struct arena_days days; /* from then on */
        bool failed;
    } accounts[];
};

/* ---- on the thread ---- */

static void take_point(void *ctx, const struct db_equity_point *point)
{
    struct read_account *account = ctx;
    double equity = decimal_to_double(point->equity, account->scale);
    if (!account->failed)
        account->failed = arena_days_add(&account->days, point->ts_ns, equity) < 0;
}

static void read_days(uv_work_t *work)
{
    struct arena_reading *reading = work->data;
    struct db_reader *reader;
    char err[DB_ERROR_MAX];
    int r = db_reader_open(reading->database, &reader, err, sizeof err);
    for (size_t i = 0; i < reading->n; i++) {
        struct read_account *account = &reading->accounts[i];
        account->failed = r < 0;
        if (r == 0 && db_reader_equity(reader, account->number, account->from_ns, 0, take_point, account) < 0)
            account->failed = true;
    }
    if (r == 0)
        db_reader_close(reader);
}

/* ---- on the loop ---- */

static struct arena_record *record_of(struct arena *arena, const char *account)
{
    for (size_t i = 0; i < arena->n_records; i++)
        if (strcmp(arena->records[i].account, account) == 0)
            return &arena->records[i];
    struct arena_record *more = reallocarray(arena->records, arena->n_records + 1, sizeof *more);
    if (!more)
        return NULL;
    arena->records = more;
    more[arena->n_records] = (struct arena_record){0};
    snprintf(more[arena->n_records].account, sizeof more->account, "%s", account);
    return &more[arena->n_records++];
}

static void merge(struct arena_record *record, struct read_account *read)
{
    static const int64_t DAY_NS = 86400 * INT64_C(1000000000);
    if (record->days.n == 0) {
        record->days = read->days;
        read->days = (struct arena_days){0};
        return;
    }
    for (size_t i = 0; i < read->days.n; i++)
        if (arena_days_add(&record->days, (read->days.first + (int64_t)i) * DAY_NS, read->days.equity[i]) < 0)
            return;
}

static void days_read(uv_work_t *work, int status)
{
    struct arena_reading *reading = work->data;
    struct arena *arena = reading->arena;
    if (arena)
        arena->reading = NULL;
    for (size_t i = 0; i < reading->n; i++) {
        struct read_account *read = &reading->accounts[i];
        struct arena_record *record =
            arena && status == 0 && !read->failed ? record_of(arena, read->name) : NULL;
        if (record)
            merge(record, read);
        arena_days_finish(&read->days);
    }
    free(reading);
}

static void read_again(struct arena *arena)
{
    const struct engine *engine = session_engine(arena->daemon->session);
    uint64_t now_ms = uv_now(arena->daemon->loop);
    if (arena->reading || (arena->read_ms != 0 && now_ms - arena->read_ms < READ_EVERY_MS))
        return;
    int n = engine_accounts(engine);
    struct arena_reading *reading = calloc(1, sizeof *reading + (size_t)n * sizeof *reading->accounts);
    if (!reading)
        return;
    for (int a = 0; a < n; a++) {
        const struct account *account = engine_account(engine, a);
        if (!arena_has_account(arena, account->name) && !engine_account_spec(engine, a)->policy)
            continue;
        const struct arena_record *record = record_of(arena, account->name);
        struct read_account *read = &reading->accounts[reading->n++];
        memcpy(read->name, account->name, sizeof read->name);
        read->number = a;
        read->scale = account->currency_scale;
        read->from_ns = record ? arena_days_from(&record->days) : 0;
    }
    memcpy(reading->database, arena->daemon->state.database, sizeof reading->database);
    reading->arena = arena;
    reading->work.data = reading;
    arena->read_ms = now_ms;
    if (uv_queue_work(arena->daemon->loop, &reading->work, read_days, days_read) < 0)
        free(reading);
    else
        arena->reading = reading;
}

double arena_sharpe(struct arena *arena, const char *account)
{
    if (session_engine(arena->daemon->session) && !arena->daemon->stopping)
        read_again(arena);
    for (size_t i = 0; i < arena->n_records; i++)
        if (strcmp(arena->records[i].account, account) == 0)
            return arena_days_sharpe(&arena->records[i].days);
    return NAN;
}

void arena_records_finish(struct arena *arena)
{
    if (arena->reading)
        arena->reading->arena = NULL;
    for (size_t i = 0; i < arena->n_records; i++)
        arena_days_finish(&arena->records[i].days);
    free(arena->records);
    arena->records = NULL;
    arena->n_records = 0;
}
