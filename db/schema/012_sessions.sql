-- Sessions: which part of its market's day a bar is in, and what a stocks account has.

-- Orders for auctions, in extended hours and by amount. The table is made again since its times in force are checked.
CREATE TABLE new_orders (
    id           INTEGER PRIMARY KEY CHECK (id > 0),
    account      INTEGER REFERENCES accounts (id) DEFERRABLE INITIALLY DEFERRED, -- null: refused, unknown
    symbol       INTEGER REFERENCES symbols (id) DEFERRABLE INITIALLY DEFERRED,  -- null: refused, unknown
    side         TEXT NOT NULL CHECK (side IN ('BUY', 'SELL')),
    type         TEXT NOT NULL CHECK (type IN ('MARKET', 'LIMIT', 'STOP', 'STOP_LIMIT', 'TAKE_PROFIT',
                                               'TAKE_PROFIT_LIMIT', 'TRAILING_STOP')),
    tif          TEXT NOT NULL CHECK (tif IN ('GTC', 'IOC', 'FOK', 'DAY', 'GTD', 'OPG', 'CLS')),
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
    extended_hours INTEGER NOT NULL DEFAULT 0 CHECK (extended_hours IN (0, 1)),
    emulated     INTEGER NOT NULL DEFAULT 0 CHECK (emulated IN (0, 1)), -- held here, as its venue takes none such
    notional     INTEGER NOT NULL DEFAULT 0, -- the amount that qty was computed of; 0: none
    CHECK (filled <= qty OR state = 'REJECTED'),
    CHECK ((account IS NOT NULL AND symbol IS NOT NULL) OR state = 'REJECTED')
) STRICT;
INSERT INTO new_orders
    SELECT id, account, symbol, side, type, tif, state, reason, qty, filled, price, stop_price, trail, trail_e6, peak,
           triggered, post_only, reduce_only, group_id, parent, cost, created_ns, effective_ns, updated_ns, expires_ns,
           input_seq, amends, by_hand, client_id, tag, rule, hash, 0, 0, 0
    FROM orders ORDER BY id;
DROP TABLE orders;
ALTER TABLE new_orders RENAME TO orders;
CREATE INDEX orders_live ON orders (id) WHERE state IN ('PENDING', 'HELD', 'OPEN', 'PARTIAL');
CREATE INDEX orders_client ON orders (account, client_id, id) WHERE client_id <> '';

-- What the venue says that a symbol is ('': nothing), whether it lends it, and fees by that class.
ALTER TABLE symbols ADD COLUMN asset TEXT NOT NULL DEFAULT '' CHECK (asset IN ('', 'crypto', 'us_equity'));
ALTER TABLE symbols ADD COLUMN shortable TEXT NOT NULL DEFAULT '' CHECK (shortable IN ('', 'no', 'yes'));
ALTER TABLE symbols ADD COLUMN easy_to_borrow TEXT NOT NULL DEFAULT '' CHECK (easy_to_borrow IN ('', 'no', 'yes'));
ALTER TABLE accounts ADD COLUMN class_fees INTEGER NOT NULL DEFAULT 0 CHECK (class_fees IN (0, 1));
ALTER TABLE accounts ADD COLUMN crypto_maker_e6 INTEGER NOT NULL DEFAULT 0;
ALTER TABLE accounts ADD COLUMN crypto_taker_e6 INTEGER NOT NULL DEFAULT 0;
ALTER TABLE accounts ADD COLUMN us_equity_maker_e6 INTEGER NOT NULL DEFAULT 0;
ALTER TABLE accounts ADD COLUMN us_equity_taker_e6 INTEGER NOT NULL DEFAULT 0;

-- Of bar_session_names; NULL: not known, as of bars stored before.
ALTER TABLE bars ADD COLUMN session TEXT CHECK (session IN ('none', 'pre', 'regular', 'post', 'closed', 'mixed'));

-- The bars that an account's strategy or policy sees: of session_choice_names; null: all, of accounts stored before.
ALTER TABLE accounts ADD COLUMN session TEXT CHECK (session IN ('all', 'regular', 'extended'));

-- The rules for stocks of an account (exchange/margin.h; null: off, auto, off), and how it stands by them.
ALTER TABLE accounts ADD COLUMN margin TEXT CHECK (margin IN ('off', 'regt', 'intraday'));
ALTER TABLE accounts ADD COLUMN day_trader TEXT CHECK (day_trader IN ('auto', 'on', 'off'));
ALTER TABLE accounts ADD COLUMN settlement TEXT CHECK (settlement IN ('off', 'by-date', 'strict'));
CREATE TABLE account_margins (
    account            INTEGER PRIMARY KEY REFERENCES accounts (id),
    ts_ns              INTEGER NOT NULL,
    initial_margin     INTEGER NOT NULL, -- units of the account's currency, as all that follow
    maintenance_margin INTEGER NOT NULL,
    excess             INTEGER NOT NULL,
    buying_power       INTEGER NOT NULL,
    debt               INTEGER NOT NULL CHECK (debt >= 0),
    day_trades         INTEGER NOT NULL, -- in five business days
    day_trader         INTEGER NOT NULL CHECK (day_trader IN (0, 1)),
    settled            INTEGER NOT NULL,
    unsettled          INTEGER NOT NULL,
    settles_ns         INTEGER NOT NULL, -- 0: all is settled
    violations         INTEGER NOT NULL
) STRICT;

-- What a fill's price was taken from (exchange/fill.h); '': not said, as of fills stored before.
ALTER TABLE fills ADD COLUMN basis TEXT NOT NULL DEFAULT ''
    CHECK (basis IN ('', 'nbbo', 'iex', 'delayed', 'impact', 'opening', 'closing', 'first-trade', 'last-trade'));
