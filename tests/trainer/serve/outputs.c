/* Which folders are below another: by name, by "..", by symbolic links, there or not yet. */
#include "trainer/serve/internal.h"

#include "tests/check.h"
#include "tests/scratch.h"

static const char *at(const char *folder, const char *name)
{
    static char paths[8][SCRATCH_PATH_MAX + 64];
    static unsigned next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

int main(void)
{
    char state[SCRATCH_MAX], beside[SCRATCH_MAX], both[2 * SCRATCH_MAX + 8];
    scratch_make(state);
    scratch_make(beside);
    CHECK_INT(mkdir(at(state, "checkpoints"), 0700), 0);
    CHECK_INT(symlink(beside, at(state, "out")), 0);
    CHECK_INT(symlink("checkpoints", at(state, "in")), 0);
    CHECK_INT(symlink("/nonexistent/x", at(state, "dangling")), 0);

    CHECK(serve_output_is_below(state, state));
    CHECK(serve_output_is_below(state, at(state, "checkpoints")));
    CHECK(serve_output_is_below(state, at(state, "not/there/yet")));
    CHECK(serve_output_is_below(state, at(state, "in/deeper")));
    CHECK(serve_output_is_below(state, at(state, "a..b/..c")));
    CHECK(serve_output_is_below("/", beside));
    CHECK(!serve_output_is_below(state, beside));
    CHECK(!serve_output_is_below(state, at(state, "out/deeper")));
    CHECK(!serve_output_is_below(state, at(state, "dangling")));
    CHECK(!serve_output_is_below(state, at(state, "dangling/deeper")));
    CHECK(!serve_output_is_below(state, at(state, "..")));
    CHECK(!serve_output_is_below(state, at(state, "checkpoints/../x")));
    CHECK(!serve_output_is_below(state, "/"));
    CHECK(!serve_output_is_below(state, "checkpoints"));
    CHECK(!serve_output_is_below(state, ""));
    snprintf(both, sizeof both, "%sx", state); /* a name that begins as the state's does */
    CHECK(!serve_output_is_below(state, both));
    CHECK(!serve_output_is_below("/nonexistent", "/nonexistent/x"));

    CHECK(!serve_output_is_below_one(NULL, beside));
    CHECK(!serve_output_is_below_one("", beside));
    snprintf(both, sizeof both, "/nonexistent,,%s", beside);
    CHECK(serve_output_is_below_one(both, at(beside, "x")));
    CHECK(!serve_output_is_below_one(both, state));
    return check_done("trainer/serve/outputs");
}
