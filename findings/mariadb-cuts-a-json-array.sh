#!/usr/bin/env bash
# MariaDB cuts what `json_arrayagg` makes at `group_concat_max_len`, 1 MiB, in the middle of a record. Its client prints the rest
# and ends with 0; a warning is seen only by those who ask. So 30,000 short records
# are no JSON.
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
ask() { ./usr/bin/mariadb --no-defaults --socket=socket --batch --raw --skip-column-names shop -e "$1"; }
echo "MariaDB $(ask 'select version()')"
records="select json_arrayagg(json_object('id', seq, 'name', 'a pet of the shop')) from seq_1_to_30000"
describe() { node -e '
  const text = require("node:fs").readFileSync(0, "utf8").trimEnd();
  let says = "no JSON";
  try { says = `${JSON.parse(text).length} records`; } catch {}
  console.log(`${text.length} characters, ${says}`);
'; }
seen=$(
  ask "$records" >cut.json && echo "exit 0: $(describe <cut.json)"
  ask "set group_concat_max_len = 100000000; $records" >whole.json && echo "with a larger limit: $(describe <whole.json)"
)
echo "$seen"
[ "$seen" = 'exit 0: 1048578 characters, no JSON
with a larger limit: 1278895 characters, 30000 records' ]
