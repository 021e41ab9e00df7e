#include "tui/line_edit.h"

#include <string.h>

#include "cli/text.h"
#include "tui/press.h"

enum { UTF8_MAX = 4 };

void tui_line_edit_begin(struct line_edit *edit, const char *text, size_t size)
{
    edit->size = size > LINE_EDIT_MAX ? LINE_EDIT_MAX : size;
    cli_text_clean(edit->text, edit->size, text);
    edit->len = edit->at = strlen(edit->text);
    edit->over = false;
}

/* The character after `at` with the marks on it. */
static size_t next(const struct line_edit *edit, size_t at)
{
    wchar_t c;

    if (at < edit->len)
        at += cli_text_decode(edit->text + at, &c);
    while (at < edit->len) {
        size_t used = cli_text_decode(edit->text + at, &c);
        if (cli_text_char_width(c) != 0)
            break;
        at += used;
    }
    return at;
}

static size_t before(const struct line_edit *edit, size_t at)
{
    size_t from = 0;

    for (size_t to; from < at && (to = next(edit, from)) < at; from = to)
        ;
    return from;
}

static void erase(struct line_edit *edit, size_t from, size_t to)
{
    memmove(edit->text + from, edit->text + to, edit->len - to + 1);
    edit->len -= to - from;
    edit->at = from;
    edit->over = false;
}

static size_t encode(int c, char out[static UTF8_MAX])
{
    unsigned u = (unsigned)c;

    if (u < 0x80) {
        out[0] = (char)u;
        return 1;
    }
    size_t n = u < 0x800 ? 2 : u < 0x10000 ? 3 : 4;
    for (size_t i = n - 1; i > 0; i--, u >>= 6)
        out[i] = (char)(0x80 | (u & 0x3f));
    out[0] = (char)((0xf00 >> n & 0xff) | u);
    return n;
}

static bool insert(struct line_edit *edit, int key)
{
    char bytes[UTF8_MAX];

    if (key < ' ' || key > 0x10ffff || (key >= 0xd800 && key <= 0xdfff) ||
        cli_text_char_width((wchar_t)key) < 0)
        return false;
    size_t n = encode(key, bytes);
    if (edit->len + n >= edit->size) {
        edit->over = true;
        return false;
    }
    memmove(edit->text + edit->at + n, edit->text + edit->at, edit->len - edit->at + 1);
    memcpy(edit->text + edit->at, bytes, n);
    edit->len += n;
    edit->at += n;
    return true;
}

bool tui_line_edit_press(struct line_edit *edit, int key)
{
    switch (key) {
    case PRESS_LEFT:
        edit->at = before(edit, edit->at);
        return true;
    case PRESS_RIGHT:
        edit->at = next(edit, edit->at);
        return true;
    case PRESS_HOME:
    case PRESS_CONTROL_A:
        edit->at = 0;
        return true;
    case PRESS_END:
    case PRESS_CONTROL_E:
        edit->at = edit->len;
        return true;
    case PRESS_BACKSPACE:
        erase(edit, before(edit, edit->at), edit->at);
        return true;
    case PRESS_DELETE:
        erase(edit, edit->at, next(edit, edit->at));
        return true;
    case PRESS_CONTROL_U:
        erase(edit, 0, edit->at);
        return true;
    case PRESS_CONTROL_K:
        erase(edit, edit->at, edit->len);
        return true;
    default:
        return insert(edit, key);
    }
}

bool tui_line_edit_paste(struct line_edit *edit, const int *keys, size_t n)
{
    char bytes[UTF8_MAX];
    size_t more = 0;

    for (size_t i = 0; i < n; i++)
        more += encode(keys[i], bytes);
    if (edit->len + more >= edit->size)
        return false;
    for (size_t i = 0; i < n; i++)
        insert(edit, keys[i]);
    return true;
}

bool tui_line_edit_word(char *word, size_t size, int first, int key)
{
    size_t len = strlen(word);

    if ((key == PRESS_BACKSPACE || key == PRESS_DELETE) && len > 0)
        word[len - 1] = '\0';
    else if (key == PRESS_CONTROL_U)
        word[0] = '\0';
    else if (key >= first && key < 0x7f && len + 1 < size)
        memcpy(word + len, (const char[]){(char)key, '\0'}, 2);
    else
        return false;
    return true;
}
