#include <locale.h>

#include "tui/verbs.h"

int main(int argc, char **argv)
{
    setlocale(LC_CTYPE, ""); /* numbers keep their decimal points */
    return option_main(&tui_papertape, argc, argv);
}
