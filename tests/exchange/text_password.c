/* Passwords of URLs, mistyped ones too, and of libpq's words become stars, and nothing else does. */
#include <stdio.h>
#include <string.h>

#include "exchange/text_password.h"
#include "tests/check.h"

static void test_hidden(void)
{
    static const char *const cases[][2] = {
        {"postgresql://pt:PW@host/db", "postgresql://pt:**@host/db"},
        {"postgresql+psycopg2://pt:P W/@host/db", "postgresql+psycopg2://pt:****@host/db"},
        {"postgresql//pt:PW@host/db", "postgresql//pt:**@host/db"},
        {"postgresql:/pt:PW@host/db", "postgresql:/pt:**@host/db"},
        {"postgresql:pt:PW@host/db", "postgresql:pt:**@host/db"},
        {"Postgres://pt:P@W@host/db", "Postgres://pt:***@host/db"},
        {"mysql://pt:PW@host/db", "mysql://pt:**@host/db"},
        {"pt:PW@localhost/db", "pt:**@localhost/db"},
        {"host=localhost user=pt password=PW dbname=x", "host=localhost user=pt password=** dbname=x"},
        {"host=h password = 'P W\\'' dbname=x", "host=h password = ******' dbname=x"},
        {"postgresql://host/db?passwrd=PW&sslmode=x", "postgresql://host/db?passwrd=**&sslmode=x"},
        {"postgresql://host/db?sslmode=x&Password=P W", "postgresql://host/db?sslmode=x&Password=***"},
        {"postgresql://host/db?sslpassword=PW", "postgresql://host/db?sslpassword=**"},
        {"postgresql://host/db?pwd=PW", "postgresql://host/db?pwd=**"},
        {"x: study: postgresql://pt:PW@host/db: one too many",
         "x: study: postgresql://pt:**@host/db: one too many"},
        {"x: \"pt:PW@host/db\": sqlite:///F is right", "x: \"pt:**@host/db\": sqlite:///F is right"},
        {"https://pt:PW@host/x", "https://pt:**@host/x"},
        {"x: postgresql://pt:CUTOF", "x: postgresql://pt:*****"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[128];
        snprintf(text, sizeof text, "%s", cases[i][0]);
        CHECK(text_hide_passwords(text));
        CHECK_STR(text, cases[i][1]);
    }
}

static void test_left(void)
{
    static const char *const texts[] = {
        "",
        "postgresql://pt@host:5432/db?sslmode=verify-full",
        "postgresql://host:5432/db?passfile=/etc/pgpass",
        "postgresql://[::1]:5432/db",
        "postgresql://host/db",
        "sqlite:////srv/a.db?timeout=3",
        "papertape: study: ppo@2024: sqlite:///FILE or postgresql://USER@HOST/DATABASE: is right",
        "papertape: fetch: --rest-url http://127.0.0.1:1: a URL like https://HOST:PORT is needed",
        "/srv/studies.db",
        "ppo@2024-01-01T10:00:00",
        "=",
        "?=&",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char text[128];
        snprintf(text, sizeof text, "%s", texts[i]);
        CHECK(!text_hide_passwords(text));
        CHECK_STR(text, texts[i]);
    }
}

int main(void)
{
    test_hidden();
    test_left();
    return check_done("exchange/text_password");
}
