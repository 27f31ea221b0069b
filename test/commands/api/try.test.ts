import { describe, expect, test } from 'vitest';
import { answer } from '../../helpers/person.ts';
import { type RecordingServer, type Reply, recordingServer } from '../../helpers/recording-server.ts';
import { type Run, runCli } from '../../helpers/run-cli.ts';

async function tryOut(
  id: string,
  answers: readonly string[],
  { reply = {}, flags = [] as readonly string[] }: { reply?: Reply; flags?: readonly string[] } = {},
): Promise<{ run: Run; server: RecordingServer }> {
  await using server = await recordingServer({}, () => reply);
  const run = await answer(['api', 'try', id, '--base-url', server.url, '--retries', '0', ...flags], answers);
  return { run, server };
}

const rex = { id: 7, name: 'Rex', categoryId: 1, status: 'available' };

describe('on a terminal', () => {
  test('asks for each parameter with its type, default and choices, shows the request and sends it', async () => {
    const down = '\u001b[B';
    const { run, server } = await tryOut('listPets', [down, '', '5', ''], {
      reply: { body: [rex] },
      flags: ['-o', 'json'],
    });
    expect(run.code).toBe(0);
    expect(run.stderr).toContain('status (string, optional)');
    expect(run.stderr).toContain('limit (integer, 1 to 1000, default 100, optional)');
    expect(run.stderr).toContain(`GET ${server.url}/pets?status=available&limit=5`);
    expect(server.calls()).toEqual(['GET /pets?status=available&limit=5']);
    expect(JSON.parse(run.stdout)).toEqual([rex]);
  });

  test('refuses an invalid answer and asks again', async () => {
    const { run, server } = await tryOut('getInventory', ['seven', '\u007f\u007f\u007f\u007f\u007f7'], {
      reply: { body: { petId: 7, quantity: 3, status: 'sold' } },
      flags: ['-o', 'json'],
    });
    expect(run.code).toBe(0);
    expect(run.stderr).toContain('must be an integer');
    expect(server.calls()).toEqual(['GET /store/inventory/7']);
  });

  test('sends a write only when it is confirmed', async () => {
    const declined = await tryOut('updateInventory', ['7', '12', 'n']);
    expect(declined.run.code).toBe(2);
    expect(declined.run.stderr).toContain('{\n  "quantity": 12\n}');
    expect(declined.server.seen).toEqual([]);
    const confirmed = await tryOut('updateInventory', ['7', '12', 'y'], {
      reply: { body: { petId: 7, quantity: 12, status: 'sold' } },
    });
    expect(confirmed.run.code).toBe(0);
    expect(confirmed.server.seen[0]).toMatchObject({ method: 'PUT', body: '{"quantity":12}' });
  });

  test('finds a pet through the list if getPet is gone', async () => {
    await using server = await recordingServer({}, ({ path }) =>
      path.startsWith('/pets?') || path === '/pets' ? { body: [rex] } : { status: 410 },
    );
    const run = await answer(['api', 'try', 'getPet', '--base-url', server.url, '-o', 'json'], ['7']);
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
