-- papertape.db, version 14: when the daemon ran. Of before there is no row: it is not known.

-- By the session's clock, as all that it stores; `run` is the number that the event log's states have.
CREATE TABLE runs (
    run      INTEGER PRIMARY KEY CHECK (run > 0),
    began_ns INTEGER NOT NULL, -- before its first event; rebuilt: the first moment that the log has of it
    alive_ns INTEGER NOT NULL CHECK (alive_ns >= began_ns), -- its end; of one that was killed the last moment that is known
    state    TEXT NOT NULL CHECK (state IN ('running', 'stopped', 'killed'))
) STRICT;
