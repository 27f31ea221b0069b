#!/usr/bin/env bash
# SIGTERM to `npm exec`, npx or `npm run` reaches the shell that npm starts, and no further where that shell is dash, which is the sh of
# Debian and Ubuntu: npm ends with 143 at once, and the program goes on without a parent. With bash as `script-shell`, which becomes the
# program, the program gets the signal, and npm ends with the program's own code.
set -euo pipefail
folder=$(mktemp -d)
chmod 755 "$folder" # apt changes its user
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq dash=0.5.12-2 2>/dev/null
dpkg -x dash_*.deb .
npm init -y >/dev/null
npm install --silent --no-audit --no-fund npm-11@npm:npm@11.19.1 npm-12@npm:npm@12.2.2 >/dev/null 2>&1
cat >node_modules/.bin/program <<'END_OF_PROGRAM'
#!/usr/bin/env node
process.on('SIGTERM', () => process.exit(3));
require('node:fs').writeFileSync('pid', String(process.pid));
setTimeout(() => {}, 20_000);
END_OF_PROGRAM
chmod +x node_modules/.bin/program
npm pkg set scripts.program=program
stop() { # stop <npm> <script-shell> <exec|run>
  rm -f pid
  node "node_modules/$1/bin/npm-cli.js" "$3" --script-shell="$2" program >/dev/null 2>&1 &
  until [ -s pid ]; do sleep 0.1; done
  sleep 0.3
  kill $!
  code=0
  wait $! || code=$?
  sleep 0.3
  if kill -9 "$(cat pid)" 2>/dev/null; then echo "$code and the program goes on"; else echo "$code and the program has ended"; fi
}
for npm in npm-11 npm-12; do
  echo "npm $(node node_modules/$npm/bin/npm-cli.js --version)"
  for how in exec run; do
    with_dash=$(stop $npm "$folder/bin/dash" $how)
    with_bash=$(stop $npm /bin/bash $how)
    printf '%s\n' "$how, dash 0.5.12: $with_dash" "$how, bash ${BASH_VERSION%(*}: $with_bash"
    [ "$with_dash" = '143 and the program goes on' ]
    [ "$with_bash" = '3 and the program has ended' ]
  done
done
