#include "strategy/process/said.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "exchange/utf8.h"

#define LINE_NS (INT64_C(1000000000) * SAID_LINE_S)

/* A sweep starts hundreds of processes, which share one terminal. */
static atomic_size_t shown_bytes;

/* ---- our standard error ---- */

static void show(const char *line)
{
    static const char end[] = "papertape: more than 256 KiB on standard error: what processes write there is "
                              "left out from here on\n";
    char text[SAID_MAX + 1];
    int n = snprintf(text, sizeof text, "%s\n", line);
    size_t before = atomic_fetch_add(&shown_bytes, (size_t)n);
    if (before + (size_t)n <= SAID_BYTES_MAX)
        (void)!write(STDERR_FILENO, text, (size_t)n);
    else if (before <= SAID_BYTES_MAX)
        (void)!write(STDERR_FILENO, end, sizeof end - 1);
}

void strategy_said_show(struct strategy_said *said)
{
    if (said->held)
        show(said->last);
    said->held = false;
}

/* ---- a log ---- */

static void report_left_out(struct strategy_said *said)
{
    char text[80];
    if (said->left_out == 0)
        return;
    snprintf(text, sizeof text, "%" PRIu64 " lines left out: at most %d at once, then one in %d s",
             said->left_out, SAID_LINES, SAID_LINE_S);
    said->log.says(said->log.ctx, text);
    said->left_out = 0;
}

static void log_line(struct strategy_said *said, int64_t now_ns)
{
    if (said->full_ns < now_ns)
        said->full_ns = now_ns;
    if (said->full_ns - now_ns > (SAID_LINES - 1) * LINE_NS) {
        said->left_out++;
        return;
    }
    report_left_out(said);
    said->full_ns += LINE_NS;
    said->log.says(said->log.ctx, said->line);
}

/* ---- lines ---- */

static void end_line(struct strategy_said *said, int64_t now_ns)
{
    said->line[said->n] = '\0';
    said->n = 0;
    utf8_clean(said->line);
    if (said->log.says)
        log_line(said, now_ns);
    else
        strategy_said_show(said);
    if (!said->line[strspn(said->line, " ")]) {
        if (!said->log.says)
            show(said->line);
        return;
    }
    memcpy(said->last, said->line, sizeof said->last);
    said->held = !said->log.says;
}

void strategy_said_take(struct strategy_said *said, const char *data, size_t len, int64_t now_ns)
{
    for (size_t i = 0; i < len; i++)
        if (data[i] == '\n')
            end_line(said, now_ns);
        else if (said->n < sizeof said->line - 1)
            said->line[said->n++] = data[i] == '\t' ? (char)' ' : data[i];
}

void strategy_said_end(struct strategy_said *said, int64_t now_ns)
{
    if (said->n > 0)
        end_line(said, now_ns);
    if (said->log.says)
        report_left_out(said);
}

const char *strategy_said_last(const struct strategy_said *said)
{
    return said->last + strspn(said->last, " ");
}
