/* The environment's kernels without a GPU: their source run by the module whose device is the CPU, beside the
 * host's scalar kernels, bit by bit. Threads and blocks run in order, then in reverse; memory is poisoned,
 * guarded and runs out. 65 copies are no multiple of a warp, nor of a block's; 300 are three blocks.
 *
 * Arguments: the module's path, and that of one without an environment. PAPERTAPE_LONG=1 draws more
 * parameters. */
#include "tests/counts.h"
#include "tests/trainer/env/device_try.h"

enum { STEPS = COUNTS_PART ? 1024 : 4096, ROUNDS = COUNTS_PART ? 1 : 2, LONG_ROUNDS = 20 };

static void try_other(const char *path, struct random *random)
{
    char err[ENV_ERROR_MAX] = "";
    struct gpu_module *other = NULL;
    struct env_device_market *on_device = NULL;
    struct env_params params = try_params(random, ENV_REFERENCE, ENV_PORTFOLIO);
    struct env_market *market = try_market(random, &params, 2);
    CHECK_INT(gpu_module_open(path, &other, err, sizeof(err)), 0);
    if (other && market) {
        CHECK_INT(env_device_market_create(other, market, &on_device, err), -ENOEXEC);
        CHECK(strstr(err, path) && strstr(err, "papertape_gpu_env"));
    }
    CHECK(!on_device);
    env_market_destroy(market);
    gpu_module_close(other);
}

/* Queued steps with the caller's own memory, which the CPU's addresses are; of masks, too, every byte. */
static void try_addresses(struct gpu_module *module, struct random *random, enum env_execution execution,
                          enum env_task task)
{
    char err[ENV_ERROR_MAX] = "";
    struct env_params params = try_params(random, execution, task);
    struct try_pair t;
    if (!try_open(&t, module, random, &params, task == ENV_DAY_TRADE ? 1 : 3, TRY_COPIES)) {
        try_close(&t);
        return;
    }
    for (int i = 0; i < 600; i++) {
        uint8_t *const ends[2] = {t.ends[0], t.ends[1]};
        struct env_io host = {t.action, t.by_column,        t.reward[0],
                              ends[0],  ends[0] + t.copies, t.final_obs[0]};
        struct env_device_io io = {.actions = t.action,
                                   .actions_by_column = t.by_column,
                                   .rewards = t.reward[1],
                                   .terminated = ends[1],
                                   .truncated = ends[1] + t.copies,
                                   .final_obs = t.final_obs[1],
                                   .observations = t.obs[1],
                                   .masks = t.mask[1]};
        try_actions(random, &params, t.action, t.actions);
        CHECK_INT(env_step(t.host, &host, err), 0);
        CHECK_INT(env_device_queue(t.device, &io, NULL, err), 0);
        env_observe(t.host, t.obs[0]);
        env_masks(t.host, t.mask[0]);
        CHECK(memcmp(t.reward[0], t.reward[1], t.copies * sizeof(float)) == 0);
        CHECK(memcmp(ends[0], ends[1], t.copies * 2) == 0);
        CHECK(memcmp(t.final_obs[0], t.final_obs[1], t.observations * sizeof(float)) == 0);
        CHECK(memcmp(t.obs[0], t.obs[1], t.observations * sizeof(float)) == 0);
        CHECK(memcmp(t.mask[0], t.mask[1], t.masks) == 0);
    }
    CHECK_INT(env_device_wait(t.device, NULL, err), 0);
    try_compare(&t);
    try_close(&t);
}

int main(int argc, char **argv)
{
    char reason[GPU_REASON_MAX] = "";
    struct gpu_module *module = NULL;
    CHECK(argc > 2);
    if (argc < 3)
        return check_done("trainer/env/blocks");
    CHECK_INT(gpu_module_open(argv[1], &module, reason, sizeof(reason)), 0);
    CHECK_STR(reason, "");
    if (!module)
        return check_done("trainer/env/blocks");
    struct random random = random_seeded("trainer/env/blocks", 20260107);
    int rounds = getenv("PAPERTAPE_LONG") ? LONG_ROUNDS : ROUNDS;
    printf("counts: %d rounds (PAPERTAPE_LONG=1: %d) of %d copies, %d steps (a sanitizer: 1024)\n", rounds,
           LONG_ROUNDS, TRY_COPIES, STEPS);
    for (int reversed = 0; reversed < 2; reversed++) {
        CHECK_INT(setenv("BLOCKS_REVERSED", reversed ? "1" : "0", 1), 0);
        for (int round = 0; round < rounds; round++)
            for (size_t k = 0; k < TRY_KINDS; k++)
                try_one(module, &random, try_kinds[k].execution, try_kinds[k].task, TRY_COPIES, STEPS);
        for (size_t k = 0; k < TRY_KINDS; k++)
            try_addresses(module, &random, try_kinds[k].execution, try_kinds[k].task);
        try_one(module, &random, ENV_REFERENCE, ENV_PORTFOLIO, 1, 50);
        try_one(module, &random, ENV_MARKET, ENV_PORTFOLIO, 300, 50);
    }
    try_memory(module, &random);
    try_other(argv[2], &random);
    gpu_module_close(module);
    return check_done("trainer/env/blocks");
}
