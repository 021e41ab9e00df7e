/* Commands that only look. */
#include "daemon/command/internal.h"
#include "daemon/parity.h"
#include "daemon/status.h"

enum { BOOK_LEVELS_DEFAULT = 20 };

static void answer(const struct request *request, json_t *object)
{
    if (object)
        control_ok(request->call, object);
    else
        control_error(request->call, "ENOMEM", "out of memory");
}

void command_ping(const struct request *request)
{
    control_ok(request->call, NULL);
}

void command_status(const struct request *request)
{
    answer(request, status_object(request->commands->daemon));
}

void command_account_list(const struct request *request)
{
    json_t *accounts = status_accounts(request->commands->daemon);
    answer(request, accounts ? json_pack("{s:o}", "accounts", accounts) : NULL);
}

void command_book(const struct request *request)
{
    struct args args = {request, request->args, "args"};
    const json_t *levels = json_object_get(request->args, "levels");
    int symbol;
    if (!args_known(&args, "symbol levels") || !args_symbol(&args, "symbol", &symbol))
        return;
    if (levels && (!json_is_integer(levels) || json_integer_value(levels) < 1 ||
                   json_integer_value(levels) > BOOK_LEVELS_MAX)) {
        control_error(request->call, "EINVAL", "args.levels: a number from 1 to %d is needed",
                      BOOK_LEVELS_MAX);
        return;
    }
    answer(request, status_book(request->engine, symbol,
                                levels ? (size_t)json_integer_value(levels) : BOOK_LEVELS_DEFAULT));
}

void command_parity(const struct request *request)
{
    if (parity_start(request->commands->daemon->parity) < 0)
        control_error(request->call, "EBUSY", "parity is being checked already");
    else
        control_ok(request->call, parity_object(request->commands->daemon->parity));
}
