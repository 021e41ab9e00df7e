#include "report/page.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exchange/utf8.h"
#include "exchange/whole_file.h"

static const char head[] = "<!DOCTYPE html>\n"
                           "<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
                           "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n";

/* Classes of a chart, each with a colour's number: c a line (or a bar), a an area, m a mark, p a dot. */
static const char style[] =
    "<style>\n"
    ":root { color-scheme: light dark; --ink: #1c2024; --paper: #ffffff; --faint: #e3e7ec; --soft: #5b6670;\n"
    " --k0: #0a5fd0; --k1: #b4540a; --k2: #5b6670; --k3: #1b7a3d; --k4: #c02a2a; --k5: #7b3fb5;\n"
    " --k6: #00797f; --k7: #9c2462; }\n"
    "@media (prefers-color-scheme: dark) { :root { --ink: #e4e9ee; --paper: #101418; --faint: #262d34;\n"
    " --soft: #9aa6b1; --k0: #66aaff; --k1: #f09a50; --k2: #9aa6b1; --k3: #52c272; --k4: #ff7b7b;\n"
    " --k5: #c59bff; --k6: #3fc6cc; --k7: #ff8fc0; } }\n"
    "body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);\n"
    " max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }\n"
    "h1, h2 { line-height: 1.2; overflow-wrap: anywhere; } h2 { margin-top: 2.2rem; }\n"
    "p, .soft, figcaption { color: var(--soft); } figcaption { font-size: 13px; }\n"
    ".sentence { color: var(--ink); font-size: 17px; padding: .7rem 1rem; border-left: 5px solid var(--k2);\n"
    " background: var(--faint); } .good { border-color: var(--k3); } .bad { border-color: var(--k4); }\n"
    ".wide { overflow-x: auto; }\n"
    "table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin: .9rem 0; }\n"
    "th, td { text-align: right; padding: .2rem .7rem; border-bottom: 1px solid var(--faint); }\n"
    "th:first-child, td:first-child { text-align: left; } td { overflow-wrap: anywhere; }\n"
    ".wide td { overflow-wrap: normal; }\n"
    ".facts td { text-align: left; vertical-align: top; } .facts td:first-child { white-space: nowrap; }\n"
    "figure { margin: 1.2rem 0; } pre { overflow-x: auto; font-size: 13px; }\n"
    ".pair { display: grid; grid-template-columns: repeat(auto-fill, minmax(20rem, 1fr)); gap: 0 1rem; }\n"
    ".pair figure { margin: .6rem 0; }\n"
    "svg { width: 100%; height: auto; } svg text { fill: var(--soft); font-size: 12px; }\n"
    ".grid { stroke: var(--faint); } .axis { stroke: var(--soft); stroke-dasharray: 4 3; }\n"
    ".fit { stroke: var(--k1); stroke-width: 2; } .points { fill: var(--k0); fill-opacity: .3; }\n"
    "polyline { fill: none; stroke-width: 1.5; stroke-linejoin: round; } line { stroke-width: 1.5; }\n"
    ".grid, .axis { stroke-width: 1; } [class^=a] { fill-opacity: .22; }\n"
    "svg .cells text { fill: var(--ink); } .h0 { fill: var(--paper); } .up { color: var(--k3); }\n"
    ".down { color: var(--k4); } .section { font-size: 1.9em; border-top: 3px solid var(--faint); padding-top: 1rem; }\n";

/* On paper: light, nothing cut off at the page's edge, no picture over two pages. */
static const char print_style[] =
    "@media print { :root { color-scheme: light; --ink: #000000; --paper: #ffffff; --faint: #dddddd;\n"
    " --soft: #444444; --k0: #0a5fd0; --k1: #b4540a; --k2: #5b6670; --k3: #1b7a3d; --k4: #c02a2a;\n"
    " --k5: #7b3fb5; --k6: #00797f; --k7: #9c2462; }\n"
    " * { print-color-adjust: exact; } body { max-width: none; margin: 0; font-size: 11px; }\n"
    " .wide, pre { overflow: visible; } pre { white-space: pre-wrap; } figure, tr { break-inside: avoid; }\n"
    " h2 { break-after: avoid; } .section { break-before: page; border: none; } th, td { padding: .1rem .3rem; } }\n";

/* Is it a character of XML that is no control character? */
static bool is_shown(uint32_t point)
{
    return point >= ' ' && !(point >= 0x7f && point < 0xa0) && (point & 0xfffe) != 0xfffe;
}

static void escape(struct text *text, const char *words, bool lines)
{
    size_t left = strlen(words);
    while (left > 0) {
        uint32_t point = 0;
        size_t n = utf8_character(words, left, &point);
        if (n == 0 || !(is_shown(point) || (lines && point == '\n')))
            text_lit(text, "?");
        else if (point == '&')
            text_lit(text, "&amp;");
        else if (point == '<')
            text_lit(text, "&lt;");
        else if (point == '>')
            text_lit(text, "&gt;");
        else if (point == '"')
            text_lit(text, "&quot;");
        else
            text_bytes(text, words, n);
        n = n > 0 ? n : 1;
        words += n;
        left -= n;
    }
}

void report_page_escape(struct text *text, const char *words)
{
    escape(text, words, false);
}

static void element(struct text *text, const char *name, const char *words)
{
    text_format(text, "<%s>", name);
    report_page_escape(text, words);
    text_format(text, "</%s>\n", name);
}

void report_page_begin(struct text *text, const char *title)
{
    text_str(text, head);
    element(text, "title", title);
    text_str(text, style);
    for (int i = 0; i < REPORT_COLOURS; i++)
        text_format(text,
                    "polyline.c%d, line.c%d { stroke: var(--k%d); } rect.c%d, .a%d, .m%d, .p%d "
                    "{ fill: var(--k%d); }\n",
                    i, i, i, i, i, i, i, i);
    for (int i = 1; i <= REPORT_HEAT_SHADES; i++)
        text_format(
            text,
            ".h%d { fill: var(--k0); fill-opacity: %.3f; } .n%d { fill: var(--k1); fill-opacity: %.3f; }\n",
            i, 0.7 * i / REPORT_HEAT_SHADES, i, 0.7 * i / REPORT_HEAT_SHADES);
    text_str(text, print_style);
    text_lit(text, "</style>\n</head>\n<body>\n");
    element(text, "h1", title);
}

void report_page_end(struct text *text)
{
    text_lit(text, "</body>\n</html>\n");
}

void report_page_heading(struct text *text, const char *words)
{
    element(text, "h2", words);
}

void report_page_section(struct text *text, const char *words)
{
    text_lit(text, "<h2 class=\"section\">");
    report_page_escape(text, words);
    text_lit(text, "</h2>\n");
}

void report_page_paragraph(struct text *text, const char *words)
{
    text_lit(text, "<p>");
    escape(text, words, true);
    text_lit(text, "</p>\n");
}

void report_page_sentence(struct text *text, const char *words, int good)
{
    text_format(text, "<p class=\"sentence%s\">", good > 0 ? " good" : good == 0 ? " bad" : "");
    report_page_escape(text, words);
    text_lit(text, "</p>\n");
}

void report_page_details(struct text *text, const char *summary, const char *words)
{
    text_lit(text, "<details>\n<summary>");
    report_page_escape(text, summary);
    text_lit(text, "</summary>\n<pre>");
    escape(text, words, true);
    text_lit(text, "</pre>\n</details>\n");
}

/* ---- pictures ---- */

static void caption_of(struct text *text, const char *title, const char *caption)
{
    text_lit(text, "<figcaption><strong>");
    report_page_escape(text, title);
    text_lit(text, ".</strong> ");
    report_page_escape(text, caption);
    text_lit(text, "</figcaption>\n</figure>\n");
}

void report_page_chart(struct text *text, const struct report_chart *chart, const char *caption)
{
    text_lit(text, "<figure>\n");
    report_chart_draw(text, chart);
    caption_of(text, chart->title, caption);
}

void report_page_bars(struct text *text, const struct report_bars *bars, const char *caption)
{
    text_lit(text, "<figure>\n");
    report_bars_draw(text, bars);
    caption_of(text, bars->title, caption);
}

void report_page_heat(struct text *text, const struct report_heat *heat, const char *caption)
{
    text_lit(text, "<figure>\n");
    report_heat_draw(text, heat);
    caption_of(text, heat->title, caption);
}

void report_page_points(struct text *text, const struct report_points *points, const char *caption)
{
    text_lit(text, "<figure>\n");
    report_points_draw(text, points);
    caption_of(text, points->title, caption);
}

void report_page_pair(struct text *text)
{
    text_lit(text, "<div class=\"pair\">\n");
}

void report_page_pair_end(struct text *text)
{
    text_lit(text, "</div>\n");
}

int report_page_try(const char *path)
{
    struct whole_file file;
    struct stat about;
    if (stat(path, &about) == 0 && !S_ISREG(about.st_mode))
        return S_ISDIR(about.st_mode) ? -EISDIR : 0;
    int r = whole_file_open(path, ".new", 0644, &file);
    if (r < 0)
        return r;
    r = whole_file_close(&file, -ECANCELED); /* which removes it */
    return r == -ECANCELED ? 0 : r;
}

/* A device or a pipe is written, not replaced. */
static int write_straight(const struct text *text, const char *path)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC), r = fd < 0 ? -errno : 0;
    r = r < 0 ? r : whole_file_write(fd, text->data, text->len);
    if (fd >= 0 && close(fd) < 0 && r == 0)
        r = -errno;
    return r;
}

int report_page_write(const struct text *text, const char *path)
{
    struct whole_file file;
    struct stat about;
    if (text_ok(text) && stat(path, &about) == 0 && !S_ISREG(about.st_mode))
        return S_ISDIR(about.st_mode) ? -EISDIR : write_straight(text, path);
    int r = text_ok(text) ? whole_file_open(path, ".new", 0644, &file) : -ENOMEM;
    if (r < 0)
        return r;
    return whole_file_close(&file, whole_file_put(&file, text->data, text->len));
}
