#!/bin/sh
# header.sh HEADER prints the header as it is installed under papertape/env: with the includes renamed, readable
# by C++, and without strategy/policy/rules.h.
set -eu
sed -e 's,^#include "trainer/env/\(.*\)",#include <papertape/env/\1>,' \
    -e 's,^#include "exchange/\(.*\)",#include <papertape/env/\1>,' \
    -e 's,^#include "record/\(.*\)",#include <papertape/env/\1>,' \
    -e 's,^#include "strategy/policy/rules.h",struct policy_symbol;,' \
    -e 's,^#include "strategy/policy/\(limits.h\)",#include <papertape/env/\1>,' \
    -e 's,\[static ,[,g' "$1"
