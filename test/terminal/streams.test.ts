import { expect, test } from 'vitest';
import { openStreams } from '../../src/output/streams.ts';
import { createSecrets } from '../../src/process/secrets.ts';
import { breakRunnerCommands, minuteText, sanitize } from '../../src/process/text.ts';
import { printPets, rex } from '../helpers/list-pets.ts';
import { fakeIo, runCli } from '../helpers/run-cli.ts';

const names = ['::error::x', 'a\n::set-output name=x::y', '##[group]x', '##vso[a.b]', 'section_start:1:x'];
const pets = names.map((name) => ({ ...rex, name }));

test.each(['GITHUB_ACTIONS', 'GITLAB_CI', 'TF_BUILD'])(
  'with %s a runner obeys nothing in a table or on stderr',
  async (runner) => {
    const env = { [runner]: 'true' };
    const shown = await printPets(pets, '--fields name', { env });
    expect(shown).not.toMatch(/^\s*(::|section_start:)|##\[|##vso\[/m);
    expect(await printPets(pets, '--fields name')).toContain('##[group]x');
    const { stderr } = await runCli(['pets', 'get', '##[group]x', '--offline'], { env });
    expect(stderr).toContain('##\\u005bgroup]x');
  },
);

test.each(['json', 'jsonl', 'csv', 'tsv', 'yaml', 'ids'])(
  '%s is the same data in a CI job',
  async (format) => {
    const flags = `--fields name -o ${format}`;
    expect(await printPets(pets, flags, { env: { GITHUB_ACTIONS: 'true' } })).toBe(
      await printPets(pets, flags),
    );
  },
);

test('annotations stay; secrets are masked on stderr alone', async () => {
  const fake = fakeIo({ env: { GITHUB_ACTIONS: 'true' } });
  const secrets = createSecrets();
  secrets.add('s3cret');
  const { stdout, stderr } = openStreams(fake, secrets).io;
  await stdout.write('::error::s3cret\n', { isRaw: true });
  await stderr.write('::error::s3cret\n');
  expect(fake.written('stdout')).toBe('::error::s3cret\n');
  expect(fake.written('stderr')).toBe(':\\u003aerror::***\n');
});

test.each([
  ['::error::x', ':\\u003aerror::x'],
  ['a\r::error::x', 'a\r:\\u003aerror::x'],
  ['section_start:1:a', 'section_start\\u003a1:a'],
  ['##[error]x', '##\\u005berror]x'],
  ['a ##VSO[task.complete]', 'a ##VSO\\u005btask.complete]'],
  ['a\nstd::string', 'a\nstd::string'],
])('a CI job shows %j as %j', (text, shown) => {
  expect(breakRunnerCommands(text)).toBe(shown);
});

test.each([
  ['\x1b[31m', '\\x1b[31m'],
  ['\x00\t\n\r\x7f', '\\x00\\x09\\x0a\\x0d\\x7f'],
  ['\x80\x9b\x9f', '\\x80\\x9b\\x9f'],
  ['\u061c\u200e\u200f\u202a\u202e\u2066\u2069', '\\u061c\\u200e\\u200f\\u202a\\u202e\\u2066\\u2069'],
  ['\u2028\u2029', '\\u2028\\u2029'],
  ['\ud800 \udc00 \ud83d\ude00', '\\ud800 \\udc00 😀'],
])('%j becomes visible', (text, shown) => {
  expect(sanitize(text)).toBe(shown);
});

const plain = ['Rex', '猫', 'é', 'e\u0301', '❤\ufe0f', 'Ω≈ç√', '\u00a0', '\\x1b'];
const joined = ['👩\u200d👩\u200d👧', '🧑🏽\u200d🚀', '🏳\ufe0f\u200d🌈', 'می\u200cخواهم', 'क्\u200dष'];

test.each([...plain, ...joined])('%j stays as it is', (text) => {
  expect(sanitize(text)).toBe(text);
});

test.each([
  [new Date(2026, 10, 24, 9, 5).toISOString(), '2026-11-24 09:05'],
  [new Date(2026, 10, 24, 9, 5, 59).toISOString().replace(':59.000Z', ':60Z'), '2026-11-24 09:05'],
  ['2026-12-02T00:00:00Z', '2026-12-02'],
  ['2026-12-01 19:00:00 -0500', '2026-12-02'],
  ...['soon', '1.2.2027', '2026-12-02T12:30:15:60Z', 'Week 12', '2026-02-30'].map((text) => [text, text]),
])('the moment %s is printed as %s, in the time zone of the process', (text, printed) => {
  expect(minuteText(text)).toBe(printed);
});

test.each<[isTerminal: boolean, env: Record<string, string>, isColored: boolean]>([
  [true, {}, true],
  [false, {}, false],
  [true, { NO_COLOR: '1' }, false],
  [true, { TERM: 'dumb' }, false],
  [false, { FORCE_COLOR: '1' }, true],
  [true, { FORCE_COLOR: '0' }, false],
  [true, { FORCE_COLOR: 'false' }, false],
  [true, { FORCE_COLOR: '1', NO_COLOR: '1', TERM: 'dumb' }, true],
])('terminal %s with %j has colour: %s; --color decides otherwise', async (isTerminal, env, isColored) => {
  // Each stream has its own colour: stderr is the other kind.
  for (const stream of ['stdout', 'stderr'] as const) {
    const other = stream === 'stdout' ? 'stderr' : 'stdout';
    const terminals = [isTerminal ? stream : other];
    const colors = async (flags: string) => {
      const run = await runCli(`--offline pets get 1 999 -q${flags}`, { terminals, env });
      return run[stream].includes('\x1b[');
    };
    expect(await colors('')).toBe(isColored);
    expect(await colors(' --color always')).toBe(true);
    expect(await colors(' --color never')).toBe(false);
  }
});
