-- papertape.db, version 5: trainings as the co-process tells of them, policies in the arena, and which policy gave an order.

-- Nothing of trainings is sealed or counted: it is told, not traded. Names are unique for ever; times are wall ns.
CREATE TABLE trainings (
    name         TEXT PRIMARY KEY,
    state        TEXT NOT NULL,
    reason       TEXT NOT NULL, -- '' for none
    cause        TEXT NOT NULL, -- '' for none: docs/serve.md
    priority     INTEGER NOT NULL,
    device       TEXT NOT NULL, -- '' for none
    backend      TEXT NOT NULL,
    config       TEXT NOT NULL, -- the file's text
    steps        INTEGER NOT NULL,
    total_steps  INTEGER NOT NULL,
    iteration    INTEGER NOT NULL,
    attempts     INTEGER NOT NULL,
    steps_s      REAL, -- null: not known, as all that follows
    return       REAL,
    memory_bytes INTEGER,
    cpu_s        REAL,
    checkpoint   TEXT NOT NULL, -- path, '' for none
    policy       TEXT NOT NULL,
    created_ns   INTEGER NOT NULL,
    started_ns   INTEGER NOT NULL, -- 0: not yet
    ended_ns     INTEGER NOT NULL, -- 0: not yet
    heard_ns     INTEGER NOT NULL, -- 0: nothing yet
    seq          INTEGER NOT NULL  -- the newest of its events whose rows are stored
) STRICT, WITHOUT ROWID;

-- A point of the learning curve. A run that goes on from a checkpoint replaces what lay beyond that. At most
-- 4096 a training: beyond, every second one of the older half goes.
CREATE TABLE training_points (
    training           TEXT NOT NULL REFERENCES trainings (name) ON DELETE CASCADE,
    steps              INTEGER NOT NULL,
    iteration          INTEGER NOT NULL,
    ts_ns              INTEGER NOT NULL,
    steps_s            REAL,
    return             REAL, -- mean of the episodes that ended
    reward             REAL,
    policy_loss        REAL,
    value_loss         REAL,
    entropy_loss       REAL,
    loss               REAL,
    kl                 REAL,
    clip_fraction      REAL,
    explained_variance REAL,
    grad_norm          REAL,
    learning_rate      REAL,
    std                REAL,
    rollout_s          REAL,
    advantages_s       REAL,
    update_s           REAL,
    device_utilisation REAL,
    cpu_utilisation    REAL,
    memory_bytes       REAL, -- the process's
    learner_bytes      REAL, -- of it, or the device's
    PRIMARY KEY (training, steps)
) STRICT, WITHOUT ROWID;

-- Of its policy on the bars held out; replaced and thinned as points are.
CREATE TABLE training_evaluations (
    training         TEXT NOT NULL REFERENCES trainings (name) ON DELETE CASCADE,
    steps            INTEGER NOT NULL,
    ts_ns            INTEGER NOT NULL,
    reward           REAL,
    return           REAL,
    benchmark_return REAL,
    drawdown         REAL,
    PRIMARY KEY (training, steps)
) STRICT, WITHOUT ROWID;

-- The timeline: when a training went into a state. At most 4096 a training: beyond, every 16 in a row of the older
-- half become one a state, each as long as those of that state were together.
CREATE TABLE training_states (
    training    TEXT NOT NULL REFERENCES trainings (name) ON DELETE CASCADE,
    ts_ns       INTEGER NOT NULL,
    state       TEXT NOT NULL,
    utilisation REAL, -- of the device while it lasted, else of the processors
    PRIMARY KEY (training, ts_ns)
) STRICT, WITHOUT ROWID;

-- The arena: docs/policies.md.
CREATE TABLE policies (
    name     TEXT PRIMARY KEY,
    role     TEXT NOT NULL CHECK (role IN ('challenger', 'champion', 'retired')),
    account  TEXT NOT NULL, -- its own
    policy   BLOB NOT NULL CHECK (length(policy) = 32),
    training TEXT NOT NULL, -- that made it; '' for a file
    path     TEXT NOT NULL, -- that it was read from
    since_ns INTEGER NOT NULL, -- in that role
    reason   TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX policies_champion ON policies (role) WHERE role = 'champion';

-- Whose order it is: the policy's id, and what computed it ("cpu", "gpu: NVIDIA H200").
CREATE TABLE order_policies (
    order_id INTEGER PRIMARY KEY REFERENCES orders (id) DEFERRABLE INITIALLY DEFERRED,
    policy   BLOB NOT NULL CHECK (length(policy) = 32),
    backend  TEXT NOT NULL
) STRICT;
