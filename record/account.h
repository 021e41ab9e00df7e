/* Accounts, alerts, commands, venues' revisions, positions and equity, field by field: db/row.h and
 * engine/position.h describe each. */
#ifndef RECORD_ACCOUNT_H
#define RECORD_ACCOUNT_H

#include "record/field.h"
#include "record/words.h"

#define RECORD_ALERTS(FIRST, NEXT) \
    FIRST(id, "id", "id", UNSIGNED, FIXED, REQUIRED, NULL) \
    NEXT(ts_ns, "ts_ns", "ts_ns", TIME, CHANGES, REQUIRED, NULL) \
    NEXT(last_ns, "last_ns", "last_ns", TIME, CHANGES, REQUIRED, NULL) \
    NEXT(count, "count", "count", SIGNED, CHANGES, REQUIRED, NULL) \
    NEXT(code, "code", "code", STRING, CHANGES, REQUIRED, NULL) \
    NEXT(severity, "severity", "severity", WORD, CHANGES, REQUIRED, &db_words_severity) \
    NEXT(text, "text", "text", STRING, CHANGES, REQUIRED, NULL) \
    NEXT(acked_ns, "acked_ns", "acked_ns", TIME, CHANGES, NULLABLE, NULL) \
    NEXT(lasts, "lasts", "lasts", BOOL, CHANGES, REQUIRED, NULL) \
    NEXT(closed_ns, "closed_ns", "closed_ns", TIME, CHANGES, NULLABLE, NULL)

#define RECORD_COMMANDS(FIRST, NEXT) \
    FIRST(id, "id", "id", UNSIGNED, FIXED, REQUIRED, NULL) \
    NEXT(ts_ns, "ts_ns", "ts_ns", TIME, CHANGES, REQUIRED, NULL) \
    NEXT(peer_uid, "peer_uid", "peer_uid", SIGNED, FIXED, REQUIRED, NULL) \
    NEXT(peer_pid, "peer_pid", "peer_pid", SIGNED, FIXED, REQUIRED, NULL) \
    NEXT(cmd, "cmd", "cmd", STRING, FIXED, REQUIRED, NULL) \
    NEXT(args, "args", "args", STRING, FIXED, REQUIRED, NULL) \
    NEXT(state, "state", "state", WORD, CHANGES, REQUIRED, &db_words_command_state) \
    NEXT(result, "result", "result", STRING, CHANGES, REQUIRED, NULL) \
    NEXT(key, "key", "key", STRING, FIXED, REQUIRED, NULL) \
    NEXT(order_id, "order_id", "order_id", UNSIGNED, CHANGES, REQUIRED, NULL) \
    NEXT(event, "event", "event", UNSIGNED, CHANGES, NULLABLE, NULL)

#define RECORD_ACTIONS(FIRST, NEXT) \
    FIRST(id, "id", "action", UNSIGNED, FIXED, NULLABLE, NULL) \
    NEXT(symbol, "symbol", "symbol", SYMBOL, FIXED, REQUIRED, NULL) \
    NEXT(action.id, "action", "id", TEXT, FIXED, REQUIRED, NULL) \
    NEXT(action.kind, "kind", "kind", WORD, FIXED, REQUIRED, &db_words_action_kind) \
    NEXT(action.ex_ns, "ex_ns", "ex_ns", TIME, FIXED, REQUIRED, NULL) \
    NEXT(action.shares, "shares", "shares", SIGNED, FIXED, OPTIONAL, NULL) \
    NEXT(action.per, "per", "per", SIGNED, FIXED, OPTIONAL, NULL) \
    NEXT(action.cash, "cash", "cash", E9, FIXED, OPTIONAL, NULL) \
    NEXT(ts_ns, "ts_ns", "ts_ns", TIME, FIXED, REQUIRED, NULL) \
    NEXT(input_seq, "input_seq", "input_seq", UNSIGNED, FIXED, REQUIRED, NULL) \
    NEXT(action.record_ns, "record_ns", "record_ns", TIME, FIXED, OPTIONAL, NULL) \
    NEXT(action.pay_ns, "pay_ns", "pay_ns", TIME, FIXED, OPTIONAL, NULL)

/* What became of a dividend, of struct receivable_row; an account's rates by its volume, of struct
 * fee_rate_change. Money of the first has its own scale: to print it, pass a symbol with that, as
 * quote_scale. */
#define RECORD_RECEIVABLES(FIRST, NEXT) \
    FIRST(id, "id", "receivable", UNSIGNED, FIXED, REQUIRED, NULL) \
    NEXT(ts_ns, "ts_ns", "ts_ns", TIME, FIXED, REQUIRED, NULL) \
    NEXT(account, "account", "account", ACCOUNT, FIXED, REQUIRED, NULL) \
    NEXT(kind, "kind", "kind", WORD, FIXED, REQUIRED, &engine_words_receivable_kind) \
    NEXT(of.symbol, "symbol", "symbol", TEXT, FIXED, REQUIRED, NULL) \
    NEXT(of.action, "action", "id", TEXT, FIXED, REQUIRED, NULL) \
    NEXT(of.asset, "asset", "asset", TEXT, FIXED, REQUIRED, NULL) \
    NEXT(of.scale, "scale", "scale", SCALE, FIXED, REQUIRED, NULL) \
    NEXT(of.qty_scale, "qty_scale", "qty_scale", SCALE, FIXED, REQUIRED, NULL) \
    NEXT(of.ex_ns, "ex_ns", "ex_ns", TIME, FIXED, REQUIRED, NULL) \
    NEXT(of.pay_ns, "pay_ns", "pay_ns", TIME, FIXED, OPTIONAL, NULL) \
    NEXT(of.qty, "qty", "qty", QTY, FIXED, REQUIRED, NULL) \
    NEXT(of.gross, "gross", "gross", QUOTE, FIXED, REQUIRED, NULL) \
    NEXT(of.withheld, "withheld", "withheld", QUOTE, FIXED, REQUIRED, NULL) \
    NEXT(of.amount, "amount", "amount", QUOTE, FIXED, REQUIRED, NULL) \
    NEXT(paid, "paid", "paid", QUOTE, FIXED, REQUIRED, NULL) \
    NEXT(of.booked, "booked", "booked", UNSIGNED, FIXED, OPTIONAL, NULL) \
    NEXT(ledger_id, "ledger_id", "ledger", UNSIGNED, FIXED, OPTIONAL, NULL) \
    NEXT(input_seq, "input_seq", "input_seq", UNSIGNED, FIXED, REQUIRED, NULL)
#define RECORD_FEE_RATES(FIRST, NEXT) \
    FIRST(id, "id", "change", UNSIGNED, FIXED, REQUIRED, NULL) \
    NEXT(ts_ns, "ts_ns", "ts_ns", TIME, FIXED, REQUIRED, NULL) \
    NEXT(account, "account", "account", ACCOUNT, FIXED, REQUIRED, NULL) \
    NEXT(day, "day", "day", SIGNED, FIXED, REQUIRED, NULL) \
    NEXT(volume, "volume", "volume", QUOTE, FIXED, REQUIRED, NULL) \
    NEXT(last_fill, "last_fill", "last_fill", UNSIGNED, FIXED, REQUIRED, NULL) \
    NEXT(tiers, "tiers", "tiers", STRING, FIXED, REQUIRED, NULL) \
    NEXT(rates.maker_e6, "maker_e6", "maker", SHARE_E6, FIXED, REQUIRED, NULL) \
    NEXT(rates.taker_e6, "taker_e6", "taker", SHARE_E6, FIXED, REQUIRED, NULL) \
    NEXT(input_seq, "input_seq", "input_seq", UNSIGNED, FIXED, REQUIRED, NULL)

#define RECORD_REVISIONS(FIRST, NEXT) \
    FIRST(id, "id", "id", UNSIGNED, FIXED, NULLABLE, NULL) \
    NEXT(ts_ns, "ts_ns", "ts_ns", TIME, FIXED, REQUIRED, NULL) \
    NEXT(symbol, "symbol", "symbol", SYMBOL, FIXED, REQUIRED, NULL) \
    NEXT(kind, "kind", "kind", WORD, FIXED, REQUIRED, &db_words_revision_kind) \
    NEXT(source, "source", "source", WORD, FIXED, REQUIRED, &db_words_bar_source) \
    NEXT(at_ns, "at_ns", "at_ns", TIME, FIXED, REQUIRED, NULL) \
    NEXT(correction.id, "trade_id", "trade_id", SIGNED, FIXED, REQUIRED, NULL) \
    NEXT(correction.new_id, "new_id", "new_id", SIGNED, FIXED, REQUIRED, NULL) \
    NEXT(correction.old_price, "old_price", "old_price", PRICE, FIXED, REQUIRED, NULL) \
    NEXT(correction.old_qty, "old_qty", "old_qty", QTY, FIXED, REQUIRED, NULL) \
    NEXT(correction.price, "price", "price", PRICE, FIXED, REQUIRED, NULL) \
    NEXT(correction.qty, "qty", "qty", QTY, FIXED, REQUIRED, NULL) \
    NEXT(old_bar, "old_bar", "old_bar", STRING, FIXED, REQUIRED, NULL) \
    NEXT(new_bar, "new_bar", "new_bar", STRING, FIXED, REQUIRED, NULL) \
    NEXT(correction.code, "code", "code", TEXT, FIXED, REQUIRED, NULL) \
    NEXT(applied, "applied", "applied", BOOL, FIXED, REQUIRED, NULL) \
    NEXT(input_seq, "input_seq", "input_seq", UNSIGNED, FIXED, REQUIRED, NULL)

/* A position, of struct position; in a stored one its owner comes first. */
#define RECORD_HOLDING(FIRST, NEXT) \
    FIRST(qty, "qty", "qty", QTY, CHANGES, REQUIRED, NULL) \
    NEXT(cost, "cost", "cost", QUOTE, CHANGES, REQUIRED, NULL) \
    NEXT(realized, "realized", "realized", QUOTE, CHANGES, REQUIRED, NULL) \
    NEXT(fifo_cost, "fifo_cost", "fifo_cost", QUOTE, CHANGES, REQUIRED, NULL) \
    NEXT(fifo_realized, "fifo_realized", "fifo_realized", QUOTE, CHANGES, REQUIRED, NULL) \
    NEXT(fees, "fees", "fees", QUOTE, CHANGES, REQUIRED, NULL) \
    NEXT(opened_ns, "opened_ns", "opened_ns", TIME, CHANGES, OPTIONAL, NULL) \
    NEXT(updated_ns, "updated_ns", "updated_ns", TIME, CHANGES, REQUIRED, NULL)

#define RECORD_POSITION_OF(FIRST, NEXT, HELD) \
    FIRST(account, "account", "account", ACCOUNT, FIXED, REQUIRED, NULL) \
    NEXT(symbol, "symbol", "symbol", SYMBOL, FIXED, REQUIRED, NULL) \
    RECORD_HOLDING(HELD, HELD)
#define RECORD_POSITIONS(FIRST, NEXT) RECORD_POSITION_OF(FIRST, NEXT, NEXT)

#define RECORD_EQUITY(FIRST, NEXT) \
    FIRST(account, "account", "account", ACCOUNT, FIXED, REQUIRED, NULL) \
    NEXT(ts_ns, "ts_ns", "ts_ns", TIME, FIXED, REQUIRED, NULL) \
    NEXT(equity, "equity", "equity", QUOTE, CHANGES, REQUIRED, NULL) \
    NEXT(cash, "cash", "cash", QUOTE, CHANGES, REQUIRED, NULL) \
    NEXT(peak, "peak", "peak", QUOTE, CHANGES, REQUIRED, NULL) \
    NEXT(day_equity, "day_equity", "day_equity", QUOTE, CHANGES, REQUIRED, NULL)

/* What a position was valued at, at a point of equity, of struct db_mark. */
#define RECORD_MARKS(FIRST, NEXT) \
    FIRST(account, "account", "account", ACCOUNT, FIXED, REQUIRED, NULL) \
    NEXT(ts_ns, "ts_ns", "ts_ns", TIME, FIXED, REQUIRED, NULL) \
    NEXT(symbol, "symbol", "symbol", SYMBOL, FIXED, REQUIRED, NULL) \
    NEXT(qty, "qty", "qty", QTY, CHANGES, REQUIRED, NULL) \
    NEXT(mark, "mark", "mark", PRICE, CHANGES, NULLABLE, NULL) \
    NEXT(mark_ns, "mark_ns", "mark_ns", TIME, CHANGES, NULLABLE, NULL)

/* An account by the rules for stocks, at its newest point of equity, of struct db_margin. */
#define RECORD_MARGINS(FIRST, NEXT) \
    FIRST(account, "account", "account", ACCOUNT, FIXED, REQUIRED, NULL) \
    NEXT(ts_ns, "ts_ns", "ts_ns", TIME, CHANGES, REQUIRED, NULL) \
    NEXT(figures.initial, "initial_margin", "initial_margin", QUOTE, CHANGES, REQUIRED, NULL) \
    NEXT(figures.maintenance, "maintenance_margin", "maintenance_margin", QUOTE, CHANGES, REQUIRED, NULL) \
    NEXT(figures.excess, "excess", "excess", QUOTE, CHANGES, REQUIRED, NULL) \
    NEXT(figures.power, "buying_power", "buying_power", QUOTE, CHANGES, REQUIRED, NULL) \
    NEXT(figures.debt, "debt", "debt", QUOTE, CHANGES, REQUIRED, NULL) \
    NEXT(figures.day_trades, "day_trades", "day_trades", SIGNED, CHANGES, REQUIRED, NULL) \
    NEXT(figures.day_trader, "day_trader", "day_trader", BOOL, CHANGES, REQUIRED, NULL) \
    NEXT(figures.settled, "settled", "settled", QUOTE, CHANGES, REQUIRED, NULL) \
    NEXT(figures.unsettled, "unsettled", "unsettled", QUOTE, CHANGES, REQUIRED, NULL) \
    NEXT(figures.settles_ns, "settles_ns", "settles_ns", TIME, CHANGES, OPTIONAL, NULL) \
    NEXT(figures.violations, "violations", "violations", SIGNED, CHANGES, REQUIRED, NULL)

/* The start of a record (db/base.h): of struct db_base, and of its accounts, balances, positions, orders. */
#define RECORD_BASE(FIRST, NEXT) \
    FIRST(event_seq, "event_seq", "event_seq", UNSIGNED, FIXED, REQUIRED, NULL) \
    NEXT(ts_ns, "ts_ns", "ts_ns", TIME, FIXED, REQUIRED, NULL) \
    NEXT(last_order, "last_order", "last_order", UNSIGNED, FIXED, REQUIRED, NULL) \
    NEXT(last_fill, "last_fill", "last_fill", UNSIGNED, FIXED, REQUIRED, NULL) \
    NEXT(last_ledger, "last_ledger", "last_ledger", UNSIGNED, FIXED, REQUIRED, NULL) \
    NEXT(hash, "ledger_hash", "ledger_hash", HASH, FIXED, REQUIRED, NULL) \
    NEXT(last_action, "last_action", "last_action", UNSIGNED, CHANGES, REQUIRED, NULL) \
    NEXT(last_revision, "last_revision", "last_revision", UNSIGNED, CHANGES, REQUIRED, NULL)
#define RECORD_BASE_ACCOUNT(FIRST, NEXT) \
    FIRST(account, "account", "account", SIGNED, FIXED, REQUIRED, NULL) \
    NEXT(deposits, "deposits", "deposits", QUOTE, FIXED, REQUIRED, NULL) \
    NEXT(interest_ns, "interest_ns", "interest_ns", TIME, FIXED, REQUIRED, NULL)
#define RECORD_BASE_BALANCE(FIRST, NEXT) \
    FIRST(account, "account", "account", SIGNED, FIXED, REQUIRED, NULL) \
    NEXT(asset, "asset", "asset", TEXT, FIXED, REQUIRED, NULL) \
    NEXT(scale, "scale", "scale", SIGNED, FIXED, REQUIRED, NULL) \
    NEXT(total, "total", "total", SIGNED, FIXED, REQUIRED, NULL) \
    NEXT(borrowed, "borrowed", "borrowed", SIGNED, FIXED, REQUIRED, NULL)
#define RECORD_BASE_POSITION_OF(FIRST, NEXT, HELD) \
    FIRST(account, "account", "account", SIGNED, FIXED, REQUIRED, NULL) \
    NEXT(symbol, "symbol", "symbol", SYMBOL, FIXED, REQUIRED, NULL) \
    RECORD_HOLDING(HELD, HELD) \
    HELD(closed_ns, "closed_ns", "closed_ns", TIME, FIXED, REQUIRED, NULL) \
    NEXT(lots, "lots", "lots", STRING, FIXED, REQUIRED, NULL)
#define RECORD_BASE_POSITION(FIRST, NEXT) RECORD_BASE_POSITION_OF(FIRST, NEXT, NEXT)
#define RECORD_BASE_ORDER(FIRST, NEXT) \
    FIRST(id, "id", "id", UNSIGNED, FIXED, REQUIRED, NULL) \
    NEXT(filled, "filled", "filled", QTY, FIXED, REQUIRED, NULL) \
    NEXT(cost, "cost", "cost", QUOTE, FIXED, REQUIRED, NULL)

/* A rebuild of the database: its time, and the source of each table's rows (db/rebuilt.h). */
#define RECORD_REBUILD(FIRST, NEXT) \
    FIRST(id, "id", "id", SIGNED, FIXED, REQUIRED, NULL) \
    NEXT(ts_ns, "ts_ns", "ts_ns", TIME, FIXED, REQUIRED, NULL) \
    NEXT(why, "why", "why", TEXT, FIXED, REQUIRED, NULL) \
    NEXT(aside, "aside", "aside", TEXT, FIXED, REQUIRED, NULL) \
    NEXT(first_seq, "first_seq", "first_seq", UNSIGNED, FIXED, REQUIRED, NULL) \
    NEXT(last_seq, "last_seq", "last_seq", UNSIGNED, FIXED, REQUIRED, NULL)
#define RECORD_REBUILD_SOURCE(FIRST, NEXT) \
    FIRST(rebuild, "rebuild", "rebuild", SIGNED, FIXED, REQUIRED, NULL) \
    NEXT(table, "name", "table", TEXT, FIXED, REQUIRED, NULL) \
    NEXT(source, "source", "source", TEXT, CHANGES, REQUIRED, NULL) \
    NEXT(logged, "logged", "logged", SIGNED, CHANGES, REQUIRED, NULL) \
    NEXT(salvaged, "salvaged", "salvaged", SIGNED, CHANGES, REQUIRED, NULL)

/* Of an account's rules, of struct account_rules, the limits, and all. SINCE_2: states of layout 1 lack
 * it. */
#define RECORD_LIMITS(FIRST, NEXT) \
    FIRST(risk.exposure_symbol, "exposure_symbol", "exposure_symbol", REAL, CHANGES, REQUIRED, NULL) \
    NEXT(risk.exposure_account, "exposure_account", "exposure_account", REAL, CHANGES, REQUIRED, NULL) \
    NEXT(risk.daily_loss, "daily_loss", "daily_loss", REAL, CHANGES, REQUIRED, NULL) \
    NEXT(risk.orders_per_second, "orders_per_second", "orders_per_second", SIGNED, CHANGES, REQUIRED, NULL) \
    NEXT(risk.drawdown, "drawdown", "drawdown", REAL, CHANGES, SINCE_2, NULL) \
    NEXT(risk.price_band, "price_band", "price_band", REAL, CHANGES, SINCE_2, NULL) \
    NEXT(risk.cooldown_ns, "cooldown_ns", "cooldown_s", E9, CHANGES, SINCE_2, NULL) \
    NEXT(risk.positions, "positions", "positions", SIGNED, CHANGES, SINCE_2, NULL)
#define RECORD_RULES(FIRST, NEXT) \
    FIRST(fees.maker_e6, "maker_e6", "fee_maker", SHARE_E6, CHANGES, REQUIRED, NULL) \
    NEXT(fees.taker_e6, "taker_e6", "fee_taker", SHARE_E6, CHANGES, REQUIRED, NULL) \
    RECORD_LIMITS(NEXT, NEXT) \
    NEXT(shorts, "shorts", "shorts", BOOL, CHANGES, REQUIRED, NULL) \
    NEXT(collateral_e4, "collateral_e4", "collateral", SHARE_E4, CHANGES, REQUIRED, NULL) \
    NEXT(maintenance_e4, "maintenance_e4", "maintenance", SHARE_E4, CHANGES, REQUIRED, NULL) \
    NEXT(borrow_rate_e6, "borrow_rate_e6", "borrow_rate", SHARE_E6, CHANGES, REQUIRED, NULL)
/* Those for stocks. Rows and states from before layout 8 lack them, which is off. */
#define RECORD_STOCK_RULES(NEXT) \
    NEXT(margin, "margin", "margin", WORD, CHANGES, NULLABLE | RECORD_SINCE(8), &record_words_margin) \
    NEXT(day_trader, "day_trader", "pattern_day_trader", WORD, CHANGES, NULLABLE | RECORD_SINCE(8), \
         &record_words_day_trader) \
    NEXT(settlement, "settlement", "settlement", WORD, CHANGES, NULLABLE | RECORD_SINCE(8), \
         &record_words_settlement)

/* Further rules, which states and rows of before do not have: the columns come last. */
#define RECORD_CLASS_FEES(NEXT) \
    NEXT(class_fees, "class_fees", "class_fees", BOOL, CHANGES, SINCE_8, NULL) \
    NEXT(crypto_fees.maker_e6, "crypto_maker_e6", "crypto_fee_maker", SHARE_E6, CHANGES, SINCE_8, NULL) \
    NEXT(crypto_fees.taker_e6, "crypto_taker_e6", "crypto_fee_taker", SHARE_E6, CHANGES, SINCE_8, NULL) \
    NEXT(us_equity_fees.maker_e6, "us_equity_maker_e6", "us_equity_fee_maker", SHARE_E6, CHANGES, SINCE_8, \
         NULL) \
    NEXT(us_equity_fees.taker_e6, "us_equity_taker_e6", "us_equity_fee_taker", SHARE_E6, CHANGES, SINCE_8, \
         NULL)

/* Of states since layout 13. */
#define RECORD_CHARGES(NEXT) \
    NEXT(fee_tiers, "fee_tiers", "fee_tiers", TEXT, CHANGES, REQUIRED | RECORD_SINCE(13), NULL) \
    NEXT(regulatory_fees, "regulatory_fees", "regulatory_fees", BOOL, CHANGES, REQUIRED | RECORD_SINCE(13), \
         NULL) \
    NEXT(withholding_e6, "withholding_e6", "withholding", SHARE_E6, CHANGES, REQUIRED | RECORD_SINCE(13), \
         NULL)

/* A stored account, of struct db_account_stored; and its results. */
#define RECORD_ACCOUNT_OF(FIRST, NEXT, RULE) \
    FIRST(row.account.number, "id", "number", SIGNED, FIXED, REQUIRED, NULL) \
    NEXT(row.account.name, "name", "account", TEXT, CHANGES, REQUIRED, NULL) \
    NEXT(row.account.currency, "currency", "currency", TEXT, FIXED, REQUIRED, NULL) \
    NEXT(row.account.currency_scale, "currency_scale", "currency_scale", SCALE, FIXED, REQUIRED, NULL) \
    NEXT(row.account.created_ns, "created_ns", "created_ns", TIME, FIXED, REQUIRED, NULL) \
    NEXT(row.account.cash, "cash", "opening_cash", QUOTE, CHANGES, REQUIRED, NULL) \
    NEXT(row.account.strategy, "strategy", "strategy", TEXT, CHANGES, REQUIRED, NULL) \
    NEXT(params, "params", "params", STRING, CHANGES, REQUIRED, NULL) \
    RECORD_RULES(RULE, RULE)
/* Rows from before have null, which is `all`, and no rules for stocks or fees of classes. */
#define RECORD_ACCOUNT_SINCE_12(NEXT, RULE) \
    NEXT(row.account.session, "session", "session", WORD, CHANGES, NULLABLE, &record_words_session_choice) \
    RECORD_STOCK_RULES(RULE) \
    RECORD_CLASS_FEES(RULE) \
    RECORD_CHARGES(RULE)
#define RECORD_ACCOUNT_CLOSED(NEXT) \
    NEXT(row.account.closed_ns, "closed_ns", "closed_ns", TIME, CHANGES, OPTIONAL, NULL)
#define RECORD_ACCOUNTS(FIRST, NEXT) \
    RECORD_ACCOUNT_OF(FIRST, NEXT, NEXT) RECORD_ACCOUNT_SINCE_12(NEXT, NEXT) RECORD_ACCOUNT_CLOSED(NEXT)
#define RECORD_ACCOUNT_NOW(NEXT) \
    NEXT(row.equity_peak, "equity_peak", "peak", QUOTE, CHANGES, OPTIONAL, NULL) \
    NEXT(row.day, "day", "day", SIGNED, CHANGES, REQUIRED, NULL) \
    NEXT(row.day_equity, "day_equity", "day_equity", QUOTE, CHANGES, REQUIRED, NULL) \
    NEXT(row.killed_ns, "killed_ns", "killed_ns", TIME, CHANGES, OPTIONAL, NULL)

/* What an account's terms are from a time on, of struct db_terms: what changed them, and the account's own
 * columns. */
#define RECORD_TERMS_CHANGE(FIRST, NEXT) \
    FIRST(id, "id", "id", UNSIGNED, FIXED, REQUIRED, NULL) \
    NEXT(account.number, "account", "account", ACCOUNT, FIXED, REQUIRED, NULL) \
    NEXT(epoch, "epoch", "epoch", SIGNED, FIXED, REQUIRED, NULL) \
    NEXT(account.change.since_ns, "since_ns", "since_ns", TIME, FIXED, REQUIRED, NULL) \
    NEXT(account.change.event, "event", "event", UNSIGNED, FIXED, REQUIRED, NULL) \
    NEXT(account.change.why, "why", "why", WORD, FIXED, REQUIRED, &db_words_terms_why) \
    NEXT(account.change.command, "command", "command", UNSIGNED, FIXED, NULLABLE, NULL) \
    NEXT(account.change.key, "command_key", "key", TEXT, FIXED, NULLABLE, NULL) \
    NEXT(account.change.uid, "uid", "uid", SIGNED, FIXED, UNKNOWN, NULL)
/* As `accounts` has them. */
#define RECORD_TERMS_ACCOUNT(NEXT, RULE) \
    NEXT(account.currency, "currency", "currency", TEXT, FIXED, REQUIRED, NULL) \
    NEXT(account.currency_scale, "currency_scale", "currency_scale", SCALE, FIXED, REQUIRED, NULL) \
    NEXT(account.cash, "cash", "opening_cash", QUOTE, FIXED, REQUIRED, NULL) \
    NEXT(account.strategy, "strategy", "strategy", TEXT, FIXED, REQUIRED, NULL) \
    NEXT(params, "params", "params", STRING, FIXED, REQUIRED, NULL) \
    RECORD_RULES(RULE, RULE) \
    NEXT(account.session, "session", "session", WORD, FIXED, NULLABLE, &record_words_session_choice) \
    RECORD_STOCK_RULES(RULE) \
    RECORD_CLASS_FEES(RULE) \
    RECORD_CHARGES(RULE) \
    NEXT(account.closed_ns, "closed_ns", "closed_ns", TIME, FIXED, OPTIONAL, NULL)
#define RECORD_TERMS_OF(FIRST, NEXT, RULE) RECORD_TERMS_CHANGE(FIRST, NEXT) RECORD_TERMS_ACCOUNT(NEXT, RULE)
#define RECORD_TERMS(FIRST, NEXT)          RECORD_TERMS_OF(FIRST, NEXT, NEXT)

#endif
