import { expect, test } from 'vitest';
import { type ReceivedRequest, type Reply, recordingServer, refusal } from '../helpers/recording-server.ts';
import { failed, runAt, runCli } from '../helpers/run-cli.ts';

const get = (words: string) => runCli(`--offline pets get ${words}`);
const rex = { id: 9007199254740, name: 'Rex', categoryId: 1, status: 'sold' };
const rexJson = JSON.stringify(rex);

test('get prints one pet as a lone record, and several in the order of the ids as a list', async () => {
  const bella = '{"id":1,"name":"Bella","categoryId":1,"status":"available"}\n';
  expect(await get('1 -o json')).toMatchObject({ code: 0, stdout: bella });
  const { code, stdout } = await get('3 1 3 -o json');
  expect(code).toBe(0);
  expect(JSON.parse(stdout).map(({ id }: { id: number }) => id)).toEqual([3, 1, 3]);
});

test('get prints the pets that exist, names each that does not, and exits 3, or with their code if none exists', async () => {
  const { code, stdout, stderr } = await get('998 1 nobody 999 -o ids -q');
  expect({ code, stdout }).toEqual({ code: 3, stdout: '1\n' });
  expect(stderr.match(/^error: pet 99[89] does not exist .*$/gm)).toHaveLength(2);
  expect(stderr).toContain("pet 'nobody': no pet has this name");
  const json = await get('1 999 -o json -q');
  expect(JSON.parse(json.stdout)).toHaveLength(1);
  expect(JSON.parse(json.stderr).error).toMatchObject({
    kind: 'partial',
    errors: [
      { kind: 'not-found', message: 'pet 999 does not exist', code: 'not_found', status: 404, method: 'GET' },
    ],
  });
  expect(await get('998 999')).toMatchObject({ code: 5, stdout: '' });
});

const goneReplies: Reply[] = [
  refusal(410),
  { status: 404 },
  { status: 404, headers: { 'content-type': 'text/html' }, body: '<h1>Not Found</h1>' },
  { status: 405 },
];
const unlessList = (reply: Reply) => (request: ReceivedRequest) => {
  if (request.path.startsWith('/pets/') && request.method === 'GET') return reply;
  if (request.method === 'POST') return { body: request.body };
  return { body: request.path.includes('?') ? [rex] : rex };
};

test.each(goneReplies)(
  'get finds the pet through the list if the endpoint answers %j, and says so',
  async (reply) => {
    await using server = await recordingServer({}, unlessList(reply));
    const run = await runAt(server, `pets get ${rex.id} -o json`);
    expect(run).toMatchObject({ code: 0, stdout: `${rexJson}\n` });
    expect(run.stderr).toContain(`note: getPet answered ${reply.status}: looking through listPets instead`);
  },
);

test('a write takes the pet as getPet shows it if a gateway answers once in its place', async () => {
  let asked = 0;
  const whole = { ...rex, colour: 'brown' };
  await using server = await recordingServer({}, ({ path, method, body }) => {
    if (method === 'PUT') return { body: { ...JSON.parse(body), id: rex.id } };
    if (path.includes('?')) return { body: [rex] };
    asked += 1;
    return asked === 1 ? { status: 404 } : { body: whole, headers: { etag: '"1"' } };
  });
  expect((await runAt(server, `pets update ${rex.id} --status pending`)).code).toBe(0);
  const [write] = server.writes();
  expect(write?.headers['if-match']).toBe('"1"');
  expect(JSON.parse(write?.body ?? '')).toMatchObject({ colour: 'brown' });
});

test('a list in any order is read to its end before a pet is missing', async () => {
  await using server = await recordingServer({}, ({ path }) => {
    if (path.startsWith('/pets/')) return { status: 410 };
    if (path.includes('page=2')) return { body: [rex] };
    return { body: [{ ...rex, id: rex.id + 1 }], headers: { link: '</pets?page=2>; rel="next"' } };
  });
  expect(await runAt(server, 'pets get 2 -o ids')).toMatchObject(
    failed(5, 'pet 2 does not exist: listPets has no record with this id\n'),
  );
  expect(await runAt(server, `pets get ${rex.id} -o ids`)).toMatchObject({ code: 0, stdout: `${rex.id}\n` });
});

test.each([
  [`pets get ${rex.id} ${rex.id} -o ids`, 0],
  [`pets get 3 ${rex.id}`, 3],
  ['pets get 3', 5],
  [`pets update ${rex.id} --name Rex`, 0],
  [`inventory create ${rex.id} 8`, 0],
])('%s says once that it looks through the list, and exits %i', async (line, code) => {
  await using server = await recordingServer({}, unlessList({ status: 410 }));
  const run = await runAt(server, line);
  expect(run.code).toBe(code);
  expect(run.stderr.match(/looking through listPets/g)).toHaveLength(1);
  const missing = 'error: pet 3 does not exist: listPets has no record with this id\n';
  expect(run.stderr.includes(missing)).toBe(line.startsWith('pets get 3'));
});

test.each([
  [refusal(404), 5],
  [{ status: 400 }, 1],
])('an answer of %j does not mean that getPet is gone', async (reply, code) => {
  await using server = await recordingServer({}, () => reply);
  expect((await runAt(server, 'pets get 3 -o json')).code).toBe(code);
  expect(server.calls()).toEqual(['GET /pets/3']);
});
