#include "exchange/nearest.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { WORD_MAX = 63, KEPT_DISTANCE_MAX = 3 };

static size_t min(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t nearest_distance(const char *a, const char *b)
{
    size_t n = strnlen(a, WORD_MAX), m = strnlen(b, WORD_MAX);
    size_t rows[3][WORD_MAX + 1]; /* the last three rows of the table, in turn */
    for (size_t j = 0; j <= m; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *above2 = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            int x = tolower((unsigned char)a[i - 1]), y = tolower((unsigned char)b[j - 1]);
            row[j] = min(above[j - 1] + (x != y), min(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && x == tolower((unsigned char)b[j - 2]) &&
                y == tolower((unsigned char)a[i - 2]))
                row[j] = min(row[j], above2[j - 2] + 1);
        }
    }
    return rows[n % 3][m];
}

void nearest_offer(struct nearest *nearest, const char *word, const char *candidate)
{
    size_t distance = nearest_distance(word, candidate);
    if (!nearest->best || distance < nearest->distance) {
        nearest->best = candidate;
        nearest->distance = distance;
    }
}

void nearest_keep(const char *word, const char *candidate, char *kept, size_t size)
{
    size_t distance = nearest_distance(word, candidate);
    if (distance <= KEPT_DISTANCE_MAX && (!kept[0] || distance < nearest_distance(word, kept)))
        snprintf(kept, size, "%s", candidate);
}

bool nearest_is_near(const struct nearest *nearest, const char *word)
{
    size_t most = strlen(word) <= 4 ? 1 : 2;

    return nearest->best && nearest->distance > 0 && nearest->distance <= most;
}
