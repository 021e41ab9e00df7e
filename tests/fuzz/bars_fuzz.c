/* A bars file, whatever its bytes, plain or compressed: refused with one line that names it, or bars whose
 * times rise and whose prices are possible. The first byte chooses the options. */
#include <math.h>
#include <string.h>

#include "exchange/bars_file.h"
#include "tests/fuzz/fuzz.h"

static void check(const struct bars_file *file, const struct bars_file_options *options)
{
    fail_unless(file->n > 0);
    for (size_t i = 0; i < file->n; i++) {
        fail_unless(i == 0 || file->open_time_ns[i] > file->open_time_ns[i - 1]);
        fail_unless(isfinite(file->open[i]) && isfinite(file->close[i]) && isfinite(file->high[i]) &&
                    isfinite(file->low[i]) && file->volume[i] >= 0);
        fail_unless(file->low[i] <= file->open[i] && file->open[i] <= file->high[i] &&
                    file->low[i] <= file->close[i] && file->close[i] <= file->high[i]);
        fail_unless(options->any_price || file->low[i] > 0);
    }
    for (size_t i = 0; i < file->n_gaps; i++)
        fail_unless(file->gaps[i].row < file->n && file->gaps[i].from_ns < file->gaps[i].to_ns);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[32], error[BARS_FILE_ERROR_MAX] = "";
    struct bars_file file = {0};
    if (size == 0)
        return 0;
    struct bars_file_options options = {.symbol = "X",
                                        .any_price = data[0] & 1,
                                        .repair = data[0] & 2,
                                        .zone = data[0] & 4 ? "America/New_York" : NULL};
    int fd = memory_file(data + 1, size - 1, path);
    int r = bars_file_read_with(path, &options, &file, error);
    close(fd);
    if (r == 0)
        check(&file, &options);
    else
        fail_unless(strstr(error, path) && !strchr(error, '\n'));
    bars_file_finish(&file);
    return 0;
}
