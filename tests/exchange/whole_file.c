/* Files that are read whole: their limit, and what is not a file. */
#include "exchange/whole_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/check.h"
#include "tests/scratch.h"

static void make(const char *name, const char *bytes, size_t n)
{
    struct whole_file file;
    CHECK_INT(whole_file_open(scratch_path(name), ".new", 0600, &file), 0);
    CHECK_INT(whole_file_close(&file, whole_file_put(&file, bytes, n)), 0);
}

/* 0: these bytes, and a NUL behind them; what fails touches nothing. */
static int reads(const char *name, size_t most, const char *bytes, size_t n)
{
    char untouched, *got = &untouched;
    size_t got_n = 77;
    int r = whole_file_read(scratch_path(name), most, &got, &got_n);
    if (r == 0) {
        CHECK_INT(got_n, n);
        CHECK(memcmp(got, bytes, n) == 0 && got[n] == '\0');
        free(got);
    } else {
        CHECK(got == &untouched && got_n == 77);
    }
    return r;
}

static void test_limit(void)
{
    static const char bytes[] = "a\0b\nc"; /* a NUL in it is a byte like any other */
    size_t n = sizeof bytes - 1;
    make("five", bytes, n);
    CHECK_INT(reads("five", n, bytes, n), 0);
    CHECK_INT(reads("five", SIZE_MAX, bytes, n), 0);
    CHECK_INT(reads("five", n - 1, bytes, n), -EFBIG);
    CHECK_INT(reads("five", 0, bytes, n), -EFBIG);
    make("empty", "", 0);
    CHECK_INT(reads("empty", 0, "", 0), 0);
    CHECK_INT(reads("empty", 10, "", 0), 0);
}

static void test_no_file(void)
{
    CHECK_INT(reads("nothing", 10, "", 0), -ENOENT);
    CHECK_INT(mkdir(scratch_path("folder"), 0700), 0);
    CHECK_INT(reads("folder", SIZE_MAX, "", 0), -EINVAL);
    CHECK_INT(mkfifo(scratch_path("fifo"), 0600), 0);
    CHECK_INT(reads("fifo", 10, "", 0), -EINVAL); /* no process writes to it: a read would block */
}

int main(void)
{
    test_limit();
    test_no_file();
    return check_done("exchange/whole_file");
}
