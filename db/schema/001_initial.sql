-- papertape.db, version 1.
--
-- Times are nanoseconds UTC. Money is integer units: prices at the symbol's price_scale, quantities at its
-- qty_scale, notionals, costs and fees at its quote_scale, cash at the account's currency_scale. Sums that may
-- pass 64 bits are integer units as text. Enumerations are stored by their names.

CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- The id is the account's number in the engine, and so part of what the ledger hashes: it never changes.
CREATE TABLE accounts (
    id             INTEGER PRIMARY KEY CHECK (id >= 0),
    name           TEXT NOT NULL UNIQUE,
    currency       TEXT NOT NULL,
    currency_scale INTEGER NOT NULL CHECK (currency_scale BETWEEN 0 AND 18),
    created_ns     INTEGER NOT NULL,
    equity_peak    INTEGER NOT NULL DEFAULT 0,
    day            INTEGER NOT NULL DEFAULT 0, -- UTC day number
    day_equity     INTEGER NOT NULL DEFAULT 0  -- what it began with
) STRICT;

CREATE TABLE symbols (
    id          INTEGER PRIMARY KEY,
    venue       TEXT NOT NULL,
    name        TEXT NOT NULL,
    base        TEXT NOT NULL,
    quote       TEXT NOT NULL,
    price_scale INTEGER NOT NULL CHECK (price_scale BETWEEN 0 AND 18),
    qty_scale   INTEGER NOT NULL CHECK (qty_scale BETWEEN 0 AND 18),
    quote_scale INTEGER NOT NULL CHECK (quote_scale BETWEEN 0 AND 18),
    trading     INTEGER NOT NULL CHECK (trading IN (0, 1)),
    -- filters, as in struct symbol_filters; 0 disables one
    price_min INTEGER NOT NULL, price_max INTEGER NOT NULL, tick INTEGER NOT NULL,
    qty_min INTEGER NOT NULL, qty_max INTEGER NOT NULL, step INTEGER NOT NULL,
    market_qty_min INTEGER NOT NULL, market_qty_max INTEGER NOT NULL, market_step INTEGER NOT NULL,
    notional_min INTEGER NOT NULL, notional_max INTEGER NOT NULL,
    notional_min_market INTEGER NOT NULL, notional_max_market INTEGER NOT NULL,
    bid_up_e4 INTEGER NOT NULL, bid_down_e4 INTEGER NOT NULL,
    ask_up_e4 INTEGER NOT NULL, ask_down_e4 INTEGER NOT NULL,
    orders_max INTEGER NOT NULL,
    seen_ns    INTEGER NOT NULL,
    UNIQUE (venue, name)
) STRICT;

CREATE TABLE bars (
    symbol         INTEGER NOT NULL REFERENCES symbols (id),
    interval_ns    INTEGER NOT NULL CHECK (interval_ns > 0),
    source         TEXT NOT NULL CHECK (source IN ('venue', 'trades')),
    open_ns        INTEGER NOT NULL,
    open           INTEGER NOT NULL,
    high           INTEGER NOT NULL,
    low            INTEGER NOT NULL,
    close          INTEGER NOT NULL,
    volume         TEXT NOT NULL CHECK (volume <> '' AND volume NOT GLOB '*[^0-9]*'),             -- qty_scale
    quote_volume   TEXT NOT NULL CHECK (quote_volume <> '' AND quote_volume NOT GLOB '*[^0-9]*'), -- price_scale + qty_scale
    trades         INTEGER NOT NULL,
    first_trade_id INTEGER NOT NULL, -- -1: none, or not known
    last_trade_id  INTEGER NOT NULL,
    PRIMARY KEY (symbol, interval_ns, source, open_ns),
    CHECK (low <= open AND low <= close AND high >= open AND high >= close)
) STRICT, WITHOUT ROWID;

-- Bars that are known to be missing, both ends included: fetched later (filled_ns), never invented.
CREATE TABLE gaps (
    symbol       INTEGER NOT NULL REFERENCES symbols (id),
    interval_ns  INTEGER NOT NULL CHECK (interval_ns > 0),
    from_open_ns INTEGER NOT NULL,
    to_open_ns   INTEGER NOT NULL CHECK (to_open_ns >= from_open_ns),
    found_ns     INTEGER NOT NULL,
    filled_ns    INTEGER,
    PRIMARY KEY (symbol, interval_ns, from_open_ns)
) STRICT, WITHOUT ROWID;

-- The newest prices of a symbol, written about once a second.
CREATE TABLE prices (
    symbol       INTEGER PRIMARY KEY REFERENCES symbols (id),
    last         INTEGER,
    bid          INTEGER,
    ask          INTEGER,
    mark         INTEGER,
    ts_ns        INTEGER NOT NULL, -- of the engine's clock
    recv_wall_ns INTEGER NOT NULL  -- of the wall clock: the age of what is shown
) STRICT;

CREATE TABLE orders (
    id           INTEGER PRIMARY KEY CHECK (id > 0),
    account      INTEGER REFERENCES accounts (id) DEFERRABLE INITIALLY DEFERRED, -- null: refused, unknown
    symbol       INTEGER REFERENCES symbols (id) DEFERRABLE INITIALLY DEFERRED,  -- null: refused, unknown
    side         TEXT NOT NULL CHECK (side IN ('BUY', 'SELL')),
    type         TEXT NOT NULL CHECK (type IN ('MARKET', 'LIMIT', 'STOP')),
    state        TEXT NOT NULL CHECK (state IN ('PENDING', 'OPEN', 'PARTIAL', 'FILLED', 'CANCELED', 'REJECTED')),
    reason       TEXT NOT NULL,
    qty          INTEGER NOT NULL,
    filled       INTEGER NOT NULL CHECK (filled >= 0),
    price        INTEGER NOT NULL,
    stop_price   INTEGER NOT NULL,
    cost         INTEGER NOT NULL CHECK (cost >= 0),
    created_ns   INTEGER NOT NULL,
    effective_ns INTEGER NOT NULL,
    updated_ns   INTEGER NOT NULL,
    input_seq    INTEGER NOT NULL,
    by_hand      INTEGER NOT NULL CHECK (by_hand IN (0, 1)),
    tag          TEXT NOT NULL,
    hash         BLOB NOT NULL CHECK (length(hash) = 32), -- SHA-256 of the row: db/row_hash.h
    CHECK (filled <= qty OR state = 'REJECTED'),
    CHECK ((account IS NOT NULL AND symbol IS NOT NULL) OR state = 'REJECTED')
) STRICT;
CREATE INDEX orders_live ON orders (id) WHERE state IN ('PENDING', 'OPEN', 'PARTIAL');

CREATE TABLE fills (
    id        INTEGER PRIMARY KEY CHECK (id > 0),
    order_id  INTEGER NOT NULL REFERENCES orders (id) DEFERRABLE INITIALLY DEFERRED,
    account   INTEGER NOT NULL REFERENCES accounts (id) DEFERRABLE INITIALLY DEFERRED,
    symbol    INTEGER NOT NULL REFERENCES symbols (id) DEFERRABLE INITIALLY DEFERRED,
    side      TEXT NOT NULL CHECK (side IN ('BUY', 'SELL')),
    ts_ns     INTEGER NOT NULL,
    price     INTEGER NOT NULL CHECK (price > 0),
    qty       INTEGER NOT NULL CHECK (qty > 0),
    notional  INTEGER NOT NULL CHECK (notional >= 0),
    fee       INTEGER NOT NULL CHECK (fee >= 0),
    maker     INTEGER NOT NULL CHECK (maker IN (0, 1)),
    input_seq INTEGER NOT NULL,
    hash      BLOB NOT NULL CHECK (length(hash) = 32)
) STRICT;
CREATE INDEX fills_order ON fills (order_id);

-- Double entry: each row moves an amount into the account (out of it, when negative), against what its kind names:
-- deposit against equity, trade against the market, fee against fees. Rows are chained: engine/ledger.h.
CREATE TABLE ledger (
    id       INTEGER PRIMARY KEY CHECK (id > 0),
    ts_ns    INTEGER NOT NULL,
    account  INTEGER NOT NULL REFERENCES accounts (id) DEFERRABLE INITIALLY DEFERRED,
    asset    TEXT NOT NULL CHECK (asset <> ''),
    scale    INTEGER NOT NULL CHECK (scale BETWEEN 0 AND 18),
    kind     TEXT NOT NULL CHECK (kind IN ('deposit', 'trade', 'fee')),
    amount   INTEGER NOT NULL,
    balance  INTEGER NOT NULL CHECK (balance >= 0),
    order_id INTEGER REFERENCES orders (id) DEFERRABLE INITIALLY DEFERRED,
    fill_id  INTEGER REFERENCES fills (id) DEFERRABLE INITIALLY DEFERRED,
    hash     BLOB NOT NULL CHECK (length(hash) = 32),
    CHECK ((kind = 'deposit') = (fill_id IS NULL)),
    CHECK ((fill_id IS NULL) = (order_id IS NULL))
) STRICT;
CREATE INDEX ledger_account ON ledger (account, asset, id);
CREATE INDEX ledger_fill ON ledger (fill_id) WHERE fill_id IS NOT NULL;

CREATE TABLE positions (
    account    INTEGER NOT NULL REFERENCES accounts (id) DEFERRABLE INITIALLY DEFERRED,
    symbol     INTEGER NOT NULL REFERENCES symbols (id) DEFERRABLE INITIALLY DEFERRED,
    qty        INTEGER NOT NULL CHECK (qty >= 0),
    cost       INTEGER NOT NULL CHECK (cost >= 0),
    realized   INTEGER NOT NULL,
    fees       INTEGER NOT NULL,
    opened_ns  INTEGER NOT NULL,
    updated_ns INTEGER NOT NULL,
    PRIMARY KEY (account, symbol)
) STRICT, WITHOUT ROWID;

-- Thinned: of what is more than 8 days older than the account's newest point, the last of each hour is kept.
CREATE TABLE equity (
    account INTEGER NOT NULL REFERENCES accounts (id),
    ts_ns   INTEGER NOT NULL,
    equity  INTEGER NOT NULL,
    cash    INTEGER NOT NULL,
    PRIMARY KEY (account, ts_ns)
) STRICT, WITHOUT ROWID;

CREATE TABLE commands (
    id       INTEGER PRIMARY KEY CHECK (id > 0),
    ts_ns    INTEGER NOT NULL,
    peer_uid INTEGER NOT NULL,
    peer_pid INTEGER NOT NULL,
    cmd      TEXT NOT NULL,
    args     TEXT NOT NULL, -- JSON
    state    TEXT NOT NULL CHECK (state IN ('pending', 'done', 'refused')),
    result   TEXT NOT NULL DEFAULT ''
) STRICT;

CREATE TABLE alerts (
    id       INTEGER PRIMARY KEY CHECK (id > 0),
    ts_ns    INTEGER NOT NULL, -- first seen
    last_ns  INTEGER NOT NULL, -- last seen
    count    INTEGER NOT NULL CHECK (count > 0),
    code     TEXT NOT NULL,
    severity TEXT NOT NULL CHECK (severity IN ('info', 'warning', 'error')),
    text     TEXT NOT NULL,
    acked_ns INTEGER
) STRICT;
CREATE INDEX alerts_open ON alerts (id) WHERE acked_ns IS NULL;

-- Kept for 8 days before the newest value.
CREATE TABLE telemetry (
    name  TEXT NOT NULL,
    ts_ns INTEGER NOT NULL,
    value REAL NOT NULL,
    PRIMARY KEY (name, ts_ns)
) STRICT, WITHOUT ROWID;
CREATE INDEX telemetry_time ON telemetry (ts_ns);

-- What each stream does; the connection itself has no symbol.
CREATE TABLE feed_status (
    stream       TEXT NOT NULL,
    symbol       INTEGER REFERENCES symbols (id),
    state        TEXT NOT NULL CHECK (state IN ('ok', 'connecting', 'retry', 'stale', 'failed')),
    detail       TEXT NOT NULL,
    last_recv_ns INTEGER NOT NULL, -- wall clock; 0: nothing yet
    limit_ns     INTEGER NOT NULL, -- older than this is stale; 0: never
    frames       INTEGER NOT NULL,
    bytes        INTEGER NOT NULL,
    bad_frames   INTEGER NOT NULL,
    connects     INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX feed_status_key ON feed_status (stream, ifnull(symbol, 0));
