#include "strategy/policy/ensemble.h"

#include <errno.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/fail.h"
#include "exchange/whole_file.h"
#include "strategy/policy/ensemble_internal.h"
#include "strategy/policy/runtime.h"

enum { TEXT_MOST = 1 << 20 };

struct loaded {
    struct ensemble_policy ensemble; /* first: the callers' handle */
    char *bytes;                     /* the text */
    size_t n_bytes;
    struct ensemble_text text;
    char *files[ENSEMBLE_MEMBERS_MAX];
    struct trained_policy *members[ENSEMBLE_MEMBERS_MAX];
    const struct policy *policies[ENSEMBLE_MEMBERS_MAX];
};

#define refuse(err, path, code, why) fail_line(code, err, POLICY_ERROR_MAX, path, "%s", why)

/* ---- the text ---- */

static int read_bytes(const char *path, struct loaded *loaded, char err[static POLICY_ERROR_MAX])
{
    int r = whole_file_read(path, TEXT_MOST, &loaded->bytes, &loaded->n_bytes);
    return r < 0 ? refuse(err, path, r, r == -EINVAL ? "a file is needed" : strerror(-r)) : 0;
}

/* ---- the members ---- */

void ensemble_member_name(int i, char ret[static ENSEMBLE_MEMBER_NAME_MAX])
{
    snprintf(ret, ENSEMBLE_MEMBER_NAME_MAX, "member-%d.safetensors", i + 1);
}

char *ensemble_beside(const char *path, const char *name)
{
    const char *slash = strrchr(path, '/');
    char *file = NULL;
    int folder = slash && name[0] != '/' ? (int)(slash + 1 - path) : 0;
    return asprintf(&file, "%.*s%s", folder, path, name) < 0 ? NULL : file;
}

static int read_member(const char *path, struct loaded *loaded, int i, bool kept,
                       char err[static POLICY_ERROR_MAX])
{
    char name[ENSEMBLE_MEMBER_NAME_MAX], said[POLICY_ERROR_MAX], why[POLICY_ERROR_MAX];
    ensemble_member_name(i, name);
    loaded->files[i] = ensemble_beside(path, kept ? name : loaded->text.members[i]);
    if (!loaded->files[i])
        return refuse(err, path, -ENOMEM, "out of memory");
    int r = policy_trained_load(loaded->files[i], &loaded->members[i], said);
    if (r < 0)
        snprintf(why, sizeof why, "members: number %d: %.360s", i + 1, said);
    else if ((r = policy_trained_runtime_prepare(loaded->members[i], said)) < 0)
        snprintf(why, sizeof why, "members: number %d: %.128s: %.240s", i + 1, loaded->files[i], said);
    if (r < 0)
        return refuse(err, path, r, why);
    loaded->policies[i] = &loaded->members[i]->policy;
    return 0;
}

/* ---- the whole ---- */

static int find_id(struct loaded *loaded)
{
    uint8_t id[EVP_MAX_MD_SIZE];
    EVP_MD_CTX *hash = EVP_MD_CTX_new();
    bool done = hash && EVP_Digest(loaded->bytes, loaded->n_bytes, id, NULL, EVP_sha256(), NULL) == 1 &&
                EVP_DigestInit_ex(hash, EVP_sha256(), NULL) == 1 &&
                EVP_DigestUpdate(hash, id, POLICY_ID_SIZE) == 1;
    for (int i = 0; i < loaded->text.n && done; i++)
        done = EVP_DigestUpdate(hash, loaded->policies[i]->id, POLICY_ID_SIZE) == 1;
    done = done && EVP_DigestFinal_ex(hash, id, NULL) == 1;
    EVP_MD_CTX_free(hash);
    if (done)
        memcpy(loaded->ensemble.policy.id, id, POLICY_ID_SIZE);
    return done ? 0 : -ENOMEM;
}

/* Its own policy has what the members share. */
static void make_policy(struct loaded *loaded)
{
    struct ensemble_policy *ensemble = &loaded->ensemble;
    const struct policy *first = loaded->policies[0];
    ensemble->policy = (struct policy){
        .kind = "ensemble",
        .backend = first->backend,
        .n_assets = first->n_assets,
        .assets = first->assets,
        .interval_ns = first->interval_ns,
        .calendar = first->calendar,
        .session = first->session,
        .rules = first->rules,
        .slippage_e6 = first->slippage_e6,
        .runtime = &ensemble_runtime_ops,
        .n_members = loaded->text.n,
        .members = loaded->policies,
        .member_names = ensemble->names,
    };
    if (loaded->text.has_limits)
        ensemble->policy.rules.limits = loaded->text.limits;
    for (int i = 0; i < loaded->text.n; i++)
        if (loaded->policies[i]->lookback > ensemble->policy.lookback)
            ensemble->policy.lookback = loaded->policies[i]->lookback;
}

static int read_all(const char *path, struct loaded *loaded, bool kept, char err[static POLICY_ERROR_MAX])
{
    struct ensemble_policy *ensemble = &loaded->ensemble;
    char why[POLICY_ERROR_MAX];
    int r = read_bytes(path, loaded, err);
    if (r == 0)
        r = ensemble_text_parse(path, loaded->bytes, loaded->n_bytes, &loaded->text, err);
    for (int i = 0; i < loaded->text.n && r == 0; i++)
        r = read_member(path, loaded, i, kept, err);
    if (r < 0)
        return r;
    ensemble->combine = loaded->text.combine;
    ensemble->window_bars = loaded->text.window_bars;
    ensemble->n = loaded->text.n;
    ensemble->members = (const struct trained_policy *const *)loaded->members;
    ensemble->names = (const char *const *)loaded->text.members;
    ensemble->files = (const char *const *)loaded->files;
    r = ensemble_check(ensemble, why);
    if (r < 0)
        return refuse(err, path, r, why);
    make_policy(loaded);
    r = find_id(loaded);
    return r < 0 ? refuse(err, path, r, "out of memory") : 0;
}

static int load(const char *path, bool kept, struct ensemble_policy **ret, char err[static POLICY_ERROR_MAX])
{
    struct loaded *loaded = calloc(1, sizeof *loaded);
    int r = loaded ? read_all(path, loaded, kept, err) : refuse(err, path, -ENOMEM, "out of memory");
    if (r < 0) {
        ensemble_destroy(loaded ? &loaded->ensemble : NULL);
        return r;
    }
    *ret = &loaded->ensemble;
    return 0;
}

int ensemble_load(const char *path, struct ensemble_policy **ret, char err[static POLICY_ERROR_MAX])
{
    return load(path, false, ret, err);
}

int ensemble_load_kept(const char *path, struct ensemble_policy **ret, char err[static POLICY_ERROR_MAX])
{
    return load(path, true, ret, err);
}

const char *ensemble_bytes(const struct ensemble_policy *ensemble, size_t *ret_n)
{
    const struct loaded *loaded = (const struct loaded *)ensemble;
    *ret_n = loaded->n_bytes;
    return loaded->bytes;
}

void ensemble_destroy(struct ensemble_policy *ensemble)
{
    struct loaded *loaded = (struct loaded *)ensemble;
    if (!loaded)
        return;
    for (int i = 0; i < ENSEMBLE_MEMBERS_MAX; i++) {
        policy_trained_destroy(loaded->members[i]);
        free(loaded->files[i]);
    }
    ensemble_text_finish(&loaded->text);
    free(loaded->bytes);
    free(loaded);
}
