#!/usr/bin/env bash
# Allure 3 takes a failed test for a passed one if `<failure>`, `<error>` or `<skipped>` has text and no attribute, or if there are
# two of them. The schemas of JUnit reports demand no attribute, and allow several. Another reader says that all five did not pass.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts @allurereport/reader@3.18.0 @allurereport/reader-api@3.18.0 \
  junit-to-ctrf@0.0.14 >/dev/null 2>&1
cat >report.xml <<'END'
<?xml version="1.0" encoding="UTF-8"?>
<testsuites>
  <testsuite name="shop" tests="5" failures="3" errors="1" skipped="1" time="0.005">
    <testcase classname="shop" name="message" time="0.001"><failure message="5 is not 6">at line 7</failure></testcase>
    <testcase classname="shop" name="text" time="0.001"><failure>5 is not 6</failure></testcase>
    <testcase classname="shop" name="two" time="0.001"><failure message="5 is not 6"/><failure message="no pet"/></testcase>
    <testcase classname="shop" name="error" time="0.001"><error>no answer</error></testcase>
    <testcase classname="shop" name="skip" time="0.001"><skipped>later</skipped></testcase>
  </testsuite>
</testsuites>
END
cat >try.mjs <<'END'
import { readFileSync } from 'node:fs';
import { junitXml } from '@allurereport/reader';
import { BufferResultFile } from '@allurereport/reader-api';
import { convertJUnitToCTRFReport } from 'junit-to-ctrf';
const print = (reader, tests) => console.log(`${reader}: ${tests.map(({ name, status }) => `${name} ${status}`).join(', ')}`);
const seen = [];
const visitor = { visitTestResult: async (result) => seen.push(result), visitAttachmentFile: async () => {} };
await junitXml.read(visitor, new BufferResultFile(readFileSync('report.xml'), 'report.xml'));
print('Allure', seen);
print('junit-to-ctrf', (await convertJUnitToCTRFReport('report.xml')).results.tests);
END
for package in @allurereport/reader junit-to-ctrf; do
  echo "$package $(node -p "require('./package-lock.json').packages['node_modules/$package'].version")"
done
seen=$(node try.mjs)
echo "$seen"
[ "$seen" = 'Allure: message failed, text passed, two passed, error passed, skip passed
junit-to-ctrf: message failed, text failed, two failed, error failed, skip skipped' ]
