/* Arguments of a command; each error says what would be right. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "daemon/command/internal.h"
#include "exchange/nearest.h"
#include "exchange/order_reason.h"

enum { SHOWN = 60 }; /* characters of a wrong value that a message repeats */

bool daemon_command_args_given(const struct args *args, const char *name)
{
    const json_t *value = json_object_get(args->object, name);
    return value && !json_is_null(value);
}

bool daemon_command_args_known(const struct args *args, const char *known)
{
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)args->object, name, value)
    {
        struct nearest nearest = {0};
        bool found = false;
        for (const char *at = known; *at;) {
            char word[NEAREST_WORD_MAX];
            size_t len = strcspn(at, " ");
            snprintf(word, sizeof word, "%.*s", (int)len, at);
            found |= strcmp(word, name) == 0;
            nearest_offer(&nearest, name, word);
            at += len + strspn(at + len, " ");
        }
        if (!found)
            return ARGS_WRONG(args->request->call, "%s.%.*s: %s has no such argument%s", args->where, SHOWN,
                              name, args->request->cmd, NEAREST_HINT(&nearest, name));
    }
    return true;
}

bool daemon_command_args_text(const struct args *args, const char *name, const char **ret)
{
    const char *text = json_string_value(json_object_get(args->object, name));
    if (!text || !*text)
        return ARGS_WRONG(args->request->call, "%s.%s: a text is needed", args->where, name);
    *ret = text;
    return true;
}

bool daemon_command_args_decimal(const struct args *args, const char *name, int scale, int64_t *ret)
{
    struct control_call *call = args->request->call;
    const char *text = json_string_value(json_object_get(args->object, name));
    int r = text ? decimal_parse_str(text, scale, ret) : -EINVAL;
    if (r == 0)
        return true;
    if (!text)
        return ARGS_WRONG(call, "%s.%s: a decimal number as a string is needed", args->where, name);
    if (r == -EDOM)
        return ARGS_WRONG(call, "%s.%s: \"%.*s\": at most %d digits after the point", args->where, name,
                          SHOWN, text, scale);
    return ARGS_WRONG(call, "%s.%s: \"%.*s\": %s", args->where, name, SHOWN, text,
                      r == -ERANGE ? "too large" : "a decimal number is needed");
}

bool daemon_command_args_optional(const struct args *args, const char *name, int scale, int64_t min,
                                  int64_t max, int64_t *ret)
{
    int64_t units;
    if (!daemon_command_args_given(args, name))
        return true;
    if (!daemon_command_args_decimal(args, name, scale, &units))
        return false;
    if (units < min || units > max) {
        char from[DECIMAL_TEXT_MAX], to[DECIMAL_TEXT_MAX];
        decimal_format_short(min, scale, from);
        decimal_format_short(max, scale, to);
        return ARGS_WRONG(args->request->call, "%s.%s: \"%.*s\": a number from %s to %s is needed",
                          args->where, name, SHOWN, json_string_value(json_object_get(args->object, name)),
                          from, to);
    }
    *ret = units;
    return true;
}

bool daemon_command_args_trail(const struct args *args, int32_t *ret_e6)
{
    enum { PERCENT_SCALE = 4 }; /* of a percent: a millionth of the price */
    int64_t e6 = 0;
    bool good = daemon_command_args_optional(args, "trail_percent", PERCENT_SCALE, 1, 999999, &e6);
    *ret_e6 = (int32_t)e6;
    return good;
}

bool daemon_command_args_flag(const struct args *args, const char *name, bool *ret)
{
    const json_t *value = json_object_get(args->object, name);
    if (!daemon_command_args_given(args, name))
        return true;
    if (!json_is_boolean(value))
        return ARGS_WRONG(args->request->call, "%s.%s: true or false is needed", args->where, name);
    *ret = json_is_true(value);
    return true;
}

bool daemon_command_args_whole(const struct args *args, const char *name, int min, int max, int *ret)
{
    const json_t *value = json_object_get(args->object, name);
    if (!daemon_command_args_given(args, name))
        return true;
    if (!json_is_integer(value) || json_integer_value(value) < min || json_integer_value(value) > max)
        return ARGS_WRONG(args->request->call, "%s.%s: a whole number from %d to %d is needed", args->where,
                          name, min, max);
    *ret = (int)json_integer_value(value);
    return true;
}

/* 1 to size - 1 of the characters of ids; "" when not given. */
static bool take_id(const struct args *args, const char *name, char *ret, size_t size)
{
    ret[0] = '\0';
    if (!daemon_command_args_given(args, name))
        return true;
    const char *text = json_string_value(json_object_get(args->object, name));
    size_t len = text ? strlen(text) : 0;
    bool good = len > 0 && len < size;
    for (size_t i = 0; good && i < len; i++)
        good = isalnum((unsigned char)text[i]) || strchr("._:/-", text[i]);
    if (!good)
        return ARGS_WRONG(args->request->call,
                          "%s.%s: \"%.*s\": 1 to %zu of the characters A-Z a-z 0-9 . _ : / - are needed",
                          args->where, name, SHOWN, text ? text : "", size - 1);
    memcpy(ret, text, len + 1);
    return true;
}

bool daemon_command_args_id(const struct args *args, const char *name, char ret[static ORDER_CLIENT_ID_MAX])
{
    return take_id(args, name, ret, ORDER_CLIENT_ID_MAX);
}

bool daemon_command_args_field(const struct args *args, const struct record_field *field, void *row)
{
    bool flag = record_field_number(field, row) != 0;
    if (field->kind == RECORD_TEXT)
        return take_id(args, field->member, (char *)row + field->offset, field->size);
    if (!daemon_command_args_flag(args, field->member, &flag))
        return false;
    record_field_set_number(field, row, flag);
    return true;
}

/* Refuses a name that the engine does not have, with the near ones as suggestions. */
static bool refuse_unknown(const struct args *args, const char *name, enum order_reason reason,
                           const char *text, const struct nearest *nearest)
{
    control_error(args->request->call, order_reason_name(reason), "%s.%s: \"%.*s\": %s%s", args->where, name,
                  SHOWN, text, order_reason_words(reason), NEAREST_HINT(nearest, text));
    return false;
}

bool daemon_command_args_account(const struct args *args, const char *name, int *ret)
{
    const struct engine *engine = args->request->engine;
    struct nearest nearest = {0};
    const char *text;
    *ret = 0;
    if (!daemon_command_args_given(args, name))
        return true;
    if (!daemon_command_args_text(args, name, &text))
        return false;
    *ret = engine_find_account(engine, text);
    for (int a = 0; *ret < 0 && a < engine_accounts(engine); a++)
        nearest_offer(&nearest, text, engine_account(engine, a)->name);
    return *ret >= 0 || refuse_unknown(args, name, ORDER_UNKNOWN_ACCOUNT, text, &nearest);
}

bool daemon_command_args_symbol(const struct args *args, const char *name, int *ret)
{
    const struct engine *engine = args->request->engine;
    struct nearest nearest = {0};
    const char *text;
    if (!daemon_command_args_text(args, name, &text))
        return false;
    *ret = engine_find_symbol(engine, text);
    for (int s = 0; *ret < 0 && s < engine_symbols(engine); s++)
        nearest_offer(&nearest, text, engine_symbol(engine, s)->name);
    return *ret >= 0 || refuse_unknown(args, name, ORDER_UNKNOWN_SYMBOL, text, &nearest);
}
