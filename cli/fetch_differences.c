#include "cli/fetch.h"

#include <errno.h>
#include <stdio.h>

#include "cli/stored.h"
#include "exchange/exit_status.h"
#include "exchange/fail.h"

void cli_fetch_see_later(const struct fetch *fetch, int64_t ns, struct fetch_differences *found)
{
    if (ns < fetch->jobs[0].end_ns || ns >= fetch->asked->to_ns)
        return;
    if (found->later++ == 0)
        found->later_ns = ns;
}

int cli_fetch_refuse_check(struct fetch *fetch)
{
    const struct history_job *job = &fetch->jobs[0];
    return fail_with(-EIO, fetch->err, sizeof fetch->err, "%s: %s of %s: %s%s", fetch->asked->check,
                     fetch->symbols[0].name, fetch->venue->title, job->why,
                     job->error == -ENOENT ? "; --venue names another" : "");
}

static int print_json(const struct fetch *fetch, const struct fetch_differences *found)
{
    return cli_stored_print(
        "fetch",
        json_pack("{s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:o, s:O}", "schema", "papertape.fetch_check/1",
                  "venue", fetch->venue->format->name, "symbol", fetch->symbols[0].name, "file",
                  fetch->asked->check, "rows", (json_int_t)found->rows, "different",
                  (json_int_t)found->different, "not_compared", (json_int_t)found->later,
                  "not_compared_from_ns",
                  found->later > 0 ? json_integer((json_int_t)found->later_ns) : json_null(), "differences",
                  found->list),
        17);
}

static void print_text(const struct fetch *fetch, const struct fetch_differences *found)
{
    const char *path = fetch->asked->check;
    char at[STORED_CELL];
    if (found->differences > FETCH_DIFFERENCES_PRINTED)
        printf("… %zu more: --json has all\n", found->differences - FETCH_DIFFERENCES_PRINTED);
    if (found->later > 0)
        printf("%s: %s: not compared: %zu row%s from there on, not whole yet by the venue's clock\n", path,
               cli_stored_time(STORED_TABLE, at, found->later_ns), found->later,
               found->later == 1 ? "" : "s");
    printf("%s: %zu row%s compared, %zu difference%s", path, found->rows, found->rows == 1 ? "" : "s",
           found->differences, found->differences == 1 ? "" : "s");
    if (found->differences != found->different)
        printf(" in %zu row%s", found->different, found->different == 1 ? "" : "s");
    putchar('\n');
}

int cli_fetch_print_differences(const struct fetch *fetch, const struct fetch_differences *found,
                                const struct option_call *call)
{
    int status = EXIT_OK;
    if (call->json)
        status = print_json(fetch, found);
    else
        print_text(fetch, found);
    return status == EXIT_OK && found->different + found->later > 0 ? EXIT_ERROR : status;
}
