#include <errno.h>
#include <stdio.h>

#include "cli/doctor/doctor.h"
#include "db/verify.h"

static void report(const struct doctor *doctor, const struct db_verified *found,
                   struct doctor_results *results)
{
    for (int i = 0; i < found->n_failures; i++) {
        cli_doctor_add(results, DOCTOR_ERROR, "%s", found->failures[i]);
        cli_doctor_remedy(results, "systemctl stop %s && papertaped --rebuild --state %s",
                          doctor->service.unit, DOCTOR_QUOTE(doctor->state.path));
    }
    if (found->ok)
        cli_doctor_add(results, DOCTOR_OK, "%llu rows, %llu orders, %llu fills add up",
                       (unsigned long long)found->ledger_rows, (unsigned long long)found->orders,
                       (unsigned long long)found->fills);
}

void cli_doctor_ledger(const struct doctor *doctor, struct doctor_results *results)
{
    char err[DB_ERROR_MAX];
    struct db_verified *found;
    struct db_reader *reader;
    int r = db_reader_open(doctor->state.database, &reader, err, sizeof err);
    if (r < 0) {
        cli_doctor_add(results, DOCTOR_SKIPPED, "see database: %s", err);
        return;
    }
    r = db_verify(reader, &found);
    if (r < 0) {
        cli_doctor_add(results, DOCTOR_ERROR, "%s", db_reader_error(reader));
        cli_doctor_remedy(results, "papertape ledger verify");
    } else {
        report(doctor, found, results);
    }
    db_reader_close(reader);
}
