/* Which programs an alert's command may be: owner, modes, folders, links. */
#include "daemon/safe_program.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/config.h"
#include "tests/check.h"
#include "tests/scratch.h"

static char folder[SCRATCH_MAX];
static const char *inner, *program, *way;

static int safe(const char *path, const char *words)
{
    char err[600] = "";
    int r = daemon_safe_program(path, err, sizeof err);
    CHECK(strstr(err, words) != NULL);
    return r;
}

static void test_modes(void)
{
    CHECK_INT(safe(program, ""), 0);
    CHECK_INT(safe("sh", ""), 0); /* by $PATH, through a link */
    CHECK_INT(safe("papertape-no-such", "a program that this user may run"), -EACCES);
    CHECK_INT(safe("/papertape/no/such", "a program that this user may run"), -EACCES);
    CHECK_INT(safe(inner, "a program that this user may run"), -EACCES);
    static const mode_t modes[] = {0777, 0775, 0722};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        CHECK(chmod(program, modes[i]) == 0);
        CHECK_INT(safe(program, "not safe: others may write "), -EPERM);
        CHECK(chmod(program, 0755) == 0 && chmod(inner, modes[i]) == 0);
        CHECK_INT(safe(program, "not safe: others may write "), -EPERM);
        CHECK_INT(safe(way, "not safe"), -EPERM); /* what a link leads to */
        CHECK(chmod(inner, 0755) == 0 && chmod(folder, modes[i]) == 0);
        CHECK_INT(safe(program, "not safe"), -EPERM); /* a folder further up */
        CHECK_INT(safe(way, "not safe"), -EPERM);
        CHECK(chmod(folder, 0755) == 0);
    }
    CHECK(chmod(inner, 01777) == 0); /* sticky, as /tmp */
    CHECK_INT(safe(program, ""), 0);
    CHECK(chmod(inner, 0755) == 0);
    if (geteuid() != 0)
        return;
    CHECK(chown(program, 12345, 0) == 0);
    CHECK_INT(safe(program, "belongs to uid 12345"), -EPERM);
    CHECK(chown(program, 0, 0) == 0 && chown(inner, 12345, 0) == 0);
    CHECK_INT(safe(program, "belongs to uid 12345"), -EPERM);
    CHECK(chown(inner, 0, 0) == 0);
}

/* What a start, a reload, --check-config and doctor ask. */
static void test_configuration(void)
{
    static struct daemon_config config;
    char error[CONFIG_ERROR_MAX] = "", why[CONFIG_ERROR_MAX];
    daemon_config_defaults(&config);
    CHECK_INT(daemon_config_set(&config, "alerts", "command.ops", program, why), 0);
    CHECK_INT(daemon_config_sinks_files(&config, error), 0);
    CHECK(chmod(program, 0777) == 0);
    CHECK_INT(daemon_config_sinks_files(&config, error), -EINVAL);
    CHECK(strstr(error, "[alerts] command.ops: ") == error && strstr(error, "not safe"));
    CHECK(chmod(program, 0755) == 0);
}

int main(void)
{
    snprintf(folder, sizeof folder, "%s", scratch_root());
    inner = scratch_path("inner");
    way = scratch_path("way");
    CHECK(chmod(folder, 0755) == 0 && mkdir(inner, 0755) == 0 && chmod(inner, 0755) == 0);
    program = scratch_write("inner/notify", "#!/bin/sh\n");
    CHECK(chmod(program, 0755) == 0 && symlink(program, way) == 0);
    test_modes();
    test_configuration();
    return check_done("daemon/safe_program");
}
