#include "tui/status.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "cli/text.h"
#include "tui/status_reader.h"

#define TEXT(object, key, field) status_text(object, key, field, sizeof(field))

void status_text(const json_t *object, const char *key, char *field, size_t size)
{
    const char *value = json_string_value(json_object_get(object, key));

    text_clean(field, size, value ? value : "");
}

double status_real(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    return json_is_number(value) ? json_number_value(value) : NAN;
}

int64_t status_whole(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    if (json_is_integer(value))
        return json_integer_value(value);
    double x = json_is_real(value) ? json_real_value(value) : -1;
    return x > -1 && x < 9e18 ? (int64_t)x : -1;
}

int64_t status_count(const json_t *object, const char *key)
{
    int64_t value = status_whole(object, key);

    return value < 0 ? -1 : value;
}

static int decimals(const json_t *object, const char *key)
{
    int64_t value = status_whole(object, key);

    return value < 0 ? 2 : value > 12 ? 12 : (int)value;
}

/* Calls `read` for the elements of object[key] that are objects, as many as fit. */
#define EACH(object, key, element, array, n) \
    size_t n##_at; \
    const json_t *n##_array = json_object_get(object, key), *element; \
    for (n##_at = 0; n##_at < json_array_size(n##_array) && (n) < (int)(sizeof(array) / sizeof((array)[0])); \
         n##_at++) \
        if (json_is_object(element = json_array_get(n##_array, n##_at)))

static void read_feed(const json_t *object, struct status *s)
{
    const json_t *feed = json_object_get(object, "feed");

    TEXT(feed, "state", s->feed.state);
    TEXT(feed, "venue", s->feed.venue);
    TEXT(feed, "url", s->feed.url);
    TEXT(feed, "detail", s->feed.detail);
    s->feed.age_ms = status_count(feed, "age_ms");
    s->feed.retry_in_ms = status_count(feed, "retry_in_ms");
    s->feed.connects = status_count(feed, "connects");
    s->feed.frames = status_count(feed, "frames");
    s->feed.bytes = status_count(feed, "bytes");
    s->feed.bad_frames = status_count(feed, "bad_frames");
    int n_streams = 0;
    EACH(feed, "streams", e, s->streams, n_streams)
    {
        struct status_stream *stream = &s->streams[n_streams++];
        TEXT(e, "symbol", stream->symbol);
        TEXT(e, "stream", stream->stream);
        TEXT(e, "venue", stream->venue);
        stream->per_second = status_real(e, "messages_per_second");
        stream->latency_p50_ms = status_real(e, "latency_p50_ms");
        stream->latency_p99_ms = status_real(e, "latency_p99_ms");
        stream->age_ms = status_count(e, "age_ms");
        stream->limit_ms = status_count(e, "limit_ms");
        stream->frames = status_count(e, "frames");
        stream->stale = json_is_true(json_object_get(e, "stale"));
        const char *state = json_string_value(json_object_get(e, "state"));
        stream->excused = state && (strcmp(state, "quiet") == 0 || strcmp(state, "closed") == 0);
    }
    s->n_streams = n_streams;
}

static void read_venues(const json_t *object, struct status *s)
{
    int n_venues = 0;

    EACH(object, "venues", e, s->venues, n_venues)
    {
        struct status_venue *venue = &s->venues[n_venues++];
        TEXT(e, "venue", venue->venue);
        TEXT(e, "state", venue->state);
        TEXT(e, "detail", venue->detail);
        TEXT(e, "url", venue->url);
        TEXT(e, "market", venue->market);
        venue->market_next_ns = status_whole(e, "market_next_ns");
        venue->market_open_ns = status_whole(e, "market_open_ns");
        venue->market_half = json_is_true(json_object_get(e, "market_half"));
        venue->age_ms = status_count(e, "age_ms");
        venue->retry_in_ms = status_count(e, "retry_in_ms");
        venue->connections = status_count(e, "connections");
        venue->up = status_count(e, "connections_up");
        venue->connects = status_count(e, "connects");
        venue->renewals = status_count(e, "renewals");
        venue->budget = status_count(e, "connect_budget");
        venue->budget_used = status_count(e, "connect_budget_used");
        venue->frames = status_count(e, "frames");
        venue->bad_frames = status_count(e, "bad_frames");
        venue->symbols = status_count(e, "symbols");
        venue->weight_used = status_count(e, "weight_used");
        venue->weight_limit = status_count(e, "weight_limit");
        venue->banned_until_ns = status_whole(e, "banned_until_ns");
        venue->per_second = status_real(e, "messages_per_second");
        venue->latency_p50_ms = status_real(e, "latency_p50_ms");
        venue->latency_p99_ms = status_real(e, "latency_p99_ms");
        venue->clock_offset_ms = status_real(e, "clock_offset_ms");
    }
    s->n_venues = n_venues;
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
        text_clean(indicator->name, sizeof(indicator->name), key);
        indicator->value = json_is_number(value) ? json_number_value(value) : NAN;
    }
}

/* A symbol's price is as old as its quickest stream lets it be. */
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

static void read_symbols(const json_t *object, struct status *s)
{
    int n_symbols = 0;

    EACH(object, "symbols", e, s->symbols, n_symbols)
    {
        struct status_symbol *symbol = &s->symbols[n_symbols++];
        const json_t *bar = json_object_get(e, "last_bar");
        TEXT(e, "symbol", symbol->symbol);
        TEXT(e, "book", symbol->book);
        TEXT(e, "interval", symbol->interval);
        TEXT(e, "venue", symbol->venue);
        TEXT(e, "market", symbol->market);
        TEXT(e, "trading", symbol->trading);
        symbol->last = status_real(e, "last");
        symbol->bid = status_real(e, "bid");
        symbol->ask = status_real(e, "ask");
        symbol->mark = status_real(e, "mark");
        symbol->change_24h_pct = status_real(e, "change_24h_pct");
        symbol->age_ms = status_count(e, "age_ms");
        symbol->limit_ms = price_limit(s, symbol->symbol);
        symbol->stale = json_is_true(json_object_get(e, "stale"));
        symbol->price_decimals = decimals(e, "price_decimals");
        symbol->book_gaps = status_count(e, "book_gaps");
        symbol->bars = status_count(e, "bars");
        symbol->bar_open_ms = status_count(bar, "open_time_ms");
        symbol->bar_open = status_real(bar, "open");
        symbol->bar_high = status_real(bar, "high");
        symbol->bar_low = status_real(bar, "low");
        symbol->bar_close = status_real(bar, "close");
        symbol->bar_volume = status_real(bar, "volume");
        read_indicators(e, symbol);
    }
    s->n_symbols = n_symbols;
}

static void read_accounts(const json_t *object, struct status *s)
{
    int n_accounts = 0;

    EACH(object, "accounts", e, s->accounts, n_accounts)
    {
        struct status_account *account = &s->accounts[n_accounts++];
        TEXT(e, "account", account->account);
        TEXT(e, "currency", account->currency);
        TEXT(e, "strategy", account->strategy);
        account->cash = status_real(e, "cash");
        account->equity = status_real(e, "equity");
        account->deposits = status_real(e, "deposits");
        account->return_pct = status_real(e, "return_pct");
        account->drawdown_pct = status_real(e, "drawdown_pct");
        account->realized = status_real(e, "realized");
        account->fees = status_real(e, "fees");
        account->day_pnl = status_real(e, "day_pnl");
        account->short_value = status_real(e, "short_value");
        account->interest_owed = status_real(e, "interest_owed");
        account->shorts = json_is_true(json_object_get(e, "shorts"));
        account->killed = json_is_true(json_object_get(e, "killed"));
    }
    s->n_accounts = n_accounts;
}

static void read_positions(const json_t *object, struct status *s)
{
    int n_positions = 0;

    EACH(object, "positions", e, s->positions, n_positions)
    {
        struct status_position *position = &s->positions[n_positions++];
        TEXT(e, "account", position->account);
        TEXT(e, "symbol", position->symbol);
        TEXT(e, "side", position->side);
        position->qty = status_real(e, "qty");
        position->entry = status_real(e, "entry");
        position->fifo_entry = status_real(e, "fifo_entry");
        position->mark = status_real(e, "mark");
        position->upnl = status_real(e, "upnl");
        position->stop = status_real(e, "stop");
        position->age_ms = status_count(e, "age_ms");
        position->qty_decimals = decimals(e, "qty_decimals");
    }
    s->n_positions = n_positions;
}

static void read_orders(const json_t *object, struct status *s)
{
    int n_orders = 0;

    EACH(object, "orders", e, s->orders, n_orders)
    {
        struct status_order *order = &s->orders[n_orders++];
        order->order = status_count(e, "order");
        TEXT(e, "account", order->account);
        TEXT(e, "symbol", order->symbol);
        TEXT(e, "side", order->side);
        TEXT(e, "type", order->type);
        TEXT(e, "state", order->state);
        TEXT(e, "tif", order->tif);
        TEXT(e, "tag", order->tag);
        order->qty = status_real(e, "qty");
        order->filled = status_real(e, "filled");
        order->price = status_real(e, "price");
        order->stop = status_real(e, "stop");
        order->trail = status_real(e, "trail");
        order->trail_pct = status_real(e, "trail_pct");
        order->group = status_count(e, "group");
        order->parent = status_count(e, "parent");
        order->triggered = json_is_true(json_object_get(e, "triggered"));
    }
    s->n_orders = n_orders;
}

static void read_counters(const json_t *object, struct status *s)
{
    const json_t *counters = json_object_get(object, "counters");
    const char *key;
    json_t *value;

    s->count_orders = status_count(counters, "orders");
    s->count_fills = status_count(counters, "fills");
    s->count_rejected = status_count(counters, "rejected");
    json_object_foreach(json_object_get(counters, "refused"), key, value)
    {
        if (s->n_refusals == STATUS_REFUSALS_MAX)
            break;
        struct status_refusal *refusal = &s->refusals[s->n_refusals++];
        text_clean(refusal->reason, sizeof(refusal->reason), key);
        refusal->count = json_is_integer(value) ? json_integer_value(value) : -1;
    }
}

static void read_machine(const json_t *object, struct status *s)
{
    const json_t *gpu = json_object_get(object, "gpu"), *compute = json_object_get(object, "compute"),
                 *db = json_object_get(object, "db");
    int n_devices = 0;

    TEXT(gpu, "state", s->gpu_state);
    TEXT(gpu, "reason", s->gpu_reason);
    EACH(gpu, "devices", e, s->devices, n_devices)
    {
        struct status_device *device = &s->devices[n_devices++];
        TEXT(e, "name", device->name);
        device->util_pct = status_real(e, "util_pct");
        device->mem_used_mib = status_real(e, "mem_used_mib");
        device->mem_total_mib = status_real(e, "mem_total_mib");
        device->power_w = status_real(e, "power_w");
        device->power_limit_w = status_real(e, "power_limit_w");
        device->clock_mhz = status_real(e, "clock_mhz");
        device->temp_c = status_real(e, "temp_c");
    }
    s->n_devices = n_devices;
    TEXT(compute, "backend", s->compute_backend);
    TEXT(compute, "reason", s->compute_reason);
    TEXT(compute, "device", s->compute_device);
    s->compute_updates = status_count(compute, "updates");
    s->compute_queue = status_count(compute, "queue");
    TEXT(db, "state", s->db_state);
    TEXT(db, "detail", s->db_detail);
    s->db_commits = status_count(db, "commits");
    s->db_rows = status_count(db, "rows");
    s->db_queue = status_count(db, "queue");
    s->commit_p50_ms = s->db_commits == 0 ? NAN : status_real(db, "commit_p50_ms"); /* of no commit at all */
    s->commit_p99_ms = s->db_commits == 0 ? NAN : status_real(db, "commit_p99_ms");
}

static void read_rebuilt(const json_t *object, struct status *s)
{
    const json_t *rebuilt = json_object_get(object, "rebuilt");
    struct status_rebuilt *to = &s->rebuilt;
    int n_sources = 0;

    to->ts_ns = json_is_object(rebuilt) ? status_count(rebuilt, "ts_ns") : 0;
    to->whole_from = status_count(rebuilt, "whole_from");
    to->lost = json_is_true(json_object_get(rebuilt, "lost"));
    TEXT(rebuilt, "why", to->why);
    TEXT(rebuilt, "aside", to->aside);
    EACH(rebuilt, "sources", e, to->sources, n_sources)
    {
        TEXT(e, "table", to->sources[n_sources].table);
        TEXT(e, "source", to->sources[n_sources].source);
        n_sources++;
    }
    to->n_sources = n_sources;
}

static void read_record(const json_t *object, struct status *s)
{
    const json_t *parity = json_object_get(object, "parity"), *log = json_object_get(object, "events"),
                 *recovery = json_object_get(object, "recovery");

    TEXT(parity, "state", s->parity.state);
    TEXT(parity, "detail", s->parity.detail);
    s->parity.days = status_count(parity, "days");
    s->parity.checked_ns = status_count(parity, "checked_ns");
    TEXT(log, "state", s->log.state);
    TEXT(log, "detail", s->log.detail);
    s->log.seq = status_count(log, "seq");
    s->log.bytes = status_count(log, "bytes");
    s->log.holes = status_count(log, "holes");
    s->log.bytes_per_event = status_real(log, "bytes_per_event");
    TEXT(recovery, "from", s->recovery.from);
    s->recovery.played = status_count(recovery, "played");
    s->recovery.crossed = status_count(recovery, "crossed");
    s->recovery.elapsed_ms = status_real(recovery, "elapsed_ms");
    s->recovery.away_s = status_real(recovery, "away_s");
}

void status_init(struct status *status)
{
    *status = (struct status){
        .pid = -1,
        .uptime_s = NAN,
        .feed =
            {.age_ms = -1, .retry_in_ms = -1, .connects = -1, .frames = -1, .bytes = -1, .bad_frames = -1},
        .count_orders = -1,
        .count_fills = -1,
        .count_rejected = -1,
        .alerts_open = -1,
        .db_commits = -1,
        .db_rows = -1,
        .db_queue = -1,
        .commit_p50_ms = NAN,
        .commit_p99_ms = NAN,
        .compute_updates = -1,
        .compute_queue = -1,
        .trainer = {.pid = -1, .age_ms = -1},
        .parity = {.days = -1, .checked_ns = -1},
        .log = {.seq = -1, .bytes = -1, .holes = -1, .bytes_per_event = NAN},
        .recovery = {.played = -1, .crossed = -1, .elapsed_ms = NAN, .away_s = NAN},
    };
}

int status_parse(const json_t *object, struct status *ret)
{
    const char *schema = json_string_value(json_object_get(object, "schema"));

    if (!schema || strcmp(schema, "papertape.status/1") != 0)
        return -EPROTO;
    status_init(ret);
    TEXT(object, "version", ret->version);
    TEXT(object, "clock", ret->clock);
    TEXT(object, "state_dir", ret->state_dir);
    TEXT(object, "trading", ret->trading);
    TEXT(object, "trading_reason", ret->trading_reason);
    ret->pid = status_count(object, "pid");
    ret->now_ns = status_whole(object, "now_ns");
    ret->uptime_s = status_real(object, "uptime_s");
    ret->alerts_open = status_count(object, "alerts_open");
    ret->begun = json_is_array(json_object_get(object, "accounts"));
    read_feed(object, ret);
    read_venues(object, ret);
    read_symbols(object, ret);
    read_accounts(object, ret);
    read_positions(object, ret);
    read_orders(object, ret);
    read_counters(object, ret);
    read_machine(object, ret);
    read_record(object, ret);
    read_rebuilt(object, ret);
    status_read_trainings(object, ret);
    status_read_policies(object, ret);
    return 0;
}
