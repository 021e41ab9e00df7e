/* A large block is given back to the system when it is freed, also after a larger one was. */
#include "daemon/memory.h"

#include <malloc.h>

#include "tests/check.h"

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

enum { LARGER = 16 << 20, LARGE = 1 << 20, BLOCKS = 8 };

static void *touched(size_t size)
{
    char *block = malloc(size);
    if (!block)
        abort();
    memset(block, 1, size);
    return block;
}

static void test_given_back(void)
{
    void *blocks[BLOCKS], *behind[BLOCKS];
    free(touched(LARGER));
    size_t before = mallinfo2().hblks;
    for (int i = 0; i < BLOCKS; i++) {
        blocks[i] = touched(LARGE);
        behind[i] = touched(64); /* keeps a heap from shrinking */
    }
    CHECK_INT(mallinfo2().hblks - before, BLOCKS);
    for (int i = 0; i < BLOCKS; i++)
        free(blocks[i]);
    CHECK_INT(mallinfo2().hblks, before);
    CHECK(mallinfo2().fordblks < LARGE);
    void *small = touched(DAEMON_MEMORY_MAPPED / 2);
    CHECK_INT(mallinfo2().hblks, before);
    free(small);
    for (int i = 0; i < BLOCKS; i++)
        free(behind[i]);
}

int main(void)
{
    daemon_memory_begin();
    test_given_back();
    return check_done("daemon/memory");
}

#else

int main(void)
{
    puts("skipped: the sanitizer's allocator has rules of its own");
    return CHECK_SKIP;
}

#endif
