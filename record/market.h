/* The market and its venues, field by field: exchange/bar.h and db/row.h describe each. */
#ifndef RECORD_MARKET_H
#define RECORD_MARKET_H

#include "record/field.h"

/* A bar's own fields, of struct bar: those of a chart, and all; a stored one has its key before them. */
#define RECORD_CHART_BAR(FIRST, NEXT) \
    FIRST(open_ns, "open_ns", "open_ns", TIME, FIXED, REQUIRED, NULL) \
    NEXT(open, "open", "open", PRICE, CHANGES, REQUIRED, NULL) \
    NEXT(high, "high", "high", PRICE, CHANGES, REQUIRED, NULL) \
    NEXT(low, "low", "low", PRICE, CHANGES, REQUIRED, NULL) \
    NEXT(close, "close", "close", PRICE, CHANGES, REQUIRED, NULL) \
    NEXT(volume, "volume", "volume", VOLUME, CHANGES, REQUIRED, NULL)
#define RECORD_BAR(FIRST, NEXT) \
    RECORD_CHART_BAR(FIRST, NEXT) \
    NEXT(quote_volume, "quote_volume", "quote_volume", VOLUME, CHANGES, REQUIRED, NULL) \
    NEXT(trades, "trades", "trades", SIGNED, CHANGES, REQUIRED, NULL) \
    NEXT(first_trade_id, "first_trade_id", "first_trade_id", SIGNED, CHANGES, REQUIRED, NULL) \
    NEXT(last_trade_id, "last_trade_id", "last_trade_id", SIGNED, CHANGES, REQUIRED, NULL)

/* As the database keeps it; events and states do not, since the calendar says it. */
#define RECORD_STORED_BAR(FIRST, NEXT) \
    RECORD_BAR(FIRST, NEXT) \
    NEXT(session, "session", "session", WORD, CHANGES, NULLABLE, &db_words_bar_session)

#define RECORD_BAR_KEY(FIRST, NEXT) \
    FIRST(symbol, "symbol", "symbol", SYMBOL, FIXED, REQUIRED, NULL) \
    NEXT(interval_ns, "interval_ns", "interval_ns", SIGNED, FIXED, REQUIRED, NULL) \
    NEXT(source, "source", "source", WORD, FIXED, REQUIRED, &db_words_bar_source)

/* Of struct db_chart_series; then its memory. */
#define RECORD_CHART_SERIES(FIRST, NEXT) \
    FIRST(symbol, "symbol", "symbol", SYMBOL, FIXED, REQUIRED, NULL) \
    NEXT(interval_ns, "interval_ns", "interval_ns", SIGNED, FIXED, REQUIRED, NULL) \
    NEXT(base_ns, "base_ns", "base_ns", SIGNED, CHANGES, REQUIRED, NULL) \
    NEXT(next_ns, "next_ns", "next_ns", TIME, CHANGES, REQUIRED, NULL) \
    NEXT(specs, "specs", "specs", STRING, CHANGES, REQUIRED, NULL) \
    NEXT(names, "names", "names", STRING, CHANGES, REQUIRED, NULL)

#define RECORD_PRICES(FIRST, NEXT) \
    FIRST(symbol, "symbol", "symbol", SYMBOL, FIXED, REQUIRED, NULL) \
    NEXT(last, "last", "last", PRICE, CHANGES, NULLABLE, NULL) \
    NEXT(bid, "bid", "bid", PRICE, CHANGES, NULLABLE, NULL) \
    NEXT(ask, "ask", "ask", PRICE, CHANGES, NULLABLE, NULL) \
    NEXT(mark, "mark", "mark", PRICE, CHANGES, NULLABLE, NULL) \
    NEXT(mark_ns, "mark_ns", "mark_ts_ns", TIME, CHANGES, NULLABLE, NULL) \
    NEXT(ts_ns, "ts_ns", "ts_ns", TIME, CHANGES, REQUIRED, NULL) \
    NEXT(recv_wall_ns, "recv_wall_ns", "recv_wall_ns", TIME, CHANGES, REQUIRED, NULL)

#define RECORD_GAPS(FIRST, NEXT) \
    FIRST(symbol, "symbol", "symbol", SYMBOL, FIXED, REQUIRED, NULL) \
    NEXT(interval_ns, "interval_ns", "interval_ns", SIGNED, FIXED, REQUIRED, NULL) \
    NEXT(from_open_ns, "from_open_ns", "from_open_ns", TIME, FIXED, REQUIRED, NULL) \
    NEXT(to_open_ns, "to_open_ns", "to_open_ns", TIME, CHANGES, REQUIRED, NULL) \
    NEXT(found_ns, "found_ns", "found_ns", TIME, FIXED, REQUIRED, NULL) \
    NEXT(filled_ns, "filled_ns", "filled_ns", TIME, CHANGES, NULLABLE, NULL)

#define RECORD_BOOK_BARS(FIRST, NEXT) \
    FIRST(bar.symbol, "symbol", "symbol", SYMBOL, FIXED, REQUIRED, NULL) \
    NEXT(interval_ns, "interval_ns", "interval_ns", SIGNED, FIXED, REQUIRED, NULL) \
    NEXT(bar.open_ns, "open_ns", "open_ns", TIME, FIXED, REQUIRED, NULL) \
    NEXT(bar.measures[BOOK_SPREAD].open, "spread_open", "spread_open", REAL, CHANGES, REQUIRED, NULL) \
    NEXT(bar.measures[BOOK_SPREAD].high, "spread_high", "spread_high", REAL, CHANGES, REQUIRED, NULL) \
    NEXT(bar.measures[BOOK_SPREAD].low, "spread_low", "spread_low", REAL, CHANGES, REQUIRED, NULL) \
    NEXT(bar.measures[BOOK_SPREAD].close, "spread_close", "spread_close", REAL, CHANGES, REQUIRED, NULL) \
    NEXT(bar.measures[BOOK_IMBALANCE].open, "imbalance_open", "imbalance_open", REAL, CHANGES, REQUIRED, \
         NULL) \
    NEXT(bar.measures[BOOK_IMBALANCE].high, "imbalance_high", "imbalance_high", REAL, CHANGES, REQUIRED, \
         NULL) \
    NEXT(bar.measures[BOOK_IMBALANCE].low, "imbalance_low", "imbalance_low", REAL, CHANGES, REQUIRED, NULL) \
    NEXT(bar.measures[BOOK_IMBALANCE].close, "imbalance_close", "imbalance_close", REAL, CHANGES, REQUIRED, \
         NULL) \
    NEXT(bar.measures[BOOK_MICROPRICE].open, "microprice_open", "microprice_open", REAL, CHANGES, REQUIRED, \
         NULL) \
    NEXT(bar.measures[BOOK_MICROPRICE].high, "microprice_high", "microprice_high", REAL, CHANGES, REQUIRED, \
         NULL) \
    NEXT(bar.measures[BOOK_MICROPRICE].low, "microprice_low", "microprice_low", REAL, CHANGES, REQUIRED, \
         NULL) \
    NEXT(bar.measures[BOOK_MICROPRICE].close, "microprice_close", "microprice_close", REAL, CHANGES, \
         REQUIRED, NULL)

#define RECORD_SESSIONS(FIRST, NEXT) \
    FIRST(session.calendar, "calendar", "calendar", TEXT, FIXED, REQUIRED, NULL) \
    NEXT(session.phase, "phase", "phase", WORD, CHANGES, REQUIRED, &db_words_market_phase) \
    NEXT(since_ns, "since_ns", "since_ns", TIME, CHANGES, REQUIRED, NULL) \
    NEXT(session.next_ns, "next_ns", "next_ns", TIME, CHANGES, REQUIRED, NULL)

#define RECORD_FEEDS(FIRST, NEXT) \
    FIRST(stream, "stream", "stream", STRING, FIXED, REQUIRED, NULL) \
    NEXT(symbol, "symbol", "symbol", SYMBOL, FIXED, REQUIRED, NULL) \
    NEXT(state, "state", "state", WORD, CHANGES, REQUIRED, &db_words_feed_state) \
    NEXT(detail, "detail", "detail", STRING, CHANGES, REQUIRED, NULL) \
    NEXT(last_recv_ns, "last_recv_ns", "last_recv_ns", TIME, CHANGES, REQUIRED, NULL) \
    NEXT(limit_ns, "limit_ns", "limit_ns", SIGNED, CHANGES, REQUIRED, NULL) \
    NEXT(frames, "frames", "frames", SIGNED, CHANGES, REQUIRED, NULL) \
    NEXT(bytes, "bytes", "bytes", SIGNED, CHANGES, REQUIRED, NULL) \
    NEXT(bad_frames, "bad_frames", "bad_frames", SIGNED, CHANGES, REQUIRED, NULL) \
    NEXT(connects, "connects", "connects", SIGNED, CHANGES, REQUIRED, NULL)

#define RECORD_VENUES(FIRST, NEXT) \
    FIRST(venue, "venue", "venue", STRING, FIXED, REQUIRED, NULL) \
    NEXT(state, "state", "state", WORD, CHANGES, REQUIRED, &db_words_feed_state) \
    NEXT(detail, "detail", "detail", STRING, CHANGES, REQUIRED, NULL) \
    NEXT(market, "market", "market", STRING, CHANGES, REQUIRED, NULL) \
    NEXT(last_recv_ns, "last_recv_ns", "last_recv_ns", TIME, CHANGES, REQUIRED, NULL) \
    NEXT(frames, "frames", "frames", SIGNED, CHANGES, REQUIRED, NULL) \
    NEXT(bad_frames, "bad_frames", "bad_frames", SIGNED, CHANGES, REQUIRED, NULL) \
    NEXT(connects, "connects", "connects", SIGNED, CHANGES, REQUIRED, NULL) \
    NEXT(renewals, "renewals", "renewals", SIGNED, CHANGES, REQUIRED, NULL) \
    NEXT(latency_p50_ms, "latency_p50_ms", "latency_p50_ms", REAL, CHANGES, NULLABLE, NULL) \
    NEXT(latency_p99_ms, "latency_p99_ms", "latency_p99_ms", REAL, CHANGES, NULLABLE, NULL) \
    NEXT(clock_offset_ms, "clock_offset_ms", "clock_offset_ms", REAL, CHANGES, NULLABLE, NULL)

#define RECORD_BANS(FIRST, NEXT) \
    FIRST(venue, "venue", "venue", STRING, FIXED, REQUIRED, NULL) \
    NEXT(until_ns, "until_ns", "until_ns", TIME, CHANGES, REQUIRED, NULL) \
    NEXT(why, "why", "why", STRING, CHANGES, REQUIRED, NULL)

#define RECORD_RUNS(FIRST, NEXT) \
    FIRST(run, "run", "run", UNSIGNED, FIXED, REQUIRED, NULL) \
    NEXT(began_ns, "began_ns", "began_ns", TIME, FIXED, REQUIRED, NULL) \
    NEXT(alive_ns, "alive_ns", "alive_ns", TIME, FIXED, REQUIRED, NULL) \
    NEXT(state, "state", "state", WORD, FIXED, REQUIRED, &db_words_run_state)

#define RECORD_LOG_NOTES(FIRST, NEXT) \
    FIRST(kind, "kind", "kind", WORD, FIXED, REQUIRED, &db_words_log_note) \
    NEXT(from_seq, "from_seq", "from_seq", UNSIGNED, FIXED, REQUIRED, NULL) \
    NEXT(to_seq, "to_seq", "to_seq", UNSIGNED, FIXED, REQUIRED, NULL) \
    NEXT(known_seq, "known_seq", "known_seq", UNSIGNED, FIXED, REQUIRED, NULL) \
    NEXT(last_order, "last_order", "last_order", UNSIGNED, FIXED, REQUIRED, NULL) \
    NEXT(last_fill, "last_fill", "last_fill", UNSIGNED, FIXED, REQUIRED, NULL) \
    NEXT(last_ledger, "last_ledger", "last_ledger", UNSIGNED, FIXED, REQUIRED, NULL) \
    NEXT(ts_ns, "ts_ns", "ts_ns", TIME, FIXED, REQUIRED, NULL) \
    NEXT(segment, "segment", "segment", UNSIGNED, FIXED, REQUIRED, NULL) \
    NEXT(bytes, "bytes", "bytes", UNSIGNED, FIXED, REQUIRED, NULL) \
    NEXT(digest, "digest", "digest", TEXT, FIXED, REQUIRED, NULL)

extern const struct record record_bars;

#endif
