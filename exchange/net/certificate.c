#include "exchange/net/certificate.h"

#include <arpa/inet.h>
#include <openssl/x509v3.h>

static const unsigned int FLAGS = X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS;

static bool is_address(const char *host)
{
    unsigned char address[sizeof(struct in6_addr)];
    return inet_pton(AF_INET, host, address) == 1 || inet_pton(AF_INET6, host, address) == 1;
}

bool net_certificate_names(X509 *certificate, const char *host)
{
    return is_address(host) ? X509_check_ip_asc(certificate, host, FLAGS) == 1
                            : X509_check_host(certificate, host, 0, FLAGS, NULL) == 1;
}

bool net_certificate_insist(SSL_CTX *tls, const char *host)
{
    X509_VERIFY_PARAM *param = SSL_CTX_get0_param(tls);
    X509_VERIFY_PARAM_set_hostflags(param, FLAGS);
    return is_address(host) ? X509_VERIFY_PARAM_set1_ip_asc(param, host) == 1
                            : X509_VERIFY_PARAM_set1_host(param, host, 0) == 1;
}
