-- papertape.db, version 9: an alert of a condition ends with it.

ALTER TABLE alerts ADD COLUMN lasts INTEGER NOT NULL DEFAULT 0 CHECK (lasts IN (0, 1)); -- a condition, not an event
ALTER TABLE alerts ADD COLUMN closed_ns INTEGER; -- when the condition was over
UPDATE alerts SET lasts = 1 WHERE acked_ns IS NULL AND code IN ('feed', 'stale', 'banned', 'venue-refused', 'bad-frames',
    'book-resync', 'bars-missing', 'calendar', 'actions-missing', 'indicators-behind', 'gpu', 'POLICY_DEVICE',
    'POLICY_UNREAD', 'symbol', 'symbol-units', 'delisted', 'TRAINER_ABSENT', 'TRAINER_SILENT', 'TRAINER_VERSION', 'TRAINING_STALLED', 'clock', 'parity',
    'account-currency', 'HALTED', 'SYMBOL_GONE', 'KILLED', 'MARGIN_CALL')
    OR (acked_ns IS NULL AND code = 'storage' AND severity = 'error');
-- A row that was altered before keeps a seal that does not hold.
UPDATE alerts SET hash = seal(2, id, ts_ns, last_ns, count, code, severity, text, acked_ns, lasts, closed_ns)
    WHERE hash = seal(2, id, ts_ns, last_ns, count, code, severity, text, acked_ns);
DROP INDEX alerts_open;
CREATE INDEX alerts_open ON alerts (id) WHERE acked_ns IS NULL AND closed_ns IS NULL;
CREATE INDEX alerts_last ON alerts (id) WHERE lasts = 1 AND closed_ns IS NULL;
