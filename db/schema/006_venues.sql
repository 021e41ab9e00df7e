-- papertape.db, version 6: several venues, markets that close, bars that are corrected, splits and dividends.

ALTER TABLE symbols ADD COLUMN gone INTEGER NOT NULL DEFAULT 0 CHECK (gone IN (0, 1)); -- listed no longer
ALTER TABLE symbols ADD COLUMN loose_ids INTEGER NOT NULL DEFAULT 0 CHECK (loose_ids IN (0, 1));
ALTER TABLE symbols ADD COLUMN calendar TEXT NOT NULL DEFAULT ''; -- '': trades at all times
-- What `papertape symbol add|remove` said, over what the configuration says; null: nothing.
ALTER TABLE symbols ADD COLUMN streamed INTEGER CHECK (streamed IN (0, 1));
-- A row that was altered before keeps a seal that does not hold.
UPDATE symbols SET hash = seal(2, id, venue, name, base, quote, price_scale, qty_scale, quote_scale, trading, price_min,
    price_max, tick, qty_min, qty_max, step, market_qty_min, market_qty_max, market_step, notional_min, notional_max,
    notional_min_market, notional_max_market, bid_up_e4, bid_down_e4, ask_up_e4, ask_down_e4, orders_max, seen_ns,
    gone, loose_ids, calendar, streamed)
    WHERE hash = seal(2, id, venue, name, base, quote, price_scale, qty_scale, quote_scale, trading, price_min,
    price_max, tick, qty_min, qty_max, step, market_qty_min, market_qty_max, market_step, notional_min, notional_max,
    notional_min_market, notional_max_market, bid_up_e4, bid_down_e4, ask_up_e4, ask_down_e4, orders_max, seen_ns);

-- What a venue changed after it had told it: the trace of corrections, cancellations and late bars. `bars` has the new
-- numbers. Appended only; sealed and counted.
CREATE TABLE revisions (
    id        INTEGER PRIMARY KEY CHECK (id > 0),
    ts_ns     INTEGER NOT NULL, -- of the engine, when it was told
    symbol    INTEGER NOT NULL REFERENCES symbols (id),
    kind      TEXT NOT NULL CHECK (kind IN ('correction', 'cancel', 'bar')),
    source    TEXT NOT NULL CHECK (source IN ('venue', 'trades')), -- whose bar
    at_ns     INTEGER NOT NULL, -- of the trade, or when it was changed where it is not kept; the bar's opening
    trade_id  INTEGER NOT NULL, -- -1: a bar
    new_id    INTEGER NOT NULL, -- of the corrected trade; -1: a bar
    old_price INTEGER NOT NULL, -- 0: not said, as in the next three
    old_qty   INTEGER NOT NULL,
    price     INTEGER NOT NULL,
    qty       INTEGER NOT NULL,
    old_bar   TEXT NOT NULL,    -- JSON in units: open_ns, open, high, low, close, volume, trades; '': none, or not kept
    new_bar   TEXT NOT NULL,    -- likewise
    code      TEXT NOT NULL,    -- the venue's word; '' for none
    applied   INTEGER NOT NULL CHECK (applied IN (0, 1)), -- 0: the bar that it belongs to is not kept
    input_seq INTEGER NOT NULL,
    hash      BLOB NOT NULL,
    UNIQUE (input_seq, symbol, kind, source, at_ns, trade_id)
) STRICT;
CREATE INDEX revisions_symbol ON revisions (symbol, at_ns);

-- Splits and dividends that took effect, once each, in this order. Positions follow from them and the fills.
CREATE TABLE corporate_actions (
    id        INTEGER PRIMARY KEY CHECK (id > 0),
    symbol    INTEGER NOT NULL REFERENCES symbols (id),
    action    TEXT NOT NULL, -- the venue's id
    kind      TEXT NOT NULL CHECK (kind IN ('split', 'dividend')),
    ex_ns     INTEGER NOT NULL,
    shares    INTEGER NOT NULL, -- new ones for `per` old ones; 0: a dividend
    per       INTEGER NOT NULL,
    cash      INTEGER NOT NULL, -- of one share, 10^-9 of the quote; 0: a split
    ts_ns     INTEGER NOT NULL, -- when it took effect here
    input_seq INTEGER NOT NULL,
    hash      BLOB NOT NULL,
    UNIQUE (symbol, action),
    CHECK (kind <> 'split' OR (shares > 0 AND per > 0))
) STRICT;

-- The newest split of its symbol that had taken effect when the bar was stored: it is told in those shares. 0: none had.
ALTER TABLE bars ADD COLUMN split INTEGER NOT NULL DEFAULT 0;

-- How each calendar's market stands, and when that changes.
CREATE TABLE market_sessions (
    calendar TEXT PRIMARY KEY,
    phase    TEXT NOT NULL CHECK (phase IN ('unknown', 'closed', 'early', 'open', 'late')),
    since_ns INTEGER NOT NULL,
    next_ns  INTEGER NOT NULL -- 0: not known
) STRICT, WITHOUT ROWID;

-- What the order book was in each bar, at its changes: plain numbers, spread and microprice in the quote, imbalance from
-- -1 to 1. The newest 20,000 intervals of each symbol are kept.
CREATE TABLE book_bars (
    symbol           INTEGER NOT NULL REFERENCES symbols (id),
    interval_ns      INTEGER NOT NULL CHECK (interval_ns > 0),
    open_ns          INTEGER NOT NULL,
    spread_open      REAL NOT NULL,
    spread_high      REAL NOT NULL,
    spread_low       REAL NOT NULL,
    spread_close     REAL NOT NULL,
    imbalance_open   REAL NOT NULL,
    imbalance_high   REAL NOT NULL,
    imbalance_low    REAL NOT NULL,
    imbalance_close  REAL NOT NULL,
    microprice_open  REAL NOT NULL,
    microprice_high  REAL NOT NULL,
    microprice_low   REAL NOT NULL,
    microprice_close REAL NOT NULL,
    PRIMARY KEY (symbol, interval_ns, open_ns)
) STRICT, WITHOUT ROWID;

-- Each venue as a whole; feed_status has its streams, and the whole of all.
CREATE TABLE venue_status (
    venue           TEXT PRIMARY KEY,
    state           TEXT NOT NULL CHECK (state IN ('ok', 'connecting', 'retry', 'stale', 'failed', 'closed')),
    detail          TEXT NOT NULL,
    market          TEXT NOT NULL, -- 'always', or the phase of its calendar
    last_recv_ns    INTEGER NOT NULL, -- wall; 0: nothing yet
    frames          INTEGER NOT NULL,
    bad_frames      INTEGER NOT NULL,
    connects        INTEGER NOT NULL,
    renewals        INTEGER NOT NULL,
    latency_p50_ms  REAL, -- null: not known
    latency_p99_ms  REAL,
    clock_offset_ms REAL
) STRICT, WITHOUT ROWID;

-- A venue that banned this address, so that a restart does not ask before it may.
CREATE TABLE venue_bans (
    venue    TEXT PRIMARY KEY,
    until_ns INTEGER NOT NULL, -- wall
    why      TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- A stream whose market is closed is silent by right.
CREATE TABLE new_feed_status (
    stream       TEXT NOT NULL,
    symbol       INTEGER REFERENCES symbols (id),
    state        TEXT NOT NULL CHECK (state IN ('ok', 'connecting', 'retry', 'stale', 'failed', 'closed')),
    detail       TEXT NOT NULL,
    last_recv_ns INTEGER NOT NULL, -- wall clock; 0: nothing yet
    limit_ns     INTEGER NOT NULL, -- older than this is stale; 0: never
    frames       INTEGER NOT NULL,
    bytes        INTEGER NOT NULL,
    bad_frames   INTEGER NOT NULL,
    connects     INTEGER NOT NULL
) STRICT;
INSERT INTO new_feed_status
    SELECT stream, symbol, state, detail, last_recv_ns, limit_ns, frames, bytes, bad_frames, connects FROM feed_status;
DROP TABLE feed_status;
ALTER TABLE new_feed_status RENAME TO feed_status;
CREATE UNIQUE INDEX feed_status_key ON feed_status (stream, ifnull(symbol, 0));

-- The ledger learns two kinds.
CREATE TABLE new_ledger (
    id       INTEGER PRIMARY KEY CHECK (id > 0),
    ts_ns    INTEGER NOT NULL,
    account  INTEGER NOT NULL REFERENCES accounts (id) DEFERRABLE INITIALLY DEFERRED,
    asset    TEXT NOT NULL CHECK (asset <> ''),
    scale    INTEGER NOT NULL CHECK (scale BETWEEN 0 AND 18),
    kind     TEXT NOT NULL CHECK (kind IN ('deposit', 'trade', 'fee', 'transfer', 'borrow', 'interest', 'reset', 'split',
                                           'dividend')),
    amount   INTEGER NOT NULL,
    balance  INTEGER NOT NULL CHECK (balance >= 0),
    order_id INTEGER REFERENCES orders (id) DEFERRABLE INITIALLY DEFERRED,
    fill_id  INTEGER REFERENCES fills (id) DEFERRABLE INITIALLY DEFERRED,
    hash     BLOB NOT NULL CHECK (length(hash) = 32),
    CHECK (CASE kind WHEN 'trade' THEN fill_id IS NOT NULL WHEN 'fee' THEN fill_id IS NOT NULL WHEN 'borrow' THEN 1
                     ELSE fill_id IS NULL END),
    CHECK ((fill_id IS NULL) = (order_id IS NULL))
) STRICT;
INSERT INTO new_ledger
    SELECT id, ts_ns, account, asset, scale, kind, amount, balance, order_id, fill_id, hash FROM ledger ORDER BY id;
DROP TABLE ledger;
ALTER TABLE new_ledger RENAME TO ledger;
CREATE INDEX ledger_account ON ledger (account, asset, id);
CREATE INDEX ledger_fill ON ledger (fill_id) WHERE fill_id IS NOT NULL;

-- Two more tables are counted.
UPDATE meta SET value = value || ', corporate_actions 0, revisions 0', hash = iif(hash = seal(2, key, value),
    seal(2, key, value || ', corporate_actions 0, revisions 0'), hash) WHERE key = 'counts';
