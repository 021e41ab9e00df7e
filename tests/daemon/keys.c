/* Keys from a credential and from a file: what is taken, what is refused, and that no message holds a secret.
 */
#include "daemon/feed/keys.h"

#include "daemon/execution/account_keys.h"

#include <errno.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/check.h"

static char folder[] = "/tmp/papertape-keys-XXXXXX";
static char path[128], error[512];
static struct feed_keys keys;

static void write_keys(const char *bytes, size_t n, mode_t mode)
{
    unlink(path);
    FILE *file = fopen(path, "w");
    if (!file || fwrite(bytes, 1, n, file) != n || fclose(file) != 0 || chmod(path, mode) != 0)
        abort();
}

static int read_keys(const char *name)
{
    error[0] = '\0';
    memset(&keys, 0, sizeof keys);
    return feed_keys_read(name, &keys, error, sizeof error);
}

static void refused(const char *text, size_t n, int expected)
{
    write_keys(text, n, 0600);
    CHECK_INT(read_keys(path), expected);
    CHECK(strstr(error, "two lines, id and secret") != NULL);
    CHECK(strchr(error, '\n') == NULL);
    CHECK(strstr(error, "hush") == NULL);
    CHECK(keys.secret[0] == '\0' && keys.id[0] == '\0');
}

/* An account's at its venue: a secret, or an Ed25519 key as text or as a file. */
static void test_execution_keys(void)
{
    static const char pem[] = "-----BEGIN PRIVATE KEY-----\nhush\n-----END PRIVATE KEY-----\n";
    struct execution_keys of;
    char text[400], pem_path[160];
    write_keys("PKID\nhush\n", 10, 0600);
    CHECK_INT(daemon_execution_keys_read(path, &of, error, sizeof error), 0);
    CHECK_STR(of.secret, "hush");
    int n = snprintf(text, sizeof text, "PKID\n%s", pem);
    write_keys(text, (size_t)n, 0600);
    CHECK_INT(daemon_execution_keys_read(path, &of, error, sizeof error), 0);
    CHECK_STR(of.id, "PKID");
    CHECK_STR(of.secret, pem);
    snprintf(pem_path, sizeof pem_path, "%s/pem", folder);
    write_keys(pem, sizeof pem - 1, 0600);
    CHECK_INT(rename(path, pem_path), 0);
    n = snprintf(text, sizeof text, "PKID\n%s\n", pem_path);
    write_keys(text, (size_t)n, 0600);
    CHECK_INT(daemon_execution_keys_read(path, &of, error, sizeof error), 0);
    CHECK_STR(of.secret, pem);
    CHECK_INT(chmod(pem_path, 0644), 0);
    CHECK_INT(daemon_execution_keys_read(path, &of, error, sizeof error), -EACCES);
    CHECK(strstr(error, pem_path) != NULL && of.id[0] == '\0');
    unlink(pem_path);
    write_keys("PKID\n-----BEGIN PRIVATE KEY-----\nhush\n", 38, 0600);
    CHECK_INT(daemon_execution_keys_read(path, &of, error, sizeof error), -EINVAL);
    CHECK(strstr(error, "execution_keys: ") != NULL && strstr(error, "hush") == NULL);
}

int main(void)
{
    if (!mkdtemp(folder))
        abort();
    snprintf(path, sizeof path, "%s/pair", folder);

    write_keys("PKID\nhush-1/+=\n", 15, 0600);
    CHECK_INT(read_keys(path), 0);
    CHECK_STR(keys.id, "PKID");
    CHECK_STR(keys.secret, "hush-1/+=");
    feed_keys_forget(&keys);
    CHECK(keys.id[0] == '\0' && keys.secret[0] == '\0' && keys.secret[3] == '\0');

    write_keys("PKID\r\nhush", 10, 0400); /* from a Windows editor; without an end of line */
    CHECK_INT(read_keys(path), 0);
    CHECK_STR(keys.secret, "hush");

    refused("", 0, -EINVAL);
    refused("PKID\n", 5, -EINVAL);
    refused("\nhush\n", 6, -EINVAL);
    refused("PKID\nhush\nmore\n", 15, -EINVAL);
    refused("PK ID\nhush\n", 11, -EINVAL);
    refused("PKID\nhu\0sh\n", 11, -EINVAL);
    static char longer[600];
    memset(longer, 'a', sizeof longer);
    memcpy(longer, "PKID\n", 5);
    refused(longer, sizeof longer, -EINVAL);
    refused(longer, 5 + FEED_KEY_MAX, -EINVAL);
    write_keys(longer, 5 + FEED_KEY_MAX - 1, 0600);
    CHECK_INT(read_keys(path), 0);

    write_keys("PKID\nhush\n", 10, 0640);
    CHECK_INT(read_keys(path), -EACCES);
    CHECK(strstr(error, "mode 0600 is needed") != NULL);
    CHECK_INT(read_keys("/nonexistent/keys"), -ENOENT);
    CHECK(strstr(error, "two lines, id and secret") != NULL);
    CHECK_INT(read_keys(folder), -EINVAL);

    unlink(path);
    CHECK_INT(mkfifo(path, 0600), 0); /* no writer: this must not wait for one */
    CHECK_INT(read_keys(path), -EINVAL);
    CHECK(strstr(error, "is a FIFO") != NULL);
    if (geteuid() == 0) {
        write_keys("PKID\nhush\n", 10, 0600);
        CHECK_INT(chown(path, 65534, 65534), 0);
        CHECK_INT(read_keys(path), -EPERM);
        CHECK(strstr(error, "belongs to uid 65534") != NULL);
    }
    write_keys("PKID\nhush\n", 10, 0640);

    /* A credential is guarded by its directory: systemd's are 0440 and 0400. */
    unsetenv("CREDENTIALS_DIRECTORY");
    CHECK_INT(read_keys("pair"), -ENOENT);
    CHECK(strstr(error, "LoadCredential=pair") != NULL);
    setenv("CREDENTIALS_DIRECTORY", folder, 1);
    CHECK_INT(read_keys("pair"), 0);
    CHECK_STR(keys.id, "PKID");
    CHECK_INT(read_keys("other"), -ENOENT);

    test_execution_keys();
    unlink(path);
    rmdir(folder);
    return check_done("daemon/keys");
}
