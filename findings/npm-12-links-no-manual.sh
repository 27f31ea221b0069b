#!/usr/bin/env bash
# A package names manual pages in `man` of its package.json, and `npm install --global` has always linked them, so that
# `man <command>` found them. npm 12 does not, and the installation says nothing; a note in its page on package.json does.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir package
echo '{ "name": "with-manual", "version": "1.0.0", "bin": { "with-manual": "run.js" }, "man": ["with-manual.1"] }' >package/package.json
echo '#!/usr/bin/env node' >package/run.js
echo '.TH WITH-MANUAL 1' >package/with-manual.1
for package in npm@11.19.1 npm@12.2.2; do
  version=${package#npm@}
  npm install --silent --no-audit --no-fund --prefix "npm-$version" "$package" >/dev/null 2>&1
  npm="$folder/npm-$version/node_modules/npm/bin/npm-cli.js"
  (cd package && node "$npm" pack --silent >/dev/null 2>&1)
  said=$(node "$npm" install --global --prefix "$folder/global-$version" --no-audit --no-fund "$folder/package/with-manual-1.0.0.tgz" 2>&1 | grep -iw man || true)
  page=$(cd "global-$version" && find share -name '*.1' 2>/dev/null || true)
  echo "npm $version: command $(ls "global-$version/bin"), manual page ${page:-none}, said of it: ${said:-nothing}" | tee -a seen
done
grep -q 'npm 11.* page share/man/man1/with-manual.1, said of it: nothing' seen && grep -q 'npm 12.* page none, said of it: nothing' seen
