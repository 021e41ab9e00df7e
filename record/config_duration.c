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
} units[] = {{'w', 604800}, {'d', 86400}, {'h', 3600}, {'m', 60}, {'s', 1}};
enum { N_UNITS = sizeof units / sizeof *units };

bool config_key_duration_parse(const char *text, int64_t *ret_ns)
{
    char *end;
    errno = 0;
    long long n = strtoll(text, &end, 10);
    if (!isdigit((unsigned char)*text) || errno != 0 || n < 1 || !end[0] || end[1])
        return false;
    for (size_t i = 0; i < N_UNITS; i++)
        if (*end == units[i].letter && n <= S_A_CENTURY / units[i].seconds) {
            *ret_ns = n * units[i].seconds * NS_PER_S;
            return true;
        }
    return false;
}

void config_key_duration_text(int64_t ns, char ret[static CONFIG_DURATION_TEXT_MAX])
{
    int64_t s = ns / NS_PER_S;
    size_t unit = 0;
    while (unit < N_UNITS - 1 && s % units[unit].seconds != 0)
        unit++;
    if (s == 0)
        snprintf(ret, CONFIG_DURATION_TEXT_MAX, "0");
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
                                 "\"%.60s\": so many s, m, h, d or w, as 12h, or %s, is needed", text,
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
