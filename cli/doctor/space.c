#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "cli/doctor/doctor.h"
#include "cli/doctor/place.h"

enum {
    WARNING_PERCENT = 90, /* used, where less than PLENTY is free */
    ERROR_PERCENT = 95,
};
#define MIB    (INT64_C(1) << 20)
#define PLENTY (10240 * MIB)
#define SCANT  (1024 * MIB) /* free: a warning */
#define LEAST  (128 * MIB)  /* free: an error: the next segment of the event log and the WAL fill it */

/* Of what is used, and may be used by others than root. */
static double percent_used(double all, double free, double available)
{
    double used = all - free;
    return used + available > 0 ? 100 * used / (used + available) : 100;
}

static enum doctor_state room_state(double bytes, double percent)
{
    if (bytes < LEAST || (percent >= ERROR_PERCENT && bytes < PLENTY))
        return DOCTOR_ERROR;
    return bytes < SCANT || (percent >= WARNING_PERCENT && bytes < PLENTY) ? DOCTOR_WARNING : DOCTOR_OK;
}

static void check_room(const char *path, const struct statvfs *fs, struct doctor_results *results)
{
    double block = (double)fs->f_frsize, available = (double)fs->f_bavail * block;
    double percent = percent_used((double)fs->f_blocks, (double)fs->f_bfree, (double)fs->f_bavail);
    enum doctor_state state = room_state(available, percent);
    cli_doctor_add(results, state, "%s: %.1f GiB free, %.0f %% used", path, available / (1 << 30), percent);
    if (state != DOCTOR_OK)
        cli_doctor_remedy(results, "du -xh %s | sort -h | tail; [events] keep_days, keep_mb",
                          DOCTOR_QUOTE(path));
}

static void check_inodes(const char *path, const struct statvfs *fs, struct doctor_results *results)
{
    double percent = percent_used((double)fs->f_files, (double)fs->f_ffree, (double)fs->f_favail);
    if (fs->f_files == 0 || percent < WARNING_PERCENT) /* 0: made as they are needed */
        return;
    cli_doctor_add(results, percent >= ERROR_PERCENT ? DOCTOR_ERROR : DOCTOR_WARNING,
                   "%s: %.0f %% of its inodes are used", path, percent);
    cli_doctor_remedy(results, "du -x --inodes %s | sort -h | tail", DOCTOR_QUOTE(path));
}

static void check(const char *path, struct doctor_results *results)
{
    struct statvfs fs;
    if (statvfs(path, &fs) < 0) {
        cli_doctor_add(results, DOCTOR_ERROR, "%s: %s", path, strerror(errno));
        cli_doctor_remedy(results, "ls -ld %s", DOCTOR_QUOTE(path));
        return;
    }
    check_room(path, &fs, results);
    check_inodes(path, &fs, results);
}

void cli_doctor_space(const struct doctor *doctor, struct doctor_results *results)
{
    char path[STATE_PATH_MAX];
    struct stat state, events;
    cli_doctor_place(doctor->state.path, path);
    check(path, results);
    if (stat(path, &state) == 0 && stat(doctor->state.events, &events) == 0 && state.st_dev != events.st_dev)
        check(doctor->state.events, results);
}
