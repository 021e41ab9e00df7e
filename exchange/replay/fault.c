#include "exchange/replay/fault.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/decimal.h"
#include "exchange/fail.h"

#define NS_PER_MS         1000000LL
#define NS_PER_S          1000000000LL
#define SHUTDOWN_NS       (10 * NS_PER_S) /* where no time is given */
#define SHUTDOWN_CLOSE_NS (10 * NS_PER_S)
#define HUGE_MAX          (64 << 20)

/* 30s, 1.5s, 250ms, 2m, 24h; *end is set behind it. */
static bool read_duration(const char *text, const char **end, int64_t *ret_ns)
{
    static const struct {
        const char *name;
        int64_t ns;
    } units[] = {{"ms", NS_PER_MS}, {"s", NS_PER_S}, {"m", 60 * NS_PER_S}, {"h", 3600 * NS_PER_S}};
    size_t len = strspn(text, "0123456789.");
    int64_t value;
    if (decimal_parse(text, len, 3, &value) != 0)
        return false;
    text += len;
    for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
        size_t n = strlen(units[i].name);
        if (strncmp(text, units[i].name, n) != 0)
            continue;
        if (value > INT64_MAX / 4 / (units[i].ns / 1000))
            return false;
        *ret_ns = value * (units[i].ns / 1000);
        *end = text + n;
        return true;
    }
    return false;
}

static bool read_count(const char *text, const char **end, uint64_t *ret)
{
    char *stop;
    errno = 0;
    unsigned long long n = strtoull(text, &stop, 10);
    if (!isdigit((unsigned char)*text) || errno != 0 || n == 0)
        return false;
    *ret = n;
    *end = stop;
    return true;
}

/* How a row's text is read: for most rows `at` is the value's offset in struct faults. */
typedef bool parse_fault(struct faults *faults, const char *text, size_t at);

static void *member(struct faults *faults, size_t at)
{
    return (char *)faults + at;
}

bool replay_fault_span_parse(const char *text, struct fault_span *ret)
{
    struct fault_span span = {.to_ns = INT64_MAX};
    int64_t length;
    const char *end;
    if (!read_duration(text, &end, &span.from_ns))
        return false;
    if (*end == '+') {
        if (!read_duration(end + 1, &end, &length))
            return false;
        span.to_ns = span.from_ns + length;
    }
    if (*end != '\0')
        return false;
    *ret = span;
    return true;
}

static bool parse_span(struct faults *faults, const char *text, size_t at)
{
    struct fault_span *span = member(faults, at);
    if (!replay_fault_span_parse(text, span))
        return false;
    span->from_ns += faults->base_ns;
    span->to_ns += span->to_ns == INT64_MAX ? 0 : faults->base_ns;
    return true;
}

/* STREAM@SPAN; the stream's name may contain an '@' as well. The last one for a stream counts. */
static bool parse_stream_silence(struct faults *faults, const char *text, size_t at)
{
    const char *span = strrchr(text, '@');
    size_t i = 0, len = span ? (size_t)(span - text) : 0;
    if (len == 0 || len >= sizeof(faults->silences[0].stream))
        return false;
    while (i < faults->n_silences &&
           (strncmp(faults->silences[i].stream, text, len) != 0 || faults->silences[i].stream[len] != '\0'))
        i++;
    if (i == FAULT_SILENCES_MAX)
        return false;
    faults->n_silences += i == faults->n_silences;
    faults->silences[i] = (struct fault_silence){0};
    memcpy(faults->silences[i].stream, text, len);
    return parse_span(faults, span + 1, at + i * sizeof(faults->silences[0]));
}

/* NAME or NAME@SPAN; the last one counts. */
static bool parse_broken_path(struct faults *faults, const char *text, size_t at)
{
    struct fault_break *broken = member(faults, at);
    size_t len = strcspn(text, "@");
    if (len == 0 || len >= sizeof(broken->name) || memchr(text, '/', len))
        return false;
    *broken = (struct fault_break){.span.to_ns = INT64_MAX};
    memcpy(broken->name, text, len);
    return text[len] == '\0' || parse_span(faults, text + len + 1, at + offsetof(struct fault_break, span));
}

static bool parse_count(struct faults *faults, const char *text, size_t at)
{
    const char *end;
    return read_count(text, &end, member(faults, at)) && *end == '\0';
}

static bool parse_ban(struct faults *faults, const char *text, size_t at)
{
    (void)at;
    const char *end;
    return read_count(text, &end, &faults->ban_after) && *end == '+' &&
           read_duration(end + 1, &end, &faults->ban_ns) && *end == '\0' && faults->ban_ns > 0;
}

static bool parse_duration(struct faults *faults, const char *text, size_t at)
{
    const char *end;
    int64_t *ns = member(faults, at);
    return read_duration(text, &end, ns) && *end == '\0' && *ns > 0;
}

static bool parse_fill_latency(struct faults *faults, const char *text, size_t at)
{
    const char *end;
    int64_t *ns = member(faults, at);
    if (strcmp(text, "0") == 0) { /* none, of any unit */
        *ns = 0;
        return true;
    }
    return read_duration(text, &end, ns) && *end == '\0' && *ns <= FAULT_FILL_LATENCY_MAX_S * NS_PER_S;
}

/* Basis points, with at most two digits after the point. */
static bool parse_fill_slippage(struct faults *faults, const char *text, size_t at)
{
    int64_t e6;
    if (decimal_parse(text, strlen(text), 2, &e6) != 0 || e6 < 0 || e6 > FAULT_FILL_SLIPPAGE_MAX_BP * 100)
        return false;
    *(int32_t *)member(faults, at) = (int32_t)e6;
    return true;
}

/* An API key; the last one counts. */
static bool parse_key(struct faults *faults, const char *text, size_t at)
{
    if (*text == '\0' || strlen(text) >= sizeof(faults->revoked) || strchr(text, '@')) /* it is a time's */
        return false;
    strcpy(member(faults, at), text);
    return true;
}

static bool parse_limit(struct faults *faults, const char *text, size_t at)
{
    struct fault_limit *limit = member(faults, at);
    limit->posted_ns = faults->posted_ns;
    return parse_duration(faults, text, at + offsetof(struct fault_limit, ns));
}

int64_t replay_fault_limit_ns(const struct fault_limit *limit, int64_t first_asked_ns)
{
    return limit->ns > 0 ? limit->ns + (limit->posted_ns > 0 ? limit->posted_ns : first_asked_ns) : 0;
}

static bool parse_shutdown(struct faults *faults, const char *text, size_t at)
{
    const char *end = text;
    (void)at;
    faults->shutdown = true;
    faults->shutdown_ns = SHUTDOWN_NS;
    faults->shutdown_close_ns = SHUTDOWN_CLOSE_NS;
    if (*text != '\0' && (*text != '@' || !read_duration(text + 1, &end, &faults->shutdown_ns)))
        return false;
    faults->shutdown_ns += faults->base_ns;
    if (*end == '+' && !read_duration(end + 1, &end, &faults->shutdown_close_ns))
        return false;
    return *end == '\0';
}

/* 64B/s, 2kB/s, 1MB/s; of "huge" without the "/s". */
static bool read_bytes(const char *text, const char **end, uint64_t *ret)
{
    if (!read_count(text, end, ret))
        return false;
    if (**end == 'k' || **end == 'M') {
        *ret *= **end == 'k' ? 1000 : 1000000;
        (*end)++;
    }
    return *(*end)++ == 'B' && *ret <= HUGE_MAX;
}

static bool parse_slow(struct faults *faults, const char *text, size_t at)
{
    const char *end;
    return read_bytes(text, &end, member(faults, at)) && strcmp(end, "/s") == 0;
}

static bool parse_huge(struct faults *faults, const char *text, size_t at)
{
    const char *end;
    return read_bytes(text, &end, member(faults, at)) && *end == '\0';
}

static bool parse_clock(struct faults *faults, const char *text, size_t at)
{
    if ((*text != '+' && *text != '-') || !parse_duration(faults, text + 1, at))
        return false;
    if (*text == '-')
        faults->clock_skew_ns = -faults->clock_skew_ns;
    return true;
}

/* TIME:SYMBOL and, of a status, =WORD. */
static bool parse_change(struct faults *faults, const char *text, size_t kind)
{
    struct fault_change change = {.kind = (enum fault_change_kind)kind};
    const char *end;
    if (faults->n_changes == FAULT_CHANGES_MAX || !read_duration(text, &end, &change.at_ns) || *end != ':')
        return false;
    size_t len = strcspn(++end, "=");
    if (len == 0 || len >= sizeof(change.symbol) || memchr(end, '@', len) ||
        (end[len] == '=') != (kind == FAULT_STATUS))
        return false;
    memcpy(change.symbol, end, len);
    if (kind == FAULT_STATUS) {
        const char *word = end + len + 1;
        if (!*word || strlen(word) >= sizeof(change.word) ||
            strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") != strlen(word))
            return false;
        strcpy(change.word, word);
    }
    size_t at = faults->n_changes++;
    for (; at > 0 && faults->changes[at - 1].at_ns > change.at_ns; at--)
        faults->changes[at] = faults->changes[at - 1];
    faults->changes[at] = change;
    return true;
}

/* Those that are on or off. */
static const struct {
    const char *name;
    size_t at;
} words[] = {
    {"gap@book", offsetof(struct faults, gap_book)},
    {"garbage", offsetof(struct faults, garbage)},
    {"dup", offsetof(struct faults, dup)},
    {"reorder", offsetof(struct faults, reorder)},
    {"half-frame", offsetof(struct faults, half_frame)},
    {"half-answer", offsetof(struct faults, half_answer)},
    {"deflate", offsetof(struct faults, deflate)},
    {"fragment", offsetof(struct faults, fragment)},
    {"5xx", offsetof(struct faults, broken)},
    {"tls-expired", offsetof(struct faults, tls_expired)},
    {"order:lost-request", offsetof(struct faults, order_lost_request)},
    {"order:lost-answer", offsetof(struct faults, order_lost_answer)},
    {"order:twice", offsetof(struct faults, order_twice)},
    {"order:5xx-done", offsetof(struct faults, order_5xx_done)},
    {"order:5xx-not-done", offsetof(struct faults, order_5xx_not_done)},
    {"user:drop", offsetof(struct faults, user_drop)},
    {"user:dup", offsetof(struct faults, user_dup)},
    {"user:reorder", offsetof(struct faults, user_reorder)},
    {"wipe", offsetof(struct faults, wipe)},
};

/* Those with a value. */
#define AT(member) offsetof(struct faults, member)
static const struct {
    const char *name;
    parse_fault *parse;
    size_t at; /* or the kind of a change */
} rows[] = {
    {"silence@", parse_span, AT(silent)},
    {"silence:", parse_stream_silence, AT(silences[0].span)},
    {"freeze@", parse_span, AT(frozen)},
    {"close@", parse_count, AT(close_after)},
    {"ban@", parse_ban, 0},
    {"5xx:", parse_broken_path, AT(broken_paths)},
    {"429:", parse_limit, AT(too_many)},
    {"418:", parse_limit, AT(teapot)},
    {"age@", parse_duration, AT(age_ns)},
    {"hold@", parse_duration, AT(hold_ns)},
    {"shutdown", parse_shutdown, 0},
    {"slow:", parse_slow, AT(slow_bytes_s)},
    {"slow-answer:", parse_slow, AT(slow_answer_bytes_s)},
    {"huge:", parse_huge, AT(huge_bytes)},
    {"clock:", parse_clock, AT(clock_skew_ns)},
    {"status@", parse_change, FAULT_STATUS},
    {"filters@", parse_change, FAULT_FILTERS},
    {"delist@", parse_change, FAULT_DELIST},
    {"actions:", parse_count, AT(actions_bad)},
    {"order:late:", parse_duration, AT(order_late_ns)},
    {"revoke:", parse_key, AT(revoked)},
    {"fill-latency:", parse_fill_latency, AT(fill_latency_ns)},
    {"fill-slippage:", parse_fill_slippage, AT(fill_slippage_e6)},
};

const char *replay_fault_help(void)
{
    return "silence@30s[+10s], silence:STREAM@30s[+10s], freeze@30s[+10s], close@1000, gap@book, garbage, "
           "dup, reorder, half-frame, deflate, fragment, huge:10MB, slow:64B/s, half-answer, slow-answer:20kB/s, 5xx, 5xx:klines[@30s[+10s]], 429:5s, "
           "418:60s, ban@100+60s, shutdown[@30s[+10s]], age@24h, hold@24h, clock:+3s, tls-expired, status@30s:BTCUSDT=HALT, "
           "filters@30s:BTCUSDT, delist@30s:BTCUSDT, actions:3, order:lost-request, order:lost-answer, order:twice, order:5xx-done, "
           "order:5xx-not-done, order:late:12s, user:drop, user:dup, user:reorder, wipe, revoke:KEY, fill-latency:120ms, fill-slippage:3, none; "
           "at a time, and for a length, as dup@30s or slow:64B/s@30s+10s";
}

/* The word of the list that begins with that name, how it is written. */
static const char *example_of(const char *name, size_t *ret_len)
{
    const char *word = replay_fault_help();
    while (strncmp(word, name, strlen(name)) != 0 && strstr(word, ", "))
        word = strstr(word, ", ") + 2;
    *ret_len = strcspn(word, ",;");
    return word;
}

/* All are over; a symbol's changes stay, as those of its venue do, and how it fills. */
static void end_all(struct faults *faults)
{
    struct faults none = {.base_ns = faults->base_ns,
                          .posted_ns = faults->posted_ns,
                          .tls_expired = faults->tls_expired, /* of a certificate that is in use */
                          .fill_latency_ns = faults->fill_latency_ns,
                          .fill_slippage_e6 = faults->fill_slippage_e6,
                          .n_changes = faults->n_changes};
    memcpy(none.changes, faults->changes, sizeof(none.changes));
    *faults = none;
}

int replay_fault_parse(struct faults *faults, const char *spec, char error[static FAULT_ERROR_MAX])
{
    struct faults with = *faults;
    if (strcmp(spec, "none") == 0) {
        end_all(faults);
        return 0;
    }
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
        if (strcmp(spec, words[i].name) == 0) {
            *(bool *)((char *)faults + words[i].at) = true;
            return 0;
        }
    }
    const char *named = NULL;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        size_t len = strlen(rows[i].name);
        if (strncmp(spec, rows[i].name, len) != 0)
            continue;
        named = rows[i].name;
        if (rows[i].parse(&with, spec + len, rows[i].at)) {
            *faults = with;
            return 0;
        }
    }
    if (named) {
        size_t n;
        const char *example = example_of(named, &n);
        return fail_with(-EINVAL, error, FAULT_ERROR_MAX, "bad value of a fault: %.40s: as %.*s", spec,
                         (int)n, example);
    }
    return fail_with(-EINVAL, error, FAULT_ERROR_MAX, "unknown fault: %.40s: one of %s", spec,
                     replay_fault_help());
}

static bool within(const struct fault_span *span, int64_t since_start_ns)
{
    return since_start_ns >= span->from_ns && since_start_ns < span->to_ns;
}

bool replay_fault_silent(const struct faults *faults, int64_t since_start_ns)
{
    return within(&faults->silent, since_start_ns);
}

bool replay_fault_frozen(const struct faults *faults, int64_t since_start_ns)
{
    return within(&faults->frozen, since_start_ns);
}

bool replay_fault_broken(const struct faults *faults, int64_t since_start_ns, const char *path)
{
    const char *last = strrchr(path, '/');
    return strcmp(last ? last + 1 : path, faults->broken_paths.name) == 0 &&
           within(&faults->broken_paths.span, since_start_ns);
}

bool replay_fault_stream_silent(const struct faults *faults, int64_t since_start_ns, const char *stream,
                                size_t len)
{
    for (size_t i = 0; i < faults->n_silences; i++) {
        const struct fault_silence *silence = &faults->silences[i];
        if (within(&silence->span, since_start_ns) && strlen(silence->stream) == len &&
            memcmp(silence->stream, stream, len) == 0)
            return true;
    }
    return false;
}

const char *replay_fault_garbage(uint64_t n)
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
