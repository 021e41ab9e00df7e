-- Sessions: which part of its market's day a bar is in, and what a stocks account has.

-- Of bar_session_names; NULL: not known, as of bars stored before.
ALTER TABLE bars ADD COLUMN session TEXT CHECK (session IN ('none', 'pre', 'regular', 'post', 'closed', 'mixed'));
