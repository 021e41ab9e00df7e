/* The device that a process of a study keeps from one learner to the next. */
#include "trainer/study/device.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exchange/fail.h"
#include "trainer/study/internal.h"

int study_device_open(const struct train_config *config, struct gpu_module **ret,
                      char err[static TRIAL_ERROR_MAX])
{
    char reason[GPU_REASON_MAX];
    *ret = NULL;
    int r = config->ppo.device == PPO_CPU ? 0 : gpu_module_open(NULL, ret, reason, sizeof reason);
    return r < 0 && config->ppo.device == PPO_CUDA ? study_error(err, r, "%s", reason) : 0;
}

/* ---- In a process of its own. ---- */

struct answer {
    int error;
    char words[GPU_REASON_MAX];
};

static void answer(const struct train_config *config, int to)
{
    char err[TRIAL_ERROR_MAX] = "";
    struct gpu_module *module;
    struct answer answer = {.error = study_device_open(config, &module, err)};
    snprintf(answer.words, sizeof answer.words, "%.*s", (int)sizeof answer.words - 1, err);
    gpu_module_close(module);
    _exit(write(to, &answer, sizeof answer) == sizeof answer ? EXIT_SUCCESS : EXIT_FAILURE);
}

static bool hear(int from, struct answer *ret)
{
    ssize_t n;
    do
        n = read(from, ret, sizeof *ret); /* smaller than PIPE_BUF: all of it, or nothing */
    while (n < 0 && errno == EINTR);
    return n == sizeof *ret;
}

int study_device_check(const struct train_config *config, char err[static TRIAL_ERROR_MAX])
{
    struct answer got;
    int ends[2], status;
    if (config->ppo.device != PPO_CUDA)
        return 0;
    if (pipe2(ends, O_CLOEXEC) < 0)
        return study_error(err, -errno, "cannot look for the device: %s", strerror(errno));
    const pid_t pid = fork();
    const int failed = pid < 0 ? -errno : 0;
    if (pid == 0)
        answer(config, ends[1]);
    close(ends[1]);
    const bool heard = pid > 0 && hear(ends[0], &got);
    close(ends[0]);
    if (failed)
        return study_error(err, failed, "cannot look for the device: %s", strerror(-failed));
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (!heard)
        return study_error(err, -EIO, "the device cannot be opened: its driver ended the process that did");
    return got.error < 0 ? study_error(err, got.error, "%s", got.words) : 0;
}
