/* Processes that train on one device, whose memory they share (tests/indicators_gpu/cpu_device.h): eight fit,
 * one after the other and at once; a ninth has half of its copies where that fits, else trains on the CPU,
 * and says why with the figures; one that is killed, also while it allocates, leaves its room at once; an
 * allocation that fails although there was room; a folder that no file can be in; a lost device.
 *
 * Argument: the module whose device is the CPU. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "indicators_gpu/share.h"
#include "tests/scratch.h"
#include "tests/trainer/ppo/device_place.h"

enum { EIGHT = 8, COPIES = 64, STEPS = 16, MINIBATCH = 128, WORDS = 4096, PATIENCE_S = 240 };

static const char *path;
static struct env_params env_params;
static struct env_market *market;
static struct ppo_params params;
static int iterations = 3; /* of each training that is started */

/* ---- one training ---- */

struct report {
    int copies, warnings;
    bool on_device;
    size_t bytes;
    int error; /* of an iteration */
    char words[WORDS], err[PPO_ERROR_MAX];
};

static void take_words(void *ctx, const char *sentence)
{
    struct report *report = ctx;
    size_t n = strlen(report->words);
    report->warnings++;
    snprintf(report->words + n, WORDS - n, "%s\n", sentence);
}

static struct learner_source source_of(struct report *report)
{
    return (struct learner_source){.env_params = &env_params,
                                   .market = market,
                                   .module_path = path,
                                   .warned = take_words,
                                   .ctx = report};
}

/* Trains, and holds what it has until its pipe is closed. */
static void train(int from, int to)
{
    struct report report = {0};
    const struct learner_source source = source_of(&report);
    struct learner_stack stack = {0};
    struct ppo_update update;
    char byte;
    if (read(from, &byte, 1) != 1)
        _exit(EXIT_FAILURE);
    if (ppo_learner_create_auto(&params, &source, &stack, report.err) < 0)
        _exit(EXIT_FAILURE);
    for (int i = 0; i < iterations && report.error == 0; i++)
        report.error = ppo_learner_iterate(stack.learner, &update, report.err);
    report.copies = stack.learner->params.copies;
    report.on_device = stack.module != NULL;
    report.bytes = stack.learner->ops->bytes(stack.learner);
    if (write(to, &report, sizeof report) != sizeof report || read(from, &byte, 1) != 0)
        _exit(EXIT_FAILURE);
    ppo_learner_stack_destroy(&stack);
    _exit(EXIT_SUCCESS);
}

struct process {
    pid_t pid;
    int to, from;
};

static struct process start(void)
{
    int down[2], up[2];
    if (pipe2(down, O_CLOEXEC) < 0 || pipe2(up, O_CLOEXEC) < 0)
        exit(EXIT_FAILURE);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(down[1]);
        close(up[0]);
        train(down[0], up[1]);
    }
    close(down[0]);
    close(up[1]);
    return (struct process){pid, down[1], up[0]};
}

static void go(const struct process *p)
{
    CHECK_INT(write(p->to, "g", 1), 1);
}

static struct report hear(const struct process *p)
{
    struct report ret = {0};
    CHECK_INT(read(p->from, &ret, sizeof ret), sizeof ret);
    return ret;
}

static struct report run(struct process *p)
{
    *p = start();
    go(p);
    return hear(p);
}

static void end(struct process *p, int how)
{
    int status;
    if (how)
        kill(p->pid, how);
    close(p->to); /* a later child has it, too: it ends when that one does */
    CHECK_INT(waitpid(p->pid, &status, 0), p->pid);
    CHECK_INT(status, how);
    close(p->from);
}

/* From the last on: each has the pipes of those before it. */
static void end_all(struct process p[], int n)
{
    for (int i = n; i-- > 0;)
        end(&p[i], 0);
}

/* ---- the device ---- */

static int device_number;

/* An empty one. */
static void set_device(size_t total, const char *more)
{
    char text[512];
    snprintf(text, sizeof text, "memory=%s/device-%d total=%zu context=20MiB code=4MiB %s", scratch_root(),
             ++device_number, total, more);
    setenv("CPU_DEVICE", text, 1);
}

static size_t predict(int copies)
{
    struct report report = {0};
    const struct learner_source source = source_of(&report);
    struct learner_prediction ret = {0};
    struct ppo_params other = params;
    char err[PPO_ERROR_MAX] = "";
    other.copies = copies;
    other.sharers = 1;
    CHECK_INT(ppo_learner_predict(&other, &source, NULL, &ret, err), 0);
    CHECK_INT(ret.copies, copies);
    CHECK_INT(report.warnings, 0);
    return ret.device_bytes;
}

/* Of which the cap is `eights` times `each`, and `more`. */
static size_t device_for(size_t each, size_t more)
{
    return (size_t)((double)(EIGHT * each + more) / params.memory_cap) + 1;
}

static void check_whole(const struct report *report, size_t bytes)
{
    CHECK(report->on_device);
    CHECK_INT(report->copies, COPIES);
    CHECK_INT(report->warnings, 0);
    CHECK_INT(report->error, 0);
    CHECK_INT(report->bytes, bytes);
    if (report->warnings)
        fprintf(stderr, "%s", report->words);
}

/* ---- what must hold ---- */

static void start_eight(struct process p[EIGHT], bool at_once, size_t bytes)
{
    for (int i = 0; i < EIGHT; i++) {
        p[i] = start();
        if (at_once)
            continue;
        go(&p[i]);
        struct report report = hear(&p[i]);
        check_whole(&report, bytes);
    }
    for (int i = 0; at_once && i < EIGHT; i++)
        go(&p[i]);
    for (int i = 0; at_once && i < EIGHT; i++) {
        struct report report = hear(&p[i]);
        check_whole(&report, bytes);
    }
}

/* There is room for half of the ninth's copies. */
static void try_half(bool at_once, size_t whole, size_t half)
{
    struct process p[EIGHT + 2];
    set_device(device_for(whole, (whole + half) / 2), "launch_us=5 sync_us=1000");
    start_eight(p, at_once, whole);
    struct report ninth = run(&p[EIGHT]);
    CHECK(ninth.on_device && ninth.copies == COPIES / 2 && ninth.warnings == 1 && ninth.error == 0);
    CHECK_INT(ninth.bytes, half);
    struct report tenth = run(&p[EIGHT + 1]);
    CHECK(!tenth.on_device && tenth.copies == COPIES && tenth.error == 0);
    end_all(p, EIGHT + 2);
}

static size_t up(size_t bytes)
{
    return (bytes + (1 << 20) - 1) >> 20;
}

/* There is none. */
static void try_none(bool at_once, size_t whole)
{
    struct process p[EIGHT + 1];
    char words[PPO_ERROR_MAX];
    const size_t total = device_for(whole, whole / 8);
    const size_t cap = (size_t)((double)total * params.memory_cap);
    set_device(total, "");
    start_eight(p, at_once, whole);
    struct report ninth = run(&p[EIGHT]);
    CHECK(!ninth.on_device && ninth.copies == COPIES && ninth.error == 0);
    CHECK(ninth.warnings == 1 && strstr(ninth.words, "), nor 32, 16") &&
          strstr(ninth.words, ": the CPU trains 64\n"));
    /* What others have, without the few bytes of guard cells. */
    snprintf(words, sizeof words,
             "training on the CPU: 64 copies do not fit on the device (out of memory: together above "
             "memory_cap: %zu + %zu > %zu MiB: this process would hold %zu MiB, and its share is %zu MiB; "
             "other processes have %zu MiB; of the device's %zu MiB memory_cap 0.8 is %zu MiB: a higher "
             "memory_cap, fewer copies or workers or narrower networks would be right)",
             up(whole), up(EIGHT * whole), cap >> 20, up(whole), (cap / EIGHT) >> 20, up(EIGHT * whole),
             total >> 20, cap >> 20);
    if (!strstr(ninth.words, words))
        CHECK_STR(ninth.words, words);
    end(&p[EIGHT], 0);

    end(&p[EIGHT - 1], SIGKILL); /* its room is the next one's */
    ninth = run(&p[EIGHT - 1]);
    check_whole(&ninth, whole);
    end_all(p, EIGHT);
    struct report last = run(&p[0]); /* all of the room is there again */
    check_whole(&last, whole);
    end(&p[0], 0);
}

/* Waits until `p` has entered its room; a module here would take a context's. */
static void wait_for_entry(const struct process *p)
{
    struct pollfd said = {.fd = p->from, .events = POLLIN}; /* it trains, without having entered */
    char name[32], id[64], reason[GPU_REASON_MAX] = "";
    struct gpu_share *share = NULL;
    struct stat file;
    struct gpu_share_entry others = {0};
    snprintf(name, sizeof name, "device-%d", device_number);
    CHECK_INT(stat(scratch_path(name), &file), 0);
    snprintf(id, sizeof id, "cpu-%llx-%llx", (unsigned long long)file.st_dev,
             (unsigned long long)file.st_ino);
    CHECK_INT(gpu_share_open(id, &share, reason, sizeof reason), 0);
    while (share && others.coming == 0 && poll(&said, 1, 1) == 0)
        CHECK_INT(gpu_share_others(share, &others), 0);
    CHECK(others.coming > 0);
    gpu_share_close(share);
}

/* After one iteration the driver's part has been taken and is still entered as coming: it counts once. */
static void try_first_iterations(size_t whole)
{
    struct process p[EIGHT + 1];
    set_device(device_for(whole, whole / 8), "");
    iterations = 1;
    start_eight(p, false, whole);
    struct report ninth = run(&p[EIGHT]);
    CHECK(!ninth.on_device && ninth.error == 0);
    end_all(p, EIGHT + 1);
    iterations = 3;
}

/* One is killed between entering its room and having it all: the device waits for an hour in each wait. */
static void try_killed(size_t whole)
{
    struct process p[EIGHT + 1];
    const size_t total = device_for(whole, whole / 8);
    set_device(total, "");
    for (int i = 0; i < EIGHT - 1; i++) {
        struct report report = run(&p[i]);
        check_whole(&report, whole);
    }
    char text[600];
    snprintf(text, sizeof text, "%s", getenv("CPU_DEVICE"));
    setenv("CPU_DEVICE", strcat(text, " sync_us=3600000000"), 1);
    p[EIGHT - 1] = start();
    text[strlen(text) - strlen(" sync_us=3600000000")] = '\0';
    setenv("CPU_DEVICE", text, 1);
    go(&p[EIGHT - 1]);
    wait_for_entry(&p[EIGHT - 1]);
    end(&p[EIGHT - 1], SIGKILL);
    struct report report = run(&p[EIGHT - 1]);
    check_whole(&report, whole);
    end_all(p, EIGHT);
}

/* An allocation that fails although there is room: half of the copies, and the training is done. */
static void try_failed_allocations(size_t whole)
{
    int n = 0;
    for (;; n++) {
        struct process p;
        char text[64];
        snprintf(text, sizeof text, "fail_allocation=%d", n + 1);
        set_device(device_for(whole, whole), text);
        struct report report = run(&p);
        end(&p, 0);
        CHECK(report.on_device);
        CHECK_INT(report.error, 0);
        if (report.warnings == 0)
            break;
        CHECK_INT(report.warnings, 1);
        CHECK_INT(report.copies, COPIES / 2);
        CHECK(strstr(report.words, "out of memory") && strstr(report.words, "32 are used"));
    }
    CHECK(n >= 5); /* market, copies, their buffers, the learner's one allocation */
}

/* A full disk: its room cannot be entered, which is reported, and it trains on the device all the same. */
static void try_no_entry(size_t whole)
{
    const struct rlimit none = {0, RLIM_INFINITY}, all = {RLIM_INFINITY, RLIM_INFINITY};
    struct process p;
    set_device(device_for(whole, whole), "");
    struct report report = run(&p); /* makes the device's file */
    end(&p, 0);
    signal(SIGXFSZ, SIG_IGN);
    CHECK_INT(setrlimit(RLIMIT_FSIZE, &none), 0);
    p = start();
    CHECK_INT(setrlimit(RLIMIT_FSIZE, &all), 0);
    go(&p);
    report = hear(&p);
    end(&p, 0);
    CHECK(report.on_device && report.copies == COPIES && report.error == 0 && report.warnings == 1);
    CHECK(strstr(report.words, "not entered for other processes to see (File too large)") != NULL);
}

/* Is lost in a launch, or in a wait, of the device, but not in a recording; a module that says no more. */
static void try_lost(size_t whole)
{
    static const char *const faults[] = {"fail_launch=300", "lose=12", "fail_capture=1"};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct process p;
        set_device(device_for(whole, whole), faults[i]);
        struct report report = run(&p);
        end(&p, 0);
        CHECK(report.on_device && report.warnings == (i == 2));
        if (i < 2) {
            CHECK_INT(report.error, -EIO);
            CHECK(strstr(report.err, "lost") != NULL);
        } else { /* it trains on, launch by launch: the device is not lost */
            CHECK_INT(report.error, 0);
            CHECK(strstr(report.words, "made its recording fail") && strstr(report.words, "one by one"));
        }
    }
    char reason[GPU_REASON_MAX] = "";
    struct gpu_module *module = NULL;
    setenv("CPU_DEVICE", "total=1MB", 1);
    CHECK_INT(gpu_module_open(path, &module, reason, sizeof reason), -EINVAL);
    CHECK(strstr(reason, "total=1MB") != NULL);
}

int main(int argc, char **argv)
{
    struct random random = random_seeded("trainer/ppo/sharers", 1);
    if (argc < 2)
        return EXIT_FAILURE;
    path = argv[1];
    alarm(PATIENCE_S); /* its children end with it */
    setenv("XDG_RUNTIME_DIR", scratch_root(), 1);
    env_params = place_params(false, 40);
    market = place_market(&random, &env_params);
    params = place_ppo(COPIES, STEPS, MINIBATCH);
    params.sharers = EIGHT;
    set_device((size_t)16 << 30, "");
    const size_t whole = predict(COPIES), half = predict(COPIES / 2);
    CHECK(half < whole && whole > (size_t)88 << 20); /* two workspaces, context and code */
    try_half(false, whole, half);
    try_half(true, whole, half);
    try_none(false, whole);
    try_none(true, whole);
    try_first_iterations(whole);
    try_killed(whole);
    try_failed_allocations(whole);
    try_no_entry(whole);
    try_lost(whole);
    env_market_destroy(market);
    return check_done("trainer/ppo/sharers");
}
