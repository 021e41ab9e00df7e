/* Inference on a device: the CPU's bits for networks of every kind, and the CPU's answer, with the same bits,
 * where there is none, where it fails or does not answer.
 *
 *     policy-device MODULE [small]
 *
 * MODULE is that whose device is the CPU, which can be made to fail, or the real one: exit status 77 where
 * that finds no device. */
#include "strategy/policy/device.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fixtures/networks.h"
#include "tests/check.h"
#include "tests/random.h"
#include "tests/scratch.h"

enum { EXIT_SKIP = 77, SETTLE_MS = 60000, STEPS = 6, HIDDEN_MAX = 2 * NET_WIDTH_MAX };

static bool small;
static size_t compared;

/* The same network twice: on the device, and on the CPU. */
struct pair {
    struct net_layout layout;
    struct net_model *there, *here;
    struct net_memory *memory_there, *memory_here;
    float *observation, *heads_there, *heads_here;
};

static void pair_open(struct pair *pair, struct random *random, const struct net_shape *shape)
{
    struct random again = *random;
    pair->there = network_made(&random->state, shape, NET_BEST, &pair->layout);
    pair->here = network_made(&again.state, shape, NET_SCALAR, &pair->layout);
    pair->observation = malloc((size_t)shape->observation * sizeof(float));
    pair->heads_there = malloc((size_t)pair->layout.outputs * sizeof(float));
    pair->heads_here = malloc((size_t)pair->layout.outputs * sizeof(float));
    if (!pair->observation || !pair->heads_there || !pair->heads_here ||
        policy_net_memory_create(pair->there, &pair->memory_there) < 0 ||
        policy_net_memory_create(pair->here, &pair->memory_here) < 0)
        abort();
}

static void pair_close(struct pair *pair)
{
    policy_net_memory_destroy(pair->memory_there);
    policy_net_memory_destroy(pair->memory_here);
    policy_net_model_destroy(pair->there);
    policy_net_model_destroy(pair->here);
    free(pair->observation);
    free(pair->heads_there);
    free(pair->heads_here);
}

/* One step on both: bits. `backend`: which backend must have answered; NULL: the CPU. */
static void step(struct pair *pair, struct random *random, const char *backend)
{
    size_t n_there, n_here, n = (size_t)pair->layout.outputs;
    for (int i = 0; i < pair->layout.shape.observation; i++)
        pair->observation[i] = 4 * network_uniform(&random->state);
    memset(pair->heads_there, 0xff, n * sizeof(float));
    policy_net_model_heads(pair->there, pair->memory_there, pair->observation, pair->heads_there);
    policy_net_model_heads(pair->here, pair->memory_here, pair->observation, pair->heads_here);
    CHECK(memcmp(pair->heads_there, pair->heads_here, n * sizeof(float)) == 0);
    const float *there = policy_net_memory_hidden(pair->memory_there, &n_there),
                *here = policy_net_memory_hidden(pair->memory_here, &n_here);
    CHECK(n_there == n_here && (n_here == 0 || memcmp(there, here, n_here * sizeof(float)) == 0));
    CHECK_STR(policy_net_model_backend(pair->there), backend ? backend : policy_net_model_cpu(pair->there));
    CHECK_STR(policy_net_model_backend(pair->here), "cpu-scalar");
    compared += n;
}

static void test_shape(struct net_device *device, struct random *random, const struct net_shape *shape)
{
    struct pair pair;
    char err[NET_DEVICE_ERROR_MAX] = "";
    pair_open(&pair, random, shape);
    step(&pair, random, NULL);
    CHECK_INT(policy_net_model_on_device(pair.there, device, err), 0);
    CHECK_INT(policy_net_model_on_device(pair.there, device, err), -EALREADY);
    CHECK(policy_net_device_settle(device, SETTLE_MS));
    for (int i = 0; i < STEPS; i++)
        step(&pair, random, policy_net_device_name(device));
    /* Acts, too: the first of the largest, or the means. */
    float actions_there[NET_OUTPUTS_MAX], actions_here[NET_OUTPUTS_MAX];
    policy_net_model_act(pair.there, pair.memory_there, pair.observation, actions_there);
    policy_net_model_act(pair.here, pair.memory_here, pair.observation, actions_here);
    CHECK(memcmp(actions_there, actions_here, (size_t)shape->actions * sizeof(float)) == 0);
    pair_close(&pair);
}

static void test_shapes(struct net_device *device, struct random *random)
{
    static const struct net_shape shapes[] = {
        {.observation = 1, .actions = 1, .n_pi = 1, .pi = {1}},
        {.observation = 5, .actions = 2},
        {.observation = 31, .actions = 3, .n_pi = 2, .pi = {16, 17}, .activation = NET_RELU},
        {.observation = 33, .actions = 1, .levels = 3, .n_pi = 2, .pi = {63, 64}, .activation = NET_SILU},
        {.observation = 32, .actions = 7, .levels = 5, .n_pi = 3, .pi = {65, 31, 130}, .layer_norm = true},
        {.observation = 64, .actions = 2, .n_pi = 2, .pi = {48, 33}, .shared = true, .layer_norm = true},
        {.observation = 40, .actions = 2, .n_pi = 1, .pi = {32}, .n_vf = 1, .vf = {8}, .recurrent = 16},
        {.observation = 40, .actions = 2, .recurrent = 48, .shared = true},
        {.observation = 100,
         .actions = 1,
         .levels = 11,
         .n_pi = 2,
         .pi = {70, 20},
         .recurrent = 80,
         .layer_norm = true,
         .activation = NET_SILU,
         .shared = true},
        {.observation = 1025, .actions = 4, .n_pi = 1, .pi = {64}},
        {.observation = 300, .actions = 70, .levels = 3, .n_pi = 1, .pi = {1040}, .layer_norm = true},
        {.observation = 256, .actions = 7, .n_pi = 3, .pi = {2048, 1024, 512}, .n_vf = 1, .vf = {16}},
    };
    const size_t n = sizeof shapes / sizeof *shapes - small;
    for (size_t i = 0; i < n; i++)
        test_shape(device, random, &shapes[i]);
    for (int i = 0; i < (small ? 2 : 30); i++) {
        struct net_shape shape = {.observation = (int)random_between(random, 1, 200),
                                  .actions = (int)random_between(random, 1, 9),
                                  .levels = random_chance(random, 40) ? (int)random_between(random, 2, 9) : 0,
                                  .n_pi = (int)random_between(random, 0, 4),
                                  .n_vf = 1,
                                  .vf = {4},
                                  .activation = (enum net_activation)random_between(random, 0, 2),
                                  .layer_norm = random_chance(random, 50),
                                  .shared = random_chance(random, 40),
                                  .recurrent =
                                      random_chance(random, 40) ? 16 * (int)random_between(random, 1, 6) : 0};
        for (int k = 0; k < shape.n_pi; k++)
            shape.pi[k] = (int)random_between(random, 1, 150);
        test_shape(device, random, &shape);
    }
}

static const struct net_shape plain = {
    .observation = 20, .actions = 2, .n_pi = 2, .pi = {24, 16}, .recurrent = 16, .n_vf = 1, .vf = {4}};

/* Many at once, one that goes while others stay, and models that outlive the device. */
static void test_many(const char *module, struct random *random)
{
    enum { MODELS = 5 };
    struct net_device *device = NULL;
    struct pair pairs[MODELS];
    char err[NET_DEVICE_ERROR_MAX] = "";
    CHECK_INT(policy_net_device_open(module, &device, err), 0);
    policy_net_device_patience(device, SETTLE_MS);
    for (int i = 0; i < MODELS; i++) { /* as long as it opens, the CPU answers */
        pair_open(&pairs[i], random, &plain);
        CHECK_INT(policy_net_model_on_device(pairs[i].there, device, err), 0);
    }
    CHECK(policy_net_device_settle(device, SETTLE_MS));
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < MODELS; i++)
            step(&pairs[i], random, policy_net_device_name(device));
    pair_close(&pairs[0]);
    CHECK(policy_net_device_settle(device, SETTLE_MS));
    for (int i = 1; i < MODELS; i++)
        step(&pairs[i], random, policy_net_device_name(device));
    policy_net_device_close(device);
    for (int i = 1; i < MODELS; i++) {
        step(&pairs[i], random, NULL);
        pair_close(&pairs[i]);
    }
}

/* The CPU continues where the device stopped, recurrent state included. */
static void test_fails(const char *module, struct random *random)
{
    struct net_device *device = NULL;
    struct pair pair;
    char err[NET_DEVICE_ERROR_MAX] = "";
    CHECK_INT(policy_net_device_open(module, &device, err), 0);
    policy_net_device_patience(device, SETTLE_MS);
    pair_open(&pair, random, &plain);
    CHECK_INT(policy_net_model_on_device(pair.there, device, err), 0);
    CHECK(policy_net_device_settle(device, SETTLE_MS));
    step(&pair, random, policy_net_device_name(device));
    CHECK(!policy_net_device_is_lost(device, err) && err[0] == '\0');
    setenv("POLICY_FAILS", "1", 1);
    step(&pair, random, NULL);
    unsetenv("POLICY_FAILS");
    CHECK(policy_net_device_is_lost(device, err) && strstr(err, "the test makes it fail"));
    for (int i = 0; i < 3; i++) /* and it is not asked again */
        step(&pair, random, NULL);
    struct pair other;
    pair_open(&other, random, &plain);
    CHECK_INT(policy_net_model_on_device(other.there, device, err), -EIO);
    step(&other, random, NULL);
    pair_close(&other);
    pair_close(&pair);
    policy_net_device_close(device);
}

/* One that does not come back: the caller does. Then it comes back after all, or after it was closed. */
static void test_hangs(const char *module, struct random *random, bool closed)
{
    struct net_device *device = NULL;
    struct pair pair;
    char err[NET_DEVICE_ERROR_MAX] = "", fifo[SCRATCH_PATH_MAX];
    snprintf(fifo, sizeof fifo, "%s", scratch_path(closed ? "fifo-closed" : "fifo"));
    CHECK_INT(mkfifo(fifo, 0600), 0);
    CHECK_INT(policy_net_device_open(module, &device, err), 0);
    policy_net_device_patience(device, SETTLE_MS);
    pair_open(&pair, random, &plain);
    CHECK_INT(policy_net_model_on_device(pair.there, device, err), 0);
    CHECK(policy_net_device_settle(device, SETTLE_MS));
    step(&pair, random, policy_net_device_name(device));
    setenv("POLICY_HANGS", fifo, 1);
    policy_net_device_patience(device, NET_DEVICE_WAIT_MS);
    step(&pair, random, NULL);
    CHECK(policy_net_device_is_lost(device, err) && strstr(err, "no answer within 50 ms"));
    step(&pair, random, NULL);
    if (closed)
        policy_net_device_close(device);
    CHECK(policy_net_device_abandoned() == closed);
    int fd = open(fifo, O_WRONLY | O_CLOEXEC);
    CHECK(fd >= 0 && write(fd, "x", 1) == 1);
    close(fd);
    step(&pair, random, NULL);
    unsetenv("POLICY_HANGS");
    pair_close(&pair);
    if (!closed)
        policy_net_device_close(device);
}

static void test_none(struct random *random)
{
    struct net_device *device = NULL;
    struct pair pair;
    char err[NET_DEVICE_ERROR_MAX] = "";
    pair_open(&pair, random, &plain);
    CHECK_INT(policy_net_device_open("/nonexistent/papertape-gpu.so", &device, err), 0);
    CHECK(!policy_net_device_settle(device, SETTLE_MS));
    CHECK(policy_net_device_is_lost(device, err) && strstr(err, "/nonexistent/papertape-gpu.so"));
    CHECK_STR(policy_net_device_name(device), "gpu");
    CHECK_INT(policy_net_model_on_device(pair.there, device, err), -EIO);
    step(&pair, random, NULL);
    const struct policy recorded = {.kind = "recorded", .backend = "file"};
    CHECK_INT(policy_on_device(&recorded, device, err), 0);
    CHECK_STR(policy_backend(&recorded), "file");
    policy_net_device_close(device);
    policy_net_device_close(NULL);
    pair_close(&pair);
}

int main(int argc, char **argv)
{
    struct random random = random_seeded("policy-device", 20261122);
    struct net_device *device = NULL;
    char err[NET_DEVICE_ERROR_MAX] = "";
    CHECK(argc >= 2);
    small = argc > 2 && strcmp(argv[2], "small") == 0;
    if (argc < 2 || policy_net_device_open(argv[1], &device, err) < 0)
        return EXIT_FAILURE;
    policy_net_device_patience(device, SETTLE_MS);
    if (!policy_net_device_settle(device, SETTLE_MS)) {
        bool lost = policy_net_device_is_lost(device, err);
        fprintf(stderr, "policy-device: %s\n", lost ? err : "the device does not open");
        policy_net_device_close(device);
        return lost ? EXIT_SKIP : EXIT_FAILURE;
    }
    const bool on_cpu = strcmp(policy_net_device_name(device), "gpu: the CPU") == 0;
    test_shapes(device, &random);
    CHECK(!policy_net_device_is_lost(device, err));
    policy_net_device_close(device);
    test_many(argv[1], &random);
    test_none(&random);
    if (on_cpu) {
        test_fails(argv[1], &random);
        test_hangs(argv[1], &random, false);
        test_hangs(argv[1], &random, true);
    }
    printf("policy-device: %zu heads with the CPU's bits\n", compared);
    return check_done("strategy/policy/device");
}
