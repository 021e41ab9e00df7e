#include "strategy/column.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "exchange/fail.h"
#include "record/config_duration.h"

bool strategy_column_name(const char *name)
{
    size_t n = strnlen(name, COLUMN_NAME_MAX);
    if (n == 0 || n == COLUMN_NAME_MAX || !isalpha((unsigned char)name[0]))
        return false;
    for (size_t i = 1; i < n; i++)
        if (!isalnum((unsigned char)name[i]) && name[i] != '_')
            return false;
    return true;
}

bool strategy_column_is(const char *text)
{
    return strncmp(text, STRATEGY_COLUMN_PREFIX, sizeof STRATEGY_COLUMN_PREFIX - 1) == 0;
}

int strategy_column_parse(const char *text, struct column_source *ret, char *err, size_t err_size)
{
    const char *name = text + sizeof STRATEGY_COLUMN_PREFIX - 1, *age = strchr(name, ',');
    struct column_source source = {.name = ""};
    size_t n = age ? (size_t)(age - name) : strlen(name);
    if (n < COLUMN_NAME_MAX)
        memcpy(source.name, name, n);
    if (!strategy_column_name(source.name))
        return fail_with(-EINVAL, err, err_size,
                         "%.60s: a column's name is a letter, then letters, digits and _, at most %d", text,
                         COLUMN_NAME_MAX - 1);
    if (age && !config_key_duration_parse(age + 1, &source.age_ns))
        return fail_with(-EINVAL, err, err_size,
                         "%.60s: behind the comma an age such as 90s, 15m or 8h is needed", text);
    *ret = source;
    return 0;
}
