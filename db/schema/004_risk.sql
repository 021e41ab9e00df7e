-- papertape.db, version 4: more limits of an account, and when its drawdown killed it.

CREATE TABLE new_accounts (
    id                INTEGER PRIMARY KEY CHECK (id >= 0),
    name              TEXT NOT NULL UNIQUE,
    currency          TEXT NOT NULL,
    currency_scale    INTEGER NOT NULL CHECK (currency_scale BETWEEN 0 AND 18),
    created_ns        INTEGER NOT NULL,
    cash              INTEGER NOT NULL, -- that it was opened with, or begun anew
    strategy          TEXT NOT NULL,    -- '' for orders by hand only
    params            TEXT NOT NULL,    -- JSON: the strategy's parameters by name
    maker_e6          INTEGER NOT NULL,
    taker_e6          INTEGER NOT NULL,
    exposure_symbol   REAL NOT NULL,
    exposure_account  REAL NOT NULL,
    daily_loss        REAL NOT NULL,
    orders_per_second INTEGER NOT NULL,
    drawdown          REAL NOT NULL,
    price_band        REAL NOT NULL,
    cooldown_ns       INTEGER NOT NULL,
    positions         INTEGER NOT NULL,
    shorts            INTEGER NOT NULL CHECK (shorts IN (0, 1)),
    collateral_e4     INTEGER NOT NULL,
    maintenance_e4    INTEGER NOT NULL,
    borrow_rate_e6    INTEGER NOT NULL,
    equity_peak       INTEGER NOT NULL DEFAULT 0,
    day               INTEGER NOT NULL DEFAULT 0,
    day_equity        INTEGER NOT NULL DEFAULT 0,
    killed_ns         INTEGER NOT NULL DEFAULT 0, -- 0: it trades
    hash              BLOB NOT NULL
) STRICT;
INSERT INTO new_accounts
    SELECT id, name, currency, currency_scale, created_ns, cash, strategy, params, maker_e6, taker_e6, exposure_symbol,
           exposure_account, daily_loss, orders_per_second, 0.0, 0.0, 0, 0, shorts, collateral_e4, maintenance_e4,
           borrow_rate_e6, equity_peak, day, day_equity, 0,
           seal(2, id, name, currency, currency_scale, created_ns, cash, strategy, params, maker_e6, taker_e6,
                exposure_symbol, exposure_account, daily_loss, orders_per_second, 0.0, 0.0, 0, 0, shorts,
                collateral_e4, maintenance_e4, borrow_rate_e6, equity_peak, day, day_equity, 0)
    FROM accounts ORDER BY id;
DROP TABLE accounts;
ALTER TABLE new_accounts RENAME TO accounts;
