/* papertape-log-catalog: prints what follows from the rows of daemon/log_kinds.h: `catalog`, for
 * journalctl --update-catalog; `docs`, the tables of docs/logging.md. */
#include <stdio.h>
#include <string.h>

#include "daemon/log_kinds.h"

static const char *const level_names[] = {
    [LOG_LEVEL_ERROR] = "error",
    [LOG_LEVEL_WARNING] = "warning",
    [LOG_LEVEL_INFO] = "info",
    [LOG_LEVEL_DEBUG] = "debug",
};

static void print_catalog(void)
{
    for (size_t i = 0; i < LOG_KINDS_N; i++) {
        const struct log_kind_row *kind = &daemon_log_kinds[i];
        printf("-- %s\nSubject: %s\nDefined-By: papertape\nDocumentation: man:papertaped(1)\n\n%s\n\n",
               kind->id, kind->subject, kind->text);
    }
}

static void print_docs(void)
{
    puts("| `PAPERTAPE_EVENT` | level | `MESSAGE_ID` | what |\n|---|---|---|---|");
    for (size_t i = 0; i < LOG_KINDS_N; i++) {
        const struct log_kind_row *kind = &daemon_log_kinds[i];
        printf("| `%s` | %s | `%s` | %s |\n", kind->event, level_names[kind->level], kind->id, kind->subject);
    }
}

static void print_fields(void)
{
    puts(
        "| field | what |\n|---|---|\n"
        "| `MESSAGE` | the line |\n"
        "| `PRIORITY` | 3 error, 4 warning, 6 info, 7 debug |\n"
        "| `PAPERTAPE_EVENT`, `MESSAGE_ID` | the kind of event, by the table below; absent on a line of no kind |");
#define ROW(member, name, about) puts("| `" name "` | " about " |");
    LOG_FIELDS(ROW)
#undef ROW
    puts(
        "| `ORDER` | the order's number |\n"
        "| `PAPERTAPE_TIME` | when the daemon wrote the line, UTC, to the microsecond: the journal's own time is "
        "that of the receipt |\n"
        "| `PAPERTAPE_LOST` | of `log-lost`: how many lines |");
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "catalog") == 0) {
        print_catalog();
    } else if (argc == 2 && strcmp(argv[1], "docs") == 0) {
        print_fields();
        puts("");
        print_docs();
    } else {
        fputs("papertape-log-catalog: one argument is needed: catalog or docs\n", stderr);
        return 2;
    }
    return fflush(stdout) == 0 ? 0 : 1;
}
