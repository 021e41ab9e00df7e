-- Orders that are filled at their venue: a state for one whose outcome there is not known, and fills as the venue said.

CREATE TABLE new_orders (
    id           INTEGER PRIMARY KEY CHECK (id > 0),
    account      INTEGER REFERENCES accounts (id) DEFERRABLE INITIALLY DEFERRED, -- null: refused, unknown
    symbol       INTEGER REFERENCES symbols (id) DEFERRABLE INITIALLY DEFERRED,  -- null: refused, unknown
    side         TEXT NOT NULL CHECK (side IN ('BUY', 'SELL')),
    type         TEXT NOT NULL CHECK (type IN ('MARKET', 'LIMIT', 'STOP', 'STOP_LIMIT', 'TAKE_PROFIT',
                                               'TAKE_PROFIT_LIMIT', 'TRAILING_STOP')),
    tif          TEXT NOT NULL CHECK (tif IN ('GTC', 'IOC', 'FOK', 'DAY', 'GTD', 'OPG', 'CLS')),
    state        TEXT NOT NULL CHECK (state IN ('PENDING', 'HELD', 'OPEN', 'PARTIAL', 'FILLED', 'CANCELED', 'EXPIRED',
                                                'REJECTED', 'UNKNOWN')),
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
    extended_hours INTEGER NOT NULL DEFAULT 0 CHECK (extended_hours IN (0, 1)),
    emulated     INTEGER NOT NULL DEFAULT 0 CHECK (emulated IN (0, 1)), -- held here, as its venue takes none such
    notional     INTEGER NOT NULL DEFAULT 0, -- the amount that qty was computed of; 0: none
    CHECK (filled <= qty OR state = 'REJECTED'),
    CHECK ((account IS NOT NULL AND symbol IS NOT NULL) OR state = 'REJECTED')
) STRICT;
INSERT INTO new_orders
    SELECT id, account, symbol, side, type, tif, state, reason, qty, filled, price, stop_price, trail, trail_e6, peak,
           triggered, post_only, reduce_only, group_id, parent, cost, created_ns, effective_ns, updated_ns, expires_ns,
           input_seq, amends, by_hand, client_id, tag, rule, hash, extended_hours, emulated, notional
    FROM orders ORDER BY id;
DROP TABLE orders;
ALTER TABLE new_orders RENAME TO orders;
CREATE INDEX orders_live ON orders (id) WHERE state IN ('PENDING', 'HELD', 'OPEN', 'PARTIAL', 'UNKNOWN');
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
    fee_e6    INTEGER NOT NULL CHECK (fee_e6 >= 0), -- the fee's rate; not known (0) of rows of rule 1, and of 'venue'
    maker     INTEGER NOT NULL CHECK (maker IN (0, 1)),
    input_seq INTEGER NOT NULL,
    rule      INTEGER NOT NULL CHECK (rule IN (1, 2)),
    hash      BLOB NOT NULL CHECK (length(hash) = 32),
    -- What its price was taken from (exchange/fill.h); '': not said, as of fills stored before.
    basis     TEXT NOT NULL DEFAULT '' CHECK (basis IN ('', 'nbbo', 'iex', 'delayed', 'impact', 'opening', 'closing',
                                                        'first-trade', 'last-trade', 'venue')),
    fee_base  INTEGER NOT NULL DEFAULT 0 CHECK (fee_base BETWEEN 0 AND qty) -- that was taken from what was bought
) STRICT;
INSERT INTO new_fills
    SELECT id, order_id, account, symbol, side, ts_ns, price, qty, notional, fee, fee_e6, maker, input_seq, rule, hash,
           basis, 0
    FROM fills ORDER BY id;
DROP TABLE fills;
ALTER TABLE new_fills RENAME TO fills;
CREATE INDEX fills_order ON fills (order_id);
