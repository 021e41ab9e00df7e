-- papertape.db, version 10: what a training's last evaluation said.

ALTER TABLE trainings ADD COLUMN verdict TEXT NOT NULL DEFAULT ''; -- one word, '' for none
ALTER TABLE trainings ADD COLUMN verdict_text TEXT NOT NULL DEFAULT ''; -- one sentence
