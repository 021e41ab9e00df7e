/* Calls an artifact store as its lines of JSON say: {"call": "put", "key": K, "path": F}, likewise "get"
 * (with "sha256" and "size"), "list" (of "prefix") and "delete". Prints a line a call:
 * {"r": 0 or -errno, "error": …, "keys": [[KEY, SIZE] …]}. s3.py uses it.
 *
 *     calls URL <CALLS */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trainer/artifacts/artifact.h"

static const char *text(const json_t *call, const char *key)
{
    const char *value = json_string_value(json_object_get(call, key));
    return value ? value : "";
}

static int add_key(void *ctx, const char *key, int64_t size)
{
    json_array_append_new(ctx, json_pack("[s, I]", key, (json_int_t)size));
    return 0;
}

static int put(struct artifact_store *store, const json_t *call, char err[static ARTIFACT_ERROR_MAX])
{
    struct artifact_digest digest;
    int r = artifact_digest_file(text(call, "path"), &digest, err);
    return r < 0 ? r : artifact_store_put(store, text(call, "key"), text(call, "path"), &digest, err);
}

static int get(struct artifact_store *store, const json_t *call, char err[static ARTIFACT_ERROR_MAX])
{
    struct artifact_digest digest = {.size = json_integer_value(json_object_get(call, "size"))};
    snprintf(digest.sha256, sizeof digest.sha256, "%s", text(call, "sha256"));
    return artifact_store_get(store, text(call, "key"), text(call, "path"), &digest, err);
}

static json_t *perform(struct artifact_store *store, const json_t *call)
{
    char err[ARTIFACT_ERROR_MAX] = "";
    const char *name = text(call, "call"), *key = text(call, "key");
    json_t *keys = json_array();
    int r = -ENOSYS;
    if (strcmp(name, "put") == 0)
        r = put(store, call, err);
    else if (strcmp(name, "get") == 0)
        r = get(store, call, err);
    else if (strcmp(name, "list") == 0)
        r = artifact_store_list(store, text(call, "prefix"), add_key, keys, err);
    else if (strcmp(name, "delete") == 0)
        r = artifact_store_delete(store, key, err);
    return json_pack("{s:i, s:s, s:o}", "r", r, "error", err, "keys", keys);
}

int main(int argc, char **argv)
{
    char *line = NULL, err[ARTIFACT_ERROR_MAX];
    size_t cap = 0;
    struct artifact_store *store;
    int r = artifact_store_open(argc > 1 ? argv[1] : "", NULL, &store, err);
    if (r < 0) {
        printf("{\"r\": %d}\n%s\n", r, err);
        return EXIT_FAILURE;
    }
    while (getline(&line, &cap, stdin) > 0) {
        json_t *call = json_loads(line, 0, NULL), *reply = perform(store, call);
        json_dumpf(reply, stdout, JSON_COMPACT);
        putchar('\n');
        fflush(stdout);
        json_decref(reply);
        json_decref(call);
    }
    free(line);
    artifact_store_close(store);
    return EXIT_SUCCESS;
}
