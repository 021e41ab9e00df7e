/* libcurl, at its first use. */
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <stdarg.h>

#include "exchange/lazy_library.h"
#include "exchange/net/lazy_curl.h"

/* Which curl.h defines to count their arguments. */
#undef curl_easy_getinfo
#undef curl_easy_setopt
#undef curl_multi_setopt

static struct lazy_library curl = {.file = "libcurl.so.4"};

int net_curl_load(char *err, size_t err_size)
{
    return lazy_library_load(&curl, err, err_size);
}

LAZY(curl, CURLcode, curl_global_init, (long flags), (flags))
LAZY(curl, void, curl_global_cleanup, (void), ())
LAZY(curl, curl_version_info_data *, curl_version_info, (CURLversion age), (age))
LAZY(curl, void, curl_free, (void *p), (p))
LAZY(curl, time_t, curl_getdate, (const char *text, const time_t *unused), (text, unused))

LAZY(curl, CURL *, curl_easy_init, (void), ())
LAZY(curl, void, curl_easy_cleanup, (CURL * easy), (easy))
LAZY(curl, void, curl_easy_reset, (CURL * easy), (easy))
LAZY_OPTION(curl, CURLcode, curl_easy_setopt, CURL *, CURLoption)
LAZY_OPTION(curl, CURLcode, curl_easy_getinfo, CURL *, CURLINFO)
LAZY(curl, CURLcode, curl_easy_perform, (CURL * easy), (easy))
LAZY(curl, const char *, curl_easy_strerror, (CURLcode code), (code))
LAZY(curl, CURLHcode, curl_easy_header,
     (CURL * easy, const char *name, size_t index, unsigned origin, int request, struct curl_header **ret),
     (easy, name, index, origin, request, ret))

LAZY(curl, CURLM *, curl_multi_init, (void), ())
LAZY(curl, CURLMcode, curl_multi_cleanup, (CURLM * multi), (multi))
LAZY_OPTION(curl, CURLMcode, curl_multi_setopt, CURLM *, CURLMoption)
LAZY(curl, CURLMcode, curl_multi_add_handle, (CURLM * multi, CURL *easy), (multi, easy))
LAZY(curl, CURLMcode, curl_multi_remove_handle, (CURLM * multi, CURL *easy), (multi, easy))
LAZY(curl, CURLMcode, curl_multi_assign, (CURLM * multi, curl_socket_t fd, void *user), (multi, fd, user))
LAZY(curl, CURLMsg *, curl_multi_info_read, (CURLM * multi, int *left), (multi, left))
LAZY(curl, CURLMcode, curl_multi_socket_action, (CURLM * multi, curl_socket_t fd, int events, int *running),
     (multi, fd, events, running))

LAZY(curl, struct curl_slist *, curl_slist_append, (struct curl_slist * list, const char *line), (list, line))
LAZY(curl, void, curl_slist_free_all, (struct curl_slist * list), (list))

LAZY(curl, CURLU *, curl_url, (void), ())
LAZY(curl, void, curl_url_cleanup, (CURLU * url), (url))
LAZY(curl, CURLUcode, curl_url_get, (CURLU * url, CURLUPart what, char **ret, unsigned flags),
     (url, what, ret, flags))
LAZY(curl, CURLUcode, curl_url_set, (CURLU * url, CURLUPart what, const char *part, unsigned flags),
     (url, what, part, flags))
