/* Memory for keys: locked, in no core dump, gone after. */
#include "exchange/net/secret.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "tests/check.h"

/* The sanitizers' mlock() locks nothing and succeeds. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { LOCKS = false };
#else
enum { LOCKS = true };
#endif

/* The flags of the mapping that holds it, as " rd wr … lo … dd"; "" where nothing is mapped there. */
static const char *flags_of(const void *at)
{
    static char line[512];
    unsigned long long from, to, address = (uintptr_t)at;
    bool inside = false;
    FILE *file = fopen("/proc/self/smaps", "r");
    while (file && fgets(line, sizeof line, file)) {
        if (sscanf(line, "%llx-%llx ", &from, &to) == 2)
            inside = from <= address && address < to;
        else if (inside && strncmp(line, "VmFlags:", 8) == 0) {
            fclose(file);
            return line + 8;
        }
    }
    if (file)
        fclose(file);
    return "";
}

int main(void)
{
    static const size_t sizes[] = {1, 512, 4032, 4033, 100000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        unsigned char *memory = net_secret_alloc(sizes[i]);
        CHECK(memory != NULL && (uintptr_t)memory % 64 == 0);
        for (size_t k = 0; k < sizes[i]; k++)
            CHECK(memory[k] == 0);
        memset(memory, 0x5a, sizes[i]);
        if (LOCKS && net_secret_locked()) { /* the limit of this machine allows it */
            CHECK(strstr(flags_of(memory), " lo") != NULL);
            CHECK(strstr(flags_of(memory + sizes[i] - 1), " lo") != NULL);
        }
        CHECK(strstr(flags_of(memory), " dd") != NULL);
        net_secret_free(memory);
        CHECK_STR(flags_of(memory), "");
    }
    CHECK(net_secret_alloc(SIZE_MAX - 10) == NULL);
    net_secret_free(NULL);
    return check_done("net/secret");
}
