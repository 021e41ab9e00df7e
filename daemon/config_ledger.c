/* [ledger]: its keys, and what they name. */
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "daemon/anchors.h"
#include "daemon/config_values.h"
#include "daemon/credential.h"
#include "daemon/safe_program.h"
#include "db/books/sign.h"
#include "exchange/fail.h"
#include "exchange/net/secret.h"

enum { PEM_MAX = 4 << 10 };

static bool is_command(const char *target)
{
    return strncmp(target, ANCHOR_COMMAND, strlen(ANCHOR_COMMAND)) == 0;
}

static bool is_file(const char *target)
{
    return target[0] == '/';
}

int daemon_config_read_anchor(const struct config_key *key, const char *text, void *base,
                              char why[static CONFIG_WHY_MAX])
{
    char buf[NOTIFY_TARGET_MAX], *words[NOTIFY_ARGS_MAX];
    bool command = is_command(text);
    if (text[0] && !is_file(text) && strcmp(text, ANCHOR_JOURNAL) != 0 && !command)
        return config_key_refuse(why, CONFIG_WHY_MAX,
                                 "\"%.100s\": a path that begins with a slash, " ANCHOR_JOURNAL
                                 ", or " ANCHOR_COMMAND "COMMAND is needed",
                                 text);
    if (command && (strlen(text) >= NOTIFY_TARGET_MAX ||
                    daemon_notify_words(text + strlen(ANCHOR_COMMAND), buf, words) < 0))
        return config_key_refuse(why, CONFIG_WHY_MAX,
                                 "\"%.100s\": behind " ANCHOR_COMMAND
                                 " a program and its arguments, with closed quotes, are needed",
                                 text);
    if (is_file(text) && text[strlen(text) - 1] == '/')
        return config_key_refuse(why, CONFIG_WHY_MAX, "\"%.100s\": a file is needed, not a folder", text);
    struct config_key row = *key;
    row.kind = CONFIG_TEXT;
    return config_key_read(&row, text, base, why);
}

int daemon_config_read_timestamp(const struct config_key *key, const char *text, void *base,
                                 char why[static CONFIG_WHY_MAX])
{
    int r = text[0] ? daemon_config_check_url(text, "https", "http", "https://HOST/PATH", why) : 0;
    if (r < 0)
        return r;
    struct config_key row = *key;
    row.kind = CONFIG_TEXT;
    return config_key_read(&row, text, base, why);
}

void daemon_config_ledger_check(const struct daemon_config *config, const struct daemon_config_check *check)
{
    const struct anchor_config *ledger = &config->ledger;
    if (!ledger->target[0] && ledger->key[0])
        daemon_config_misfit(check, "ledger", "key anchor", "anchor is empty: nothing is signed");
    if (!ledger->target[0] && ledger->timestamp_url[0])
        daemon_config_misfit(check, "ledger", "timestamp_url anchor", "anchor is empty: nothing is stamped");
}

int daemon_config_ledger_key(const char *name, struct db_sign_key **ret, char *err, size_t err_size)
{
    static const struct credential_kind kind = {"key", "an Ed25519 private key in PEM is",
                                                "a file with an Ed25519 private key in PEM is"};
    char path[CREDENTIAL_PATH_MAX], words[256], *pem = net_secret_alloc(PEM_MAX);
    if (!pem)
        return fail_with(-ENOMEM, err, err_size, "out of memory");
    ssize_t n = daemon_credential_read(&kind, name, pem, PEM_MAX, path, err, err_size);
    int r = n < 0 ? (int)n : db_sign_key_parse(pem, (size_t)n, false, ret, words, sizeof words);
    if (n >= 0 && r < 0)
        snprintf(err, err_size, "key: %.300s: %s", path, words);
    net_secret_free(pem);
    return r;
}

int daemon_config_ledger_files(const struct daemon_config *config, char error[static CONFIG_ERROR_MAX])
{
    const struct anchor_config *ledger = &config->ledger;
    char why[CONFIG_ERROR_MAX - 16], buf[NOTIFY_TARGET_MAX], *words[NOTIFY_ARGS_MAX];
    struct db_sign_key *key = NULL;
    int r = 0;
    if (is_command(ledger->target) &&
        daemon_notify_words(ledger->target + strlen(ANCHOR_COMMAND), buf, words) > 0)
        r = daemon_safe_program(words[0], why, sizeof why);
    if (r == 0 && ledger->key[0] && !daemon_credential_unseen(ledger->key))
        r = daemon_config_ledger_key(ledger->key, &key, why, sizeof why);
    db_sign_key_free(key);
    if (r == -ENOMEM)
        return r;
    return r < 0 ? fail_with(-EINVAL, error, CONFIG_ERROR_MAX, "[ledger] %s", why) : 0;
}

/* ---- its place ---- */

/* Without . and .., through links: of a file its folder's, since itself it may not be there yet. */
static bool normal_folder(const char *file, char ret[static PATH_MAX])
{
    char copy[PATH_MAX];
    snprintf(copy, sizeof copy, "%s", file);
    return realpath(dirname(copy), ret) != NULL;
}

static bool is_inside(const char *folder, const char *of)
{
    size_t n = strlen(of);
    return strncmp(folder, of, n) == 0 && (folder[n] == '/' || folder[n] == '\0' || strcmp(of, "/") == 0);
}

static int check_outside(const char *key, const char *file, const struct state_dir *state, bool starts,
                         char *err, size_t err_size)
{
    char folder[PATH_MAX], whole[PATH_MAX], of[PATH_MAX];
    if (!is_file(file))
        return 0;
    if (!normal_folder(file, folder) && !starts) /* the service manager makes it */
        return 0;
    if (!normal_folder(file, folder))
        return fail_with(-EINVAL, err, err_size, "[ledger] %s: %.300s: its folder: %s", key, file,
                         strerror(errno));
    bool known = realpath(state->path, of) != NULL; /* one that is not there has nothing inside */
    bool link = realpath(file, whole) != NULL;
    if (known && (is_inside(folder, of) || (link && is_inside(whole, of))))
        return fail_with(-EINVAL, err, err_size,
                         "[ledger] %s: %.300s: is inside the state directory %.300s: who can alter the "
                         "books could alter it too: a place outside is needed",
                         key, file, of);
    return 0;
}

int daemon_anchor_check(const struct anchor_config *config, const struct state_dir *state, bool starts,
                        char *err, size_t err_size)
{
    struct db_sign_key *key = NULL;
    char why[CONFIG_ERROR_MAX - 16];
    int r = check_outside("anchor", config->target, state, starts, err, err_size);
    if (r == 0)
        r = check_outside("key", config->key, state, starts, err, err_size);
    if (r < 0 || !starts || !config->key[0])
        return r;
    r = daemon_config_ledger_key(config->key, &key, why, sizeof why);
    db_sign_key_free(key);
    return r < 0 ? fail_with(r == -ENOMEM ? r : -EINVAL, err, err_size, "[ledger] %s", why) : 0;
}
