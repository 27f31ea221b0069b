import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { rowStates } from '../../src/bulk/run-row.ts';
import { readTable } from '../../src/cli/command-words.ts';
import { commandsOf, makeHelpFiles } from '../../src/cli/help.ts';
import { program } from '../../src/commands/index.ts';
import { formats } from '../../src/output/formats.ts';
import { exitCodes } from '../../src/process/errors.ts';
import { type RunOptions, runCli } from '../helpers/run-cli.ts';
import { spawnCli } from '../helpers/spawn-cli.ts';

const paths: (readonly string[])[] = [];
for await (const { path } of commandsOf(program)) paths.push(path);

/** Commands with so many flags, keys or verbs that their help needs more lines; that of help is the whole list. */
const longHelps =
  /^(|\w+ (create|update)|inventory (diff|apply)|api (bind|request)|serve|smoke|config set|profile create|completion|help)$/;

test('the help of a command fits 80 columns without its examples, and mostly 24 lines', async () => {
  for (const path of paths) {
    const { stdout } = await runCli([...path, '--help']);
    const prose = stdout.split('\n');
    expect(
      prose.filter((line) => line.length > 80 && !line.startsWith('  petstore ')),
      path.join(' '),
    ).toEqual([]);
    expect(prose[0], path.join(' ')).toMatch(/^Usage: petstore/);
    expect(prose, path.join(' ')).toContain('Examples:');
    const isLong = longHelps.test(path.join(' '));
    if (!isLong) expect(stdout.trimEnd().split('\n').length, path.join(' ')).toBeLessThanOrEqual(24);
  }
});

test('the files that the build made are those of the commands as they are', async () => {
  for (const [name, text] of Object.entries(await makeHelpFiles(program)))
    expect(readFileSync(join('dist', name), 'utf8') === text, name).toBe(true);
});

test.each([
  '',
  '--help',
  'help pets list',
  'pets get 3 --help',
  'pets',
  'pets lsit',
  'help lost',
  '__complete -- pe',
  '__complete -- pets list --s',
  '__complete -- pets list --status available -o ',
])('the program answers petstore %s as the file for it does', async (line) => {
  const words = line === '' ? [] : line.split(' ');
  const { code, stdout, stderr } = await spawnCli(words);
  expect(await runCli(words)).toEqual({ code, stdout, stderr });
});

test.each<readonly [isBold: boolean, line: string, options: RunOptions]>([
  [true, 'pets list --help', { terminals: ['stdout'] }],
  [true, 'pets list --help --color always', {}],
  [false, 'pets list --help', {}],
  [false, 'pets list --help', { terminals: ['stdout'], env: { NO_COLOR: '1' } }],
  [true, 'help runs', { terminals: ['stdout'] }],
  // It goes to stderr.
  [true, 'pets', { terminals: ['stderr'] }],
])('the titles of a help are bold, %s, with petstore %s and %j', async (isBold, line, options) => {
  const { stdout, stderr } = await runCli(line, options);
  expect(/^\x1b\[1m(?:Usage|Runs):\x1b\[22m /.test(stdout + stderr)).toBe(isBold);
});

test.each(readTable('dist').topics)(
  'help %s fits 40 lines of 80 columns, except for commands to copy',
  async (topic) => {
    const { code, stdout } = await runCli(['help', topic]);
    expect(code).toBe(0);
    const lines = stdout.trimEnd().split('\n');
    expect(lines.filter((line) => line.length > 80 && !line.includes('petstore '))).toEqual([]);
    expect(lines.length).toBeLessThanOrEqual(40);
  },
);

test('help runs names every state of a row, environment the variables, formats every format, exit-codes every code', async () => {
  const runs = (await runCli(['help', 'runs'])).stdout;
  for (const state of rowStates) expect(runs).toContain(state);
  const variables = (await runCli(['help', 'environment'])).stdout;
  for (const word of ['PETSTORE_TOKEN', 'NO_COLOR', 'TERM', 'CI'])
    expect(variables).toMatch(new RegExp(`^${word}\\b`, 'm'));
  const formatLines = (await runCli(['help', 'formats'])).stdout;
  for (const format of Object.keys(formats)) expect(formatLines).toMatch(new RegExp(`^${format} `, 'm'));
  expect(formatLines).toMatch(/A table\s+has control characters as escapes/);
  const codes = (await runCli(['help', 'exit-codes'])).stdout;
  for (const [kind, code] of Object.entries(exitCodes))
    expect(codes).toMatch(new RegExp(`^${code} +${kind}\\b`, 'm'));
});
