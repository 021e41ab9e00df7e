/* UTF-8: every text of up to two bytes, and those of three and four at the edges, beside what jansson takes.
 */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "exchange/utf8.h"
#include "tests/check.h"

static uint32_t code_of(const char *bytes, size_t n)
{
    char digits[16] = "";
    json_t *json = json_stringn(bytes, n);
    char *text = json_dumps(json, JSON_ENCODE_ANY | JSON_ENSURE_ASCII); /* "\uD83D\uDE00" */
    unsigned high = 0, low = 0;
    int found = text ? sscanf(text, "\"\\u%4x\\u%4x", &high, &low) : 0;
    snprintf(digits, sizeof digits, "%s", text ? text : "");
    free(text);
    json_decref(json);
    return found == 2   ? 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00)
           : found == 1 ? high
                        : (unsigned char)*bytes;
}

static void compare(const char *bytes, size_t n)
{
    uint32_t code = 0;
    size_t taken = utf8_character(bytes, n, &code);
    json_t *json = json_stringn(bytes, n);
    if (taken == n) { /* one character: jansson takes it, and prints that code point */
        CHECK(json != NULL);
        if (n > 1)
            CHECK_INT(code, code_of(bytes, n));
    } else if (taken == 0) {
        CHECK(!json);
    }
    json_decref(json);
}

static void cleaned(void)
{
    char text[] = "a\n\xc3\xa9\xff\x7f\xed\xa0\x80\xf0\x9f\x98\x80\xe2\x82";
    utf8_clean(text);
    CHECK_STR(text, "a?\xc3\xa9??\?\?\?\xf0\x9f\x98\x80??");
}

int main(void)
{
    static const char edges[] = "\x7f\x80\x8f\x90\x9f\xa0\xbf\xc0";
    char bytes[UTF8_MAX];
    for (int a = 1; a < 256; a++) {
        bytes[0] = (char)a;
        compare(bytes, 1);
        for (int b = 1; b < 256; b++) {
            bytes[1] = (char)b;
            compare(bytes, 2);
            for (const char *c = edges; a >= 0xe0 && *c; c++) {
                bytes[2] = *c;
                compare(bytes, 3);
                for (const char *d = edges; a >= 0xf0 && *d; d++) {
                    bytes[3] = *d;
                    compare(bytes, 4);
                }
            }
        }
    }
    cleaned();
    return check_done("exchange/utf8");
}
