#include "daemon/alert_machine.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <uv.h>

#include "db/state.h"

enum { OUTCOME_MAX = 8192 };
#define NS_PER_S   INT64_C(1000000000)
#define LOOK_EVERY (10 * NS_PER_S)
#define WAL_SHORT  0x1p24 /* that the file may have without a reader: db/store.h */

struct alert_machine {
    uv_loop_t *loop;
    uv_work_t work;
    bool busy, destroyed, known;
    int64_t looked_ns; /* monotonic; 0: never */
    char state[STATE_PATH_MAX], database[STATE_PATH_MAX];
    struct machine_seen
        next; /* the thread's while it is busy; an outcome that cannot be read leaves the last one */
    struct machine_seen last; /* the loop's */
};

bool daemon_alert_backup_take(const char *json, struct machine_seen *seen)
{
    json_t *object = json_loads(json, 0, NULL);
    const json_t *ok = json_object_get(object, "ok");
    const char *error = json_string_value(json_object_get(object, "error"));
    bool is = json_is_boolean(ok);
    if (is) {
        seen->backup = true;
        seen->failed = json_is_false(ok);
        if (!seen->failed)
            seen->backup_ns = json_integer_value(json_object_get(object, "end_ns"));
        snprintf(seen->error, sizeof seen->error, "%s", error ? error : "its outcome does not say why");
    }
    json_decref(object);
    return is;
}

static void read_backup(const char *state, struct machine_seen *seen)
{
    char path[STATE_PATH_MAX + 16], text[OUTCOME_MAX];
    snprintf(path, sizeof path, "%s/backup.json", state);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    seen->none = fd < 0 && errno == ENOENT;
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    if (fd >= 0)
        close(fd);
    if (n <= 0)
        return;
    text[n] = '\0';
    (void)daemon_alert_backup_take(text, seen);
}

double daemon_alert_wal_bytes(const char *database)
{
    char path[STATE_PATH_MAX + 8];
    struct stat file;
    snprintf(path, sizeof path, "%s-wal", database);
    return stat(path, &file) == 0 ? (double)file.st_size : errno == ENOENT ? 0 : NAN;
}

static void on_thread(uv_work_t *work)
{
    struct alert_machine *machine = work->data;
    struct statvfs room;
    machine->next.used = NAN;
    if (statvfs(machine->state, &room) == 0 && room.f_blocks > 0) {
        /* As df has it: what is reserved for root is not available. */
        double used = (double)(room.f_blocks - room.f_bfree), left = (double)room.f_bavail;
        machine->next.used = used + left > 0 ? used / (used + left) : NAN;
        machine->next.left_bytes = left * (double)room.f_frsize;
    }
    machine->next.wal_bytes = daemon_alert_wal_bytes(machine->database);
    read_backup(machine->state, &machine->next);
}

static void on_done(uv_work_t *work, int status)
{
    struct alert_machine *machine = work->data;
    machine->busy = false;
    if (machine->destroyed) {
        free(machine);
        return;
    }
    if (status < 0)
        return;
    machine->last = machine->next;
    machine->known = true;
}

struct alert_machine *daemon_alert_machine_create(uv_loop_t *loop, const struct state_dir *state)
{
    struct alert_machine *machine = calloc(1, sizeof *machine);
    if (!machine)
        return NULL;
    machine->loop = loop;
    machine->work.data = machine;
    memcpy(machine->state, state->path, sizeof machine->state);
    memcpy(machine->database, state->database, sizeof machine->database);
    return machine;
}

static void look(struct alert_machine *machine, int64_t now_ns)
{
    if (machine->busy || (machine->looked_ns > 0 && now_ns - machine->looked_ns < LOOK_EVERY))
        return;
    machine->looked_ns = now_ns;
    machine->busy = uv_queue_work(machine->loop, &machine->work, on_thread, on_done) == 0;
}

void daemon_alert_machine_read(struct alert_machine *machine, struct alert_rules *rules, int64_t now_ns,
                               int64_t wall_ns, const struct alert_sink *sink)
{
    const struct machine_seen *seen = &machine->last;
    char room[64];
    look(machine, now_ns);
    if (!machine->known)
        return;
    snprintf(room, sizeof room, "used, %.1f GiB left", seen->left_bytes / (double)(1 << 30));
    double age_s = seen->backup_ns > 0 && wall_ns > seen->backup_ns
                       ? (double)(wall_ns - seen->backup_ns) / NS_PER_S
                       : NAN;
    const struct alert_reading readings[] = {
        {ALERT_DISK, machine->state, seen->used, room},
        {ALERT_WAL_LARGE, machine->database, seen->wal_bytes,
         seen->wal_bytes > WAL_SHORT ? "(a reader keeps a transaction open: end it)" : NULL},
        {ALERT_BACKUP_FAILED, "the last one",
         seen->none     ? 0
         : seen->backup ? seen->failed
                        : NAN,
         seen->none     ? "there is none of this state"
         : seen->failed ? seen->error
                        : "the last one succeeded"},
        {ALERT_BACKUP_OLD, "the last one that succeeded", age_s, "ago"},
    };
    for (size_t i = 0; i < sizeof readings / sizeof *readings; i++)
        daemon_alert_read(rules, &readings[i], now_ns, sink);
}

const struct machine_seen *daemon_alert_machine_seen(const struct alert_machine *machine)
{
    return machine->known ? &machine->last : NULL;
}

void daemon_alert_machine_destroy(struct alert_machine *machine)
{
    if (!machine)
        return;
    machine->destroyed = true;
    if (machine->busy)
        (void)uv_cancel((uv_req_t *)&machine->work); /* it is called back either way */
    else
        free(machine);
}
