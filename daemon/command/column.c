/* Values of external columns (engine/column.h), for the strategies that read them. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "daemon/command/internal.h"
#include "daemon/session.h"
#include "engine/column.h"
#include "exchange/bars_file.h"
#include "exchange/nearest.h"

enum { SHOWN = 60 };

/* As in files: a text, or a number of seconds, milliseconds, microseconds or nanoseconds since 1970. */
static bool take_time(const struct request *request, const char *name, int64_t *ret_ns)
{
    const json_t *value = json_object_get(request->args, name);
    char digits[32] = "";
    if (json_is_integer(value))
        snprintf(digits, sizeof digits, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    const char *text = json_is_string(value) ? json_string_value(value) : digits;
    if (text[0] && bars_time_parse(text, strlen(text), ret_ns) == 0)
        return true;
    return ARGS_WRONG(
        request->call,
        "args.%s: a time is needed, as ISO 8601, or as a whole number of seconds, milliseconds, "
        "microseconds or nanoseconds since 1970",
        name);
}

static bool take_value(const struct request *request, double *ret)
{
    const json_t *value = json_object_get(request->args, "value");
    if (!json_is_number(value))
        return ARGS_WRONG(request->call, "args.value: a number is needed");
    *ret = json_number_value(value);
    return true;
}

struct search {
    const char *name;
    bool found;
    struct nearest nearest;
};

static void look(void *ctx, const char *name)
{
    struct search *search = ctx;
    search->found |= strcmp(name, search->name) == 0;
    nearest_offer(&search->nearest, search->name, name);
}

/* One that some account's strategy reads. */
static bool take_name(const struct request *request, char ret[static COLUMN_NAME_MAX])
{
    struct search search = {0};
    if (!daemon_command_args_text(request->given, "name", &search.name))
        return false;
    engine_column_each(request->engine, look, &search);
    if (!search.found) {
        control_error(request->call, "ENOENT",
                      "args.name: \"%.*s\": no account's strategy reads such a column%s", SHOWN, search.name,
                      NEAREST_HINT(&search.nearest, search.name));
        return false;
    }
    snprintf(ret, COLUMN_NAME_MAX, "%s", search.name);
    return true;
}

static json_t *answer(const struct request *request, const struct event_column *column)
{
    const char *symbol = column->symbol >= 0 ? engine_symbol(request->engine, column->symbol)->name : NULL;
    return json_pack("{s:s?, s:s, s:I, s:I, s:f}", "symbol", symbol, "name", column->name, "timestamp_ns",
                     (json_int_t)column->value.timestamp_ns, "published_ns",
                     (json_int_t)column->value.published_ns, "value", column->value.value);
}

void daemon_command_column(const struct request *request)
{
    struct event event = {.kind = EVENT_COLUMN, .column.symbol = -1};
    struct event_column *column = &event.column;
    char why[COLUMN_ERROR_MAX];
    struct work work;
    if (daemon_command_came_before(request) ||
        (daemon_command_args_given(request->given, "symbol") &&
         !daemon_command_args_symbol(request->given, "symbol", &column->symbol)) ||
        !take_name(request, column->name) || !take_time(request, "timestamp", &column->value.timestamp_ns) ||
        !take_time(request, "published", &column->value.published_ns) ||
        !take_value(request, &column->value.value))
        return;
    int r = engine_column_check(request->engine, column, why);
    if (r < 0) {
        control_error(request->call, r == -ENOSPC || r == -E2BIG ? "ENOSPC" : "EINVAL", "column %s: %s",
                      column->name, why);
        return;
    }
    json_t *result = answer(request, column);
    if (!daemon_command_begin(request, &work)) {
        json_decref(result);
        return;
    }
    daemon_session_event(request->commands->daemon->session, &event);
    work.ts_ns = event.recv_ns; /* as the event log has it */
    work.dated = true;
    daemon_command_end(&work, result);
}
