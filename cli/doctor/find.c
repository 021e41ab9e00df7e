/* What the checks know: the state, who holds it, and the configuration as the daemon has it or would have it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/control_client.h"
#include "cli/doctor/doctor.h"
#include "cli/running.h"
#include "daemon/policies.h"
#include "db/migrate.h"
#include "exchange/exit_status.h"
#include "record/option.h"

enum { STATUS_TIMEOUT_MS = 2000 };

/* The file, and what a running daemon's options say in its place; then what this command's do. */
static void find_config(const struct doctor_args *args, struct doctor *doctor)
{
    bool service = cli_service_of(&doctor->state, &doctor->service);
    if (args->given.file) {
        doctor->given.file = args->given.file;
        doctor->config_from = "as given";
    } else if (doctor->holder > 0 && cli_running_given(doctor->holder, &doctor->given)) {
        doctor->config_from = "that of the running daemon";
    } else if (service && access(doctor->service.config, F_OK) == 0) {
        doctor->given.file = doctor->service.config;
        doctor->config_from = "the service's";
    } else {
        doctor->config_from = "the defaults: --config names a file";
    }
    if (args->given.venue_url)
        doctor->given.venue_url = args->given.venue_url;
    if (args->given.rest_url)
        doctor->given.rest_url = args->given.rest_url;
    if (args->given.ca_file)
        doctor->given.ca_file = args->given.ca_file;
}

/* ---- all of it ---- */

/* Are the daemon's secrets this user's to read? */
static bool is_owner(const struct doctor *doctor)
{
    struct stat st;
    return stat(doctor->state.path, &st) < 0 || st.st_uid == geteuid();
}

/* The files that the keys name; but of another user's secrets nothing: `permissions` has their modes. */
static int check_files(struct doctor *doctor, char error[static CONFIG_ERROR_MAX])
{
    static struct notify_config before;
    struct notify_config *notify = &doctor->config->notify;
    struct policy_set *policies = NULL;
    before = *notify;
    for (int i = 0; i < notify->n_sinks && !is_owner(doctor); i++)
        if (strchr(notify->sinks[i].token, '/'))
            notify->sinks[i].token[0] = '\0';
    int r = daemon_config_check_files(&doctor->given, doctor->config, &policies, error);
    daemon_policy_set_destroy(policies);
    *notify = before;
    return r;
}

/* Keys first; then the files that they name, whose faults leave the configuration usable here. */
static void load_config(struct doctor *doctor)
{
    static char error[CONFIG_ERRORS_MAX];
    bool read;
    int r = daemon_config_load(&doctor->given, doctor->config, &read, error);
    doctor->config_good = r == 0;
    if (r == 0)
        r = check_files(doctor, error);
    if (r < 0)
        daemon_config_place(doctor->given.file, error, doctor->config_errors, sizeof doctor->config_errors);
}

bool cli_doctor_denied(int r)
{
    return r == -EACCES || r == -EREMOTEIO;
}

bool cli_doctor_silent(int r)
{
    return r < 0 && !cli_doctor_denied(r) && r != -ENOENT && r != -ECONNREFUSED;
}

static void find_status(struct doctor *doctor)
{
    struct control_error error = {0}, of_read = {0};
    json_t *status = NULL;
    if (access(doctor->state.socket, F_OK) < 0 && errno == ENOENT) { /* no database is opened here */
        doctor->status_errno = -ENOENT;
        return;
    }
    int r = cli_control_call(doctor->state.socket, "status", NULL, STATUS_TIMEOUT_MS, &status, &error);
    if (cli_doctor_denied(r)) {
        int read =
            cli_control_call(doctor->state.socket_read, "status", NULL, STATUS_TIMEOUT_MS, &status, &of_read);
        if (read == 0 || cli_doctor_silent(read)) {
            r = read;
            error = of_read;
        }
    }
    doctor->status_errno = r;
    doctor->status = r == 0 ? status : NULL;
    snprintf(doctor->status_words, sizeof doctor->status_words, "%s", error.message);
}

/* Where root finds what systemd gives the unit. */
static void find_credentials(const struct doctor *doctor)
{
    char path[sizeof doctor->service.unit + 32];
    snprintf(path, sizeof path, "/run/credentials/%s.service", doctor->service.unit);
    if (access(path, R_OK | X_OK) == 0)
        setenv("CREDENTIALS_DIRECTORY", path, 0);
}

/* Readers may not open the lock: the daemon says its number. */
static void find_holder(struct doctor *doctor)
{
    if (db_state_dir_holder(&doctor->state, &doctor->holder) < 1)
        doctor->holder = (pid_t)json_integer_value(json_object_get(doctor->status, "pid"));
}

int cli_doctor_find(struct option_call *call, struct doctor *ret)
{
    const struct doctor_args *args = call->into;
    char err[DB_ERROR_MAX];
    *ret = (struct doctor){.offline = args->offline, .asked = args->given};
    int r = db_state_dir_resolve(call->state, &ret->state, err, sizeof err);
    if (r < 0)
        return option_fail(call, r == -EINVAL ? EXIT_USAGE : EXIT_ERROR, "%s", err);
    ret->config = calloc(1, sizeof *ret->config);
    if (!ret->config)
        return option_fail(call, EXIT_ERROR, "out of memory");
    find_status(ret);
    find_holder(ret);
    find_config(args, ret);
    find_credentials(ret);
    load_config(ret);
    return EXIT_OK;
}

void cli_doctor_forget(struct doctor *doctor)
{
    json_decref(doctor->status);
    free(doctor->config);
}
