#include "cli/text.h"

#include <stdio.h>
#include <string.h>

#include "exchange/utf8.h"

size_t cli_text_decode(const char *s, wchar_t *ret)
{
    uint32_t code = TEXT_REPLACEMENT;
    size_t n = utf8_character(s, UTF8_MAX, &code);
    *ret = (wchar_t)code;
    return n > 0 ? n : 1;
}

/* Characters that wcwidth() accepts but that reorder or break a line. */
static bool steers(wchar_t c)
{
    return (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) ||
           c == 0xfeff || (c >= 0xfff9 && c <= 0xfffb) || (c >= 0xe0000 && c <= 0xe0fff);
}

int cli_text_char_width(wchar_t c)
{
    if (c >= 0x20 && c < 0x7f)
        return 1;
    if (c < 0xa0 || steers(c))
        return -1;
    int width = wcwidth(c);
    return width > 2 ? -1 : width;
}

int cli_text_width(const char *s)
{
    int columns = 0;

    while (*s) {
        wchar_t c;
        s += cli_text_decode(s, &c);
        int width = cli_text_char_width(c);
        columns += width < 0 ? 1 : width;
    }
    return columns;
}

size_t cli_text_fit(const char *s, int columns)
{
    size_t n = 0;

    while (s[n]) {
        wchar_t c;
        size_t used = cli_text_decode(s + n, &c);
        int width = cli_text_char_width(c);
        columns -= width < 0 ? 1 : width;
        if (columns < 0)
            break;
        n += used;
    }
    return n;
}

void cli_text_clean(char *dst, size_t size, const char *src)
{
    size_t n = 0;

    while (*src) {
        wchar_t c;
        size_t used = cli_text_decode(src, &c);
        bool shown = cli_text_char_width(c) >= 0 && (used > 1 || (unsigned char)*src < 0x80);
        if (n + (shown ? used : 1) >= size)
            break;
        if (shown)
            memcpy(dst + n, src, used);
        else
            dst[n] = TEXT_REPLACEMENT;
        n += shown ? used : 1;
        src += used;
    }
    dst[n] = '\0';
}

void cli_text_print(FILE *out, const char *src)
{
    while (*src) {
        wchar_t c;
        size_t used = cli_text_decode(src, &c);
        if (cli_text_char_width(c) >= 0 && (used > 1 || (unsigned char)*src < 0x80))
            fwrite(src, 1, used, out);
        else
            fputc(TEXT_REPLACEMENT, out);
        src += used;
    }
}

void cli_text_one_line(char *dst, size_t size, const char *src)
{
    size_t n = 0;

    for (; *src && n + 2 < size; src++) {
        if (*src != '\n') {
            dst[n++] = *src;
        } else if (src[1]) {
            dst[n++] = ';';
            dst[n++] = ' ';
        }
    }
    dst[n] = '\0';
}
