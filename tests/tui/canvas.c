/* Text from anywhere, clipped to columns: wide, combining, malformed and hostile characters. */
#include "tui/canvas.h"

#include <errno.h>
#include <locale.h>
#include <stdlib.h>

#include "cli/format.h"
#include "cli/text.h"
#include "tests/check.h"
#include "tui/chart.h"

static char *printed(const struct canvas *canvas)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    CHECK(tui_canvas_print(canvas, out));
    fclose(out);
    return text;
}

#define CHECK_CANVAS(canvas, expected) \
    do { \
        char *canvas_text = printed(canvas); \
        CHECK_STR(canvas_text, expected); \
        free(canvas_text); \
    } while (0)

static void check_text(void)
{
    char buf[64];
    wchar_t c;

    CHECK_INT(cli_text_decode("a", &c), 1);
    CHECK_INT(cli_text_decode("€", &c), 3);
    CHECK_INT(c, 0x20ac);
    CHECK_INT(cli_text_decode("\xc0\xaf", &c), 1); /* overlong */
    CHECK_INT(c, TEXT_REPLACEMENT);
    CHECK_INT(cli_text_decode("\xed\xa0\x80", &c), 1); /* a surrogate */
    CHECK_INT(cli_text_decode("\xf5\x80\x80\x80", &c), 1);
    CHECK_INT(cli_text_decode("\xe2\x82", &c), 1); /* cut off */
    CHECK_INT(cli_text_width("日本"), 4);
    CHECK_INT(cli_text_width("e\xcc\x81"), 1);

    cli_text_clean(buf, sizeof(buf), "a\033[31mb\rc\td\x7f");
    CHECK_STR(buf, "a?[31mb?c?d?");
    cli_text_clean(buf, sizeof(buf),
                   "\xc2\x9b"
                   "1m"); /* a C1 control sequence introducer */
    CHECK_STR(buf, "?1m");
    cli_text_clean(buf, sizeof(buf),
                   "x\xe2\x80\xae"
                   "y\xe2\x81\xa6z"); /* bidirectional overrides */
    CHECK_STR(buf, "x?y?z");
    cli_text_clean(buf, sizeof(buf), "\xff\xfe");
    CHECK_STR(buf, "??");
    cli_text_clean(buf, 5, "ab日本"); /* a character is not cut */
    CHECK_STR(buf, "ab");
    cli_text_clean(buf, 1, "abc");
    CHECK_STR(buf, "");
}

static void check_clipping(void)
{
    struct canvas canvas;

    CHECK_INT(tui_canvas_init(&canvas, 0, 1, GLYPHS_ASCII), -EINVAL);
    CHECK_INT(tui_canvas_init(&canvas, 8, CANVAS_SIDE_MAX + 1, GLYPHS_ASCII), -EINVAL);
    CHECK_INT(tui_canvas_init(&canvas, 8, 3, GLYPHS_BRAILLE), 0);
    struct area all = tui_canvas_area(&canvas);

    CHECK_INT(tui_area_text(&all, 5, 0, STYLE_NORMAL, "abcdef"), 11);
    CHECK_INT(tui_area_text(&all, -2, 1, STYLE_NORMAL, "xyz"), 1);
    tui_area_text(&all, 0, -1, STYLE_NORMAL, "no");
    tui_area_text(&all, 0, 3, STYLE_NORMAL, "no");
    CHECK_CANVAS(&canvas, "     ab~\nz\n\n");

    tui_canvas_clear(&canvas);
    tui_area_text(&all, 0, 0, STYLE_NORMAL, "日本日本日"); /* the fifth would be cut in two */
    tui_area_text(&all, 1, 1, STYLE_NORMAL, "日本日本");   /* the fourth likewise */
    tui_area_text(&all, 0, 2, STYLE_NORMAL, "e\xcc\x81\xcc\x82\xcc\x83x\xcc\x81");
    CHECK_CANVAS(&canvas, "日本日 ~\n 日本日~\ne\xcc\x81\xcc\x82x\xcc\x81\n"); /* two marks are kept */

    /* Half of a wide character overwritten: the other half is blank, not half a character. */
    tui_area_text(&all, 1, 0, STYLE_NORMAL, "a");
    tui_area_text(&all, 4, 0, STYLE_NORMAL, "b");
    CHECK_CANVAS(&canvas, " a本b  ~\n 日本日~\ne\xcc\x81\xcc\x82x\xcc\x81\n");

    tui_canvas_clear(&canvas);
    struct area part = tui_area_part(&all, 2, 1, 100, 100);
    CHECK_INT(part.width, 6);
    CHECK_INT(part.height, 2);
    tui_area_text(&part, 0, 0, STYLE_NORMAL, "part of it");
    tui_area_text_right(&part, 6, 1, STYLE_NORMAL, "end");
    CHECK_CANVAS(&canvas, "\n  part ~\n     end\n");

    tui_canvas_clear(&canvas);
    CHECK_INT(tui_area_text_cut(&all, 1, 0, 4, STYLE_NORMAL, "abcdef"), 5);
    tui_area_text_cut(&all, 1, 1, 4, STYLE_NORMAL, "abcd");
    tui_area_text_cut(&all, 1, 2, 3, STYLE_NORMAL, "日本日");
    CHECK_CANVAS(&canvas, " abc~\n abcd\n 日~\n");

    int by;
    CHECK_STR(tui_canvas_cut(&canvas, 0, &by), "abcdef"); /* what fits is not kept */
    CHECK_STR(tui_canvas_cut(&canvas, 1, &by), "日本日");
    CHECK(tui_canvas_cut(&canvas, 2, &by) == NULL && tui_canvas_cut(&canvas, -1, &by) == NULL);
    canvas.part = 3;
    tui_area_text_cut(&all, 1, 0, 4, STYLE_NORMAL, "abcdef"); /* once */
    tui_area_text_cut_of(&all, 1, 0, 4, STYLE_NORMAL, "fghijk", "abcdefghijk");
    CHECK_STR(tui_canvas_cut(&canvas, 2, &by), "abcdefghijk");
    CHECK_INT(by, 3);
    tui_area_text(&all, 0, 2, STYLE_NORMAL, "12345678"); /* fits, as what the left edge clips */
    tui_area_text(&all, -3, 1, STYLE_NORMAL, "12345678901");
    CHECK_INT(canvas.n_cuts, 3);
    int x = tui_area_text(&all, 4, 2, STYLE_NORMAL, "a line");
    x = tui_area_text(&all, x + 1, 2, STYLE_NORMAL, "that goes");
    tui_area_text(&all, x, 2, STYLE_NORMAL, " beyond"); /* what continues it is of the same text */
    tui_area_text(&all, 4, 1, STYLE_NORMAL, "another");
    CHECK_STR(tui_canvas_cut(&canvas, 3, &by), "a line that goes beyond");
    CHECK_STR(tui_canvas_cut(&canvas, 4, &by), "another");
    CHECK(tui_canvas_keep(&canvas, "less") && !tui_canvas_keep(&canvas, "less"));
    CHECK_STR(tui_canvas_cut(&canvas, 5, &by), "less");
    canvas.keeps = false;
    tui_area_text_cut(&all, 1, 0, 4, STYLE_NORMAL, "another one");
    CHECK_INT(canvas.n_cuts, 6);
    tui_canvas_clear(&canvas);
    CHECK_INT(canvas.n_cuts, 0);
    for (int i = 0; i < 2 * CANVAS_CUTS_MAX; i++) { /* no more than there is room for */
        char text[200];
        snprintf(text, sizeof(text), "%0*d", i % 190 + 5, i);
        tui_area_text_cut(&all, 0, 0, 2, STYLE_NORMAL, text);
    }
    CHECK(canvas.n_cuts > 50 && canvas.n_cuts <= CANVAS_CUTS_MAX && canvas.n_cut_text <= CANVAS_CUT_BYTES);

    tui_canvas_clear(&canvas);
    tui_area_text(&all, 0, 0, STYLE_NORMAL, "\033]0;x\a");
    CHECK_CANVAS(&canvas, "?]0;x?\n\n\n");
    struct area nothing = tui_area_part(&all, 9, 9, 5, 5);
    CHECK_INT(nothing.width, 0);
    tui_area_text(&nothing, 0, 0, STYLE_NORMAL, "x");
    CHECK_CANVAS(&canvas, "?]0;x?\n\n\n");
    tui_canvas_finish(&canvas);
}

static void check_chart(void)
{
    static const double up[] = {0, 1, 2, 3, 4, 5, 6, 7};
    const double gap[] = {1, NAN, 1};
    double low, high;
    struct canvas canvas;

    CHECK_INT(tui_canvas_init(&canvas, 8, 2, GLYPHS_BLOCK), 0);
    struct area all = tui_canvas_area(&canvas);
    tui_chart_line(&all, up, 8, 0, 7, STYLE_CHART);
    CHECK_CANVAS(&canvas, "    ▂▄▆█\n▁▃▅▇████\n");
    tui_canvas_clear(&canvas);
    canvas.glyphs = GLYPHS_ASCII;
    tui_chart_line(&all, up, 8, 0, 7, STYLE_CHART);
    CHECK_CANVAS(&canvas, "    .--'\n.--'\n");
    tui_canvas_clear(&canvas);
    canvas.glyphs = GLYPHS_BRAILLE;
    tui_chart_line(&all, up, 8, 0, 7, STYLE_CHART); /* two a column: at the right half */
    CHECK_CANVAS(&canvas, "      ⡠⠊\n    ⡠⠊\n");
    CHECK(tui_chart_range(gap, 3, &low, &high));
    CHECK(low < 1 && high > 1);
    CHECK(!tui_chart_range(gap + 1, 1, &low, &high));
    tui_canvas_clear(&canvas);
    tui_chart_line(&all, up, 8, 3, 3, STYLE_CHART); /* no range: nothing */
    tui_chart_line(&all, up, 0, 0, 7, STYLE_CHART);
    CHECK_CANVAS(&canvas, "\n\n");
    tui_chart_bar(&all, 0, 0, 8, 0.5, STYLE_CHART);
    tui_chart_bar(&all, 0, 1, 8, NAN, STYLE_CHART);
    CHECK_CANVAS(&canvas, "████░░░░\n░░░░░░░░\n");
    tui_canvas_finish(&canvas);
}

static void check_format(void)
{
    char a[FORMAT_MAX];

    CHECK_STR(cli_format_number(a, 61837.63, 2), "61837.63");
    CHECK_STR(cli_format_number(a, -0.001, 2), "0.00");
    CHECK_STR(cli_format_number(a, NAN, 2), "n/a");
    CHECK_STR(cli_format_number(a, -INFINITY, 2), "n/a");
    CHECK_STR(cli_format_signed(a, 10.974, 2), "+10.97");
    CHECK_STR(cli_format_signed(a, -0.4, 2), "-0.40");
    CHECK_STR(cli_format_percent(a, -0.013, 1), "0.0%");
    CHECK_STR(cli_format_percent(a, 2.428, 2), "+2.43%");
    CHECK_STR(cli_format_percent(a, NAN, 2), "n/a");
    CHECK_STR(cli_format_fit(a, 123456.789, 3, 8), "123456.8");
    CHECK_STR(cli_format_fit(a, 1e20, 2, 8), "1.00e+20");
    CHECK_STR(cli_format_age(a, 0), "0.0s");
    CHECK_STR(cli_format_age(a, 312), "0.3s");
    CHECK_STR(cli_format_age(a, 94000), "94s");
    CHECK_STR(cli_format_age(a, 12 * 60000), "12m");
    CHECK_STR(cli_format_age(a, 5LL * 86400000), "5d");
    CHECK_STR(cli_format_age(a, -1), "n/a");
    CHECK_STR(cli_format_count(a, 812), "812");
    CHECK_STR(cli_format_count(a, 9120), "9.1k");
    CHECK_STR(cli_format_count(a, 2.4e6), "2.4M");
    CHECK_STR(cli_format_count(a, 999999), "1.0M");
    CHECK_STR(cli_format_clock(a, 1723161255342000000), "23:54:15");
    CHECK_STR(cli_format_time(a, 1723161255342000000), "2024-08-08 23:54:15");
    CHECK_STR(cli_format_clock(a, 0), "n/a");
}

int main(void)
{
    check_format();
    if (!setlocale(LC_CTYPE, "C.UTF-8")) {
        printf("skipped: no C.UTF-8 locale\n");
        return CHECK_SKIP;
    }
    check_text();
    check_clipping();
    check_chart();
    setlocale(LC_CTYPE, "C");
    CHECK_INT(cli_text_char_width(0x65e5), -1); /* what the locale cannot show */
    return check_done("tui/canvas");
}
