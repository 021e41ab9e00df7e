#include "cli/fetch.h"

#include <stdio.h>

#include "cli/stored.h"
#include "exchange/exit_status.h"

int cli_fetch_print_differences(const struct fetch *fetch, const struct fetch_differences *found,
                                const struct option_call *call)
{
    if (call->json)
        return cli_stored_print("fetch",
                                json_pack("{s:s, s:s, s:s, s:s, s:I, s:I, s:O}", "schema",
                                          "papertape.fetch_check/1", "venue", fetch->venue->format->name,
                                          "symbol", fetch->symbols[0].name, "file", fetch->asked->check,
                                          "rows", (json_int_t)found->rows, "different",
                                          (json_int_t)found->different, "differences", found->list),
                                17);
    if (found->different > FETCH_DIFFERENCES_PRINTED)
        printf("… %zu more: --json has all\n", found->different - FETCH_DIFFERENCES_PRINTED);
    printf("%s: %zu rows compared, %zu difference%s\n", fetch->asked->check, found->rows, found->different,
           found->different == 1 ? "" : "s");
    return EXIT_OK;
}
