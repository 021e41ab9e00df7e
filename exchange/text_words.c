#include "exchange/text_words.h"

#include <errno.h>
#include <string.h>

int text_words(const char *line, char *buf, size_t size, char **ret, int most)
{
    int n = 0;
    char *to = buf, quote = '\0';
    if (strlen(line) >= size)
        return -EINVAL;
    for (const char *c = line; *c;) {
        c += strspn(c, " \t");
        if (!*c)
            break;
        if (n == most - 1)
            return -EINVAL;
        ret[n++] = to;
        for (; *c && (quote || (*c != ' ' && *c != '\t')); c++)
            if (quote ? *c == quote : *c == '"' || *c == '\'')
                quote = quote ? '\0' : *c;
            else if (*c == '\\' && quote != '\'' && c[1])
                *to++ = *++c;
            else
                *to++ = *c;
        if (quote)
            return -EINVAL;
        if (*c)
            c++; /* its blank is the word's end */
        *to++ = '\0';
    }
    ret[n] = NULL;
    return n > 0 && ret[0][0] ? n : -EINVAL;
}
