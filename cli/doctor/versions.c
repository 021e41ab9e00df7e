#include <curl/curl.h>
#include <libwebsockets.h>
#include <openssl/crypto.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "cli/doctor/doctor.h"
#include "cli/doctor/faults.h"
#include "exchange/net/lazy_curl.h"

/* The kernel module's, without asking the driver: "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.183.01
 * …". "": there is none. */
static const char *driver_version(char *ret, size_t size)
{
    char line[256] = "";
    FILE *file = fopen("/proc/driver/nvidia/version", "re");
    const char *from = file && fgets(line, sizeof line, file) ? strstr(line, "Module") : NULL;
    if (file)
        fclose(file);
    from = from ? strpbrk(from, "0123456789") : NULL;
    snprintf(ret, size, "%.*s", from ? (int)strspn(from, "0123456789.") : 0, from ? from : "");
    return ret;
}

/* "": it cannot be loaded, which the network's probe reports. */
static const char *version_of_curl(void)
{
    char ignored[DOCTOR_VERSION_MAX];
    return net_curl_load(ignored, sizeof ignored) == 0 ? curl_version_info(CURLVERSION_NOW)->version : "";
}

bool cli_doctor_version(const char *of, char ret[static DOCTOR_VERSION_MAX])
{
    char openssl[DOCTOR_VERSION_MAX], driver[DOCTOR_VERSION_MAX];
    struct utsname kernel = {0};
    snprintf(openssl, sizeof openssl, "%u.%u.%u", OPENSSL_version_major(), OPENSSL_version_minor(),
             OPENSSL_version_patch());
    uname(&kernel);
    const struct {
        const char *of, *version;
    } known[] = {{"libwebsockets", lws_get_library_version()},
                 {"libcurl", version_of_curl()},
                 {"SQLite", sqlite3_libversion()},
                 {"OpenSSL", openssl},
                 {"Linux", kernel.release},
                 {"NVIDIA driver", driver_version(driver, sizeof driver)}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].of, of) == 0) {
            snprintf(ret, DOCTOR_VERSION_MAX, "%.*s", (int)strspn(known[i].version, "0123456789."),
                     known[i].version);
            return true;
        }
    return false;
}

static void report(const struct doctor_fault *fault, const char *version, struct doctor_results *results)
{
    if (fault->avoided) {
        cli_doctor_add(results, DOCTOR_OK, "%s %s: %s; papertape avoids it: %s (cured in %s; %s)", fault->of,
                       version, fault->words, fault->avoided, fault->cure, fault->source);
        return;
    }
    cli_doctor_add(results, DOCTOR_WARNING, "%s %s: %s (cured in %s; %s)", fault->of, version, fault->words,
                   fault->cure, fault->source);
    cli_doctor_remedy(results, "update %s to %s or later, or to a package whose changelog has the cure",
                      fault->of, fault->cure);
}

void cli_doctor_versions(const struct doctor *doctor, struct doctor_results *results)
{
    char version[DOCTOR_VERSION_MAX];
    (void)doctor;
    for (size_t f = 0; f < cli_doctor_faults_n; f++) {
        const struct doctor_fault *fault = &cli_doctor_faults[f];
        if (cli_doctor_version(fault->of, version) && version[0] && cli_doctor_fault_has(fault, version))
            report(fault, version, results);
    }
    if (json_array_size(results->list) == 0)
        cli_doctor_add(results, DOCTOR_OK, "no known fault");
}
