/* libwebsockets, at its first use. */
#include <libwebsockets.h>

#include "exchange/lazy_library.h"

static struct lazy_library lib = {.file = "libwebsockets.so.17"};

LAZY(lib, int, lws_add_http_header_by_name,
     (struct lws * wsi, const unsigned char *name, const unsigned char *value, int length, unsigned char **p,
      unsigned char *end),
     (wsi, name, value, length, p, end))
LAZY(lib, int, lws_add_http_header_by_token,
     (struct lws * wsi, enum lws_token_indexes token, const unsigned char *value, int length,
      unsigned char **p, unsigned char *end),
     (wsi, token, value, length, p, end))
LAZY(lib, int, lws_callback_on_writable, (struct lws * wsi), (wsi))
LAZY(lib, struct lws *, lws_client_connect_via_info, (const struct lws_client_connect_info *ccinfo), (ccinfo))
LAZY(lib, void, lws_close_reason,
     (struct lws * wsi, enum lws_close_status status, unsigned char *buf, size_t len),
     (wsi, status, buf, len))
LAZY(lib, void, lws_context_destroy, (struct lws_context * context), (context))
LAZY(lib, struct lws_context *, lws_create_context, (const struct lws_context_creation_info *info), (info))
LAZY(lib, int, lws_frame_is_binary, (struct lws * wsi), (wsi))
LAZY(lib, const char *, lws_get_library_version, (void), ())
LAZY(lib, void *, lws_get_opaque_user_data, (const struct lws *wsi), (wsi))
LAZY(lib, unsigned char, lws_get_reserved_bits, (struct lws * wsi), (wsi))
LAZY(lib, lws_sockfd_type, lws_get_socket_fd, (struct lws * wsi), (wsi))
LAZY(lib, SSL *, lws_get_ssl, (struct lws * wsi), (wsi))
LAZY(lib, int, lws_hdr_copy, (struct lws * wsi, char *dest, int len, enum lws_token_indexes h),
     (wsi, dest, len, h))
LAZY(lib, unsigned int, lws_http_client_http_response, (struct lws * wsi), (wsi))
LAZY(lib, int, lws_is_final_fragment, (struct lws * wsi), (wsi))
LAZY(lib, size_t, lws_remaining_packet_payload, (struct lws * wsi), (wsi))
LAZY(lib, int, lws_rx_flow_control, (struct lws * wsi, int enable), (wsi, enable))
LAZY(lib, int, lws_service_fd, (struct lws_context * context, struct pollfd *pollfd), (context, pollfd))
LAZY(lib, void, lws_set_log_level, (int level, void (*log_emit_function)(int level, const char *line)),
     (level, log_emit_function))
LAZY(lib, void, lws_set_opaque_user_data, (struct lws * wsi, void *data), (wsi, data))
LAZY(lib, void, lws_set_timeout, (struct lws * wsi, enum pending_timeout reason, int secs),
     (wsi, reason, secs))
LAZY(lib, void, lws_validity_confirmed, (struct lws * wsi), (wsi))
LAZY(lib, int, lws_write,
     (struct lws * wsi, unsigned char *buf, size_t len, enum lws_write_protocol protocol),
     (wsi, buf, len, protocol))
