/* A configuration in the form: what is not changed comes out to the byte, values change and change back, keys
 * come and go, errors stay with their lines. */
#include "tui/form.h"

#include <errno.h>
#include <locale.h>

#include "tests/check.h"
#include "tests/random.h"
#include "tui/line_edit.h"
#include "tui/press.h"

static const struct form_known known[] = {
    {"training", "name", "training", "its name", 0, false},
    {"training", "total_steps", "1000000", "steps", 0, true},
    {"ppo", "learning_rate", "0.0003", "the optimiser's", 0, true},
    {"ppo", "gamma", "0.99", "discount", 0, true},
    {"data", "symbols", "", "with commas", 'd', false},
    {"data", "state", "", "a folder", 'd', false},
    {"serve", "priority", "0", "in the queue", 's', true},
};

static const char sample[] = "; mine\n"
                             "[training]\n"
                             "name = ppo-btc\n"
                             "\n"
                             "# Of all copies\n"
                             "# together\n"
                             "total_steps=1000 ; few\n"
                             "[ppo]\n"
                             "  learning_rate : 3e-4  \n"
                             "nonsense\n"
                             "[data]\n"
                             "symbols =\n"
                             "state = /var/lib/papertape;x";

static struct form form;

static void begin(const char *text)
{
    CHECK_INT(tui_form_init(&form, text, known, sizeof(known) / sizeof(known[0])), 0);
}

static void check_text(const char *expected)
{
    char *text = tui_form_text(&form);

    CHECK_STR(text, expected);
    free(text);
}

/* Below n. */
static size_t any(struct random *random, size_t n)
{
    return (size_t)random_between(random, 0, (int64_t)n - 1);
}

static size_t row_of(const char *key)
{
    for (size_t i = 0; i < form.n; i++) {
        struct form_parts parts = tui_form_parts(&form, i);
        if (form.rows[i].kind == FORM_KEY && strlen(key) == parts.key.len &&
            memcmp(parts.key.text, key, parts.key.len) == 0)
            return i;
    }
    CHECK(!"the key is there");
    return 0;
}

static bool value_is(const char *key, const char *expected)
{
    struct form_parts parts = tui_form_parts(&form, row_of(key));

    return parts.value.len == strlen(expected) && memcmp(parts.value.text, expected, parts.value.len) == 0;
}

static void check_reading(void)
{
    char buf[80];

    begin(sample);
    CHECK_INT(form.n, 13);
    CHECK_INT(tui_form_changes(&form), 0);
    check_text(sample);
    CHECK_INT(form.rows[0].kind, FORM_TEXT);
    CHECK_INT(form.rows[1].kind, FORM_SECTION);
    CHECK_INT(form.rows[9].kind, FORM_OTHER);
    CHECK(value_is("name", "ppo-btc"));
    CHECK(value_is("total_steps", "1000"));
    CHECK(value_is("learning_rate", "3e-4"));
    CHECK(value_is("symbols", ""));
    CHECK(value_is("state", "/var/lib/papertape;x")); /* no blank before it: no comment */
    struct form_parts parts = tui_form_parts(&form, row_of("total_steps"));
    CHECK(parts.comment.len == 5 && memcmp(parts.comment.text, "; few", 5) == 0);
    tui_form_section(&form, row_of("learning_rate"), buf, sizeof(buf));
    CHECK_STR(buf, "ppo");
    tui_form_section(&form, 0, buf, sizeof(buf));
    CHECK_STR(buf, "");
    tui_form_above(&form, row_of("total_steps"), buf, sizeof(buf));
    CHECK_STR(buf, "Of all copies together");
    tui_form_above(&form, row_of("name"), buf, sizeof(buf));
    CHECK_STR(buf, "");
    tui_form_above(&form, row_of("total_steps"), buf, 8); /* no more than there is room for */
    CHECK_STR(buf, "Of all ");
    CHECK(tui_form_row_known(&form, row_of("learning_rate")) == &known[2]);
    CHECK(tui_form_row_known(&form, 9) == NULL);
    tui_form_finish(&form);

    static const char *const texts[] = {"",
                                        "\n",
                                        "\n\n",
                                        "[a]",
                                        "[a]\n",
                                        "x=1\r\ny = 2 ;c\r\n",
                                        "a=b",
                                        "\xEF\xBB\xBF[training]\nname = x\n",
                                        "=\n[\n:\n;\n#",
                                        " \t\n=\xff\x1b[2J\n"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        begin(texts[i]);
        check_text(texts[i]);
        tui_form_finish(&form);
    }
    begin("\xEF\xBB\xBF[training]\nname = x\n");
    CHECK(tui_form_row_known(&form, 1) == &known[0]);
    tui_form_finish(&form);

    char *huge = malloc(FORM_TEXT_MAX + 2);
    memset(huge, 'a', FORM_TEXT_MAX + 1);
    huge[FORM_TEXT_MAX + 1] = '\0';
    CHECK_INT(tui_form_init(&form, huge, known, 1), -EFBIG);
    memset(huge, '\n', FORM_TEXT_MAX);
    CHECK_INT(tui_form_init(&form, huge, known, 1), -EFBIG);
    free(huge);
}

static void check_values(void)
{
    char words[FORM_WORDS_MAX] = "";

    begin(sample);
    CHECK_INT(tui_form_set(&form, row_of("learning_rate"), "1e-4", words), 0);
    CHECK_INT(tui_form_set(&form, row_of("total_steps"), "2000", words), 0);
    CHECK_INT(tui_form_set(&form, row_of("symbols"), "BTCUSDT,ETHUSDT", words), 0);
    CHECK_INT(tui_form_set(&form, row_of("state"), "", words), 0);
    CHECK_INT(tui_form_changes(&form), 4);
    check_text(
        "; mine\n[training]\nname = ppo-btc\n\n# Of all copies\n# together\ntotal_steps=2000 ; few\n[ppo]\n"
        "  learning_rate : 1e-4  \nnonsense\n[data]\nsymbols = BTCUSDT,ETHUSDT\nstate = ");
    CHECK_INT(tui_form_set(&form, row_of("learning_rate"), "3e-4", words), 0); /* as it was: no change */
    CHECK_INT(tui_form_changes(&form), 3);
    tui_form_undo(&form, row_of("total_steps"));
    tui_form_undo(&form, row_of("total_steps"));
    CHECK_INT(tui_form_set(&form, row_of("state"), "/elsewhere", words), 0);
    CHECK_INT(tui_form_changes(&form), 2);
    tui_form_undo(&form, row_of("state"));
    tui_form_undo(&form, row_of("symbols"));
    CHECK_INT(tui_form_changes(&form), 0);
    check_text(sample);

    for (const char *const *wrong = (const char *const[]){"a ;b", ";b", "a\nb", " a", "a ", "a\r", NULL};
         *wrong; wrong++) {
        words[0] = '\0';
        CHECK_INT(tui_form_set(&form, row_of("name"), *wrong, words), -EINVAL);
        CHECK(words[0] != '\0');
    }
    CHECK_INT(tui_form_changes(&form), 0);
    CHECK_INT(tui_form_set(&form, row_of("name"), "a;b=[c]", words), 0);
    CHECK(value_is("name", "a;b=[c]"));

    CHECK_INT(tui_form_set(&form, 9, "gamma = 0.9", words), 0); /* the broken line as a whole */
    CHECK_INT(form.rows[9].kind, FORM_KEY);
    CHECK(value_is("gamma", "0.9"));
    tui_form_undo(&form, 9);
    CHECK_INT(form.rows[9].kind, FORM_OTHER);
    tui_form_finish(&form);

    begin("a = 1\r\nb =\r\n");
    CHECK_INT(tui_form_set(&form, 0, "2", words), 0);
    CHECK_INT(tui_form_set(&form, 1, "3", words), 0);
    check_text("a = 2\r\nb = 3\r\n");
    tui_form_finish(&form);
}

static void check_coming_and_going(void)
{
    size_t missing[16];
    char words[FORM_WORDS_MAX];

    begin(sample);
    CHECK_INT(tui_form_missing(&form, "", missing, 16), 2); /* gamma, priority */
    CHECK_INT(missing[0], 3);
    CHECK_INT(missing[1], 6);
    CHECK_INT(tui_form_missing(&form, "ppo.g", missing, 16), 1);
    CHECK_INT(tui_form_missing(&form, "", missing, 1), 2);
    tui_form_leave_out(&form, row_of("total_steps"));
    tui_form_leave_out(&form, 9);
    tui_form_leave_out(&form, 7); /* a heading stays */
    CHECK_INT(tui_form_changes(&form), 2);
    CHECK_INT(tui_form_missing(&form, "", missing, 16), 3);
    CHECK_INT(tui_form_add(&form, 1), (long)row_of("total_steps")); /* it comes back as it was */
    tui_form_undo(&form, 9);
    check_text(sample);
    CHECK_INT(tui_form_changes(&form), 0);

    long gamma = tui_form_add(&form, 3), priority = tui_form_add(&form, 6);
    CHECK_INT(gamma, 10); /* after the section's last line */
    CHECK_INT(tui_form_changes(&form), 2);
    CHECK_INT(tui_form_set(&form, (size_t)priority, "5", words), 0);
    check_text(
        "; mine\n[training]\nname = ppo-btc\n\n# Of all copies\n# together\ntotal_steps=1000 ; few\n[ppo]\n"
        "  learning_rate : 3e-4  \nnonsense\ngamma = 0.99\n[data]\nsymbols =\nstate = "
        "/var/lib/papertape;x\n\n"
        "[serve]\npriority = 5");
    CHECK_INT(tui_form_missing(&form, "", missing, 16), 0);
    tui_form_leave_out(&form, (size_t)gamma);
    CHECK_INT(tui_form_changes(&form), 1);
    tui_form_undo(&form, (size_t)priority);
    tui_form_undo(&form, (size_t)gamma);
    CHECK_INT(tui_form_changes(&form), 0);
    CHECK_INT(form.n, 13);
    check_text(sample);
    tui_form_finish(&form);

    begin("[ppo]\nname = x\n"); /* a key may stand in another section of its group */
    CHECK_INT(tui_form_missing(&form, "training.", missing, 16), 1);
    CHECK(tui_form_row_known(&form, 1) == &known[0]);
    tui_form_finish(&form);

    begin("");
    CHECK_INT(tui_form_add(&form, 4), 1);
    check_text("[data]\nsymbols =\n");
    tui_form_undo(&form, 1);
    CHECK_INT(form.n, 0);
    check_text("");
    tui_form_finish(&form);

    begin("[ppo]\r\ngamma = 1\r\n");
    tui_form_add(&form, 2);
    check_text("[ppo]\r\ngamma = 1\r\nlearning_rate = 0.0003\r\n");
    tui_form_finish(&form);
}

static void check_errors(void)
{
    char words[FORM_WORDS_MAX];

    begin(sample);
    CHECK_INT(form.errors, -1);
    tui_form_leave_out(&form, row_of("name"));
    tui_form_keep_lines(&form); /* line 9 of it is nonsense, 8 the learning rate */
    CHECK(!form.changed);
    long gamma = tui_form_add(&form, 3); /* while the answer is on its way: the lines below move */
    CHECK(form.changed);
    tui_form_errors_begin(&form);
    tui_form_error(&form, 8, "ppo", "learning_rate", "too high");
    tui_form_error(&form, 8, "ppo", "learning_rate", "and odd");
    tui_form_error(&form, 9, "", "", "KEY = VALUE is needed");
    tui_form_error(&form, 0, "data", "state", "no such folder");
    tui_form_error(&form, 0, "ppo", "gamma", "not in what was sent");
    tui_form_error(&form, 3, "", "", "of a comment");
    tui_form_error(&form, 99, "", "", "of no line");
    tui_form_error(&form, 0, "", "", "bars are needed");
    CHECK_INT(form.errors, 8);
    CHECK_STR(form.rows[row_of("learning_rate")].error, "too high\nand odd");
    CHECK_STR(form.rows[9].error, "KEY = VALUE is needed");
    CHECK_STR(form.rows[row_of("state")].error, "no such folder");
    CHECK(form.rows[gamma].error == NULL);
    CHECK_STR(form.other_errors,
              "[ppo] gamma: not in what was sent\nline 3: of a comment\nline 99: of no line\n"
              "bars are needed");
    tui_form_undo(&form, row_of("name")); /* it moves, and keeps its error */
    CHECK_INT(tui_form_set(&form, row_of("learning_rate"), "1e-4", words), 0);
    CHECK_STR(form.rows[row_of("learning_rate")].error, "too high\nand odd");
    tui_form_keep_lines(&form);
    CHECK_STR(form.rows[row_of("learning_rate")].error, "too high\nand odd"); /* until the answer */
    tui_form_errors_begin(&form);
    CHECK(form.rows[row_of("learning_rate")].error == NULL && form.other_errors == NULL);
    CHECK_INT(form.errors, 0);
    tui_form_finish(&form);
}

/* Any text, any changes: everything undone gives the text again. */
static void check_random(void)
{
    static const char *const pieces[] = {"[ppo]",    "[data]", "gamma", "=", ":",     " ;c",
                                         "\n",       "\n",     "\r\n",  " ", "name",  "\xEF\xBB\xBF",
                                         "\xC3\xA9", "#",      "[",     "]", "state", "1"};
    struct random random = random_seeded("form", 9);
    char text[400], words[FORM_WORDS_MAX];

    for (int turn = 0; turn < 2000; turn++) {
        text[0] = '\0';
        for (int64_t n = random_between(&random, 0, 39); n > 0; n--)
            strcat(text, pieces[any(&random, sizeof(pieces) / sizeof(pieces[0]))]);
        begin(text);
        for (int64_t n = random_between(&random, 0, 7); n > 0; n--) {
            size_t at = form.n ? any(&random, form.n) : 0;
            switch (random_between(&random, 0, 3)) {
            case 0:
                if (form.n && (form.rows[at].kind == FORM_KEY || form.rows[at].kind == FORM_OTHER))
                    tui_form_set(&form, at, random_chance(&random, 50) ? "2" : "", words);
                break;
            case 1:
                if (form.n)
                    tui_form_leave_out(&form, at);
                break;
            case 2:
                CHECK(tui_form_add(&form, any(&random, sizeof(known) / sizeof(known[0]))) >= 0);
                break;
            default:
                if (form.n)
                    tui_form_undo(&form, at);
            }
        }
        for (size_t i = form.n; i-- > 0;)
            if (i < form.n)
                tui_form_undo(&form, i);
        CHECK_INT(tui_form_changes(&form), 0);
        check_text(text);
        tui_form_finish(&form);
    }
}

static void type(struct line_edit *edit, const char *text)
{
    for (; *text; text++)
        CHECK(tui_line_edit_press(edit, *text));
}

static void check_typing(void)
{
    struct line_edit edit;

    tui_line_edit_begin(&edit, "0.0003", 12);
    type(&edit, "5");
    CHECK_STR(edit.text, "0.00035");
    tui_line_edit_press(&edit, PRESS_HOME);
    CHECK(tui_line_edit_press(&edit, PRESS_LEFT));
    tui_line_edit_press(&edit, PRESS_DELETE);
    type(&edit, "1");
    CHECK_STR(edit.text, "1.00035");
    tui_line_edit_press(&edit, PRESS_RIGHT);
    tui_line_edit_press(&edit, 'K' & 0x1f);
    CHECK_STR(edit.text, "1.");
    tui_line_edit_press(&edit, PRESS_BACKSPACE);
    CHECK_STR(edit.text, "1");
    tui_line_edit_press(&edit, 'U' & 0x1f);
    CHECK_STR(edit.text, "");
    CHECK(tui_line_edit_press(&edit, PRESS_BACKSPACE) && tui_line_edit_press(&edit, PRESS_DELETE));
    CHECK(!tui_line_edit_press(&edit, PRESS_UP) && !tui_line_edit_press(&edit, PRESS_ENTER) &&
          !tui_line_edit_press(&edit, '\t'));
    type(&edit, "12345678901");
    CHECK(!tui_line_edit_press(&edit, '2')); /* no room */
    CHECK_STR(edit.text, "12345678901");

    CHECK(edit.over);
    tui_line_edit_press(&edit, PRESS_BACKSPACE);
    CHECK(!edit.over);
    static const int pasted[] = {'a', 0xe9, 'b'};
    tui_line_edit_begin(&edit, "0123456789", 14);
    CHECK(!tui_line_edit_paste(&edit, pasted, 3)); /* all or nothing */
    CHECK_STR(edit.text, "0123456789");
    tui_line_edit_press(&edit, PRESS_BACKSPACE);
    CHECK(tui_line_edit_paste(&edit, pasted, 3));
    CHECK_STR(edit.text, "012345678a\xC3\xA9"
                         "b");

    tui_line_edit_begin(&edit, "a\033[31mb\n", LINE_EDIT_MAX);
    CHECK_STR(edit.text, "a?[31mb?");
    static const int hostile[] = {0x1b, 0x7f, 0x9b, 0x202e, 0x200f, 0xfeff, 0xd800, 2};
    for (size_t i = 0; i < sizeof(hostile) / sizeof(hostile[0]); i++)
        CHECK(!tui_line_edit_press(&edit, hostile[i]));
    CHECK_STR(edit.text, "a?[31mb?");

    tui_line_edit_begin(&edit, "", 64);
    static const int wide[] = {0xe9, 'e', 0x301, 0x65e5, 0x1f600, 'x'}; /* é, e with a mark, 日, a face */
    for (size_t i = 0; i < sizeof(wide) / sizeof(wide[0]); i++)
        CHECK(tui_line_edit_press(&edit, wide[i]));
    CHECK_STR(edit.text, "\xC3\xA9"
                         "e\xCC\x81\xE6\x97\xA5\xF0\x9F\x98\x80x");
    static const size_t stops[] = {12, 8, 5, 2, 0, 0}; /* a character with its mark is one */
    for (size_t i = 0; i < sizeof(stops) / sizeof(stops[0]); i++) {
        CHECK(tui_line_edit_press(&edit, PRESS_LEFT));
        CHECK_INT(edit.at, stops[i]);
    }
    tui_line_edit_press(&edit, PRESS_RIGHT);
    tui_line_edit_press(&edit, PRESS_DELETE);
    CHECK_STR(edit.text, "\xC3\xA9\xE6\x97\xA5\xF0\x9F\x98\x80x");
    tui_line_edit_press(&edit, PRESS_BACKSPACE);
    CHECK_STR(edit.text, "\xE6\x97\xA5\xF0\x9F\x98\x80x");
    tui_line_edit_press(&edit, 'E' & 0x1f);
    CHECK_INT(edit.at, edit.len);
    tui_line_edit_begin(&edit, "\xE6\x97\xA5\xE6\x97\xA5", 5); /* cut between characters */
    CHECK_STR(edit.text, "\xE6\x97\xA5");
}

/* What was changed in one configuration is changed in another, and nothing else there. */
static void check_carrying(void)
{
    static const char theirs[] = "[training]\n"
                                 "total_steps = 7 ; many\n"
                                 "name = other\n"
                                 "[data]\n"
                                 "state = /theirs\n"
                                 "[search]\n"
                                 "gamma = 0.9..0.99\n";
    struct form other;
    char words[FORM_WORDS_MAX] = "";
    size_t index = 0;
    begin("[training]\nname = own\ntotal_steps = 1000\n[data]\nstate = /mine\n[ppo]\nlearning_rate = 1\n"
          "[search]\ngamma = 0.8..0.9\nodd = 1 | 2\n");
    CHECK_INT(tui_form_init(&other, theirs, known, sizeof(known) / sizeof(known[0])), 0);
    CHECK_INT(tui_form_carry(&form, &other, words), 0); /* nothing was changed */
    char *text = tui_form_text(&other);
    CHECK_STR(text, theirs);
    free(text);
    CHECK_INT(tui_form_changes(&other), 0);

    CHECK_INT(tui_form_set(&form, 2, "2000", words), 0);
    tui_form_leave_out(&form, 4);
    CHECK_INT(tui_form_set(&form, 6, "2e-4", words), 0);
    CHECK_INT(tui_form_set(&form, 8, "0.7..0.9", words), 0);
    CHECK_INT(tui_form_set(&form, 9, "3 | 4", words), 0);
    while (strcmp(known[index].key, "priority") != 0)
        index++;
    long added = tui_form_add(&form, index);
    CHECK(added > 0);
    CHECK_INT(tui_form_set(&form, (size_t)added, "5", words), 0);
    CHECK_INT(tui_form_carry(&form, &other, words), 0);
    text = tui_form_text(&other);
    CHECK_STR(text, "[training]\n"
                    "total_steps = 2000 ; many\n"
                    "name = other\n"
                    "[data]\n"
                    "[search]\n"
                    "gamma = 0.7..0.9\n"
                    "odd = 3 | 4\n"
                    "\n"
                    "[ppo]\n"
                    "learning_rate = 2e-4\n"
                    "\n"
                    "[serve]\n"
                    "priority = 5\n");
    free(text);
    tui_form_finish(&other);
    tui_form_finish(&form);

    begin("[training]\nnonsense\nname = a\n");
    CHECK_INT(tui_form_init(&other, theirs, known, sizeof(known) / sizeof(known[0])), 0);
    tui_form_leave_out(&form, 1);
    CHECK_INT(tui_form_carry(&form, &other, words), -EINVAL);
    CHECK_STR(words, "the changed line \"nonsense\" is no key");
    tui_form_finish(&other);
    tui_form_finish(&form);
}

/* The trainer's own keys: each has a place, a default, and words. */
static void check_known(void)
{
    size_t n;
    const struct form_known *keys = tui_form_known_keys(&n);

    CHECK(n > 60);
    CHECK_INT(tui_form_init(&form, "[training]\nlearning_rate = 1\n[data]\nsymbols = X\n", keys, n), 0);
    CHECK_INT(tui_form_missing(&form, "", NULL, 0), n - 2);
    const struct form_known *rate = tui_form_row_known(&form, 1);
    CHECK(rate && strcmp(rate->section, "ppo") == 0 && rate->about[0] && rate->value[0]);
    CHECK(rate && rate->may_change); /* a restart may have another */
    for (size_t i = 0; i < n; i++)
        CHECK(keys[i].section[0] && keys[i].key[0] && keys[i].about[0]);
    tui_form_finish(&form);
}

int main(void)
{
    if (!setlocale(LC_CTYPE, "C.UTF-8"))
        return CHECK_SKIP;
    check_reading();
    check_values();
    check_coming_and_going();
    check_errors();
    check_random();
    check_carrying();
    check_typing();
    check_known();
    return check_done("tui/form");
}
