/* Reads the accounts' days from the database on a thread of the pool: when a client asks for the policies,
 * and when a day has ended. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/arena/internal.h"
#include "daemon/log.h"

enum { READ_EVERY_MS = 10000, TRIES = 10 }; /* a second apart: arena_judge_again() */

struct arena_reading {
    uv_work_t work;
    struct arena *arena; /* NULL: it is gone */
    int64_t until;       /* days before this one have ended, and their points are stored */
    bool judges;         /* arena_judge() is called then */
    char database[STATE_PATH_MAX];
    size_t n;
    struct read_account {
        char name[ACCOUNT_NAME_MAX], currency[ASSET_NAME_MAX];
        int number, scale;
        int64_t from_ns;
        uint64_t flow;            /* the newest that is known */
        struct arena_days days;   /* from then on */
        struct arena_flow *flows; /* since then */
        size_t n_flows;
        int error; /* 0 or -errno, … */
        char why[DB_ERROR_MAX];
    } accounts[];
};

/* ---- on the thread ---- */

static void fail(struct read_account *account, int error, const char *why)
{
    account->error = error;
    snprintf(account->why, sizeof account->why, "%s", why);
}

static void take_point(void *ctx, const struct db_equity_point *point)
{
    struct read_account *account = ctx;
    double equity = decimal_to_double(point->equity, account->scale);
    if (account->error == 0 && arena_days_add(&account->days, point->ts_ns, equity) < 0)
        fail(account, -ENOMEM, "out of memory");
}

static void take_flow(void *ctx, const struct db_flow *flow)
{
    struct read_account *account = ctx;
    struct arena_flow *more = reallocarray(account->flows, account->n_flows + 1, sizeof *more);
    if (!more) {
        fail(account, -ENOMEM, "out of memory");
        return;
    }
    account->flows = more;
    more[account->n_flows++] = (struct arena_flow){.id = flow->id,
                                                   .ts_ns = flow->ts_ns,
                                                   .amount = decimal_to_double(flow->amount, account->scale),
                                                   .reset = flow->kind == LEDGER_RESET};
}

/* What was put in or out comes first, so that the points take all of it into account. */
static void read_account(struct db_reader *reader, struct read_account *account)
{
    int r = db_reader_flows(reader, account->number, account->currency, account->flow, take_flow, account);
    if (r == 0)
        r = db_reader_equity(reader, account->number, account->from_ns, 0, take_point, account);
    if (r < 0)
        fail(account, r, db_reader_error(reader));
}

static void read_days(uv_work_t *work)
{
    struct arena_reading *reading = work->data;
    struct db_reader *reader;
    char err[DB_ERROR_MAX];
    int r = db_reader_open(reading->database, &reader, err, sizeof err);
    for (size_t i = 0; i < reading->n; i++) {
        if (r < 0)
            fail(&reading->accounts[i], r, err);
        else
            read_account(reader, &reading->accounts[i]);
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

/* Accounts whose days could not be read. */
struct unread {
    int n;
    bool passes;            /* the cause of one of them may pass */
    int n_new;              /* that could be read before, … */
    const char *first;      /* one of those, … */
    char why[DB_ERROR_MAX]; /* and its cause */
};

/* A row or a file that is malformed: a second try does not help. */
static bool lasts(int error)
{
    return error == -EBADMSG || error == -EMEDIUMTYPE || error == -EOVERFLOW;
}

static void take(struct arena *arena, struct read_account *read, bool judges, struct unread *unread)
{
    struct arena_record *record = record_of(arena, read->name);
    if (read->error == 0 && (!record || arena_days_merge(&record->days, &record->flow, &read->days,
                                                         read->flows, read->n_flows) < 0))
        fail(read, -ENOMEM, "out of memory");
    if (read->error < 0) {
        unread->n++;
        unread->passes |= !lasts(read->error);
    }
    if (read->error < 0 && judges && record && !record->unread && unread->n_new++ == 0) {
        unread->first = read->name;
        memcpy(unread->why, read->why, sizeof unread->why);
    }
    if (record)
        record->unread = read->error < 0 && (judges || record->unread);
}

static void alert_unread(const struct arena *arena, const struct unread *unread)
{
    char text[DB_ERROR_MAX + 256], more[32] = "", about[96];
    if (unread->n == 0)
        daemon_session_alert_over(arena->daemon->session, "POLICY_UNREAD", "");
    if (unread->n_new == 0)
        return;
    if (unread->n_new > 1)
        snprintf(more, sizeof more, " and %d more", unread->n_new - 1);
    snprintf(about, sizeof about, "the days of account %s", unread->first);
    snprintf(
        text, sizeof text,
        "%s%s cannot be read: %.300s: until they can be it is not crowned, and no other is compared with it",
        about, more, unread->why);
    daemon_log_event(LOG_ALERT, LOG_OF(.account = unread->first, .alert = "POLICY_UNREAD"), "policies: %s",
                     text);
    daemon_session_alert_lasting(arena->daemon->session, DB_WARNING, "POLICY_UNREAD", about, text);
}

/* Waits a while for causes that may pass; the day is then judged without what still cannot be read. */
static void judge(struct arena *arena, int64_t until, const struct unread *unread)
{
    if (unread->passes && arena->tries < TRIES) {
        arena->tries++;
        arena_judge_again(arena);
        return;
    }
    arena->tries = 0;
    arena->until = until;
    arena_judge(arena);
}

static void days_read(uv_work_t *work, int status)
{
    struct arena_reading *reading = work->data;
    struct arena *arena = reading->arena;
    struct unread unread = {0};
    for (size_t i = 0; i < reading->n; i++) {
        struct read_account *read = &reading->accounts[i];
        if (status < 0)
            fail(read, status, uv_strerror(status));
        if (arena)
            take(arena, read, reading->judges, &unread);
        arena_days_finish(&read->days);
        free(read->flows);
    }
    if (arena) {
        arena->reading = NULL;
        alert_unread(arena, &unread);
        if (reading->judges)
            judge(arena, reading->until, &unread);
    }
    free(reading);
}

bool arena_read_records(struct arena *arena, bool judges)
{
    const struct engine *engine = daemon_session_engine(arena->daemon->session);
    if (arena->reading)
        return false;
    int n = engine_accounts(engine);
    struct arena_reading *reading = calloc(1, sizeof *reading + (size_t)n * sizeof *reading->accounts);
    if (!reading)
        return false;
    for (int a = 0; a < n; a++) {
        const struct account *account = engine_account(engine, a);
        if (!arena_has_account(arena, account->name) && !engine_account_spec(engine, a)->policy &&
            !(daemon_config_backtest_sharpe(&arena->daemon->config, account->name) > 0))
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
        arena_read_records(arena, false);
}

const struct arena_days *arena_days(const struct arena *arena, const char *account)
{
    for (size_t i = 0; i < arena->n_records; i++)
        if (strcmp(arena->records[i].account, account) == 0)
            return &arena->records[i].days;
    return NULL;
}

bool arena_unread(const struct arena *arena, const char *account)
{
    for (size_t i = 0; i < arena->n_records; i++)
        if (strcmp(arena->records[i].account, account) == 0)
            return arena->records[i].unread;
    return false;
}

const struct arena_days *arena_account_days(struct arena *arena, const char *account)
{
    if (daemon_session_engine(arena->daemon->session) && !arena->daemon->stopping)
        read_again(arena);
    return arena_days(arena, account);
}

double arena_sharpe(struct arena *arena, const char *account)
{
    const struct arena_days *days = arena_account_days(arena, account);
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
