/* What a bug report needs. */
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <uv.h>
#include <zstd.h>

#include "cli/doctor/doctor.h"
#include "cli/doctor/faults.h"
#include "cli/text.h"
#include "daemon/procfs.h"

enum { TEXT_MAX = 512 };

/* The rest of the first line of a file that begins with `key`; "" where there is none. */
static void line_of(const char *path, const char *key, char ret[static TEXT_MAX])
{
    char line[4 * TEXT_MAX];
    FILE *file = fopen(path, "re");
    ret[0] = '\0';
    while (file && !ret[0] && fgets(line, sizeof line, file))
        if (strncmp(line, key, strlen(key)) == 0) {
            const char *from = line + strlen(key) + strspn(line + strlen(key), " \t:=\"");
            snprintf(ret, TEXT_MAX, "%.*s", (int)strcspn(from, "\"\n"), from);
        }
    if (file)
        fclose(file);
}

static void put(json_t *object, const char *key, const char *text)
{
    char clean[TEXT_MAX];
    cli_text_clean(clean, sizeof clean, text);
    json_object_set_new(object, key, clean[0] ? json_string(clean) : json_null());
}

/* Those that papertape has kernels for. */
static void put_cpu(json_t *object)
{
    char name[TEXT_MAX], text[2 * TEXT_MAX];
    line_of("/proc/cpuinfo", "model name", name);
    int n = snprintf(text, sizeof text, "%s, %ld threads", name, sysconf(_SC_NPROCESSORS_ONLN));
#if defined(__x86_64__)
    __builtin_cpu_init();
    const struct {
        const char *name;
        int has;
    } features[] = {{"avx2", __builtin_cpu_supports("avx2")},
                    {"fma", __builtin_cpu_supports("fma")},
                    {"avx512f", __builtin_cpu_supports("avx512f")},
                    {"avx512dq", __builtin_cpu_supports("avx512dq")}};
    for (size_t i = 0; i < sizeof features / sizeof *features; i++)
        if (features[i].has)
            n += snprintf(text + n, sizeof text - (size_t)n, ", %s", features[i].name);
#endif
    put(object, "cpu", text);
}

static void put_libraries(json_t *object)
{
    static const char *const of[] = {"libwebsockets", "libcurl", "OpenSSL", "SQLite"};
    char text[TEXT_MAX], version[DOCTOR_VERSION_MAX];
    int n = 0;
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        if (cli_doctor_version(of[i], version))
            n += snprintf(text + n, sizeof text - (size_t)n, "%s %s, ", of[i], version);
    snprintf(text + n, sizeof text - (size_t)n, "libuv %s, zstd %s, jansson %s", uv_version_string(),
             ZSTD_versionString(), jansson_version_str());
    put(object, "libraries", text);
}

static void put_memory(json_t *object)
{
    char text[TEXT_MAX];
    double pages = (double)sysconf(_SC_PHYS_PAGES), page = (double)sysconf(_SC_PAGESIZE);
    snprintf(text, sizeof text, "%.1f GiB, pages of %.0f bytes", pages * page / (1 << 30), page);
    put(object, "memory", text);
}

json_t *cli_doctor_system(const struct doctor *doctor)
{
    char text[TEXT_MAX];
    struct utsname kernel;
    json_t *object = json_object();
    put(object, "papertape", PAPERTAPE_VERSION);
    put(object, "daemon",
        doctor->status ? json_string_value(json_object_get(doctor->status, "version")) : "not running");
    line_of("/etc/os-release", "PRETTY_NAME", text);
    put(object, "system", text);
    if (uname(&kernel) == 0) {
        snprintf(text, sizeof text, "%.64s %.64s %.32s", kernel.sysname, kernel.release, kernel.machine);
        put(object, "kernel", text);
    }
    put_cpu(object);
    put_memory(object);
    if (cli_doctor_version("NVIDIA driver", text) && text[0])
        put(object, "nvidia driver", text);
    put_libraries(object);
    put(object, "configuration", doctor->config_from);
    return object;
}
