#!/usr/bin/env bash
# npm 11 warns that the script `prepare` of a package that comes as a file is not yet allowed. It does not run that script for
# a file, not even if all scripts are allowed. A package that keeps its build in `prepare` makes everybody who installs its
# packed file read a warning about nothing.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix tool npm@11.19.1 >/dev/null
npm="$folder/tool/node_modules/.bin/npm"
mkdir package user
cat >package/package.json <<END
{ "name": "built-at-home", "version": "1.0.0", "scripts": { "prepare": "echo ran >> $folder/ran" } }
END
(cd package && "$npm" pack --silent --ignore-scripts >/dev/null)
cd user
echo '{ "private": true }' >package.json
said=$("$npm" install --no-audit --no-fund ../package/built-at-home-1.0.0.tgz 2>&1)
rm -rf node_modules
"$npm" install --no-audit --no-fund --dangerously-allow-all-scripts >/dev/null 2>&1
echo "npm $("$npm" --version), Node $(node --version)"
echo "$said"
ran=$([ -e ../ran ] && echo 'has run' || echo 'has not run')
echo "prepare $ran, with all scripts allowed"
[[ $said == *'built-at-home@1.0.0 (prepare: '* ]] && [ "$ran" = 'has not run' ]
