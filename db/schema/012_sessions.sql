-- Sessions: which part of its market's day a bar is in, and what a stocks account has.

-- Of bar_session_names; NULL: not known, as of bars stored before.
ALTER TABLE bars ADD COLUMN session TEXT CHECK (session IN ('none', 'pre', 'regular', 'post', 'closed', 'mixed'));

-- The bars that an account's strategy or policy sees: of session_choice_names; null: all, as of accounts made before.
ALTER TABLE accounts ADD COLUMN session TEXT CHECK (session IN ('regular', 'extended'));
