/* The last backup, by the outcome that it left in the state. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/backup_outcome.h"
#include "cli/doctor/doctor.h"
#include "daemon/alert_machine.h"
#include "exchange/clock.h"
#include "exchange/whole_file.h"

enum { OUTCOME_MAX = 64 * 1024 };
#define DAY_NS   (INT64_C(86400) * 1000000000)
#define OLD_DAYS 7 /* where [alerts] backup_for says nothing */

/* "@NAME"; "" of the one service. */
static const char *instance_of(const struct doctor *doctor)
{
    const char *instance = strchr(doctor->service.unit, '@');
    return instance ? instance : "";
}

static void report_age(const struct doctor *doctor, int64_t ended_ns, struct doctor_results *results)
{
    const int64_t set_ns = doctor->config_good ? doctor->config->alerts.backup_old_ns : 0;
    const int64_t most_ns = set_ns > 0 ? set_ns : OLD_DAYS * DAY_NS, age_ns = clock_wall_ns() - ended_ns;
    char time[CLOCK_TEXT_MAX];
    cli_doctor_add(results, age_ns > most_ns ? DOCTOR_WARNING : DOCTOR_OK,
                   "the last one succeeded, %s, %.1f days ago: expected within %.1f days",
                   clock_utc_text(ended_ns, time), (double)age_ns / DAY_NS, (double)most_ns / DAY_NS);
    if (age_ns > most_ns)
        cli_doctor_remedy(results, "systemctl list-timers papertape-backup%s.timer; or papertape backup DIR",
                          instance_of(doctor));
}

void cli_doctor_backup(const struct doctor *doctor, struct doctor_results *results)
{
    char path[STATE_PATH_MAX + sizeof BACKUP_OUTCOME + 1], *text = NULL;
    struct machine_seen seen = {0};
    size_t n;
    snprintf(path, sizeof path, "%s/" BACKUP_OUTCOME, doctor->state.path);
    int r = whole_file_read(path, OUTCOME_MAX, &text, &n);
    if (r == -ENOENT) {
        cli_doctor_add(results, DOCTOR_SKIPPED, "there is no backup yet");
        cli_doctor_remedy(results, "systemctl enable --now papertape-backup%s.timer; or papertape backup DIR",
                          instance_of(doctor));
    } else if (r == -EACCES) {
        cli_doctor_add(results, DOCTOR_SKIPPED, "%s: %s", path, strerror(-r));
        cli_doctor_remedy(results, "run it as the daemon's user or root");
    } else if (r < 0 || !daemon_alert_backup_take(text, &seen)) {
        cli_doctor_add(results, DOCTOR_WARNING, "%s: %s", path,
                       r < 0 ? strerror(-r) : "it does not say what became of the last one");
        cli_doctor_remedy(results, "papertape backup DIR writes it again");
    } else if (seen.failed) {
        cli_doctor_add(results, DOCTOR_ERROR, "the last one failed: %s", seen.error);
        cli_doctor_remedy(results, "journalctl -u papertape-backup%s -n 20; then papertape backup DIR",
                          instance_of(doctor));
    } else {
        report_age(doctor, seen.backup_ns, results);
    }
    free(text);
}
