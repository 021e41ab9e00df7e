#include <locale.h>
#include <signal.h>

#include "db/studies/store.h"
#include "tui/verbs.h"

int main(int argc, char **argv)
{
    setlocale(LC_CTYPE, "");  /* numbers keep their decimal points */
    signal(SIGXFSZ, SIG_IGN); /* a limit on the size of files then gives EFBIG, reported like a full disk */
    study_store_hide_passwords(argc, argv);
    return option_main(&tui_papertape, argc, argv);
}
