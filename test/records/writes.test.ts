import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { main } from '../../src/main.ts';
import { CliError, OutputClosedError } from '../../src/process/errors.ts';
import { listenHere } from '../helpers/listen.ts';
import { recordingServer } from '../helpers/recording-server.ts';
import { fakeIo, runCli } from '../helpers/run-cli.ts';
import { openShop } from '../helpers/shop.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

/** Every write of the four nouns, by the method of its request. */
const writes = [
  ['POST', 'pets create --name Rex --category 1'],
  ['PUT', 'pets update 1 --name Rexy'],
  ['DELETE', 'pets delete 1 --yes'],
  ['POST', 'categories create --name Insects'],
  ['PUT', 'categories update 1 --name Hounds'],
  ['DELETE', 'categories delete 1 --yes'],
  ['POST', 'orders create --pet 1'],
  ['PUT', 'orders update 1 --quantity 2'],
  ['PUT', 'orders complete 1'],
  ['DELETE', 'orders delete 1 --yes'],
  ['PUT', 'inventory set 1 5'],
  ['PUT', 'inventory adjust 1 +5'],
  ['POST', 'inventory create 1 5'],
  ['DELETE', 'inventory delete 1 --yes'],
] as const;
const record = { id: 1, petId: 1, name: 'Rex', categoryId: 1, status: 'sold', quantity: 1 };

test.each(writes)(
  'one %s for %s: fields are checked first, a dry run shows it, a protected profile must be named',
  async (method, line) => {
    await using server = await recordingServer({}, ({ method, path, body }) => {
      if (method === 'GET' && path === '/categories') return { body: [] };
      if (method === 'DELETE') return { status: 204 };
      return { status: method === 'POST' ? 201 : 200, body: { ...record, ...JSON.parse(body || '{}') } };
    });
    const folder = temporaryFolder();
    const profiles = { prod: { 'base-url': server.url, protected: true } };
    writeFileSync(join(folder, 'config.json'), JSON.stringify({ profile: 'prod', profiles }));
    const run = (flags: string) => runCli(`${line}${flags}`, { env: { PETSTORE_CONFIG_DIR: folder } });
    const writeMethods = () => server.seen.map(({ method }) => method).filter((name) => name !== 'GET');

    expect(await run(' --confirm prod --fields colour')).toMatchObject({ code: 2, stdout: '' });
    expect(server.seen).toEqual([]);
    const dryRun = await run(' --dry-run -o json');
    expect(dryRun.code).toBe(0);
    expect(JSON.parse(dryRun.stdout)).toMatchObject({ method, url: expect.stringContaining(server.url) });
    const unnamed = await run('');
    expect(unnamed).toMatchObject({ code: 2, stdout: '' });
    expect(unnamed.stderr).toContain('prod is protected');
    expect(writeMethods()).toEqual([]);
    expect(await run(' --confirm prod')).toMatchObject({ code: 0 });
    expect(writeMethods()).toEqual([method]);
  },
);

test.each([
  ['pets create --from -', 0, 'POST'],
  ['pets update 1 999 --status sold', 3, 'PUT'],
])('a dry run of several prints a list, even of one: %s', async (line, code, method) => {
  using shop = openShop();
  const run = await shop.run(`${line} --dry-run -o json`, { stdin: 'name,category\nRex,1\n' });
  expect(run.code).toBe(code);
  expect(JSON.parse(run.stdout)).toMatchObject([{ method }]);
});

const full = new CliError('failed', 'write to stdout: no space left on device');
const error = `error: ${full.message}\n`;
const closed = new OutputClosedError();
const records = '{"name":"a","categoryId":1}\n'.repeat(9);
const createAll = 'pets create --from - --yes -o ids';
const again = 'see stdin.rejects.jsonl, and run: petstore pets create --from stdin.rejects.jsonl --offline';

interface Broken {
  /** The error of stdout, and how many writes it takes before. */
  readonly stdout?: CliError | OutputClosedError;
  readonly after?: number;
  readonly stderr?: OutputClosedError;
  readonly stdin?: string;
}

/** Runs with streams that fail. */
async function runBroken(line: string, store: string, broken: Broken) {
  const env = { PETSTORE_OFFLINE_STORE: store };
  const io = fakeIo({ stdin: broken.stdin ?? '', cwd: temporaryFolder(), env });
  let left = broken.after ?? 0;
  const stdout = async (data: string | Uint8Array) => {
    if (broken.stdout && left === 0) throw broken.stdout;
    left -= 1;
    await io.stdout.write(data);
  };
  const stderr = async (data: string | Uint8Array) => {
    if (broken.stderr) throw broken.stderr;
    await io.stderr.write(data);
  };
  const streams = { stdout: { ...io.stdout, write: stdout }, stderr: { ...io.stderr, write: stderr } };
  return { code: await main(line.split(' '), { ...io, ...streams }), stderr: io.written('stderr') };
}

const createOne = 'pets create --name Rex --category 1';

test.each<[string, string, Broken, code: number, stderr: string, pets: number]>([
  [
    'a closed stdout does not stop the writes',
    createAll,
    { stdin: records, stdout: closed, after: 1 },
    0,
    '',
    34,
  ],
  [
    'a full disk stops the writes, and a note says how many were written',
    createAll,
    { stdin: records, stdout: full, after: 1 },
    1,
    `note: 2 of 9 pets were written\nnote: 7 pets not done: ${again}\n${error}`,
    27,
  ],
  ['a full disk exits 1 even if stderr is closed', createOne, { stdout: full, stderr: closed }, 1, '', 26],
  [
    'a full disk after a lone write leaves no doubt that it was sent',
    createOne,
    { stdout: full },
    1,
    `note: the write succeeded, but its record could not be printed\n${error}`,
    26,
  ],
  ['a closed stderr does not stop the deletes', 'pets delete 1 2 3 --yes', { stderr: closed }, 0, '', 22],
])('%s', async (_, line, broken, code, stderr, pets) => {
  using shop = openShop();
  expect(await runBroken(`--offline ${line}`, shop.file, broken)).toEqual({ code, stderr });
  expect(await shop.json('pets list')).toHaveLength(pets);
});

test('Ctrl-C between writes exits 130, and a note says how many were written', async () => {
  using shop = openShop();
  const io = fakeIo({ stdin: records, cwd: temporaryFolder(), env: { PETSTORE_OFFLINE_STORE: shop.file } });
  const write = async (text: string | Uint8Array) => {
    await io.stdout.write(text);
    if (io.written('stdout').endsWith('28\n')) io.raise('SIGINT');
  };
  const argv = ['--offline', ...createAll.split(' ')];
  expect(await main(argv, { ...io, stdout: { ...io.stdout, write } })).toBe(130);
  expect(io.written('stdout')).toBe('26\n27\n28\n');
  expect(io.written('stderr')).toBe(
    'note: no further write begins; waiting for those under way; a second signal ends at once\n' +
      `note: 6 pets not done: ${again}\nerror: interrupted: 3 of 9 pets were written\n`,
  );
  const rest = await shop.run('pets create --from stdin.rejects.jsonl --yes', { cwd: io.cwd });
  expect(rest).toMatchObject({ code: 0, stderr: '' });
  expect(await shop.json('pets list')).toHaveLength(34);
});

test('a create that a second Ctrl-C abandons is named, and not among the rejects', async () => {
  const io = fakeIo({ stdin: 'name\nA\nB\nC\n', cwd: temporaryFolder() });
  let creates = 0;
  const server = createServer((_, response) => {
    creates += 1;
    if (creates === 1)
      return response.setHeader('content-type', 'application/json').end('{"id":1,"name":"A"}');
    io.raise('SIGINT');
    return io.raise('SIGINT');
  });
  const url = `http://127.0.0.1:${await listenHere(server)}`;
  const line = 'categories create --from - --yes --base-url';
  expect(await main([...line.split(' '), url], io)).toBe(130);
  server.close();
  expect(io.written('stderr')).toContain(
    'look at these before you run them again, they may have been done: stdin:3',
  );
  expect(readFileSync(join(io.cwd, 'stdin.rejects.csv'), 'utf8').split('\n')[1]).toBe('C,4,not sent,,,');
});
