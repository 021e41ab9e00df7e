/* The accounts' days, read from the database on a thread of the pool: when somebody looks at the policies,
 * and when a day has ended. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/arena/internal.h"
#include "daemon/log.h"

enum { READ_EVERY_MS = 10000 };

struct arena_reading {
    uv_work_t work;
    struct arena *arena; /* NULL: it is gone */
    int64_t until;       /* days before this one have ended, and their points are stored */
    bool judges;         /* what follows from them is looked at then */
    char database[STATE_PATH_MAX];
    size_t n;
    struct read_account {
        char name[ACCOUNT_NAME_MAX], currency[ASSET_NAME_MAX];
        int number, scale;
        int64_t from_ns;
        uint64_t flow;          /* the newest that is known; then that was read */
        struct arena_days days; /* from then on */
        struct read_flow {
            int64_t ts_ns;
            double amount;
            bool anew;
        } * flows; /* since then */
        size_t n_flows;
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

static void take_flow(void *ctx, const struct db_flow *flow)
{
    struct read_account *account = ctx;
    struct read_flow *more = reallocarray(account->flows, account->n_flows + 1, sizeof *more);
    account->failed |= !more;
    if (!more)
        return;
    account->flows = more;
    more[account->n_flows++] = (struct read_flow){.ts_ns = flow->ts_ns,
                                                  .amount = decimal_to_double(flow->amount, account->scale),
                                                  .anew = flow->kind == LEDGER_RESET};
    account->flow = flow->id;
}

/* What was put in or out first, so that the points know of all of it. */
static bool read_account(struct db_reader *reader, struct read_account *account)
{
    return db_reader_flows(reader, account->number, account->currency, account->flow, take_flow, account) ==
               0 &&
           db_reader_equity(reader, account->number, account->from_ns, 0, take_point, account) == 0;
}

static void read_days(uv_work_t *work)
{
    struct arena_reading *reading = work->data;
    struct db_reader *reader;
    char err[DB_ERROR_MAX];
    int r = db_reader_open(reading->database, &reader, err, sizeof err);
    for (size_t i = 0; i < reading->n; i++) {
        struct read_account *account = &reading->accounts[i];
        account->failed = r < 0 || !read_account(reader, account) || account->failed;
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

/* False without memory: it may be merged again. */
static bool merge(struct arena_record *record, struct read_account *read)
{
    struct arena_days *days = &record->days;
    if (days->n == 0) {
        *days = read->days;
        read->days = (struct arena_days){0};
    }
    for (size_t i = 0; i < read->days.n; i++)
        if (read->days.day[i].seen && arena_days_add(days, (read->days.first + (int64_t)i) * ARENA_DAY_NS,
                                                     read->days.day[i].equity) < 0)
            return false;
    for (size_t i = 0; i < read->n_flows; i++) {
        const struct read_flow *flow = &read->flows[i];
        if (flow->anew)
            arena_days_anew(days, flow->ts_ns);
        else
            arena_days_flow(days, flow->ts_ns, flow->amount);
    }
    record->flow = read->flow;
    return true;
}

/* `unread`: an account whose days could not be read; NULL: they are there. */
static void judge(struct arena *arena, int64_t until, const char *unread)
{
    if (unread) {
        if (!arena->unread)
            log_warning("policies: the days of account %s cannot be read: tried again until they can be, and "
                        "judged then",
                        unread);
        arena_judge_again(arena);
    } else {
        arena->until = until;
        arena_judge(arena);
    }
    arena->unread = unread != NULL;
}

static void days_read(uv_work_t *work, int status)
{
    struct arena_reading *reading = work->data;
    struct arena *arena = reading->arena;
    const char *unread = NULL;
    if (arena)
        arena->reading = NULL;
    for (size_t i = 0; i < reading->n; i++) {
        struct read_account *read = &reading->accounts[i];
        struct arena_record *record =
            arena && status == 0 && !read->failed ? record_of(arena, read->name) : NULL;
        if (!(record && merge(record, read)) && !unread)
            unread = read->name;
        arena_days_finish(&read->days);
        free(read->flows);
    }
    if (arena && reading->judges)
        judge(arena, reading->until, unread);
    free(reading);
}

bool arena_read(struct arena *arena, bool judges)
{
    const struct engine *engine = session_engine(arena->daemon->session);
    if (arena->reading)
        return false;
    int n = engine_accounts(engine);
    struct arena_reading *reading = calloc(1, sizeof *reading + (size_t)n * sizeof *reading->accounts);
    if (!reading)
        return false;
    for (int a = 0; a < n; a++) {
        const struct account *account = engine_account(engine, a);
        if (!arena_has_account(arena, account->name) && !engine_account_spec(engine, a)->policy)
            continue;
        const struct arena_record *record = record_of(arena, account->name);
        struct read_account *read = &reading->accounts[reading->n++];
        memcpy(read->name, account->name, sizeof read->name);
        memcpy(read->currency, account->currency, sizeof read->currency);
        read->number = a;
        read->scale = account->currency_scale;
        read->from_ns = record ? arena_days_from(&record->days) : 0;
        read->flow = record ? record->flow : 0;
    }
    memcpy(reading->database, arena->daemon->state.database, sizeof reading->database);
    reading->arena = arena;
    reading->work.data = reading;
    reading->judges = judges;
    reading->until = arena->day;
    arena->read_ms = uv_now(arena->daemon->loop);
    if (uv_queue_work(arena->daemon->loop, &reading->work, read_days, days_read) < 0) {
        free(reading);
        return false;
    }
    arena->reading = reading;
    return true;
}

static void read_again(struct arena *arena)
{
    if (arena->read_ms == 0 || uv_now(arena->daemon->loop) - arena->read_ms >= READ_EVERY_MS)
        arena_read(arena, false);
}

const struct arena_days *arena_days(const struct arena *arena, const char *account)
{
    for (size_t i = 0; i < arena->n_records; i++)
        if (strcmp(arena->records[i].account, account) == 0)
            return &arena->records[i].days;
    return NULL;
}

double arena_sharpe(struct arena *arena, const char *account)
{
    if (session_engine(arena->daemon->session) && !arena->daemon->stopping)
        read_again(arena);
    const struct arena_days *days = arena_days(arena, account);
    return days ? arena_days_sharpe(days) : NAN;
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
