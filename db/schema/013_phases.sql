-- papertape.db, version 13: a market's phase has the words that its bars' sessions have.
CREATE TABLE new_market_sessions (
    calendar TEXT PRIMARY KEY,
    phase    TEXT NOT NULL CHECK (phase IN ('unknown', 'closed', 'pre', 'regular', 'post')),
    since_ns INTEGER NOT NULL,
    next_ns  INTEGER NOT NULL -- 0: not known
) STRICT, WITHOUT ROWID;
INSERT INTO new_market_sessions
    SELECT calendar, CASE phase WHEN 'early' THEN 'pre' WHEN 'open' THEN 'regular' WHEN 'late' THEN 'post' ELSE phase END,
           since_ns, next_ns
    FROM market_sessions;
DROP TABLE market_sessions;
ALTER TABLE new_market_sessions RENAME TO market_sessions;
UPDATE venue_status SET market = CASE market WHEN 'early' THEN 'pre' WHEN 'open' THEN 'regular' WHEN 'late' THEN 'post'
                                             ELSE market END;
