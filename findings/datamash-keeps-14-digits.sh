#!/usr/bin/env bash
# GNU datamash counts in long double, which is exact to 2^64, but writes 14 digits: the largest of the ids 100000000000001 and
# 100000000000002 is written as 1e+14, and so are the smallest and a sum. What it only groups by or collects it copies. With
# `--format %.0f` the digits are all there.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq datamash=1.7-2 2>/dev/null
dpkg -x datamash_*.deb .
ids() { printf '%s\n' 100000000000001 100000000000002 9223372036854775807; }
usr/bin/datamash --version | sed -n 1p
small=$(ids | sed -n 1,2p | usr/bin/datamash max 1)
large=$(ids | usr/bin/datamash max 1 min 1 collapse 1 | tr '\t' ' ')
exact=$(ids | usr/bin/datamash --format %.0f max 1 min 1 | tr '\t' ' ')
printf '%s\n' "largest of two: $small" "largest, smallest, collected: $large" "largest, smallest with --format %.0f: $exact"
[ "$small" = 1e+14 ]
[ "$large" = '9.2233720368548e+18 1e+14 100000000000001,100000000000002,9223372036854775807' ]
[ "$exact" = '9223372036854775807 100000000000001' ]
