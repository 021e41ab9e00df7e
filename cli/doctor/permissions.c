/* Modes, owners, and what the daemon's user may read. Nothing is read but what stat() and access() say. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/doctor/access.h"
#include "cli/doctor/doctor.h"
#include "cli/doctor/parts.h"
#include "daemon/procfs.h"

/* That the unit loads (systemd/papertaped.service.in): others need a drop-in. */
static bool is_of_unit(const char *credential)
{
    return strcmp(credential, "keys") == 0 || strcmp(credential, "ledger") == 0;
}

enum { ENTRY_PATH_MAX = STATE_PATH_MAX + NAME_MAX + 2, NAMED_MAX = 4, CREDENTIAL_MAX = STATE_PATH_MAX };

struct looking {
    const struct doctor *doctor;
    struct doctor_results *results;
    uid_t owner; /* of the state's folder: everything in it has to be that user's */
    int wrong;   /* owners found so far */
};

/* "papertape", or the number. */
static const char *user_name(uid_t uid, char ret[static 64])
{
    const struct passwd *user = getpwuid(uid);
    if (user)
        snprintf(ret, 64, "%s", user->pw_name);
    else
        snprintf(ret, 64, "%u", (unsigned)uid);
    return ret;
}
#define USER_NAME(uid) user_name(uid, (char[64]){0})

/* Whom a process runs as; /proc/PID itself is root's where it may not be traced. */
static bool user_of(pid_t pid, uid_t *ret)
{
    char text[PROCFS_TEXT_MAX];
    unsigned real, effective;
    const char *line =
        daemon_procfs_read_of(pid, "status", text, sizeof text) > 0 ? strstr(text, "\nUid:") : NULL;
    if (!line || sscanf(line, "\nUid: %u %u", &real, &effective) != 2)
        return false;
    *ret = effective;
    return true;
}

static void check_mode(struct looking *look, mode_t mode)
{
    const char *path = look->doctor->state.path;
    if (mode & S_IWOTH)
        cli_doctor_add(look->results, DOCTOR_ERROR, "%s: every user may write in it (mode %04o)", path,
                       (unsigned)(mode & 07777));
    else if (mode & S_IROTH)
        cli_doctor_add(look->results, DOCTOR_WARNING, "%s: every user may list it (mode %04o)", path,
                       (unsigned)(mode & 07777));
    else
        return;
    cli_doctor_remedy(look->results, "chmod 0750 %s", DOCTOR_QUOTE(path));
}

/* The user that the daemon runs as, or will. */
static uid_t daemon_user(const struct looking *look)
{
    uid_t user;
    return look->doctor->holder > 0 && user_of(look->doctor->holder, &user) ? user : look->owner;
}

static void check_daemon(struct looking *look)
{
    const char *path = look->doctor->state.path;
    uid_t user = daemon_user(look);
    if (user == look->owner)
        return;
    look->wrong++;
    cli_doctor_add(look->results, DOCTOR_ERROR, "%s: belongs to %s, the daemon runs as %s", path,
                   USER_NAME(look->owner), USER_NAME(user));
    cli_doctor_remedy(look->results, "systemctl stop %s; chown -hR %s: %s", look->doctor->service.unit,
                      USER_NAME(user), DOCTOR_QUOTE(path));
}

static void check_owner(struct looking *look, const char *path, const struct stat *st)
{
    if (st->st_uid == look->owner || ++look->wrong > NAMED_MAX)
        return;
    cli_doctor_add(look->results, DOCTOR_ERROR, "%s: belongs to %s, the state to %s", path,
                   USER_NAME(st->st_uid), USER_NAME(look->owner));
    cli_doctor_remedy(look->results, "chown -hR %s: %s", USER_NAME(look->owner),
                      DOCTOR_QUOTE(look->doctor->state.path));
}

/* A file, socket or folder of the state's. Of the control sockets' clients the daemon asks who they are
 * (docs/roles.md), of metrics' not. */
static void check_entry(struct looking *look, const char *path)
{
    struct stat st;
    if (lstat(path, &st) < 0)
        return; /* removed meanwhile */
    check_owner(look, path, &st);
    const struct state_dir *state = &look->doctor->state;
    bool asks = strcmp(path, state->socket) == 0 || strcmp(path, state->socket_read) == 0;
    if (S_ISLNK(st.st_mode) || asks || !(st.st_mode & S_IWOTH))
        return;
    cli_doctor_add(look->results, DOCTOR_ERROR, "%s: every user may write in it (mode %04o)", path,
                   (unsigned)(st.st_mode & 07777));
    cli_doctor_remedy(look->results, "chmod o-w %s", DOCTOR_QUOTE(path));
}

/* False where this user may not look into it. */
static bool check_folder(struct looking *look, const char *path)
{
    DIR *listing = opendir(path);
    const int error = errno;
    if (!listing && error != ENOENT && error != ENOTDIR) { /* which cli_doctor_kinds() reports */
        cli_doctor_add(look->results, DOCTOR_SKIPPED, "%s: %s: %s and its group may look into it", path,
                       strerror(error), USER_NAME(look->owner));
        cli_doctor_remedy(look->results, "sudo -u %s papertape doctor", USER_NAME(look->owner));
        return false;
    }
    for (const struct dirent *entry; listing && (entry = readdir(listing));) {
        char inner[ENTRY_PATH_MAX];
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name);
        check_entry(look, inner);
    }
    if (listing)
        closedir(listing);
    return true;
}

/* A credential's file in /etc/credstore: an instance has its own of the one that the unit itself names. */
static const char *credential_file(const struct doctor *doctor, const char *name,
                                   char ret[static CREDENTIAL_MAX])
{
    const char *instance = strchr(doctor->service.unit, '@');
    if (instance && is_of_unit(name))
        snprintf(ret, CREDENTIAL_MAX, "papertape-%s.%s", instance + 1, name);
    else
        snprintf(ret, CREDENTIAL_MAX, "%s", name);
    return ret;
}

/* The service manager's files of it, unless a drop-in names another. */
static bool has_credential_file(const struct doctor *doctor, const char *name)
{
    static const char *const folders[] = {"/etc/credstore.encrypted", "/etc/credstore",
                                          "/run/credstore.encrypted", "/run/credstore", "/usr/lib/credstore"};
    char file[CREDENTIAL_MAX], path[CREDENTIAL_MAX + 32];
    credential_file(doctor, name, file);
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        snprintf(path, sizeof path, "%s/%s", folders[i], file);
        if (access(path, F_OK) == 0)
            return true;
    }
    return false;
}

/* What a running unit was given; else what it will find. */
static void check_credential(struct looking *look, const char *key, const char *name, const char *lines)
{
    const char *folder = getenv("CREDENTIALS_DIRECTORY");
    char path[STATE_PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", folder ? folder : "", name);
    if (folder ? access(path, F_OK) == 0 : has_credential_file(look->doctor, name))
        return;
    if (!folder && geteuid() != 0) {
        cli_doctor_add(look->results, DOCTOR_SKIPPED, "%s = %s: a credential of the unit is seen by root",
                       key, name);
        return;
    }
    const char *unit = look->doctor->service.unit;
    char file[CREDENTIAL_MAX], drop_in[CREDENTIAL_MAX + 128] = "";
    if (!is_of_unit(name))
        snprintf(drop_in, sizeof drop_in, "systemctl edit %s: [Service], LoadCredential=%s; ", unit, name);
    cli_doctor_add(look->results, folder ? DOCTOR_ERROR : DOCTOR_WARNING, "%s = %s: %s", key, name,
                   folder ? "the unit was started without such a credential"
                          : "there is no such credential, unless a drop-in of the unit has it");
    cli_doctor_remedy(look->results,
                      "install -m 0600 /dev/stdin /etc/credstore/%s: %s; %ssystemctl restart %s",
                      credential_file(look->doctor, name, file), lines, drop_in, unit);
}

/* A secret's file, of so many lines, or a credential. */
static void check_secret(struct looking *look, const char *key, const char *path, const char *lines)
{
    struct stat st;
    if (path[0] && !strchr(path, '/'))
        check_credential(look, key, path, lines);
    if (!strchr(path, '/'))
        return;
    if (stat(path, &st) < 0) {
        const int error = errno;
        cli_doctor_add(look->results, error == EACCES ? DOCTOR_SKIPPED : DOCTOR_ERROR, "%s: %s: %s", key,
                       path, strerror(error));
        if (error != EACCES)
            cli_doctor_remedy(look->results, "install -m 0600 -o %s /dev/stdin %s: %s",
                              USER_NAME(look->owner), DOCTOR_QUOTE(path), lines);
        return;
    }
    if (st.st_mode & 077) {
        cli_doctor_add(look->results, DOCTOR_ERROR, "%s: %s: others may read it (mode %04o)", key, path,
                       (unsigned)(st.st_mode & 07777));
        cli_doctor_remedy(look->results, "chmod 0600 %s; then another secret from who gave it",
                          DOCTOR_QUOTE(path));
    }
    if (st.st_uid != look->owner && st.st_uid != 0) {
        cli_doctor_add(look->results, DOCTOR_ERROR, "%s: %s: belongs to %s, the state to %s", key, path,
                       USER_NAME(st.st_uid), USER_NAME(look->owner));
        cli_doctor_remedy(look->results, "chown %s %s", USER_NAME(look->owner), DOCTOR_QUOTE(path));
    }
}

static void check_secrets(struct looking *look)
{
    const struct daemon_config *config = look->doctor->config;
    char key[128];
    check_secret(look, "[ledger] key", config->ledger.key, "an Ed25519 private key in PEM");
    for (int v = 0; v < config->n_venues; v++) {
        snprintf(key, sizeof key, "[venue %s] keys", config->venues[v].venue->format->name);
        check_secret(look, key, config->venues[v].keys, "two lines, id and secret");
    }
    for (int a = 0; a < config->n_accounts; a++) {
        snprintf(key, sizeof key, "[account %s] execution_keys", config->accounts[a].name);
        check_secret(look, key, config->accounts[a].execution_keys, "two lines, id and secret");
    }
    for (int i = 0; i < config->notify.n_sinks; i++) {
        const struct notify_sink *sink = &config->notify.sinks[i];
        snprintf(key, sizeof key, "[alerts] %s%s",
                 sink->kind == NOTIFY_MAIL ? "mail_password" : "webhook_token",
                 sink->name + strcspn(sink->name, "."));
        check_secret(look, key, sink->token, "one line");
    }
}

void cli_doctor_permissions(const struct doctor *doctor, struct doctor_results *results)
{
    struct looking look = {doctor, results, 0, 0};
    struct stat st;
    if (stat(doctor->state.path, &st) < 0) {
        cli_doctor_add(results, DOCTOR_ERROR, "%s: %s", doctor->state.path, strerror(errno));
        cli_doctor_remedy(results, "ls -ld %s", DOCTOR_QUOTE(doctor->state.path));
        return;
    }
    look.owner = st.st_uid;
    check_mode(&look, st.st_mode);
    check_daemon(&look);
    if (check_folder(&look, doctor->state.path)) {
        check_folder(&look, doctor->state.events);
        check_folder(&look, doctor->state.policies);
        check_folder(&look, doctor->state.checkpoints);
    }
    check_entry(&look, doctor->state.socket);
    cli_doctor_kinds(&doctor->state, results);
    if (doctor->config_good)
        check_secrets(&look);
    const uid_t user = daemon_user(&look);
    cli_doctor_access(doctor, user, USER_NAME(user), results);
    if (look.wrong > NAMED_MAX) {
        cli_doctor_add(results, DOCTOR_ERROR, "%s: %d more files of other users", doctor->state.path,
                       look.wrong - NAMED_MAX);
        cli_doctor_remedy(results, "chown -hR %s: %s", USER_NAME(look.owner),
                          DOCTOR_QUOTE(doctor->state.path));
    }
    if (json_array_size(results->list) == 0)
        cli_doctor_add(results, DOCTOR_OK, "%s: of %s, mode %04o", doctor->state.path, USER_NAME(look.owner),
                       (unsigned)(st.st_mode & 07777));
}
