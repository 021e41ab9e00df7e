#include "exchange/replay/fault.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/decimal.h"

#define NS_PER_MS 1000000LL
#define NS_PER_S  1000000000LL

/* 30s, 1.5s, 250ms, 2m; *end is set behind it. */
static bool read_duration(const char *text, const char **end, int64_t *ret_ns)
{
    size_t len = strspn(text, "0123456789.");
    int64_t value, unit;
    if (decimal_parse(text, len, 3, &value) != 0 || value > INT64_MAX / (60 * NS_PER_S))
        return false;
    text += len;
    if (strncmp(text, "ms", 2) == 0) {
        unit = NS_PER_MS;
        text += 2;
    } else if (*text == 's' || *text == 'm') {
        unit = *text == 's' ? NS_PER_S : 60 * NS_PER_S;
        text++;
    } else {
        return false;
    }
    *ret_ns = value * (unit / 1000);
    *end = text;
    return true;
}

static bool parse_silence(struct faults *faults, const char *text)
{
    int64_t from, length;
    const char *end;
    if (!read_duration(text, &end, &from))
        return false;
    faults->silence_to_ns = INT64_MAX;
    if (*end == '+') {
        if (!read_duration(end + 1, &end, &length))
            return false;
        faults->silence_to_ns = from + length;
    }
    faults->silence_from_ns = from;
    faults->silence = true;
    return *end == '\0';
}

static bool parse_close(struct faults *faults, const char *text)
{
    char *end;
    errno = 0;
    unsigned long long n = strtoull(text, &end, 10);
    if (!isdigit((unsigned char)*text) || *end != '\0' || errno != 0 || n == 0)
        return false;
    faults->close_after = n;
    return true;
}

int fault_parse(struct faults *faults, const char *spec, char error[static FAULT_ERROR_MAX])
{
    static const char *const later[] = {"dup",         "reorder", "half-frame", "429",   "418",     "5xx",
                                        "tls-expired", "slow",    "huge",       "clock", "shutdown"};
    static const char served[] = "silence@30s, silence@30s+10s, close@1000, gap@book, garbage";
    size_t word = strcspn(spec, ":@");
    bool ok;

    for (size_t i = 0; i < sizeof(later) / sizeof(*later); i++) {
        if (strlen(later[i]) == word && strncmp(spec, later[i], word) == 0) {
            snprintf(error, FAULT_ERROR_MAX, "fault not served yet: %.40s: one of %s", spec, served);
            return -EINVAL;
        }
    }
    if (strncmp(spec, "silence@", 8) == 0)
        ok = parse_silence(faults, spec + 8);
    else if (strncmp(spec, "close@", 6) == 0)
        ok = parse_close(faults, spec + 6);
    else if (strcmp(spec, "gap@book") == 0)
        ok = faults->gap_book = true;
    else if (strcmp(spec, "garbage") == 0)
        ok = faults->garbage = true;
    else
        ok = false;
    if (!ok) {
        snprintf(error, FAULT_ERROR_MAX, "unknown fault: %.40s: one of %s", spec, served);
        return -EINVAL;
    }
    return 0;
}

bool fault_silent(const struct faults *faults, int64_t since_start_ns)
{
    return faults->silence && since_start_ns >= faults->silence_from_ns &&
           since_start_ns < faults->silence_to_ns;
}

const char *fault_garbage(uint64_t n)
{
    static const char *const frames[] = {
        "{\"stream\":\"btcusdt@trade\",\"data\":{\"e\":\"trade\",\"E\":17231612",
        "{\"stream\":\"btcusdt@bookTicker\",\"data\":{\"u\":1,\"s\":\"BTCUSDT\",\"b\":\"12..5\",\"B\":}}",
        "<html><body>502 Bad Gateway</body></html>",
        "",
        "[[[[[[[[",
    };
    return frames[n % (sizeof(frames) / sizeof(*frames))];
}
