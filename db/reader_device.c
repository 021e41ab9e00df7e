/* Reads samples of devices and processes. */
#include <stdint.h>

#include "db/reader_query.h"
#include "db/records.h"
#include "record/device_rows.h"

#define MINUTE_NS (DB_MINUTES_S * INT64_C(1000000000))
#define TEN_NS    (DB_TENS_S * INT64_C(1000000000))

int db_reader_devices(struct db_reader *reader, void (*row)(void *ctx, const struct db_device *row),
                      void *ctx)
{
    DB_QUERY_EACH(struct db_device, &db_record_devices, DB_SELECT("devices", RECORD_DEVICE) "ORDER BY device",
                  NULL);
}

int db_reader_processes(struct db_reader *reader, void (*row)(void *ctx, const struct db_process *row),
                        void *ctx)
{
    DB_QUERY_EACH(struct db_process, &db_record_processes,
                  DB_SELECT("processes", RECORD_PROCESS) "ORDER BY role", NULL);
}

int db_reader_device_processes(struct db_reader *reader, int64_t from_ns,
                               void (*row)(void *ctx, const struct db_device_process *row), void *ctx)
{
    DB_QUERY_EACH(
        struct db_device_process, &db_record_device_processes,
        DB_SELECT("device_processes", RECORD_DEVICE_PROCESS) "WHERE ts_ns >= ?1 ORDER BY device, ts_ns DESC, "
                                                             "memory_bytes DESC, pid",
        RECORD_PARAMS(from_ns));
}

/* ---- samples: of a table by its key, :1 the key ---- */

/* Where single samples and minutes begin, and where minutes end. */
#define EDGES(table, key) \
    "SELECT ifnull((SELECT min(ts_ns) FROM " table " WHERE " key " = ?1 AND period_s = 0 AND statistic = " \
    "'sample'), ?2), ifnull((SELECT min(ts_ns) FROM " table " WHERE " key " = ?1 AND period_s = 60 AND " \
    "statistic = 'mean'), ?2), (SELECT max(ts_ns) FROM " table " WHERE " key " = ?1 AND period_s = 60 AND " \
    "statistic = 'mean')"

/* ?2, ?3: the span; ?4, ?5: from where minutes and single samples are read; ?6: extremes too. */
#define PERIODS(table, LIST, key, period) \
    "SELECT " RECORD_COLUMNS( \
        LIST) " FROM " table " WHERE " key " = ?1 AND period_s = " period \
              " AND statistic IN ('mean', iif(?6, 'min', 'mean'), iif(?6, 'max', 'mean')) AND ts_ns > ?2 - " period \
              " * 1000000000 AND ts_ns <= ?3 AND ts_ns "
#define SAMPLES(table, LIST, key) \
    "SELECT * FROM (" PERIODS(table, LIST, key, "600") "< min(?4, ?5) UNION ALL " PERIODS( \
        table, LIST, key, \
        "60") ">= ?4 AND ts_ns < ?5 UNION ALL " \
              "SELECT " RECORD_COLUMNS( \
                  LIST) " FROM " table " WHERE " key " = ?1 AND period_s = 0 AND statistic = " \
                        "'sample' AND ts_ns >= max(?2, ?5) AND ts_ns <= ?3) ORDER BY ts_ns, statistic"

/* Both in whole periods of the coarser; minutes that are not summed up yet are read as samples. */
struct edges {
    int64_t minute_ns, sample_ns;
};

static int find_edges(struct db_reader *reader, const char *sql, const struct db_samples_wanted *wanted,
                      struct edges *ret)
{
    int64_t sample_ns, minute_ns, last_ns;
    int r = db_query_first(reader, sql, RECORD_PARAMS(wanted->key, INT64_MAX),
                           RECORD_INTO(&sample_ns, &minute_ns, &last_ns));
    if (r < 0)
        return r;
    int64_t summed_ns = last_ns ? last_ns + MINUTE_NS : 0;
    if (wanted->fine_ns > sample_ns)
        sample_ns = wanted->fine_ns;
    if (sample_ns != INT64_MAX)
        sample_ns -= sample_ns % MINUTE_NS;
    if (sample_ns > summed_ns && wanted->fine_ns != INT64_MIN)
        sample_ns = summed_ns;
    ret->sample_ns = sample_ns;
    ret->minute_ns = minute_ns == INT64_MAX ? sample_ns : minute_ns - minute_ns % TEN_NS;
    return 0;
}

#define WANTED(wanted, edges) \
    RECORD_PARAMS((wanted)->key, (wanted)->from_ns, (wanted)->to_ns, (edges).minute_ns, (edges).sample_ns, \
                  (wanted)->extremes)

int db_reader_device_samples(struct db_reader *reader, const struct db_samples_wanted *wanted,
                             void (*row)(void *ctx, const struct db_device_sample *row), void *ctx)
{
    struct edges edges;
    int found = find_edges(reader, EDGES("device_samples", "device"), wanted, &edges);
    if (found < 0)
        return found;
    DB_QUERY_EACH(struct db_device_sample, &db_record_device_samples,
                  SAMPLES("device_samples", RECORD_DEVICE_SAMPLE, "device"), WANTED(wanted, edges));
}

int db_reader_process_samples(struct db_reader *reader, const struct db_samples_wanted *wanted,
                              void (*row)(void *ctx, const struct db_process_sample *row), void *ctx)
{
    struct edges edges;
    int found = find_edges(reader, EDGES("process_samples", "role"), wanted, &edges);
    if (found < 0)
        return found;
    DB_QUERY_EACH(struct db_process_sample, &db_record_process_samples,
                  SAMPLES("process_samples", RECORD_PROCESS_SAMPLE, "role"), WANTED(wanted, edges));
}

/* ---- phases ---- */

static const char phases[] =
    "WITH held (training, device, since_ns, until_ns) AS (SELECT t.name, d.device, p.first_ns, p.ts_ns FROM "
    "trainings AS t JOIN device_processes AS p ON p.role = t.name JOIN devices AS d ON d.device = p.device "
    "UNION ALL SELECT t.name, d.device, t.started_ns, iif(t.ended_ns > 0, t.ended_ns, d.last_ns) FROM "
    "trainings AS t JOIN devices AS d ON d.processes_known = 0 WHERE t.started_ns > 0) "
    "SELECT training, state, count(*), avg(util_percent), max(util_percent) FROM (SELECT h.training, "
    "s.util_percent, (SELECT state FROM training_states AS w WHERE w.training = h.training AND w.ts_ns <= "
    "s.ts_ns ORDER BY w.ts_ns DESC LIMIT 1) AS state FROM held AS h CROSS JOIN device_samples AS s ON "
    "s.device = h.device AND s.period_s = 0 AND s.statistic = 'sample' AND s.ts_ns >= max(?1, h.since_ns) "
    "AND s.ts_ns <= h.until_ns WHERE h.until_ns >= ?1) WHERE state IS NOT NULL GROUP BY training, state";

int db_reader_device_phases(struct db_reader *reader, int64_t from_ns,
                            void (*row)(void *ctx, const struct db_device_phase *row), void *ctx)
{
    struct db_device_phase phase;
    sqlite3_stmt *stmt;
    int r = db_query(reader, phases, RECORD_PARAMS(from_ns), &stmt);
    while (r >= 0 && (r = db_query_next(reader, stmt,
                                        RECORD_INTO(&phase.training, &phase.state, &phase.n,
                                                    &phase.util_percent, &phase.util_percent_max))) > 0)
        row(ctx, &phase);
    return db_query_end(stmt, r);
}
