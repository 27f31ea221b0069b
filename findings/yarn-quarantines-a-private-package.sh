#!/usr/bin/env bash
# A version that was published to a private registry a minute ago is not installed by Yarn 4.18: its gate of a day
# (npmMinimalAgeGate) is on as installed, and knows no difference between a public registry and one's own. An exact version is
# refused too. npm and pnpm take it. npmPreapprovedPackages names the packages that need not wait.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null; wait 2>/dev/null; rm -rf "$folder"' EXIT
cd "$folder"
echo '{ "private": true, "overrides": { "node-fetch": "2.6.7" } }' >package.json # the version that verdaccio names by a tag
npm install --silent --no-audit --no-fund verdaccio@6.10.4 pnpm@12.21.0 @yarnpkg/cli-dist@4.18.1 node@26.10.0 >/dev/null 2>&1
export PATH="$folder/node_modules/.bin:$PATH" HOME="$folder/home" YARN_ENABLE_TELEMETRY=0
port=$(node -e "const s = require('node:net').createServer().listen(0, '127.0.0.1', () => { console.log(s.address().port); s.close(); })")
registry=http://127.0.0.1:$port/
printf '%s\n' 'storage: ./storage' 'uplinks: {}' 'packages: { "**": { access: $all, publish: $all } }' >config.yaml
node node_modules/.bin/verdaccio --config config.yaml --listen "127.0.0.1:$port" >log 2>&1 &
until node -e "fetch('${registry}-/ping').then(() => process.exit(0), () => process.exit(1))"; do sleep 0.2; done
mkdir home tool
printf 'registry=%s\n//127.0.0.1:%s/:_authToken=none\n' "$registry" "$port" >home/.npmrc
echo '{ "name": "shop-tool", "version": "1.0.0" }' >tool/package.json
npm publish --silent ./tool >/dev/null 2>&1
export YARN_NPM_REGISTRY_SERVER=$registry YARN_UNSAFE_HTTP_WHITELIST=127.0.0.1
# add <command>: whether it installs the package into a new folder
add() {
  rm -rf project && mkdir project && cd project
  echo '{ "name": "project", "private": true }' >package.json && touch yarn.lock
  if "$@" >../output 2>&1; then echo taken; else grep -o -m1 quarantined ../output || tail -5 ../output; fi
  cd ..
}
seen="npm $(npm --version): $(add npm install --no-audit shop-tool)
pnpm $(pnpm --version): $(add pnpm add shop-tool)
Yarn $(yarn --version): $(add yarn add shop-tool)
Yarn, the exact version: $(add yarn add shop-tool@1.0.0)
Yarn, the package named in npmPreapprovedPackages: $(YARN_NPM_PREAPPROVED_PACKAGES=shop-tool add yarn add shop-tool)"
echo "verdaccio $(node -p "require('./package-lock.json').packages['node_modules/verdaccio'].version")"
echo "$seen"
[ "$(sed 's/.*: //' <<<"$seen" | tr '\n' ' ')" = 'taken taken quarantined quarantined taken ' ]
