/* A figure as one JSON line on stdout (bench/run has the keys): bench_line_begin(), its keys,
 * bench_line_end(). One line at a time; each is flushed, so that what was measured is out even where the next
 * thing hangs. */
#ifndef BENCH_LINE_H
#define BENCH_LINE_H

/* A line of that bench and case, to which keys are added in the order of the calls. */
void bench_line_begin(const char *bench, const char *name);
void bench_line_number(const char *key, double value); /* 6 digits; null where it is not finite */
void bench_line_bytes(const char *key, double value);  /* a whole number; null likewise */
void bench_line_text(const char *key,
                     const char *value); /* UTF-8, of any length; quoted here, as all names */
void bench_line_end(void);

/* Begins a line with its value and unit, which the caller ends. */
void bench_line_value(const char *bench, const char *name, double value, const char *unit);

/* What it is compared with, and the quotient, above 1 where ours is better. */
void bench_line_peer(const char *peer, double peer_value, double ratio);

/* A whole line. */
void bench_line_figure(const char *bench, const char *name, double value, const char *unit);

#endif
