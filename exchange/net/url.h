/* The few URLs that a venue needs: wss://HOST[:PORT][/PATH] and https://…. Nothing unencrypted is accepted.
 */
#ifndef EXCHANGE_NET_URL_H
#define EXCHANGE_NET_URL_H

#include <stdint.h>

enum {
    URL_HOST_MAX = 112, /* with the NUL; with a port it must fit libwebsockets' 128 bytes of Host header */
};

struct url {
    char scheme[8];          /* "wss", "https" */
    char host[URL_HOST_MAX]; /* a name or an IPv4 address */
    uint16_t port;           /* 443 where the text has none */
    const char *path;        /* "/…" with the query, inside the parsed text; "/" where the text has none */
};

/* Parses `text`. 0; -EPROTONOSUPPORT for another scheme; -EINVAL for anything else, an IPv6 address in
 * brackets included: libwebsockets 4.1 cuts the host at the first colon and would then compare the
 * certificate with nothing. *ret is untouched on failure. */
int net_url_parse(const char *text, struct url *ret);

/* The same; -EPROTONOSUPPORT for another scheme than this one, too. */
int net_url_parse_as(const char *text, const char *scheme, struct url *ret);

#endif
