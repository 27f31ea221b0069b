import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { type ConfigFolder, openConfig } from '../helpers/config-folder.ts';
import { listenHere } from '../helpers/listen.ts';
import { misbehave } from '../helpers/misbehaving-server.ts';
import { recordingServer } from '../helpers/recording-server.ts';
import { failed, runCli } from '../helpers/run-cli.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { testWith } from '../helpers/tools.ts';

const createdNames = ["Bob's", 'Say "hi"', 'aa:bb', 'cost $5', 'back\\slash', 'x=y', 'tick`s`', 'no!w'];
const awkwardNames = ['Small mammals', ...createdNames];

const folder = temporaryFolder();
let program: Server;

/** Runs the program in this process for the words that `petstore` of the shells sends: their count, then each, with NULs. */
function answerShells(env: Readonly<Record<string, string>>): Server {
  return createServer((socket) => {
    let received = '';
    socket.setEncoding('utf8').on('data', async (text: string) => {
      received += text;
      const [count, ...words] = received.split('\0').slice(0, -1);
      if (words.length === Number(count)) socket.end((await runCli(words, { env })).stdout);
    });
  });
}

beforeAll(async () => {
  const folders = { PETSTORE_CONFIG_DIR: join(folder, 'config'), PETSTORE_STATE_DIR: join(folder, 'state') };
  const env = { ...folders, PETSTORE_OFFLINE_STORE: join(folder, 'store.json') };
  const stdin = createdNames.map((name) => JSON.stringify({ name })).join('\n');
  await runCli('--offline categories create --from - --yes', { env, stdin });
  program = answerShells(env);
  const port = await listenHere(program);
  const stub = `exec 3<>/dev/tcp/127.0.0.1/${port}; printf '%s\\0' $# "$@" >&3; exec cat <&3\n`;
  writeFileSync(join(folder, 'petstore'), `#!/usr/bin/env bash\n${stub}`, { mode: 0o755 });
  const zsh = [
    'PROMPT=; unsetopt zle_bracketed_paste prompt_sp prompt_cr',
    'autoload -Uz compinit; compinit -u -D',
    `source ${process.cwd()}/completions/_petstore`,
    // Keys that come before the line editor runs would be lost.
    'zle-line-init() { print -n READY }; zle -N zle-line-init',
  ];
  const show = `show() { printf 'GIVEN'; printf '<%s>' "$@"; printf 'SHOWN\\n'; }`;
  mkdirSync(join(folder, 'typed'));
  writeFileSync(join(folder, 'typed', '.zshrc'), [...zsh, show, 'bindkey -e'].join('\n'));
  const bash = [`source ${process.cwd()}/completions/petstore.bash`, show, 'PS1=READY'];
  writeFileSync(join(folder, 'typed', '.bashrc'), bash.join('\n'));
});

afterAll(() => void program.close());

/** What a shell offers at the end of a line: these words and perhaps more, or only these. */
const offered: readonly (readonly [line: string, words: readonly string[], only?: 'only'])[] = [
  ['petstore ', ['pets', 'categories', 'orders', 'inventory']],
  ['petstore --profile x pet ', ['list', 'create', 'delete']],
  ['petstore pets list --status ', ['available', 'pending', 'sold'], 'only'],
  ['petstore pets list --profile ', ['offline'], 'only'],
  ['petstore --offline pets list --category ', ['Birds', 'Cats', 'Dogs']],
  ['petstore --offline pets get C', ['Charlie', 'Cleo', 'Coco']],
  ['petstore api request P', ['PATCH', 'POST', 'PUT'], 'only'],
  ['petstore help e', ['environment', 'exit-codes'], 'only'],
  ['petstore pets list -o js', ['json', 'jsonl'], 'only'],
  ['petstore config set etags ', ['false', 'true'], 'only'],
  ['petstore pets list --s', ['--sort', '--status'], 'only'],
];

const offersOf = { bash: bashOffers, fish: fishOffers };

describe.each(['bash', 'fish'] as const)('%s', (shell) => {
  testWith(...new Set(['bash', shell] as const))('offers nouns, verbs, flags and values', async () => {
    waitForValues();
    const offers = await offersOf[shell](offered.map(([line]) => line));
    for (const [at, [line, words, only]] of offered.entries()) {
      const offer = offers[at]?.toSorted();
      expect(offer, line).toEqual(only ? words : expect.arrayContaining([...words]));
    }
  });
});

testWith('bash', 'fish')('fish offers the next value after a comma, and files', async () => {
  const expected = {
    'list --fields id,na': 'id,name',
    'list --status=so': '--status=sold',
    'create --from READ': 'README.md',
  };
  const offers = await fishOffers(Object.keys(expected).map((words) => `petstore pets ${words}`));
  expect(offers.flat()).toEqual(Object.values(expected));
});

/** What is typed after `pets list`, and the last words of what the shell then reads. */
const typing: readonly (readonly [typed: string, read: string])[] = [
  ...awkwardNames.flatMap((name) =>
    ['', '"', "'"].map((quote) => [`--category ${quote}${name.slice(0, 2)}`, `--category><${name}`] as const),
  ),
  ['--category Small\\ m', '--category><Small mammals'],
  ['--category aa:', '--category><aa:bb'],
  ['--fields id,na', '--fields><id,name'],
  ['--fields=id,na', '--fields=id,name'],
  ['--category=Sm', '--category=Small mammals'],
];

testWith('bash', 'zsh').each(['bash', 'zsh'])('a Tab writes in %s what it reads back', async (shell) => {
  const lines = typing.map(([typed]) => `petstore --offline pets list ${typed}`);
  const home = join(folder, 'typed');
  const places = { HOME: home, ZDOTDIR: home };
  const output = await run('zsh', ['-f', 'test/terminal/type.zsh', shell, ...lines], places);
  const expected = typing.map(([, read]) => `<petstore><--offline><pets><list><${read}>\n`);
  expect(output).toBe(expected.join(''));
});

async function run(file: string, args: readonly string[], more: Readonly<Record<string, string>> = {}) {
  const env = { PATH: `${folder}:${process.env.PATH}`, HOME: folder, ZDOTDIR: folder, TERM: 'dumb' };
  const options = { env: { ...env, LC_ALL: 'C.UTF-8', ...more }, timeout: 25_000 };
  return (await promisify(execFile)(file, args, options)).stdout;
}

const linesOf = (text: string) => text.split('\n').filter((line) => line !== '');

/** Splits each line as bash does, at the characters of COMP_WORDBREAKS too. */
function bashOffers(lines: readonly string[]): Promise<string[][]> {
  const script = `source completions/petstore.bash
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _petstore; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const offers = async (line: string) => {
    const words = line.split(' ').flatMap((word) => word.split(/(?<==)|(?==)/));
    return linesOf(await run('bash', ['-c', script, 'bash', ...words]));
  };
  return Promise.all(lines.map(offers));
}

function fishOffers(lines: readonly string[]): Promise<string[][]> {
  const script = 'source completions/petstore.fish; complete -C "$argv[1]"';
  const offers = async (line: string) =>
    linesOf((await run('fish', ['--no-config', '-c', script, line])).replace(/\t.*/g, ''));
  return Promise.all(lines.map(offers));
}

let config: ConfigFolder;

// Loading the program for the first time takes longer than a Tab waits.
beforeAll(async () => {
  await using server = await recordingServer({}, () => ({ body: [] }));
  await runCli(['categories', 'list', '--base-url', server.url]);
});

beforeEach(() => {
  config = openConfig();
});

/** Returns the lines that the program offers for the last word. */
async function complete(line: string): Promise<string[]> {
  const { stdout } = await config.run(`__complete -- ${line}`);
  return stdout.trimEnd().split('\n');
}

const offeredCategories = (...words: readonly string[]) =>
  config.run(['__complete', '--', ...words, 'pets', 'list', '--category', '']);

/** A Tab waits 300 ms for the values of a service, which can be too short on a busy machine: its clock is stopped. */
function waitForValues(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
}

const none = { code: 0, stdout: '', stderr: '' };
const categories = (...names: readonly string[]) => names.map((name, at) => ({ id: at + 1, name }));

test.each([
  ['pets list --fields ', ['id', 'name', 'category', 'status', 'categoryId']],
  ['pets list --fields id,n', ['id,name']],
  ['runs --fields state,sta', ['state,started']],
  ['runs --fields=id,sta', ['--fields=id,started', '--fields=id,state']],
  ['runs --sort -sta', ['-started', '-state']],
  ['smoke --report j', ['junit=', 'json=']],
  ['runs --fields sta', ['started', 'state']],
  ['pets list --status sold,p', ['sold,pending']],
  ['smoke --skip reach,t', ['reach,tls', 'reach,tls/valid', 'reach,tls/protocol', 'reach,tls/expiry']],
  ['-qo ', ['table', 'json', 'jsonl', 'csv', 'tsv', 'yaml', 'ids']],
  ['serve -- ', [':file']],
  ['pets create --from ', [':file']],
  ['pest ', ['']],
  ['config unset prof', ['profile']],
  ['config --dry', ['']],
  ['runs --dry', ['']],
  ['inventory --dry', ['--dry-run\tshow the request or the plan, and write nothing']],
])('petstore %s<Tab> offers %j', async (line, offers) => {
  waitForValues();
  config.write({ profiles: { shop: {} } });
  expect(await complete(line)).toEqual(offers);
});

test.each<readonly [line: string, offers: readonly (string | RegExp)[]]>([
  ['pets get 1', [/^1\tBella$/m]],
  ['inventory set ', [/^Bella$/m]],
  ['orders complete ', [/^7\t\d+ of [A-Z].*\n8\t.*\n9\t.*\n10\t.*$/]],
  ['pets get Lu', ['Luna']],
  ['inventory adjust be', ['Bella']],
  ['orders list --pet Lu', ['Luna']],
])('petstore --offline %s<Tab> offers %j of the store', async (line, [offer = '']) => {
  waitForValues();
  const offers = (await complete(`--offline ${line}`)).join('\n');
  if (typeof offer === 'string') expect(offers).toBe(offer);
  else expect(offers).toMatch(offer);
});

test.each([
  ['cannot be shown or typed is not offered', ['Dogs', 'a\nb', '\x1b[31m', 'Zo\u00eb'], 'Dogs\nZoë\n'],
  ['reads as something else has its id', ['2.0', 'cats', '-y'], '1\t2.0\ncats\n3\t-y\n'],
  ['several have has its id', ['Dogs', 'cats', 'dogs'], '1\tDogs\ncats\n3\tdogs\n'],
])('a category whose name %s', async (_, names, stdout) => {
  waitForValues();
  await using server = await recordingServer({}, () => ({ body: categories(...names) }));
  expect(await offeredCategories('--base-url', server.url)).toMatchObject({ stdout });
});

test('the script of each shell is printed', async () => {
  const files = { bash: 'petstore.bash', zsh: '_petstore', fish: 'petstore.fish' };
  for (const [shell, file] of Object.entries(files))
    expect((await runCli(['completion', shell])).stdout).toBe(readFileSync(`completions/${file}`, 'utf8'));
  expect(await runCli(['completion'])).toMatchObject(failed(2, "missing required argument 'shell'"));
});

test('a Tab runs no token-command, and offers no values of the service then', async () => {
  await using server = await recordingServer({}, () => ({ body: categories('Dogs') }));
  const mark = join(temporaryFolder(), 'mark');
  config.write({ 'base-url': server.url, 'token-command': `touch ${mark}` });
  expect(await offeredCategories()).toEqual(none);
  expect(await complete('undo --dry-run --fields pet')).toEqual(['petId']);
  expect(server.calls()).toEqual([]);
  expect(existsSync(mark)).toBe(false);
});

test('a Tab prints nothing for a missing profile or service, and does not wait for a silent one', async () => {
  await using silent = await misbehave({});
  for (const url of ['http://127.0.0.1:1', '::', silent.url])
    expect(await offeredCategories('--base-url', url)).toEqual(none);
  expect(await offeredCategories('--profile', 'nobody')).toEqual(none);
});
