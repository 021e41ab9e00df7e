/* Where the keys of a store are looked for, and which files are refused. */
#include "trainer/artifacts/credentials.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exchange/net/secret.h"
#include "tests/check.h"
#include "tests/scratch.h"

#define SECRET "wJalrXUtnFEMI/K7MDENG"

static char folder[SCRATCH_MAX], err[ARTIFACT_ERROR_MAX];

static const char *in_folder(const char *name)
{
    static char whole[SCRATCH_MAX + 64];
    snprintf(whole, sizeof whole, "%s/%s", folder, name);
    return whole;
}

static void write_file(const char *name, mode_t mode, const char *text)
{
    FILE *file = fopen(in_folder(name), "w");
    CHECK(file != NULL);
    if (file) {
        fputs(text, file);
        fclose(file);
    }
    CHECK_INT(chmod(in_folder(name), mode), 0);
}

static void forget_environment(void)
{
    static const char *const names[] = {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY",
                                        "AWS_SESSION_TOKEN", "AWS_SHARED_CREDENTIALS_FILE",
                                        "AWS_PROFILE",       "CREDENTIALS_DIRECTORY"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unsetenv(names[i]);
    setenv("HOME", "/nonexistent", 1);
}

/* What is found has this id; NULL: the error is `error`, and its sentence has no secret. */
static void check_found(int error, const char *id, const char *token)
{
    struct artifact_credentials *found = NULL;
    int r = artifact_credentials_find(&found, err);
    CHECK_INT(r, error);
    CHECK((r == 0) == (found != NULL));
    if (r == 0 && id) {
        CHECK_STR(found->key_id, id);
        CHECK_STR(found->secret, SECRET);
        CHECK_STR(found->token, token);
    } else {
        CHECK(!strstr(err, SECRET));
    }
    if (r == 0)
        net_secret_free(found);
}

static void test_order(void)
{
    write_file("file", 0600,
               "# AWS'\n[default]\naws_access_key_id = FROMFILE\r\naws_secret_access_key=" SECRET
               "\n[work]\naws_access_key_id = FROMWORK\naws_secret_access_key = " SECRET
               "\naws_session_token = TOKEN==\nregion = x\n");
    CHECK_INT(mkdir(in_folder("credentials"), 0700), 0);
    write_file("credentials/aws-credentials", 0440,
               "[default]\naws_access_key_id=FROMSYSTEMD\naws_secret_access_key=" SECRET "\n");
    CHECK_INT(mkdir(in_folder(".aws"), 0700), 0);
    write_file(".aws/credentials", 0600,
               "[default]\naws_access_key_id=FROMHOME\naws_secret_access_key=" SECRET);
    check_found(-ENOENT, NULL, NULL);
    setenv("HOME", folder, 1);
    check_found(0, "FROMHOME", "");
    setenv("CREDENTIALS_DIRECTORY", in_folder("credentials"), 1);
    check_found(0, "FROMSYSTEMD", ""); /* its folder protects it */
    setenv("AWS_SHARED_CREDENTIALS_FILE", in_folder("file"), 1);
    check_found(0, "FROMFILE", "");
    setenv("AWS_PROFILE", "work", 1);
    check_found(0, "FROMWORK", "TOKEN==");
    setenv("AWS_ACCESS_KEY_ID", "FROMENVIRONMENT", 1);
    check_found(-EINVAL, NULL, NULL); /* half of it */
    setenv("AWS_SECRET_ACCESS_KEY", SECRET, 1);
    check_found(0, "FROMENVIRONMENT", "");
    setenv("AWS_SESSION_TOKEN", "T", 1);
    check_found(0, "FROMENVIRONMENT", "T");
    setenv("AWS_SECRET_ACCESS_KEY", SECRET "\r\nx-amz-acl: public-read", 1);
    check_found(-EINVAL, NULL, NULL);
    forget_environment();
}

static void test_refused(void)
{
    setenv("AWS_SHARED_CREDENTIALS_FILE", in_folder("file"), 1);
    CHECK_INT(chmod(in_folder("file"), 0640), 0);
    check_found(-EACCES, NULL, NULL);
    CHECK(strstr(err, "0640") && strstr(err, "0600"));
    CHECK_INT(chmod(in_folder("file"), 0600), 0);
    setenv("AWS_PROFILE", "absent", 1);
    check_found(-ENOENT, NULL, NULL);
    CHECK(strstr(err, "[absent]"));
    unsetenv("AWS_PROFILE");
    setenv("AWS_SHARED_CREDENTIALS_FILE", in_folder("absent"), 1);
    check_found(-ENOENT, NULL, NULL);
    setenv("AWS_SHARED_CREDENTIALS_FILE", folder, 1);
    check_found(-EINVAL, NULL, NULL);
    CHECK_INT(mkfifo(in_folder("fifo"), 0600), 0);
    setenv("AWS_SHARED_CREDENTIALS_FILE", in_folder("fifo"), 1);
    check_found(-EINVAL, NULL, NULL); /* it is not waited for */
    write_file("half", 0600, "[default]\naws_secret_access_key = " SECRET "\n");
    setenv("AWS_SHARED_CREDENTIALS_FILE", in_folder("half"), 1);
    check_found(-EINVAL, NULL, NULL);
    CHECK(strstr(err, "aws_access_key_id"));
    write_file("blank", 0600, "[default]\naws_access_key_id = a b\naws_secret_access_key = " SECRET "\n");
    setenv("AWS_SHARED_CREDENTIALS_FILE", in_folder("blank"), 1);
    check_found(-EINVAL, NULL, NULL);
    write_file("empty", 0600, "");
    setenv("AWS_SHARED_CREDENTIALS_FILE", in_folder("empty"), 1);
    check_found(-ENOENT, NULL, NULL);
    forget_environment();
}

int main(void)
{
    scratch_make(folder);
    forget_environment();
    test_order();
    test_refused();
    scratch_remove(folder);
    return check_done("artifacts/credentials");
}
