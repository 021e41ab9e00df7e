/* URLs of artifact stores, percent-encoding, and replies of S3. */
#include "trainer/artifacts/url.h"

#include <errno.h>
#include <stdlib.h>

#include "tests/check.h"
#include "trainer/artifacts/s3_request.h"

static void forget_environment(void)
{
    static const char *const names[] = {"AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL",
                                        "AWS_ENDPOINT_URL_S3"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unsetenv(names[i]);
}

static void test_folders(void)
{
    static const struct {
        const char *text, *folder, *url;
    } cases[] = {
        {"/srv/studies", "/srv/studies", "file:///srv/studies"},
        {"/srv/studies//", "/srv/studies", "file:///srv/studies"},
        {"file:///srv/a%20b%25", "/srv/a b%", "file:///srv/a%20b%25"},
        {"/srv/a b%", "/srv/a b%", "file:///srv/a%20b%25"},
        {"/", "/", "file:///"},
    };
    char err[ARTIFACT_ERROR_MAX];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct artifact_url url, again;
        CHECK_INT(artifact_url_parse(cases[i].text, &url, err), 0);
        CHECK_STR(url.folder, cases[i].folder);
        CHECK_STR(url.text, cases[i].url);
        CHECK_INT(artifact_url_parse(url.text, &again, err), 0);
        CHECK_STR(again.folder, url.folder);
    }
    struct artifact_url url;
    CHECK_INT(artifact_url_parse("here", &url, err), 0);
    CHECK(url.folder[0] == '/' && strcmp(url.folder + strlen(url.folder) - 5, "/here") == 0);
}

static void test_s3(void)
{
    static const struct {
        const char *text, *prefix, *endpoint, *region;
        bool path_style;
    } cases[] = {
        {"s3://bucket", "", "https://s3.us-east-1.amazonaws.com", "us-east-1", false},
        {"s3://bucket/", "", "https://s3.us-east-1.amazonaws.com", "us-east-1", false},
        {"s3://bucket/a%20b/c/?region=eu-central-1", "a b/c/", "https://s3.eu-central-1.amazonaws.com",
         "eu-central-1", false},
        {"s3://my.bucket/a", "a/", "https://s3.us-east-1.amazonaws.com", "us-east-1", true},
        {"s3://bucket/a?endpoint=http://127.0.0.1:9000/", "a/", "http://127.0.0.1:9000", "us-east-1", true},
        {"s3://bucket?endpoint=https%3A%2F%2Fminio.lan&path-style=false&region=x", "", "https://minio.lan",
         "x", false},
        {"s3://bucket?path-style=true", "", "https://s3.us-east-1.amazonaws.com", "us-east-1", true},
    };
    char err[ARTIFACT_ERROR_MAX];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct artifact_url url = {.folder = "?"};
        CHECK_INT(artifact_url_parse(cases[i].text, &url, err), 0);
        CHECK_STR(url.folder, "");
        CHECK(strcmp(url.bucket, "bucket") == 0 || strcmp(url.bucket, "my.bucket") == 0);
        CHECK_STR(url.prefix, cases[i].prefix);
        CHECK_STR(url.endpoint, cases[i].endpoint);
        CHECK_STR(url.region, cases[i].region);
        CHECK_INT(url.path_style, cases[i].path_style);
        CHECK_STR(url.text, cases[i].text);
    }
}

static void test_environment(void)
{
    struct artifact_url url;
    char err[ARTIFACT_ERROR_MAX];
    setenv("AWS_DEFAULT_REGION", "eu-west-3", 1);
    setenv("AWS_ENDPOINT_URL", "https://store.lan", 1);
    CHECK_INT(artifact_url_parse("s3://bucket", &url, err), 0);
    CHECK_STR(url.region, "eu-west-3");
    CHECK_STR(url.endpoint, "https://store.lan");
    CHECK(url.path_style);
    setenv("AWS_REGION", "eu-west-4", 1);
    setenv("AWS_ENDPOINT_URL_S3", "https://s3.lan", 1);
    CHECK_INT(artifact_url_parse("s3://bucket", &url, err), 0);
    CHECK_STR(url.region, "eu-west-4");
    CHECK_STR(url.endpoint, "https://s3.lan");
    CHECK_INT(artifact_url_parse("s3://bucket?region=r&endpoint=http://e", &url, err), 0);
    CHECK_STR(url.region, "r");
    CHECK_STR(url.endpoint, "http://e");
    setenv("AWS_REGION", "a region", 1);
    CHECK_INT(artifact_url_parse("s3://bucket", &url, err), -EINVAL);
    CHECK(strstr(err, "AWS_REGION"));
    forget_environment();
}

static void test_refused(void)
{
    static const struct {
        const char *text;
        int error;
    } cases[] = {
        {"", -EINVAL},
        {"gs://bucket", -EPROTONOSUPPORT},
        {"https://host/path", -EPROTONOSUPPORT},
        {"file:relative", -EINVAL},
        {"file://host/path", -EINVAL},
        {"file:///a%zz", -EINVAL},
        {"file:///a%00b", -EINVAL},
        {"file:///a?x=y", -EINVAL},
        {"s3://", -EINVAL},
        {"s3://UPPER", -EINVAL},
        {"s3://ab", -EINVAL},
        {"s3://-abc", -EINVAL},
        {"s3://bucket//a", -EINVAL},
        {"s3://bucket/../a", -EINVAL},
        {"s3://bucket/%zz", -EINVAL},
        {"s3://bucket?endpoint=ftp://x", -EINVAL},
        {"s3://bucket?endpoint=https://x/path", -EINVAL},
        {"s3://bucket?endpoint=https://", -EINVAL},
        {"s3://bucket?region=", -EINVAL},
        {"s3://bucket?region=a%0Db", -EINVAL},
        {"s3://bucket?path-style=yes", -EINVAL},
        {"s3://bucket?secret=x", -EINVAL},
        {"s3://bucket?endpoint", -EINVAL},
        {"s3://id:hunter2@bucket", -EINVAL},
        {"s3://bucket?endpoint=https://id:hunter2@x", -EINVAL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct artifact_url url = {.bucket = "untouched"};
        char err[ARTIFACT_ERROR_MAX] = "";
        CHECK_INT(artifact_url_parse(cases[i].text, &url, err), cases[i].error);
        CHECK_STR(url.bucket, "untouched");
        CHECK(strstr(err, "right") != NULL);
        CHECK(!strstr(err, "hunter2"));
    }
}

static void test_encoding(void)
{
    char text[64], all[256], encoded[1024];
    CHECK(artifact_url_encode("a/b c+%\xc3\xa4~-_.", true, text, sizeof text));
    CHECK_STR(text, "a/b%20c%2B%25%C3%A4~-_.");
    CHECK(artifact_url_encode("a/b", false, text, sizeof text));
    CHECK_STR(text, "a%2Fb");
    CHECK(!artifact_url_encode("    ", true, text, 12));
    CHECK(artifact_url_encode("", true, text, 1));
    for (int i = 1; i < 256; i++)
        all[i - 1] = (char)i;
    all[255] = '\0';
    CHECK(artifact_url_encode(all, false, encoded, sizeof encoded));
    CHECK(artifact_url_decode(encoded, true));
    CHECK_STR(encoded, all);
    strcpy(text, "a+b%2");
    CHECK(!artifact_url_decode(text, true));
}

static void test_replies(void)
{
    char text[32];
    struct artifact_digest digest = {.sha256 =
                                         "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"};
    CHECK_STR(artifact_s3_element("<a><Key>x&amp;y&lt;&#39;</Key>", "Key", text, sizeof text), "x&y<'");
    CHECK(!artifact_s3_element("<Key>x", "Key", text, sizeof text));
    CHECK(!artifact_s3_element("", "Key", text, sizeof text));
    CHECK_STR(artifact_s3_element("<Key>0123456789</Key>", "Key", text, 5), "0123");
    char checksum[S3_CHECKSUM_MAX];
    artifact_s3_checksum(&digest, checksum); /* of nothing, as the AWS documentation has it */
    CHECK_STR(checksum, "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
}

int main(void)
{
    forget_environment();
    test_folders();
    test_s3();
    test_environment();
    test_refused();
    test_encoding();
    test_replies();
    return check_done("artifacts/url");
}
