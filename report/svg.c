#include "report/svg.h"

#include <math.h>
#include <string.h>

#include "report/page.h"

enum {
    WIDE = 760,
    WIDE_HEIGHT = 250, /* of the frame */
    LOW_HEIGHT = 120,
    HALF = 380,
    HALF_HEIGHT = 170,
    LEFT = 64,
    RIGHT = 16,
    TOP = 8,
    BOTTOM = 40,
    LINE = 18,    /* of text above the frame */
    CHARACTER = 7 /* of 12 px, in a wide font */
};

_Static_assert(WIDE - LEFT - RIGHT == REPORT_CURVE_COLUMNS, "as the header says");

static double width_of(enum report_size size)
{
    return size == REPORT_HALF ? HALF : WIDE;
}

static double height_of(enum report_size size)
{
    return size == REPORT_WIDE ? WIDE_HEIGHT : size == REPORT_LOW ? LOW_HEIGHT : HALF_HEIGHT;
}

static struct svg open_svg(struct text *text, double width, double left, double top, double height,
                           const char *title)
{
    struct svg svg = {.text = text,
                      .width = width,
                      .height = top + height + BOTTOM,
                      .left = left,
                      .right = width - RIGHT,
                      .top = top,
                      .bottom = top + height};
    text_format(text, "<svg viewBox=\"0 0 %.0f %.0f\" role=\"img\">\n<title>", svg.width, svg.height);
    report_page_escape(text, title);
    text_lit(text, "</title>\n");
    return svg;
}

struct svg report_svg_begin(struct text *text, enum report_size size, int lines, const char *title)
{
    return open_svg(text, width_of(size), LEFT, TOP + LINE * lines, height_of(size), title);
}

struct svg report_svg_frame(struct text *text, double left, double top, double height, const char *title)
{
    return open_svg(text, WIDE, left, top, height, title);
}

void report_svg_end(struct svg *svg)
{
    text_lit(svg->text, "</svg>\n");
}

void report_svg_empty(struct svg *svg)
{
    report_svg_line(svg, "grid", svg->left, svg->bottom, svg->right, svg->bottom);
    report_svg_words(svg, (svg->left + svg->right) / 2, (svg->top + svg->bottom) / 2, "middle", "no data");
    report_svg_end(svg);
}

double report_svg_x(const struct svg *svg, double x)
{
    return svg->left + (x - svg->x.low) / (svg->x.high - svg->x.low) * (svg->right - svg->left);
}

double report_svg_y(const struct svg *svg, double y)
{
    double share = svg->logarithmic ? log(y / svg->y.low) / log(svg->y.high / svg->y.low)
                                    : (y - svg->y.low) / (svg->y.high - svg->y.low);
    return svg->bottom - share * (svg->bottom - svg->top);
}

void report_svg_line(struct svg *svg, const char *class, double x0, double y0, double x1, double y1)
{
    text_format(svg->text, "<line class=\"%s\" x1=\"%.2f\" y1=\"%.2f\" x2=\"%.2f\" y2=\"%.2f\"/>\n", class,
                x0, y0, x1, y1);
}

void report_svg_words(struct svg *svg, double x, double y, const char *anchor, const char *words)
{
    text_format(svg->text, "<text x=\"%.2f\" y=\"%.2f\" text-anchor=\"%s\">", x, y, anchor);
    report_page_escape(svg->text, words);
    text_lit(svg->text, "</text>\n");
}

double report_svg_width(const char *words)
{
    int n = 0;
    for (; *words; words++)
        n += ((unsigned char)*words & 0xc0) != 0x80; /* characters of UTF-8 */
    return CHARACTER * n;
}

/* ---- axes ---- */

enum { SAMPLE = 26, SPACE = 16, NAME_MAX_BYTES = 256 };

/* The beginning of a name, of as many characters as fit into `room`. */
static const char *cut(const char *name, double room, char ret[static NAME_MAX_BYTES])
{
    size_t n = 0;
    int characters = 0;
    for (; name[n] && n < NAME_MAX_BYTES - 4; n++) {
        characters += ((unsigned char)name[n] & 0xc0) != 0x80;
        if (CHARACTER * characters > room)
            break;
    }
    while (n > 0 && name[n] && ((unsigned char)name[n] & 0xc0) == 0x80)
        n--;
    memcpy(ret, name, n);
    memcpy(ret + n, name[n] ? "…" : "", name[n] ? 4 : 1);
    return ret;
}

double report_svg_words_in(struct svg *svg, double x, double y, const char *anchor, double room,
                           const char *words)
{
    char fits[NAME_MAX_BYTES];
    report_svg_words(svg, x, y, anchor, cut(words, room, fits));
    return report_svg_width(fits);
}

void report_svg_x_axis(struct svg *svg, const struct report_ticks *ticks, const char *name)
{
    double taken = 0;
    char words[NAME_MAX_BYTES];
    for (int i = 0; i < ticks->n; i++) {
        double x = report_svg_x(svg, ticks->at[i]), half = report_svg_width(ticks->label[i]) / 2;
        double at = fmin(x, svg->width - half - 1);
        report_svg_line(svg, "grid", x, svg->top, x, svg->bottom);
        if (at - half < taken)
            continue;
        report_svg_words(svg, at, svg->bottom + 16, "middle", ticks->label[i]);
        taken = at + half + 6;
    }
    if (name)
        report_svg_words(svg, (svg->left + svg->right) / 2, svg->height - 6, "middle",
                         cut(name, svg->right - svg->left, words));
}

void report_svg_y_ticks(const struct svg *svg, struct report_ticks *ret)
{
    if (svg->logarithmic)
        report_ticks_log(svg->y.low, svg->y.high, ret);
    else
        report_ticks_linear(svg->y.low, svg->y.high, ret);
}

void report_svg_y_axis(struct svg *svg, const struct report_ticks *ticks)
{
    for (int i = 0; i < ticks->n; i++) {
        double y = report_svg_y(svg, ticks->at[i]);
        report_svg_line(svg, "grid", svg->left, y, svg->right, y);
        report_svg_words(svg, svg->left - 6, y + 4, "end", ticks->label[i]);
    }
}

/* ---- legend ---- */

static void sample(struct svg *svg, const struct svg_entry *entry, double x, double y)
{
    switch (entry->mark) {
    case '-':
        report_svg_line(svg, entry->class, x, y, x + 20, y);
        break;
    case '#':
        text_format(svg->text, "<rect class=\"%s\" x=\"%.2f\" y=\"%.2f\" width=\"20\" height=\"10\"/>\n",
                    entry->class, x, y - 5);
        break;
    case 'o':
        text_format(svg->text, "<circle class=\"%s\" cx=\"%.2f\" cy=\"%.2f\" r=\"3\"/>\n", entry->class,
                    x + 10, y);
        break;
    default:
        text_format(svg->text, "<path class=\"%s\" d=\"M%.2f %.2f%s\"/>\n", entry->class, x + 10,
                    y + (entry->mark == '^' ? -4 : 4), entry->mark == '^' ? "l-4 8h8z" : "l-4 -8h8z");
    }
}

int report_svg_legend(struct svg *svg, enum report_size size, const char *y_name,
                      const struct svg_entry *entries, int n)
{
    double right = width_of(size) - RIGHT, x = LEFT, left = LEFT;
    int lines = 1;
    char name[NAME_MAX_BYTES] = "";
    if (y_name)
        x = fmax(LEFT, 4 + report_svg_width(cut(y_name, right - SPACE, name)) + SPACE);
    if (y_name && svg)
        report_svg_words(svg, 4, TOP + 6, "start", name);
    for (int i = 0; i < n; i++) {
        cut(entries[i].name, right - left - SAMPLE - SPACE, name);
        double wide = SAMPLE + report_svg_width(name);
        if (x > left && x + wide > right) {
            x = left;
            lines++;
        }
        if (svg) {
            double y = TOP + 6 + LINE * (lines - 1);
            sample(svg, &entries[i], x, y - 4);
            report_svg_words(svg, x + SAMPLE, y, "start", name);
        }
        x += wide + SPACE;
    }
    return y_name || n > 0 ? lines : 0;
}
