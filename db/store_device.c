/* Stores samples of devices and processes, and keeps them at a resolution that falls with their age: each
 * minute, in the transaction of the first sample after it, the whole minutes (and tens of them) that are not
 * summed up yet are, and what is older than its window is deleted. Sums are always of samples, which are kept
 * for longer than any sum waits; what the tables hold says where they end, so nothing is lost or counted
 * twice by a crash, a restart or a gap. */
#include "db/records.h"
#include "db/store_bind.h"

#define SECOND_NS INT64_C(1000000000)

/* A table of samples. */
struct sampled {
    enum db_statement sums[3], thin, forget;
};

static const struct sampled devices = {
    {DB_SQL_DEVICE_MIN, DB_SQL_DEVICE_MAX, DB_SQL_DEVICE_MEAN}, DB_SQL_DEVICE_THIN, DB_SQL_DEVICE_FORGET};
static const struct sampled processes = {{DB_SQL_PROCESS_MIN, DB_SQL_PROCESS_MAX, DB_SQL_PROCESS_MEAN},
                                         DB_SQL_PROCESS_THIN,
                                         DB_SQL_PROCESS_FORGET};

static int64_t start_of(int64_t ts_ns, int64_t period_s)
{
    return ts_ns - ts_ns % (period_s * SECOND_NS);
}

/* `last_ns`: up to where sums were made before; 0: the tables alone say it. */
static int sum_up(struct db_store *store, const struct sampled *of, int64_t period_s, int64_t before_ns,
                  int64_t last_ns)
{
    int rc = SQLITE_OK;
    for (int i = 0; rc == SQLITE_OK && i < 3; i++)
        rc = db_store_run(store, of->sums[i],
                          RECORD_PARAMS(period_s, before_ns, last_ns ? last_ns : INT64_MAX), NULL);
    return rc;
}

/* What is older than its window, in whole periods of the next: what is finest at a moment is all there. */
static int thin(struct db_store *store, const struct sampled *of, int64_t now_ns)
{
    static const struct {
        int64_t period_s, kept_s, whole_s;
    } windows[] = {{0, DB_SAMPLES_KEPT_S, DB_MINUTES_S},
                   {DB_MINUTES_S, DB_MINUTES_KEPT_S, DB_TENS_S},
                   {DB_TENS_S, DB_TENS_KEPT_S, DB_TENS_S}};
    int rc = SQLITE_OK;
    for (size_t i = 0; rc == SQLITE_OK && i < sizeof windows / sizeof *windows; i++)
        rc = db_store_run(store, of->thin,
                          RECORD_PARAMS(windows[i].period_s,
                                        start_of(now_ns - windows[i].kept_s * SECOND_NS, windows[i].whole_s)),
                          NULL);
    return rc;
}

/* Devices and processes that no row of samples can be of any more. */
static int forget(struct db_store *store, const struct sampled *of, int64_t now_ns)
{
    int64_t before_ns = start_of(now_ns - DB_TENS_KEPT_S * SECOND_NS, DB_TENS_S);
    int rc = db_store_run(store, of->forget, RECORD_PARAMS(before_ns), NULL);
    return rc == SQLITE_OK && of == &devices
               ? db_store_run(store, DB_SQL_DEVICE_PROCESS_FORGET, RECORD_PARAMS(before_ns), NULL)
               : rc;
}

static int keep(struct db_store *store, const struct sampled *of, struct db_rolled *rolled, int64_t ts_ns)
{
    int64_t minute_ns = start_of(ts_ns, DB_MINUTES_S), ten_ns = start_of(ts_ns, DB_TENS_S);
    if (minute_ns == rolled->minute_ns)
        return SQLITE_OK;
    int rc = sum_up(store, of, DB_MINUTES_S, minute_ns, rolled->minute_ns);
    if (rc == SQLITE_OK && ten_ns != rolled->ten_ns) {
        rc = sum_up(store, of, DB_TENS_S, ten_ns, rolled->ten_ns);
        if (rc == SQLITE_OK)
            rc = forget(store, of, ts_ns);
    }
    if (rc == SQLITE_OK)
        rc = thin(store, of, ts_ns);
    if (rc == SQLITE_OK)
        *rolled = (struct db_rolled){minute_ns, ten_ns};
    return rc;
}

int db_apply_device_sample(struct db_store *store, const void *data)
{
    const struct db_device_sample *row = data;
    int rc = db_store_put(store, DB_SQL_DEVICE_SAMPLE, &db_record_device_samples, row, NULL);
    return rc == SQLITE_OK ? keep(store, &devices, &store->devices, row->ts_ns) : rc;
}

int db_apply_process_sample(struct db_store *store, const void *data)
{
    const struct db_process_sample *row = data;
    int rc = db_store_put(store, DB_SQL_PROCESS_SAMPLE, &db_record_process_samples, row, NULL);
    return rc == SQLITE_OK ? keep(store, &processes, &store->processes, row->ts_ns) : rc;
}

int db_apply_device_process(struct db_store *store, const void *data)
{
    struct db_device_process row = *(const struct db_device_process *)data;
    row.first_ns = row.ts_ns;
    row.n = 1;
    row.memory_bytes_max = row.memory_bytes;
    row.util_percent_max = row.util_percent;
    int rc = db_store_put(store, DB_SQL_DEVICE_PROCESS_AGAIN, &db_record_device_processes, &row, NULL);
    return rc != SQLITE_OK || sqlite3_changes(store->db) > 0
               ? rc
               : db_store_put(store, DB_SQL_DEVICE_PROCESS, &db_record_device_processes, &row, NULL);
}
