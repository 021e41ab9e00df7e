/* The status, field by field: docs/control.md describes each, docs/serve.md those of trainings. */
#ifndef RECORD_STATUS_H
#define RECORD_STATUS_H

#include "record/shown.h"

/* clang-format off */
/* Bytes of a shown text; and of what the daemon keeps of it, where it does not borrow it. */
#define RECORD_BYTES_SHORT 8
#define RECORD_BYTES_WORD 24
#define RECORD_BYTES_CODE 40
#define RECORD_BYTES_TITLE 48
#define RECORD_BYTES_KEY 64
#define RECORD_BYTES_ID 80
#define RECORD_BYTES_LINE 576 /* more than any sentence that the daemon keeps */
#define RECORD_BYTES_VENUE VENUE_NAME_MAX
#define RECORD_BYTES_SYMBOL SYMBOL_NAME_MAX
#define RECORD_BYTES_ASSET ASSET_NAME_MAX
#define RECORD_BYTES_ACCOUNT ACCOUNT_NAME_MAX
#define RECORD_BYTES_ALERT DB_ALERT_TEXT_MAX
#define RECORD_BYTES_TRAINING 64
#define RECORD_BYTES_BACKEND 96
#define RECORD_BYTES_REASON 512
#define RECORD_BYTES_VERDICT 256
#define RECORD_BYTES_FILE 512
#define RECORD_KEPT_WORD 24
#define RECORD_KEPT_KEY 64
#define RECORD_KEPT_TRAINING 32 /* with its NUL: names become accounts' */
#define RECORD_KEPT_BACKEND 96
#define RECORD_KEPT_REASON 512
#define RECORD_KEPT_VERDICT 256
#define RECORD_KEPT_FILE 1024

/* Of the last minute. */
#define RECORD_SHOWN_RATES(FIELD) \
    FIELD(REAL, NULLABLE, per_second, "messages_per_second") FIELD(REAL, NULLABLE, latency_p50_ms) \
    FIELD(REAL, NULLABLE, latency_p99_ms)

/* The whole, before its parts. */
#define RECORD_SHOWN_WHOLE(TEXT, FIELD) \
    TEXT(WORD, REQUIRED, schema) TEXT(WORD, REQUIRED, version) FIELD(UNSIGNED, REQUIRED, pid) \
    TEXT(WORD, REQUIRED, clock) FIELD(SIGNED, REQUIRED, now_ns) FIELD(REAL, NULLABLE, uptime_s) \
    TEXT(LINE, REQUIRED, state_dir) TEXT(WORD, REQUIRED, fill_model) TEXT(WORD, OPTIONAL, beyond) \
    FIELD(REAL, NULLABLE, slippage) \
    TEXT(WORD, OPTIONAL, trading) TEXT(LINE, OPTIONAL, trading_reason) \
    TEXT(LINE, OPTIONAL, universe) /* the rule of [market] universe */ \
    FIELD(SIGNED, OPTIONAL, universe_ns) /* its time that was looked at last */

#define RECORD_SHOWN_COUNTERS(TEXT, FIELD) \
    FIELD(UNSIGNED, REQUIRED, events) FIELD(UNSIGNED, REQUIRED, decisions) \
    FIELD(UNSIGNED, REQUIRED, orders) FIELD(UNSIGNED, REQUIRED, fills) FIELD(UNSIGNED, REQUIRED, rejected)

/* Of the last seconds of the daemon's loop. */
#define RECORD_SHOWN_LOOP(TEXT, FIELD) \
    FIELD(REAL, NULLABLE, turns_per_second) FIELD(REAL, NULLABLE, busy) FIELD(REAL, NULLABLE, wait_p99_ms) \
    FIELD(REAL, NULLABLE, longest_ms)

/* The sockets of [metrics]: where it listens, what came of it since the start. */
#define RECORD_SHOWN_HTTP(TEXT, FIELD) \
    TEXT(LINE, REQUIRED, socket) TEXT(LINE, REQUIRED, listen) FIELD(UNSIGNED, REQUIRED, clients) \
    FIELD(UNSIGNED, REQUIRED, requests) FIELD(UNSIGNED, REQUIRED, refused) FIELD(UNSIGNED, REQUIRED, cut)

#define RECORD_SHOWN_GPU(TEXT, FIELD) TEXT(WORD, REQUIRED, state) TEXT(LINE, REQUIRED, reason)

/* Where the charts' indicators are computed; and how many of their bars are done and waiting. */
#define RECORD_SHOWN_COMPUTE(TEXT, FIELD) \
    TEXT(WORD, REQUIRED, backend) TEXT(TITLE, OPTIONAL, device) TEXT(LINE, REQUIRED, reason)
#define RECORD_SHOWN_CHARTS(TEXT, FIELD) \
    FIELD(UNSIGNED, REQUIRED, updates) FIELD(UNSIGNED, REQUIRED, waiting, "queue") \
    FIELD(UNSIGNED, REQUIRED, missed, "queue_full") FIELD(BOOL, REQUIRED, behind)

#define RECORD_SHOWN_DB(TEXT, FIELD) \
    TEXT(WORD, REQUIRED, state) TEXT(LINE, REQUIRED, detail) FIELD(UNSIGNED, REQUIRED, commits) \
    FIELD(UNSIGNED, REQUIRED, rows) FIELD(UNSIGNED, REQUIRED, queue) FIELD(REAL, NULLABLE, commit_p50_ms) \
    FIELD(REAL, NULLABLE, commit_p99_ms) FIELD(UNSIGNED, REQUIRED, failed) \
    FIELD(UNSIGNED, REQUIRED, checked) FIELD(UNSIGNED, REQUIRED, rebuilt)

/* When the database was last rebuilt, and the source of each table's rows. */
#define RECORD_SHOWN_REBUILT(TEXT, FIELD) \
    FIELD(TIME, REQUIRED, ts_ns) TEXT(LINE, REQUIRED, why) TEXT(LINE, REQUIRED, aside) \
    FIELD(UNSIGNED, REQUIRED, whole_from) FIELD(UNSIGNED, REQUIRED, last_event) FIELD(BOOL, REQUIRED, lost)
#define RECORD_SHOWN_SOURCE(TEXT, FIELD) TEXT(WORD, REQUIRED, table) TEXT(LINE, REQUIRED, source)

#define RECORD_SHOWN_CHAMPION(TEXT, FIELD) \
    TEXT(ACCOUNT, REQUIRED, account) TEXT(TRAINING, REQUIRED, policy) FIELD(SIGNED, REQUIRED, since_ns)

/* The venues' feeds: the whole. */
#define RECORD_SHOWN_FEED(TEXT, FIELD) \
    TEXT(WORD, REQUIRED, state) TEXT(WORD, REQUIRED, venue) TEXT(LINE, REQUIRED, url) \
    TEXT(LINE, REQUIRED, detail) FIELD(UNSIGNED, UNKNOWN, age_ms) FIELD(UNSIGNED, UNKNOWN, retry_in_ms) \
    FIELD(UNSIGNED, REQUIRED, connects) FIELD(UNSIGNED, REQUIRED, reconnects) FIELD(UNSIGNED, REQUIRED, frames) \
    FIELD(UNSIGNED, REQUIRED, bytes) FIELD(UNSIGNED, REQUIRED, bad_frames) FIELD(REAL, WHOLE, clock_offset_ms)

#define RECORD_SHOWN_STREAM(TEXT, FIELD) \
    TEXT(SYMBOL, REQUIRED, symbol) TEXT(WORD, REQUIRED, stream) /* "trade", "kline_1m" */ \
    FIELD(UNSIGNED, UNKNOWN, age_ms) /* -1: no message yet */ \
    FIELD(UNSIGNED, REQUIRED, limit_ms) FIELD(UNSIGNED, REQUIRED, frames) FIELD(BOOL, REQUIRED, stale) \
    TEXT(WORD, REQUIRED, state) /* "ok", "quiet": REST has no news, "stale", "closed" */ \
    FIELD(UNSIGNED, UNKNOWN, asked_ms) /* since the REST request in this silence */ \
    TEXT(VENUE, REQUIRED, venue) RECORD_SHOWN_RATES(FIELD)

#define RECORD_SHOWN_VENUE(TEXT, FIELD) \
    TEXT(VENUE, REQUIRED, venue) TEXT(TITLE, REQUIRED, title) \
    TEXT(WORD, REQUIRED, state) /* "ok", "connecting", "retry", "stale", "failed", "closed" */ \
    TEXT(LINE, REQUIRED, detail) TEXT(LINE, REQUIRED, url) TEXT(LINE, REQUIRED, rest_url) \
    FIELD(UNSIGNED, UNKNOWN, age_ms) /* of the newest data */ \
    FIELD(UNSIGNED, UNKNOWN, retry_in_ms) FIELD(UNSIGNED, REQUIRED, connections) \
    FIELD(UNSIGNED, REQUIRED, up, "connections_up") FIELD(UNSIGNED, REQUIRED, connects) \
    FIELD(UNSIGNED, REQUIRED, reconnects) FIELD(UNSIGNED, REQUIRED, connects_failed) FIELD(UNSIGNED, REQUIRED, renewals) FIELD(UNSIGNED, REQUIRED, doubled) \
    FIELD(UNSIGNED, REQUIRED, budget, "connect_budget") \
    FIELD(UNSIGNED, REQUIRED, budget_used, "connect_budget_used") FIELD(UNSIGNED, REQUIRED, sent) \
    FIELD(UNSIGNED, REQUIRED, frames) FIELD(UNSIGNED, REQUIRED, bytes) \
    FIELD(UNSIGNED, REQUIRED, bad_frames) FIELD(UNSIGNED, REQUIRED, bad_per_minute) \
    RECORD_SHOWN_RATES(FIELD) FIELD(REAL, WHOLE, clock_offset_ms) /* the venue's clock minus ours */ \
    FIELD(UNSIGNED, REQUIRED, requests) FIELD(UNSIGNED, REQUIRED, requests_failed) \
    FIELD(UNSIGNED, REQUIRED, requests_waiting) FIELD(UNSIGNED, UNKNOWN, weight_used) \
    FIELD(UNSIGNED, OPTIONAL, weight_limit) FIELD(SIGNED, OPTIONAL, banned_until_ns) \
    TEXT(WORD, OPTIONAL, calendar) /* of its symbols */ \
    TEXT(WORD, REQUIRED, market) /* "always", or the phase of its calendar */ \
    FIELD(SIGNED, OPTIONAL, market_next_ns) /* when that changes */ \
    FIELD(SIGNED, OPTIONAL, market_open_ns) /* when its next session opens, or this one did */ \
    FIELD(BOOL, REQUIRED, market_half) /* today's session is a short one */ \
    FIELD(UNSIGNED, REQUIRED, symbols) /* streamed */ \
    FIELD(UNSIGNED, REQUIRED, recoveries) /* of symbols: from an interruption's end to the next closed bar */ \
    FIELD(UNSIGNED, REQUIRED, recovering) /* symbols that are interrupted, or await that bar */ \
    FIELD(UNSIGNED, UNKNOWN, recovery_last_ms) FIELD(UNSIGNED, UNKNOWN, recovery_mean_ms) \
    FIELD(UNSIGNED, UNKNOWN, recovery_worst_ms) \
    TEXT(WORD, REQUIRED, history) /* of [market] history as a duration: "off", "fetches", "waits", "done" */ \
    FIELD(UNSIGNED, REQUIRED, history_bars) /* fetched since the start */ \
    FIELD(UNSIGNED, REQUIRED, history_left) /* to be fetched, at most */ \
    TEXT(LINE, REQUIRED, history_detail) /* what it waits for; "" */

#define RECORD_SHOWN_SYMBOL(TEXT, FIELD) \
    TEXT(SYMBOL, REQUIRED, symbol) TEXT(VENUE, OPTIONAL, venue) \
    TEXT(WORD, REQUIRED, market) /* as its venue's; "" from an older daemon */ \
    TEXT(WORD, REQUIRED, trading) /* "trades", "halted", "ended"; likewise */ \
    FIELD(REAL, NULLABLE, last) FIELD(REAL, NULLABLE, bid) FIELD(REAL, NULLABLE, ask) \
    FIELD(REAL, NULLABLE, mark) FIELD(TIME, OPTIONAL, mark_ts_ns) /* when that price was made */ \
    FIELD(UNSIGNED, UNKNOWN, age_ms) FIELD(BOOL, REQUIRED, stale) \
    FIELD(REAL, NULLABLE, change_24h_pct) FIELD(SCALE, REQUIRED, price_decimals) \
    TEXT(WORD, REQUIRED, book) FIELD(UNSIGNED, REQUIRED, book_gaps) \
    FIELD(UNSIGNED, REQUIRED, book_crossed) TEXT(WORD, REQUIRED, interval) \
    FIELD(UNSIGNED, REQUIRED, bars) TEXT(WORD, OPTIONAL, prices) /* "nbbo", "iex" (exchange/fill.h) */ \
    TEXT(WORD, OPTIONAL, universe) /* "in", "out"; "": there is no rule */

/* A symbol's last closed bar. */
#define RECORD_SHOWN_BAR(TEXT, FIELD) \
    FIELD(UNSIGNED, REQUIRED, bar_open_ms, "open_time_ms") FIELD(REAL, NULLABLE, bar_open, "open") \
    FIELD(REAL, NULLABLE, bar_high, "high") FIELD(REAL, NULLABLE, bar_low, "low") \
    FIELD(REAL, NULLABLE, bar_close, "close") FIELD(REAL, NULLABLE, bar_volume, "volume")

#define RECORD_SHOWN_ACCOUNT(TEXT, FIELD) \
    TEXT(ACCOUNT, REQUIRED, account) TEXT(ASSET, REQUIRED, currency) TEXT(TITLE, OPTIONAL, strategy) \
    TEXT(ASSET, OPTIONAL, session) /* whose bars it sees: of session_choice_names */ \
    FIELD(REAL, NULLABLE, cash) FIELD(REAL, NULLABLE, equity) FIELD(REAL, NULLABLE, deposits) \
    FIELD(REAL, NULLABLE, return_pct) FIELD(REAL, NULLABLE, drawdown_pct) FIELD(REAL, NULLABLE, realized) \
    FIELD(REAL, NULLABLE, fees) FIELD(REAL, NULLABLE, day_pnl) \
    FIELD(BOOL, REQUIRED, shorts) /* it may go short */ \
    FIELD(REAL, NULLABLE, short_value) /* what buying its shorts back would cost */ \
    FIELD(REAL, NULLABLE, interest_owed) /* not paid yet */ \
    TEXT(WORD, REQUIRED, margin) TEXT(WORD, REQUIRED, settlement) /* exchange/margin.h */ \
    FIELD(REAL, NULLABLE, initial_margin) FIELD(REAL, NULLABLE, maintenance_margin) FIELD(REAL, NULLABLE, excess) \
    FIELD(REAL, NULLABLE, buying_power) FIELD(REAL, NULLABLE, debt) FIELD(UNSIGNED, UNKNOWN, day_trades) \
    FIELD(BOOL, REQUIRED, day_trader) FIELD(REAL, NULLABLE, settled) FIELD(REAL, NULLABLE, unsettled) \
    FIELD(TIME, OPTIONAL, settles_ns) FIELD(UNSIGNED, UNKNOWN, violations) \
    FIELD(BOOL, REQUIRED, killed) /* locked by its drawdown: it opens no position until it is resumed */ \
    FIELD(TIME, OPTIONAL, killed_ns) \
    TEXT(LINE, OPTIONAL, at_venue) /* how its account at its venue is; "": its orders are filled here */ \
    TEXT(LINE, OPTIONAL, halted) /* why its outside strategy is not asked any more; "": it is */

/* Its account there, `venue_account`; what the last comparison with the venue found; an order from elsewhere. */
#define RECORD_SHOWN_VENUE_ACCOUNT(TEXT, FIELD) \
    TEXT(WORD, REQUIRED, execution) TEXT(VENUE, REQUIRED, venue) TEXT(WORD, REQUIRED, prefix) /* of client ids */ \
    FIELD(BOOL, REQUIRED, attached) FIELD(BOOL, REQUIRED, halted) TEXT(WORD, REQUIRED, link) /* of user data */ \
    TEXT(LINE, REQUIRED, detail) FIELD(UNSIGNED, REQUIRED, orders) FIELD(UNSIGNED, REQUIRED, unknown) \
    FIELD(UNSIGNED, OPTIONAL, unknown_order) FIELD(UNSIGNED, REQUIRED, waiting)
#define RECORD_SHOWN_RECONCILED(TEXT, FIELD) \
    FIELD(SIGNED, REQUIRED, at_ns) FIELD(UNSIGNED, REQUIRED, missing) FIELD(UNSIGNED, REQUIRED, fills) \
    FIELD(UNSIGNED, REQUIRED, strays) FIELD(BOOL, REQUIRED, balances_compared) FIELD(BOOL, REQUIRED, balances_differed)
#define RECORD_SHOWN_EXTERNAL(TEXT, FIELD) \
    TEXT(LINE, REQUIRED, client_id) TEXT(KEY, REQUIRED, id) TEXT(SYMBOL, REQUIRED, symbol) \
    TEXT(SHORT, REQUIRED, side) TEXT(WORD, REQUIRED, type) TEXT(WORD, REQUIRED, state) \
    FIELD(REAL, NULLABLE, qty) FIELD(REAL, NULLABLE, filled) FIELD(REAL, NULLABLE, price)

/* db/books/totals.h: of all accounts in a currency. */
#define RECORD_SHOWN_TOTAL(TEXT, FIELD) \
    TEXT(ASSET, REQUIRED, currency) FIELD(UNSIGNED, REQUIRED, accounts) FIELD(REAL, NULLABLE, equity) \
    FIELD(REAL, NULLABLE, deposits) FIELD(REAL, NULLABLE, return_pct) \
    FIELD(REAL, NULLABLE, rate) /* in the first one's currency; NaN: not streamed */ \
    TEXT(SYMBOL, OPTIONAL, rate_symbol) FIELD(REAL, NULLABLE, converted)
#define RECORD_SHOWN_POSITION(TEXT, FIELD) \
    TEXT(ACCOUNT, REQUIRED, account) TEXT(SYMBOL, REQUIRED, symbol) TEXT(SHORT, REQUIRED, side) \
    FIELD(REAL, NULLABLE, qty) /* negative for a short */ \
    FIELD(REAL, NULLABLE, entry) FIELD(REAL, NULLABLE, fifo_entry) FIELD(REAL, NULLABLE, mark) \
    FIELD(TIME, OPTIONAL, mark_ts_ns) \
    FIELD(REAL, NULLABLE, upnl) FIELD(REAL, NULLABLE, stop) FIELD(UNSIGNED, UNKNOWN, age_ms) \
    FIELD(SCALE, REQUIRED, qty_decimals)

/* `id`: the C name of its number; a trailing stop's distance is one of two; the database has the fields that
 * the status lacks. */
#define RECORD_SHOWN_ORDER(TEXT, FIELD) \
    FIELD(UNSIGNED, REQUIRED, id, "order") TEXT(ACCOUNT, REQUIRED, account) TEXT(SYMBOL, REQUIRED, symbol) \
    TEXT(SHORT, REQUIRED, side) TEXT(WORD, REQUIRED, type) TEXT(WORD, REQUIRED, state) \
    TEXT(SHORT, REQUIRED, tif) TEXT(CODE, OPTIONAL, reason) TEXT(TITLE, REQUIRED, tag) \
    FIELD(REAL, NULLABLE, qty) FIELD(REAL, NULLABLE, filled) FIELD(REAL, NULLABLE, price) \
    FIELD(REAL, NULLABLE, stop) FIELD(REAL, NULLABLE, trail) FIELD(REAL, NULLABLE, trail_pct) \
    FIELD(UNSIGNED, OPTIONAL, group) FIELD(UNSIGNED, OPTIONAL, parent) FIELD(BOOL, REQUIRED, triggered) \
    FIELD(SIGNED, REQUIRED, updated_ns)

#define RECORD_SHOWN_FILL(TEXT, FIELD) \
    FIELD(UNSIGNED, REQUIRED, id, "fill") FIELD(UNSIGNED, REQUIRED, order) FIELD(SIGNED, REQUIRED, ts_ns) \
    TEXT(ACCOUNT, REQUIRED, account) TEXT(SYMBOL, REQUIRED, symbol) TEXT(SHORT, REQUIRED, side) \
    FIELD(REAL, NULLABLE, price) FIELD(REAL, NULLABLE, qty) FIELD(REAL, NULLABLE, fee) \
    FIELD(BOOL, REQUIRED, maker)

#define RECORD_SHOWN_ALERT(TEXT, FIELD) \
    FIELD(UNSIGNED, REQUIRED, id, "alert") FIELD(SIGNED, REQUIRED, ts_ns) FIELD(SIGNED, REQUIRED, last_ns) \
    FIELD(SIGNED, REQUIRED, count) TEXT(WORD, REQUIRED, severity) TEXT(CODE, REQUIRED, code) \
    TEXT(ALERT, REQUIRED, text) FIELD(SIGNED, REQUIRED, acked_ns) /* 0: not acknowledged */

/* A price that is waited for: `side` is "above" (it, or more) or "below". */
#define RECORD_SHOWN_PRICE_ALERT(TEXT, FIELD) \
    FIELD(UNSIGNED, REQUIRED, id, "price_alert") TEXT(SYMBOL, REQUIRED, symbol) TEXT(SHORT, REQUIRED, side) \
    FIELD(REAL, REQUIRED, price) FIELD(SIGNED, REQUIRED, created_ns)

#define RECORD_SHOWN_DEVICE(TEXT, FIELD) \
    TEXT(TITLE, OPTIONAL, name) FIELD(REAL, NULLABLE, util_pct) FIELD(REAL, NULLABLE, mem_used_mib) \
    FIELD(REAL, NULLABLE, mem_total_mib) FIELD(REAL, NULLABLE, power_w) \
    FIELD(REAL, NULLABLE, power_limit_w) FIELD(REAL, NULLABLE, clock_mhz) FIELD(REAL, NULLABLE, temp_c) \
    TEXT(KEY, OPTIONAL, device) /* as stored samples have it */ TEXT(TITLE, OPTIONAL, driver) \
    TEXT(WORD, OPTIONAL, profile) FIELD(REAL, NULLABLE, mem_util_pct) FIELD(REAL, NULLABLE, mem_clock_mhz) \
    FIELD(REAL, NULLABLE, fan_pct) FIELD(REAL, NULLABLE, throttle_power) \
    FIELD(REAL, NULLABLE, throttle_thermal) FIELD(REAL, NULLABLE, throttle_hardware) \
    FIELD(REAL, NULLABLE, pcie_rx_bytes_s) FIELD(REAL, NULLABLE, pcie_tx_bytes_s) \
    FIELD(UNSIGNED, UNKNOWN, index) /* NVIDIA's, as nvidia-smi has it */

/* A policy of the arena, docs/policies.md: first its evidence, then its current state. */
#define RECORD_SHOWN_POLICY(TEXT, FIELD) \
    TEXT(KEY, REQUIRED, policy) TEXT(WORD, REQUIRED, role) TEXT(ACCOUNT, REQUIRED, account) \
    TEXT(ID, REQUIRED, id) TEXT(KEY, OPTIONAL, training) TEXT(LINE, REQUIRED, path) \
    FIELD(TIME, OPTIONAL, since_ns) TEXT(LINE, REQUIRED, reason) TEXT(KEY, OPTIONAL, proposal) \
    FIELD(TIME, OPTIONAL, expires_ns) TEXT(LINE, OPTIONAL, limits)
#define RECORD_SHOWN_POLICY_NOW(TEXT, FIELD) \
    TEXT(TITLE, OPTIONAL, backend) TEXT(WORD, OPTIONAL, interval) TEXT(WORD, OPTIONAL, state) \
    TEXT(LINE, REQUIRED, detail) FIELD(REAL, NULLABLE, equity) FIELD(REAL, NULLABLE, return_pct) \
    FIELD(UNSIGNED, UNKNOWN, trades) FIELD(REAL, NULLABLE, sharpe) FIELD(TIME, OPTIONAL, decided_ns) \
    TEXT(WORD, OPTIONAL, verdict) TEXT(VERDICT, OPTIONAL, verdict_text) /* of its evaluation; "": none */

/* The evidence of a policy's days for becoming champion. */
#define RECORD_SHOWN_EVIDENCE(TEXT, FIELD) \
    TEXT(KEY, REQUIRED, against) /* a policy, or "cash" */ \
    FIELD(UNSIGNED, REQUIRED, days) FIELD(UNSIGNED, REQUIRED, days_needed) \
    FIELD(REAL, NULLABLE, value) /* the test's */ \
    FIELD(REAL, NULLABLE, value_needed) /* none: only a command makes it champion */

/* The event log; how the run began; the last comparison of the ledger with a replay of the log. */
#define RECORD_SHOWN_LOG(TEXT, FIELD) \
    TEXT(WORD, REQUIRED, state) /* "ok", "failing" */ \
    TEXT(LINE, REQUIRED, detail) FIELD(UNSIGNED, REQUIRED, seq) /* the newest event on the disk */ \
    FIELD(UNSIGNED, REQUIRED, events) FIELD(UNSIGNED, REQUIRED, holes) FIELD(UNSIGNED, REQUIRED, lost) \
    FIELD(UNSIGNED, REQUIRED, segments) FIELD(UNSIGNED, REQUIRED, removed) \
    FIELD(UNSIGNED, REQUIRED, bytes) /* of all segments */ \
    FIELD(REAL, NULLABLE, bytes_per_event) FIELD(UNSIGNED, REQUIRED, waiting_bytes) \
    FIELD(UNSIGNED, REQUIRED, retries) FIELD(UNSIGNED, REQUIRED, failed) FIELD(UNSIGNED, REQUIRED, proved) \
    FIELD(UNSIGNED, REQUIRED, mended)
#define RECORD_SHOWN_RECOVERY(TEXT, FIELD) \
    TEXT(WORD, REQUIRED, from) /* "log", "database", "nothing" */ \
    FIELD(UNSIGNED, REQUIRED, log_seq) FIELD(UNSIGNED, REQUIRED, played) /* events */ \
    FIELD(UNSIGNED, REQUIRED, again) FIELD(REAL, NULLABLE, elapsed_ms) FIELD(REAL, NULLABLE, away_s) \
    FIELD(UNSIGNED, REQUIRED, missed_bars) \
    FIELD(UNSIGNED, REQUIRED, crossed) /* orders that bars crossed meanwhile */
#define RECORD_SHOWN_PARITY(TEXT, FIELD) \
    TEXT(WORD, REQUIRED, state) /* "ok", "failed", "running", "none" */ \
    FIELD(UNSIGNED, UNKNOWN, days) /* of log that agree */ \
    FIELD(TIME, OPTIONAL, since_ns) FIELD(TIME, OPTIONAL, checked_ns) FIELD(UNSIGNED, REQUIRED, seq) \
    FIELD(UNSIGNED, UNKNOWN, database_rows) /* of the ledger, that rest on the database alone */ \
    TEXT(LINE, REQUIRED, detail) TEXT(LINE, OPTIONAL, error)
#define RECORD_SHOWN_TRAINER(TEXT, FIELD) \
    TEXT(WORD, REQUIRED, state) TEXT(LINE, REQUIRED, detail) TEXT(WORD, OPTIONAL, version) \
    FIELD(UNSIGNED, OPTIONAL, pid) FIELD(UNSIGNED, UNKNOWN, age_ms)

/* `name`: the C name of its name. Counts of -1 are unknown, as are reals that are NaN; times of 0: not
 * yet. */
#define RECORD_SHOWN_TRAINING(TEXT, FIELD, name) \
    TEXT(TRAINING, REQUIRED, name, "training") /* with its NUL: names become accounts' */ \
    TEXT(WORD, REQUIRED, state) TEXT(REASON, REQUIRED, reason) TEXT(WORD, OPTIONAL, cause) \
    FIELD(SIGNED, REQUIRED, priority) TEXT(WORD, OPTIONAL, device) TEXT(BACKEND, OPTIONAL, backend) \
    FIELD(UNSIGNED, REQUIRED, steps) FIELD(UNSIGNED, UNKNOWN, total_steps) \
    FIELD(UNSIGNED, UNKNOWN, iteration) FIELD(REAL, NULLABLE, steps_s, "steps_per_second") \
    FIELD(REAL, NULLABLE, episode_return, "return") FIELD(UNSIGNED, UNKNOWN, attempts) \
    FIELD(UNSIGNED, UNKNOWN, restarts) FIELD(UNSIGNED, UNKNOWN, retry_in_ms) \
    FIELD(TIME, OPTIONAL, created_ns) FIELD(TIME, OPTIONAL, started_ns) FIELD(TIME, OPTIONAL, ended_ns) \
    FIELD(UNSIGNED, REQUIRED, age_ms) /* since its last event */ \
    FIELD(UNSIGNED, REQUIRED, expected_ms) /* between two events of its worker */ \
    FIELD(BOOL, REQUIRED, stale) FIELD(BOOL, REQUIRED, stopping) \
    FIELD(UNSIGNED, UNKNOWN, pid) /* of its worker */ \
    FIELD(REAL, WHOLE, memory_mib) FIELD(REAL, WHOLE, memory_limit_mib) \
    FIELD(REAL, NULLABLE, device_mib) FIELD(REAL, NULLABLE, cpu_s) FIELD(REAL, NULLABLE, cpu_limit_s) \
    FIELD(REAL, NULLABLE, utilisation) FIELD(REAL, NULLABLE, cpu_utilisation) \
    TEXT(FILE, OPTIONAL, checkpoint) FIELD(UNSIGNED, UNKNOWN, checkpoint_steps) \
    TEXT(FILE, OPTIONAL, policy) TEXT(KEY, OPTIONAL, study) /* its run in studies.db; "": a training */ \
    FIELD(TIME, OPTIONAL, due_ns) /* of a scheduled study's next run */ \
    TEXT(WORD, OPTIONAL, verdict) TEXT(VERDICT, OPTIONAL, verdict_text) /* of its last evaluation */

/* Reported by the co-process to the daemon only; state_s: in this state, and how long it may be. */
#define RECORD_TRAINING_LAST_LINE(TEXT, FIELD) \
    FIELD(UNSIGNED, UNKNOWN, heard_age_ms) FIELD(TIME, OPTIONAL, heard_ns) \
    FIELD(UNSIGNED, REQUIRED, seq) /* its newest event */ \
    FIELD(REAL, NULLABLE, state_s, "state_seconds") \
    FIELD(REAL, NULLABLE, state_limit_s, "state_limit_seconds")
/* clang-format on */

#endif
