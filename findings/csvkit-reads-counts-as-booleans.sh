#!/usr/bin/env bash
# csvsort of csvkit guesses the type of each column. It takes a column of counts that has only 0 and 1 for booleans, and writes True and
# False. A single 2 makes it a column of numbers again. In a file of one record, the id 1 becomes True. `10%` becomes 10. With
# --no-inference all values stay as they are.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
for package in csvkit=1.0.7-1 python3-csvkit=1.0.7-1 python3-agate=1.6.3-2 python3-babel=2.10.3-1 python-babel-localedata=2.10.3-1 \
  python3-isodate=0.6.1-1 python3-leather=0.3.4-2 python3-parsedatetime=2.6-3 python3-pytimeparse=1.1.5-3 python3-slugify=4.0.0-2 \
  python3-text-unidecode=1.3-1 python3-six=1.16.0-4 python3-tz=2022.7.1-4 python3-future=0.18.2-6; do
  apt-get download -qq "$package" 2>/dev/null
done
for file in *.deb; do dpkg -x "$file" .; done
export PYTHONPATH="$folder/usr/lib/python3/dist-packages"
sorted() { /usr/bin/python3 usr/bin/csvsort --columns 1 "$@" | tail -n +2 | tr '\n' ' '; }
printf 'petId,count\n3,0\n2,1\n' >scarce.csv
printf 'petId,count\n3,0\n2,2\n' >plenty.csv
printf 'petId,discount\n1,10%%\n' >single.csv
echo "csvkit $(/usr/bin/python3 usr/bin/csvsort --version 2>&1 | cut -d' ' -f2), $(/usr/bin/python3 --version)"
seen=$(for file in scarce.csv plenty.csv single.csv; do echo "$file: $(sorted $file)"; done)
exact=$(sorted --no-inference scarce.csv)
printf '%s\n' "$seen" "scarce.csv with --no-inference: $exact"
[ "$seen" = 'scarce.csv: 2,True 3,False 
plenty.csv: 2,2 3,0 
single.csv: True,10 ' ]
[ "$exact" = '2,1 3,0 ' ]
