#include "cli/progress.h"

#include <stdio.h>
#include <unistd.h>

#include "exchange/clock.h"

void cli_progress_begin(struct progress *progress, const char *words)
{
    double now = clock_now_s();
    *progress =
        (struct progress){.shows = isatty(STDERR_FILENO) == 1, .words = words, .started = now, .last = now};
}

void cli_progress_count(struct progress *progress, uint64_t count, const char *unit)
{
    progress->count = count;
    progress->unit = unit;
}

/* What is left takes as long as what is done. */
static void show_speed(const struct progress *progress, double share, double seconds)
{
    if (!progress->unit || !(seconds > 0))
        return;
    fprintf(stderr, " %.0f %s/s", (double)progress->count / seconds, progress->unit);
    if (share > 0 && share < 1)
        fprintf(stderr, "  %.0f s left", seconds * (1 - share) / share);
    if (progress->note && progress->note[0])
        fprintf(stderr, "  %.60s", progress->note);
    fputs(" \033[K", stderr);
}

bool cli_progress_show(void *ctx, double share)
{
    enum { CELLS = 40 };
    static const char full[] = "########################################";
    struct progress *progress = ctx;
    double now = clock_now_s();
    if (!progress->shows || now - progress->last < 0.1)
        return true;
    int cells = share >= 1 ? CELLS : share > 0 ? (int)(share * CELLS) : 0;
    fprintf(stderr, "\r%s [%.*s%*s] %3.0f %%  %.1f s ", progress->words, cells, full, CELLS - cells, "",
            100 * share, now - progress->started);
    show_speed(progress, share, now - progress->started);
    progress->last = now;
    progress->shown = true;
    return true;
}

void cli_progress_end(struct progress *progress)
{
    if (progress->shown)
        fputs("\r\033[K", stderr);
    progress->shown = false;
}
