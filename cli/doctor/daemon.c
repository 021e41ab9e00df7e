/* Is a daemon there, and what did one leave? */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "cli/doctor/doctor.h"
#include "cli/doctor/listener.h"
#include "daemon/http/listen.h"

/* Has a process that ended left that socket? */
static bool is_stale(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct stat st;
    if (lstat(path, &st) < 0 || !S_ISSOCK(st.st_mode) || strlen(path) >= sizeof address.sun_path)
        return false;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    memcpy(address.sun_path, path, strlen(path) + 1);
    bool stale =
        fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) < 0 && errno == ECONNREFUSED;
    if (fd >= 0)
        close(fd);
    return stale;
}

static void check_stale(const char *path, const char *whose, struct doctor_results *results)
{
    if (!is_stale(path))
        return;
    cli_doctor_add(results, DOCTOR_WARNING,
                   "%s: a stale socket: %s that made it has ended without removing it", path, whose);
    cli_doctor_remedy(results, "rm %s; its next start replaces it, too", DOCTOR_QUOTE(path));
}

static void check_version(const struct doctor *doctor, struct doctor_results *results)
{
    const char *version = json_string_value(json_object_get(doctor->status, "version"));
    json_int_t pid = json_integer_value(json_object_get(doctor->status, "pid"));
    if (version && strcmp(version, PAPERTAPE_VERSION) != 0) {
        cli_doctor_add(results, DOCTOR_WARNING, "it runs %s, pid %lld; %s is installed", version,
                       (long long)pid, PAPERTAPE_VERSION);
        cli_doctor_remedy(results, "systemctl restart %s", doctor->service.unit);
        return;
    }
    cli_doctor_add(results, DOCTOR_OK, "it runs, pid %lld, version %s", (long long)pid,
                   version ? version : "not known");
}

/* A daemon that runs, or may run, and does not answer. */
static bool is_silent(const struct doctor *doctor)
{
    return !doctor->status && (doctor->holder > 0 || cli_doctor_silent(doctor->status_errno));
}

static void check_silent(const struct doctor *doctor, struct doctor_results *results)
{
    if (doctor->holder > 0)
        cli_doctor_add(results, DOCTOR_ERROR, "process %d holds %s, but does not answer: %s",
                       (int)doctor->holder, doctor->state.lock, doctor->status_words);
    else
        cli_doctor_add(results, DOCTOR_ERROR, "a process is there, but does not answer: %s",
                       doctor->status_words);
    cli_doctor_remedy(results, "journalctl -u %s -n 50; if it never answers, systemctl restart %s",
                      doctor->service.unit, doctor->service.unit);
}

/* ---- what it says of itself ---- */

static void check_log(const struct doctor *doctor, struct doctor_results *results)
{
    const json_t *log = json_object_get(doctor->status, "log");
    json_int_t lost = json_integer_value(json_object_get(log, "lost"));
    if (lost == 0)
        return;
    cli_doctor_add(results, DOCTOR_WARNING,
                   "%lld lines of its log were lost since its start: the %s took none", (long long)lost,
                   json_string_value(json_object_get(log, "to")));
    cli_doctor_remedy(results, "systemctl status systemd-journald; journalctl --disk-usage");
}

static void check_storing(const struct doctor *doctor, struct doctor_results *results)
{
    static const char *const parts[][2] = {{"db", "the database"}, {"events", "the event log"}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const json_t *part = json_object_get(doctor->status, parts[i][0]);
        const char *state = json_string_value(json_object_get(part, "state")),
                   *detail = json_string_value(json_object_get(part, "detail"));
        if (!state || strcmp(state, "ok") == 0)
            continue;
        cli_doctor_add(results, DOCTOR_ERROR, "%s: storing is %s: %s: no new positions until it works again",
                       parts[i][1], state, detail ? detail : "");
        cli_doctor_remedy(results, "df -h %s; papertape alerts list says since when",
                          DOCTOR_QUOTE(doctor->state.path));
    }
}

/* A place of [metrics] where the daemon does not listen, or will not be able to. */
static void check_place(const struct doctor *doctor, const char *key, const char *wanted, const char *where,
                        bool is_path, struct doctor_results *results)
{
    char by[DOCTOR_LISTENER_MAX] = "";
    struct stat st;
    pid_t pid = 0;
    if (is_path && lstat(where, &st) == 0 && !S_ISSOCK(st.st_mode)) {
        cli_doctor_add(results, DOCTOR_ERROR, "[metrics] %s = %s: %s is no socket, and is not replaced", key,
                       wanted, where);
        cli_doctor_remedy(results, "ls -l %s; another name is right", DOCTOR_QUOTE(where));
    } else if (cli_doctor_listener(where, is_path, by, &pid) && pid == 0 && is_silent(doctor)) {
        cli_doctor_add(results, DOCTOR_SKIPPED, "[metrics] %s = %s: %s listens there: is it the daemon?", key,
                       wanted, by);
        cli_doctor_remedy(results, "sudo papertape doctor");
    } else if (by[0] && (pid == 0 || pid != doctor->holder)) {
        cli_doctor_add(results, DOCTOR_ERROR, "[metrics] %s = %s: %s listens there", key, wanted, by);
        cli_doctor_remedy(results, "another place, or the end of that process; then papertape reload");
    } else if (doctor->status) {
        cli_doctor_add(results, DOCTOR_WARNING, "[metrics] %s = %s: it does not listen there", key, wanted);
        cli_doctor_remedy(results, "papertape reload; then papertape alerts list says why");
    }
}

static void check_metrics(const struct doctor *doctor, struct doctor_results *results)
{
    const struct daemon_config *config = doctor->config;
    const json_t *http = json_object_get(doctor->status, "http");
    char path[STATE_PATH_MAX + CONFIG_SOCKET_MAX];
    if (!doctor->config_good || cli_doctor_denied(doctor->status_errno))
        return;
    daemon_http_path(doctor->state.socket, config, path);
    const struct {
        const char *key, *wanted, *where;
    } places[] = {{"socket", config->metrics_socket, path},
                  {"listen", config->metrics_listen, config->metrics_listen}};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const char *is = json_string_value(json_object_get(http, places[i].key));
        if (places[i].wanted[0] && (!is || !is[0]))
            check_place(doctor, places[i].key, places[i].wanted, places[i].where, i == 0, results);
    }
}

/* What a reload could not apply. */
static void check_restart(const struct doctor *doctor, struct doctor_results *results)
{
    const json_t *change;
    size_t i;
    json_array_foreach(json_object_get(doctor->status, "restart"), i, change)
    {
        const char *section = json_string_value(json_object_get(change, "section")),
                   *key = json_string_value(json_object_get(change, "key"));
        cli_doctor_add(results, DOCTOR_WARNING, "[%s]%s%s: the file was changed, and it needs a restart",
                       section, key && *key ? " " : "", key ? key : "");
        cli_doctor_remedy(results, "systemctl restart %s", doctor->service.unit);
    }
}

/* Symbols that the configuration leaves out, and that are in use. */
static void check_left_out(const struct doctor *doctor, struct doctor_results *results)
{
    const json_t *left;
    size_t i;
    json_array_foreach(json_object_get(doctor->status, "left_out"), i, left)
    {
        const char *symbol = json_string_value(json_object_get(left, "symbol"));
        bool streamed = json_is_true(json_object_get(left, "streamed"));
        cli_doctor_add(results, DOCTOR_WARNING, "%s: account %s %s, and the configuration leaves it out%s",
                       symbol, json_string_value(json_object_get(left, "account")),
                       json_string_value(json_object_get(left, "why")),
                       streamed ? "" : ": it is not streamed, and nothing fills its orders");
        cli_doctor_remedy(results, "name it in the configuration again, or close it; then papertape reload");
    }
}

/* Accounts whose orders are filled at their venue. */
static void check_accounts(const struct doctor *doctor, struct doctor_results *results)
{
    const json_t *account;
    size_t i;
    json_array_foreach(json_object_get(doctor->status, "accounts"), i, account)
    {
        const json_t *at = json_object_get(account, "venue_account");
        const char *name = json_string_value(json_object_get(account, "account")),
                   *words = json_string_value(json_object_get(account, "at_venue")),
                   *detail = json_string_value(json_object_get(at, "detail"));
        bool attached = json_is_true(json_object_get(at, "attached"));
        if (!at)
            continue;
        cli_doctor_add(results, attached ? DOCTOR_OK : DOCTOR_WARNING, "account %s at %s%s%s", name, words,
                       detail && *detail ? ": " : "", detail ? detail : "");
        if (json_is_true(json_object_get(at, "halted")))
            cli_doctor_remedy(results, "papertape account reset %s; papertape alerts list says why", name);
        else if (!attached)
            cli_doctor_remedy(results,
                              "papertape reload tries its keys again; papertape alerts list says why");
    }
}

void cli_doctor_daemon(const struct doctor *doctor, struct doctor_results *results)
{
    char trainer[STATE_PATH_MAX + 16];
    snprintf(trainer, sizeof trainer, "%s/trainer.sock", doctor->state.path);
    if (doctor->status) {
        check_version(doctor, results);
        check_storing(doctor, results);
        check_log(doctor, results);
        check_restart(doctor, results);
        check_left_out(doctor, results);
        check_accounts(doctor, results);
    } else if (cli_doctor_denied(doctor->status_errno)) {
        cli_doctor_add(results, DOCTOR_SKIPPED, "%s", doctor->status_words);
    } else if (is_silent(doctor)) {
        check_silent(doctor, results);
    }
    check_metrics(doctor, results);
    check_stale(doctor->state.socket, "the daemon", results);
    check_stale(doctor->state.socket_read, "the daemon", results);
    check_stale(trainer, "the co-process", results);
    if (json_array_size(results->list) == 0)
        cli_doctor_add(results, DOCTOR_OK, "no daemon runs on %s", doctor->state.path);
}
