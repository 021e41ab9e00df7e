#include "exchange/lazy_library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "exchange/exit_status.h"

static void *load(struct lazy_library *library)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

    pthread_mutex_lock(&mutex);
    if (!library->handle)
        library->handle = dlopen(library->file, RTLD_NOW | RTLD_LOCAL);
    void *handle = library->handle;
    pthread_mutex_unlock(&mutex);
    return handle;
}

void *lazy_library_function(struct lazy_library *library, void **known, const char *name)
{
    void *function = __atomic_load_n(known, __ATOMIC_ACQUIRE);

    if (function)
        return function;
    void *handle = load(library);
    function = handle ? dlsym(handle, name) : NULL;
    if (!function) {
        fprintf(stderr, "%s is needed: %s\n", library->file, dlerror());
        _exit(EXIT_USAGE); /* as another start would find it again */
    }
    __atomic_store_n(known, function, __ATOMIC_RELEASE);
    return function;
}
