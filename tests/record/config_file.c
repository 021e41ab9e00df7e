/* The lines of a configuration's file against inih, which we did not write, on random files; and errors by
 * line. */
#include "record/config_file.h"

#include <errno.h>
#include <ini.h>
#include <stdlib.h>
#include <string.h>

#include "tests/check.h"

enum { TEXT = 4096, SEEN = 1 << 16, ROUNDS = 4000 };

static const struct config_form form = {.example = "market"};

/* "section|key|value\n" each. */
static int see(void *ctx, const char *section, const char *key, const char *value)
{
    char *seen = ctx;
    if (!*section)
        return 0;
    size_t n = strlen(seen);
    snprintf(seen + n, SEEN - n, "%s|%s|%s\n", section, key, value);
    return 1;
}

static uint64_t state = 20261123;

static uint32_t below(uint32_t n)
{
    state = state * 6364136223846793005 + 1442695040888963407;
    return (uint32_t)(((state >> 32) * n) >> 32);
}

static void random_text(char text[static TEXT])
{
    static const char *const pieces[] = {
        "[", "]", "=",     ":",      ";",       " ;",           "#",    " ",   "\t",  "\n", "\r\n", "\n", "a",
        "b", "c", "[s]\n", "[t ]\n", "k = v\n", "\xEF\xBB\xBF", "\xff", "key", "\n\n"};
    size_t at = 0;
    text[0] = '\0';
    if (below(3))
        at += (size_t)snprintf(text, TEXT, "[market]\n");
    for (uint32_t n = below(60); n > 0; n--)
        at += (size_t)snprintf(text + at, TEXT - at, "%s", pieces[below(sizeof pieces / sizeof *pieces)]);
}

static void test_against_inih(void)
{
    static char text[TEXT], theirs[SEEN], ours[SEEN];
    int good = 0;
    ini_allow_multiline = false;
    for (int round = 0; round < ROUNDS; round++) {
        struct config_file file;
        random_text(text);
        theirs[0] = ours[0] = '\0';
        int wrong = ini_parse_string(text, see, theirs);
        CHECK_INT(config_file_parse(&file, "F", text, strlen(text), &form), 0);
        for (size_t i = 0; i < file.n; i++)
            if (file.lines[i].key)
                see(ours, file.lines[i].section, file.lines[i].key, file.lines[i].value);
        config_file_sort(&file);
        CHECK_INT(file.n_errors > 0 ? file.errors[0].line : 0, wrong);
        if (wrong == 0) {
            CHECK_STR(ours, theirs);
            good++;
        }
        config_file_finish(&file);
        if (check_failures) {
            fprintf(stderr, "round %d: \"%s\"\n", round, text);
            break;
        }
    }
    CHECK(good > ROUNDS / 10);
    printf("%d random files as inih reads them, %d of them without an error\n", ROUNDS, good);
}

static void words(const char *text, size_t n, const char *expected, const struct config_form *with)
{
    static char errors[1 << 16];
    struct config_file file;
    CHECK_INT(config_file_parse(&file, "F", text, n, with), 0);
    config_file_sort(&file);
    config_file_words(&file, errors, sizeof errors);
    CHECK_STR(errors, expected);
    config_file_finish(&file);
}

static int no_x(const char *section, char why[static CONFIG_WHY_MAX])
{
    return *section == 'x' ? config_key_refuse(why, CONFIG_WHY_MAX, "no \x01") : 0;
}

static void test_errors(void)
{
    static const struct config_form short_form = {.example = "s", .line_max = 12, .heading = no_x};
    words("k = 1\n[x]\nk = 2\n[market\nk = 3\nj\n", 32,
          "F:1: k: before any section: [s] or another is needed first\nF:2: [x]: no ?\n"
          "F:4: KEY = VALUE or [SECTION] is needed\nF:6: KEY = VALUE or [SECTION] is needed",
          &short_form);
    words("[s]\nk = 34567890\nk\0= 1\n", 22,
          "F:2: the line is too long\nF:3: a NUL byte: a text file is needed", &short_form);
    words("[s]\nk = 3456\xff\xc3\xa9\nk\xff\xc3\xa9\n", 21, "F:3: KEY = VALUE or [SECTION] is needed", &form);
    char *many = malloc(CONFIG_FILE_LINES_MAX * 8);
    strcpy(many, "[s]\n");
    for (size_t i = 0, at = 4; i < CONFIG_FILE_LINES_MAX; i++)
        at += (size_t)sprintf(many + at, "x = 1\n");
    words(many, strlen(many), "F:4097: too many lines for a configuration", &form);
    free(many);
    struct config_file file;
    CHECK_INT(config_file_read(&file, "/nonexistent/f", &form), -ENOENT);
    CHECK(file.n_errors == 1 && file.n == 0);
    config_file_finish(&file);
}

int main(void)
{
    test_against_inih();
    test_errors();
    return check_done("record/config_file");
}
