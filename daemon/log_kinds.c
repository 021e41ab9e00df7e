#include "daemon/log_kinds.h"

#define ROW(name, event, level, id, subject, text) \
    [LOG_##name] = {event, LOG_LEVEL_##level, id, subject, text},
const struct log_kind_row daemon_log_kinds[LOG_KINDS_N] = {LOG_KINDS(ROW)};
