/* Commands with a key of their client: one that comes again gets the same answer as the first time. */
#include <openssl/sha.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/command/internal.h"

enum {
    KEY_CHAINS = 4096,
    KEYS_MAX = 1000000, /* in memory; then the oldest are dropped */
};

static size_t chain_of(const char *name)
{
    uint32_t hash = 2166136261U; /* FNV-1a */
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * 16777619U;
    return hash % KEY_CHAINS;
}

bool daemon_command_key_name(const char *cmd, const json_t *args, const struct engine *engine,
                             char ret[static 2 * ORDER_CLIENT_ID_MAX + ACCOUNT_NAME_MAX])
{
    const char *key = json_string_value(json_object_get(args, "key"));
    const char *client_id = json_string_value(json_object_get(args, "client_id"));
    const char *account = json_string_value(json_object_get(args, "account"));
    size_t size = 2 * ORDER_CLIENT_ID_MAX + ACCOUNT_NAME_MAX;
    if (key)
        snprintf(ret, size, "key %s", key);
    else if (client_id && strcmp(cmd, "order") == 0)
        snprintf(ret, size, "order %s %s",
                 account  ? account
                 : engine ? engine_account(engine, 0)->name
                          : "",
                 client_id);
    return key || (client_id && strcmp(cmd, "order") == 0);
}

void daemon_command_key_stored(const char *name, const json_t *args, char ret[static COMMAND_KEY_MAX])
{
    const char *key = json_string_value(json_object_get(args, "key"));
    if (key) {
        snprintf(ret, COMMAND_KEY_MAX, "%s", key);
        return;
    }
    /* Two accounts may have the same client id: no client's key begins with a tilde. */
    unsigned char hash[SHA256_DIGEST_LENGTH];
    SHA256((const unsigned char *)name, strlen(name), hash);
    ret[0] = '~';
    for (int i = 0; 2 * i + 3 < COMMAND_KEY_MAX; i++)
        snprintf(ret + 1 + 2 * (size_t)i, 3, "%02x", hash[i]);
}

struct command_key *daemon_command_key_find(const struct commands *commands, const char *name)
{
    struct command_key *key = commands->keys ? commands->keys[chain_of(name)] : NULL;
    while (key && strcmp(key->name, name) != 0)
        key = key->chain;
    return key;
}

static void forget_oldest(struct commands *commands)
{
    struct command_key *key = commands->oldest, **at = &commands->keys[chain_of(key->name)];
    while (*at != key)
        at = &(*at)->chain;
    *at = key->chain;
    commands->oldest = key->newer;
    if (!commands->oldest)
        commands->newest = &commands->oldest;
    commands->n_keys--;
    json_decref(key->args);
    json_decref(key->answer);
    free(key->name);
    free(key->cmd);
    free(key);
}

void daemon_command_key_add(struct commands *commands, const char *name, const char *cmd, json_t *args,
                            json_t *answer, uint64_t ticket)
{
    if (!commands->keys)
        commands->keys = calloc(KEY_CHAINS, sizeof *commands->keys);
    struct command_key *key = commands->keys ? calloc(1, sizeof *key) : NULL;
    if (!key)
        return; /* the database knows it after a restart */
    key->name = strdup(name);
    key->cmd = strdup(cmd);
    if (!key->name || !key->cmd) {
        free(key->name);
        free(key->cmd);
        free(key);
        return;
    }
    key->args = json_incref(args);
    key->answer = json_incref(answer);
    key->ticket = ticket;
    struct command_key **chain = &commands->keys[chain_of(name)];
    key->chain = *chain;
    *chain = key;
    *commands->newest = key;
    commands->newest = &key->newer;
    if (++commands->n_keys > KEYS_MAX)
        forget_oldest(commands);
}

void daemon_command_keys_finish(struct commands *commands)
{
    while (commands->oldest)
        forget_oldest(commands);
    free(commands->keys);
}
