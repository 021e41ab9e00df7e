/* What the status shows of the market, accounts and machines, field by field: docs/control.md says what each
 * is. */
#ifndef RECORD_STATUS_H
#define RECORD_STATUS_H

#include "record/shown.h"

/* The daemon borrows these texts: it keeps none. */
enum {
    SHOWN_WORD = 24,
    SHOWN_NAME = 32,
    SHOWN_TITLE = 48,
    SHOWN_LINE = 160,
    SHOWN_KEY = 64,
};

/* Of the last minute. */
#define RECORD_SHOWN_RATES(FIELD) \
    FIELD(REAL, per_second, "messages_per_second", NULLABLE) \
    FIELD(REAL, latency_p50_ms, "latency_p50_ms", NULLABLE) \
    FIELD(REAL, latency_p99_ms, "latency_p99_ms", NULLABLE)

/* What comes of the venues: the whole. */
#define RECORD_SHOWN_FEED(TEXT, FIELD) \
    TEXT(0, SHOWN_WORD, state, "state", REQUIRED) \
    TEXT(0, SHOWN_WORD, venue, "venue", REQUIRED) \
    TEXT(0, SHOWN_LINE, url, "url", REQUIRED) \
    TEXT(0, SHOWN_LINE, detail, "detail", REQUIRED) \
    FIELD(UNSIGNED, age_ms, "age_ms", UNKNOWN) \
    FIELD(UNSIGNED, retry_in_ms, "retry_in_ms", UNKNOWN) \
    FIELD(UNSIGNED, connects, "connects", REQUIRED) \
    FIELD(UNSIGNED, frames, "frames", REQUIRED) \
    FIELD(UNSIGNED, bytes, "bytes", REQUIRED) \
    FIELD(UNSIGNED, bad_frames, "bad_frames", REQUIRED) \
    FIELD(REAL, clock_offset_ms, "clock_offset_ms", WHOLE)

#define RECORD_SHOWN_STREAM(TEXT, FIELD) \
    TEXT(0, SYMBOL_NAME_MAX, symbol, "symbol", REQUIRED) \
    TEXT(0, SHOWN_WORD, stream, "stream", REQUIRED) /* "trade", "kline_1m" */ \
    FIELD(UNSIGNED, age_ms, "age_ms", UNKNOWN)      /* -1: nothing came yet */ \
    FIELD(UNSIGNED, limit_ms, "limit_ms", REQUIRED) \
    FIELD(UNSIGNED, frames, "frames", REQUIRED) \
    FIELD(BOOL, stale, "stale", REQUIRED) \
    TEXT(0, SHOWN_WORD, state, "state", \
         REQUIRED) /* "ok", "quiet": by REST there is no news, "stale", "closed" */ \
    FIELD(UNSIGNED, asked_ms, "asked_ms", UNKNOWN) /* since REST was asked for it in this silence */ \
    TEXT(0, VENUE_NAME_MAX, venue, "venue", REQUIRED) \
    RECORD_SHOWN_RATES(FIELD)

#define RECORD_SHOWN_VENUE(TEXT, FIELD) \
    TEXT(0, VENUE_NAME_MAX, venue, "venue", REQUIRED) \
    TEXT(0, SHOWN_TITLE, title, "title", REQUIRED) \
    TEXT(0, SHOWN_WORD, state, "state", \
         REQUIRED) /* "ok", "connecting", "retry", "stale", "failed", "closed" */ \
    TEXT(0, SHOWN_LINE, detail, "detail", REQUIRED) \
    TEXT(0, SHOWN_LINE, url, "url", REQUIRED) \
    TEXT(0, SHOWN_LINE, rest_url, "rest_url", REQUIRED) \
    FIELD(UNSIGNED, age_ms, "age_ms", UNKNOWN) /* of the newest data */ \
    FIELD(UNSIGNED, retry_in_ms, "retry_in_ms", UNKNOWN) \
    FIELD(UNSIGNED, connections, "connections", REQUIRED) \
    FIELD(UNSIGNED, up, "connections_up", REQUIRED) \
    FIELD(UNSIGNED, connects, "connects", REQUIRED) \
    FIELD(UNSIGNED, renewals, "renewals", REQUIRED) \
    FIELD(UNSIGNED, doubled, "doubled", REQUIRED) \
    FIELD(UNSIGNED, budget, "connect_budget", REQUIRED) \
    FIELD(UNSIGNED, budget_used, "connect_budget_used", REQUIRED) \
    FIELD(UNSIGNED, sent, "sent", REQUIRED) \
    FIELD(UNSIGNED, frames, "frames", REQUIRED) \
    FIELD(UNSIGNED, bytes, "bytes", REQUIRED) \
    FIELD(UNSIGNED, bad_frames, "bad_frames", REQUIRED) \
    FIELD(UNSIGNED, bad_per_minute, "bad_per_minute", REQUIRED) \
    RECORD_SHOWN_RATES(FIELD) \
    FIELD(REAL, clock_offset_ms, "clock_offset_ms", WHOLE) /* the venue's clock minus ours */ \
    FIELD(UNSIGNED, requests, "requests", REQUIRED) \
    FIELD(UNSIGNED, requests_failed, "requests_failed", REQUIRED) \
    FIELD(UNSIGNED, requests_waiting, "requests_waiting", REQUIRED) \
    FIELD(UNSIGNED, weight_used, "weight_used", UNKNOWN) \
    FIELD(UNSIGNED, weight_limit, "weight_limit", OPTIONAL) \
    FIELD(SIGNED, banned_until_ns, "banned_until_ns", OPTIONAL) \
    TEXT(0, SHOWN_WORD, calendar, "calendar", OPTIONAL)       /* of its symbols */ \
    TEXT(0, SHOWN_WORD, market, "market", REQUIRED)           /* "always", or the phase of its calendar */ \
    FIELD(SIGNED, market_next_ns, "market_next_ns", OPTIONAL) /* when that changes */ \
    FIELD(SIGNED, market_open_ns, "market_open_ns", \
          OPTIONAL)                                   /* when its next session opens, or this one did */ \
    FIELD(BOOL, market_half, "market_half", REQUIRED) /* today's session is a short one */ \
    FIELD(UNSIGNED, symbols, "symbols", REQUIRED)     /* streamed */

#define RECORD_SHOWN_SYMBOL(TEXT, FIELD) \
    TEXT(0, SYMBOL_NAME_MAX, symbol, "symbol", REQUIRED) \
    TEXT(0, VENUE_NAME_MAX, venue, "venue", OPTIONAL) \
    TEXT(0, SHOWN_WORD, market, "market", REQUIRED)   /* as its venue's; "" from an older daemon */ \
    TEXT(0, SHOWN_WORD, trading, "trading", REQUIRED) /* "trades", "halted", "ended"; likewise */ \
    FIELD(REAL, last, "last", NULLABLE) \
    FIELD(REAL, bid, "bid", NULLABLE) \
    FIELD(REAL, ask, "ask", NULLABLE) \
    FIELD(REAL, mark, "mark", NULLABLE) \
    FIELD(UNSIGNED, age_ms, "age_ms", UNKNOWN) \
    FIELD(BOOL, stale, "stale", REQUIRED) \
    FIELD(REAL, change_24h_pct, "change_24h_pct", NULLABLE) \
    FIELD(SCALE, price_decimals, "price_decimals", REQUIRED) \
    TEXT(0, SHOWN_WORD, book, "book", REQUIRED) \
    FIELD(UNSIGNED, book_gaps, "book_gaps", REQUIRED) \
    FIELD(UNSIGNED, book_crossed, "book_crossed", REQUIRED) \
    TEXT(0, SHOWN_WORD, interval, "interval", REQUIRED) \
    FIELD(UNSIGNED, bars, "bars", REQUIRED)

/* A symbol's last closed one. */
#define RECORD_SHOWN_BAR(TEXT, FIELD) \
    FIELD(UNSIGNED, bar_open_ms, "open_time_ms", REQUIRED) \
    FIELD(REAL, bar_open, "open", NULLABLE) \
    FIELD(REAL, bar_high, "high", NULLABLE) \
    FIELD(REAL, bar_low, "low", NULLABLE) \
    FIELD(REAL, bar_close, "close", NULLABLE) \
    FIELD(REAL, bar_volume, "volume", NULLABLE)

#define RECORD_SHOWN_ACCOUNT(TEXT, FIELD) \
    TEXT(0, ACCOUNT_NAME_MAX, account, "account", REQUIRED) \
    TEXT(0, ASSET_NAME_MAX, currency, "currency", REQUIRED) \
    TEXT(0, SHOWN_TITLE, strategy, "strategy", OPTIONAL) \
    FIELD(REAL, cash, "cash", NULLABLE) \
    FIELD(REAL, equity, "equity", NULLABLE) \
    FIELD(REAL, deposits, "deposits", NULLABLE) \
    FIELD(REAL, return_pct, "return_pct", NULLABLE) \
    FIELD(REAL, drawdown_pct, "drawdown_pct", NULLABLE) \
    FIELD(REAL, realized, "realized", NULLABLE) \
    FIELD(REAL, fees, "fees", NULLABLE) \
    FIELD(REAL, day_pnl, "day_pnl", NULLABLE) \
    FIELD(BOOL, shorts, "shorts", REQUIRED)               /* it may go short */ \
    FIELD(REAL, short_value, "short_value", NULLABLE)     /* what buying its shorts back would cost */ \
    FIELD(REAL, interest_owed, "interest_owed", NULLABLE) /* what was not paid yet */ \
    FIELD(BOOL, killed, "killed", REQUIRED) /* by its drawdown: it opens nothing until it is resumed */ \
    FIELD(TIME, killed_ns, "killed_ns", OPTIONAL)

#define RECORD_SHOWN_POSITION(TEXT, FIELD) \
    TEXT(0, ACCOUNT_NAME_MAX, account, "account", REQUIRED) \
    TEXT(0, SYMBOL_NAME_MAX, symbol, "symbol", REQUIRED) \
    TEXT(0, 8, side, "side", REQUIRED) \
    FIELD(REAL, qty, "qty", NULLABLE) /* negative for a short */ \
    FIELD(REAL, entry, "entry", NULLABLE) \
    FIELD(REAL, fifo_entry, "fifo_entry", NULLABLE) \
    FIELD(REAL, mark, "mark", NULLABLE) \
    FIELD(REAL, upnl, "upnl", NULLABLE) \
    FIELD(REAL, stop, "stop", NULLABLE) \
    FIELD(UNSIGNED, age_ms, "age_ms", UNKNOWN) \
    FIELD(SCALE, qty_decimals, "qty_decimals", REQUIRED)

#define RECORD_SHOWN_DEVICE(TEXT, FIELD) \
    TEXT(0, SHOWN_TITLE, name, "name", OPTIONAL) \
    FIELD(REAL, util_pct, "util_pct", NULLABLE) \
    FIELD(REAL, mem_used_mib, "mem_used_mib", NULLABLE) \
    FIELD(REAL, mem_total_mib, "mem_total_mib", NULLABLE) \
    FIELD(REAL, power_w, "power_w", NULLABLE) \
    FIELD(REAL, power_limit_w, "power_limit_w", NULLABLE) \
    FIELD(REAL, clock_mhz, "clock_mhz", NULLABLE) \
    FIELD(REAL, temp_c, "temp_c", NULLABLE)

/* A policy of the arena, docs/policies.md: before what it has proved, and what it does now. */
#define RECORD_SHOWN_POLICY(TEXT, FIELD) \
    TEXT(0, SHOWN_KEY, policy, "policy", REQUIRED) \
    TEXT(0, SHOWN_WORD, role, "role", REQUIRED) \
    TEXT(0, ACCOUNT_NAME_MAX, account, "account", REQUIRED) \
    TEXT(0, 80, id, "id", REQUIRED) \
    TEXT(0, SHOWN_KEY, training, "training", OPTIONAL) \
    TEXT(0, SHOWN_LINE, path, "path", REQUIRED) \
    FIELD(TIME, since_ns, "since_ns", OPTIONAL) \
    TEXT(0, SHOWN_LINE, reason, "reason", REQUIRED) \
    TEXT(0, SHOWN_KEY, proposal, "proposal", OPTIONAL) \
    FIELD(TIME, expires_ns, "expires_ns", OPTIONAL)
#define RECORD_SHOWN_POLICY_NOW(TEXT, FIELD) \
    TEXT(0, SHOWN_TITLE, backend, "backend", OPTIONAL) \
    TEXT(0, SHOWN_WORD, interval, "interval", OPTIONAL) \
    TEXT(0, SHOWN_WORD, state, "state", OPTIONAL) \
    TEXT(0, SHOWN_LINE, detail, "detail", REQUIRED) \
    FIELD(REAL, equity, "equity", NULLABLE) \
    FIELD(REAL, return_pct, "return_pct", NULLABLE) \
    FIELD(UNSIGNED, trades, "trades", UNKNOWN) \
    FIELD(REAL, sharpe, "sharpe", NULLABLE) \
    FIELD(TIME, decided_ns, "decided_ns", OPTIONAL)

/* What a policy's days say for its crown. */
#define RECORD_SHOWN_EVIDENCE(TEXT, FIELD) \
    TEXT(0, SHOWN_KEY, against, "against", REQUIRED) /* a policy, or "cash" */ \
    FIELD(UNSIGNED, days, "days", REQUIRED) \
    FIELD(UNSIGNED, days_needed, "days_needed", REQUIRED) \
    FIELD(REAL, value, "value", NULLABLE)               /* the test's */ \
    FIELD(REAL, value_needed, "value_needed", NULLABLE) /* none: only a command crowns */

/* The event log; how the run began; the last comparison of the ledger with a replay of the log. */
#define RECORD_SHOWN_LOG(TEXT, FIELD) \
    TEXT(0, SHOWN_WORD, state, "state", REQUIRED) /* "ok", "failing" */ \
    TEXT(0, SHOWN_LINE, detail, "detail", REQUIRED) \
    FIELD(UNSIGNED, seq, "seq", REQUIRED) /* the newest event on the disk */ \
    FIELD(UNSIGNED, events, "events", REQUIRED) \
    FIELD(UNSIGNED, holes, "holes", REQUIRED) \
    FIELD(UNSIGNED, lost, "lost", REQUIRED) \
    FIELD(UNSIGNED, segments, "segments", REQUIRED) \
    FIELD(UNSIGNED, removed, "removed", REQUIRED) \
    FIELD(UNSIGNED, bytes, "bytes", REQUIRED) /* of all segments */ \
    FIELD(REAL, bytes_per_event, "bytes_per_event", NULLABLE) \
    FIELD(UNSIGNED, waiting_bytes, "waiting_bytes", REQUIRED) \
    FIELD(UNSIGNED, retries, "retries", REQUIRED) \
    FIELD(UNSIGNED, failed, "failed", REQUIRED) \
    FIELD(UNSIGNED, proved, "proved", REQUIRED) \
    FIELD(UNSIGNED, mended, "mended", REQUIRED)
#define RECORD_SHOWN_RECOVERY(TEXT, FIELD) \
    TEXT(0, SHOWN_WORD, from, "from", REQUIRED) /* "log", "database", "nothing" */ \
    FIELD(UNSIGNED, log_seq, "log_seq", REQUIRED) \
    FIELD(UNSIGNED, played, "played", REQUIRED) /* events */ \
    FIELD(UNSIGNED, again, "again", REQUIRED) \
    FIELD(REAL, elapsed_ms, "elapsed_ms", NULLABLE) \
    FIELD(REAL, away_s, "away_s", NULLABLE) \
    FIELD(UNSIGNED, missed_bars, "missed_bars", REQUIRED) \
    FIELD(UNSIGNED, crossed, "crossed", REQUIRED) /* orders that bars crossed meanwhile */
#define RECORD_SHOWN_TRAINER(TEXT, FIELD) \
    TEXT(0, SHOWN_WORD, state, "state", REQUIRED) \
    TEXT(0, SHOWN_LINE, detail, "detail", REQUIRED) \
    TEXT(0, SHOWN_WORD, version, "version", OPTIONAL) \
    FIELD(UNSIGNED, pid, "pid", OPTIONAL) \
    FIELD(UNSIGNED, age_ms, "age_ms", UNKNOWN)

#endif
