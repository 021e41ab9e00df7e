-- What fills cost and dividends bring: rates by volume, regulatory fees, receivables between ex and pay date.
ALTER TABLE fills ADD COLUMN sec_fee INTEGER NOT NULL DEFAULT 0 CHECK (sec_fee >= 0); -- of its fee
ALTER TABLE fills ADD COLUMN taf_fee INTEGER NOT NULL DEFAULT 0 CHECK (taf_fee >= 0); -- likewise
ALTER TABLE accounts ADD COLUMN fee_tiers TEXT NOT NULL DEFAULT ''; -- exchange/fee_tiers.h; '': its rates stay
ALTER TABLE accounts ADD COLUMN regulatory_fees INTEGER NOT NULL DEFAULT 0 CHECK (regulatory_fees IN (0, 1));
ALTER TABLE accounts ADD COLUMN withholding_e6 INTEGER NOT NULL DEFAULT 0 CHECK (withholding_e6 BETWEEN 0 AND 1000000);
ALTER TABLE corporate_actions ADD COLUMN record_ns INTEGER NOT NULL DEFAULT 0; -- 0: not said
ALTER TABLE corporate_actions ADD COLUMN pay_ns INTEGER NOT NULL DEFAULT 0;    -- 0: paid when it takes effect

-- What became of each account's dividends, a row each time; never changed.
CREATE TABLE receivables (
    id        INTEGER PRIMARY KEY CHECK (id > 0),
    ts_ns     INTEGER NOT NULL,
    account   INTEGER NOT NULL REFERENCES accounts (id) DEFERRABLE INITIALLY DEFERRED,
    kind      TEXT NOT NULL CHECK (kind IN ('booked', 'paid', 'written-off')),
    symbol    TEXT NOT NULL,    -- its name at the ex-date
    action    TEXT NOT NULL,    -- of corporate_actions
    asset     TEXT NOT NULL,
    scale     INTEGER NOT NULL, -- of gross, withheld, amount and paid
    qty_scale INTEGER NOT NULL,
    ex_ns     INTEGER NOT NULL,
    pay_ns    INTEGER NOT NULL,
    qty       INTEGER NOT NULL, -- that was held; below 0: short
    gross     INTEGER NOT NULL,
    withheld  INTEGER NOT NULL CHECK (withheld >= 0),
    amount    INTEGER NOT NULL, -- gross - withheld
    paid      INTEGER NOT NULL, -- in cash, of a row 'paid'
    booked    INTEGER NOT NULL, -- the row 'booked' that it closes; 0: it is one, or was paid at once
    ledger_id INTEGER NOT NULL, -- 'paid': the ledger's row, 0 where nothing moved; 'booked': the last row before
    input_seq INTEGER NOT NULL,
    hash      BLOB NOT NULL
) STRICT;

-- An account's rates by its volume of 30 days, a row at each change; never changed.
CREATE TABLE fee_rates (
    id        INTEGER PRIMARY KEY CHECK (id > 0),
    ts_ns     INTEGER NOT NULL,
    account   INTEGER NOT NULL REFERENCES accounts (id) DEFERRABLE INITIALLY DEFERRED,
    day       INTEGER NOT NULL, -- UTC, since 1970: the first one that they hold for
    volume    INTEGER NOT NULL, -- of the days before it, in units of the account's currency
    last_fill INTEGER NOT NULL, -- fills up to that one are in it
    tiers     TEXT NOT NULL,    -- the schedule; '': none any more
    maker_e6  INTEGER NOT NULL,
    taker_e6  INTEGER NOT NULL,
    input_seq INTEGER NOT NULL,
    hash      BLOB NOT NULL
) STRICT;
