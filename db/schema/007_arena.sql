-- papertape.db, version 7: policies of the arena that came by a study's proposal, are judged by the day, and expire.

ALTER TABLE policies ADD COLUMN expires_ns INTEGER NOT NULL DEFAULT 0; -- 0: never
ALTER TABLE policies ADD COLUMN judged_ns INTEGER NOT NULL DEFAULT 0;  -- from when on its days count
ALTER TABLE policies ADD COLUMN proposal TEXT NOT NULL DEFAULT '';     -- STUDY/TRIAL that it came by; '': by hand
UPDATE policies SET judged_ns = since_ns;
