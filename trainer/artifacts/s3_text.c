/* What S3's replies are made of. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/evp.h>

#include "trainer/artifacts/s3_request.h"

void artifact_s3_checksum(const struct artifact_digest *digest, char ret[static S3_CHECKSUM_MAX])
{
    unsigned char bytes[32], text[S3_CHECKSUM_MAX];
    for (int i = 0; i < 32; i++) {
        const char two[] = {digest->sha256[2 * i], digest->sha256[2 * i + 1], '\0'};
        bytes[i] = (unsigned char)strtoul(two, NULL, 16);
    }
    int n = EVP_EncodeBlock(text, bytes, sizeof bytes);
    snprintf(ret, S3_CHECKSUM_MAX, "%.*s", n, (const char *)text);
}

/* The character that an entity at `at` stands for, and its length; 0: it is none of these. */
static char entity(const char *at, size_t *ret_length)
{
    static const struct {
        const char *text;
        char is;
    } known[] = {{"&amp;", '&'},   {"&lt;", '<'},   {"&gt;", '>'},  {"&quot;", '"'},
                 {"&apos;", '\''}, {"&#39;", '\''}, {"&#34;", '"'}, {"&#x27;", '\''}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strncmp(at, known[i].text, strlen(known[i].text)) == 0) {
            *ret_length = strlen(known[i].text);
            return known[i].is;
        }
    return 0;
}

const char *artifact_s3_element(const char *at, const char *name, char *ret, size_t cap)
{
    char opens[64], closes[64];
    size_t n = 0;
    snprintf(opens, sizeof opens, "<%s>", name);
    snprintf(closes, sizeof closes, "</%s>", name);
    const char *from = strstr(at, opens), *to = from ? strstr(from, closes) : NULL;
    if (!to)
        return NULL;
    for (at = from + strlen(opens); at < to && n + 1 < cap; n++) {
        size_t skip = 1;
        char is = entity(at, &skip);
        ret[n] = is ? is : *at;
        at += skip;
    }
    ret[n] = '\0';
    return ret;
}
