import { describe, expect, test } from 'vitest';
import { type Answers, runTyping } from '../../helpers/person.ts';
import { type RecordingServer, type Reply, recordingServer } from '../../helpers/recording-server.ts';
import { type Run, runCli } from '../../helpers/run-cli.ts';

async function tryOut(
  id: string,
  answers: Answers,
  { reply = {}, flags = [] as readonly string[] }: { reply?: Reply; flags?: readonly string[] } = {},
): Promise<{ run: Run; server: RecordingServer }> {
  await using server = await recordingServer({}, () => reply);
  const argv = ['api', 'try', id, '--base-url', server.url, '--retries', '0', ...flags];
  const run = await runTyping(argv, answers);
  return { run, server };
}

const rex = { id: 7, name: 'Rex', categoryId: 1, status: 'available' };

describe('on a terminal', () => {
  test('asks for each parameter with its type, default and choices, shows the request and sends it', async () => {
    const down = '\u001b[B';
    const answers: Answers = [
      ['status (string, optional)', `${down}\r`],
      ['categoryId (integer', '\r'],
      ['limit (integer, 1 to 1000, default 100, optional)', '5\r'],
      ['after (integer', '\r'],
    ];
    const { run, server } = await tryOut('listPets', answers, {
      reply: { body: [rex] },
      flags: ['-o', 'json'],
    });
    expect(run.code).toBe(0);
    expect(run.stderr).toContain(`GET ${server.url}/pets?status=available&limit=5`);
    expect(server.calls()).toEqual(['GET /pets?status=available&limit=5']);
    expect(JSON.parse(run.stdout)).toEqual([rex]);
  });

  test('refuses an invalid answer and asks again', async () => {
    const answers: Answers = [
      ['petId', 'seven\r'],
      ['must be an integer', '\u007f\u007f\u007f\u007f\u007f7\r'],
    ];
    const { run, server } = await tryOut('getInventory', answers, {
      reply: { body: { petId: 7, quantity: 3, status: 'sold' } },
      flags: ['-o', 'json'],
    });
    expect(run.code).toBe(0);
    expect(server.calls()).toEqual(['GET /store/inventory/7']);
  });

  test('sends a write only when it is confirmed', async () => {
    const count: Answers = [
      ['petId', '7\r'],
      ['quantity', '12\r'],
    ];
    const declined = await tryOut('updateInventory', [...count, ['Send this PUT', 'n\r']]);
    expect(declined.run.code).toBe(2);
    expect(declined.run.stderr).toContain('{\n  "quantity": 12\n}');
    expect(declined.server.seen).toEqual([]);
    const confirmed = await tryOut('updateInventory', [...count, ['Send this PUT', 'y\r']], {
      reply: { body: { petId: 7, quantity: 12, status: 'sold' } },
    });
    expect(confirmed.run.code).toBe(0);
    expect(confirmed.server.seen[0]).toMatchObject({ method: 'PUT', body: '{"quantity":12}' });
  });

  test('finds a pet through the list if getPet is gone', async () => {
    await using server = await recordingServer({}, ({ path }) =>
      path.startsWith('/pets?') || path === '/pets' ? { body: [rex] } : { status: 410 },
    );
    const argv = ['api', 'try', 'getPet', '--base-url', server.url, '-o', 'json'];
    const run = await runTyping(argv, [['petId', '7\r']]);
    expect(run.code).toBe(0);
    expect(JSON.parse(run.stdout)).toEqual(rex);
  });
});

test.each([
  ['listOrders', 'x-hideTryItPanel'],
  ['listPets', 'needs a terminal to ask on'],
  ['listFish', 'there is no such operation'],
])('is refused without a request: %s', async (id, why) => {
  await using server = await recordingServer({});
  const run = await runCli(['api', 'try', id, '--base-url', server.url]);
  expect(run).toMatchObject({ code: 2, stdout: '' });
  expect(run.stderr).toContain(why);
  expect(server.seen).toEqual([]);
});

test('the command that it names in place of questions goes to the same service', async () => {
  await using server = await recordingServer({ '/store/orders': [] });
  const refused = await runCli(['api', 'try', 'listOrders', '--base-url', server.url]);
  const [, words = ''] = /without questions: petstore (.*)/.exec(refused.stderr) ?? [];
  expect(await runCli(words.split(' '))).toMatchObject({ code: 0, stdout: '[]' });
});
