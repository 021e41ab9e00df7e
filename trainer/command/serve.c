#include "trainer/command/serve.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "db/state.h"
#include "trainer/command/args.h"
#include "trainer/serve/schedule.h"
#include "trainer/serve/serve.h"

static const char help[] =
    "Usage: papertape-trainer serve [OPTION]...\n"
    "\n"
    "The co-process: keeps a queue of trainings and the processes that do them, and answers on a\n"
    "socket. Idle and without a client it ends after a minute, unless systemd runs it. SIGTERM ends\n"
    "it: its workers write checkpoints, and the next one goes on.\n"
    "\n"
    "      --state DIR            the state directory, found as papertaped finds it\n"
    "      --socket F             trainer.sock there by default\n"
    "      --outputs DIR[,DIR]    where a configuration's output may lie outside the state directory\n"
    "      --devices LIST         ids of GPUs with commas, or none, or auto, the default\n"
    "      --cpu-slots N          trainings on the CPU at a time; 1 by default\n"
    "      --memory-mib N         of all workers together; by default 80 % of what there is\n"
    "      --worker-memory-mib N  of one whose configuration does not say; 4096 by default\n"
    "      --grace-s S            the most that a worker may take to end; 120 by default\n"
    "      --idle-s S             end after so long without a client and work; 0: never\n"
    "      --retry-ms MS          the pause before the first restart of a worker that died; 1000\n"
    "      --worker PROGRAM       what is run as `PROGRAM train`; itself by default\n"
    "      --help                 this text\n"
    "\n"
    "Exit status: 0 ended in order, 1 an error, 2 a wrong command line. See papertape-trainer(1).\n";

enum {
    STATE = 256,
    SOCKET,
    OUTPUTS,
    DEVICES,
    CPU_SLOTS,
    MEMORY,
    WORKER_MEMORY,
    GRACE,
    IDLE,
    RETRY,
    WORKER,
};

enum { WORKER_MEMORY_MIB = 4096, MEMORY_PERCENT = 80, IDLE_S = 60, GRACE_S = 120, RETRY_MS = 1000 };

static const struct option options[] = {
    {"state", required_argument, NULL, STATE},
    {"socket", required_argument, NULL, SOCKET},
    {"outputs", required_argument, NULL, OUTPUTS},
    {"devices", required_argument, NULL, DEVICES},
    {"cpu-slots", required_argument, NULL, CPU_SLOTS},
    {"memory-mib", required_argument, NULL, MEMORY},
    {"worker-memory-mib", required_argument, NULL, WORKER_MEMORY},
    {"grace-s", required_argument, NULL, GRACE},
    {"idle-s", required_argument, NULL, IDLE},
    {"retry-ms", required_argument, NULL, RETRY},
    {"worker", required_argument, NULL, WORKER},
    {"help", no_argument, NULL, ARGS_HELP},
    {0},
};

struct serve_args {
    const char *state, *socket, *outputs, *devices, *worker;
    uint64_t cpu_slots, memory_mib, worker_memory_mib, grace_s, idle_s, retry_ms;
    bool idle_given;
};

static int take(void *ctx, int option)
{
    struct serve_args *args = ctx;
    switch (option) {
    case STATE:
        args->state = optarg;
        return GO_ON;
    case SOCKET:
        args->socket = optarg;
        return GO_ON;
    case OUTPUTS:
        args->outputs = optarg;
        return GO_ON;
    case DEVICES:
        args->devices = optarg;
        return GO_ON;
    case WORKER:
        args->worker = optarg;
        return GO_ON;
    case CPU_SLOTS:
        return trainer_args_whole("cpu-slots", optarg, 1, 1024, &args->cpu_slots);
    case MEMORY:
        return trainer_args_whole("memory-mib", optarg, 1, INT_MAX, &args->memory_mib);
    case WORKER_MEMORY:
        return trainer_args_whole("worker-memory-mib", optarg, 1, INT_MAX, &args->worker_memory_mib);
    case GRACE:
        return trainer_args_whole("grace-s", optarg, 1, 86400, &args->grace_s);
    case IDLE:
        args->idle_given = true;
        return trainer_args_whole("idle-s", optarg, 0, 86400, &args->idle_s);
    case RETRY:
        return trainer_args_whole("retry-ms", optarg, 1, 300000, &args->retry_ms);
    default:
        return trainer_args_say(
            EXIT_USAGE, "unknown argument: %.200s: serve takes options alone; see serve --help", optarg);
    }
}

static void tell(const char *words)
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
        return trainer_args_say(EXIT_FAILURE,
                                "%.200s: no path for a socket: 1 to %d bytes are right: --socket F", ret,
                                STATE_SOCKET_MAX);
    return GO_ON;
}

static int find_program(const struct serve_args *args, char ret[static PATH_MAX])
{
    ssize_t n;
    if (args->worker) {
        if (!realpath(args->worker, ret))
            return trainer_args_say(EXIT_FAILURE, "%.300s: %s: a program is needed: --worker", args->worker,
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

/* An upgrade replaces the file: the name is that of the new one then. */
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
    ret->memory_mib = args->memory_mib ? (int64_t)args->memory_mib : usual;
    ret->worker_memory_mib = args->worker_memory_mib ? (int64_t)args->worker_memory_mib : WORKER_MEMORY_MIB;
    if (ret->worker_memory_mib > ret->memory_mib)
        ret->worker_memory_mib = ret->memory_mib;
}

int trainer_command_serve(int argc, char **argv)
{
    static char ids[SCHEDULE_DEVICES_MAX][DEVICE_ID_MAX];
    struct serve_args args = {
        .devices = "auto", .cpu_slots = 1, .grace_s = GRACE_S, .idle_s = IDLE_S, .retry_ms = RETRY_MS};
    const struct args_rules rules = {
        .verb = "serve", .help = help, .letters = "", .options = options, .take = take};
    struct state_dir state;
    char err[SERVE_ERROR_MAX], path[PATH_MAX], program[PATH_MAX];
    char socket[STATE_PATH_MAX];
    int status = trainer_args_parse(&rules, argc, argv, &args);
    if (status != GO_ON)
        return status;
    int n = serve_devices_find(args.devices, ids, SCHEDULE_DEVICES_MAX);
    if (n < 0)
        return trainer_args_say(EXIT_USAGE, "bad list: --devices %.100s: auto, none, or ids with commas",
                                args.devices);
    if (db_state_dir_find(args.state, &state, err, sizeof err) < 0 ||
        db_state_dir_create(&state, err, sizeof err) < 0)
        return trainer_args_say(EXIT_FAILURE, "%s", err);
    if ((status = find_socket(&args, &state, socket)) != GO_ON ||
        (status = find_program(&args, program)) != GO_ON)
        return status;
    if (!realpath(state.path, path))
        return trainer_args_say(EXIT_FAILURE, "%s: %s", state.path, strerror(errno));
    forget_deleted(program);
    struct serve_options serve = {
        .state = path,
        .socket = socket,
        .outputs = args.outputs,
        .program = program,
        .devices = ids,
        .n_devices = n,
        .cpu_slots = (int)args.cpu_slots,
        .idle_ms = under_systemd() && !args.idle_given ? 0 : (int64_t)args.idle_s * 1000,
        .grace_ms = (int64_t)args.grace_s * 1000,
        .retry_ms = (int64_t)args.retry_ms,
        .tell = tell,
    };
    set_memory(&args, &serve);
    if (serve_run(&serve, err) < 0)
        return trainer_args_say(EXIT_FAILURE, "%s", err);
    return EXIT_SUCCESS;
}
