/* Bytes as an event of the log: what is taken for one can be put back, and is then the same bytes where they
 * were of the newest layout.
 *
 *   build-fuzz/tests/fuzz/event_fuzz -max_total_time=60 -max_len=4096 NEW_CORPUS tests/fuzz/corpus_event
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct event_memory memory;
    static struct codec codec;
    struct event event = {0};
    int r = event_decode(data, size, &memory, &event);
    must(r == 0 || r == -EBADMSG || r == -ENOTSUP || r == -ENOPKG || r == -ENOMEM);
    if (r < 0)
        return 0;
    must(event.kind < EVENT_KINDS);
    must(event_encode(&event, &codec) == 0);
    if (data[0] == EVENT_RECORD_VERSION) /* older ones lack what it holds */
        must(codec.len == size && memcmp(codec.bytes, data, size) == 0);
    return 0;
}
