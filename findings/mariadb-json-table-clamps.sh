#!/usr/bin/env bash
# MariaDB's `json_table` puts the nearest value that fits in place of one that does not: an id beyond int64 becomes the largest id, a count
# the largest count, and a long name its beginning. `error on error` and the strict mode change nothing, an INSERT from it ends with 0,
# and its client shows no warning unless it is asked. The same values in VALUES are refused.
set -euo pipefail
folder=$(mktemp -d)
chmod 755 "$folder"
trap 'kill $(cat "$folder/pid" 2>/dev/null) 2>/dev/null; wait; rm -rf "$folder"' EXIT
cd "$folder"
version=1:10.11.19-0+deb12u1
apt-get download -qq mariadb-server-core=$version mariadb-client-core=$version mariadb-common=$version libmariadb3=$version \
  libconfig-inifiles-perl liburing2 libaio1 libnuma1 libsnappy1v5 >/dev/null 2>&1
for package in *.deb; do dpkg-deb -x "$package" .; done
library="$folder/usr/lib/$(uname -m)-linux-gnu:$folder/lib/$(uname -m)-linux-gnu"
export LD_LIBRARY_PATH="$library"
# A server that asks for no password needs no tables of its own.
mkdir -p data/shop
./usr/sbin/mariadbd --no-defaults --user="$(id -un)" --datadir="$folder/data" --lc-messages-dir="$folder/usr/share/mysql" \
  --socket="$folder/socket" --pid-file="$folder/pid" --skip-networking --skip-grant-tables >log 2>&1 &
for _ in $(seq 100); do [ -S socket ] && break || sleep 0.2; done
ask() { ./usr/bin/mariadb --no-defaults --socket=socket --batch --raw --skip-column-names shop -e "$1" 2>&1; }
echo "MariaDB $(ask 'select version(), @@sql_mode')"
ask 'create table pets (id bigint primary key, quantity int, name varchar(4))'
cat >insert.sql <<'END'
insert into pets select * from json_table('[{"id":9223372036854775808,"quantity":3000000000,"name":"Rosalind"}]', '$[*]' columns (
  id bigint path '$.id' error on error, quantity int path '$.quantity' error on error, name varchar(4) path '$.name' error on error)) pets
END
seen=$(
  code=0; ask "$(cat insert.sql)" || code=$?
  echo "json_table: exit $code, $(ask 'select id, quantity, name from pets' | tr '\t' ' ')"
  for values in "9223372036854775808, 1, 'Rex'" "1, 3000000000, 'Rex'" "1, 1, 'Rosalind'"; do
    echo "values ($values): $(ask "insert into pets values ($values)" | grep -o 'ERROR [0-9]*')"
  done
)
echo "$seen"
[ "$seen" = "json_table: exit 0, 9223372036854775807 2147483647 Rosa
values (9223372036854775808, 1, 'Rex'): ERROR 1264
values (1, 3000000000, 'Rex'): ERROR 1264
values (1, 1, 'Rosalind'): ERROR 1406" ]
