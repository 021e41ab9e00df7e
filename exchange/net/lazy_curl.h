/* libcurl, which is loaded at its first use: where that may be reported. */
#ifndef EXCHANGE_NET_LAZY_CURL_H
#define EXCHANGE_NET_LAZY_CURL_H

#include <stddef.h>

int net_curl_load(char *err, size_t err_size); /* as lazy_library_load() */

#endif
