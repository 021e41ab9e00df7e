/* Tables of lists: columns as wide as their widest cells, whatever a cell holds. */
#include "cli/stored.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "record/field.h"
#include "tests/check.h"

static const struct stored_column columns[] = {
    {"name", -6}, {"qty", 4}, {"hidden", 0}, {"why", -3}, {"behind", 0},
};

struct printed {
    char *text;
    size_t len;
    FILE *out;
};

static struct stored_list begin(struct printed *printed, enum stored_form form)
{
    printed->out = open_memstream(&printed->text, &printed->len);
    return (struct stored_list){
        .name = "things", .form = form, .columns = columns, .n_columns = 5, .out = printed->out};
}

static void finish(struct printed *printed, struct stored_list *list, const char *expected)
{
    cli_stored_end(list);
    fclose(printed->out);
    CHECK_INT(list->r, 0);
    CHECK_STR(printed->text, expected);
    free(printed->text);
}

static void row(struct stored_list *list, const char *name, const char *qty, const char *why)
{
    const char *const cells[] = {name, qty, "not shown in a table", why, ""};
    cli_stored_row(list, cells);
}

/* The last column, aligned to the left, ends where its text does. */
static void widths(void)
{
    struct printed printed;
    struct stored_list list = begin(&printed, STORED_TABLE);

    row(&list, "a", "1", "");
    row(&list, "a-long-name", "12345.678", "no word at all");
    row(&list, "b", "", "x");
    finish(&printed, &list,
           "name               qty  why\n"
           "a                    1\n"
           "a-long-name  12345.678  no word at all\n"
           "b                       x\n");
}

/* A cell is shown whole, without bytes that could control a terminal. */
static void cells(void)
{
    struct printed printed;
    struct stored_list list = begin(&printed, STORED_TABLE);
    char name[201], expected[2000];

    memset(name, 'n', 200);
    name[200] = '\0';
    row(&list, name, "1", "\x1b[2J");
    snprintf(expected, sizeof expected, "name%196s   qty  why\n%s     1  ?[2J\n", "", name);
    finish(&printed, &list, expected);
}

static void csv(void)
{
    struct printed printed;
    struct stored_list list = begin(&printed, STORED_CSV);

    row(&list, "a-long-name", "1", "a \"word\", and another");
    finish(
        &printed, &list,
        "name,qty,hidden,why,behind\na-long-name,1,not shown in a table,\"a \"\"word\"\", and another\",\n");
    list = begin(&printed, STORED_CSV);
    row(&list, "\x1b[2J", "\xff\xc3", "é\r\n\x7f, \xc2\x9b日");
    finish(&printed, &list, "name,qty,hidden,why,behind\n?[2J,??,not shown in a table,\"é???, ?日\",\n");
}

/* A line that is cut to the terminal's width ends with a whole character, by the width of characters and not
 * by bytes. */
static void cut(void)
{
    const struct winsize size = {.ws_row = 5, .ws_col = 21};
    int terminal = posix_openpt(O_RDWR | O_NOCTTY), before = dup(STDOUT_FILENO);
    CHECK(terminal >= 0 && grantpt(terminal) == 0 && unlockpt(terminal) == 0);
    int screen = open(ptsname(terminal), O_RDWR | O_NOCTTY);
    CHECK(screen >= 0 && ioctl(screen, TIOCSWINSZ, &size) == 0);
    struct printed printed;
    struct stored_list list = begin(&printed, STORED_TABLE);
    list.fits = true;
    row(&list, "ä", "1", "öööööööö");
    row(&list, "日本", "2", "日日日日");
    CHECK_INT(dup2(screen, STDOUT_FILENO), STDOUT_FILENO);
    cli_stored_end(&list);
    CHECK_INT(dup2(before, STDOUT_FILENO), STDOUT_FILENO);
    fclose(printed.out);
    CHECK_STR(printed.text, "name     qty  why\n"
                            "ä          1  ööööööö\n"
                            "日本       2  日日日\n");
    free(printed.text);
    close(screen);
    close(terminal);
    close(before);
}

static void empty(void)
{
    struct printed printed;
    struct stored_list list = begin(&printed, STORED_TABLE);

    finish(&printed, &list, "name     qty  why\n");
}

/* Of very many rows the first ones set the widths; each later one is printed as it comes. */
static void many(void)
{
    enum { ROWS = 10000 };
    struct printed printed;
    struct stored_list list = begin(&printed, STORED_TABLE);
    size_t lines = 0;

    for (int i = 0; i < ROWS; i++) {
        row(&list, i == 7 ? "seven-is-wide" : "other", "1", "y");
        CHECK(list.cap_kept < 4000000);
    }
    row(&list, "wider-than-all-before-it", "1", "y");
    cli_stored_end(&list);
    fclose(printed.out);
    for (const char *line = printed.text; *line; line = strchr(line, '\n') + 1, lines++)
        CHECK_INT((int)strcspn(line, "\n"), (lines <= ROWS ? 13 : 24) + 2 + 4 + 2 + (lines == 0 ? 3 : 1));
    CHECK_INT((int)lines, ROWS + 2);
    free(printed.text);
}

/* ---- a record's ---- */

struct thing {
    double share, exact;
    const char *params;
    char name[8];
    unsigned char hash[2];
};

#define THINGS(FIRST, NEXT) \
    FIRST(name, "", "name", TEXT, FIXED, REQUIRED, NULL) \
    NEXT(share, "", "share", REAL, FIXED, OPTIONAL, NULL) \
    NEXT(exact, "", "exact", REAL, FIXED, REQUIRED, NULL) \
    NEXT(params, "", "params", STRING, FIXED, OPTIONAL, NULL) \
    NEXT(hash, "", "hash", HASH, FIXED, REQUIRED, NULL)
#define ROW struct thing
static const struct record_field fields[] = {RECORD_FIELDS(THINGS)};
static const struct record record = RECORD_OF("things", fields);
#undef ROW

static void of_a_record(void)
{
    static const struct stored_column shown[] = {
        {"name", -6}, {"share", 6, .decimals = 2}, {"exact", 8}, {"params", 0, .json = true}};
    const struct thing things[] = {{0.125, 0.1 + 0.2, "{\"a\":1}", "one", {0x0f, 0xa0}},
                                   {1.0 / 0.0, 5, NULL, "two", {1, 2}}};
    struct printed printed;
    FILE *out = printed.out = open_memstream(&printed.text, &printed.len);
    struct stored_list list = cli_stored_list_of(&record, shown, 4, STORED_CSV, out);

    for (int i = 0; i < 2; i++)
        cli_stored_record_row(&list, &things[i], &(struct record_context){0});
    finish(&printed, &list,
           "name,share,exact,params,hash\none,0.12,0.3,\"{\"\"a\"\":1}\",0fa0\ntwo,,5,,0102\n");
}

int main(void)
{
    widths();
    cells();
    setlocale(LC_CTYPE, "C.UTF-8");
    cut();
    csv();
    empty();
    many();
    of_a_record();
    return check_done("cli/stored_list");
}
