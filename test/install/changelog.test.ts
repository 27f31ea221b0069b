import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { runCli } from '../helpers/run-cli.ts';

/** The command lines in the first columns of the tables. */
const gone = readFileSync('CHANGELOG.md', 'utf8')
  .split('\n')
  .flatMap((line) => [...(/^\| (`.*?) \| /.exec(line)?.[1] ?? '').matchAll(/`(.*?)`/g)])
  .map(([, line = '']) => line.replace(/<(\w+)>/g, '1'));

test.each(gone)('petstore %s no longer exists and is a usage error', async (line) => {
  const words = line.split(' ');
  const { code, stdout, stderr } = await runCli(['--offline', ...words]);
  expect([code, stdout]).toEqual([2, '']);
  // The error names what is gone: the last flag or its value, or else a word.
  const flag = words
    .findLast((word) => word.startsWith('-'))
    ?.replace(/=.*/, '')
    .replace(/^-o$/, '--output');
  const ofFlag = `.*unknown option '${flag}(=…)?'|${flag}( '.*')?: .*must be `;
  expect(stderr).toMatch(
    new RegExp(`^error: (${flag ? ofFlag : `.*'(${words.join('|').replaceAll('*', '\\*')})'`})`),
  );
});
