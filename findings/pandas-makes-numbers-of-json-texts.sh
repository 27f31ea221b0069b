#!/usr/bin/env bash
# JSON says what is a text, yet pandas.read_json makes numbers of a column of texts that all look like numbers: the codes "007" and
# "1e3" become 7 and 1000, and are written as such. One text of another look keeps the whole column. With dtype=False they stay texts.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
for package in python3-pandas=1.5.3+dfsg-2 python3-pandas-lib=1.5.3+dfsg-2 python3-numpy=1:1.24.2-1+deb12u1 \
  python3-dateutil=2.8.2-2 python3-six=1.16.0-4 python3-tz=2022.7.1-4 libblas3=3.11.0-2 liblapack3=3.11.0-2 \
  libgfortran5=12.2.0-14+deb12u1 libquadmath0=12.2.0-14+deb12u1; do
  apt-get download -qq "$package" 2>/dev/null
done
for file in *.deb; do dpkg -x "$file" .; done
library="$folder/usr/lib/$(uname -m)-linux-gnu"
export PYTHONPATH="$folder/usr/lib/python3/dist-packages" LD_LIBRARY_PATH="$library:$library/blas:$library/lapack"
printf '%s\n' '{"id":1,"name":"007"}' '{"id":2,"name":"1e3"}' >numbers.jsonl
printf '%s\n' '{"id":1,"name":"007"}' '{"id":2,"name":"Rex"}' >mixed.jsonl
cat >try.py <<'END'
import pandas
for name, options in [("numbers", {}), ("mixed", {}), ("numbers", {"dtype": False})]:
    records = pandas.read_json(f"{name}.jsonl", lines=True, **options)
    print(name, options, records.to_json(orient="records"))
END
echo "pandas $(/usr/bin/python3 -c 'import pandas; print(pandas.__version__)'), $(/usr/bin/python3 --version)"
seen=$(/usr/bin/python3 try.py)
echo "$seen"
[ "$seen" = "numbers {} [{\"id\":1,\"name\":7},{\"id\":2,\"name\":1000}]
mixed {} [{\"id\":1,\"name\":\"007\"},{\"id\":2,\"name\":\"Rex\"}]
numbers {'dtype': False} [{\"id\":1,\"name\":\"007\"},{\"id\":2,\"name\":\"1e3\"}]" ]
