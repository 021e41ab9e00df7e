/* Checks whose a certificate is: the host must be among its subject alternative names (RFC 9525). The
 * common name does not count, though OpenSSL and libcurl would accept it where there are no such names. */
#ifndef EXCHANGE_NET_CERTIFICATE_H
#define EXCHANGE_NET_CERTIFICATE_H

#include <openssl/ssl.h>
#include <stdbool.h>

/* Does it name that host, a name or an address? */
bool net_certificate_names(X509 *certificate, const char *host);

/* Connections made with it accept only that host's certificate. False without memory. */
bool net_certificate_insist(SSL_CTX *tls, const char *host);

#endif
