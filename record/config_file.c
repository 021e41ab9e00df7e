#include "record/config_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "exchange/utf8.h"
#include "exchange/whole_file.h"

enum { WHY = CONFIG_WHY_MAX };
static const char bom[] = "\xEF\xBB\xBF";
#define BLANKS " \t\r\n\v\f"

/* ---- errors ---- */

/* Room for one more of n elements of `size` bytes. */
static void *grown(struct config_file *file, void *array, size_t n, size_t *cap, size_t size)
{
    if (n < *cap)
        return array;
    size_t more = *cap ? 2 * *cap : 64;
    void *moved = reallocarray(array, more, size);
    if (moved)
        *cap = more;
    else
        file->no_memory = true;
    return moved;
}

void config_file_error(struct config_file *file, int line, const char *section, const char *key,
                       const char *words)
{
    struct config_error *errors =
        grown(file, file->errors, file->n_errors, &file->cap_errors, sizeof *file->errors);
    size_t s = strlen(section) + 1, k = key ? strlen(key) + 1 : 0, w = strlen(words) + 1;
    char *text = malloc(s + k + w);
    file->errors = errors ? errors : file->errors;
    file->no_memory |= !text;
    if (!errors || !text) {
        free(text);
        return;
    }
    struct config_error error = {line, file->n_errors, text, key ? text + s : NULL, text + s + k};
    memcpy(error.section, section, s);
    memcpy(error.words, words, w);
    if (key) {
        memcpy(error.key, key, k);
        utf8_clean(error.key);
    }
    utf8_clean(error.section);
    utf8_clean(error.words);
    file->errors[file->n_errors++] = error;
}

static bool same_section(const struct config_form *form, const char *a, const char *b)
{
    return strcmp(a, b) == 0 || (form->same && form->same(a, b));
}

static bool is_faulty(const struct config_file *file, const struct config_form *form, const char *section,
                      const char *key, size_t n)
{
    char of[64];
    size_t bracket = *key == '[' ? strcspn(key, "]") : 0;
    if (bracket) {
        snprintf(of, sizeof of, "%.*s", (int)bracket - 1, key + 1);
        section = of;
        key += bracket + 1;
        n -= bracket + 1;
    }
    for (size_t i = 0; i < file->n_errors; i++) {
        const struct config_error *error = &file->errors[i];
        if (error->key && same_section(form, error->section, section) && strlen(error->key) == n &&
            strncmp(error->key, key, n) == 0)
            return true;
    }
    return false;
}

bool config_file_faulty(const struct config_file *file, const char *section, const char *key)
{
    static const struct config_form any = {0};
    return is_faulty(file, &any, section, key, strlen(key));
}

void config_file_misfit(struct config_file *file, const struct config_form *form, const char *section,
                        const char *keys, const char *words)
{
    char key[64];
    int line = 0;
    for (const char *word = keys; *word; word += strspn(word, " ")) {
        size_t n = strcspn(word, " ");
        if (is_faulty(file, form, section, word, n))
            return;
        snprintf(key, sizeof key, "%.*s", (int)n, word);
        if (line == 0)
            line = config_file_line(file, form, section, key, false);
        word += n;
    }
    snprintf(key, sizeof key, "%.*s", (int)strcspn(keys, " "), keys);
    if (line == 0)
        line = config_file_line(file, form, section, key, form->headings);
    config_file_error(file, line, section, key, words);
}

int config_file_line(const struct config_file *file, const struct config_form *form, const char *section,
                     const char *key, bool heading)
{
    int first = 0;
    for (size_t i = 0; i < file->n; i++) {
        const struct config_line *line = &file->lines[i];
        if (!same_section(form, line->section, section))
            continue;
        if (line->key && strcmp(line->key, key) == 0)
            return line->line;
        if (!first)
            first = line->line;
    }
    return heading ? first : 0;
}

static int by_line(const void *a, const void *b)
{
    const struct config_error *x = a, *y = b;
    if (x->line != y->line)
        return x->line == 0 ? 1 : y->line == 0 ? -1 : x->line - y->line;
    return (x->order > y->order) - (x->order < y->order);
}

void config_file_sort(struct config_file *file)
{
    if (file->n_errors > 0)
        qsort(file->errors, file->n_errors, sizeof *file->errors, by_line);
}

static int print_error(const struct config_file *file, const struct config_error *error, char *buf,
                       size_t size)
{
    char line[16] = "", head[256] = "";
    if (error->line > 0)
        snprintf(line, sizeof line, ":%d", error->line);
    if (error->key && *error->section)
        snprintf(head, sizeof head, *error->key ? "[%.60s] %.120s: " : "[%.60s]: ", error->section,
                 error->key);
    return snprintf(buf, size, "%.300s%s: %s%s", file->name, line, head, error->words);
}

void config_file_words(const struct config_file *file, char *ret, size_t size)
{
    enum { MORE = 40 };
    size_t at = 0;
    *ret = '\0';
    for (size_t i = 0; i < file->n_errors; i++) {
        size_t room = size - at - (i + 1 < file->n_errors ? MORE : 0);
        int n = i > 0 && at + 1 + MORE >= size ? -1
                : i > 0 ? 1 + print_error(file, &file->errors[i], ret + at + 1, room - 1)
                        : print_error(file, &file->errors[i], ret, room);
        if (n < 0 || (size_t)n >= room) {
            snprintf(ret + at, size - at, "%sand %zu more", i ? "\n" : "", file->n_errors - i);
            return;
        }
        if (i > 0)
            ret[at] = '\n';
        at += (size_t)n;
    }
}

/* ---- lines ---- */

struct reading {
    struct config_file *file;
    const struct config_form *form;
    const char *section; /* "": before any */
    bool lost;           /* below a wrong heading: keys there cannot be checked */
    int line;
};

static void add_line(struct reading *reading, const char *key, const char *value)
{
    struct config_file *file = reading->file;
    struct config_line *lines = grown(file, file->lines, file->n, &file->cap, sizeof *lines);
    if (!lines)
        return;
    file->lines = lines;
    file->lines[file->n++] = (struct config_line){reading->line, reading->section, key, value};
}

static void wrong(const struct reading *reading, const char *words)
{
    config_file_error(reading->file, reading->line, reading->section, NULL, words);
}

/* Without blanks at its ends. */
static char *trim(char *text)
{
    text += strspn(text, BLANKS);
    size_t n = strlen(text);
    while (n > 0 && strchr(BLANKS, text[n - 1]))
        n--;
    text[n] = '\0';
    return text;
}

/* The first of `ends`, or of a comment: a ; after a blank. */
static char *find(char *text, const char *ends)
{
    char *at = text;
    for (; *at && !strchr(ends, *at); at++)
        if (*at == ';' && at > text && strchr(BLANKS, at[-1]))
            break;
    return at;
}

static void take_heading(struct reading *reading, char *name, char *end)
{
    char why[WHY];
    *end = '\0';
    int r = reading->form->heading ? reading->form->heading(name, why) : 0;
    reading->lost = r < 0;
    reading->section = r < 0 ? "" : name;
    if (r < 0)
        config_file_error(reading->file, reading->line, name, "", why);
    else
        add_line(reading, NULL, NULL);
}

static void take_pair(struct reading *reading, char *key, char *end)
{
    char why[WHY];
    *end++ = '\0';
    *find(end, "") = '\0';
    key = trim(key);
    if (reading->lost)
        return;
    if (!*reading->section) {
        config_key_refuse(why, sizeof why, "%.60s%sbefore any section: [%s] or another is needed first", key,
                          *key ? ": " : "no key, and ", reading->form->example);
        wrong(reading, why);
    } else {
        add_line(reading, key, trim(end));
    }
}

static void take_line(struct reading *reading, char *line)
{
    char *at = line + strspn(line, BLANKS), *end;
    if (!*at || strchr(";#", *at))
        return;
    if (*at == '[' && *(end = find(at + 1, "]")) == ']')
        take_heading(reading, at + 1, end);
    else if (*at != '[' && (*(end = find(at, "=:")) == '=' || *end == ':'))
        take_pair(reading, at, end);
    else {
        wrong(reading, "KEY = VALUE or [SECTION] is needed");
        reading->lost |= *at == '[';
    }
}

int config_file_parse(struct config_file *file, const char *name, const char *text, size_t n,
                      const struct config_form *form)
{
    struct reading reading = {.file = file, .form = form, .section = ""};
    const size_t line_max = form->line_max ? form->line_max : CONFIG_FILE_LINE_MAX;
    *file = (struct config_file){.name = name, .text = malloc(n + 1)};
    if (!file->text)
        return -ENOMEM;
    memcpy(file->text, text, n);
    file->text[n] = '\0';
    char *line = file->text, *all = file->text + n;
    if (strncmp(line, bom, strlen(bom)) == 0)
        line += strlen(bom);
    while (line < all && !file->no_memory) {
        char *end = memchr(line, '\n', (size_t)(all - line));
        size_t length = (size_t)((end ? end : all) - line);
        line[length] = '\0';
        reading.line++;
        if (file->n == CONFIG_FILE_LINES_MAX) {
            wrong(&reading, "too many lines for a configuration");
            break;
        }
        if (strlen(line) < length)
            wrong(&reading, "a NUL byte: a text file is needed");
        else if (length + 2 > line_max)
            wrong(&reading, "the line is too long");
        else
            take_line(&reading, line);
        line += length + 1;
    }
    return file->no_memory ? -ENOMEM : 0;
}

/* All of a stream, for free(); NULL and errno. */
static char *read_all(FILE *from, size_t *ret_n)
{
    struct stat info;
    char *text = fstat(fileno(from), &info) == 0 ? malloc((size_t)info.st_size + 1) : NULL;
    *ret_n = text ? fread(text, 1, (size_t)info.st_size, from) : 0;
    if (!text || !ferror(from))
        return text;
    free(text);
    return NULL;
}

int config_file_read(struct config_file *file, const char *path, const struct config_form *form)
{
    const char *why = NULL;
    char words[WHY];
    size_t n = 0;
    *file = (struct config_file){.name = path};
    FILE *from = whole_file_stream(path, &why);
    char *text = from ? read_all(from, &n) : NULL;
    int r = text ? config_file_parse(file, path, text, n, form) : -(errno ? errno : EIO);
    if (!text) {
        config_key_refuse(words, sizeof words, "%s: an INI file that can be read is needed",
                          from ? strerror(-r) : why);
        config_file_error(file, 0, "", NULL, words);
    }
    if (from)
        fclose(from);
    free(text);
    return r;
}

void config_file_finish(struct config_file *file)
{
    for (size_t i = 0; i < file->n_errors; i++)
        free(file->errors[i].section);
    free(file->errors);
    free(file->lines);
    free(file->text);
    *file = (struct config_file){0};
}

/* ---- keys ---- */

static const struct config_line *earlier(const struct config_file *file, const struct config_form *form,
                                         const struct config_line *line)
{
    for (const struct config_line *other = file->lines; other < line; other++)
        if (other->key && strcmp(other->key, line->key) == 0 &&
            same_section(form, other->section, line->section))
            return other;
    return NULL;
}

static void set_line(struct config_file *file, const struct config_form *form, const struct config_line *line,
                     void *ctx)
{
    char why[WHY];
    const struct config_line *before = line->key ? earlier(file, form, line) : NULL;
    if (before)
        config_key_refuse(why, sizeof why, "already set in line %d", before->line);
    int r = before ? -EINVAL : form->set(ctx, line, why);
    file->no_memory |= r == -ENOMEM;
    if (r < 0)
        config_file_error(file, line->line, line->section, line->key ? line->key : "", why);
}

void config_file_apply(struct config_file *file, const struct config_form *form, void *ctx)
{
    for (int turn = 0; turn < form->turns; turn++)
        for (size_t i = 0; i < file->n; i++)
            if (form->turn(&file->lines[i]) == turn)
                set_line(file, form, &file->lines[i], ctx);
}
