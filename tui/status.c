#include "tui/status.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/format.h"
#include "cli/text.h"
#include "tui/status_reader.h"

int64_t tui_status_count(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    return json_is_integer(value) && json_integer_value(value) >= 0 ? json_integer_value(value) : -1;
}

void tui_status_read(const struct record *record, const json_t *object, void *row)
{
    record_json_take(record, object, cli_text_clean, row);
}

void tui_status_stored(const struct record *record, void *row, const struct record *stored, const void *from,
                       const struct record_key *keys, int n, const struct record_context *context)
{
    json_t *object = record_json_object(stored, keys, n, from, context);

    tui_status_read(record, object, row);
    json_decref(object);
}

/* ---- objects of which there is one ---- */

RECORD_SHOWN_RECORD(whole, status, RECORD_SHOWN_WHOLE);
RECORD_SHOWN_RECORD(feed, status_feed, RECORD_SHOWN_FEED);
RECORD_SHOWN_RECORD(counters, status_counters, RECORD_SHOWN_COUNTERS);
RECORD_SHOWN_RECORD(gpu, status_gpu, RECORD_SHOWN_GPU);
RECORD_SHOWN_RECORD(compute, status_compute, RECORD_SHOWN_COMPUTE);
RECORD_SHOWN_RECORD(charts, status_compute, RECORD_SHOWN_CHARTS);
RECORD_SHOWN_RECORD(db, status_db, RECORD_SHOWN_DB);
RECORD_SHOWN_RECORD(rebuilt, status_rebuilt, RECORD_SHOWN_REBUILT);
RECORD_SHOWN_RECORD(parity, status_parity, RECORD_SHOWN_PARITY);
RECORD_SHOWN_RECORD(events, status_log, RECORD_SHOWN_LOG);
RECORD_SHOWN_RECORD(recovery, status_recovery, RECORD_SHOWN_RECOVERY);
RECORD_SHOWN_RECORD(trainer, status_trainer, RECORD_SHOWN_TRAINER);
RECORD_SHOWN_RECORD(champion, status_champion, RECORD_SHOWN_CHAMPION);

#define PART(member) offsetof(struct status, member)
static const struct {
    const char *key; /* NULL: the status itself */
    const struct record *(*record)(void);
    size_t at;
} parts[] = {
    {NULL, whole, 0},
    {"feed", feed, PART(feed)},
    {"counters", counters, PART(counters)},
    {"gpu", gpu, PART(gpu)},
    {"compute", compute, PART(compute)},
    {"compute", charts, PART(compute)},
    {"db", db, PART(db)},
    {"rebuilt", rebuilt, PART(rebuilt)},
    {"parity", parity, PART(parity)},
    {"events", events, PART(log)},
    {"recovery", recovery, PART(recovery)},
    {"trainer", trainer, PART(trainer)},
    {"champion", champion, PART(champion)},
};

static void read_parts(const json_t *object, struct status *s)
{
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        tui_status_read(parts[i].record(), parts[i].key ? json_object_get(object, parts[i].key) : object,
                        (char *)s + parts[i].at);
    s->alerts_open = tui_status_count(object, "alerts_open");
    if (s->db.commits == 0) /* of no commit at all */
        s->db.commit_p50_ms = s->db.commit_p99_ms = NAN;
}

/* ---- lists ---- */

RECORD_SHOWN_RECORD(streams, status_stream, RECORD_SHOWN_STREAM);
RECORD_SHOWN_RECORD(venues, status_venue, RECORD_SHOWN_VENUE);
RECORD_SHOWN_RECORD(symbols, status_symbol, RECORD_SHOWN_SYMBOL);
RECORD_SHOWN_RECORD(last_bar, status_symbol, RECORD_SHOWN_BAR);
RECORD_SHOWN_RECORD(accounts, status_account, RECORD_SHOWN_ACCOUNT);
RECORD_SHOWN_RECORD(there, status_venue_account, RECORD_SHOWN_VENUE_ACCOUNT);
RECORD_SHOWN_RECORD(reconciled, status_reconciled, RECORD_SHOWN_RECONCILED);
RECORD_SHOWN_RECORD(externals, status_external, RECORD_SHOWN_EXTERNAL);
RECORD_SHOWN_RECORD(totals, status_total, RECORD_SHOWN_TOTAL);
RECORD_SHOWN_RECORD(positions, status_position, RECORD_SHOWN_POSITION);
RECORD_SHOWN_RECORD(devices, status_device, RECORD_SHOWN_DEVICE);
RECORD_SHOWN_RECORD(orders, status_order, RECORD_SHOWN_ORDER);
RECORD_SHOWN_RECORD(sources, status_source, RECORD_SHOWN_SOURCE);
RECORD_SHOWN_RECORD(price_alerts, status_price_alert, RECORD_SHOWN_PRICE_ALERT);

static void read_stream(const json_t *object, struct status *s, void *row)
{
    struct status_stream *stream = row;

    (void)object, (void)s;
    stream->excused = strcmp(stream->state, "quiet") == 0 || strcmp(stream->state, "closed") == 0;
}

static void read_indicators(const json_t *symbol, struct status_symbol *ret)
{
    const char *key;
    json_t *value, *indicators = json_object_get(symbol, "indicators");

    json_object_foreach(indicators, key, value)
    {
        if (ret->n_indicators == STATUS_INDICATORS_MAX)
            break;
        struct status_indicator *indicator = &ret->indicators[ret->n_indicators++];
        cli_text_clean(indicator->name, sizeof(indicator->name), key);
        indicator->value = json_is_number(value) ? json_number_value(value) : NAN;
    }
}

/* A symbol's price may be as old as its fastest stream allows. */
static int64_t price_limit(const struct status *s, const char *symbol)
{
    int64_t limit = -1;

    for (int i = 0; i < s->n_streams; i++) {
        const struct status_stream *stream = &s->streams[i];
        if (stream->limit_ms > 0 && (limit < 0 || stream->limit_ms < limit) &&
            strcmp(stream->symbol, symbol) == 0)
            limit = stream->limit_ms;
    }
    return limit;
}

static void read_symbol(const json_t *object, struct status *s, void *row)
{
    struct status_symbol *symbol = row;

    symbol->limit_ms = price_limit(s, symbol->symbol);
    tui_status_read(last_bar(), json_object_get(object, "last_bar"), symbol);
    read_indicators(object, symbol);
}

static void read_account(const json_t *object, struct status *s, void *row)
{
    const json_t *at = json_object_get(object, "venue_account"), *list = json_object_get(at, "external");
    struct status_account *account = row;

    tui_status_read(there(), at, &account->there);
    tui_status_read(reconciled(), json_object_get(at, "reconciled"), &account->reconciled);
    s->externals_total += (int)json_array_size(list);
    for (size_t i = 0; i < json_array_size(list); i++) {
        struct status_external *external = tui_status_add(s, STATUS_EXTERNALS);
        if (!external)
            break;
        tui_status_read(externals(), json_array_get(list, i), external);
        memcpy(external->account, account->account, sizeof(external->account));
    }
}

static const struct list {
    const char *in, *key; /* of the status, or of an object in it; an object without a text of the name
                             `named` is skipped */
    const char *named;
    const struct record *(*record)(void);
    void (*also)(const json_t *object, struct status *s, void *row); /* or NULL */
    enum status_list list;
    size_t total_at; /* where all of them are counted; 0: nowhere */
} lists[] = {
    {"feed", "streams", NULL, streams, read_stream, STATUS_STREAMS, 0},
    {NULL, "venues", NULL, venues, NULL, STATUS_VENUES, 0},
    {NULL, "symbols", NULL, symbols, read_symbol, STATUS_SYMBOLS, 0},
    {NULL, "accounts", NULL, accounts, read_account, STATUS_ACCOUNTS, PART(accounts_total)},
    {NULL, "totals", "currency", totals, NULL, STATUS_TOTALS, 0},
    {NULL, "positions", NULL, positions, NULL, STATUS_POSITIONS, 0},
    {NULL, "orders", NULL, orders, NULL, STATUS_ORDERS, PART(orders_total)},
    {NULL, "price_alerts", NULL, price_alerts, NULL, STATUS_PRICE_ALERTS, PART(price_alerts_total)},
    {"gpu", "devices", NULL, devices, NULL, STATUS_DEVICES, 0},
    {"rebuilt", "sources", NULL, sources, NULL, STATUS_SOURCES, 0},
    {NULL, "policies", "policy", tui_status_policy_record, tui_status_read_policy, STATUS_POLICIES, 0},
};

/* Those that are objects, as many as fit; all are counted. */
static void read_list(const struct list *list, const json_t *object, struct status *s)
{
    const json_t *in = list->in ? json_object_get(object, list->in) : object;
    const json_t *array = json_object_get(in, list->key);

    for (size_t i = 0; i < json_array_size(array); i++) {
        const json_t *e = json_array_get(array, i);
        if (!json_is_object(e) || (list->named && !json_is_string(json_object_get(e, list->named))))
            continue;
        if (list->total_at)
            ++*(int *)(void *)((char *)s + list->total_at);
        void *row = tui_status_add(s, list->list);
        if (!row)
            continue;
        tui_status_read(list->record(), e, row);
        if (list->also)
            list->also(e, s, row);
    }
}

static void read_refusals(const json_t *object, struct status *s)
{
    const json_t *counters = json_object_get(object, "counters");
    const char *key;
    json_t *value;

    json_object_foreach(json_object_get(counters, "refused"), key, value)
    {
        if (s->n_refusals == STATUS_REFUSALS_MAX)
            break;
        struct status_refusal *refusal = &s->refusals[s->n_refusals++];
        cli_text_clean(refusal->reason, sizeof(refusal->reason), key);
        refusal->count = json_is_integer(value) ? json_integer_value(value) : -1;
    }
}

int tui_status_price_alerts(const struct status *status, const char *symbol, double *ret_above,
                            double *ret_below)
{
    int n = 0;

    *ret_above = *ret_below = NAN;
    for (int i = 0; i < status->n_price_alerts; i++) {
        const struct status_price_alert *alert = &status->price_alerts[i];
        if (strcmp(alert->symbol, symbol) != 0)
            continue;
        n++;
        if (strcmp(alert->side, "above") == 0)
            *ret_above = fmin(*ret_above, alert->price); /* fmin() and fmax() leave NaN out */
        else
            *ret_below = fmax(*ret_below, alert->price);
    }
    return n;
}

void tui_status_at_venue(const struct status_account *account, int64_t now_ns,
                         char ret[static STATUS_AT_VENUE_MAX])
{
    const struct status_venue_account *there = &account->there;
    int64_t ago_ns = now_ns - account->reconciled.at_ns; /* of the venue's clock, which may be ahead */
    char age[FORMAT_MAX], compared[FORMAT_MAX + 24] = "";

    if (account->reconciled.at_ns > 0)
        snprintf(compared, sizeof(compared), ", compared %s ago",
                 cli_format_age(age, ago_ns > 0 ? ago_ns / 1000000 : 0));
    if (there->attached)
        snprintf(ret, STATUS_AT_VENUE_MAX, "%s%s, ids %s-ORDER", account->at_venue, compared, there->prefix);
    else
        snprintf(ret, STATUS_AT_VENUE_MAX, "%s%s%s%s", account->at_venue, compared,
                 there->detail[0] ? ": " : "", there->detail);
}

void tui_status_init(struct status *status)
{
    *status = (struct status){0};
    read_parts(NULL, status);
    status->now_ns = 0;
}

int tui_status_parse(const json_t *object, struct status *ret)
{
    const char *schema = json_string_value(json_object_get(object, "schema"));

    if (!schema || strcmp(schema, "papertape.status/1") != 0)
        return -EPROTO;
    *ret = (struct status){0};
    read_parts(object, ret);
    ret->started = json_is_array(json_object_get(object, "accounts"));
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
        read_list(&lists[i], object, ret);
    tui_status_sum(ret, NULL);
    read_refusals(object, ret);
    tui_status_read_trainings(object, ret);
    return 0;
}
