/* Members of a JSON object, or of an array, that is written as text: a comma, the name, the value. The
 * object's first member is written by hand. */
#ifndef EXCHANGE_REPLAY_KEYED_H
#define EXCHANGE_REPLAY_KEYED_H

#include "exchange/text.h"

static inline void keyed(struct text *out, const char *name)
{
    text_lit(out, ",\"");
    text_str(out, name);
    text_lit(out, "\":");
}

static inline void keyed_str(struct text *out, const char *name,
                             const char *value) /* as it is: nothing is escaped */
{
    keyed(out, name);
    text_lit(out, "\"");
    text_str(out, value);
    text_lit(out, "\"");
}

static inline void keyed_int(struct text *out, const char *name, int64_t value)
{
    keyed(out, name);
    text_int(out, value);
}

static inline void keyed_bool(struct text *out, const char *name, bool value)
{
    keyed(out, name);
    text_str(out, value ? "true" : "false");
}

static inline void keyed_e8(struct text *out, const char *name, int64_t value)
{
    keyed(out, name);
    text_e8(out, value);
}

static inline void keyed_e16(struct text *out, const char *name, int128_t value)
{
    keyed(out, name);
    text_sum(out, value, 16);
}

/* Between the members of an array: nothing before the first one. */
static inline void keyed_comma(struct text *out)
{
    if (out->len > 0 && out->data[out->len - 1] != '[')
        text_lit(out, ",");
}

#endif
