-- papertape.db, version 8: a database that was built again from the event log (docs/database.md, "Built again").

-- Each time it was: from which events, and where the former file is.
CREATE TABLE rebuilds (
    id        INTEGER PRIMARY KEY CHECK (id > 0),
    ts_ns     INTEGER NOT NULL,
    why       TEXT NOT NULL, -- what was wrong with the former file
    aside     TEXT NOT NULL, -- its name now; '' where there was none
    first_seq INTEGER NOT NULL, -- the state of the log that it begins with: after this event
    last_seq  INTEGER NOT NULL, -- and the newest event
    hash      BLOB NOT NULL
) STRICT;

-- Where the rows of each table came from.
CREATE TABLE rebuild_sources (
    rebuild  INTEGER NOT NULL REFERENCES rebuilds (id),
    name     TEXT NOT NULL, -- of the table
    source   TEXT NOT NULL, -- in words
    logged   INTEGER NOT NULL CHECK (logged >= 0), -- rows of the event log
    salvaged INTEGER NOT NULL CHECK (salvaged >= 0), -- rows of the former file
    hash     BLOB NOT NULL,
    PRIMARY KEY (rebuild, name)
) STRICT, WITHOUT ROWID;

-- Where the log no longer reaches back to its beginning: what the state that it begins with holds. Orders, fills and
-- ledger rows with greater ids are whole; those up to these ids were salvaged one by one, and may have holes.
CREATE TABLE base (
    id            INTEGER PRIMARY KEY CHECK (id = 1),
    event_seq     INTEGER NOT NULL,
    ts_ns         INTEGER NOT NULL,
    last_order    INTEGER NOT NULL,
    last_fill     INTEGER NOT NULL,
    last_ledger   INTEGER NOT NULL,
    ledger_hash   BLOB NOT NULL CHECK (length(ledger_hash) = 32), -- of ledger row last_ledger
    last_action   INTEGER NOT NULL, -- of corporate_actions and revisions that were salvaged
    last_revision INTEGER NOT NULL,
    hash          BLOB NOT NULL
) STRICT;
CREATE TABLE base_accounts (
    account     INTEGER PRIMARY KEY REFERENCES accounts (id),
    deposits    INTEGER NOT NULL,
    interest_ns INTEGER NOT NULL,
    hash        BLOB NOT NULL
) STRICT;
CREATE TABLE base_balances (
    account  INTEGER NOT NULL REFERENCES accounts (id),
    asset    TEXT NOT NULL,
    scale    INTEGER NOT NULL,
    total    INTEGER NOT NULL CHECK (total >= 0),
    borrowed INTEGER NOT NULL CHECK (borrowed >= 0),
    hash     BLOB NOT NULL,
    PRIMARY KEY (account, asset, scale)
) STRICT, WITHOUT ROWID;
CREATE TABLE base_positions (
    account       INTEGER NOT NULL REFERENCES accounts (id),
    symbol        INTEGER NOT NULL REFERENCES symbols (id),
    qty           INTEGER NOT NULL,
    cost          INTEGER NOT NULL,
    realized      INTEGER NOT NULL,
    fifo_cost     INTEGER NOT NULL,
    fifo_realized INTEGER NOT NULL,
    fees          INTEGER NOT NULL,
    opened_ns     INTEGER NOT NULL,
    updated_ns    INTEGER NOT NULL,
    closed_ns     INTEGER NOT NULL,
    lots          TEXT NOT NULL, -- 'QTY COST OPENED_NS, ...', oldest first
    hash          BLOB NOT NULL,
    PRIMARY KEY (account, symbol)
) STRICT, WITHOUT ROWID;
CREATE TABLE base_orders ( -- that were live
    id     INTEGER PRIMARY KEY,
    filled INTEGER NOT NULL,
    cost   INTEGER NOT NULL,
    hash   BLOB NOT NULL
) STRICT;

-- The rows of orders, fills, ledger and commands that were taken from the former file: those with ids from first to last.
CREATE TABLE salvaged (
    name  TEXT NOT NULL, -- of the table
    first INTEGER NOT NULL,
    last  INTEGER NOT NULL CHECK (last >= first),
    hash  BLOB NOT NULL,
    PRIMARY KEY (name, first)
) STRICT, WITHOUT ROWID;
