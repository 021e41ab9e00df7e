#include "daemon/status.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "daemon/alerts.h"
#include "daemon/arena/arena.h"
#include "daemon/board.h"
#include "daemon/command/command.h"
#include "daemon/compute.h"
#include "daemon/feed/feeds.h"
#include "daemon/http/http.h"
#include "daemon/log.h"
#include "daemon/loop_time.h"
#include "daemon/notify/notify.h"
#include "daemon/parity.h"
#include "daemon/reach.h"
#include "daemon/status_internal.h"
#include "daemon/telemetry.h"
#include "daemon/training/trainings.h"
#include "daemon/universe.h"
#include "db/rebuilt.h"
#include "indicators_gpu/indicators.h"
#include "record/book.h"
#include "record/json.h"
#include "record/status.h"
#include "strategy/intent.h"

enum { STATUS_POLICIES_MAX = 64, STATUS_ALERTS_MAX = 32 };

static const char *const trading_words[MARKET_TRADINGS] = {
    [MARKET_TRADES] = "trades", [MARKET_HALTED] = "halted", [MARKET_ENDED] = "ended"};

/* The stream's phase, and the venue's list: either stops trading. */
static const char *trading_word(const struct symbol *symbol, enum market_trading reported)
{
    if (symbol->gone)
        return trading_words[MARKET_ENDED];
    return trading_words[reported == MARKET_TRADES && !symbol->trading ? MARKET_HALTED : reported];
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
        const char *names[STRATEGY_SPECS_MAX * INDICATOR_OUTPUTS_MAX];
        double values[STRATEGY_SPECS_MAX * INDICATOR_OUTPUTS_MAX];
        size_t n = engine_indicators(engine, a, symbol, names, values, sizeof values / sizeof *values);
        for (size_t i = 0; i < n; i++)
            json_object_set_new(object, names[i], record_json_real(values[i]));
    }
    return object;
}

RECORD_VIEW_OBJECT(symbol_object, symbol_view, RECORD_SHOWN_SYMBOL);

static json_t *symbols_array(const struct daemon *daemon, const struct engine *engine)
{
    json_t *array = engine ? json_array() : json_null();
    for (int s = 0; engine && s < engine_symbols(engine); s++) {
        if (!daemon_command_symbol_used(daemon, engine, s))
            continue;
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
            .mark_ts_ns = view.mark_ns,
            .age_ms = feeds_symbol_age_ms(daemon->feeds, s),
            .stale = view.stale,
            .change_24h_pct = view.change_open > 0 && view.last > 0
                                  ? 100.0 * ((double)view.last / (double)view.change_open - 1)
                                  : NAN,
            .price_decimals = daemon_status_decimals_of(symbol->filters.tick, symbol->price_scale),
            .book = record_book_state(view.book),
            .book_gaps = (int64_t)view.book_gaps,
            .book_crossed = (int64_t)view.book_crossed,
            .prices = fill_basis_name(fill_basis_of_feed(symbol->feed)),
            .interval = bar_interval_name(daemon->config.interval_ns),
            .bars = (int64_t)view.bars,
            .universe = !daemon->config.universe[0] ? NULL
                        : view.out                  ? "out"
                                                    : "in",
        };
        json_t *object = symbol_object(&shown);
        json_object_set_new(object, "last_bar",
                            view.bars > 0 ? bar_object(&view.last_bar, symbol) : json_null());
        json_object_set_new(object, "indicators", indicators_object(engine, s));
        json_array_append_new(array, object);
    }
    return array;
}

RECORD_SHOWN_OBJECT(counted_object, engine_counters, RECORD_SHOWN_COUNTERS);
RECORD_SHOWN_OBJECT(charts_object, board_view, RECORD_SHOWN_CHARTS);
RECORD_SHOWN_OBJECT(times_object, loop_times, RECORD_SHOWN_LOOP);
RECORD_VIEW_OBJECT(writer_object, db_view, RECORD_SHOWN_DB);

static json_t *counters_object(const struct engine *engine)
{
    if (!engine)
        return json_null();
    json_t *intents = json_object(), *object = counted_object(engine_counters(engine));
    for (int fault = INTENT_FITS + 1; fault < INTENT_FAULTS; fault++) {
        uint64_t n = 0;
        for (int a = 0; a < engine_accounts(engine); a++)
            n += engine_intents_refused(engine, a)[fault];
        if (n > 0)
            json_object_set_new(intents, intent_fault_name((enum intent_fault)fault),
                                json_integer((json_int_t)n));
    }
    json_object_set_new(object, "refused", daemon_status_refused(engine_counters(engine)->refused));
    json_object_set_new(object, "intents_refused", intents);
    return object;
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
    json_object_update_new(object, charts_object(&view));
    return object;
}

/* A cumulative histogram of all commits since the start. */
static json_t *commit_times_object(const struct db_commit_times *times)
{
    json_t *within = json_array();
    for (int i = 0; i < DB_COMMIT_BOUNDS; i++)
        json_array_append_new(within, json_pack("{s:f, s:I}", "ms", (double)db_commit_bounds_ns[i] / 1e6,
                                                "commits", (json_int_t)times->within[i]));
    return json_pack("{s:I, s:f, s:o}", "commits", (json_int_t)times->total, "sum_ms", times->sum_ns / 1e6,
                     "within", within);
}

static json_t *db_object(const struct daemon *daemon)
{
    struct db_writer_stats stats = {0};
    struct db_commit_times times = {0};
    const char *detail;
    bool ok = daemon_session_storage_ok(daemon->session, &detail);
    if (daemon_session_writer(daemon->session)) {
        db_writer_commit_times(daemon_session_writer(daemon->session), &times);
        db_writer_stats(daemon_session_writer(daemon->session), &stats);
    }
    const struct db_view view = {
        .state = storing_name(daemon_session_storing(daemon->session)),
        .detail = ok ? "" : detail,
        .commits = (int64_t)stats.commits,
        .rows = (int64_t)stats.rows,
        .queue = (int64_t)stats.queued,
        .commit_p50_ms = (double)stats.commit_p50_ns / 1e6,
        .commit_p99_ms = (double)stats.commit_p99_ns / 1e6,
        .failed = (int64_t)stats.failed,
        .checked = (int64_t)stats.checked,
        .rebuilt = (int64_t)stats.rebuilt,
    };
    json_t *object = writer_object(&view);
    json_object_set_new(object, "commit_times", commit_times_object(&times));
    return object;
}

/* NULL: there is no such socket. */
static json_t *control_object(const struct control *control)
{
    struct control_view view;
    if (!control)
        return json_null();
    control_look(control, &view);
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:f}", "clients", (json_int_t)view.clients,
                     "reserves", (json_int_t)view.reserves, "connects", (json_int_t)view.connects,
                     "displaced", (json_int_t)view.displaced, "refused", (json_int_t)view.refused, "requests",
                     (json_int_t)view.requests, "turns", (json_int_t)view.turns, "turn_max_ms",
                     (double)view.turn_max_ns / 1e6);
}

static json_t *log_object(void)
{
    uint64_t queued, lost;
    const char *to = daemon_log_look(&queued, &lost);
    return json_pack("{s:s, s:I, s:I}", "to", to, "queued", (json_int_t)queued, "lost", (json_int_t)lost);
}

static json_t *loop_object(const struct daemon *daemon)
{
    struct loop_times times;
    daemon_loop_time_now(daemon->loop, &times);
    return times_object(&times);
}

RECORD_VIEW_OBJECT(alert_object, alert_view, RECORD_SHOWN_ALERT);

/* Alerts that the database does not have yet. */
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

RECORD_VIEW_OBJECT(whole_view_object, whole_view, RECORD_SHOWN_WHOLE);

/* "halted": nothing may be opened, in any account. A pause goes before a limit of loss, since it is the
 * user's; accounts that have reached their limit are named by the reason, the first of them, while others
 * trade. */
static const char *trading(const struct engine *engine, char *ret_reason, size_t size)
{
    const char *first = NULL;
    int lost = 0, n = engine ? engine_accounts(engine) : 0;
    for (int a = 0; a < n; a++)
        if (engine_account_daily_loss(engine, a) && lost++ == 0)
            first = engine_account(engine, a)->name;
    bool unstored = engine && engine_storage_failing(engine), all = lost > 0 && lost == n;
    bool paused = engine && engine_paused(engine);
    ret_reason[0] = '\0';
    if (unstored)
        snprintf(ret_reason, size, "storing fails: no new positions until it works again");
    else if (all && !paused)
        snprintf(ret_reason, size, "daily loss limit reached: no new positions until midnight UTC");
    else if (lost > 0)
        snprintf(ret_reason, size, "%sdaily loss limit of %s%s reached", paused ? "paused by the user; " : "",
                 first, lost > 1 ? " and others" : "");
    else if (paused)
        snprintf(ret_reason, size, "paused by the user");
    return !engine ? "" : unstored ? "halted" : paused ? "paused" : all ? "halted" : "on";
}

static json_t *whole_object(const struct daemon *daemon, const struct engine *engine)
{
    char reason[ACCOUNT_NAME_MAX + 80];
    const struct whole_view view = {
        .schema = "papertape.status/1",
        .version = PAPERTAPE_VERSION,
        .pid = getpid(),
        .clock = daemon->config.clock == CLOCK_WALL ? "wall" : "feed",
        .now_ns = daemon_session_now(daemon->session),
        .uptime_s = (double)(uv_now(daemon->loop) - daemon->started_ms) / 1000,
        .state_dir = daemon->state.path,
        .fill_model = fill_model_name(daemon->config.fill_model),
        .beyond = fill_beyond_name(daemon->config.beyond),
        .slippage = (double)daemon->config.slippage_e6 / 1e6,
        .trading = trading(engine, reason, sizeof reason),
        .trading_reason = reason,
        .universe = daemon->config.universe,
        .universe_ns = daemon_universe_looked(daemon->universe),
    };
    return whole_view_object(&view);
}

json_t *daemon_status_object(struct daemon *daemon)
{
    const struct engine *engine = daemon_session_engine(daemon->session);
    const struct db_rebuilt *rebuilt = daemon_session_last_rebuild(daemon->session);
    json_t *object = whole_object(daemon, engine);
    const struct {
        const char *name;
        json_t *value;
    } parts[] = {
        {"feed", daemon_status_feed(daemon)},
        {"venues", daemon_status_venues(daemon)},
        {"symbols", symbols_array(daemon, engine)},
        {"accounts", daemon_status_accounts(daemon)},
        {"totals", daemon_status_totals(daemon)},
        {"positions", daemon_status_positions(daemon)},
        {"orders", daemon_status_orders(daemon)},
        {"counters", counters_object(engine)},
        {"alerts_open", json_integer((json_int_t)daemon_session_alerts_open(daemon->session))},
        {"alerts_by_code", daemon_status_alerts(daemon)},
        {"alerts_unstored", unstored_alerts(daemon)},
        {"price_alerts", daemon_status_price_alerts(daemon)},
        {"backup", daemon_status_backup(daemon)},
        {"alert_sinks", daemon_notify_object(daemon->notify)},
        {"control", control_object(daemon->control)},
        {"control_read", control_object(daemon->control_read)},
        {"http", daemon_http_object(daemon->http)},
        {"restart", daemon_command_restart(daemon->commands)},
        {"left_out", daemon_command_left_out(daemon)},
        {"log", log_object()},
        {"loop", loop_object(daemon)},
        {"gpu", daemon_telemetry_gpu_object(daemon->telemetry)},
        {"compute", computing_object(daemon)},
        {"db", db_object(daemon)},
        {"rebuilt", rebuilt ? db_rebuilt_json(rebuilt) : json_null()},
        {"events", daemon_status_events(daemon)},
        {"recovery", daemon_status_recovery(daemon)},
        {"parity", daemon_parity_object(daemon->parity)},
        {"rests_on_database", daemon_reach_object(daemon->reach)},
        {"trainer", daemon_trainings_trainer(daemon->trainings)},
        {"trainings", daemon_trainings_array(daemon->trainings)},
        {"trainings_total", json_integer((json_int_t)daemon_trainings_total(daemon->trainings))},
        {"champion", arena_champion_object(daemon->arena)},
        {"policies", arena_list(daemon->arena, STATUS_POLICIES_MAX)},
        {"policies_total", json_integer((json_int_t)arena_total(daemon->arena))},
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        json_object_set_new(object, parts[i].name, parts[i].value);
    return object;
}
