/* What /proc says of processes, and the list of devices. */
#include "trainer/serve/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "tests/check.h"
#include "tests/scratch.h"

static void test_own(void)
{
    struct process a, b;
    enum { BYTES = 64 << 20 };
    CHECK(serve_process_look(getpid(), &a));
    char *memory = malloc(BYTES);
    for (size_t i = 0; memory && i < BYTES; i += 512)
        ((volatile char *)memory)[i] = 1;
    CHECK(serve_process_look(getpid(), &b));
    free(memory);
    CHECK_INT(a.started, b.started);
    CHECK(a.started > 0 && a.resident_bytes > 0);
    CHECK(b.resident_bytes - a.resident_bytes >= BYTES / 2);
    CHECK(b.cpu_s >= a.cpu_s && a.cpu_s >= 0);
    CHECK(!serve_process_look(0, &a) && !serve_process_look(-1, &a));
    CHECK(serve_process_memory_limit() > 0);
}

static void test_other(void)
{
    struct process process;
    const char *path = scratch_write("worker.lock", "");
    CHECK_INT(serve_process_holder(path), 0);
    CHECK_INT(serve_process_holder(scratch_path("none")), 0);
    int ready[2];
    CHECK_INT(pipe(ready), 0);
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        int ready_fd = fcntl(ready[1], F_DUPFD, 10), fd = open(path, O_RDWR);
        if (fd < 0 || dup2(fd, 3) != 3 || write(ready_fd, "x", 1) != 1)
            _exit(1);
        pause();
        _exit(0);
    }
    char byte;
    close(ready[1]);
    CHECK_INT(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    CHECK_INT(serve_process_holder(path), pid);
    CHECK(serve_process_look(pid, &process));
    kill(pid, SIGKILL);
    siginfo_t info;
    waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT);
    CHECK(!serve_process_look(pid, &process)); /* a zombie does not count */
    waitpid(pid, NULL, 0);
    CHECK_INT(serve_process_holder(path), 0);
}

static void test_devices(void)
{
    char ids[4][DEVICE_ID_MAX];
    unsetenv("CUDA_VISIBLE_DEVICES");
    CHECK_INT(serve_devices_find("none", ids, 4), 0);
    CHECK_INT(serve_devices_find("0,GPU-8f2a", ids, 4), 2);
    CHECK_STR(ids[0], "0");
    CHECK_STR(ids[1], "GPU-8f2a");
    CHECK_INT(serve_devices_find("3", ids, 4), 1);
    CHECK_STR(ids[0], "3");
    CHECK(serve_devices_find("auto", ids, 4) >= 0);
    setenv("CUDA_VISIBLE_DEVICES", "2,5", 1);
    CHECK_INT(serve_devices_find("auto", ids, 4), 2);
    CHECK_STR(ids[1], "5");
    CHECK_INT(serve_devices_find("none", ids, 4), 0);
    setenv("CUDA_VISIBLE_DEVICES", "", 1);
    CHECK_INT(serve_devices_find("auto", ids, 4), 0);
    setenv("CUDA_VISIBLE_DEVICES", "-1", 1);
    CHECK_INT(serve_devices_find("auto", ids, 4), 0);
    static const char *const bad[] = {
        "",     ",",   "0,",        ",0",
        "0,,1", "0,0", "0,1,2,3,4", "a234567890123456789012345678901234567890123456789012345678901234"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK_INT(serve_devices_find(bad[i], ids, 4), -EINVAL);
}

int main(void)
{
    char boot[64];
    test_own();
    test_other();
    test_devices();
    serve_process_boot(boot, sizeof boot);
    CHECK_INT(strlen(boot), 36);
    return check_done("trainer/serve/process");
}
