#include "exchange/net/url.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static bool host_char(char c)
{
    return isalnum((unsigned char)c) || c == '-' || c == '.' || c == '_';
}

static int parse_port(const char *text, size_t len, uint16_t *ret)
{
    unsigned port = 0;
    if (len == 0 || len > 5)
        return -EINVAL;
    for (size_t i = 0; i < len; i++) {
        if (text[i] < '0' || text[i] > '9')
            return -EINVAL;
        port = port * 10 + (unsigned)(text[i] - '0');
    }
    if (port < 1 || port > UINT16_MAX)
        return -EINVAL;
    *ret = (uint16_t)port;
    return 0;
}

int net_url_parse(const char *text, struct url *ret)
{
    struct url url = {.port = 443, .path = "/"};
    const char *p = strstr(text, "://");
    if (!p)
        return -EINVAL;
    size_t len = (size_t)(p - text);
    if (!(len == 3 && memcmp(text, "wss", 3) == 0) && !(len == 5 && memcmp(text, "https", 5) == 0))
        return -EPROTONOSUPPORT;
    memcpy(url.scheme, text, len);

    p += 3;
    const char *host = p;
    while (host_char(*p))
        p++;
    len = (size_t)(p - host);
    if (len == 0 || len >= URL_HOST_MAX)
        return -EINVAL;
    memcpy(url.host, host, len);

    if (*p == ':') {
        const char *port = ++p;
        while (*p && *p != '/')
            p++;
        int r = parse_port(port, (size_t)(p - port), &url.port);
        if (r < 0)
            return r;
    }
    if (*p == '/')
        url.path = p;
    else if (*p)
        return -EINVAL;
    for (; *p; p++)
        if ((unsigned char)*p <= ' ' || (unsigned char)*p >= 0x7f)
            return -EINVAL;
    *ret = url;
    return 0;
}

int net_url_parse_as(const char *text, const char *scheme, struct url *ret)
{
    struct url url;
    int r = net_url_parse(text, &url);
    if (r < 0)
        return r;
    if (strcmp(url.scheme, scheme) != 0)
        return -EPROTONOSUPPORT;
    *ret = url;
    return 0;
}
