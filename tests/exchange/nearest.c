/* Which word was meant, and that an error keeps its number while its sentence is written. */
#include "exchange/nearest.h"

#include <errno.h>
#include <string.h>

#include "exchange/fail.h"
#include "tests/check.h"

static const char *hint_of(const char *word, const char *first, const char *second)
{
    static char hint[NEAREST_HINT_MAX];
    struct nearest nearest = {0};
    nearest_offer(&nearest, word, first);
    nearest_offer(&nearest, word, second);
    return nearest_hint(&nearest, word, hint);
}

static void test_hints(void)
{
    CHECK_STR(hint_of("wal", "wall", "feed"), ": did you mean wall?");
    CHECK_STR(hint_of("Feed", "wall", "feed"), ": did you mean feed?");
    CHECK_STR(hint_of("w", "wall", "feed"), ": did you mean wall?"); /* its beginning */
    CHECK_STR(hint_of("recieved", "sent", "received"), ": did you mean received?");
    static const char *const far[] = {"5", "", "qqq", "wax", "feeding", "wall feed"};
    for (size_t i = 0; i < sizeof far / sizeof *far; i++)
        CHECK_STR(hint_of(far[i], "wall", "feed"), ": one of wall, feed is needed");
    char hint[NEAREST_HINT_MAX];
    CHECK_STR(nearest_hint(&(struct nearest){0}, "a", hint), "");
    CHECK_STR(nearest_suggest(NULL, hint), "");
}

/* Many candidates are not listed, and a long one is cut. */
static void test_many(void)
{
    struct nearest nearest = {0};
    char hint[NEAREST_HINT_MAX], name[200];
    memset(name, 'a', sizeof name);
    name[sizeof name - 1] = '\0';
    for (int i = 0; i < 1000; i++)
        nearest_offer(&nearest, "zzzz", name);
    CHECK_STR(nearest_hint(&nearest, "zzzz", hint), "");
    nearest_offer(&nearest, "zzzz", "zzz");
    CHECK_STR(nearest_hint(&nearest, "zzzz", hint), ": did you mean zzz?");
}

static void test_kept(void)
{
    char kept[16] = "";
    nearest_keep("BTCUSDX", "ETHUSDT", kept, sizeof kept);
    CHECK_STR(kept, "");
    nearest_keep("BTCUSDX", "BTCUSD", kept, sizeof kept);
    nearest_keep("BTCUSDX", "BTCUSDTT", kept, sizeof kept);
    CHECK_STR(kept, "BTCUSD");
}

static const char *spoils_errno(void)
{
    errno = EIO;
    return "x";
}

static void test_fail(void)
{
    char err[8];
    errno = ENOENT;
    CHECK_INT(fail_with(-errno, err, sizeof err, "%s", spoils_errno()), -ENOENT);
    errno = ENOENT;
    CHECK_INT(fail_line(-errno, err, sizeof err, NULL, "%s", spoils_errno()), -ENOENT);
    CHECK_STR(err, "x");
}

int main(void)
{
    test_hints();
    test_many();
    test_kept();
    test_fail();
    return check_done("exchange/nearest");
}
