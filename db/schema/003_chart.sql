-- papertape.db, version 3: what the dashboard's chart is drawn from. Derived from bars, kept for a bounded time, and no
-- part of the record: nothing here is sealed or counted.

-- One symbol and timeframe: which indicators it keeps, and their memory, so that a restart goes on with the same bits.
CREATE TABLE chart_series (
    symbol      INTEGER NOT NULL REFERENCES symbols (id),
    interval_ns INTEGER NOT NULL CHECK (interval_ns > 0),
    base_ns     INTEGER NOT NULL CHECK (base_ns > 0), -- of the bars that its own are made of
    next_ns     INTEGER NOT NULL, -- the memory has taken what bars that open before this gave
    specs       TEXT NOT NULL,    -- with blanks between: "sma:20 macd:12,26,9"
    names       TEXT NOT NULL,    -- of the outputs, in the order of chart_bars.outputs: "sma_20 macd_12_26_9.macd ..."
    memory      BLOB NOT NULL,    -- of the streams: daemon/streams.h
    PRIMARY KEY (symbol, interval_ns)
) STRICT, WITHOUT ROWID;

-- Closed bars, whole ones only, with the indicators at their close; those of the newest 1000 intervals of each series.
CREATE TABLE chart_bars (
    symbol      INTEGER NOT NULL REFERENCES symbols (id),
    interval_ns INTEGER NOT NULL CHECK (interval_ns > 0),
    open_ns     INTEGER NOT NULL,
    open        INTEGER NOT NULL,
    high        INTEGER NOT NULL,
    low         INTEGER NOT NULL,
    close       INTEGER NOT NULL,
    volume      TEXT NOT NULL CHECK (volume <> '' AND volume NOT GLOB '*[^0-9]*'), -- qty_scale
    outputs     BLOB NOT NULL CHECK (length(outputs) % 8 = 0), -- float64, little-endian; NaN before the first output
    PRIMARY KEY (symbol, interval_ns, open_ns)
) STRICT, WITHOUT ROWID;
