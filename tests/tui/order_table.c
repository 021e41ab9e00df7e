/* docs/orders.md says what the code does: the table of states is order_next()'s, every type, time in force
 * and reason is named.
 *
 * usage: test-tui-order_table DOCS_ORDERS_MD */
#include <errno.h>
#include <stdlib.h>

#include "exchange/order.h"
#include "tests/check.h"

enum { TEXT_MAX = 1 << 16 };

static char text[TEXT_MAX];

static bool read_page(const char *path)
{
    FILE *file = fopen(path, "r");
    size_t n = file ? fread(text, 1, TEXT_MAX - 1, file) : 0;

    text[n] = '\0';
    return file && fclose(file) == 0 && n > 0;
}

/* The next cell of a table's row, without its blanks; NULL after the last. */
static char *cell(char **rest)
{
    char *word = strsep(rest, "|");

    if (!word || !*rest)
        return NULL;
    word += strspn(word, " ");
    word[strcspn(word, " ")] = '\0';
    return word;
}

static void check_row(char *line)
{
    char *rest = strchr(line, '|') + 1, *name = cell(&rest), *next;
    int state = order_state_parse(name), action = 0;

    CHECK(state >= 0);
    for (; (next = cell(&rest)); action++) {
        int expected = order_next((enum order_state)state, (enum order_action)action);
        CHECK_STR(next, expected < 0 ? "-" : order_state_name((enum order_state)expected));
    }
    CHECK_INT(action, ORDER_ACTIONS);
}

/* The table below the heading "States": a line of names, one of dashes, and one a state. */
static void check_states(void)
{
    static const char names[] =
        "| state | arrives | activates | fills part | fills rest | is canceled | expires | amends | is lost | is "
        "rejected |";
    char *line = strstr(text, names), *end;
    int rows = 0;

    CHECK(line != NULL);
    line = line ? strchr(line, '\n') : NULL;
    line = line ? strchr(line + 1, '\n') : NULL;
    for (; line && line[1] == '|'; line = end, rows++) {
        char row[256];
        end = strchr(line + 1, '\n');
        snprintf(row, sizeof(row), "%.*s", (int)(end - line - 1), line + 1);
        check_row(row);
    }
    CHECK_INT(rows, ORDER_STATES);
}

/* `STOP_LIMIT` as the command line says it, "stop-limit". */
static bool has_word(const char *name)
{
    char word[64] = "`";
    size_t n = 1;

    for (; *name && n < sizeof(word) - 2; name++)
        word[n++] = *name == '_' ? '-' : (char)(*name + ('a' - 'A'));
    word[n] = '`';
    return strstr(text, word) != NULL;
}

int main(int argc, char **argv)
{
    char quoted[64];

    if (argc != 2 || !read_page(argv[1])) {
        fprintf(stderr, "usage: %s docs/orders.md\n", argv[0]);
        return EXIT_FAILURE;
    }
    check_states();
    for (int type = 0; type < ORDER_TYPES; type++)
        CHECK(has_word(order_type_name((enum order_type)type)));
    for (int tif = 0; tif < ORDER_TIFS; tif++)
        CHECK(has_word(order_tif_name((enum order_tif)tif)));
    for (int reason = ORDER_OK + 1; reason < ORDER_REASONS; reason++) {
        snprintf(quoted, sizeof(quoted), "`%s`", order_reason_name((enum order_reason)reason));
        if (!strstr(text, quoted))
            fprintf(stderr, "docs/orders.md does not name %s\n", quoted);
        CHECK(strstr(text, quoted) != NULL);
    }
    return check_done("tui/order_table");
}
