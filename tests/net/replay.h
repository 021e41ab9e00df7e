/* papertape-replay as a process of its own, on a synthetic market. */
#ifndef TESTS_NET_REPLAY_H
#define TESTS_NET_REPLAY_H

#include <jansson.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/check.h"

struct replay {
    pid_t pid;
    FILE *out;
    char ws_url[128], rest_url[128], ca_file[128];
};

enum { REPLAY_OPTIONS_MAX = 16 };

/* `options` after --synthetic 7 --speed max: NULL-terminated; NULL: none. */
static inline void start_replay(struct replay *replay, const char *program, const char *const *options)
{
    int out[2], n = 0;
    char line[1024];
    const char *argv[8 + REPLAY_OPTIONS_MAX] = {program,    "--synthetic",  "7", "--speed", "max",
                                                "--ca-out", replay->ca_file};
    for (; options && options[n] && n < REPLAY_OPTIONS_MAX; n++)
        argv[7 + n] = options[n];
    CHECK(!options || !options[n]);
    snprintf(replay->ca_file, sizeof(replay->ca_file), "/tmp/papertape-test-replay-XXXXXX");
    int ca = mkstemp(replay->ca_file);
    if (ca < 0 || pipe(out) < 0) {
        perror("start_replay");
        exit(EXIT_FAILURE);
    }
    close(ca);
    replay->pid = fork();
    if (replay->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* however this test ends */
        dup2(out[1], STDOUT_FILENO);
        close(out[0]);
        close(out[1]);
        execv(program, (char **)(uintptr_t)argv);
        _exit(127);
    }
    close(out[1]);
    replay->out = fdopen(out[0], "r");
    json_error_t error;
    json_t *json = fgets(line, sizeof(line), replay->out) ? json_loads(line, 0, &error) : NULL;
    const char *ws_url, *rest_url;
    if (!json || json_unpack(json, "{s:s,s:s}", "ws_url", &ws_url, "rest_url", &rest_url) < 0) {
        fprintf(stderr, "%s did not say where it listens\n", program);
        kill(replay->pid, SIGKILL);
        exit(EXIT_FAILURE);
    }
    snprintf(replay->ws_url, sizeof(replay->ws_url), "%s", ws_url);
    snprintf(replay->rest_url, sizeof(replay->rest_url), "%s", rest_url);
    json_decref(json);
}

static inline void stop_replay(struct replay *replay)
{
    int status = -1;
    kill(replay->pid, SIGTERM);
    waitpid(replay->pid, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    fclose(replay->out);
    unlink(replay->ca_file);
}

#endif
