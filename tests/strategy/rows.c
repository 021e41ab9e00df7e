/* Where sessions that end by the clock end, as the engine finds it bar by bar, against the environment's
 * rows: the same, also where clocks are set forward or back, and times are skipped or come twice. */
#include "strategy/policy/rows.h"
#include "exchange/zone.h"
#include "tests/check.h"
#include "trainer/env/session.h"

enum { ROWS = 400 * 24 * 4 };

static const int64_t QUARTER_NS = 900 * INT64_C(1000000000);
static const int64_t START_NS = INT64_C(1735689600000000000); /* 2025-01-01 */

static void check(const char *name, int close_s, int64_t interval_ns)
{
    static uint8_t session[ROWS];
    struct env_params params;
    struct zone *zone;
    char err[ENV_ERROR_MAX], why[ZONE_ERROR_MAX];
    size_t rows = (size_t)(ROWS * QUARTER_NS / interval_ns), leaves = 0;
    CHECK_INT(env_params_preset("day-trade", &params, err), 0);
    params.session_close_s = close_s;
    snprintf(params.session_zone, sizeof params.session_zone, "%s", name);
    CHECK_INT(env_session(&params, NULL, START_NS, interval_ns, rows, session, err), 0);
    CHECK_INT(zone_open(name, &zone, why), 0);
    const struct policy policy = {
        .interval_ns = interval_ns, .day_trade = true, .session_close_s = close_s, .zone = zone};
    const struct policy_rows of = policy_rows_of(&policy, NULL);
    for (size_t row = 0; row < rows; row++) {
        bool right = (session[row] & ENV_ROW_LEAVES) != 0;
        leaves += right;
        CHECK_INT(policy_rows_leaves(&of, &policy, START_NS + (int64_t)row * interval_ns), right);
    }
    CHECK(leaves > 390 && leaves < 402);
    zone_close(zone);
}

int main(void)
{
    static const char *const zones[] = {"UTC", "America/New_York", "Europe/Berlin", "Australia/Lord_Howe"};
    static const int closes[] = {0, 3600, 9000, 57600, 86400};
    for (size_t z = 0; z < sizeof zones / sizeof *zones; z++)
        for (size_t c = 0; c < sizeof closes / sizeof *closes; c++) {
            check(zones[z], closes[c], QUARTER_NS);
            check(zones[z], closes[c], 4 * QUARTER_NS);
        }
    return check_done("strategy/rows");
}
