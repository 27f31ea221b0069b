#!/usr/bin/env bash
# A suite within a suite, as Jenkins' schema of JUnit reports has it and as several test runners write it, is left out silently by
# three readers: Allure 3, test-results-parser and junitxml-to-javascript. A failed test in it is not there at all, so the report is
# green. junit-to-ctrf reads it.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts @allurereport/reader@3.18.0 @allurereport/reader-api@3.18.0 \
  test-results-parser@0.4.6 junitxml-to-javascript@1.1.4 junit-to-ctrf@0.0.14 >/dev/null 2>&1
cat >report.xml <<'END'
<?xml version="1.0" encoding="UTF-8"?>
<testsuites>
  <testsuite name="shop" tests="2" failures="1" time="0.002">
    <testcase classname="shop" name="outer" time="0.001"/>
    <testsuite name="orders" tests="1" failures="1" time="0.001">
      <testcase classname="shop.orders" name="inner" time="0.001"><failure message="5 is not 6"/></testcase>
    </testsuite>
  </testsuite>
</testsuites>
END
cat >try.mjs <<'END'
import { readFileSync } from 'node:fs';
import { junitXml } from '@allurereport/reader';
import { BufferResultFile } from '@allurereport/reader-api';
import { convertJUnitToCTRFReport } from 'junit-to-ctrf';
import Parser from 'junitxml-to-javascript';
import parser from 'test-results-parser';
const text = readFileSync('report.xml');
const seen = [];
const visitor = { visitTestResult: async (result) => seen.push(result), visitAttachmentFile: async () => {} };
await junitXml.read(visitor, new BufferResultFile(text, 'report.xml'));
const readers = {
  Allure: seen,
  'test-results-parser': parser.parse({ type: 'junit', files: ['report.xml'] }).suites.flatMap(({ cases }) => cases),
  'junitxml-to-javascript': (await new Parser().parseXMLString(`${text}`)).testsuites.flatMap(({ testCases }) => testCases),
  'junit-to-ctrf': (await convertJUnitToCTRFReport('report.xml')).results.tests,
};
for (const [name, tests] of Object.entries(readers)) console.log(`${name}: ${tests.map((test) => test.name).join(', ')}`);
END
for package in @allurereport/reader test-results-parser junitxml-to-javascript junit-to-ctrf; do
  echo "$package $(node -p "require('./package-lock.json').packages['node_modules/$package'].version")"
done
seen=$(node try.mjs)
echo "$seen"
[ "$seen" = 'Allure: outer
test-results-parser: outer
junitxml-to-javascript: outer
junit-to-ctrf: outer, inner' ]
