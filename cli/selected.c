#include "cli/selected.h"

#include <errno.h>

#include "exchange/exit_status.h"

void cli_selected_init(void *into)
{
    *(struct db_selection *)into = (struct db_selection)DB_SELECTION_ALL;
}

void cli_selected_ask_init(void *into)
{
    struct ask_selected *asked = into;

    cli_ask_args_init(&asked->ask);
    cli_selected_init(&asked->selection);
}

int cli_selected_take_at(struct option_call *call, const struct option_row *row, const char *value)
{
    int status = cli_stored_take_time(call, row, value);

    if (status == EXIT_OK && *(const int64_t *)(const void *)((const char *)call->into + row->at) <= 0)
        return option_fail(call, EXIT_USAGE, "--%s: \"%.64s\": a time after 1970-01-01 is needed", row->name,
                           value);
    return status;
}

bool cli_selected_any(const struct db_selection *selection)
{
    return selection->account || selection->from_ns != INT64_MIN || selection->to_ns != INT64_MAX ||
           selection->at_ns > 0;
}

int cli_selected_open(const char *verb, const char *state, const struct db_selection *selection,
                      const struct db_selected *of, struct db_reader **ret)
{
    struct db_reader *reader;
    int status = cli_stored_open(verb, state, &reader);

    if (status != EXIT_OK)
        return status;
    int r = db_reader_select(reader, selection, of);
    if (r < 0)
        return cli_stored_close(verb, reader, r);
    *ret = reader;
    return EXIT_OK;
}

int cli_selected_print_list(struct option_call *call, const char *verb, struct stored_list *list,
                            const struct db_selection *selection, const struct db_selected *of,
                            int (*read)(struct db_reader *reader, const struct option_call *call,
                                        struct stored_list *list))
{
    struct db_reader *reader;
    int status = cli_selected_open(verb, call->state, selection, of, &reader);

    return status == EXIT_OK ? cli_stored_print_of(call, verb, reader, list, read) : status;
}
