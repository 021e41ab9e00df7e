/* The installed units, as systemd rates them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/doctor/doctor.h"

#define EXPECTED 1.6 /* tests/system/unit_security.sh */
#define EXPOSED  5.0

enum { UNIT_PATH_MAX = 256, UNIT_NAME_MAX = 128 };

/* The file of a unit, of an instance its template; "": it is not installed. */
static void find_unit(const char *unit, char ret[static UNIT_PATH_MAX])
{
    char name[UNIT_NAME_MAX];
    const int n = (int)strcspn(unit, "@");
    snprintf(name, sizeof name, "%.*s%s", n < UNIT_NAME_MAX / 2 ? n : UNIT_NAME_MAX / 2, unit,
             unit[n] ? "@.service" : "");
    static const char *const places[] = {"/etc/systemd/system", "/run/systemd/system",
                                         "/usr/local/lib/systemd/system", "/usr/lib/systemd/system",
                                         "/lib/systemd/system"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        snprintf(ret, UNIT_PATH_MAX, "%s/%s", places[i], name);
        if (access(ret, R_OK) == 0)
            return;
    }
    ret[0] = '\0';
}

/* Reads "→ Overall exposure level for papertaped.service: 1.5 OK"; below 0 without such a line. */
static double run_analyze(const char *unit, const char *option)
{
    char command[2 * UNIT_PATH_MAX], line[512];
    double score = -1;
    snprintf(command, sizeof command, "systemd-analyze security --no-pager %s %s 2>/dev/null", option, unit);
    FILE *output = popen(command, "re");
    while (output && fgets(line, sizeof line, output)) {
        const char *at = strstr(line, "exposure level for"), *colon = at ? strchr(at, ':') : NULL;
        if (colon)
            score = strtod(colon + 1, NULL);
    }
    if (output)
        pclose(output);
    return score;
}

/* With its drop-ins where systemd runs; else the file alone. */
static void check(const char *name, struct doctor_results *results)
{
    char path[UNIT_PATH_MAX];
    find_unit(name, path);
    if (!path[0]) {
        cli_doctor_add(results, DOCTOR_SKIPPED, "%s is not installed", name);
        return;
    }
    double score = access("/run/systemd/system", F_OK) == 0 ? run_analyze(name, "") : -1;
    if (score < 0)
        score = run_analyze(path, "--offline=yes");
    if (score < 0) {
        cli_doctor_add(results, DOCTOR_SKIPPED, "systemd-analyze is not here, or does not rate %s", path);
        return;
    }
    enum doctor_state state = score > EXPOSED ? DOCTOR_ERROR : score > EXPECTED ? DOCTOR_WARNING : DOCTOR_OK;
    cli_doctor_add(results, state, "%s: exposure %.1f, expected at most %.1f", path, score, EXPECTED);
    if (state != DOCTOR_OK)
        cli_doctor_remedy(results, "systemctl cat %s: what opens it? a drop-in: systemctl revert %s", name,
                          name);
}

void cli_doctor_unit(const struct doctor *doctor, struct doctor_results *results)
{
    static const char *const units[] = {"papertaped", "papertape-trainer", "papertape-backup",
                                        "papertape-report"};
    const char *instance = strchr(doctor->service.unit, '@');
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        char name[UNIT_NAME_MAX];
        snprintf(name, sizeof name, "%s%.64s.service", units[i], instance ? instance : "");
        check(name, results);
    }
}
