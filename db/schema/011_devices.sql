-- papertape.db, version 11: samples of devices and of our processes. docs/gpu.md says how long each is kept.
-- Times are wall ns; nothing is sealed or counted. A null figure is not known.

CREATE TABLE devices (
    device          TEXT PRIMARY KEY, -- "nvidia:GPU-UUID", "amd:0000:03:00.0"
    name            TEXT NOT NULL,
    driver          TEXT NOT NULL,
    profile         TEXT NOT NULL,
    reason          TEXT NOT NULL, -- why it is not sampled, '' while it is
    processes_known INTEGER NOT NULL CHECK (processes_known IN (0, 1)),
    first_ns        INTEGER NOT NULL, -- its first sample
    last_ns         INTEGER NOT NULL  -- its newest
) STRICT, WITHOUT ROWID;

-- period_s 0, statistic 'sample': one sample. 60 and 600: of the samples of that many seconds from ts_ns on, which
-- are n, the least, mean and greatest of each figure, a row each.
CREATE TABLE device_samples (
    device               TEXT NOT NULL REFERENCES devices (device) ON DELETE CASCADE,
    period_s             INTEGER NOT NULL CHECK (period_s IN (0, 60, 600)),
    statistic            TEXT NOT NULL CHECK (statistic IN ('sample', 'min', 'mean', 'max')),
    ts_ns                INTEGER NOT NULL,
    n                    INTEGER NOT NULL CHECK (n > 0),
    util_percent         REAL,
    memory_used_bytes    REAL,
    memory_total_bytes   REAL,
    memory_util_percent  REAL,
    power_w              REAL,
    power_limit_w        REAL,
    clock_mhz            REAL,
    memory_clock_mhz     REAL,
    temperature_c        REAL,
    fan_percent          REAL,
    throttle_power       REAL,
    throttle_thermal     REAL,
    throttle_hardware    REAL,
    pcie_rx_bytes_s      REAL,
    pcie_tx_bytes_s      REAL,
    PRIMARY KEY (device, period_s, statistic, ts_ns),
    CHECK ((period_s = 0) = (statistic = 'sample'))
) STRICT, WITHOUT ROWID;

-- A process on a device, from first_ns to ts_ns.
CREATE TABLE device_processes (
    device           TEXT NOT NULL REFERENCES devices (device) ON DELETE CASCADE,
    pid              INTEGER NOT NULL,
    first_ns         INTEGER NOT NULL,
    ts_ns            INTEGER NOT NULL,
    n                INTEGER NOT NULL, -- samples that have it
    name             TEXT NOT NULL,    -- of its program
    role             TEXT NOT NULL,    -- "daemon", "trainer", a training's name; '' none of ours
    memory_bytes     REAL,             -- at ts_ns, and the most
    memory_bytes_max REAL,
    util_percent     REAL,
    util_percent_max REAL,
    PRIMARY KEY (device, pid, first_ns)
) STRICT, WITHOUT ROWID;

CREATE TABLE processes (
    role     TEXT PRIMARY KEY,
    pid      INTEGER NOT NULL, -- at last_ns
    first_ns INTEGER NOT NULL,
    last_ns  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE process_samples (
    role                 TEXT NOT NULL REFERENCES processes (role) ON DELETE CASCADE,
    period_s             INTEGER NOT NULL CHECK (period_s IN (0, 60, 600)),
    statistic            TEXT NOT NULL CHECK (statistic IN ('sample', 'min', 'mean', 'max')),
    ts_ns                INTEGER NOT NULL,
    n                    INTEGER NOT NULL CHECK (n > 0),
    cpu_percent          REAL,
    resident_bytes       REAL,
    read_bytes_s         REAL,
    written_bytes_s      REAL,
    PRIMARY KEY (role, period_s, statistic, ts_ns),
    CHECK ((period_s = 0) = (statistic = 'sample'))
) STRICT, WITHOUT ROWID;

-- What nothing read.
DROP TABLE telemetry;
