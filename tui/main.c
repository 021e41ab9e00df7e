#include <locale.h>
#include <signal.h>

#include "db/studies/store.h"
#include "indicators_gpu/plugin_watch.h"
#include "tui/verbs.h"

int main(int argc, char **argv)
{
    setlocale(LC_CTYPE, "");  /* numbers keep their decimal points */
    signal(SIGXFSZ, SIG_IGN); /* a limit on the size of files then gives EFBIG, reported like a full disk */
    indicator_plugin_watch_exit();
    indicator_plugin_watch_crashes();
    study_store_hide_passwords(argc, argv);
    return option_main(&tui_papertape, argc, argv);
}
