/* Lines to a process and back, in lock step, by the pipes that strategies have: bench/plugins_process builds
 * and runs it. plugins_lines COMMAND FILE: gives it each line of the file and waits for one; lines a second.
 */
#include <stdio.h>
#include <stdlib.h>

#include "exchange/clock.h"
#include "strategy/process/child.h"

static int fail(const char *text)
{
    fprintf(stderr, "plugins_lines: %s\n", text);
    return EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    char err[200], *line = NULL;
    size_t cap = 0, lines = 0, len;
    struct strategy_child *child;
    FILE *file = argc == 3 ? fopen(argv[2], "re") : NULL;
    if (!file)
        return fail("usage: plugins_lines COMMAND FILE");
    if (strategy_child_start(argv[1], NULL, &child, err, sizeof err) < 0)
        return fail(err);
    int64_t started_ns = 0, last_ns = 0;
    for (ssize_t n; (n = getline(&line, &cap, file)) > 0; lines++) {
        const char *answer;
        if (lines == 1)
            started_ns = clock_now_ns(); /* it has started */
        if (strategy_child_send(child, line, (size_t)n) < 0 ||
            strategy_child_read(child, clock_now_ns() + INT64_C(10000000000), &answer, &len) != CHILD_LINE)
            return fail("no answer within 10 s");
        last_ns = clock_now_ns();
    }
    strategy_child_end(child, false, NULL, 0);
    free(line);
    fclose(file);
    printf("{\"lines\":%zu,\"per_s\":%.1f}\n", lines,
           (double)(lines - 1) / ((double)(last_ns - started_ns) * 1e-9));
    return EXIT_SUCCESS;
}
