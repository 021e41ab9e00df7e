/* The arena's rules: the outcome of a promotion, rows as JSON and as the database has them, names, the Sharpe
 * ratio of days, and days that are merged. */
#include <errno.h>
#include <stdlib.h>

#include "daemon/arena/days.h"
#include "daemon/arena/limits.h"
#include "daemon/arena/row.h"
#include "strategy/metrics.h"
#include "tests/check.h"
#include "tests/random.h"

static const int64_t DAY_NS = 86400 * INT64_C(1000000000);

static struct arena_row row_of(const char *name, enum db_policy_role role, uint8_t id)
{
    struct arena_row row = {.role = role,
                            .since_ns = 100 + id,
                            .judged_ns = 50 + id,
                            .expires_ns = 9000 + id,
                            .path = "/checkpoints/one.safetensors",
                            .proposal = "one/7"};
    snprintf(row.name, sizeof row.name, "%s", name);
    snprintf(row.account, sizeof row.account, "%s", name);
    snprintf(row.training, sizeof row.training, "%s", name);
    memset(row.id, id, sizeof row.id);
    return row;
}

/* ---- limits ---- */

static void test_limits(void)
{
    const struct policy_limits file = {.exposure = 0.8, .stop_loss = 0.1},
                               configured = {.exposure = 0.6, .daily_loss = 0.05};
    struct arena_limits given = {.values = {.exposure_symbol = 0.3}};
    struct policy_limits limits;
    char why[2 * POLICY_LIMITS_TEXT_MAX] = "";
    for (int i = 0; i < POLICY_LIMITS_N; i++) {
        CHECK(i == 0 || strcmp(policy_limit_keys[i - 1].name, policy_limit_keys[i].name) < 0);
        given.given[i] = strcmp(policy_limit_keys[i].name, "exposure_symbol") == 0 ||
                         strcmp(policy_limit_keys[i].name, "stop_loss") == 0;
    }
    CHECK_INT(arena_limits_new(&file, &configured, &given, &limits, why), 0);
    policy_limits_text(&limits, why);
    CHECK_STR(why, "daily_loss 0.05, exposure 0.6, exposure_symbol 0.3");
    CHECK_INT(arena_limits_again("one", &limits, &given, why), 0);
    CHECK_INT(arena_limits_again("one", &limits, &(struct arena_limits){0}, why), 0);
    given.values.exposure_symbol = 0.4;
    CHECK_INT(arena_limits_again("one", &limits, &given, why), -EINVAL);
    CHECK(strstr(why, "exposure_symbol is 0.3 and not 0.4") && strstr(why, "retire"));
    given.values.exposure_symbol = 0.7;
    CHECK_INT(arena_limits_new(&file, &configured, &given, &limits, why), -EINVAL);
    CHECK(strncmp(why, "exposure_symbol: ", 17) == 0);
    policy_limits_text(&(struct policy_limits){0}, why);
    CHECK_STR(why, "none");
}

/* ---- steps ---- */

static void test_promotion(void)
{
    struct arena_row row = row_of("one", DB_POLICY_CHALLENGER, 1);
    CHECK_INT(arena_promotion(NULL, false), ARENA_CHALLENGE);
    CHECK_INT(arena_promotion(NULL, true), ARENA_CHALLENGE);
    CHECK_INT(arena_promotion(&row, false), ARENA_CROWN);
    CHECK_INT(arena_promotion(&row, true), ARENA_SWAP);
    row.role = DB_POLICY_CHAMPION;
    CHECK_INT(arena_promotion(&row, false), ARENA_SWAP);
    CHECK_INT(arena_promotion(&row, true), ARENA_SWAP);
    row.role = DB_POLICY_RETIRED;
    CHECK_INT(arena_promotion(&row, false), ARENA_CHALLENGE);
    CHECK(arena_step_needs_file(ARENA_CHALLENGE) && arena_step_needs_file(ARENA_SWAP));
    CHECK(!arena_step_needs_file(ARENA_CROWN) && !arena_step_needs_file(ARENA_RETIRE));
}

/* A promotion that is to lead to a role leads there, or is refused in words. */
static void test_wrong_role(void)
{
    struct arena_row row = row_of("one", DB_POLICY_CHALLENGER, 1);
    const char *code;
    CHECK(!arena_wrong_role(ARENA_CHALLENGE, NULL, DB_POLICY_CHALLENGER, &code));
    CHECK_STR(arena_wrong_role(ARENA_CHALLENGE, NULL, DB_POLICY_CHAMPION, &code),
              "is no challenger yet, which comes before champion");
    CHECK_STR(code, "EINVAL");
    CHECK(!arena_wrong_role(ARENA_CROWN, &row, DB_POLICY_CHAMPION, &code));
    CHECK_STR(arena_wrong_role(ARENA_CROWN, &row, DB_POLICY_CHALLENGER, &code),
              "is a challenger already: its next step is champion");
    CHECK_STR(code, "EALREADY");
    CHECK(!arena_wrong_role(ARENA_SWAP, &row, DB_POLICY_CHALLENGER, &code));
    CHECK(strstr(arena_wrong_role(ARENA_SWAP, &row, DB_POLICY_CHAMPION, &code), "args.path"));
    CHECK_STR(code, "EINVAL");
    row.role = DB_POLICY_CHAMPION;
    CHECK(!arena_wrong_role(ARENA_SWAP, &row, DB_POLICY_CHAMPION, &code));
    CHECK(strstr(arena_wrong_role(ARENA_SWAP, &row, DB_POLICY_CHALLENGER, &code), "is the champion"));
    CHECK_STR(code, "EINVAL");
    row.role = DB_POLICY_RETIRED;
    CHECK(!arena_wrong_role(ARENA_CHALLENGE, &row, DB_POLICY_CHALLENGER, &code));
    CHECK(strstr(arena_wrong_role(ARENA_CHALLENGE, &row, DB_POLICY_CHAMPION, &code), "no challenger yet"));
}

static struct arena_row rows[2];
static const char *accounts[2];
static int n_accounts;
static const char *why; /* of a step */

static int take(enum arena_step step, const struct arena_row *row, const struct arena_row *champion,
                const struct arena_row *next)
{
    memset(rows, 0x5a, sizeof rows);
    accounts[0] = accounts[1] = NULL;
    return arena_take_step(step, row, champion, next, why, 5000, rows, accounts, &n_accounts);
}

static void test_steps(void)
{
    struct arena_row one = row_of("one", DB_POLICY_CHALLENGER, 1);
    struct arena_row two = row_of("two", DB_POLICY_CHAMPION, 2), next = row_of("one", DB_POLICY_RETIRED, 3);

    CHECK_INT(take(ARENA_CHALLENGE, NULL, &two, &next), 1);
    CHECK_INT(rows[0].role, DB_POLICY_CHALLENGER);
    CHECK_INT(rows[0].since_ns, 5000);
    CHECK_INT(n_accounts, 1);
    CHECK_STR(accounts[0], "one");

    CHECK_INT(take(ARENA_CROWN, &one, &two, &one), 2); /* the one before gives up its role first */
    CHECK_STR(rows[0].name, "two");
    CHECK_INT(rows[0].role, DB_POLICY_CHALLENGER);
    CHECK_INT(rows[0].since_ns, 5000);
    CHECK_STR(rows[0].reason, "one became champion");
    CHECK(memcmp(rows[0].id, two.id, sizeof two.id) == 0);
    CHECK_INT(rows[1].role, DB_POLICY_CHAMPION);
    CHECK(memcmp(rows[1].id, one.id, sizeof one.id) == 0);
    CHECK_INT(n_accounts, 1);
    CHECK_STR(accounts[0], "champion");

    CHECK_INT(take(ARENA_CROWN, &one, NULL, &one), 1);
    CHECK_STR(rows[0].name, "one");
    CHECK_INT(rows[0].role, DB_POLICY_CHAMPION);
    CHECK_INT(n_accounts, 1);

    CHECK_INT(take(ARENA_SWAP, &one, &two, &next), 1); /* since when it is in its role stays */
    CHECK_INT(rows[0].role, DB_POLICY_CHALLENGER);
    CHECK_INT(rows[0].since_ns, one.since_ns);
    CHECK(memcmp(rows[0].id, next.id, sizeof next.id) == 0);
    CHECK_INT(n_accounts, 1);

    one.role = DB_POLICY_CHAMPION;
    CHECK_INT(take(ARENA_SWAP, &one, &one, &next), 1);
    CHECK_INT(rows[0].role, DB_POLICY_CHAMPION);
    CHECK_INT(n_accounts, 2);
    CHECK_STR(accounts[0], "one");
    CHECK_STR(accounts[1], "champion");

    CHECK_INT(take(ARENA_RETIRE, &one, &one, &one), 1);
    CHECK_INT(rows[0].role, DB_POLICY_RETIRED);
    CHECK_INT(rows[0].since_ns, 5000);
    CHECK_INT(n_accounts, 2);
    one.role = DB_POLICY_CHALLENGER;
    CHECK_INT(take(ARENA_RETIRE, &one, &two, &one), 1);
    CHECK_INT(n_accounts, 1);
    CHECK_STR(accounts[0], "one");
}

/* From when on days count, until when it trades, and why. */
static void test_judged(void)
{
    struct arena_row one = row_of("one", DB_POLICY_CHALLENGER, 1);
    struct arena_row two = row_of("two", DB_POLICY_CHAMPION, 2), next = row_of("one", DB_POLICY_RETIRED, 3);

    why = "admitted: because";
    take(ARENA_CHALLENGE, NULL, &two, &next);
    CHECK_INT(rows[0].judged_ns, 5000);
    CHECK_INT(rows[0].expires_ns, next.expires_ns);
    CHECK_STR(rows[0].reason, why);
    CHECK_STR(rows[0].proposal, "one/7");

    take(ARENA_SWAP, &one, &two,
         &next); /* the study's next policy in its slot: what is judged is the study */
    CHECK_INT(rows[0].judged_ns, one.judged_ns);
    next.proposal[0] = '\0';
    take(ARENA_SWAP, &one, &two, &next); /* by hand */
    CHECK_INT(rows[0].judged_ns, 5000);
    next = row_of("one", DB_POLICY_RETIRED, 3);
    one.proposal[0] = '\0';
    take(ARENA_SWAP, &one, &two, &next); /* after one by hand */
    CHECK_INT(rows[0].judged_ns, 5000);
    take(ARENA_SWAP, &two, &two, &next); /* the champion is another then */
    CHECK_INT(rows[0].judged_ns, 5000);

    one = row_of("one", DB_POLICY_CHALLENGER, 1);
    take(ARENA_CROWN, &one, &two, &one);
    CHECK_INT(rows[0].judged_ns, 5000); /* the former champion's evidence restarts */
    CHECK_INT(rows[0].expires_ns, two.expires_ns);
    CHECK_STR(rows[0].reason, "one became champion");
    CHECK_INT(rows[1].judged_ns, one.judged_ns);
    CHECK_INT(rows[1].expires_ns, one.expires_ns);
    CHECK_STR(rows[1].reason, why);

    why = "expired";
    take(ARENA_RETIRE, &one, &two, &one);
    CHECK_STR(rows[0].reason, "expired");
    CHECK_INT(rows[0].expires_ns, 0);
    CHECK_INT(rows[0].judged_ns, one.judged_ns);
    why = NULL;
    take(ARENA_RETIRE, &one, &two, &one);
    CHECK_STR(rows[0].reason, "by command");
}

/* A study has two slots at most, never its champion's, nor one of another hand. */
static void test_slots(void)
{
    enum { NONE, GONE, MINE, REIGNS, HAND, OTHER };
    static const struct {
        int first, second;
        const char *slot; /* NULL: none */
    } cases[] = {
        {NONE, NONE, "s"},     {MINE, NONE, "s"},     {REIGNS, NONE, "s.2"}, {GONE, NONE, "s"},
        {REIGNS, MINE, "s.2"}, {REIGNS, GONE, "s.2"}, {MINE, REIGNS, "s"},   {GONE, REIGNS, "s"},
        {GONE, MINE, "s.2"},   {NONE, MINE, "s.2"},   {MINE, MINE, "s"},     {GONE, GONE, "s"},
        {HAND, NONE, "s.2"},   {HAND, MINE, "s.2"},   {HAND, GONE, "s.2"},   {HAND, HAND, NULL},
        {HAND, REIGNS, NULL},  {REIGNS, HAND, NULL},  {REIGNS, OTHER, NULL}, {NONE, HAND, "s"},
        {MINE, HAND, "s"},     {OTHER, NONE, "s.2"},  {OTHER, OTHER, NULL},  {NONE, OTHER, "s"},
    };
    char name[ACCOUNT_NAME_MAX];
    arena_second_name("s", name);
    CHECK_STR(name, "s.2");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena_row rows_of[2];
        const struct arena_row *has[2];
        for (int k = 0; k < 2; k++) {
            int is = k == 0 ? cases[i].first : cases[i].second;
            rows_of[k] = row_of(k == 0 ? "s" : "s.2",
                                is == GONE     ? DB_POLICY_RETIRED
                                : is == REIGNS ? DB_POLICY_CHAMPION
                                               : DB_POLICY_CHALLENGER,
                                1);
            snprintf(rows_of[k].training, sizeof rows_of[k].training, "%s", is == OTHER ? "t" : "s");
            if (is == HAND)
                rows_of[k].proposal[0] = '\0';
            has[k] = is == NONE ? NULL : &rows_of[k];
        }
        const char *slot = arena_slot_for("s", has[0], name, has[1]);
        CHECK_STR(slot ? slot : "none", cases[i].slot ? cases[i].slot : "none");
    }
    arena_second_name("a234567890123456789012345678901", name);
    CHECK_STR(name, "a2345678901234567890123456789.2");
    CHECK(!arena_name_refusal(name));
}

/* Whatever is asked for, one champion at most, and what trades where follows from the rows. */
static void test_any_order(void)
{
    enum { NAMES = 4, STEPS = 4000 };
    struct arena_row table[NAMES];
    bool there[NAMES] = {false};
    uint8_t trades[NAMES + 1] = {0}; /* by which policy; [NAMES]: on the account champion; 0: none */
    struct random random = random_seeded("daemon/arena", 20261122);
    for (int i = 0; i < STEPS; i++) {
        int at = (int)random_between(&random, 0, NAMES - 1), crowned = -1;
        char name[2] = {(char)('a' + at), 0};
        for (int k = 0; k < NAMES; k++)
            if (there[k] && table[k].role == DB_POLICY_CHAMPION)
                crowned = k;
        struct arena_row *row = there[at] ? &table[at] : NULL;
        bool retires = row && row->role != DB_POLICY_RETIRED && random_chance(&random, 25);
        enum arena_step step = retires ? ARENA_RETIRE : arena_promotion(row, random_chance(&random, 50));
        struct arena_row next = row ? *row : row_of(name, DB_POLICY_RETIRED, 0);
        if (arena_step_needs_file(step))
            memset(next.id, (int)random_between(&random, 1, 255), sizeof next.id);
        int n = take(step, row, crowned >= 0 ? &table[crowned] : NULL, &next);
        for (int k = 0; k < n; k++) {
            table[rows[k].name[0] - 'a'] = rows[k];
            there[rows[k].name[0] - 'a'] = true;
        }
        for (int k = 0; k < n_accounts; k++)
            trades[strcmp(accounts[k], "champion") == 0 ? NAMES : accounts[k][0] - 'a'] =
                step == ARENA_RETIRE ? 0 : next.id[0];
        uint8_t champions = 0, champion = 0;
        for (int k = 0; k < NAMES; k++) {
            bool is = there[k] && table[k].role == DB_POLICY_CHAMPION;
            champions += is;
            champion = is ? table[k].id[0] : champion;
            CHECK_INT(trades[k], there[k] && table[k].role != DB_POLICY_RETIRED ? table[k].id[0] : 0);
        }
        CHECK(champions <= 1);
        CHECK_INT(trades[NAMES], champion);
    }
}

static void test_names(void)
{
    CHECK(!arena_name_refusal("ppo-btc_1.5"));
    CHECK(arena_name_refusal(""));
    CHECK(arena_name_refusal("a b"));
    CHECK(arena_name_refusal("champion"));
    CHECK(!arena_name_refusal("champion2"));
    CHECK(!arena_name_refusal("a234567890123456789012345678901"));
    CHECK(arena_name_refusal("a2345678901234567890123456789012"));
}

/* ---- rows ---- */

static bool same(const struct arena_row *a, const struct arena_row *b)
{
    return strcmp(a->name, b->name) == 0 && strcmp(a->account, b->account) == 0 &&
           strcmp(a->training, b->training) == 0 && strcmp(a->path, b->path) == 0 &&
           strcmp(a->reason, b->reason) == 0 && a->role == b->role && a->since_ns == b->since_ns &&
           a->judged_ns == b->judged_ns && a->expires_ns == b->expires_ns &&
           strcmp(a->proposal, b->proposal) == 0 && memcmp(a->id, b->id, sizeof a->id) == 0;
}

static void test_rows(void)
{
    struct arena_row row = row_of("one", DB_POLICY_CHAMPION, 0xa7), back = {0};
    struct db_policy stored;
    snprintf(row.reason, sizeof row.reason, "why");
    json_t *object = arena_row_object(&row);
    CHECK_INT(arena_row_parse(object, &back), 0);
    CHECK(same(&row, &back));
    CHECK_STR(json_string_value(json_object_get(object, "role")), "champion");

    memset(&back, 0, sizeof back);
    arena_row_stored(&row, &stored);
    CHECK_INT(arena_row_of(&stored, &back), 0);
    CHECK(same(&row, &back));

    static const char *const members[] = {"name", "role",   "account",  "id",
                                          "path", "reason", "since_ns", "training"};
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        json_t *without = json_copy(object), *other = json_copy(object);
        json_object_del(without, members[i]);
        json_object_set_new(other, members[i], json_real(1.5));
        CHECK_INT(arena_row_parse(without, &back), -EINVAL);
        CHECK_INT(arena_row_parse(other, &back), -EINVAL);
        json_decref(without);
        json_decref(other);
    }
    static const char *const bad[][2] = {{"role", "king"},
                                         {"id", "a7"},
                                         {"name", "a2345678901234567890123456789012"},
                                         {"account", "a2345678901234567890123456789012"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        json_t *other = json_copy(object);
        json_object_set_new(other, bad[i][0], json_string(bad[i][1]));
        CHECK_INT(arena_row_parse(other, &back), -EINVAL);
        json_decref(other);
    }
    static const char *const later[] = {"proposal", "judged_ns", "expires_ns"};
    struct arena_row old = {0};
    json_t *before = json_copy(object); /* as events of before have it */
    for (size_t i = 0; i < sizeof later / sizeof *later; i++) {
        json_t *other = json_copy(object);
        json_object_set_new(other, later[i], json_true());
        CHECK_INT(arena_row_parse(other, &back), -EINVAL);
        json_object_del(before, later[i]);
        json_decref(other);
    }
    CHECK_INT(arena_row_parse(before, &old), 0);
    CHECK_INT(old.judged_ns, row.since_ns);
    CHECK_INT(old.expires_ns, 0);
    CHECK_STR(old.proposal, "");
    json_decref(before);
    CHECK_INT(arena_row_parse(NULL, &back), -EINVAL);
    CHECK(same(&row, &back)); /* untouched by what was refused */
    json_decref(object);
}

/* ---- days ---- */

static void test_days(void)
{
    struct arena_days days = {0};
    CHECK(isnan(arena_days_sharpe(&days)));
    CHECK_INT(arena_days_from(&days), 0);
    CHECK_INT(arena_days_add(&days, 20000 * DAY_NS + 5, 1000), 0);
    CHECK_INT(arena_days_add(&days, 20000 * DAY_NS + 6, 1010), 0);
    CHECK_INT(days.n, 1);
    CHECK(isnan(arena_days_sharpe(&days))); /* one day */
    CHECK_INT(arena_days_add(&days, 20001 * DAY_NS, 999), 0);
    CHECK_INT(arena_days_add(&days, 20002 * DAY_NS - 1, 1005), 0);
    CHECK_INT(arena_days_from(&days), 20001 * DAY_NS);
    /* returns of 1 % and of 1005 / 1010 - 1, by hand: mean / deviation (ddof 1) * sqrt(365) */
    double a = 0.01, b = 1005.0 / 1010.0 - 1, mean = (a + b) / 2;
    double deviation = sqrt((a - mean) * (a - mean) + (b - mean) * (b - mean));
    CHECK_NEAR(arena_days_sharpe(&days), mean / deviation * sqrt(365.0), 1e-12);

    CHECK_INT(arena_days_add(&days, 20004 * DAY_NS + 1, 1005), 0); /* two days without a point */
    CHECK_INT(days.n, 5);
    CHECK_NEAR(days.day[2].equity, 1005, 0);
    CHECK_NEAR(days.day[4].equity, 1005, 0);
    CHECK_INT(arena_days_add(&days, 20001 * DAY_NS, 1), 0); /* before the newest: it is over */
    CHECK_NEAR(days.day[1].equity, 1005, 0);
    arena_days_finish(&days);

    CHECK_INT(arena_days_add(&days, DAY_NS, 100), 0);
    CHECK_INT(arena_days_add(&days, 2 * DAY_NS, 100), 0);
    CHECK(isnan(arena_days_sharpe(&days))); /* no day differs */
    arena_days_finish(&days);
}

/* Deposits and withdrawals are neither gain nor loss; an account that was reset has no return that day. */
static void test_flows(void)
{
    struct arena_days days = {0}, same = {0};
    CHECK_INT(arena_days_flow(&days, DAY_NS, 5), 0); /* before the first point: part of it */
    for (int day = 0; day < 5; day++) {
        double worth = 1000 * (1 + 0.01 * (day % 3));
        CHECK_INT(arena_days_add(&days, (10 + day) * DAY_NS + 7, day >= 2 ? worth + 50 : worth), 0);
        CHECK_INT(arena_days_add(&same, (10 + day) * DAY_NS + 7, worth), 0);
    }
    CHECK_INT(arena_days_flow(&days, 10 * DAY_NS + 7, 77), 0); /* it is in the first point */
    CHECK_INT(arena_days_flow(&days, 12 * DAY_NS + 3, 70), 0);
    CHECK_INT(arena_days_flow(&days, 12 * DAY_NS + 4, -20), 0);
    CHECK(isnan(arena_days_return(&days, 10))); /* nothing before it */
    CHECK_NEAR(arena_days_return(&days, 11), 0.01, 1e-12);
    CHECK_NEAR(arena_days_return(&days, 12), 1020.0 / 1010 - 1, 1e-12);
    CHECK_NEAR(arena_days_return(&days, 13), 1050.0 / 1070 - 1, 1e-12);
    CHECK(isnan(arena_days_return(&days, 15)));
    CHECK(isnan(arena_days_return(&days, 9)));
    CHECK(arena_days_sharpe(&same) > 0 && arena_days_sharpe(&days) > 0);

    CHECK_INT(arena_days_flow(&days, 14 * DAY_NS, 60), 0);
    CHECK(isfinite(arena_days_return(&days, 14)));
    CHECK_INT(arena_days_flow(&days, 14 * DAY_NS, -60), 0); /* 120 of 1050: gains on it are on another base */
    CHECK(isnan(arena_days_return(&days, 14)));
    days.day[4].moved = 0;

    CHECK_INT(arena_days_reset(&days, 13 * DAY_NS), 0);
    CHECK(isnan(arena_days_return(&days, 13)));
    CHECK_NEAR(arena_days_return(&days, 14), 1060.0 / 1050 - 1, 1e-12);

    CHECK_INT(arena_days_flow(&days, 16 * DAY_NS, 10),
              0); /* days without a point: no return, then all of it */
    CHECK_INT(days.n, 7);
    CHECK(isnan(arena_days_return(&days, 15)) && isnan(arena_days_return(&days, 16)));
    CHECK_INT(arena_days_add(&days, 17 * DAY_NS, 1166), 0);
    CHECK_NEAR(arena_days_return(&days, 17), 1166.0 / 1060 - 1, 1e-12);
    arena_days_finish(&days);
    arena_days_finish(&same);
}

/* ---- merged ---- */

static int memory_for = -1; /* so many more allocations of days; below 0: all */

void *reallocarray(void *at, size_t n, size_t size) /* in the place of the library's */
{
    if (memory_for == 0)
        return NULL;
    memory_for -= memory_for > 0;
    return realloc(at, n * size);
}

/* What an account's reader has from day `first` on: a point a day, up to and with day `last`. */
static struct arena_days read_from(int64_t first, int64_t last)
{
    struct arena_days days = {0};
    for (int64_t day = first; day <= last; day++)
        CHECK_INT(arena_days_add(&days, day * DAY_NS + 7, 1000 + (double)day), 0);
    return days;
}

static void check_same(const struct arena_days *days, const struct arena_days *wanted)
{
    CHECK_INT(days->n, wanted->n);
    CHECK_INT(days->first, wanted->first);
    for (size_t i = 0; i < days->n && i < wanted->n; i++) {
        CHECK_NEAR(days->day[i].equity, wanted->day[i].equity, 0);
        CHECK_NEAR(days->day[i].flow, wanted->day[i].flow, 0);
        CHECK_NEAR(days->day[i].moved, wanted->day[i].moved, 0);
        CHECK_INT(days->day[i].seen, wanted->day[i].seen);
        CHECK_INT(days->day[i].reset, wanted->day[i].reset);
    }
}

/* Each flow is in the days once, wherever memory ends and however often they are merged again: with what was
 * read then, or with what is read again. */
static void test_merged(void)
{
    static const struct arena_flow flows[] = {
        {.id = 3, .ts_ns = 12 * DAY_NS, .amount = 50},
        {.id = 4, .ts_ns = 40 * DAY_NS, .amount = -20},
        {.id = 9, .ts_ns = 100 * DAY_NS, .reset = true},
        {.id = 10, .ts_ns = 300 * DAY_NS, .amount = 5},
    };
    enum { FLOWS = sizeof flows / sizeof *flows };
    struct arena_days wanted = read_from(10, 29);
    for (size_t i = 0; i < FLOWS; i++)
        CHECK_INT(flows[i].reset ? arena_days_reset(&wanted, flows[i].ts_ns)
                                 : arena_days_flow(&wanted, flows[i].ts_ns, flows[i].amount),
                  0);
    int failed = 0;
    for (int memory = 0; memory < 8; memory++)
        for (int again = 0; again < 2; again++) {
            struct arena_days days = {0}, more = read_from(10, 14);
            uint64_t newest = 0;
            CHECK_INT(arena_days_merge(&days, &newest, &more, flows, 1), 0);
            CHECK_INT(newest, 3);
            CHECK_INT(more.n, 0); /* taken over */
            more = read_from(14, 29);
            memory_for = memory;
            int r = arena_days_merge(&days, &newest, &more, flows, FLOWS);
            memory_for = -1;
            if (r < 0) {
                failed++;
                CHECK_INT(r, -ENOMEM);
                CHECK(newest < 10);
                if (again) {
                    arena_days_finish(&more);
                    more = read_from(arena_days_from(&days) / DAY_NS, 29);
                }
                r = arena_days_merge(&days, &newest, &more, flows, FLOWS);
            }
            CHECK_INT(r, 0);
            CHECK_INT(newest, 10);
            check_same(&days, &wanted);
            arena_days_finish(&more);
            arena_days_finish(&days);
        }
    CHECK(failed >= 8); /* in the points, and in the flows */
    arena_days_finish(&wanted);
}

int main(void)
{
    test_limits();
    test_promotion();
    test_wrong_role();
    test_steps();
    test_judged();
    test_slots();
    test_any_order();
    test_names();
    test_rows();
    test_days();
    test_flows();
    test_merged();
    return check_done("daemon/arena");
}
