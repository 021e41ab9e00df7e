#include "tests/tui/picture.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/text.h"
#include "fixtures/dashboard.h"

enum { PICTURE_MAX = 1 << 17 };

static bool wrong(const char *name, const char *what)
{
    fprintf(stderr, "%s: %s\n", name, what);
    return false;
}

static char *read_file(const char *path)
{
    char *text = calloc(1, PICTURE_MAX);
    FILE *file = fopen(path, "r");

    if (text && file) {
        size_t n = fread(text, 1, PICTURE_MAX - 1, file);
        text[n] = '\0';
    }
    if (file)
        fclose(file);
    return text;
}

static bool write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    if (!file)
        return false;
    bool ok = fputs(text, file) >= 0;
    return fclose(file) == 0 && ok;
}

bool picture_safe(const char *name, const char *text, int width, int height)
{
    int rows = 0;
    char line[8192];

    for (const char *p = text; *p; rows++) {
        size_t n = strcspn(p, "\n");
        if (n >= sizeof(line))
            return wrong(name, "a row without an end");
        memcpy(line, p, n);
        line[n] = '\0';
        if (cli_text_width(line) > width)
            return wrong(name, "a row that is too wide");
        for (const char *c = line; *c;) {
            wchar_t decoded;
            c += cli_text_decode(c, &decoded);
            if (cli_text_char_width(decoded) < 0)
                return wrong(name, "a control character");
        }
        p += n + (p[n] == '\n');
    }
    return rows == height || wrong(name, "too few rows, or too many");
}

/* Of two texts the first line that differs, and the command that writes the file again. */
static void print_difference(const char *golden, const char *path, const char *before, const char *now)
{
    int line = 1, was, is;

    for (;; line++) {
        was = (int)strcspn(before, "\n"), is = (int)strcspn(now, "\n");
        if (was != is || memcmp(before, now, (size_t)was) != 0 || before[was] != now[is])
            break;
        before += was + 1, now += is + 1;
    }
    fprintf(stderr, "%s:%d differs:\n- %.*s\n+ %.*s\nif that is wanted: PAPERTAPE_GOLDEN=write %s %s\n", path,
            line, was, before, is, now, program_invocation_name, golden);
}

struct model *picture_model(const char *path, const char *more, struct moment now,
                            struct history_reader **ret_reader)
{
    static const struct history_want want = {.symbol = "BTCUSDT", .interval = "1m"};
    struct model *model = tui_model_create(1000);
    char words[256] = "no status, or no memory";

    *ret_reader = NULL;
    if (!model || fixture_take(model, more, now) < 0 ||
        tui_history_open(path, ret_reader, words, sizeof(words)) < 0 ||
        tui_history_read(*ret_reader, now.wall_ns, &want, &model->history, words, sizeof(words)) < 0) {
        wrong(path, words);
        return NULL;
    }
    model->have_history = true;
    return model;
}

char *picture_draw(const struct model *model, const struct view *view, struct moment now, int width,
                   int height, enum glyphs glyphs)
{
    struct canvas canvas;
    char *text = NULL;
    size_t size;

    if (tui_canvas_init(&canvas, width, height, glyphs) < 0)
        return NULL;
    tui_view_draw(view, model, now, &canvas);
    FILE *out = open_memstream(&text, &size);
    if (out) {
        tui_canvas_print(&canvas, out);
        fclose(out);
    }
    tui_canvas_finish(&canvas);
    return text;
}

bool picture_matches(const char *golden, const char *name, const struct model *model, const struct view *view,
                     struct moment now, int width, int height, enum glyphs glyphs)
{
    char *text = picture_draw(model, view, now, width, height, glyphs), *expected, path[512];
    const char *mode = getenv("PAPERTAPE_GOLDEN");

    if (!text)
        return wrong(name, "not drawn");
    bool right = picture_safe(name, text, width, height);
    snprintf(path, sizeof(path), "%s/%s.txt", golden, name);
    if (mode && strcmp(mode, "write") == 0) {
        right &= write_file(path, text);
    } else if ((expected = read_file(path))) {
        if (strcmp(text, expected) != 0) {
            print_difference(golden, path, expected, text);
            right = false;
        }
        free(expected);
    }
    free(text);
    return right;
}
