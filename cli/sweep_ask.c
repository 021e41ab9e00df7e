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

/* "360 combinations", "1e+15 combinations", "500 samples". */
static void count_text(const struct sweep *sweep, char *ret, size_t size)
{
    snprintf(ret, size, sweep->sets.asked < 1e12 ? "%.0f %s" : "%.2g %s", sweep->sets.asked,
             sweep->sets.drawn ? "samples" : "combinations");
}

/* What there is to do, in words, and how long it takes; `note`: also where that is not long. */
static bool ask(const struct sweep *sweep, const char *work, double predicted, bool note)
{
    char time[SWEEP_TIME_MAX], words[256];
    cli_sweep_time(predicted, time);
    if (predicted <= SWEEP_ASK_S || sweep->yes) {
        if (note)
            fprintf(stderr, "papertape: sweep: note: %s, about %s\n", work, time);
        return true;
    }
    if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO)) {
        snprintf(words, sizeof words,
                 "%s, about %s, which is more than %d s: --yes runs them; or fewer: wider steps, --samples N",
                 work, time, SWEEP_ASK_S);
        cli_stored_fail(EXIT_USAGE, "sweep", "--grid", words);
        return false;
    }
    fprintf(stderr, "papertape: sweep: %s, about %s. Run them? [y/N] ", work, time);
    bool wanted = answer();
    if (!wanted)
        fprintf(stderr, "papertape: sweep: nothing %swas run\n", sweep->asked > 0 ? "more " : "");
    return wanted;
}

bool cli_sweep_ask(struct sweep *sweep, size_t tried, size_t left, double set_s)
{
    char count[48], work[96], time[SWEEP_TIME_MAX], words[256];
    bool most = sweep->sets.n > BACKTEST_GRID_MOST, again = sweep->asked > 0;
    double times = sweep->times > 1 ? (double)sweep->times : 1;
    double predicted = set_s * (most ? sweep->sets.asked : (double)left) * times;
    count_text(sweep, count, sizeof count);
    if (most) {
        snprintf(words, sizeof words,
                 "%s, about %s: at most %d are run: wider steps, or --samples N, which draws N of them",
                 count, cli_sweep_time(predicted, time), BACKTEST_GRID_MOST);
        cli_stored_fail(EXIT_USAGE, "sweep", "--grid", words);
        return false;
    }
    if (sweep->dry_run) {
        sweep->plan = (struct sweep_plan){.known = true, .tried = tried, .left = left, .seconds = predicted};
        return false;
    }
    if (sweep->screened)
        snprintf(work, sizeof work, "%zu %sof %s", again ? left : tried + left, again ? "more " : "", count);
    else
        snprintf(work, sizeof work, "%s", count);
    return ask(sweep, work, predicted, !again);
}

bool cli_sweep_ask_screen(const struct sweep *sweep, double seconds)
{
    char count[48], work[96];
    double times = sweep->times > 1 ? (double)sweep->times : 1;
    count_text(sweep, count, sizeof count);
    snprintf(work, sizeof work, "a screen of %s", count);
    return ask(sweep, work, seconds * times, false);
}

/* How many sets contradict themselves; more than are ever run are not counted. */
static size_t contradictory_of(const struct sweep *sweep, const struct account_spec *base)
{
    struct account_spec spec = *base;
    size_t n = 0;
    for (size_t i = 0; sweep->sets.n <= BACKTEST_GRID_MOST && i < sweep->sets.n; i++)
        n += !backtest_sets_get(&sweep->sets, spec.strategy, i, spec.params);
    return n;
}

int cli_sweep_print_plan(const struct sweep *sweep, const struct account_spec *base, bool json)
{
    const struct sweep_plan *plan = &sweep->plan;
    const size_t tried = plan->known ? plan->tried : sweep->runs.n - sweep->runs.known;
    const size_t contradictory = contradictory_of(sweep, base);
    char count[48], time[SWEEP_TIME_MAX], contradict[64] = "";
    if (json)
        return cli_stored_print(
            "sweep",
            json_pack("{s:s, s:f, s:I, s:I, s:I, s:I, s:f, s:i}", "schema", "papertape.sweep_plan/1", "asked",
                      sweep->sets.asked, "combinations", (json_int_t)sweep->sets.n, "contradictory",
                      (json_int_t)contradictory, "tried", (json_int_t)tried, "left", (json_int_t)plan->left,
                      "seconds", plan->seconds, "asks_above_s", SWEEP_ASK_S),
            17);
    count_text(sweep, count, sizeof count);
    if (contradictory > 0)
        snprintf(contradict, sizeof contradict, ", %zu contradict themselves", contradictory);
    printf("%s%s, %zu to run, about %s\n", count, contradict, plan->left,
           cli_sweep_time(plan->seconds, time));
    return EXIT_OK;
}
