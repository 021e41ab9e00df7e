/* Which processes train: the co-process, which a server on the same loop is, and the workers of the trainings
 * that it has reported. */
#include <unistd.h>

#include "daemon/training/internal.h"
#include "exchange/net/control.h"
#include "tests/check.h"
#include "tests/scratch.h"

enum { PATIENCE_MS = 60000, KNOWN = 5 };

static uv_loop_t loop;
static char folder[SCRATCH_MAX], path[SCRATCH_PATH_MAX];

static void on_request(void *ctx, struct control_call *call, const char *cmd, json_t *args,
                       const struct control_peer *peer)
{
    (void)ctx, (void)cmd, (void)args, (void)peer;
    control_ok(call, json_pack("{s:i, s:s, s:i, s:s}", "protocol", LINK_PROTOCOL, "version", "7.7", "pid",
                               (int)getpid(), "state_dir", folder));
}

static bool is_needed(void *ctx)
{
    (void)ctx;
    return false;
}

static void on_news(void *ctx)
{
    (void)ctx;
}

static struct control *listen_there(void)
{
    static const char *const reserve[] = {NULL};
    const struct control_options options = {.path = path, .handler = on_request, .reserve_commands = reserve};
    struct control *control = NULL;
    char err[200];
    CHECK_INT(control_open(&loop, &options, &control, err, sizeof err), 0);
    return control;
}

static struct training_link *connect_there(void)
{
    const struct training_link_config config = {.loop = &loop,
                                                .socket = path,
                                                .state_dir = folder,
                                                .never = true,
                                                .times = daemon_training_link_times_default,
                                                .needed = is_needed,
                                                .ready = on_news,
                                                .state = on_news};
    return daemon_training_link_create(&config);
}

static enum link_state wait_for(const struct training_link *link, enum link_state state)
{
    struct link_view view;
    uint64_t end = uv_hrtime() / 1000000 + PATIENCE_MS;
    do {
        uv_run(&loop, UV_RUN_ONCE);
        daemon_training_link_view(link, &view);
    } while (view.state != state && uv_hrtime() / 1000000 < end);
    return view.state;
}

int main(void)
{
    static struct known known[KNOWN] = {
        {.training = {.name = "ppo-btc", .state = "update", .pid = 500}, .met = true},
        {.training = {.name = "search", .state = "searching", .pid = 600}, .met = true},
        {.training = {.name = "waits", .state = "queued", .pid = -1}, .met = true},
        {.training = {.name = "ended", .state = "done", .pid = 700}, .met = true},
        {.training = {.name = "stored", .state = "update", .pid = 800}, .met = false}, /* by a former run */
    };
    struct known *all[KNOWN];
    struct process_role roles[8] = {0};
    for (int i = 0; i < KNOWN; i++)
        all[i] = &known[i];
    scratch_make(folder);
    snprintf(path, sizeof path, "%s/trainer.sock", folder);
    if (uv_loop_init(&loop) < 0)
        return 2;
    struct control *control = listen_there();
    struct trainings trainings = {.link = connect_there(), .known = all, .n_known = KNOWN};

    CHECK_INT(daemon_trainings_processes(NULL, roles, 8), 0);
    CHECK_INT(daemon_trainings_processes(&trainings, roles, 8), 0); /* it has not answered */
    CHECK_INT(wait_for(trainings.link, LINK_OK), LINK_OK);
    CHECK_INT(daemon_trainings_processes(&trainings, roles, 8), 3);
    CHECK_STR(roles[0].role, "trainer");
    CHECK_INT(roles[0].pid, getpid());
    CHECK_STR(roles[1].role, "ppo-btc");
    CHECK_INT(roles[1].pid, 500);
    CHECK_STR(roles[2].role, "search");
    CHECK_INT(roles[2].pid, 600);
    CHECK_INT(daemon_trainings_processes(&trainings, roles, 2), 2); /* there is room for two */
    CHECK_INT(daemon_trainings_processes(&trainings, roles, 0), 0);

    daemon_training_link_destroy(trainings.link);
    control_close(control);
    uv_run(&loop, UV_RUN_DEFAULT);
    CHECK_INT(uv_loop_close(&loop), 0);
    return check_done("daemon/training/roles");
}
