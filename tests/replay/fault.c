/* What --fault accepts, and what it says to the rest. */
#include "exchange/replay/fault.h"

#include <errno.h>

#include "tests/check.h"

int main(void)
{
    static const int64_t s = 1000000000;
    struct faults f = {0};
    char error[FAULT_ERROR_MAX];
    CHECK(!fault_silent(&f, 0));
    CHECK_INT(fault_parse(&f, "silence@30s", error), 0);
    CHECK(!fault_silent(&f, 30 * s - 1) && fault_silent(&f, 30 * s) && fault_silent(&f, 300000 * s));
    CHECK_INT(fault_parse(&f, "silence@1.5s+250ms", error), 0);
    CHECK(!fault_silent(&f, s) && fault_silent(&f, 3 * s / 2) && !fault_silent(&f, 7 * s / 4));
    CHECK_INT(fault_parse(&f, "silence@2m+1m", error), 0);
    CHECK(!fault_silent(&f, 119 * s) && fault_silent(&f, 179 * s) && !fault_silent(&f, 180 * s));
    CHECK_INT(fault_parse(&f, "close@1000", error), 0);
    CHECK_INT(f.close_after, 1000);
    CHECK_INT(fault_parse(&f, "gap@book", error), 0);
    CHECK_INT(fault_parse(&f, "garbage", error), 0);
    CHECK(f.gap_book && f.garbage);

    static const char *const later[] = {"dup",       "reorder",   "half-frame",  "429:5s",
                                        "418:60s",   "5xx",       "tls-expired", "slow:64B/s",
                                        "huge:10MB", "clock:+3s", "shutdown"};
    for (size_t i = 0; i < sizeof(later) / sizeof(*later); i++) {
        CHECK_INT(fault_parse(&f, later[i], error), -EINVAL);
        CHECK(strstr(error, "not served yet") && strstr(error, "silence@30s") && strstr(error, later[i]));
    }
    static const char *const wrong[] = {"",
                                        "silence",
                                        "silence@",
                                        "silence@30",
                                        "silence@s",
                                        "silence@-1s",
                                        "silence@1s+",
                                        "silence@1s+2",
                                        "silence@1s2s",
                                        "close@",
                                        "close@0",
                                        "close@-1",
                                        "close@1x",
                                        "gap",
                                        "gap@",
                                        "garbage@1",
                                        "close@99999999999999999999"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        struct faults none = {0};
        CHECK_INT(fault_parse(&none, wrong[i], error), -EINVAL);
        CHECK(strstr(error, "unknown fault") && strstr(error, "one of"));
    }
    return check_done("fault");
}
