import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readTable } from '../../src/cli/command-words.ts';
import { commandsOf } from '../../src/cli/help.ts';
import { program } from '../../src/commands/index.ts';
import { runCli } from '../helpers/run-cli.ts';
import { openShell } from '../helpers/shell.ts';
import { testWith } from '../helpers/tools.ts';

const readme = readFileSync('README.md', 'utf8');

/** A command line that the README shows, with the exit code and the output that it shows. */
interface Example {
  readonly line: string;
  readonly code: number;
  /** Undefined if nothing is shown. */
  readonly output: string | undefined;
}

const blocks = [...readme.matchAll(/^```console\n(.*?)^```$/gms)].map(([, block = '']) => block);
const examples: Example[] = blocks.flatMap((block) =>
  block
    .split(/^\$ /m)
    .slice(1)
    .map((text) => {
      const [line = '', ...output] = text.trimEnd().split('\n');
      const code = Number(/# exit code (\d+)$/.exec(line)?.[1] ?? 0);
      return { line, code, output: output.length > 0 ? output.join('\n') : undefined };
    }),
);
/** These need a registry of packages; .ci/run does what they do on a clean clone. */
const isInstallation = ({ line }: Example) => line.startsWith('npm install');
/** A file whose text is shown is written. */
const isFile = ({ line }: Example) => line.startsWith('cat ');

describe('in a terminal, from the first line of the README to the last', () => {
  let shell: Awaited<ReturnType<typeof openShell>>;
  const asRun = (line: string) => line.replaceAll('http://127.0.0.1:4010', shell.url);
  beforeAll(async () => {
    shell = await openShell();
    for (const { line, output } of examples.filter(isFile))
      shell.write(line.slice('cat '.length), `${output}\n`);
  });
  afterAll(() => shell[Symbol.asyncDispose]());

  testWith('bash', 'script', 'jq').each(
    examples.filter((example) => !isInstallation(example) && !isFile(example)),
  )(
    '$line',
    async ({ line, code, output }) => {
      const run = await shell.run(asRun(line), { isTerminal: true, env: { EDITOR: 'true' } });
      expect(run.code, run.output).toBe(code);
      if (output !== undefined) expect(undated(run.output.trimEnd())).toBe(undated(output));
    },
    120_000,
  );
});

/** Dates and times as those of another day. */
function undated(text: string): string {
  return text
    .replaceAll(/\d{4}-\d\d-\d\d( \d\d:\d\d)?/g, '2000-01-01')
    .replaceAll(/\d+(\.\d+)? (ms|s)\b/g, '1 s')
    .replaceAll(/ +$/gm, '');
}

describe('flags', async () => {
  const helps = new Map<string, string>();
  for await (const { path } of commandsOf(program))
    helps.set(path.join(' '), (await runCli([...path, '--help'])).stdout);
  const flagsIn = (help: string) =>
    Array.from(help.matchAll(/^ *(?:-\w, *)?(--[\w-]+)/gm), ([, flag = '']) => flag);
  const globalFlags = [...flagsIn((await runCli(['help', 'flags'])).stdout), '--version'];
  const allFlags = new Set([...globalFlags, ...[...helps.values()].flatMap(flagsIn)]);
  const namedIn = (text: string) => Array.from(text.matchAll(/(?<![\w-])--[a-z][\w-]+/g), ([flag]) => flag);

  /** Of npm and kubectl. */
  const foreign = ['--global', '--tail', '--max-log-requests', '--termseq'];
  const topics = await Promise.all(
    readTable('dist').topics.map(
      async (name) => [`help ${name}`, (await runCli(['help', name])).stdout] as const,
    ),
  );

  test.each([['README', readme] as const, ...topics])('that %s names exist', (_, text) => {
    expect(namedIn(text).filter((flag) => !allFlags.has(flag) && !foreign.includes(flag))).toEqual([]);
  });

  test('that CHANGELOG.md names exist, or are in the first column of a table of what is gone', () => {
    const lines = readFileSync('CHANGELOG.md', 'utf8').split('\n');
    const rows = lines.filter((line) => line.startsWith('| `'));
    const gone = namedIn(rows.map((row) => row.split(' | ')[0]).join('\n'));
    const named = namedIn(lines.filter((line) => !line.startsWith('|')).join('\n'));
    // --jq is of another program.
    expect(named.filter((flag) => ![...allFlags, ...gone, '--jq'].includes(flag))).toEqual([]);
  });

  test.each([...helps])('of the examples in the help of %s belong to their commands', (_, help) => {
    const lines = /^Examples:\n(( .*\n)+)/m.exec(help)?.[1]?.split('\n').filter(Boolean) ?? [];
    expect(lines).not.toEqual([]);
    for (const command of lines.flatMap((line) => line.split(/ -- | \| |\$\(|<\(|=nano /))) {
      const words = command.trim().split(' ').slice(1);
      const names = words
        .filter((word) => !word.startsWith('-'))
        .map((word) => word.replace(/^ls$/, 'list').replace(/^rm$/, 'delete'));
      const ownHelp = [names.slice(0, 3), names.slice(0, 2), names.slice(0, 1)]
        .map((path) => helps.get(path.join(' ')))
        .find(Boolean);
      const flags = [...globalFlags, ...flagsIn(ownHelp ?? '')];
      if (command.trim().startsWith('petstore '))
        expect(
          namedIn(command).filter((flag) => !flags.includes(flag)),
          command,
        ).toEqual([]);
    }
  });
});

const pages = ['README.md', 'CONTRIBUTING.md', 'bench/README.md', 'test/fixtures/README.md'];

test.each(pages)('every file that %s names exists', (page) => {
  const text = readFileSync(page, 'utf8');
  // The tables of CONTRIBUTING.md leave out src/ and test/.
  const paths = Array.from(
    text.matchAll(/[`(]((?:[\w.-]+\/)+(?:[\w-]+\.\w[\w.]*)?)[`)]/g),
    ([, path = '']) => path,
  );
  const isThere = (path: string) => ['.', 'src', 'test'].some((folder) => existsSync(join(folder, path)));
  expect(paths).not.toEqual([]);
  expect(paths.filter((path) => !isThere(path))).toEqual([]);
});

/** The command lines in the first columns of the tables. */
const gone = readFileSync('CHANGELOG.md', 'utf8')
  .split('\n')
  .flatMap((line) => [...(/^\| (`.*?) \| /.exec(line)?.[1] ?? '').matchAll(/`(.*?)`/g)])
  .map(([, line = '']) => line.replace(/<(\w+)>/g, '1'));

test.each(gone)('petstore %s no longer exists and is a usage error', async (line) => {
  const words = line.split(' ');
  const { code, stdout, stderr } = await runCli(['--offline', ...words]);
  expect([code, stdout]).toEqual([2, '']);
  // The error names what is gone: the last flag or its value, or else a word, unless it is one argument too many.
  const flag = words
    .findLast((word) => word.startsWith('-'))
    ?.replace(/=.*/, '')
    .replace(/^-o$/, '--output');
  const ofFlag = `.*unknown flag '${flag}(=…)?'|${flag}( '.*')?:? .*(must be|only)`;
  expect(stderr).toMatch(
    new RegExp(
      `^error: (${flag ? ofFlag : `.*'(${words.join('|').replaceAll('*', '\\*')})'|.*too many arg`})`,
    ),
  );
});
