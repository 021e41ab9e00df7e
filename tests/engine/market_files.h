/* Bars files made for the tests of the market store, and what is in them. */
#ifndef TESTS_ENGINE_MARKET_FILES_H
#define TESTS_ENGINE_MARKET_FILES_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "exchange/decimal.h"
#include "tests/check.h"
#include "tests/random.h"
#include "tests/scratch.h"

enum { MADE_BARS_MAX = 4096, MADE_PATH_MAX = 300 };

/* A file's bars in exact integers at `digits`. */
struct made_file {
    char path[MADE_PATH_MAX];
    int digits, volume_digits;
    size_t n;
    int64_t open_ns[MADE_BARS_MAX];
    int64_t price[4][MADE_BARS_MAX], volume[MADE_BARS_MAX]; /* open, high, low, close */
};

static inline void made_draw(struct random *random, struct made_file *file, size_t n, int64_t start_ns,
                             int64_t interval_ns, int gap_percent)
{
    int64_t at = start_ns, most = decimal_pow10((int)random_between(random, 3, 14)),
            price = random_between(random, 1, most);
    file->digits = (int)random_between(random, 0, 8);
    while (most > decimal_pow10(7 + file->digits)) /* 15 digits at scale 8 */
        most /= 10;
    if (price > most)
        price = most;
    file->volume_digits = (int)random_between(random, 0, 8);
    file->n = n;
    for (size_t i = 0; i < n; i++) {
        int64_t step = price / 50 + 1, open = price, close, high, low;
        price += random_between(random, -step, step);
        close = price = price < 1 ? 1 : price;
        high = (open > close ? open : close) + random_between(random, 0, step);
        low = (open < close ? open : close) - random_between(random, 0, step);
        file->open_ns[i] = at;
        file->price[0][i] = open;
        file->price[1][i] = high;
        file->price[2][i] = low < 1 ? 1 : low;
        file->price[3][i] = close;
        file->volume[i] = random_between(random, 0, 999999999);
        at += interval_ns;
        while (random_chance(random, gap_percent))
            at += interval_ns * random_between(random, 1, 5);
    }
}

/* Writes it, in one of the shapes that bars files have. */
static inline void made_write(struct random *random, struct made_file *file, const char *symbol)
{
    char name[64], text[6][DECIMAL_TEXT_MAX];
    bool gz = random_chance(random, 30), header = random_chance(random, 70),
         twelve = random_chance(random, 30), full = random_chance(random, 50);
    snprintf(name, sizeof(name), "%s_x.csv", symbol);
    snprintf(file->path, sizeof(file->path), "%s", scratch_path(name));
    gzFile out = gzopen(file->path, gz ? "wb1" : "wbT");
    CHECK(out != NULL);
    if (header)
        gzprintf(out, "open_time,open,high,low,close,volume%s\n", twelve ? ",close_time,q,n,tb,tq,x" : "");
    for (size_t i = 0; i < file->n; i++) {
        for (int c = 0; c < 4; c++) {
            int64_t units = file->price[c][i];
            if (full)
                decimal_format((int128_t)units * decimal_pow10(8 - file->digits), 8, text[c]);
            else
                decimal_format_short(units, file->digits, text[c]);
        }
        decimal_format(file->volume[i], file->volume_digits, text[4]);
        decimal_format(file->open_ns[i] / 1000000, 0, text[5]);
        gzprintf(out, "%s,%s,%s,%s,%s,%s%s\n", text[5], text[0], text[1], text[2], text[3], text[4],
                 twelve ? ",1,2.5,3,4,5,0" : "");
    }
    CHECK_INT(gzclose(out), Z_OK);
}

#endif
