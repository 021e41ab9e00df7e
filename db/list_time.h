/* A filter's value that is a time, as the lists show times: "2026-11-20", "2026-11-20 09:30", "2026-11", or
 * of any day "09:30", "09:30:15". */
#ifndef DB_LIST_TIME_H
#define DB_LIST_TIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* From `from` up to `to`, which it is not any more: ns since 1970, or of any day, seconds of the day. */
struct db_list_time {
    bool of_day;
    int64_t from, to;
};

/* `local`: in the zone of this process, else UTC. False: the text is none. */
bool db_list_time_parse(const char *text, bool local, struct db_list_time *ret);

/* Can a shown time have this text in it, "1-20 09:3"? */
bool db_list_time_part(const char *text);

/* A comparison's word: '=' it is in it, '<' before its start, '>' from its end on; with `equal` one or
 * the other of both. */
bool db_list_time_matches(const struct db_list_time *time, char op, bool equal, bool local, int64_t ts_ns);

/* The same as SQL over an expression of ns. Nothing of it is the user's text. */
void db_list_time_put(const struct db_list_time *time, char op, bool equal, bool local, const char *ns,
                      char *sql, size_t size);

#endif
