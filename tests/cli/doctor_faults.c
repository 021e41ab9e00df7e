/* Which versions have a known fault: the first with it, the first without, branches that are cured on their
 * own. */
#include "cli/doctor/faults.h"

#include <string.h>

#include "tests/check.h"

static void versions(void)
{
    CHECK_INT(cli_doctor_version_compare("3.40.1", "3.40.1"), 0);
    CHECK_INT(cli_doctor_version_compare("3.9.0", "3.40.1"), -1);
    CHECK_INT(cli_doctor_version_compare("4.3", "4.3.0"), 0);
    CHECK_INT(cli_doctor_version_compare("4.3.1", "4.3"), 1);
    CHECK_INT(cli_doctor_version_compare("6.1.64", "6.1.0"), 1);
    CHECK_INT(cli_doctor_version_compare("525.60.13", "525.105"), -1);
    CHECK_INT(cli_doctor_version_compare("6.1.64-1-amd64", "6.1.64"), 0);
}

static void faults(void)
{
    const struct doctor_fault fault = {
        .of = "it", .from = "3.7.0", .cure = "3.51.3", .branches = "3.44.6 3.50.7"};
    const struct doctor_fault early = {.of = "it", .from = "", .cure = "4.3.3", .branches = ""};
    static const char *const have[] = {"3.7.0", "3.40.1", "3.44.5", "3.45.0", "3.50.6", "3.51.2"};
    static const char *const have_not[] = {"3.6.23", "3.44.6", "3.44.10", "3.50.7",
                                           "3.51.3", "3.52.0", "4.0.0"};
    for (size_t i = 0; i < sizeof have / sizeof *have; i++)
        CHECK(cli_doctor_fault_has(&fault, have[i]));
    for (size_t i = 0; i < sizeof have_not / sizeof *have_not; i++)
        CHECK(!cli_doctor_fault_has(&fault, have_not[i]));
    CHECK(cli_doctor_fault_has(&early, "0.1"));
    CHECK(!cli_doctor_fault_has(&early, "4.3.3"));
}

/* Each row is of something whose version is found out, has a range and a source. */
static void table(void)
{
    char version[DOCTOR_VERSION_MAX];
    for (size_t i = 0; i < cli_doctor_faults_n; i++) {
        const struct doctor_fault *fault = &cli_doctor_faults[i];
        CHECK(cli_doctor_version(fault->of, version));
        CHECK(fault->from[0] == '\0' || cli_doctor_version_compare(fault->from, fault->cure) < 0);
        CHECK(!cli_doctor_fault_has(fault, fault->cure));
        CHECK(strncmp(fault->source, "https://", 8) == 0 && fault->words[0]);
    }
    CHECK(cli_doctor_version("SQLite", version) && version[0] == '3');
    CHECK(!cli_doctor_version("Perl", version));
}

int main(void)
{
    versions();
    faults();
    table();
    return check_done("doctor_faults");
}
