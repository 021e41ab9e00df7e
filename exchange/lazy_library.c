#include "exchange/lazy_library.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "exchange/exit_status.h"
#include "exchange/fail.h"

enum { ERROR_MAX = 256 };

static int fail(const struct lazy_library *library, char *err, size_t err_size)
{
    const char *why = dlerror();
    return fail_line(-ELIBACC, err, err_size, NULL, "%s is needed: %s", library->file,
                     why ? why : "it is not there");
}

int lazy_library_load(struct lazy_library *library, char *err, size_t err_size)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

    pthread_mutex_lock(&mutex);
    if (!library->handle)
        library->handle = dlopen(library->file, RTLD_NOW | RTLD_LOCAL);
    int r = library->handle ? 0 : fail(library, err, err_size);
    pthread_mutex_unlock(&mutex);
    return r;
}

static void (*before_end)(void);

void lazy_library_before_end(void (*call)(void))
{
    __atomic_store_n(&before_end, call, __ATOMIC_RELEASE);
}

void *lazy_library_function(struct lazy_library *library, void **known, const char *name)
{
    void *function = __atomic_load_n(known, __ATOMIC_ACQUIRE);

    if (function)
        return function;
    char err[ERROR_MAX];
    int r = lazy_library_load(library, err, sizeof(err));
    function = r == 0 ? dlsym(library->handle, name) : NULL;
    if (!function) {
        if (r == 0)
            fail(library, err, sizeof(err));
        void (*first)(void) = __atomic_load_n(&before_end, __ATOMIC_ACQUIRE);
        if (first)
            first();
        fprintf(stderr, "%s\n", err);
        _exit(EXIT_USAGE); /* as another start would find it again */
    }
    __atomic_store_n(known, function, __ATOMIC_RELEASE);
    return function;
}
