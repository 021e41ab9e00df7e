/* What F2 sets up: its file, its values, and times in the machine's zone. */
#include "tui/settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/format.h"
#include "cli/stored.h"
#include "tests/check.h"
#include "tests/scratch.h"
#include "tui/past_keys.h"

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    CHECK(file != NULL);
    fputs(text, file);
    CHECK_INT(fclose(file), 0);
}

static void check_file(const char *path)
{
    struct dashboard_settings settings = {0}, again;
    char words[KEPT_FILE_WORDS_MAX];

    CHECK_INT(tui_settings_read(path, &settings, words), 0); /* there is none */
    CHECK_INT(settings.scheme, SCHEME_DEFAULT);
    CHECK_INT(settings.glyphs, SETTINGS_AUTO);
    CHECK_INT(settings.local, 0);
    CHECK_NEAR(settings.interval, 1, 0);

    CHECK_STR(settings.columns[DB_LIST_ORDERS], "auto");
    settings.scheme = SCHEME_COLOUR_BLIND;
    settings.colours = COLOURS_256;
    settings.glyphs = SETTINGS_BLOCK;
    settings.local = 1;
    settings.interval = 2.5;
    strcpy(settings.columns[DB_LIST_FILLS], "time currency");
    strcpy(settings.columns[DB_LIST_TRIPS], "closed P&L");
    CHECK_INT(tui_settings_write(path, &settings, words), 0); /* the folders are made */
    CHECK_INT(tui_settings_read(path, &again, words), 0);
    CHECK_STR(words, "");
    CHECK_INT(again.scheme, settings.scheme);
    CHECK_INT(again.colours, COLOURS_256);
    CHECK_INT(again.glyphs, settings.glyphs);
    CHECK_INT(again.local, settings.local);
    CHECK_NEAR(again.interval, settings.interval, 0);
    CHECK_STR(again.columns[DB_LIST_ORDERS], "auto");
    CHECK_STR(again.columns[DB_LIST_FILLS], "time currency");
    CHECK_STR(again.columns[DB_LIST_TRIPS], "closed P&L");
    CHECK_STR(again.columns[DB_LIST_LEDGER], "auto");

    write_text(path, "[dashboard]\nscheme = lihgt\ntimes = local\ninterval = 0.1\nfont = big\n");
    CHECK_INT(tui_settings_read(path, &settings, words), -EINVAL);
    CHECK_INT(settings.local, 1); /* what is right is taken */
    CHECK_INT(settings.scheme, SCHEME_DEFAULT);
    CHECK_NEAR(settings.interval, 1, 0);
    CHECK(!strchr(words, '\n') && strstr(words, "; "));
    CHECK(strstr(words, ":2: ") && strstr(words, "light") && strstr(words, ":4: ") && strstr(words, ":5: "));
    CHECK_INT(tui_settings_write(path, &settings, words), -EEXIST); /* it stays as it is */
    CHECK(strstr(words, "light"));
    write_text(path, "[dashboard]\nscheme = light\n"); /* it is mended beside the dashboard */
    CHECK_INT(tui_settings_write(path, &settings, words), 0);
    CHECK_STR(words, "");
    write_text(path, "[dashboard]\norders_columns = order state pirce\n");
    CHECK_INT(tui_settings_read(path, &settings, words), -EINVAL);
    CHECK(strstr(words, ":2: ") && strstr(words, "\"pirce\"") && strstr(words, " price "));
    CHECK_STR(settings.columns[DB_LIST_ORDERS], "auto");
    write_text(path, "[daschboard]\n");
    CHECK_INT(tui_settings_read(path, &settings, words), -EINVAL);
    CHECK(strstr(words, ":1: ") && strstr(words, "[dashboard]"));
    CHECK_INT(unlink(path), 0);
}

static void check_steps(void)
{
    struct dashboard_settings settings;

    tui_settings_defaults(&settings);
    for (int i = 0; i < SCHEMES; i++) {
        CHECK_INT(settings.scheme, i);
        tui_settings_step(&settings, 0, 1);
    }
    CHECK_INT(settings.scheme, SCHEME_DEFAULT);
    tui_settings_step(&settings, 0, -1);
    CHECK_INT(settings.scheme, SCHEME_MONO);
    for (int i = 0; i < 20; i++)
        tui_settings_step(&settings, tui_settings_n - 1, 1);
    CHECK_NEAR(settings.interval, 60, 0);
    for (int i = 0; i < 20; i++)
        tui_settings_step(&settings, tui_settings_n - 1, -1);
    CHECK_NEAR(settings.interval, 0.25, 0);
    CHECK_INT(tui_settings_glyphs(&settings, GLYPHS_BRAILLE), GLYPHS_BRAILLE);
    settings.glyphs = SETTINGS_ASCII;
    CHECK_INT(tui_settings_glyphs(&settings, GLYPHS_BRAILLE), GLYPHS_ASCII);
}

static void check_path(void)
{
    char path[PATH_MAX];

    setenv("XDG_CONFIG_HOME", "/x", 1);
    CHECK(tui_settings_path(path));
    CHECK_STR(path, "/x/papertape/dashboard.ini");
    setenv("XDG_CONFIG_HOME", "relative", 1); /* the specification: it is to be ignored */
    setenv("HOME", "/home/ann", 1);
    CHECK(tui_settings_path(path));
    CHECK_STR(path, "/home/ann/.config/papertape/dashboard.ini");
    unsetenv("XDG_CONFIG_HOME");
    unsetenv("HOME");
    CHECK(!tui_settings_path(path));
}

/* The line leads to that moment. */
static void check_typed(const char *line, int64_t at_ns)
{
    struct view view;
    enum action action;

    tui_view_init(&view, false, 1000);
    CHECK(tui_past_keys_line(&view, line, (struct moment){0}, &action));
    CHECK_INT(action, ACTION_PAST);
    CHECK(view.go.jumps && view.go.at_ns == at_ns);
    tui_view_finish(&view);
}

static void check_zone(void)
{
    char cell[STORED_CELL];
    const int64_t winter_ns = INT64_C(1705320000) * 1000000000; /* 2024-01-15 12:00 UTC, a Monday */
    char a[FORMAT_MAX];

    setenv("TZ", "XST-5:30", 1);
    tzset();
    CHECK_STR(cli_format_clock(a, winter_ns), "12:00:00");
    CHECK_STR(cli_format_zone(a, winter_ns), "Z");
    cli_format_local(true);
    CHECK_STR(cli_format_clock(a, winter_ns), "17:30:00");
    CHECK_STR(cli_format_zone(a, winter_ns), "+0530");
    CHECK_STR(cli_stored_time(STORED_TABLE, cell, winter_ns), "2024-01-15 17:30:00.000+0530");
    CHECK_STR(cli_stored_time(STORED_JSON, cell, winter_ns), "2024-01-15 12:00:00.000Z");
    CHECK(cli_format_read_clock(winter_ns) == winter_ns - INT64_C(19800) * 1000000000);
    check_typed("at 2024-01-15T17:30", winter_ns); /* as the lists have it */
    check_typed("at 2024-01-15T12:00Z", winter_ns);
    check_typed("at 2024-01-15T13:00+01:00", winter_ns);
    check_typed("at 1705320000", winter_ns);
    CHECK_STR(cli_format_time(a, winter_ns + INT64_C(7) * 3600 * 1000000000), "2024-01-16 00:30:00");
    CHECK_STR(cli_format_weekday(a, winter_ns + INT64_C(7) * 3600 * 1000000000), "Tue");
    cli_format_local(false);
    CHECK_STR(cli_stored_time(STORED_TABLE, cell, winter_ns), "2024-01-15 12:00:00.000Z");
    check_typed("at 2024-01-15T12:00", winter_ns);
    CHECK_STR(cli_format_weekday(a, winter_ns), "Mon");
}

int main(void)
{
    check_file(scratch_path("a/b/dashboard.ini"));
    check_steps();
    check_path();
    check_zone();
    return check_done("tui/settings");
}
