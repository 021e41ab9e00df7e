#!/bin/sh
# man_page.sh SCDOC PAGE.scd PROGRAM NAME: a program's page, with its options and exit statuses from its rows below
# the headings OPTIONS and EXIT STATUS.
set -eu
page=$("$1" <"$2")
rows=$("$3" help --man "$4")
printf '%s\n' "$page" | ROWS=$rows awk '
    BEGIN { split(ENVIRON["ROWS"], part, "\n[.]SH EXIT STATUS\n") }
    { print }
    $0 == ".SH OPTIONS" { print part[1] }
    $0 == ".SH EXIT STATUS" { print part[2] }'
