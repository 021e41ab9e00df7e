/* A Python that a verb calls for pyarrow: started without a shell, with the scripts of this program in
 * memory, an archive, so that both are always of one version. It answers each request, a line of JSON on its
 * standard input, by such a line on its standard output; bytes may follow a request. Its standard error is
 * ours. */
#ifndef CLI_LAKE_PYTHON_H
#define CLI_LAKE_PYTHON_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct lake_python;

/* cli/lake/__main__.py and papertape_lake as a zip file, which a Python that is started runs. */
extern const unsigned char cli_lake_archive[];
extern const size_t cli_lake_archive_size;

/* Starts `python`; NULL: $PAPERTAPE_PYTHON, or python3 of PATH. `arguments` are those of
 * cli/lake/__main__.py, and end with NULL. EXIT_OK with
 * *ret; EXIT_ERROR with its line on stderr where it cannot be started or has no pyarrow, which says what to
 * install. */
int cli_lake_start(const char *verb, const char *python, const char *const *arguments,
                   struct lake_python **ret);

/* "/usr/bin/python3 (Python 3.11.2, pyarrow 21.0.0)"; and the three as an object, borrowed. */
const char *cli_lake_words(const struct lake_python *python);
json_t *cli_lake_versions(const struct lake_python *python);

/* Sends a request, which it takes, or bytes that follow one. False: it no longer reads; its answer says why.
 */
bool cli_lake_send(struct lake_python *python, json_t *request);
bool cli_lake_send_bytes(struct lake_python *python, const char *bytes, size_t n);

/* Sends a request, NULL for none, and waits for the next answer, the caller's; ret NULL: it is of no use.
 * EXIT_ERROR with its line on stderr for one with an error, or for a process that ended. */
int cli_lake_ask(struct lake_python *python, json_t *request, json_t **ret);

/* Ends it: closes its input and waits for it. NULL is fine. */
void cli_lake_finish(struct lake_python *python);

#endif
