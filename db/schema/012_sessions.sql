-- Sessions: which part of its market's day a bar is in, and what a stocks account has.

-- Of bar_session_names; NULL: not known, as of bars stored before.
ALTER TABLE bars ADD COLUMN session TEXT CHECK (session IN ('none', 'pre', 'regular', 'post', 'closed', 'mixed'));

-- The bars that an account's strategy or policy sees: of session_choice_names; null: all, as of accounts made before.
ALTER TABLE accounts ADD COLUMN session TEXT CHECK (session IN ('regular', 'extended'));

-- The rules for stocks of an account (exchange/margin.h), and how it stands by them.
ALTER TABLE accounts ADD COLUMN margin TEXT NOT NULL DEFAULT 'off' CHECK (margin IN ('off', 'regt', 'intraday'));
ALTER TABLE accounts ADD COLUMN day_trader TEXT NOT NULL DEFAULT 'auto' CHECK (day_trader IN ('auto', 'on', 'off'));
ALTER TABLE accounts ADD COLUMN settlement TEXT NOT NULL DEFAULT 'off'
    CHECK (settlement IN ('off', 'by-date', 'strict'));
UPDATE accounts SET hash =
    seal(2, id, name, currency, currency_scale, created_ns, cash, strategy, params, maker_e6, taker_e6,
         exposure_symbol, exposure_account, daily_loss, orders_per_second, drawdown, price_band, cooldown_ns, positions,
         shorts, collateral_e4, maintenance_e4, borrow_rate_e6, margin, day_trader, settlement, equity_peak, day,
         day_equity, killed_ns);
CREATE TABLE account_margins (
    account            INTEGER PRIMARY KEY REFERENCES accounts (id),
    ts_ns              INTEGER NOT NULL,
    initial_margin     INTEGER NOT NULL, -- units of the account's currency, as all that follow
    maintenance_margin INTEGER NOT NULL,
    excess             INTEGER NOT NULL,
    buying_power       INTEGER NOT NULL,
    debt               INTEGER NOT NULL CHECK (debt >= 0),
    day_trades         INTEGER NOT NULL, -- in five business days
    day_trader         INTEGER NOT NULL CHECK (day_trader IN (0, 1)),
    settled            INTEGER NOT NULL,
    unsettled          INTEGER NOT NULL,
    settles_ns         INTEGER NOT NULL, -- 0: all is settled
    violations         INTEGER NOT NULL
) STRICT;
