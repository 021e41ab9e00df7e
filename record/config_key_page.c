/* Rows as examples and manual pages. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "record/config_key.h"
#include "record/option_text.h"

void config_key_range(const struct config_key *key, char *buf, size_t size)
{
    size_t n = 0;
    if (key->kind == CONFIG_SWITCH && strcmp(key->words, "false true") == 0)
        snprintf(buf, size, "true, false");
    else if (key->words)
        for (const char *p = key->words; *p && n + 3 < size; p++)
            n += (size_t)snprintf(buf + n, size - n, *p == ' ' ? ", " : "%c", *p);
    else if (key->kind > CONFIG_SPAN)
        snprintf(buf, size, "text");
    else
        snprintf(buf, size, "%.9g to %.9g%s", key->min, key->max,
                 key->kind == CONFIG_WHOLE && key->scale == 0 ? ", whole"
                 : key->kind == CONFIG_SPAN                   ? ", or low..high"
                                                              : "");
}

static bool names_all(const char *about, const char *words)
{
    char word[64];
    for (; *words; words += strspn(words, " ")) {
        size_t n = strcspn(words, " ");
        snprintf(word, sizeof word, "%.*s", (int)n, words);
        if (!strstr(about, word))
            return false;
        words += n;
    }
    return true;
}

/* Is its first word an ordinary one, not a value or name of a key? */
static bool begins_as_sentence(const struct config_key *key)
{
    char word[64];
    size_t n = strspn(key->about, "abcdefghijklmnopqrstuvwxyz");
    snprintf(word, sizeof word, "%.*s", (int)n, key->about);
    return key->about[n] == ' ' && !(key->words && option_is_one_of(key->words, ' ', word));
}

/* "The sentence (what would be right)", unless it names all words itself. */
static void print_about(const struct config_key *key, FILE *to)
{
    char right[256];
    config_key_right(key, right, sizeof right);
    size_t n = strlen(right);
    if (n > 0 && right[n - 1] == ',')
        right[n - 1] = '\0';
    if (key->words && names_all(key->about, key->words))
        *right = '\0';
    char first = key->about[0];
    fprintf(to, "%c%s%s", begins_as_sentence(key) ? toupper((unsigned char)first) : first, key->about + 1,
            *right ? " (" : "");
    for (const char *c = right; *c; c++)
        fprintf(to, key->words && *c == ' ' ? ", " : "%c", *c);
    fputs(*right ? ")" : "", to);
}

void config_key_print_example(const struct config_key *key, const void *base, const char *sign, FILE *to)
{
    char value[4096];
    bool there = config_key_text(key, base, value, sizeof value) && *value;
    fputs("# ", to);
    print_about(key, to);
    fprintf(to, "\n%s%s =%s%s\n", sign, key->name, there ? " " : "", there ? value : "");
}

void config_key_man(const struct config_key *keys, size_t n, const char *section, const void *base, FILE *to)
{
    char *text = NULL;
    size_t size;
    for (size_t i = 0; i < n; i++) {
        if (strcmp(keys[i].section, section) != 0)
            continue;
        FILE *entry = open_memstream(&text, &size);
        if (!entry)
            return;
        fputs(keys[i].name, entry);
        if (base) {
            fputs(" = ", entry);
            config_key_print(&keys[i], base, entry);
        } else if (keys[i].fallback && *keys[i].fallback) {
            fprintf(entry, " = %s", keys[i].fallback);
        }
        fputc('\0', entry);
        print_about(&keys[i], entry);
        fprintf(entry, ".%s%s%s", keys[i].more ? " " : "", keys[i].more ? keys[i].more : "",
                keys[i].marks & CONFIG_KEY_LIVE ? " A reload applies it." : "");
        if (fclose(entry) == 0)
            option_man_entry(to, text, text + strlen(text) + 1);
        free(text);
    }
}
