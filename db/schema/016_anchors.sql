-- papertape.db, version 16: what housekeeping leaves of the rows that it deletes, so that anchors still hold.

-- Of a table: all rows up to `last`, those that were deleted first of all. db/books/chain.h has the digest.
CREATE TABLE pruned (
    name   TEXT PRIMARY KEY, -- of the table
    last   INTEGER NOT NULL CHECK (last > 0),
    rows   INTEGER NOT NULL CHECK (rows > 0), -- settled ones up to there
    digest BLOB NOT NULL CHECK (length(digest) = 32),
    ts_ns  INTEGER NOT NULL, -- of the last time that rows were deleted
    hash   BLOB NOT NULL CHECK (length(hash) = 32)
) STRICT, WITHOUT ROWID;
