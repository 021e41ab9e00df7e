#include "strategy/policy/session_columns.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "exchange/fail.h"

const char *const policy_session_column_names[SESSION_COLUMNS] = {
    [SESSION_COLUMN_PRE] = "pre",
    [SESSION_COLUMN_REGULAR] = "regular",
    [SESSION_COLUMN_POST] = "post",
    [SESSION_COLUMN_ELAPSED] = "elapsed",
};

static bool has(unsigned columns, int column)
{
    return (columns >> column & 1) != 0;
}

/* The bit of a name of n characters; 0: there is none. */
static unsigned bit_of(const char *name, size_t n)
{
    for (int k = 0; k < SESSION_COLUMNS; k++)
        if (strlen(policy_session_column_names[k]) == n &&
            memcmp(policy_session_column_names[k], name, n) == 0)
            return 1u << k;
    return 0;
}

int policy_session_columns_parse(const char *text, unsigned *ret, char *why, size_t why_cap)
{
    unsigned columns = 0;
    for (const char *at = text + strspn(text, " \t"); *at;) {
        size_t n = strcspn(at, ", \t");
        const char *comma = at + n + strspn(at + n, " \t");
        unsigned bit = bit_of(at, n);
        if (bit == 0 || (columns & bit) || (*comma && *comma != ',') || (*comma && !comma[1]))
            return fail_with(-EINVAL, why, why_cap,
                             "\"%.40s\": pre, regular, post and elapsed, each at most once and with commas "
                             "between, are right",
                             text);
        columns |= bit;
        at = *comma ? comma + 1 + strspn(comma + 1, " \t") : comma;
    }
    *ret = columns;
    return 0;
}

const char *policy_session_columns_text(unsigned columns, char ret[static SESSION_COLUMNS_TEXT_MAX])
{
    size_t at = 0;
    ret[0] = '\0';
    for (int k = 0; k < SESSION_COLUMNS; k++)
        if (has(columns, k))
            at += (size_t)snprintf(ret + at, SESSION_COLUMNS_TEXT_MAX - at, "%s%s", at > 0 ? "," : "",
                                   policy_session_column_names[k]);
    return ret;
}

size_t policy_session_columns_count(unsigned columns)
{
    size_t n = 0;
    for (int k = 0; k < SESSION_COLUMNS; k++)
        n += has(columns, k);
    return n;
}

/* The row's session, and its part that has passed when the row's bar closes. */
static enum bar_session session_at(const struct trading_calendar *calendar, int64_t interval_ns,
                                   int64_t open_ns, double *ret_elapsed)
{
    struct session_span span;
    int64_t start_ns, end_ns;
    trading_bar_span(calendar, interval_ns, open_ns, &start_ns, &end_ns);
    enum bar_session session = trading_session_of(calendar, start_ns, end_ns);
    if (session < BAR_SESSION_PRE || session > BAR_SESSION_POST ||
        !trading_span_at(calendar, SESSION_EXTENDED, start_ns, &span))
        return BAR_SESSION_NONE;
    const struct trading_day *day = &calendar->days[span.day];
    const int64_t edges[] = {day->early_ns, day->open_ns, day->close_ns, day->late_ns};
    int part = session - BAR_SESSION_PRE;
    *ret_elapsed = (double)(end_ns - edges[part]) / (double)(edges[part + 1] - edges[part]);
    return session;
}

void policy_session_columns_fill(unsigned columns, const struct trading_calendar *calendar,
                                 int64_t interval_ns, int64_t open_ns, float *ret)
{
    double elapsed = 0;
    enum bar_session session =
        calendar ? session_at(calendar, interval_ns, open_ns, &elapsed) : BAR_SESSION_NONE;
    const float values[SESSION_COLUMNS] = {
        [SESSION_COLUMN_PRE] = session == BAR_SESSION_PRE,
        [SESSION_COLUMN_REGULAR] = session == BAR_SESSION_REGULAR,
        [SESSION_COLUMN_POST] = session == BAR_SESSION_POST,
        [SESSION_COLUMN_ELAPSED] = (float)elapsed,
    };
    for (int k = 0; k < SESSION_COLUMNS; k++)
        if (has(columns, k))
            *ret++ = values[k];
}
