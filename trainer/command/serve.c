#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "db/state.h"
#include "exchange/exit_status.h"
#include "trainer/command/args.h"
#include "trainer/serve/schedule.h"
#include "trainer/serve/serve.h"

enum { WORKER_MEMORY_MIB = 4096, MEMORY_PERCENT = 80, IDLE_S = 60, GRACE_S = 120, RETRY_MS = 1000 };

struct serve_args {
    const char *socket, *outputs, *devices, *worker;
    int64_t cpu_slots, memory_mib, worker_memory_mib, grace_s, idle_s, retry_ms; /* idle_s -1: not given */
};

#define AT(member) offsetof(struct serve_args, member)

static const struct option_row options[] = {
    {"socket", "FILE", "trainer.sock in the state directory by default", AT(socket)},
    {"outputs", "DIR[,DIR]",
     "folders that the output and tensorboard of a configuration may lie in, outside the state directory, "
     "beside its checkpoints/; another is refused",
     AT(outputs)},
    {"devices", "LIST",
     "ids of GPUs with commas, as CUDA_VISIBLE_DEVICES has them; none; or auto, the default: those of "
     "$CUDA_VISIBLE_DEVICES, else all that the driver lists; a worker sees the one that it is given",
     AT(devices)},
    {"cpu-slots", "N", "trainings on the CPU at a time; 1 by default", AT(cpu_slots), .low = 1, .high = 1024},
    {"memory-mib", "N", "of all workers together; by default 80 % of the machine's or the control group's",
     AT(memory_mib), .low = 1, .high = INT_MAX},
    {"worker-memory-mib", "N", "of one whose configuration does not say; 4096 or all of that by default",
     AT(worker_memory_mib), .low = 1, .high = INT_MAX},
    {"grace-s", "S", "the most that a worker may take to end when it is asked; then it is killed; 120",
     AT(grace_s), .low = 1, .high = 86400},
    {"idle-s", "S", "end after so long without work and clients; 0: never; 60, under systemd 0", AT(idle_s),
     .low = 0, .high = 86400},
    {"retry-ms", "MS",
     "the pause before the first restart of a worker that died, which doubles up to 5 min; 1000 by default",
     AT(retry_ms), .low = 1, .high = 300000},
    {"worker", "PROGRAM", "what is run as `PROGRAM train`; itself by default", AT(worker)},
};

static void log_line(const char *words)
{
    trainer_args_say(0, "%s", words);
}

static bool under_systemd(void)
{
    const char *exec_pid = getenv("SYSTEMD_EXEC_PID"), *notify = getenv("NOTIFY_SOCKET");
    return (notify && *notify) || (exec_pid && strtol(exec_pid, NULL, 10) == (long)getpid());
}

static int find_socket(const struct serve_args *args, const struct state_dir *state,
                       char ret[static STATE_PATH_MAX])
{
    int n = args->socket ? snprintf(ret, STATE_PATH_MAX, "%s", args->socket)
                         : snprintf(ret, STATE_PATH_MAX, "%s/trainer.sock", state->path);
    if (n <= 0 || n > STATE_SOCKET_MAX)
        return trainer_args_say(EXIT_USAGE,
                                "%.200s: no path for a socket: 1 to %d bytes are right: --socket F", ret,
                                STATE_SOCKET_MAX);
    return GO_ON;
}

static int find_program(const struct serve_args *args, char ret[static PATH_MAX])
{
    ssize_t n;
    if (args->worker) {
        if (!realpath(args->worker, ret))
            return trainer_args_say(EXIT_USAGE, "%.300s: %s: a program is needed: --worker", args->worker,
                                    strerror(errno));
        return GO_ON;
    }
    n = readlink("/proc/self/exe", ret, PATH_MAX - 1);
    if (n < 0)
        return trainer_args_say(EXIT_FAILURE, "/proc/self/exe: %s: --worker PROGRAM is needed",
                                strerror(errno));
    ret[n] = '\0';
    return GO_ON;
}

/* An upgrade replaces the file of the running program: uses the new file's name. */
static void forget_deleted(char *path)
{
    static const char deleted[] = " (deleted)";
    size_t n = strlen(path), length = sizeof deleted - 1;
    if (n > length && strcmp(path + n - length, deleted) == 0)
        path[n - length] = '\0';
}

static void set_memory(const struct serve_args *args, struct serve_options *ret)
{
    int64_t limit = serve_process_memory_limit();
    int64_t usual = limit > 0 ? limit / 100 * MEMORY_PERCENT >> 20 : WORKER_MEMORY_MIB;
    ret->memory_mib = args->memory_mib ? args->memory_mib : usual;
    ret->worker_memory_mib = args->worker_memory_mib ? args->worker_memory_mib : WORKER_MEMORY_MIB;
    if (ret->worker_memory_mib > ret->memory_mib)
        ret->worker_memory_mib = ret->memory_mib;
}

static int run(struct option_call *call)
{
    static char ids[SCHEDULE_DEVICES_MAX][DEVICE_ID_MAX];
    const struct serve_args *args = call->into;
    struct state_dir state;
    char err[SERVE_ERROR_MAX], path[PATH_MAX], program[PATH_MAX];
    char socket[STATE_PATH_MAX];
    int status = GO_ON;
    int n = serve_devices_find(args->devices, ids, SCHEDULE_DEVICES_MAX);
    if (n < 0)
        return option_fail(call, EXIT_USAGE,
                           "--devices: \"%.100s\": auto, none, or ids with commas are needed", args->devices);
    int r = db_state_dir_find(call->state, &state, err, sizeof err);
    if (r < 0 || (r = db_state_dir_create(&state, err, sizeof err)) < 0)
        return trainer_args_say(exit_status_of_start(r), "%s", err);
    if ((status = find_socket(args, &state, socket)) != GO_ON ||
        (status = find_program(args, program)) != GO_ON)
        return status;
    if (!realpath(state.path, path))
        return trainer_args_say(EXIT_FAILURE, "%s: %s", state.path, strerror(errno));
    forget_deleted(program);
    struct serve_options serve = {
        .state = path,
        .socket = socket,
        .outputs = args->outputs,
        .program = program,
        .devices = ids,
        .n_devices = n,
        .cpu_slots = (int)args->cpu_slots,
        .idle_ms = args->idle_s >= 0 ? args->idle_s * 1000
                   : under_systemd() ? 0
                                     : IDLE_S * 1000,
        .grace_ms = args->grace_s * 1000,
        .retry_ms = args->retry_ms,
        .log = log_line,
    };
    set_memory(args, &serve);
    r = serve_run(&serve, err);
    return r < 0 ? trainer_args_say(exit_status_of_start(r), "%s", err) : EXIT_SUCCESS;
}

static void init(void *into)
{
    *(struct serve_args *)into = (struct serve_args){
        .devices = "auto", .cpu_slots = 1, .grace_s = GRACE_S, .idle_s = -1, .retry_ms = RETRY_MS};
}

static const struct option_action actions[] = {{.run = run}};
TRAINER_VERB(serve) = {
    .name = "serve",
    .words = "the co-process: a queue of trainings, asked on a socket",
    .about =
        "The co-process that papertaped asks to train: keeps a queue of trainings and the processes that do "
        "them, under budgets of memory, processor time and devices, and answers on a socket. Idle and "
        "without a client it ends after a minute, unless systemd runs it. SIGTERM ends it: its workers "
        "write checkpoints, and the next one continues. docs/serve.md has the commands of the socket.",
    .exits = "0 also: ended by a signal. 2 is what another start would find again, which systemd does not "
             "restart: a bad option, a state directory that is none, that this user may not write, or that "
             "belongs to another. 1 also: another papertape-trainer serves it.",
    OPTION_ACTIONS(actions),
    OPTION_OPTIONS(options),
    .size = sizeof(struct serve_args),
    .init = init,
};
