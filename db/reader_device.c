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

int db_reader_device_processes(struct db_reader *reader, int64_t from_ns, int64_t to_ns,
                               void (*row)(void *ctx, const struct db_device_process *row), void *ctx)
{
    DB_QUERY_EACH(
        struct db_device_process, &db_record_device_processes,
        DB_SELECT("device_processes", RECORD_DEVICE_PROCESS) "WHERE ts_ns >= ?1 AND first_ns <= ?2 ORDER BY "
                                                             "device, ts_ns DESC, memory_bytes DESC, pid",
        RECORD_PARAMS(from_ns, to_ns));
}

/* ---- samples: of a table by its key, :1 the key ---- */

/* Where single samples and minutes begin (?2: nowhere), and where minutes and tens of them end (0: nowhere).
 */
#define FIRST(table, key, period, statistic) \
    "ifnull((SELECT min(ts_ns) FROM " table " WHERE " key " = ?1 AND period_s = " period \
    " AND statistic = '" statistic "'), ?2)"
#define END(table, key, period) \
    "ifnull((SELECT max(ts_ns) + " period " * 1000000000 FROM " table " WHERE " key \
    " = ?1 AND period_s = " period " AND statistic = 'mean'), 0)"
#define EDGES(table, key) \
    "SELECT " FIRST(table, key, "0", "sample") ", " FIRST(table, key, "60", "mean") ", " END( \
        table, key, "60") ", " END(table, key, "600")

/* ?2, ?3: the span; ?4, ?5: from where minutes and single samples are read; ?6: extremes too. */
#define PERIODS(table, LIST, key, period) \
    "SELECT " RECORD_COLUMNS( \
        LIST) " FROM " table " WHERE " key " = ?1 AND period_s = " period \
              " AND statistic IN ('mean', iif(?6, 'min', 'mean'), iif(?6, 'max', 'mean')) AND ts_ns > ?2 - " period \
              " * 1000000000 AND ts_ns <= ?3 AND ts_ns "
#define SAMPLES(table, LIST, key) \
    "SELECT * FROM (" PERIODS(table, LIST, key, "600") "< ?4 UNION ALL " PERIODS( \
        table, LIST, key, \
        "60") ">= ?4 AND ts_ns < ?5 UNION ALL " \
              "SELECT " RECORD_COLUMNS( \
                  LIST) " FROM " table " WHERE " key " = ?1 AND period_s = 0 AND statistic = " \
                        "'sample' AND ts_ns >= max(?2, ?5) AND ts_ns <= ?3) ORDER BY ts_ns, statistic"

struct edges {
    int64_t minute_ns, sample_ns; /* from where these are read */
};

/* What is finer begins where it is wanted from, or is there from, but not after the end of the coarser sums;
 * in whole periods of these. */
static int64_t edge(int64_t first_ns, int64_t wanted_ns, int64_t coarser_end_ns, int64_t whole_ns)
{
    int64_t from_ns = wanted_ns > first_ns ? wanted_ns : first_ns;
    if (wanted_ns != INT64_MIN && from_ns > coarser_end_ns)
        from_ns = coarser_end_ns > first_ns ? coarser_end_ns : first_ns;
    return from_ns == INT64_MAX ? from_ns : from_ns - from_ns % whole_ns;
}

static int find_edges(struct db_reader *reader, const char *sql, const struct db_samples_wanted *wanted,
                      struct edges *ret)
{
    int64_t sample_ns, minute_ns, minutes_end_ns, tens_end_ns;
    int r = db_query_first(reader, sql, RECORD_PARAMS(wanted->key, INT64_MAX),
                           RECORD_INTO(&sample_ns, &minute_ns, &minutes_end_ns, &tens_end_ns));
    if (r < 0)
        return r;
    ret->sample_ns = edge(sample_ns, wanted->fine_ns, minutes_end_ns, MINUTE_NS);
    ret->minute_ns = edge(minute_ns, wanted->minute_ns, tens_end_ns, TEN_NS);
    if (ret->minute_ns > ret->sample_ns)
        ret->minute_ns = ret->sample_ns;
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
    "WITH held (training, device, since_ns, until_ns) AS ("
    "SELECT p.role, p.device, max(?1, min(p.first_ns)), max(p.ts_ns) FROM device_processes AS p "
    "JOIN trainings AS t ON t.name = p.role GROUP BY p.role, p.device HAVING max(p.ts_ns) >= ?1 "
    "UNION ALL SELECT t.name, d.device, max(?1, t.started_ns), iif(t.ended_ns > 0, t.ended_ns, d.last_ns) "
    "FROM trainings AS t JOIN devices AS d ON d.processes_known = 0 WHERE t.device <> 'cpu' "
    "AND t.backend NOT LIKE 'cpu%' AND t.started_ns > 0 AND (t.ended_ns = 0 OR t.ended_ns >= ?1)), "
    "states (training, state, from_ns, to_ns) AS ("
    "SELECT training, state, ts_ns, lead(ts_ns, 1, 9223372036854775807) OVER (PARTITION BY training "
    "ORDER BY ts_ns) FROM training_states WHERE training IN (SELECT training FROM held)) "
    "SELECT h.training, h.device, w.state, count(*), avg(s.util_percent), max(s.util_percent) "
    "FROM held AS h JOIN states AS w ON w.training = h.training AND w.to_ns > h.since_ns "
    "AND w.from_ns <= h.until_ns CROSS JOIN device_samples AS s ON s.device = h.device AND s.period_s = 0 "
    "AND s.statistic = 'sample' AND s.ts_ns >= max(w.from_ns, h.since_ns) "
    "AND s.ts_ns <= min(w.to_ns - 1, h.until_ns, ?2) "
    "GROUP BY h.training, h.device, w.state ORDER BY h.training, h.device, w.state";

int db_reader_device_phases(struct db_reader *reader, int64_t from_ns, int64_t to_ns,
                            void (*row)(void *ctx, const struct db_device_phase *row), void *ctx)
{
    struct db_device_phase phase;
    sqlite3_stmt *stmt;
    int r = db_query(reader, phases, RECORD_PARAMS(from_ns, to_ns), &stmt);
    while (r >= 0 && (r = db_query_next(reader, stmt,
                                        RECORD_INTO(&phase.training, &phase.device, &phase.state, &phase.n,
                                                    &phase.util_percent, &phase.util_percent_max))) > 0)
        row(ctx, &phase);
    return db_query_end(stmt, r);
}
