#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/doctor/doctor.h"
#include "daemon/rebuild.h"
#include "db/reader.h"
#include "exchange/clock.h"

#define LARGE_WAL \
    (INT64_C(1) << 30) /* bytes: it is emptied at every checkpoint, unless a reader holds it \
                        */

static double size_of(const char *path, const char *end)
{
    char whole[STATE_PATH_MAX + 8];
    struct stat st;
    snprintf(whole, sizeof whole, "%s%s", path, end);
    return stat(whole, &st) == 0 ? (double)st.st_size : 0;
}

static void report_closed(const struct doctor *doctor, int r, const char *words,
                          struct doctor_results *results)
{
    const char *path = doctor->state.database;
    cli_doctor_add(results,
                   r == -EACCES || r == -EPERM ? DOCTOR_SKIPPED
                   : r == -ESTALE              ? DOCTOR_WARNING
                                               : DOCTOR_ERROR,
                   "%s: %s", path, words);
    if (r == -EOVERFLOW)
        cli_doctor_remedy(results, "apt install --only-upgrade papertape; or restore the backup from before");
    else if (r == -ESTALE)
        cli_doctor_remedy(results, "systemctl start %s", doctor->service.unit);
    else if (r == -EACCES || r == -EPERM)
        cli_doctor_remedy(results, "run it as the daemon's user or root");
    else if (r == -EBADMSG || r == -EMEDIUMTYPE || r == -ENODATA || r == -ENOENT)
        cli_doctor_remedy(results, "systemctl stop %s && papertaped --rebuild --state %s",
                          doctor->service.unit, DOCTOR_QUOTE(doctor->state.path));
    else
        cli_doctor_remedy(results, "dmesg | tail -50");
}

/* `partly`: there was no time for all of it. */
static void report_sizes(const char *path, bool partly, struct doctor_results *results)
{
    double wal = size_of(path, "-wal");
    cli_doctor_add(results, wal > (double)LARGE_WAL ? DOCTOR_WARNING : DOCTOR_OK,
                   "schema %d, no fault found%s; %.1f MiB, write-ahead log %.1f MiB", db_migrations_count,
                   partly ? " in the part that was read" : "", size_of(path, "") / (1 << 20),
                   wal / (1 << 20));
    if (wal > (double)LARGE_WAL)
        cli_doctor_remedy(results, "end what reads it for long: fuser -v %s", DOCTOR_QUOTE(path));
}

void cli_doctor_database(const struct doctor *doctor, struct doctor_results *results)
{
    char err[DB_ERROR_MAX] = "";
    struct db_reader *reader;
    const char *path = doctor->state.database;
    int64_t start_ms = clock_now_ms();
    int r = db_reader_open(path, &reader, err, sizeof err); /* which schema it has */
    if (r == 0) {
        db_reader_close(reader);
        r = daemon_rebuild_check(path, DOCTOR_READ_MS, err, sizeof err);
    }
    if (r < 0)
        report_closed(doctor, r, err, results);
    else
        report_sizes(path, clock_now_ms() - start_ms >= DOCTOR_READ_MS, results);
}
