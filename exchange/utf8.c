#include "exchange/utf8.h"

#include <stdbool.h>

size_t utf8_character(const char *at, size_t n, uint32_t *ret)
{
    static const struct {
        unsigned char mask, lead;
        uint32_t least;
    } forms[UTF8_MAX] = {{0x80, 0x00, 0}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};
    const unsigned char *bytes = (const unsigned char *)at;
    size_t len = 1;
    while (len <= UTF8_MAX && (*bytes & forms[len - 1].mask) != forms[len - 1].lead)
        len++;
    if (len > UTF8_MAX || len > n)
        return 0;
    uint32_t code = *bytes & (unsigned char)~forms[len - 1].mask;
    for (size_t i = 1; i < len; i++) {
        if ((bytes[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (bytes[i] & 0x3f);
    }
    bool surrogate = code >= 0xd800 && code <= 0xdfff;
    if (code < forms[len - 1].least || code > 0x10ffff || surrogate)
        return 0;
    if (ret)
        *ret = code;
    return len;
}

void utf8_clean(char *text)
{
    uint32_t code;
    for (size_t n; *text; text += n ? n : 1)
        if ((n = utf8_character(text, UTF8_MAX, &code)) == 0 || code < ' ' || code == 0x7f)
            *text = '?';
}
