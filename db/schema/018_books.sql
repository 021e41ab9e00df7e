-- papertape.db, version 18: what each row of the ledger is of, and the terms of each account as they changed.

-- 0: open. A closed account keeps its rows, and takes no command.
ALTER TABLE accounts ADD COLUMN closed_ns INTEGER NOT NULL DEFAULT 0;

-- A reset begins an epoch: of a ledger row it is 1 + the number of these with a lower id.
CREATE INDEX ledger_resets ON ledger (account, asset, id) WHERE kind = 'reset';

-- One row for each of the ledger, by its id. A fill's order and fill are in the ledger's own row.
CREATE TABLE ledger_causes (
    id           INTEGER PRIMARY KEY REFERENCES ledger (id) DEFERRABLE INITIALLY DEFERRED,
    -- opening: an account's first deposit, and that after a reset; fee: a deposit that a venue's fee in an asset needs;
    -- venue: what an account at its venue has there; interest: of hours of a short, or of borrowed currency;
    -- arrears: interest and dividends that the currency did not suffice for before
    cause        TEXT NOT NULL CHECK (cause IN ('opening', 'deposit', 'withdrawal', 'transfer', 'reset', 'fill', 'fee',
                                                'venue', 'interest', 'arrears', 'dividend', 'split')),
    derived      INTEGER NOT NULL CHECK (derived IN (0, 1)), -- 1: by this migration, and only what it could know
    event        INTEGER CHECK (event > 0), -- the event log's; null: not known
    symbol       INTEGER REFERENCES symbols (id) DEFERRABLE INITIALLY DEFERRED, -- null: of currency, or of no symbol
    action       TEXT,    -- dividend, split: corporate_actions.action of the symbol
    qty          INTEGER, -- units of the symbol, below 0 of a short: interest: borrowed; dividend, split: held before it
    price        INTEGER, -- interest of a short: what it was valued at; null: none was known, `base` is what it was sold for
    base         INTEGER, -- interest: what the rate is of, in the row's scale
    rate_e6      INTEGER, -- interest: a year's
    hours        INTEGER, -- interest
    due          INTEGER, -- interest, arrears, dividend: what should be booked, the row's scale; the row may have less
    counterparty INTEGER REFERENCES accounts (id) DEFERRABLE INITIALLY DEFERRED, -- transfer: the other account
    command      INTEGER, -- commands.id; null: of no command
    command_key  TEXT,    -- that the client gave with it; null: none
    uid          INTEGER, -- who gave it
    hash         BLOB NOT NULL CHECK (length(hash) = 32)
) STRICT;

-- What rows from before say by themselves; the others (interest) have none.
INSERT INTO ledger_causes (id, cause, derived, event, symbol, hash)
    SELECT l.id, 'fill', 1, f.input_seq, f.symbol, x'0000000000000000000000000000000000000000000000000000000000000000'
    FROM ledger AS l JOIN fills AS f ON f.id = l.fill_id ORDER BY l.id;
INSERT INTO ledger_causes (id, cause, derived, hash)
    SELECT id, CASE WHEN kind <> 'deposit' THEN kind WHEN amount < 0 THEN 'withdrawal'
                    WHEN before IS NULL OR EXISTS (SELECT 1 FROM ledger AS r WHERE r.account = l.account
                                                   AND r.kind = 'reset' AND r.ts_ns = l.ts_ns) THEN 'opening'
                    ELSE 'deposit' END, 1, x'0000000000000000000000000000000000000000000000000000000000000000'
    FROM (SELECT id, account, ts_ns, kind, amount, fill_id, lag(kind) OVER (PARTITION BY account ORDER BY id) AS before
          FROM ledger) AS l
    WHERE fill_id IS NULL AND kind IN ('deposit', 'transfer', 'reset') ORDER BY id;
-- Where one action alone has the row's time and asset.
INSERT INTO ledger_causes (id, cause, derived, event, symbol, action, hash)
    SELECT l.id, l.kind, 1, max(a.input_seq), max(a.symbol), max(a.action),
           x'0000000000000000000000000000000000000000000000000000000000000000'
    FROM ledger AS l JOIN corporate_actions AS a ON a.ts_ns = l.ts_ns AND a.kind = l.kind
    JOIN symbols AS s ON s.id = a.symbol AND l.asset = iif(a.kind = 'split', s.base, s.quote)
    WHERE l.kind IN ('dividend', 'split') GROUP BY l.id HAVING count(*) = 1 ORDER BY l.id;
UPDATE ledger_causes SET hash = seal(2, id, cause, derived, event, symbol, action, qty, price, base, rate_e6, hours, due,
                                     counterparty, command, command_key, uid);

-- What was due and has no row of the ledger, since the currency sufficed for nothing of it: as its cause would be.
CREATE TABLE ledger_accruals (
    id        INTEGER PRIMARY KEY CHECK (id > 0),
    account   INTEGER NOT NULL REFERENCES accounts (id) DEFERRABLE INITIALLY DEFERRED,
    ts_ns     INTEGER NOT NULL,
    input_seq INTEGER NOT NULL, -- the event log's
    cause     TEXT NOT NULL CHECK (cause IN ('interest', 'dividend')),
    symbol    INTEGER REFERENCES symbols (id) DEFERRABLE INITIALLY DEFERRED,
    action    TEXT,
    qty       INTEGER,
    price     INTEGER,
    base      INTEGER,
    rate_e6   INTEGER,
    hours     INTEGER,
    due       INTEGER NOT NULL,
    hash      BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX ledger_accruals_once ON ledger_accruals (account, input_seq, cause, ifnull(symbol, 0));

ALTER TABLE commands ADD COLUMN event INTEGER CHECK (event > 0); -- its first in the event log; null: none, or not known

-- The terms of an account from a time on: a row for each change, never altered.
CREATE TABLE account_terms (
    id             INTEGER PRIMARY KEY CHECK (id > 0),
    account        INTEGER NOT NULL REFERENCES accounts (id) DEFERRABLE INITIALLY DEFERRED,
    epoch          INTEGER NOT NULL CHECK (epoch > 0), -- 1, and one more after each reset
    since_ns       INTEGER NOT NULL,
    event          INTEGER NOT NULL CHECK (event >= 0), -- the event that made them; of a start the last one before it
    -- known: of a state from before these rows, whose terms until then are not known; configured: by papertaped.ini at
    -- a start; volume: another tier of fees
    why            TEXT NOT NULL CHECK (why IN ('known', 'opened', 'configured', 'command', 'policy', 'volume', 'reset',
                                                'venue', 'closed')),
    command        INTEGER, -- commands.id; null: of no command
    command_key    TEXT,
    uid            INTEGER,
    -- as in `accounts`
    currency       TEXT NOT NULL,
    currency_scale INTEGER NOT NULL,
    cash           INTEGER NOT NULL,
    strategy       TEXT NOT NULL,
    params         TEXT NOT NULL,
    maker_e6       INTEGER NOT NULL,
    taker_e6       INTEGER NOT NULL,
    exposure_symbol REAL NOT NULL,
    exposure_account REAL NOT NULL,
    daily_loss     REAL NOT NULL,
    orders_per_second INTEGER NOT NULL,
    drawdown       REAL NOT NULL,
    price_band     REAL NOT NULL,
    cooldown_ns    INTEGER NOT NULL,
    positions      INTEGER NOT NULL,
    shorts         INTEGER NOT NULL,
    collateral_e4  INTEGER NOT NULL,
    maintenance_e4 INTEGER NOT NULL,
    borrow_rate_e6 INTEGER NOT NULL,
    session        TEXT,
    margin         TEXT,
    day_trader     TEXT,
    settlement     TEXT,
    class_fees     INTEGER NOT NULL,
    crypto_maker_e6 INTEGER NOT NULL,
    crypto_taker_e6 INTEGER NOT NULL,
    us_equity_maker_e6 INTEGER NOT NULL,
    us_equity_taker_e6 INTEGER NOT NULL,
    fee_tiers      TEXT NOT NULL,
    regulatory_fees INTEGER NOT NULL,
    withholding_e6 INTEGER NOT NULL,
    closed_ns      INTEGER NOT NULL, -- 0: open
    hash           BLOB NOT NULL CHECK (length(hash) = 32)
) STRICT;
CREATE INDEX account_terms_account ON account_terms (account, id);

UPDATE meta SET value = value || ', receivables 0, fee_rates 0, ledger_causes ' || (SELECT count(*) FROM ledger_causes) || ', account_terms 0, ledger_accruals 0',
    hash = iif(hash = seal(2, key, value),
               seal(2, key, value || ', receivables 0, fee_rates 0, ledger_causes ' || (SELECT count(*) FROM ledger_causes) || ', account_terms 0, ledger_accruals 0'),
               hash)
    WHERE key = 'counts';
-- The ledger's rows up to this one may have no cause, or only a derived one.
INSERT INTO meta (key, value, hash)
    SELECT 'causes_after', max(id), seal(2, 'causes_after', CAST(max(id) AS TEXT)) FROM ledger HAVING count(*) > 0;
