/* Before a sweep that takes long: how long, and whether it is wanted. */
#include <ctype.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/stored.h"
#include "cli/sweep_run.h"
#include "exchange/exit_status.h"

static bool answer(void)
{
    char line[64];
    if (!fgets(line, sizeof line, stdin))
        return false;
    return tolower((unsigned char)line[0]) == 'y';
}

/* "360 combinations", "1e+15 combinations", "500 samples", "12 of 360 combinations" of a screen. */
static void count_text(const struct sweep *sweep, size_t n, char *ret, size_t size)
{
    const char *what = sweep->sets.drawn ? "samples" : "combinations";
    if (sweep->screened)
        snprintf(ret, size, "%zu of %.0f %s", n, sweep->sets.asked, what);
    else if (sweep->sets.asked < 1e12)
        snprintf(ret, size, "%.0f %s", sweep->sets.asked, what);
    else
        snprintf(ret, size, "%.2g %s", sweep->sets.asked, what);
}

bool cli_sweep_ask(const struct sweep *sweep, size_t tried, size_t left, double seconds)
{
    char count[48], time[SWEEP_TIME_MAX], words[256];
    bool most = sweep->sets.n > BACKTEST_GRID_MOST;
    double a_set = seconds / (double)(tried ? tried : 1);
    double times = sweep->times > 1 ? (double)sweep->times : 1;
    double predicted = a_set * (most ? sweep->sets.asked : (double)left) * times;
    count_text(sweep, tried + left, count, sizeof count);
    cli_sweep_time(predicted, time);
    if (most) {
        snprintf(words, sizeof words,
                 "%s, about %s: at most %d are run: wider steps, or --samples N, which draws N of them",
                 count, time, BACKTEST_GRID_MOST);
        cli_stored_fail(EXIT_USAGE, "sweep", "--grid", words);
        return false;
    }
    if (predicted <= SWEEP_ASK_S || sweep->yes) {
        fprintf(stderr, "papertape: sweep: note: %s, about %s\n", count, time);
        return true;
    }
    if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO)) {
        snprintf(words, sizeof words,
                 "%s, about %s, which is more than %d s: --yes runs them; or fewer: wider steps, --samples N",
                 count, time, SWEEP_ASK_S);
        cli_stored_fail(EXIT_USAGE, "sweep", "--grid", words);
        return false;
    }
    fprintf(stderr, "papertape: sweep: %s, about %s. Run them? [y/N] ", count, time);
    bool wanted = answer();
    if (!wanted)
        fputs("papertape: sweep: nothing was run\n", stderr);
    return wanted;
}
