#!/bin/sh
# header.sh HEADER prints it as it is installed under papertape/env: it includes its neighbours there, and
# C++ can read it. What a policy's rules are is not part of it.
set -eu
sed -e 's,^#include "trainer/env/\(.*\)",#include <papertape/env/\1>,' \
    -e 's,^#include "exchange/\(.*\)",#include <papertape/env/\1>,' \
    -e 's,^#include "record/\(.*\)",#include <papertape/env/\1>,' \
    -e 's,^#include "strategy/policy/rules.h",struct policy_symbol;,' \
    -e 's,\[static ,[,g' "$1"
