#include "cli/doctor/access.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PLACES_MAX = 512, KEY_MAX = 96 };

struct place {
    char key[KEY_MAX]; /* of the configuration; "": the state's own */
    const char *path;
    int how; /* as access() takes it */
    int error;
};

struct places {
    struct place list[PLACES_MAX];
    int n;
};

/* A credential's name is none: the service manager reads its file. The key is `before` NAME `after`. */
static void add(struct places *places, int how, const char *path, const char *before, const char *name,
                const char *after)
{
    if (!path[0] || places->n == PLACES_MAX || !strchr(path, '/'))
        return;
    struct place *place = &places->list[places->n++];
    *place = (struct place){.path = path, .how = how};
    snprintf(place->key, sizeof place->key, "%s%s%s", before, name, after);
}

static void add_configured(struct places *places, const struct doctor *doctor)
{
    const struct daemon_config *config = doctor->config;
    if (!doctor->asked.ca_file)
        add(places, R_OK, config->ca_file, "[market] ca_file: ", "", "");
    add(places, R_OK, config->notify.ca_file, "[alerts] ca_file: ", "", "");
    for (int v = 0; v < config->n_venues; v++)
        add(places, R_OK, config->venues[v].keys, "[venue ", config->venues[v].venue->format->name,
            "] keys: ");
    for (int i = 0; i < config->notify.n_sinks; i++)
        add(places, R_OK, config->notify.sinks[i].token, "[alerts] the secret of ",
            config->notify.sinks[i].name, ": ");
    for (int a = 0; a < config->n_accounts; a++) {
        add(places, R_OK, config->accounts[a].policy, "[account ", config->accounts[a].name, "] policy: ");
        add(places, R_OK, config->accounts[a].actions, "[account ", config->accounts[a].name, "] actions: ");
        add(places, R_OK, config->accounts[a].execution_keys, "[account ", config->accounts[a].name,
            "] execution_keys: ");
    }
}

static void find_places(struct places *places, const struct doctor *doctor)
{
    const struct state_dir *state = &doctor->state;
    add(places, R_OK | W_OK | X_OK, state->path, "", "", "");
    add(places, R_OK | W_OK, state->database, "", "", "");
    add(places, R_OK | W_OK | X_OK, state->events, "", "", "");
    add(places, R_OK | W_OK | X_OK, state->policies, "", "", "");
    if (doctor->given.file &&
        (!doctor->asked.file || strcmp(doctor->asked.file, doctor->service.config) == 0))
        add(places, R_OK, doctor->given.file, "the configuration: ", "", "");
    if (doctor->config_good)
        add_configured(places, doctor);
}

/* ---- as that user ---- */

/* In a file that should be a directory no user may search, whatever its mode is. */
static int look_at(const struct place *place)
{
    struct stat st;
    if ((place->how & X_OK) && stat(place->path, &st) == 0 && !S_ISDIR(st.st_mode))
        return ENOTDIR;
    return access(place->path, place->how) < 0 ? errno : 0;
}

static void look(struct places *places)
{
    for (int i = 0; i < places->n; i++)
        places->list[i].error = look_at(&places->list[i]);
}

static bool become(uid_t uid, gid_t gid)
{
    const struct passwd *user = getpwuid(uid);
    gid = user ? user->pw_gid : gid;
    return (user ? initgroups(user->pw_name, gid) : setgroups(0, NULL)) == 0 && setgid(gid) == 0 &&
           setuid(uid) == 0;
}

/* In a process of its own. False: it could not be. */
static bool look_as(struct places *places, uid_t uid, gid_t gid)
{
    int ends[2], status = 0, errors[PLACES_MAX];
    if (pipe(ends) < 0)
        return false;
    pid_t pid = fork();
    if (pid == 0) {
        if (!become(uid, gid))
            _exit(1);
        look(places);
        for (int i = 0; i < places->n; i++)
            errors[i] = places->list[i].error;
        _exit(write(ends[1], errors, (size_t)places->n * sizeof *errors) < 0);
    }
    close(ends[1]);
    ssize_t n = pid > 0 ? read(ends[0], errors, sizeof errors) : -1; /* less than a pipe holds: at once */
    close(ends[0]);
    if (pid < 0 || waitpid(pid, &status, 0) < 0 || n != (ssize_t)((size_t)places->n * sizeof *errors))
        return false;
    for (int i = 0; i < places->n; i++)
        places->list[i].error = errors[i];
    return true;
}

/* ---- what was found ---- */

/* What the service's unit hides, without its drop-ins; NULL: it does not. */
static const char *hidden(const char *path)
{
    static const char *const places[][2] = {{"/home/", "ProtectHome="},
                                            {"/root/", "ProtectHome="},
                                            {"/run/user/", "ProtectHome="},
                                            {"/tmp/", "PrivateTmp="},
                                            {"/var/tmp/", "PrivateTmp="}};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (strncmp(path, places[i][0], strlen(places[i][0])) == 0)
            return places[i][1];
    return NULL;
}

static void report(const struct doctor *doctor, const struct place *place, const char *user,
                   struct doctor_results *results)
{
    struct cli_service service;
    const char *by = cli_service_of(&doctor->state, &service) ? hidden(place->path) : NULL;
    if (by) {
        cli_doctor_add(results, DOCTOR_WARNING,
                       "%s%s: the unit does not see it (%s), unless a drop-in lets it", place->key,
                       place->path, by);
        cli_doctor_remedy(results, "put it below /etc/papertape");
    } else if (place->error == EACCES || place->error == EPERM || place->error == EROFS) {
        cli_doctor_add(results, DOCTOR_ERROR, "%s%s: the daemon's user %s may not %s it: %s", place->key,
                       place->path, user, place->how & W_OK ? "write in" : "read", strerror(place->error));
        cli_doctor_remedy(results, "namei -l %s; each folder has to let %s pass", DOCTOR_QUOTE(place->path),
                          user);
    }
}

void cli_doctor_access(const struct doctor *doctor, uid_t uid, const char *user,
                       struct doctor_results *results)
{
    static struct places places;
    struct stat st;
    places.n = 0;
    find_places(&places, doctor);
    if (geteuid() == uid) {
        look(&places);
    } else if (geteuid() != 0 || stat(doctor->state.path, &st) < 0 || !look_as(&places, uid, st.st_gid)) {
        cli_doctor_add(results, DOCTOR_SKIPPED,
                       "what the daemon's user %s may read is seen by it and by root", user);
        cli_doctor_remedy(results, "sudo papertape doctor");
        return;
    }
    for (int i = 0; i < places.n; i++)
        report(doctor, &places.list[i], user, results);
}
