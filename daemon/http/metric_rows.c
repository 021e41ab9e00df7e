#include "daemon/http/metric_rows.h"

#include "exchange/order.h"
#include "strategy/intent.h"

#define MS      .factor = 1e-3
#define NS      .factor = 1e-9
#define PERCENT .factor = 1e-2
#define MIB     .factor = 1048576
#define MHZ     .factor = 1e6

/* Of a group: list and labels are those of its rows. */
#define ROW(list, labels, type, kind, name, member, help, ...) \
    { \
        name, help, list, member, labels, METRIC_##type, METRIC_##kind, ##__VA_ARGS__ \
    }
#define GAUGE(list, labels, ...)   ROW(list, labels, GAUGE, NUMBER, __VA_ARGS__)
#define COUNTER(list, labels, ...) ROW(list, labels, COUNTER, NUMBER, __VA_ARGS__)
#define FLAG(list, labels, ...)    ROW(list, labels, GAUGE, FLAG, __VA_ARGS__)
#define STATE(list, labels, name, member, help, list_of) \
    ROW(list, labels, GAUGE, WORDS, name, member, help ": 1 for its state, 0 for the others", \
        .words = list_of)

#define WHOLE(kind, ...)                 kind("", "", __VA_ARGS__)
#define VENUE(kind, ...)                 kind("venues[]", "venue", __VA_ARGS__)
#define STREAM(kind, ...)                kind("feed.streams[]", "venue symbol stream", __VA_ARGS__)
#define SYMBOL(kind, ...)                kind("symbols[]", "venue symbol", __VA_ARGS__)
#define ACCOUNT(kind, ...)               kind("accounts[]", "account currency", __VA_ARGS__)
#define POSITION(kind, ...)              kind("positions[]", "account symbol", __VA_ARGS__)
#define COUNTS(kind, ...)                kind("counters", "", __VA_ARGS__)
#define DB(kind, ...)                    kind("db", "", __VA_ARGS__)
#define LOG(kind, ...)                   kind("events", "", __VA_ARGS__)
#define LOOP(kind, ...)                  kind("loop", "", __VA_ARGS__)
#define CONTROL(kind, ...)               kind("control", "", __VA_ARGS__)
#define HTTP(kind, ...)                  kind("http", "", __VA_ARGS__)
#define CHARTS(kind, ...)                kind("compute", "", __VA_ARGS__)
#define DEVICE(kind, ...)                kind("gpu.devices[]", "device name", __VA_ARGS__)
#define TRAINING(kind, ...)              kind("trainings[]", "training", __VA_ARGS__)
#define POLICY(kind, ...)                kind("policies[]", "policy account", __VA_ARGS__)
#define SINK(kind, ...)                  kind("alert_sinks.sinks[]", "sink", __VA_ARGS__)
#define LINES(kind, ...)                 kind("log", "", __VA_ARGS__)
#define ALERTS(kind, ...)                kind("alerts_by_code[]", "severity code", __VA_ARGS__)
#define PROCESS(type, name, which, help) ROW("", "", type, PROCESS, "process_" name, which, help)

static const char *order_reason_key(int i)
{
    return i + ORDER_OK + 1 < ORDER_REASONS ? order_reason_name((enum order_reason)(i + ORDER_OK + 1)) : NULL;
}

static const char *intent_fault_key(int i)
{
    return i + INTENT_FITS + 1 < INTENT_FAULTS ? intent_fault_name((enum intent_fault)(i + INTENT_FITS + 1))
                                               : NULL;
}

/* clang-format off */
static const struct daemon_metric rows[] = {
    ROW("", "version", GAUGE, ONE, "build_info", "", "The version that runs: always 1"),
    WHOLE(GAUGE, "uptime_seconds", "uptime_s", "Time since the daemon's start"),
    WHOLE(GAUGE, "clock_seconds", "now_ns", "The engine's clock, since 1970-01-01 UTC", NS),
    WHOLE(STATE, "trading_state", "trading", "State of trading", "on paused halted"),
    WHOLE(GAUGE, "alerts_open", "alerts_open", "Alerts that are open"),
    ALERTS(GAUGE, "alerts", "open", "Alerts that are open, by severity and code"),
    ROW("backup", "", GAUGE, WORDS, "backup_state", "state",
        "What became of the last backup: 1 for its state, 0 for the others", .words = "none ok failed"),
    ROW("backup", "", GAUGE, NUMBER, "backup_last_success_timestamp_seconds", "success_ns",
        "When the last backup that succeeded ended, since 1970-01-01 UTC", NS),

    PROCESS(COUNTER, "cpu_seconds_total", "cpu_s", "Processor time of the process, user's and system's"),
    PROCESS(GAUGE, "resident_memory_bytes", "resident_bytes", "Resident memory of the process"),
    PROCESS(GAUGE, "virtual_memory_bytes", "virtual_bytes", "Virtual memory of the process"),
    PROCESS(GAUGE, "open_fds", "open_fds", "Open descriptors of the process"),
    PROCESS(GAUGE, "max_fds", "max_fds", "Descriptors that the process may have"),
    PROCESS(GAUGE, "start_time_seconds", "start_s", "When the process started, since 1970-01-01 UTC"),

    SINK(STATE, "alert_sink_state", "state", "State of a sink of alerts", "new ok failing"),
    SINK(GAUGE, "alert_sink_pending", "pending", "Notices that a sink has not accepted yet"),
    SINK(GAUGE, "alert_sink_held", "held", "Of a sink's notices those that wait for the quiet hours' end"),
    SINK(GAUGE, "alert_sink_failing_seconds", "failing_s", "How long a sink has failed; 0: it does not"),
    SINK(COUNTER, "alert_sink_accepted_total", "accepted", "Notices that a sink accepted"),
    SINK(COUNTER, "alert_sink_failed_total", "failed", "Attempts at a sink that failed"),
    ROW("alert_sinks", "", COUNTER, NUMBER, "alert_notices_dropped_total", "dropped",
        "Notices that were dropped, since too many waited"),

    COUNTS(COUNTER, "events_total", "events", "Events that the engine took"),
    COUNTS(COUNTER, "decisions_total", "decisions", "Decisions of strategies and policies"),
    COUNTS(COUNTER, "orders_total", "orders", "Orders, those that were refused included"),
    COUNTS(COUNTER, "fills_total", "fills", "Fills"),
    COUNTS(COUNTER, "orders_rejected_total", "rejected", "Orders that were refused"),
    ROW("counters", "", COUNTER, MAP, "orders_refused_total", "refused",
        "Orders that were refused, by reason", .words = "reason", .keys = order_reason_key),
    ROW("counters", "", COUNTER, MAP, "intents_refused_total", "intents_refused",
        "Order intents that were refused, by reason", .words = "reason", .keys = intent_fault_key),
    WHOLE(ROW, GAUGE, SIZE, "orders_open", "orders", "Orders that have not ended"),

    VENUE(STATE, "venue_state", "state",
          "State of the venue's feed", "ok connecting retry stale failed closed"),
    VENUE(GAUGE, "venue_data_age_seconds", "age_ms", "Since the venue's newest data were received", MS),
    VENUE(COUNTER, "venue_frames_total", "frames", "Frames received"),
    VENUE(COUNTER, "venue_received_bytes_total", "bytes", "Bytes of frames received"),
    VENUE(COUNTER, "venue_bad_frames_total", "bad_frames", "Frames that could not be read"),
    VENUE(COUNTER, "venue_connects_total", "connects",
          "Connections made: the first ones, reconnects and renewals"),
    VENUE(COUNTER, "venue_reconnects_total", "reconnects",
          "Connections made after one was lost; neither the first ones nor renewals"),
    VENUE(COUNTER, "venue_connects_failed_total", "connects_failed", "Attempts to connect that failed"),
    VENUE(COUNTER, "venue_renewals_total", "renewals", "Connections replaced before the venue ends them"),
    VENUE(COUNTER, "venue_recoveries_total", "recoveries",
          "Interruptions of a symbol that ended, and after which its next bar closed"),
    VENUE(GAUGE, "venue_recovering", "recovering", "Symbols that are interrupted, or await their next bar"),
    VENUE(GAUGE, "venue_recovery_last_seconds", "recovery_last_ms",
          "From the end of the last such interruption to that bar", MS),
    VENUE(GAUGE, "venue_recovery_worst_seconds", "recovery_worst_ms",
          "The longest such time since the start", MS),
    VENUE(GAUGE, "venue_connections", "connections", "Connections wanted"),
    VENUE(GAUGE, "venue_connections_up", "connections_up", "Connections that are up"),
    VENUE(GAUGE, "venue_connect_budget", "connect_budget",
          "Connection attempts that the venue allows in its window"),
    VENUE(GAUGE, "venue_connect_budget_used", "connect_budget_used",
          "Connection attempts made in the venue's window"),
    VENUE(GAUGE, "venue_weight_used", "weight_used", "Request weight used in the venue's window"),
    VENUE(GAUGE, "venue_weight_limit", "weight_limit", "Request weight that the venue allows in its window"),
    VENUE(COUNTER, "venue_requests_total", "requests", "REST requests"),
    VENUE(COUNTER, "venue_requests_failed_total", "requests_failed", "REST requests that failed"),
    VENUE(GAUGE, "venue_requests_waiting", "requests_waiting", "REST requests in the queue"),
    VENUE(COUNTER, "venue_history_bars_total", "history_bars", "Older bars that were fetched beside the stream"),
    VENUE(GAUGE, "venue_history_left", "history_left", "Older bars that are not fetched yet, at most"),
    VENUE(GAUGE, "venue_latency_p50_seconds", "latency_p50_ms",
          "From the venue's time of a message to its receipt, over the last minute: the median", MS),
    VENUE(GAUGE, "venue_latency_p99_seconds", "latency_p99_ms",
          "From the venue's time of a message to its receipt, over the last minute: the 99th percentile", MS),
    VENUE(GAUGE, "venue_clock_offset_seconds", "clock_offset_ms", "The venue's clock minus ours", MS),
    VENUE(GAUGE, "venue_symbols", "symbols", "Symbols streamed"),

    WHOLE(ROW, GAUGE, SIZE, "symbols_left_out", "left_out",
          "Symbols that an account holds or has an order in, and that the configuration leaves out"),

    STREAM(COUNTER, "stream_frames_total", "frames", "Frames received of a stream"),
    STREAM(GAUGE, "stream_age_seconds", "age_ms", "Since a stream's newest data were received", MS),
    STREAM(FLAG, "stream_stale", "stale", "Whether a stream is silent for longer than it may be"),

    SYMBOL(GAUGE, "symbol_age_seconds", "age_ms", "Since a symbol's newest data were received", MS),
    SYMBOL(FLAG, "symbol_stale", "stale", "Whether a symbol's price is stale, and fills no order"),
    SYMBOL(GAUGE, "symbol_last_price", "last", "The last trade's price, in the quote asset"),
    SYMBOL(COUNTER, "symbol_bars_total", "bars", "Closed bars, those of the history included"),
    SYMBOL(COUNTER, "symbol_book_gaps_total", "book_gaps", "Gaps in the order book's differences"),
    SYMBOL(STATE, "symbol_book_state", "book", "State of the order book", "none syncing synced"),

    ACCOUNT(GAUGE, "account_equity", "equity", "Equity, in the account's currency"),
    ACCOUNT(GAUGE, "account_cash", "cash", "Cash, in the account's currency"),
    ACCOUNT(GAUGE, "account_deposits", "deposits", "Deposits less withdrawals, in the account's currency"),
    ACCOUNT(GAUGE, "account_day_profit", "day_pnl", "Gain since midnight UTC, moved money left out, in the account's currency"),
    ACCOUNT(GAUGE, "account_realized", "realized", "Realized profit before fees, in the account's currency"),
    ACCOUNT(GAUGE, "account_fees", "fees", "Fees paid, in the account's currency"),
    ACCOUNT(GAUGE, "account_return_ratio", "return_pct", "Equity over deposits, less one", PERCENT),
    ACCOUNT(GAUGE, "account_drawdown_ratio", "drawdown_pct",
            "Equity over its highest, less one: at most 0", PERCENT),
    ACCOUNT(GAUGE, "account_short_value", "short_value", "What buying the account's shorts back would cost"),
    ACCOUNT(FLAG, "account_locked", "killed", "Whether the limit of its drawdown has locked the account"),
    ACCOUNT(FLAG, "account_venue_attached", "venue_account.attached", "Whether the account is attached to its venue's"),
    ACCOUNT(FLAG, "account_venue_halted", "venue_account.halted",
            "Whether the account was reset at its venue, or its keys are refused"),
    ACCOUNT(GAUGE, "account_venue_orders_unknown", "venue_account.unknown",
            "Orders of which it is not known whether the venue has them"),
    ACCOUNT(GAUGE, "account_venue_reconciled_seconds", "venue_account.reconciled.at_ns",
            "When orders and balances were last compared with the venue's, since 1970-01-01 UTC", NS),
    ROW("accounts[]", "account", COUNTER, MAP, "account_orders_refused_total", "refused",
        "Orders of an account that were refused, by reason; those that there were", .words = "reason"),
    POSITION(GAUGE, "position_quantity", "qty", "Quantity of a position; below 0: short"),
    POSITION(GAUGE, "position_entry_price", "entry", "Average price of a position"),
    POSITION(GAUGE, "position_mark_price", "mark", "Price at which a position is valued"),
    POSITION(GAUGE, "position_unrealized", "upnl", "Unrealized profit of a position, in the quote asset"),

    DB(STATE, "database_state", "state", "State of the database's writer", "ok failing checking rebuilding"),
    DB(COUNTER, "database_commits_total", "commits", "Commits"),
    DB(COUNTER, "database_rows_total", "rows", "Rows stored"),
    DB(GAUGE, "database_queue_rows", "queue", "Rows that wait for their commit"),
    DB(COUNTER, "database_failed_writes_total", "failed", "Writes that the disk failed"),
    DB(COUNTER, "database_rebuilds_total", "rebuilt", "Rebuilds of the database"),
    DB(ROW, HISTOGRAM, TIMES, "database_commit_seconds", "commit_times",
       "Time of a transaction, from BEGIN to the end of COMMIT"),

    LOG(STATE, "log_state", "state", "State of the event log's writer", "ok failing checking rebuilding"),
    LOG(COUNTER, "log_events_total", "events", "Events written to the log"),
    LOG(GAUGE, "log_waiting_bytes", "waiting_bytes", "Bytes that wait to be written to the log"),
    LOG(GAUGE, "log_bytes", "bytes", "Size of the log"),
    LOG(GAUGE, "log_segments", "segments", "Segments of the log"),
    LOG(COUNTER, "log_lost_events_total", "lost", "Events that a full disk cost"),
    LOG(COUNTER, "log_failed_writes_total", "failed", "Writes of the log that the disk failed"),

    LINES(GAUGE, "journal_queued_lines", "queued", "Lines that wait for the system's journal to take them"),
    LINES(COUNTER, "journal_lost_lines_total", "lost", "Lines that the system's journal did not take in time"),

    LOOP(GAUGE, "loop_busy_ratio", "busy", "Share of the last five seconds in which the loop worked"),
    LOOP(GAUGE, "loop_wait_p99_seconds", "wait_p99_ms",
         "How long a frame waits for the loop: the 99th percentile", MS),
    LOOP(GAUGE, "loop_longest_turn_seconds", "longest_ms", "The longest turn of the last five seconds", MS),

    CONTROL(GAUGE, "control_clients", "clients", "Connections to the control socket"),
    CONTROL(COUNTER, "control_requests_total", "requests", "Requests at the control socket"),
    CONTROL(COUNTER, "control_refused_total", "refused",
            "Clients and commands that the control socket refused"),

    HTTP(GAUGE, "http_clients", "clients", "Connections to the sockets of this page"),
    HTTP(COUNTER, "http_requests_total", "requests", "Requests that were answered"),
    HTTP(COUNTER, "http_refused_total", "refused",
         "Requests that were refused: answered by another status than 200"),
    HTTP(COUNTER, "http_cut_total", "cut", "Connections that were cut: too slow, or displaced by others"),

    CHARTS(COUNTER, "indicators_updates_total", "updates", "Closed bars that the indicators of charts took"),
    CHARTS(GAUGE, "indicators_queue_bars", "queue", "Bars that wait for the indicators of charts"),
    CHARTS(COUNTER, "indicators_queue_full_total", "queue_full",
           "How often the queue of the indicators of charts had no room"),
    CHARTS(STATE, "indicators_backend", "backend", "Where the indicators of charts are computed", "cpu gpu"),

    WHOLE(ROW, GAUGE, SIZE, "devices", "gpu.devices", "Devices (GPUs) that are sampled"),
    ROW("gpu", "", GAUGE, WORDS, "devices_state", "state",
        "State of the devices as a whole: 1 for theirs, 0 for the others", .words = "ok n/a stalled"),
    DEVICE(GAUGE, "device_utilization_ratio", "util_pct",
           "Share of the time in which the device computed", PERCENT),
    DEVICE(GAUGE, "device_memory_used_bytes", "mem_used_mib", "Memory of the device in use", MIB),
    DEVICE(GAUGE, "device_memory_bytes", "mem_total_mib", "Memory of the device", MIB),
    DEVICE(GAUGE, "device_power_watts", "power_w", "Power that the device draws"),
    DEVICE(GAUGE, "device_power_limit_watts", "power_limit_w", "Power cap of the device"),
    DEVICE(GAUGE, "device_temperature_celsius", "temp_c", "Temperature of the device"),
    DEVICE(GAUGE, "device_clock_hertz", "clock_mhz", "Clock of the device's processors", MHZ),
    ROW("trainer", "", GAUGE, WORDS, "trainer_state", "state",
        "State of the co-process that trains: 1 for its state, 0 for the others",
        .words = "ok starting absent silent version off"),
    WHOLE(GAUGE, "trainings", "trainings_total", "Trainings, ended ones too"),

    TRAINING(STATE, "training_state", "state",
             "State of a training",
             "queued loading features rollout update evaluating proposing searching checkpointing paused done failed "
             "stopped"),
    TRAINING(GAUGE, "training_steps", "steps",
             "Environment steps of a training; fewer after a restart from a checkpoint"),
    TRAINING(GAUGE, "training_steps_per_second", "steps_per_second",
             "Environment steps per second of a training"),
    TRAINING(GAUGE, "training_episode_return", "return", "Mean return of a training's last episodes"),
    TRAINING(GAUGE, "training_memory_bytes", "memory_mib", "Memory of a training's worker", MIB),
    TRAINING(GAUGE, "training_device_memory_bytes", "device_mib",
             "Memory that a training has on a device", MIB),
    TRAINING(GAUGE, "training_age_seconds", "age_ms", "Since a training's last event, or its end", MS),
    TRAINING(FLAG, "training_stale", "stale", "Whether a training's last report is older than it may be"),

    WHOLE(GAUGE, "policies", "policies_total", "Policies of the arena"),

    POLICY(STATE, "policy_role", "role", "Role of a policy", "challenger champion retired configured"),
    POLICY(GAUGE, "policy_return_ratio", "return_pct", "Return of the account that a policy trades", PERCENT),
    POLICY(GAUGE, "policy_sharpe", "sharpe", "Annualized Sharpe ratio of the days of a policy's account"),
    ROW("parity", "", GAUGE, WORDS, "parity_state", "state",
        "State of the comparison of ledger and log: 1 for its state, 0 for the others",
        .words = "ok failed running none"),
    ROW("parity", "", GAUGE, NUMBER, "parity_checked_time_seconds", "checked_ns",
        "When ledger and log were last compared, since 1970-01-01 UTC", NS),
    ROW("recovery", "", GAUGE, NUMBER, "recovery_seconds", "elapsed_ms",
        "How long this run's recovery took", MS),
    WHOLE(ROW, GAUGE, LEFT_OUT, "metrics_left_out", "", "Samples that are left out: beyond 1024 of a metric"),
};
/* clang-format on */

const struct daemon_metric *daemon_metric_rows(size_t *ret_n)
{
    *ret_n = sizeof rows / sizeof *rows;
    return rows;
}

const char *daemon_metric_prefix(const struct daemon_metric *row)
{
    return row->kind == METRIC_PROCESS ? "" : DAEMON_METRICS_PREFIX;
}

const char *daemon_metric_type_name(enum daemon_metric_type type)
{
    static const char *const names[] = {
        [METRIC_GAUGE] = "gauge", [METRIC_COUNTER] = "counter", [METRIC_HISTOGRAM] = "histogram"};
    return names[type];
}
