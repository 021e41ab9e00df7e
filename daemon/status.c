#include "daemon/status.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "daemon/alerts.h"
#include "daemon/arena/arena.h"
#include "daemon/board.h"
#include "daemon/compute.h"
#include "daemon/feed/feeds.h"
#include "daemon/loop_time.h"
#include "daemon/parity.h"
#include "daemon/status_internal.h"
#include "daemon/telemetry.h"
#include "daemon/training/trainings.h"
#include "db/rebuilt.h"
#include "record/json.h"
#include "record/status.h"
#include "strategy/intent.h"

enum { STATUS_POLICIES_MAX = 64, STATUS_ALERTS_MAX = 32 };

static const char *const book_states[] = {
    [BOOK_EMPTY] = "none", [BOOK_SYNCING] = "syncing", [BOOK_SYNCED] = "synced"};

static const char *const trading_words[MARKET_TRADINGS] = {
    [MARKET_TRADES] = "trades", [MARKET_HALTED] = "halted", [MARKET_ENDED] = "ended"};

/* What the stream says, and what the venue's list does: either stops trading. */
static const char *trading_word(const struct symbol *symbol, enum market_trading told)
{
    if (symbol->gone)
        return trading_words[MARKET_ENDED];
    return trading_words[told == MARKET_TRADES && !symbol->trading ? MARKET_HALTED : told];
}

static json_t *bar_object(const struct bar *bar, const struct symbol *symbol)
{
    return json_pack("{s:I, s:f, s:f, s:f, s:f, s:f}", "open_time_ms", (json_int_t)(bar->open_ns / 1000000),
                     "open", decimal_to_double(bar->open, symbol->price_scale), "high",
                     decimal_to_double(bar->high, symbol->price_scale), "low",
                     decimal_to_double(bar->low, symbol->price_scale), "close",
                     decimal_to_double(bar->close, symbol->price_scale), "volume",
                     decimal_to_double(bar->volume, symbol->qty_scale));
}

static json_t *indicators_object(const struct engine *engine, int symbol)
{
    json_t *object = json_object();
    for (int a = 0; a < engine_accounts(engine); a++) {
        const char *names[STRATEGY_SPECS_MAX * 4];
        double values[STRATEGY_SPECS_MAX * 4];
        size_t n = engine_indicators(engine, a, symbol, names, values, sizeof values / sizeof *values);
        for (size_t i = 0; i < n; i++)
            json_object_set_new(object, names[i], daemon_status_number_or_null(values[i]));
    }
    return object;
}

RECORD_VIEW_OBJECT(symbol_object, symbol_view, RECORD_SHOWN_SYMBOL);

static json_t *symbols_array(const struct daemon *daemon, const struct engine *engine)
{
    json_t *array = json_array();
    for (int s = 0; s < engine_symbols(engine); s++) {
        const struct symbol *symbol = engine_symbol(engine, s);
        struct engine_symbol_view view;
        engine_symbol_view(engine, s, &view);
        const struct symbol_view shown = {
            .symbol = symbol->name,
            .venue = symbol->venue,
            .market = symbol->calendar[0] ? market_phase_name(view.phase) : "always",
            .trading = trading_word(symbol, view.trading),
            .last = daemon_status_price(view.last, symbol->price_scale),
            .bid = daemon_status_price(view.bid, symbol->price_scale),
            .ask = daemon_status_price(view.ask, symbol->price_scale),
            .mark = daemon_status_price(view.mark, symbol->price_scale),
            .age_ms = feeds_symbol_age_ms(daemon->feeds, s),
            .stale = view.stale,
            .change_24h_pct = view.change_open > 0 && view.last > 0
                                  ? 100.0 * ((double)view.last / (double)view.change_open - 1)
                                  : NAN,
            .price_decimals = daemon_status_decimals_of(symbol->filters.tick, symbol->price_scale),
            .book = book_states[view.book],
            .book_gaps = (int64_t)view.book_gaps,
            .book_crossed = (int64_t)view.book_crossed,
            .interval = bar_interval_name(daemon->config.interval_ns),
            .bars = (int64_t)view.bars,
        };
        json_t *object = symbol_object(&shown);
        json_object_set_new(object, "last_bar",
                            view.bars > 0 ? bar_object(&view.last_bar, symbol) : json_null());
        json_object_set_new(object, "indicators", indicators_object(engine, s));
        json_array_append_new(array, object);
    }
    return array;
}

static json_t *counters_object(const struct engine *engine)
{
    const struct engine_counters *counters = engine_counters(engine);
    json_t *intents = json_object();
    for (int fault = INTENT_FITS + 1; fault < INTENT_FAULTS; fault++) {
        uint64_t n = 0;
        for (int a = 0; a < engine_accounts(engine); a++)
            n += engine_intents_refused(engine, a)[fault];
        if (n > 0)
            json_object_set_new(intents, intent_fault_name((enum intent_fault)fault),
                                json_integer((json_int_t)n));
    }
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:o, s:o}", "events", (json_int_t)counters->events,
                     "decisions", (json_int_t)counters->decisions, "orders", (json_int_t)counters->orders,
                     "fills", (json_int_t)counters->fills, "rejected", (json_int_t)counters->rejected,
                     "refused", daemon_status_refused(counters->refused), "intents_refused", intents);
}

/* The board is gone when the daemon stops. */
static json_t *computing_object(const struct daemon *daemon)
{
    struct board_view view = {0};
    if (daemon->board)
        daemon_board_view(daemon->board, &view);
    json_t *object = daemon_compute_object(daemon->compute, view.on_device, view.device_call_ms);
    json_object_set_new(object, "timeframes",
                        daemon->board ? daemon_board_timeframes(daemon->board) : json_array());
    json_object_set_new(object, "updates", json_integer((json_int_t)view.updates));
    json_object_set_new(object, "queue", json_integer((json_int_t)view.waiting));
    json_object_set_new(object, "queue_full", json_integer((json_int_t)view.missed));
    json_object_set_new(object, "behind", json_boolean(view.behind));
    return object;
}

static json_t *db_object(const struct daemon *daemon)
{
    struct db_writer_stats stats = {0};
    const char *detail;
    bool ok = daemon_session_storage_ok(daemon->session, &detail);
    if (daemon_session_writer(daemon->session))
        db_writer_stats(daemon_session_writer(daemon->session), &stats);
    return json_pack("{s:s, s:s, s:I, s:I, s:I, s:f, s:f, s:I, s:I, s:I}", "state",
                     storing_name(daemon_session_storing(daemon->session)), "detail", ok ? "" : detail,
                     "commits", (json_int_t)stats.commits, "rows", (json_int_t)stats.rows, "queue",
                     (json_int_t)stats.queued, "commit_p50_ms", (double)stats.commit_p50_ns / 1e6,
                     "commit_p99_ms", (double)stats.commit_p99_ns / 1e6, "failed", (json_int_t)stats.failed,
                     "checked", (json_int_t)stats.checked, "rebuilt", (json_int_t)stats.rebuilt);
}

static json_t *control_object(const struct daemon *daemon)
{
    struct control_view view;
    control_look(daemon->control, &view);
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:f}", "clients", (json_int_t)view.clients,
                     "reserves", (json_int_t)view.reserves, "connects", (json_int_t)view.connects,
                     "displaced", (json_int_t)view.displaced, "refused", (json_int_t)view.refused, "requests",
                     (json_int_t)view.requests, "turns", (json_int_t)view.turns, "turn_max_ms",
                     (double)view.turn_max_ns / 1e6);
}

static json_t *loop_object(const struct daemon *daemon)
{
    struct loop_times times;
    daemon_loop_time_now(daemon->loop, &times);
    return json_pack("{s:f, s:f, s:f, s:f}", "turns_per_second", times.turns_per_second, "busy", times.busy,
                     "wait_p99_ms", times.wait_p99_ms, "longest_ms", times.longest_ms);
}

RECORD_VIEW_OBJECT(alert_object, alert_view, RECORD_SHOWN_ALERT);

/* Those that no reader of the database finds there. */
static json_t *unstored_alerts(const struct daemon *daemon)
{
    json_t *array = json_array();
    const struct alert *alert = NULL;
    while (json_array_size(array) < STATUS_ALERTS_MAX &&
           (alert = daemon_session_alert_unstored(daemon->session, alert))) {
        const struct alert_view view = {.id = (int64_t)alert->id,
                                        .ts_ns = alert->ts_ns,
                                        .last_ns = alert->last_ns,
                                        .count = alert->count,
                                        .severity = db_severity_name(alert->severity),
                                        .code = alert->code,
                                        .text = alert->text,
                                        .acked_ns = alert->acked_ns};
        json_array_append_new(array, alert_object(&view));
    }
    return array;
}

json_t *daemon_status_object(struct daemon *daemon)
{
    const struct engine *engine = daemon_session_engine(daemon->session);
    const char *reason = NULL;
    bool paused = engine && engine_paused(engine);
    bool halted = engine && engine_daily_loss(engine);
    if (halted)
        reason = "daily loss limit reached: no new positions until midnight UTC";
    else if (paused)
        reason = "paused by the user";
    json_t *object = json_object();
    json_object_set_new(object, "schema", json_string("papertape.status/1"));
    json_object_set_new(object, "version", json_string(PAPERTAPE_VERSION));
    json_object_set_new(object, "pid", json_integer(getpid()));
    json_object_set_new(object, "clock", json_string(daemon->config.clock == CLOCK_WALL ? "wall" : "feed"));
    json_object_set_new(object, "now_ns", json_integer(daemon_session_now(daemon->session)));
    json_object_set_new(object, "uptime_s",
                        json_real((double)(uv_now(daemon->loop) - daemon->started_ms) / 1000));
    json_object_set_new(object, "state_dir", json_string(daemon->state.path));
    json_object_set_new(object, "fill_model", json_string(fill_model_name(daemon->config.fill_model)));
    json_object_set_new(object, "slippage", json_real((double)daemon->config.slippage_e6 / 1e6));
    json_object_set_new(object, "trading",
                        engine ? json_string(halted   ? "halted"
                                             : paused ? "paused"
                                                      : "on")
                               : json_null());
    json_object_set_new(object, "trading_reason", reason ? json_string(reason) : json_null());
    json_object_set_new(object, "feed", daemon_status_feed(daemon));
    json_object_set_new(object, "venues", daemon_status_venues(daemon));
    json_object_set_new(object, "symbols", engine ? symbols_array(daemon, engine) : json_null());
    json_object_set_new(object, "accounts", daemon_status_accounts(daemon));
    json_object_set_new(object, "positions", daemon_status_positions(daemon));
    json_object_set_new(object, "orders", daemon_status_orders(daemon));
    json_object_set_new(object, "counters", engine ? counters_object(engine) : json_null());
    json_object_set_new(object, "alerts_open",
                        json_integer((json_int_t)daemon_session_alerts_open(daemon->session)));
    json_object_set_new(object, "alerts_unstored", unstored_alerts(daemon));
    json_object_set_new(object, "control", control_object(daemon));
    json_object_set_new(object, "loop", loop_object(daemon));
    json_object_set_new(object, "gpu", daemon_telemetry_gpu_object(daemon->telemetry));
    json_object_set_new(object, "compute", computing_object(daemon));
    json_object_set_new(object, "db", db_object(daemon));
    const struct db_rebuilt *rebuilt = daemon_session_rebuilt(daemon->session);
    json_object_set_new(object, "rebuilt", rebuilt ? db_rebuilt_json(rebuilt) : json_null());
    json_object_set_new(object, "events", daemon_status_events(daemon));
    json_object_set_new(object, "recovery", daemon_status_recovery(daemon));
    json_object_set_new(object, "parity", daemon_parity_object(daemon->parity));
    json_object_set_new(object, "trainer", daemon_trainings_trainer(daemon->trainings));
    json_object_set_new(object, "trainings", daemon_trainings_array(daemon->trainings));
    json_object_set_new(object, "trainings_total",
                        json_integer((json_int_t)daemon_trainings_total(daemon->trainings)));
    json_object_set_new(object, "champion", arena_champion_object(daemon->arena));
    json_object_set_new(object, "policies", arena_list(daemon->arena, STATUS_POLICIES_MAX));
    json_object_set_new(object, "policies_total", json_integer((json_int_t)arena_total(daemon->arena)));
    return object;
}

static json_t *levels_array(const struct symbol *symbol, const struct book *book, bool bids, size_t n)
{
    json_t *array = json_array();
    for (uint32_t i = 0; i < n; i++) {
        const struct book_level *level = bids ? book_bid(book, i) : book_ask(book, i);
        char at[DECIMAL_TEXT_MAX], qty[DECIMAL_TEXT_MAX];
        if (!level)
            break;
        decimal_format(level->price, symbol->price_scale, at);
        decimal_format(level->qty, symbol->qty_scale, qty);
        json_array_append_new(array, json_pack("[ss]", at, qty));
    }
    return array;
}

json_t *daemon_status_book(const struct engine *engine, int index, size_t levels)
{
    const struct symbol *symbol = engine_symbol(engine, index);
    const struct book *book = engine_book(engine, index);
    bool synced = book->state == BOOK_SYNCED;
    return json_pack("{s:s, s:s, s:I, s:o, s:o}", "symbol", symbol->name, "state", book_states[book->state],
                     "last_id", (json_int_t)book->last_id, "bids",
                     levels_array(symbol, book, true, synced ? levels : 0), "asks",
                     levels_array(symbol, book, false, synced ? levels : 0));
}
