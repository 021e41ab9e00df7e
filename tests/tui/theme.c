/* The colours of the schemes, in 24 bits and as the nearest of 256: text that can be read, figures that
 * differ, also to eyes that see red and green alike. */
#include "tui/theme.h"

#include <math.h>

#include "tests/check.h"
#include "tests/random.h"
#include "tui/terminal.h"

enum { PALETTE_FIRST = 16, PALETTE_END = 256 };

struct linear {
    double r, g, b;
};
struct lab {
    double l, a, b;
};

/* xterm's, of 16 to 255, as its 256colres.pl computes them. */
static int palette(int number)
{
    static const int steps[] = {0x00, 0x5f, 0x87, 0xaf, 0xd7, 0xff};

    if (number >= 232)
        return (8 + 10 * (number - 232)) * 0x010101;
    number -= PALETTE_FIRST;
    return steps[number / 36] << 16 | steps[number / 6 % 6] << 8 | steps[number % 6];
}

static int distance(int a, int b)
{
    int sum = 0;

    for (int i = 0; i <= 16; i += 8)
        sum += ((a >> i & 0xff) - (b >> i & 0xff)) * ((a >> i & 0xff) - (b >> i & 0xff));
    return sum;
}

static void check_nearest(void)
{
    struct random random = random_seeded("tui/theme", 1);

    CHECK_INT(tui_theme_nearest_256(PAINT_OWN), PAINT_OWN);
    for (int i = 0; i < 20000; i++) {
        int rgb = i < 256 ? i * 0x010101 : (int)(random_next(&random) & 0xffffff), least = 1 << 30;
        for (int n = PALETTE_FIRST; n < PALETTE_END; n++)
            least = distance(rgb, palette(n)) < least ? distance(rgb, palette(n)) : least;
        int found = tui_theme_nearest_256(rgb);
        CHECK(found >= PALETTE_FIRST && found < PALETTE_END && distance(rgb, palette(found)) == least);
    }
}

/* IEC 61966-2-1. */
static double linear_of(int component)
{
    double c = component / 255.0;

    return c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
}

static struct linear linear(int rgb)
{
    return (struct linear){linear_of(rgb >> 16 & 0xff), linear_of(rgb >> 8 & 0xff), linear_of(rgb & 0xff)};
}

static double luminance(int rgb)
{
    struct linear c = linear(rgb);

    return 0.2126 * c.r + 0.7152 * c.g + 0.0722 * c.b;
}

/* Web Content Accessibility Guidelines 2.1, contrast ratio. */
static double contrast(int a, int b)
{
    double x = luminance(a) + 0.05, y = luminance(b) + 0.05;

    return x > y ? x / y : y / x;
}

static double lab_of(double t)
{
    return t > 216.0 / 24389 ? cbrt(t) : (24389.0 / 27 * t + 16) / 116;
}

/* CIE 1976 by the white D65. */
static struct lab lab(struct linear c)
{
    double x = lab_of((0.4124564 * c.r + 0.3575761 * c.g + 0.1804375 * c.b) / 0.95047),
           y = lab_of(0.2126729 * c.r + 0.7151522 * c.g + 0.0721750 * c.b),
           z = lab_of((0.0193339 * c.r + 0.1191920 * c.g + 0.9503041 * c.b) / 1.08883);

    return (struct lab){116 * y - 16, 500 * (x - y), 200 * (y - z)};
}

static double degrees(double radians)
{
    return radians * 180 / M_PI;
}

static double hue(double b, double a)
{
    double h = a == 0 && b == 0 ? 0 : degrees(atan2(b, a));

    return h < 0 ? h + 360 : h;
}

static double cosine(double angle)
{
    return cos(angle * M_PI / 180);
}

/* CIEDE2000, by Sharma, Wu and Dalal 2005, equations 2 to 22. */
static double difference(struct lab p, struct lab q)
{
    double mean = (hypot(p.a, p.b) + hypot(q.a, q.b)) / 2, seventh = pow(mean, 7);
    double g = 0.5 * (1 - sqrt(seventh / (seventh + pow(25, 7))));
    double pa = (1 + g) * p.a, qa = (1 + g) * q.a, pc = hypot(pa, p.b), qc = hypot(qa, q.b),
           ph = hue(p.b, pa), qh = hue(q.b, qa), turn = qh - ph;
    bool grey = pc * qc == 0;

    turn = grey ? 0 : turn > 180 ? turn - 360 : turn < -180 ? turn + 360 : turn;
    double dl = q.l - p.l, dc = qc - pc, dh = 2 * sqrt(pc * qc) * sin(turn / 2 * M_PI / 180);
    double l = (p.l + q.l) / 2, c = (pc + qc) / 2, h = ph + qh;
    if (!grey)
        h = fabs(ph - qh) <= 180 ? h / 2 : h < 360 ? (h + 360) / 2 : (h - 360) / 2;
    double t = 1 - 0.17 * cosine(h - 30) + 0.24 * cosine(2 * h) + 0.32 * cosine(3 * h + 6) -
               0.2 * cosine(4 * h - 63);
    double sl = 1 + 0.015 * pow(l - 50, 2) / sqrt(20 + pow(l - 50, 2)), sc = 1 + 0.045 * c,
           sh = 1 + 0.015 * c * t;
    double c7 = pow(c, 7), turned = 30 * exp(-pow((h - 275) / 25, 2));
    double rotation = -2 * sqrt(c7 / (c7 + pow(25, 7))) * sin(2 * turned * M_PI / 180);
    return sqrt(pow(dl / sl, 2) + pow(dc / sc, 2) + pow(dh / sh, 2) + rotation * dc / sc * dh / sh);
}

/* Pairs of that paper's table 1. */
static void check_difference(void)
{
    CHECK_NEAR(difference((struct lab){50, 2.6772, -79.7751}, (struct lab){50, 0, -82.7485}), 2.0425, 5e-5);
    CHECK_NEAR(difference((struct lab){50, 2.5, 0}, (struct lab){61, -5, 29}), 22.8977, 5e-5);
    CHECK_NEAR(difference((struct lab){50, 2.5, 0}, (struct lab){73, 25, -18}), 27.1492, 5e-5);
    CHECK_NEAR(difference((struct lab){2.0776, 0.0795, -1.1350}, (struct lab){0.9033, -0.0636, -0.5514}),
               0.9082, 5e-5);
    CHECK_NEAR(difference((struct lab){50, 0, 0}, (struct lab){50, -1, 2}), 2.3669, 5e-5);
}

/* As an eye without one of the three kinds of cones sees it: Machado, Oliveira and Fernandes 2009,
 * severity 1. */
enum eye { EYE_USUAL, EYE_PROTAN, EYE_DEUTAN, EYE_TRITAN, EYES };

static struct linear seen(enum eye eye, int rgb)
{
    static const double of[EYES][9] = {
        {1, 0, 0, 0, 1, 0, 0, 0, 1},
        {0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998},
        {0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.011820, 0.042940, 0.968881},
        {1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.303900}};
    const struct linear c = linear(rgb);
    const double *m = of[eye];

    return (struct linear){fmin(fmax(m[0] * c.r + m[1] * c.g + m[2] * c.b, 0), 1),
                           fmin(fmax(m[3] * c.r + m[4] * c.g + m[5] * c.b, 0), 1),
                           fmin(fmax(m[6] * c.r + m[7] * c.g + m[8] * c.b, 0), 1)};
}

static int colour(enum scheme scheme, enum style style, bool of_256)
{
    int rgb = tui_theme_paint(scheme, style).rgb;

    return of_256 ? palette(tui_theme_nearest_256(rgb)) : rgb;
}

/* Least contrast of text: level AA. Rules are none. */
static void check_contrast(enum scheme scheme, const int grounds[2])
{
    for (int i = 0; i < STYLES; i++) {
        struct paint paint = tui_theme_paint(scheme, (enum style)i);
        CHECK(paint.rgb == PAINT_OWN || (paint.rgb >= TERMINAL_RGB_LEAST && paint.rgb < TERMINAL_RGB));
        CHECK(paint.colour_8 == PAINT_OWN || (paint.colour_8 >= 0 && paint.colour_8 < 8));
        if (paint.rgb == PAINT_OWN || i == STYLE_RULE)
            continue;
        for (int k = 0; k < 4; k++) {
            double ratio = contrast(colour(scheme, (enum style)i, k % 2), grounds[k / 2]);
            CHECK(ratio >= 4.5);
            if (!(ratio >= 4.5))
                fprintf(stderr, "scheme %d, style %d, %s: %.2f\n", (int)scheme, i,
                        k % 2 ? "of 256" : "24 bits", ratio);
        }
    }
}

static void check_apart(enum scheme scheme, enum eye first, enum eye end, enum style a, enum style b,
                        double least)
{
    for (enum eye eye = first; eye < end; eye++)
        for (int of_256 = 0; of_256 < 2; of_256++) {
            double apart = difference(lab(seen(eye, colour(scheme, a, of_256))),
                                      lab(seen(eye, colour(scheme, b, of_256))));
            CHECK(apart >= least);
            if (!(apart >= least))
                fprintf(stderr, "scheme %d, eye %d, styles %d and %d%s: %.1f\n", (int)scheme, (int)eye,
                        (int)a, (int)b, of_256 ? " of 256" : "", apart);
        }
}

static void check_differences(void)
{
    static const enum style lines[] = {STYLE_CHART, STYLE_LINE, STYLE_LINE_2, STYLE_LINE_3, STYLE_LINE_4};
    enum { LINES = sizeof(lines) / sizeof(lines[0]) };

    check_apart(SCHEME_COLOUR_BLIND, EYE_USUAL, EYES, STYLE_UP, STYLE_DOWN, 25);
    check_apart(SCHEME_COLOUR_BLIND, EYE_USUAL, EYES, STYLE_GOOD, STYLE_BAD, 25);
    check_apart(SCHEME_COLOUR_BLIND, EYE_USUAL, EYES, STYLE_GOOD, STYLE_WARN, 15);
    check_apart(SCHEME_COLOUR_BLIND, EYE_USUAL, EYES, STYLE_WARN, STYLE_BAD, 10);
    for (enum scheme scheme = SCHEME_DEFAULT; scheme <= SCHEME_LIGHT; scheme++) {
        check_apart(scheme, EYE_USUAL, EYE_PROTAN, STYLE_UP, STYLE_DOWN, 25);
        check_apart(scheme, EYE_USUAL, EYE_PROTAN, STYLE_GOOD, STYLE_WARN, 25);
        for (int i = 0; i < LINES; i++)
            for (int k = 0; k < i; k++)
                check_apart(scheme, EYE_USUAL, EYE_PROTAN, lines[i], lines[k], 10);
    }
}

static void check_mono(void)
{
    for (int i = 0; i < STYLES; i++) {
        struct paint paint = tui_theme_paint(SCHEME_MONO, (enum style)i);
        CHECK(paint.rgb == PAINT_OWN && paint.colour_8 == PAINT_OWN);
    }
}

int main(void)
{
    static const int dark[] = {0x000000, 0x1e1e1e}, light[] = {0xffffff, 0xfdf6e3};

    check_nearest();
    check_difference();
    check_contrast(SCHEME_DEFAULT, dark);
    check_contrast(SCHEME_COLOUR_BLIND, dark);
    check_contrast(SCHEME_LIGHT, light);
    check_differences();
    check_mono();
    return check_done("tui/theme");
}
