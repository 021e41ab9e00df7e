#include <locale.h>
#include <signal.h>

#include "tui/verbs.h"

int main(int argc, char **argv)
{
    setlocale(LC_CTYPE, "");  /* numbers keep their decimal points */
    signal(SIGXFSZ, SIG_IGN); /* a limit on the size of files then gives EFBIG, reported like a full disk */
    return option_main(&tui_papertape, argc, argv);
}
