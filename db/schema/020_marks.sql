-- papertape.db, version 20: what positions were valued at when a run ended.

CREATE TABLE marks (
    account INTEGER NOT NULL REFERENCES accounts (id),
    ts_ns   INTEGER NOT NULL, -- of the account's point of equity that it belongs to
    symbol  INTEGER NOT NULL REFERENCES symbols (id),
    qty     INTEGER NOT NULL CHECK (qty <> 0),
    mark    INTEGER, -- null: there was no price yet, and it was valued at its cost
    mark_ns INTEGER, -- when that price was made; null: not known
    hash    BLOB NOT NULL CHECK (length(hash) = 32),
    PRIMARY KEY (account, ts_ns, symbol)
) STRICT, WITHOUT ROWID;

ALTER TABLE prices ADD COLUMN mark_ns INTEGER; -- when the mark was made; null: not known
