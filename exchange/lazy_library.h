/* A library that is loaded at the first call of one of its functions, and not with the program: with
 * libcurl, libarchive and libmicrohttpd some thirty others come, 6 MB of resident memory that a dashboard
 * which never calls them does not have. A file of LAZY() rows defines the library's functions under their own
 * names, so that callers include its header and call them as ever; the program is not linked to it. */
#ifndef EXCHANGE_LAZY_LIBRARY_H
#define EXCHANGE_LAZY_LIBRARY_H

#include <stddef.h>

struct lazy_library {
    const char *file; /* the name that the header's version has: "libcurl.so.4" */
    void *handle;     /* NULL: not loaded yet */
};

/* Loads it, where it was not before: to be called where its absence can still be reported, before the first
 * of its functions. Any thread may call. 0; -ELIBACC with one line in `err`. */
int lazy_library_load(struct lazy_library *library, char *err, size_t err_size);

/* Its function `name`, kept in *known. Any thread may call. The program ends with a message on stderr where
 * the library or the function is not there: it is as needed as one that is linked. */
void *lazy_library_function(struct lazy_library *library, void **known, const char *name);

/* Is called before that end: what a program needs to do first, as a terminal that must be restored. By any
 * thread. NULL: nothing. */
void lazy_library_before_end(void (*call)(void));

/* The function of that type and those parameters and arguments, each list in parentheses. */
#define LAZY(library, type, name, parameters, arguments) \
    type name parameters \
    { \
        static void *known; \
        __typeof__(&name) function = lazy_library_function(&(library), &known, #name); \
        return function arguments; \
    }

/* Of what has one further argument of any type: a pointer, or a number as long as one. */
#define LAZY_OPTION(library, type, name, of, option) \
    type name(of first, option second, ...) \
    { \
        static void *known; \
        __typeof__(&name) function = lazy_library_function(&(library), &known, #name); \
        va_list rest; \
        va_start(rest, second); \
        void *third = va_arg(rest, void *); \
        va_end(rest); \
        return function(first, second, third); \
    }
_Static_assert(sizeof(long) == sizeof(void *), "a long argument is passed on as a pointer");

#endif
