#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "cli/text.h"
#include "exchange/exit_status.h"
#include "tui/verb/dashboard.h"
#include "tui/verbs.h"

static int unknown(const char *name)
{
    const struct verb *nearest = verbs_nearest(name);
    char shown[64];

    text_clean(shown, sizeof(shown), name);
    if (nearest)
        fprintf(stderr, "papertape: %s: not a verb: did you mean \"%s\"? --help lists them\n", shown,
                nearest->name);
    else
        fprintf(stderr, "papertape: %s: not a verb: --help lists them\n", shown);
    return EXIT_USAGE;
}

int main(int argc, char **argv)
{
    setlocale(LC_CTYPE, ""); /* numbers keep their decimal points */
    if (argc < 2 || argv[1][0] == '-')
        return tui_dashboard(argc, argv);
    const struct verb *verb = verbs_find(argv[1]);
    if (!verb)
        return unknown(argv[1]);
    int status = verb->run(argc - 1, argv + 1);
    if (fflush(stdout) != 0 && status == EXIT_OK) {
        perror("papertape: stdout");
        return EXIT_ERROR;
    }
    return status;
}
