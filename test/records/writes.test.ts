import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { main } from '../../src/main.ts';
import { CliError, OutputClosedError } from '../../src/process/errors.ts';
import { openConfig } from '../helpers/config-folder.ts';
import { recordingServer } from '../helpers/recording-server.ts';
import { fakeIo } from '../helpers/run-cli.ts';
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
  ['POST', 'orders create --pet 1 --quantity 2'],
  ['PUT', 'orders update 1 --quantity 2'],
  ['PUT', 'orders complete 1'],
  ['DELETE', 'orders delete 1 --yes'],
  ['PUT', 'inventory set 1 5'],
  ['PUT', 'inventory adjust 1 +5'],
  ['POST', 'inventory create 1 5'],
  ['DELETE', 'inventory delete 1 --yes'],
] as const;
const record = { id: 1, petId: 1, name: 'Rex', categoryId: 1, status: 'sold', quantity: 1 };

/** A service that answers every write well, and the config of a user for whom it is protected as `prod`. */
async function protectedService() {
  const server = await recordingServer({}, ({ method, path, body }) => {
    if (method === 'GET' && path === '/categories') return { body: [] };
    if (method === 'DELETE') return { status: 204 };
    return { status: method === 'POST' ? 201 : 200, body: { ...record, ...JSON.parse(body || '{}') } };
  });
  const { run } = openConfig({
    profile: 'prod',
    profiles: { prod: { 'base-url': server.url, protected: true } },
  });
  return { ...server, run };
}

test.each(writes)('%s for %s: a dry run shows the write and does not send it', async (method, line) => {
  await using service = await protectedService();
  const { code, stdout } = await service.run(`${line} --dry-run -o json`);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ method, url: expect.stringContaining(service.url) });
  expect(service.writes()).toEqual([]);
});

test.each(writes)('%s for %s: a protected profile must be named', async (method, line) => {
  await using service = await protectedService();
  const unnamed = await service.run(`${line} -o json`);
  expect(unnamed).toMatchObject({ code: 2, stdout: '' });
  expect(JSON.parse(unnamed.stderr)).toMatchObject({ error: { code: 'confirmation_needed' } });
  expect(service.writes()).toEqual([]);
  expect(await service.run(`${line} --confirm prod`)).toMatchObject({ code: 0 });
  expect(service.writes().map((write) => write.method)).toEqual([method]);
});

const full = new CliError('failed', 'write to stdout: no space left on device');
const error = `error: ${full.message}\n`;
const closed = new OutputClosedError();
const updateAll = 'pets update 1 2 3 --status sold -o ids';

interface Broken {
  /** The error of stdout, and how many writes it takes before. */
  readonly stdout?: CliError | OutputClosedError;
  readonly after?: number;
  readonly stderr?: OutputClosedError;
}

/** Runs with streams that fail. */
async function runBroken(line: string, store: string, broken: Broken) {
  const cwd = temporaryFolder();
  writeFileSync(join(cwd, 'gone.csv'), 'id\n1\n99\n');
  const env = { PETSTORE_OFFLINE_STORE: store, PETSTORE_STATE_DIR: join(cwd, 'state') };
  const io = fakeIo({ cwd, env });
  let writesBefore = broken.after ?? 0;
  const stdout = async (data: string | Uint8Array) => {
    if (broken.stdout && writesBefore === 0) throw broken.stdout;
    writesBefore -= 1;
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
  ['a closed stdout does not stop the writes', updateAll, { stdout: closed }, 0, '', 25],
  [
    'a full disk after the writes leaves no doubt how many were sent',
    updateAll,
    { stdout: full },
    1,
    `warning: 3 of 3 pets are done, but could not be printed\n${error}`,
    25,
  ],
  ['a full disk exits 1 even if stderr is closed', createOne, { stdout: full, stderr: closed }, 1, '', 26],
  [
    'a full disk after a lone write leaves no doubt that it was sent',
    createOne,
    { stdout: full },
    1,
    `warning: 1 of 1 pet is done, but could not be printed\n${error}`,
    26,
  ],
  ['a closed stderr does not stop the deletes', 'pets delete 1 2 3 --yes', { stderr: closed }, 0, '', 22],
])('%s', async (_, line, broken, code, stderr, pets) => {
  const shop = openShop();
  expect(await runBroken(`--offline ${line}`, shop.file, broken)).toEqual({ code, stderr });
  expect(await shop.json('pets list')).toHaveLength(pets);
});

test('a full disk after a run hides neither its rejects nor its error', async () => {
  const shop = openShop();
  const run = await runBroken('--offline pets delete --from gone.csv --yes', shop.file, { stdout: full });
  expect(run).toMatchObject({
    code: 3,
    stderr: expect.stringMatching(
      /report of run r1 could not be printed\nrejected rows are in gone.rejects.csv\nerror: .*1 failed of 2 rows/,
    ),
  });
});

test('Ctrl-C ends the writes of several records, and says which may have been applied', async () => {
  const io = fakeIo();
  await using silent = await recordingServer({}, ({ method, path }) => {
    if (method === 'GET') return { body: { ...record, id: Number(path.split('/').at(-1)) } };
    io.raise('SIGINT');
    return 'hang';
  });
  const argv = ['pets', 'update', '1', '2', '3', '--status', 'pending', '--yes'];
  const code = await main([...argv, '--base-url', silent.url, '--timeout', '60s'], io);
  expect(code).toBe(130);
  expect(io.written('stderr')).toMatch(
    /^error: interrupted; the request may have been applied \(PUT \S+\/pets\/1\)\nerror: pet 2: interrupted, nothing was written\nerror: pet 3: interrupted, nothing was written\nhint: .*\n$/,
  );
});
