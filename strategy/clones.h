/* Functions compiled for several instruction sets; the program uses the best that the processor has, chosen
 * at its start. None contracts a product and a sum into one rounding (-ffp-contract=off), so all give the
 * same bits. */
#ifndef STRATEGY_CLONES_H
#define STRATEGY_CLONES_H

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define CLONES_SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CLONES_SANITIZED 1
#endif

/* The choice happens before a sanitizer is ready; clang before 15 gives the function another name than its
 * callers link to. */
#if defined(__x86_64__) && defined(__linux__) && !defined(CLONES_SANITIZED) && !defined(__clang__)
#define CLONES __attribute__((target_clones("arch=x86-64-v4", "avx2", "default")))
#else
#define CLONES
#endif

#endif
