-- papertape.db, version 6: several venues, markets that close, bars that are corrected, splits and dividends.

ALTER TABLE symbols ADD COLUMN gone INTEGER NOT NULL DEFAULT 0 CHECK (gone IN (0, 1)); -- listed no longer
ALTER TABLE symbols ADD COLUMN loose_ids INTEGER NOT NULL DEFAULT 0 CHECK (loose_ids IN (0, 1));
ALTER TABLE symbols ADD COLUMN calendar TEXT NOT NULL DEFAULT ''; -- '': trades at all times
-- What `papertape symbol add|remove` said, over what the configuration says; null: nothing.
ALTER TABLE symbols ADD COLUMN streamed INTEGER CHECK (streamed IN (0, 1));

-- What a venue changed after it had told it: the trace of corrections, cancellations and late bars. `bars` has the new
-- numbers. Appended only.
CREATE TABLE revisions (
    id          INTEGER PRIMARY KEY CHECK (id > 0),
    ts_ns       INTEGER NOT NULL, -- of the engine, when it was told
    symbol      INTEGER NOT NULL REFERENCES symbols (id),
    kind        TEXT NOT NULL CHECK (kind IN ('correction', 'cancel', 'bar')),
    at_ns       INTEGER NOT NULL, -- of the trade, or the bar's opening
    trade_id    INTEGER NOT NULL, -- -1: a bar
    old         TEXT NOT NULL,    -- JSON: price, qty, or open, high, low, close, volume; units
    new         TEXT NOT NULL,    -- likewise; '' of what never was
    code        TEXT NOT NULL,    -- the venue's word; '' for none
    applied     INTEGER NOT NULL CHECK (applied IN (0, 1)), -- 0: the bar that it belongs to is not kept
    input_seq   INTEGER NOT NULL
) STRICT;
CREATE INDEX revisions_symbol ON revisions (symbol, at_ns);

-- Splits and dividends that took effect, once each.
CREATE TABLE corporate_actions (
    symbol    INTEGER NOT NULL REFERENCES symbols (id),
    action    TEXT NOT NULL, -- the venue's id
    kind      TEXT NOT NULL CHECK (kind IN ('split', 'dividend')),
    ex_ns     INTEGER NOT NULL,
    shares    INTEGER NOT NULL, -- new ones for `per` old ones; 0: a dividend
    per       INTEGER NOT NULL,
    cash      INTEGER NOT NULL, -- of one share, 10^-9 of the quote; 0: a split
    ts_ns     INTEGER NOT NULL, -- when it took effect here
    input_seq INTEGER NOT NULL,
    PRIMARY KEY (symbol, action)
) STRICT, WITHOUT ROWID;

-- How each calendar's market stands, and when that changes.
CREATE TABLE market_sessions (
    calendar TEXT PRIMARY KEY,
    phase    TEXT NOT NULL CHECK (phase IN ('unknown', 'closed', 'early', 'open', 'late')),
    since_ns INTEGER NOT NULL,
    next_ns  INTEGER NOT NULL -- 0: not known
) STRICT, WITHOUT ROWID;

-- What the order book was in each bar: open, high, low, close of three measures, at their changes: plain numbers,
-- spread and microprice in the quote, imbalance from -1 to 1.
CREATE TABLE book_bars (
    symbol      INTEGER NOT NULL REFERENCES symbols (id),
    interval_ns INTEGER NOT NULL CHECK (interval_ns > 0),
    open_ns     INTEGER NOT NULL,
    measure     TEXT NOT NULL CHECK (measure IN ('spread', 'imbalance', 'microprice')),
    open        REAL NOT NULL,
    high        REAL NOT NULL,
    low         REAL NOT NULL,
    close       REAL NOT NULL,
    PRIMARY KEY (symbol, interval_ns, open_ns, measure)
) STRICT, WITHOUT ROWID;

-- Each venue as a whole; feed_status has its streams.
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

-- The book's measures are plain numbers (docs/venues.md); the ledger learns two kinds.
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
