-- papertape.db, version 19: what the event log once had and lacks since: which rows can no longer be computed from it (db/books/reach.h).

-- One row for each range of events, sealed, never changed. 'began': what the log lacked when these notes began, and
-- known_seq the newest event then: of what was missing up to there it is not known why. 'removed': by retention, before
-- it removed that segment. 'missing': found missing, without a note of retention.
CREATE TABLE log_notes (
    kind      TEXT NOT NULL CHECK (kind IN ('began', 'removed', 'missing')),
    from_seq  INTEGER NOT NULL CHECK (from_seq > 0),
    to_seq    INTEGER NOT NULL CHECK (to_seq >= 0), -- below from_seq: none
    known_seq INTEGER NOT NULL,
    last_order  INTEGER NOT NULL,                   -- what the engine had numbered after to_seq; 'removed': not noted, 0
    last_fill   INTEGER NOT NULL,
    last_ledger INTEGER NOT NULL,
    ts_ns     INTEGER NOT NULL,                     -- when it was noted
    segment   INTEGER NOT NULL,                     -- its number; 0: of no single segment
    bytes     INTEGER NOT NULL,
    digest    TEXT NOT NULL,                        -- SHA-256 of its last block, which covers all before it; '': none
    hash      BLOB NOT NULL CHECK (length(hash) = 32),
    PRIMARY KEY (kind, to_seq)
) STRICT, WITHOUT ROWID;
