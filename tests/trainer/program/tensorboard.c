/* CRC-32C's known answers, and an event file for events.py, which reads it with code of its own. */
#include "trainer/telemetry/tensorboard.h"

#include <errno.h>

#include "tests/check.h"
#include "tests/scratch.h"

/* RFC 3720, appendix B.4, and the check value of the catalogue of CRCs. */
static void test_sums(void)
{
    unsigned char bytes[32] = {0};
    CHECK(telemetry_crc32c("", 0) == 0);
    CHECK(telemetry_crc32c("123456789", 9) == 0xE3069283);
    CHECK(telemetry_crc32c(bytes, 32) == 0x8A9136AA);
    memset(bytes, 0xFF, 32);
    CHECK(telemetry_crc32c(bytes, 32) == 0x62A8AB43);
    for (int i = 0; i < 32; i++)
        bytes[i] = (unsigned char)i;
    CHECK(telemetry_crc32c(bytes, 32) == 0x46DD794E);
    for (int i = 0; i < 32; i++)
        bytes[i] = (unsigned char)(31 - i);
    CHECK(telemetry_crc32c(bytes, 32) == 0x113FDB5C);
    uint32_t sum = 0xE3069283;
    CHECK(telemetry_crc32c_masked("123456789", 9) == (sum >> 15 | sum << 17) + 0xA282EAD8);
}

int main(int argc, char **argv)
{
    char err[TENSORBOARD_ERROR_MAX];
    struct tensorboard *board = NULL;
    test_sums();
    CHECK(telemetry_tensorboard_open("/proc/none", "x", -1, &board, err) < 0 && strstr(err, "/proc/none/x"));
    const char *dir = argc > 1 ? argv[1] : scratch_path("board/deep");
    int r = telemetry_tensorboard_open(dir, "run", argc > 2 ? 300 : -1, &board, err);
    CHECK_INT(r, 0);
    for (int64_t step = 0; step < 400 && r == 0; step += 100) {
        const struct tensorboard_scalar scalars[] = {{"loss/policy", -0.125 * (double)step},
                                                     {"loss/none", NAN},
                                                     {"rollout/steps_per_second", 1e6 + (double)step}};
        CHECK_INT(telemetry_tensorboard_add(board, step << 30, scalars, 3), 0);
    }
    telemetry_tensorboard_close(board);
    telemetry_tensorboard_close(NULL);
    return check_done("trainer/program/tensorboard");
}
