-- papertape.db, version 2: every order type, shorts, accounts made at run time; what an auditor asks for sealed.
-- after: db_migrate_positions
--
-- hash is seal(rule, columns): db/row_hash.h. Rows of version 1 keep the hash that they have, of rule 1; those that
-- had none are sealed as they are.

CREATE TABLE new_orders (
    id           INTEGER PRIMARY KEY CHECK (id > 0),
    account      INTEGER REFERENCES accounts (id) DEFERRABLE INITIALLY DEFERRED, -- null: refused, unknown
    symbol       INTEGER REFERENCES symbols (id) DEFERRABLE INITIALLY DEFERRED,  -- null: refused, unknown
    side         TEXT NOT NULL CHECK (side IN ('BUY', 'SELL')),
    type         TEXT NOT NULL CHECK (type IN ('MARKET', 'LIMIT', 'STOP', 'STOP_LIMIT', 'TAKE_PROFIT',
                                               'TAKE_PROFIT_LIMIT', 'TRAILING_STOP')),
    tif          TEXT NOT NULL CHECK (tif IN ('GTC', 'IOC', 'FOK', 'DAY', 'GTD')),
    state        TEXT NOT NULL CHECK (state IN ('PENDING', 'HELD', 'OPEN', 'PARTIAL', 'FILLED', 'CANCELED', 'EXPIRED',
                                                'REJECTED')),
    reason       TEXT NOT NULL,
    qty          INTEGER NOT NULL,
    filled       INTEGER NOT NULL CHECK (filled >= 0),
    price        INTEGER NOT NULL,
    stop_price   INTEGER NOT NULL,
    trail        INTEGER NOT NULL CHECK (trail >= 0 OR state = 'REJECTED'),
    trail_e6     INTEGER NOT NULL CHECK (trail_e6 >= 0 OR state = 'REJECTED'),
    peak         INTEGER NOT NULL, -- TRAILING_STOP: the best price since it rests
    triggered    INTEGER NOT NULL CHECK (triggered IN (0, 1)),
    post_only    INTEGER NOT NULL CHECK (post_only IN (0, 1)),
    reduce_only  INTEGER NOT NULL CHECK (reduce_only IN (0, 1)),
    group_id     INTEGER NOT NULL CHECK (group_id >= 0), -- of an OCO or a bracket: its first order; 0: alone
    parent       INTEGER NOT NULL CHECK (parent >= 0),   -- of a bracket's exit: its entry; 0: none
    cost         INTEGER NOT NULL CHECK (cost >= 0),
    created_ns   INTEGER NOT NULL,
    effective_ns INTEGER NOT NULL,
    updated_ns   INTEGER NOT NULL,
    expires_ns   INTEGER NOT NULL, -- 0: never
    input_seq    INTEGER NOT NULL,
    amends       INTEGER NOT NULL CHECK (amends >= 0),
    by_hand      INTEGER NOT NULL CHECK (by_hand IN (0, 1)),
    client_id    TEXT NOT NULL, -- '' for none
    tag          TEXT NOT NULL,
    rule         INTEGER NOT NULL CHECK (rule IN (1, 2)),
    hash         BLOB NOT NULL CHECK (length(hash) = 32),
    CHECK (filled <= qty OR state = 'REJECTED'),
    CHECK ((account IS NOT NULL AND symbol IS NOT NULL) OR state = 'REJECTED')
) STRICT;
INSERT INTO new_orders
    SELECT id, account, symbol, side, type, 'GTC', state, reason, qty, filled, price, stop_price, 0, 0, 0, 0, 0, 0, 0, 0,
           cost, created_ns, effective_ns, updated_ns, 0, input_seq, 0, by_hand, '', tag, 1, hash
    FROM orders ORDER BY id;
DROP TABLE orders;
ALTER TABLE new_orders RENAME TO orders;
CREATE INDEX orders_live ON orders (id) WHERE state IN ('PENDING', 'HELD', 'OPEN', 'PARTIAL');
-- Who gives a name twice is answered by the daemon; the record keeps what was done, and never refuses it.
CREATE INDEX orders_client ON orders (account, client_id, id) WHERE client_id <> '';

CREATE TABLE new_fills (
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
    fee_e6    INTEGER NOT NULL CHECK (fee_e6 >= 0), -- the fee's rate; not known (0) of rows of rule 1
    maker     INTEGER NOT NULL CHECK (maker IN (0, 1)),
    input_seq INTEGER NOT NULL,
    rule      INTEGER NOT NULL CHECK (rule IN (1, 2)),
    hash      BLOB NOT NULL CHECK (length(hash) = 32)
) STRICT;
INSERT INTO new_fills
    SELECT id, order_id, account, symbol, side, ts_ns, price, qty, notional, fee, 0, maker, input_seq, 1, hash
    FROM fills ORDER BY id;
DROP TABLE fills;
ALTER TABLE new_fills RENAME TO fills;
CREATE INDEX fills_order ON fills (order_id);

-- Double entry: each row moves an amount into the account (out of it, when negative), against what its kind names:
-- engine/ledger.h, which also has the chain.
CREATE TABLE new_ledger (
    id       INTEGER PRIMARY KEY CHECK (id > 0),
    ts_ns    INTEGER NOT NULL,
    account  INTEGER NOT NULL REFERENCES accounts (id) DEFERRABLE INITIALLY DEFERRED,
    asset    TEXT NOT NULL CHECK (asset <> ''),
    scale    INTEGER NOT NULL CHECK (scale BETWEEN 0 AND 18),
    kind     TEXT NOT NULL CHECK (kind IN ('deposit', 'trade', 'fee', 'transfer', 'borrow', 'interest', 'reset')),
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

CREATE TABLE new_positions (
    account       INTEGER NOT NULL REFERENCES accounts (id) DEFERRABLE INITIALLY DEFERRED,
    symbol        INTEGER NOT NULL REFERENCES symbols (id) DEFERRABLE INITIALLY DEFERRED,
    qty           INTEGER NOT NULL, -- negative: short
    cost          INTEGER NOT NULL CHECK (cost >= 0),
    realized      INTEGER NOT NULL,
    fifo_cost     INTEGER NOT NULL CHECK (fifo_cost >= 0),
    fifo_realized INTEGER NOT NULL,
    fees          INTEGER NOT NULL,
    opened_ns     INTEGER NOT NULL,
    updated_ns    INTEGER NOT NULL,
    hash          BLOB NOT NULL,
    PRIMARY KEY (account, symbol)
) STRICT, WITHOUT ROWID;
INSERT INTO new_positions
    SELECT account, symbol, qty, cost, realized, 0, 0, fees, opened_ns, updated_ns, x'' FROM positions;
DROP TABLE positions;
ALTER TABLE new_positions RENAME TO positions;

CREATE TABLE new_accounts (
    id                INTEGER PRIMARY KEY CHECK (id >= 0),
    name              TEXT NOT NULL UNIQUE,
    currency          TEXT NOT NULL,
    currency_scale    INTEGER NOT NULL CHECK (currency_scale BETWEEN 0 AND 18),
    created_ns        INTEGER NOT NULL,
    cash              INTEGER NOT NULL, -- that it was opened with, or begun anew
    strategy          TEXT NOT NULL,    -- '' for orders by hand only
    params            TEXT NOT NULL,    -- JSON: the strategy's parameters by name
    maker_e6          INTEGER NOT NULL,
    taker_e6          INTEGER NOT NULL,
    exposure_symbol   REAL NOT NULL,
    exposure_account  REAL NOT NULL,
    daily_loss        REAL NOT NULL,
    orders_per_second INTEGER NOT NULL,
    shorts            INTEGER NOT NULL CHECK (shorts IN (0, 1)),
    collateral_e4     INTEGER NOT NULL,
    maintenance_e4    INTEGER NOT NULL,
    borrow_rate_e6    INTEGER NOT NULL,
    equity_peak       INTEGER NOT NULL DEFAULT 0,
    day               INTEGER NOT NULL DEFAULT 0,
    day_equity        INTEGER NOT NULL DEFAULT 0,
    hash              BLOB NOT NULL
) STRICT;
INSERT INTO new_accounts
    SELECT id, name, currency, currency_scale, created_ns, 0, '', '{}', 0, 0, 0.0, 0.0, 0.0, 0, 0, 0, 0, 0,
           equity_peak, day, day_equity,
           seal(2, id, name, currency, currency_scale, created_ns, 0, '', '{}', 0, 0, 0.0, 0.0, 0.0, 0, 0, 0, 0, 0,
                equity_peak, day, day_equity)
    FROM accounts ORDER BY id;
DROP TABLE accounts;
ALTER TABLE new_accounts RENAME TO accounts;

-- Thinned: of what is more than 8 days older than the account's newest point, the last of each hour is kept.
CREATE TABLE new_equity (
    account    INTEGER NOT NULL REFERENCES accounts (id),
    ts_ns      INTEGER NOT NULL,
    equity     INTEGER NOT NULL,
    cash       INTEGER NOT NULL,
    peak       INTEGER NOT NULL, -- the highest so far, of which equity falls short by the drawdown
    day_equity INTEGER NOT NULL, -- what the UTC day began with; not known (0) of rows of version 1
    hash       BLOB NOT NULL,
    PRIMARY KEY (account, ts_ns)
) STRICT, WITHOUT ROWID;
-- Deposits came only before the first point then, so the peak is the highest equity up to it; the account tells of its
-- newest point.
INSERT INTO new_equity
    SELECT account, ts_ns, equity, cash, peak, day_equity, seal(2, account, ts_ns, equity, cash, peak, day_equity)
    FROM (SELECT e.account, e.ts_ns, e.equity, e.cash, iif(newest, a.equity_peak, e.peak) AS peak,
                 iif(newest, a.day_equity, 0) AS day_equity
          FROM (SELECT *, max(equity) OVER (PARTITION BY account ORDER BY ts_ns) AS peak,
                       ts_ns = max(ts_ns) OVER (PARTITION BY account) AS newest FROM equity) AS e
          JOIN accounts AS a ON a.id = e.account);
DROP TABLE equity;
ALTER TABLE new_equity RENAME TO equity;

-- A command's key is the giver's: given again with it, it is answered, not done again.
ALTER TABLE commands ADD COLUMN key TEXT NOT NULL DEFAULT '';
ALTER TABLE commands ADD COLUMN order_id INTEGER NOT NULL DEFAULT 0; -- the first that it made, amended or cancelled
ALTER TABLE commands ADD COLUMN hash BLOB NOT NULL DEFAULT x'';
UPDATE commands SET hash = seal(2, id, ts_ns, peer_uid, peer_pid, cmd, args, state, result, key, order_id);
CREATE INDEX commands_key ON commands (key, id) WHERE key <> '';

ALTER TABLE alerts ADD COLUMN hash BLOB NOT NULL DEFAULT x'';
UPDATE alerts SET hash = seal(2, id, ts_ns, last_ns, count, code, severity, text, acked_ns);

ALTER TABLE symbols ADD COLUMN hash BLOB NOT NULL DEFAULT x'';
UPDATE symbols SET hash = seal(2, id, venue, name, base, quote, price_scale, qty_scale, quote_scale, trading, price_min,
    price_max, tick, qty_min, qty_max, step, market_qty_min, market_qty_max, market_step, notional_min, notional_max,
    notional_min_market, notional_max_market, bid_up_e4, bid_down_e4, ask_up_e4, ask_down_e4, orders_max, seen_ns);

-- paused: trading is off (1) or on (0); event_seq: the newest event whose rows are here; parity_*: the last comparison
-- of this record with a replay of the event log.
ALTER TABLE meta ADD COLUMN hash BLOB NOT NULL DEFAULT x'';
UPDATE meta SET hash = seal(2, key, value);
