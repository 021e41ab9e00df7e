/* The search for a device: found, failed and found again; what the status says; delays that double up to a
 * limit and restart at the least after long use. */
#include "daemon/compute.h"

#include "indicators_gpu/module.h"
#include "tests/check.h"

enum { RETRY_MS = 1, RETRY_MAX_MS = 8, FAILURES = 7, LONG_USE = 5 /* the failure that it comes before */ };

struct user {
    struct compute *compute;
    uv_timer_t use;
    int failures;
    int64_t delays_ms[FAILURES];
};

static void says(const struct compute *compute, bool on_device, int64_t call_ms, const char *backend,
                 const char *device, const char *reason)
{
    json_t *object = daemon_compute_object(compute, on_device, call_ms);
    const char *reported = json_string_value(json_object_get(object, "device"));
    CHECK_STR(json_string_value(json_object_get(object, "backend")), backend);
    CHECK_STR(reported ? reported : "none", device);
    CHECK_STR(json_string_value(json_object_get(object, "reason")), reason);
    json_decref(object);
}

static void fail(struct user *user)
{
    user->delays_ms[user->failures++] = daemon_compute_failed(user->compute, "it fell off the bus");
    says(user->compute, false, 0, "cpu", "none", "it fell off the bus");
    if (user->failures == FAILURES) {
        daemon_compute_stop(user->compute);
        uv_close((uv_handle_t *)&user->use, NULL);
    }
}

static void used(uv_timer_t *timer)
{
    fail(timer->data);
}

static void found(void *ctx, struct gpu_module *module)
{
    struct user *user = ctx;
    says(user->compute, false, 0, "cpu", "Fake H100", "the streams are on their way to the device");
    says(user->compute, true, 0, "gpu", "Fake H100", "the streams are on the device");
    says(user->compute, true, 9999, "gpu", "Fake H100", "the streams are on the device");
    says(user->compute, true, 12345, "gpu", "Fake H100", "the device has not answered for 12 s");
    gpu_module_close(module);
    if (user->failures == LONG_USE)
        uv_timer_start(&user->use, used, RETRY_MAX_MS, 0);
    else
        fail(user);
}

static void again_and_again(uv_loop_t *loop)
{
    static const int64_t delays_ms[FAILURES] = {1, 2, 4, 8, 8, 1, 2};
    struct user user = {0};
    const struct compute_config config = {
        .ctx = &user, .found = found, .retry_ms = RETRY_MS, .retry_max_ms = RETRY_MAX_MS};
    uv_timer_init(loop, &user.use);
    user.use.data = &user;
    user.compute = daemon_compute_create(loop, &config);
    CHECK(user.compute);
    says(user.compute, false, 0, "cpu", "none", "looking for a device");
    CHECK_INT(uv_run(loop, UV_RUN_DEFAULT), 0);
    CHECK_INT(user.failures, FAILURES);
    for (int i = 0; i < FAILURES; i++)
        CHECK_INT(user.delays_ms[i], delays_ms[i]);
}

static void not_wanted(uv_loop_t *loop)
{
    const struct compute_config config = {.unwanted = "no indicators are kept"};
    struct compute *compute = daemon_compute_create(loop, &config);
    CHECK(compute);
    says(compute, false, 0, "cpu", "none", "no indicators are kept");
    CHECK_INT(daemon_compute_failed(compute, "never asked for"), 0); /* and is not looked for */
    daemon_compute_stop(compute);
    CHECK_INT(uv_run(loop, UV_RUN_DEFAULT), 0);
}

static bool is_looking(const struct compute *compute)
{
    json_t *object = daemon_compute_object(compute, false, 0);
    bool looks = strcmp(json_string_value(json_object_get(object, "reason")), "looking for a device") == 0;
    json_decref(object);
    return looks;
}

static void found_again(void *ctx, struct gpu_module *module)
{
    struct user *user = ctx;
    user->failures++;
    gpu_module_close(module);
    daemon_compute_stop(user->compute);
}

/* A search whose device is not wanted any more when it is found gives none; wanted again, it is found. */
static void wanted_again(uv_loop_t *loop)
{
    struct user user = {0};
    const struct compute_config config = {.ctx = &user, .found = found_again};
    user.compute = daemon_compute_create(loop, &config);
    CHECK(user.compute);
    daemon_compute_again(user.compute, "no indicators are kept");
    while (is_looking(user.compute))
        uv_run(loop, UV_RUN_ONCE);
    CHECK_INT(user.failures, 0);
    says(user.compute, false, 0, "cpu", "none", "no indicators are kept");
    daemon_compute_again(user.compute, NULL);
    CHECK_INT(uv_run(loop, UV_RUN_DEFAULT), 0);
    CHECK_INT(user.failures, 1);
}

/* argv: the fake GPU module. */
int main(int argc, char **argv)
{
    uv_loop_t loop;
    if (argc != 2)
        return EXIT_FAILURE;
    setenv("PAPERTAPE_GPU_MODULE", argv[1], 1);
    CHECK_INT(uv_loop_init(&loop), 0);
    again_and_again(&loop);
    not_wanted(&loop);
    wanted_again(&loop);
    CHECK(!daemon_compute_abandoned());
    CHECK_INT(uv_loop_close(&loop), 0);
    return check_done("daemon/compute");
}
