#!/usr/bin/env bash
# test-results-parser reads JUnit reports for messages to chats and dashboards. It leaves references to numbers as they are
# (`&#10;`, which Surefire and others write for a line feed in a message), and decodes `&amp;lt;` in an attribute twice.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund test-results-parser@0.4.6 saxes@6.0.0 >/dev/null 2>&1
cat >report.xml <<'END'
<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="s" tests="1" failures="1"><testcase classname="c" name="a &#60; b"><failure message="one&#10;two &amp;lt;" type="t">body &#60; &lt;</failure></testcase></testsuite>
END
cat >try.cjs <<'END'
const { readFileSync } = require('node:fs');
const { parse } = require('test-results-parser');
const { SaxesParser } = require('saxes');
const [{ name, failure, stack_trace }] = parse({ type: 'junit', files: ['report.xml'] }).suites[0].cases;
const values = [name, failure, stack_trace];
const strict = [];
const parser = new SaxesParser();
parser.on('opentag', ({ attributes }) => strict.push(attributes.name, attributes.message));
parser.on('text', (text) => strict.push(text));
parser.write(readFileSync('report.xml', 'utf8')).close();
const truth = ['a < b', 'one\ntwo &lt;', 'body < <'];
for (const [at, value] of values.entries()) console.log(`${JSON.stringify(truth[at])} is read as ${JSON.stringify(value)}`);
const isTruth = truth.every((text) => strict.includes(text));
process.exit(isTruth && values.join('|') === 'a &#60; b|one&#10;two <|body &#60; <' ? 0 : 1);
END
echo "test-results-parser $(node -p "require('./package-lock.json').packages['node_modules/test-results-parser'].version")"
node try.cjs
