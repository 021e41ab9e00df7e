#include "exchange/nearest.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { WORD_MAX = 63, SHORT_WORD = 4 };

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

/* One slip in a short word, two in a longer one, and never all of it. */
static bool is_near(const char *word, size_t distance)
{
    size_t len = strlen(word);
    return distance < len && distance <= (len <= SHORT_WORD ? 1 : 2);
}

void nearest_offer(struct nearest *nearest, const char *word, const char *candidate)
{
    size_t distance = nearest_distance(word, candidate), room = sizeof nearest->all - nearest->used;
    if (!nearest->best[0] || distance < nearest->distance) {
        snprintf(nearest->best, sizeof nearest->best, "%s", candidate);
        nearest->distance = distance;
    }
    if (*word && !nearest->longer[0] && strncasecmp(candidate, word, strlen(word)) == 0)
        snprintf(nearest->longer, sizeof nearest->longer, "%s", candidate);
    nearest->used += (size_t)snprintf(nearest->all + nearest->used, room, "%s%s",
                                      nearest->used > 0 ? ", " : "", candidate);
    nearest->used = min(nearest->used, sizeof nearest->all - 1);
}

void nearest_keep(const char *word, const char *candidate, char *kept, size_t size)
{
    size_t distance = nearest_distance(word, candidate);
    if (is_near(word, distance) && (!kept[0] || distance < nearest_distance(word, kept)))
        snprintf(kept, size, "%s", candidate);
}

const char *nearest_meant(const struct nearest *nearest, const char *word)
{
    if (nearest->best[0] && is_near(word, nearest->distance) && strcmp(nearest->best, word) != 0)
        return nearest->best;
    return nearest->longer[0] && strcmp(nearest->longer, word) != 0 ? nearest->longer : NULL;
}

const char *nearest_suggest(const char *meant, char hint[static NEAREST_HINT_MAX])
{
    *hint = '\0';
    if (meant && *meant)
        snprintf(hint, NEAREST_HINT_MAX, NEAREST_SUGGESTED "%.*s?", NEAREST_WORD_MAX, meant);
    return hint;
}

const char *nearest_hint(const struct nearest *nearest, const char *word, char hint[static NEAREST_HINT_MAX])
{
    const char *meant = nearest_meant(nearest, word);
    if (meant || nearest->used == 0 || nearest->used == sizeof nearest->all - 1)
        return nearest_suggest(meant, hint);
    snprintf(hint, NEAREST_HINT_MAX, strchr(nearest->all, ',') ? ": one of %s is needed" : ": %s is needed",
             nearest->all);
    return hint;
}
