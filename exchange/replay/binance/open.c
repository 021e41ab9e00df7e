#include "exchange/replay/binance/protocol.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "exchange/replay/bars.h"
#include "exchange/replay/recording.h"
#include "exchange/replay/synthetic.h"

#define NS_PER_S 1000000000LL

static void report_gaps(struct replay_source *source)
{
    size_t gaps;
    int64_t missing;
    bars_gaps(source, &gaps, &missing);
    if (gaps > 0)
        fprintf(stderr, "papertape-replay: gaps in the bars: %zu, %" PRId64 " bars missing: kept as gaps\n",
                gaps, missing);
}

int replay_open_source(const struct options *options, struct tape *tape, struct replay_source **ret,
                       char error[static SOURCE_ERROR_MAX])
{
    snprintf(error, SOURCE_ERROR_MAX, "out of memory");
    if (options->n_recordings > 0)
        return replay_recording_create(tape, options->recordings, options->n_recordings, options->from_ns,
                                       options->to_ns, ret, error);
    if (options->n_bars > 0) {
        int rc = bars_create(tape, options->bars, options->n_bars, options->interval, options->from_ns,
                             options->to_ns, ret, error);
        if (rc == 0)
            report_gaps(*ret);
        return rc;
    }
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    struct synthetic_config config = {
        .seed = options->seed,
        .start_ns = options->from_ns != INT64_MIN ? options->from_ns : (int64_t)now.tv_sec * NS_PER_S,
        .end_ns = options->to_ns,
        .symbols = options->symbols > 0 ? (int)options->symbols : 2,
        .rate = options->rate,
    };
    return replay_synthetic_create(tape, &config, ret);
}
