-- Sessions: which part of its market's day a bar is in, and what a stocks account has.

-- Of bar_session_names; NULL: not known, as of bars stored before.
ALTER TABLE bars ADD COLUMN session TEXT CHECK (session IN ('none', 'pre', 'regular', 'post', 'closed', 'mixed'));

-- The bars that an account's strategy or policy sees: of session_choice_names; null: all, of accounts stored before.
ALTER TABLE accounts ADD COLUMN session TEXT CHECK (session IN ('all', 'regular', 'extended'));

-- The rules for stocks of an account (exchange/margin.h; null: off, auto, off), and how it stands by them.
ALTER TABLE accounts ADD COLUMN margin TEXT CHECK (margin IN ('off', 'regt', 'intraday'));
ALTER TABLE accounts ADD COLUMN day_trader TEXT CHECK (day_trader IN ('auto', 'on', 'off'));
ALTER TABLE accounts ADD COLUMN settlement TEXT CHECK (settlement IN ('off', 'by-date', 'strict'));
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
