#include "record/config_duration.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_S    INT64_C(1000000000)
#define S_A_CENTURY INT64_C(3155760000)

static const struct {
    char letter;
    int64_t seconds;
} units[] = {{'y', 31536000}, {'w', 604800}, {'d', 86400}, {'h', 3600}, {'m', 60}, {'s', 1}};
enum { N_UNITS = sizeof units / sizeof *units, DIGITS_MAX = 9 };

/* ".25" as a share of 1e9, none as 0; -1: it is no such fraction. */
static int64_t read_fraction(const char *text, char **ret_end)
{
    *ret_end = (char *)text;
    if (*text != '.')
        return 0;
    size_t n = strspn(text + 1, "0123456789");
    if (n < 1 || n > DIGITS_MAX)
        return -1;
    int64_t fraction = strtoll(text + 1, ret_end, 10);
    for (; n < DIGITS_MAX; n++)
        fraction *= 10;
    return fraction;
}

bool config_key_duration_parse(const char *text, int64_t *ret_ns)
{
    char *end;
    errno = 0;
    long long n = strtoll(text, &end, 10);
    int64_t fraction = read_fraction(end, &end);
    if (!isdigit((unsigned char)*text) || errno != 0 || n < 0 || fraction < 0 || !end[0] || end[1])
        return false;
    for (size_t i = 0; i < N_UNITS; i++)
        if (*end == units[i].letter && n <= S_A_CENTURY / units[i].seconds) {
            int64_t ns = (n * NS_PER_S + fraction) * units[i].seconds;
            *ret_ns = ns;
            return ns > 0 && ns <= S_A_CENTURY * NS_PER_S;
        }
    return false;
}

void config_key_duration_text(int64_t ns, char ret[static CONFIG_DURATION_TEXT_MAX])
{
    int64_t s = ns / NS_PER_S, rest = ns % NS_PER_S;
    int digits = DIGITS_MAX;
    size_t unit = 0;
    while (unit < N_UNITS - 1 && (rest != 0 || s % units[unit].seconds != 0))
        unit++;
    for (; rest != 0 && rest % 10 == 0; digits--)
        rest /= 10;
    if (ns == 0)
        snprintf(ret, CONFIG_DURATION_TEXT_MAX, "0");
    else if (rest != 0)
        snprintf(ret, CONFIG_DURATION_TEXT_MAX, "%lld.%0*llds", (long long)s, digits, (long long)rest);
    else
        snprintf(ret, CONFIG_DURATION_TEXT_MAX, "%lld%c", (long long)(s / units[unit].seconds),
                 units[unit].letter);
}

int config_key_read_duration(const struct config_key *key, const char *text, void *base,
                             char why[static CONFIG_WHY_MAX])
{
    int64_t ns = 0;
    bool none = strcmp(text, "0") == 0 || (key->none && strcmp(text, key->none) == 0);
    if (!none && !config_key_duration_parse(text, &ns))
        return config_key_refuse(why, CONFIG_WHY_MAX,
                                 "\"%.60s\": so many s, m, h, d, w or y, as 12h, or %s, is needed", text,
                                 key->none ? key->none : "0");
    memcpy((char *)base + key->offset, &ns, sizeof ns);
    return 0;
}

void config_key_print_duration(const struct config_key *key, const void *base, FILE *to)
{
    char text[CONFIG_DURATION_TEXT_MAX];
    int64_t ns;
    memcpy(&ns, (const char *)base + key->offset, sizeof ns);
    config_key_duration_text(ns, text);
    fputs(ns == 0 && key->none ? key->none : text, to);
}
