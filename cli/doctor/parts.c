#include "cli/doctor/parts.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "daemon/rebuild_log.h"
#include "db/reader.h"

static bool leads_nowhere(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0 && S_ISLNK(st.st_mode) && stat(path, &st) < 0 && errno == ENOENT;
}

/* A link to a directory is one; a file is no link; a socket replaces all but a directory. */
static void check_kind(const char *path, mode_t wanted, struct doctor_results *results)
{
    struct stat st;
    bool folder = wanted == S_IFDIR;
    if ((folder ? stat(path, &st) : lstat(path, &st)) < 0 ||
        (wanted == S_IFSOCK ? !S_ISDIR(st.st_mode) : (st.st_mode & S_IFMT) == wanted))
        return;
    cli_doctor_add(results, DOCTOR_ERROR, "%s: is %s, and a start refuses it: %s is needed there", path,
                   db_state_kind(st.st_mode),
                   folder               ? "a directory"
                   : wanted == S_IFSOCK ? "a socket, or nothing,"
                                        : "the file itself");
    cli_doctor_remedy(results, "ls -ld %s; then move it away", DOCTOR_QUOTE(path));
}

static void check_link(const char *path, struct doctor_results *results)
{
    if (!leads_nowhere(path))
        return;
    cli_doctor_add(
        results, DOCTOR_ERROR,
        "%s: is a symbolic link that leads nowhere, and a start refuses it: is a disk not mounted?", path);
    cli_doctor_remedy(results, "ls -l %s; findmnt; then make the directory, or remove the link",
                      DOCTOR_QUOTE(path));
}

void cli_doctor_kinds(const struct state_dir *state, struct doctor_results *results)
{
    const struct {
        const char *path;
        mode_t wanted;
    } parts[] = {{state->database, S_IFREG},   {state->lock, S_IFREG},         {state->socket, S_IFSOCK},
                 {state->events, S_IFDIR},     {state->socket_read, S_IFSOCK}, {state->policies, S_IFDIR},
                 {state->checkpoints, S_IFDIR}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        check_kind(parts[i].path, parts[i].wanted, results);
        if (parts[i].wanted == S_IFDIR)
            check_link(parts[i].path, results);
    }
}

/* ---- what is gone ---- */

static bool gone_database(const struct doctor *doctor, struct doctor_results *results)
{
    const char *path = doctor->state.database;
    uint64_t ignored;
    if (daemon_rebuild_log_begins(doctor->state.events, &ignored) < 0)
        return false;
    if (doctor->status) {
        cli_doctor_add(results, DOCTOR_ERROR, "%s: it was removed while the daemon runs", path);
        cli_doctor_remedy(results, "systemctl restart %s: it is built again from the event log",
                          doctor->service.unit);
    } else {
        cli_doctor_add(results, DOCTOR_WARNING,
                       "%s: it is not there, and the event log is: the next start builds it again from that",
                       path);
        cli_doctor_remedy(results, "papertaped --rebuild --state %s; a backup has what is older than the log",
                          DOCTOR_QUOTE(doctor->state.path));
    }
    return true;
}

static bool gone_log(const struct doctor *doctor, struct doctor_results *results)
{
    char err[DB_ERROR_MAX], seq[32] = "";
    struct db_reader *reader;
    if (leads_nowhere(doctor->state.events)) {
        check_link(doctor->state.events, results);
        return true;
    }
    if (db_reader_open(doctor->state.database, &reader, err, sizeof err) < 0)
        return false;
    bool any = db_reader_meta(reader, "event_seq", seq, sizeof seq) == 0 && seq[0] && strcmp(seq, "0") != 0;
    db_reader_close(reader);
    if (!any)
        return false;
    cli_doctor_add(results, DOCTOR_WARNING,
                   "%s: no event log is there, and the database holds rows up to event %s: the next start "
                   "continues from the database alone, and strategies start again",
                   doctor->state.events, seq);
    cli_doctor_remedy(results, "move it back before the next start, or papertape restore a backup");
    return true;
}

bool cli_doctor_gone(const struct doctor *doctor, enum doctor_check_name check,
                     struct doctor_results *results)
{
    return (check == DOCTOR_database && gone_database(doctor, results)) ||
           (check == DOCTOR_events && gone_log(doctor, results));
}
