#include "strategy/policy/recorded.h"

#include <errno.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/whole_file.h"
#include "strategy/policy/recorded_internal.h"

enum { TEXT_MOST = 256 << 20 };

static int read_file(const char *path, struct recorded_text *ret, char err[static POLICY_ERROR_MAX])
{
    int r = whole_file_read(path, TEXT_MOST, &ret->bytes, &ret->len);
    if (r < 0)
        policy_recorded_refuse(err, path, "%s", r == -EINVAL ? "a file is needed" : strerror(-r));
    return r;
}

/* SHA-256 of the hashes of what was read. */
static int find_id(struct policy_recorded *recorded)
{
    uint8_t hashes[2 * POLICY_ID_SIZE], id[EVP_MAX_MD_SIZE];
    bool done = true;
    for (int i = 0; i < 2; i++) {
        const struct recorded_text *text = &recorded->texts[i];
        done &= EVP_Digest(text->bytes, text->len, id, NULL, EVP_sha256(), NULL) == 1;
        memcpy(hashes + i * POLICY_ID_SIZE, id, POLICY_ID_SIZE);
    }
    done &= EVP_Digest(hashes, sizeof hashes, id, NULL, EVP_sha256(), NULL) == 1;
    memcpy(recorded->policy.id, id, POLICY_ID_SIZE);
    return done ? 0 : -ENOMEM;
}

static bool act(const struct policy *policy, int64_t open_ns, float *ret_actions)
{
    const struct policy_recorded *recorded = (const struct policy_recorded *)policy;
    int64_t bar = open_ns >= policy->first_ns ? (open_ns - policy->first_ns) / policy->interval_ns : -1;
    int64_t row = bar + 1 - policy->lookback; /* t is decided at the bar before it */
    if (bar < 0 || row < 0 || row >= (int64_t)recorded->n_rows)
        return false;
    memcpy(ret_actions, recorded->actions + (size_t)row * (size_t)policy->n_assets,
           (size_t)policy->n_assets * sizeof *ret_actions);
    return true;
}

int policy_recorded_load(const char *params, const char *actions, struct policy **ret,
                         char err[static POLICY_ERROR_MAX])
{
    struct policy_recorded *recorded = calloc(1, sizeof *recorded);
    if (!recorded) {
        policy_recorded_refuse(err, params, "out of memory");
        return -ENOMEM;
    }
    recorded->policy.kind = "recorded";
    recorded->policy.backend = "file";
    recorded->policy.act = act;
    int r = read_file(params, &recorded->texts[0], err);
    if (r == 0)
        r = read_file(actions, &recorded->texts[1], err);
    if (r == 0)
        r = policy_recorded_read_params(params, recorded, err);
    if (r == 0)
        r = policy_recorded_read_actions(actions, recorded, err);
    if (r == 0 && (r = find_id(recorded)) < 0)
        policy_recorded_refuse(err, params, "out of memory");
    if (r < 0) {
        policy_recorded_destroy(&recorded->policy);
        return r;
    }
    *ret = &recorded->policy;
    return 0;
}

void policy_recorded_destroy(struct policy *policy)
{
    struct policy_recorded *recorded = (struct policy_recorded *)policy;
    if (!recorded)
        return;
    free(recorded->assets);
    free(recorded->first_closes);
    free(recorded->actions);
    free(recorded->texts[0].bytes);
    free(recorded->texts[1].bytes);
    free(recorded);
}
