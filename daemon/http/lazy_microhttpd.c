/* libmicrohttpd, at its first use. */
#include <microhttpd.h>
#include <stdarg.h>

#include "daemon/http/server.h"
#include "exchange/lazy_library.h"

typedef struct MHD_Daemon *server;
typedef struct MHD_Connection *connection;
typedef struct MHD_Response *response;

static struct lazy_library lib = {.file = "libmicrohttpd.so.12"};

int daemon_http_server_load(char *err, size_t err_size)
{
    return lazy_library_load(&lib, err, err_size);
}

struct MHD_Daemon *MHD_start_daemon(unsigned flags, uint16_t port, MHD_AcceptPolicyCallback accept,
                                    void *accept_user, MHD_AccessHandlerCallback handler, void *handler_user,
                                    ...)
{
    static void *known;
    __typeof__(&MHD_start_daemon_va) function = lazy_library_function(&lib, &known, "MHD_start_daemon_va");
    va_list options;

    va_start(options, handler_user);
    server started = function(flags, port, accept, accept_user, handler, handler_user, options);
    va_end(options);
    return started;
}

LAZY(lib, void, MHD_stop_daemon, (server s), (s))
LAZY(lib, enum MHD_Result, MHD_run, (server s), (s))
LAZY(lib, enum MHD_Result, MHD_get_timeout, (server s, unsigned long long *ret), (s, ret))
LAZY(lib, enum MHD_Result, MHD_add_connection,
     (server s, MHD_socket fd, const struct sockaddr *address, socklen_t size), (s, fd, address, size))
LAZY(lib, const union MHD_DaemonInfo *, MHD_get_daemon_info, (server s, enum MHD_DaemonInfoType what, ...),
     (s, what))

LAZY(lib, const union MHD_ConnectionInfo *, MHD_get_connection_info,
     (connection c, enum MHD_ConnectionInfoType what, ...), (c, what))
LAZY(lib, int, MHD_get_connection_values,
     (connection c, enum MHD_ValueKind kind, MHD_KeyValueIterator each, void *user), (c, kind, each, user))
LAZY(lib, const char *, MHD_lookup_connection_value, (connection c, enum MHD_ValueKind kind, const char *key),
     (c, kind, key))
LAZY(lib, enum MHD_Result, MHD_queue_response, (connection c, unsigned status, response r), (c, status, r))
LAZY(lib, void, MHD_suspend_connection, (connection c), (c))
LAZY(lib, void, MHD_resume_connection, (connection c), (c))

LAZY(lib, response, MHD_create_response_from_buffer,
     (size_t size, void *buf, enum MHD_ResponseMemoryMode mode), (size, buf, mode))
LAZY(lib, response, MHD_create_response_from_callback,
     (uint64_t size, size_t block, MHD_ContentReaderCallback read, void *user,
      MHD_ContentReaderFreeCallback free),
     (size, block, read, user, free))
LAZY(lib, enum MHD_Result, MHD_add_response_header, (response r, const char *name, const char *value),
     (r, name, value))
LAZY(lib, void, MHD_destroy_response, (response r), (r))
