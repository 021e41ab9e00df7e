/* Whose a certificate is: a host stands in its subject alternative names (RFC 9525), or it is another's. What
 * a common name says counts for nothing, though OpenSSL and libcurl would take it where there are no such
 * names. */
#ifndef EXCHANGE_NET_CERTIFICATE_H
#define EXCHANGE_NET_CERTIFICATE_H

#include <openssl/ssl.h>
#include <stdbool.h>

/* Has it that host, a name or an address? */
bool net_certificate_names(X509 *certificate, const char *host);

/* Connections made with it take no other host's. False without memory. */
bool net_certificate_insist(SSL_CTX *tls, const char *host);

#endif
