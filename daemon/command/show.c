/* Commands that only read. */
#include <stdio.h>
#include <string.h>

#include "daemon/board.h"
#include "daemon/command/internal.h"
#include "daemon/parity.h"
#include "daemon/status.h"
#include "daemon/tape.h"
#include "record/book.h"

enum { BOOK_LEVELS_DEFAULT = 20, TRADES_DEFAULT = 20 };

static void answer(const struct request *request, json_t *object)
{
    if (object)
        control_ok(request->call, object);
    else
        control_error(request->call, "ENOMEM", "out of memory");
}

void daemon_command_ping(const struct request *request)
{
    control_ok(request->call, NULL);
}

void daemon_command_status(const struct request *request)
{
    control_share(request->call);
}

struct control_text *daemon_commands_status(void *ctx)
{
    const struct commands *commands = ctx;
    return control_text_create(daemon_status_object(commands->daemon));
}

void daemon_command_account_list(const struct request *request)
{
    json_t *accounts = daemon_status_accounts(request->commands->daemon);
    answer(request, accounts ? json_pack("{s:o}", "accounts", accounts) : NULL);
}

void daemon_command_book(const struct request *request)
{
    int symbol, levels = BOOK_LEVELS_DEFAULT;
    if (daemon_command_args_symbol(request->given, "symbol", &symbol) &&
        daemon_command_args_whole(request->given, "levels", 1, BOOK_LEVELS_MAX, &levels))
        answer(request, record_book_object(engine_symbol(request->engine, symbol),
                                           engine_book(request->engine, symbol), (size_t)levels));
}

void daemon_command_trades(const struct request *request)
{
    const struct trade_tape *tape = daemon_session_tape(request->commands->daemon->session);
    int index, n = TRADES_DEFAULT;
    if (!daemon_command_args_symbol(request->given, "symbol", &index) ||
        !daemon_command_args_whole(request->given, "trades", 1, TAPE_TRADES_MAX, &n))
        return;
    const struct symbol *symbol = engine_symbol(request->engine, index);
    json_t *trades = daemon_tape_trades(tape, index, symbol, (size_t)n);
    answer(request, json_pack("{s:s, s:o}", "symbol", symbol->name, "trades", trades));
}

/* "1m, 5m": what there is. */
static void list_timeframes(const struct board *board, char *buf, size_t size)
{
    json_t *names = daemon_board_timeframes(board), *name;
    size_t i, n = 0;
    buf[0] = '\0';
    json_array_foreach(names, i, name)
    {
        n += (size_t)snprintf(buf + n, n < size ? size - n : 0, "%s%s", i ? ", " : "",
                              json_string_value(name));
    }
    json_decref(names);
}

void daemon_command_indicators(const struct request *request)
{
    struct board *board = request->commands->daemon->board;
    const char *timeframe = json_string_value(json_object_get(request->args, "timeframe"));
    int symbol;
    int64_t interval_ns;
    if (!daemon_command_args_symbol(request->given, "symbol", &symbol))
        return;
    if (!board) {
        control_error(request->call, "EBUSY", "other indicators begin, after a reload: ask again");
        return;
    }
    json_t *object = timeframe && bar_interval_parse(timeframe, &interval_ns) == 0
                         ? daemon_board_object(board, symbol, interval_ns)
                         : NULL;
    if (object) {
        control_ok(request->call, object);
        return;
    }
    char kept[64];
    list_timeframes(board, kept, sizeof kept);
    control_error(request->call, "EINVAL", "args.timeframe: \"%.20s\": one that is kept is needed: %s",
                  timeframe ? timeframe : "", kept);
}

void daemon_command_parity(const struct request *request)
{
    if (daemon_parity_start(request->commands->daemon->parity) < 0)
        control_error(request->call, "EBUSY", "parity is being checked already");
    else
        control_ok(request->call, daemon_parity_object(request->commands->daemon->parity));
}
