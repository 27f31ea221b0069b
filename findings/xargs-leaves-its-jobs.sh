#!/usr/bin/env bash
# `xargs -P` ends with 124 as soon as a job ends with 255, which is what ssh says of a host that it cannot reach. If jobs are still to
# be started by then, it waits for those that run; if all are started, it does not: they go on behind the back of the script, whose
# next step meets half of their work. With any other code xargs waits for all, and ends with 123.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq findutils=4.9.0-4 2>/dev/null
dpkg -x findutils_*.deb .
# Job 1 fails while job 2 works.
cat >job <<'END'
#!/bin/sh
[ "$2" = 1 ] && { until [ -e begun2 ]; do sleep 0.1; done; sleep 0.5; exit "$1"; }
: >"begun$2"; sleep 2; : >"done$2"
END
chmod +x job
# end <exit code of job 1> <jobs>: what xargs says, which jobs are done when it has ended, and which are done later
end() {
  rm -f begun* done*
  local code=0 first
  usr/bin/xargs -P 2 -n 1 ./job "$1" <<<"$2" 2>/dev/null || code=$?
  first=$(find . -name 'done*' | sort | tr -d './\n')
  sleep 3
  echo "$code, done when it ends: ${first:-none}, later: $(find . -name 'done*' | sort | tr -d './\n')"
}
usr/bin/xargs --version | sed -n 1p
other=$(end 1 '1 2')
more=$(end 255 '1 2 3')
all=$(end 255 '1 2')
printf '%s\n' "two jobs, one ends with 1: $other" "the first of three ends with 255: $more" "one of two ends with 255: $all"
[ "$other" = '123, done when it ends: done2, later: done2' ]
[ "$more" = '124, done when it ends: done2, later: done2' ]
[ "$all" = '124, done when it ends: none, later: done2' ]
