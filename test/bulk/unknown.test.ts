import { existsSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { stockDesk } from '../helpers/stock-desk.ts';
import { refuse, reply, shelves, stockServer, toCsv } from '../helpers/stock-server.ts';

test.each([408, 500, 502, 503, 504])(
  'a write that was answered by %i may have been applied: it is unknown, and undo looks at it',
  async (status) => {
    await using server = await stockServer(shelves(2, () => 5));
    server.misbehave = ({ method, petId, quantity }, response) => {
      if (method !== 'PUT' || petId !== '2') return undefined;
      server.stock.set('2', quantity ?? 0);
      return refuse(response, status, 'broken');
    };
    const desk = stockDesk(server);
    desk.write('stock.csv', toCsv(shelves(2, () => 6)));
    const summary = await desk.summary(['apply', 'stock.csv', '--yes', '--retries', '0']);
    expect(summary).toMatchObject({ code: 3, applied: 1, failed: 0, unknown: 1 });
    server.misbehave = undefined;
    expect(await desk.summary(['undo', String(summary.run), '--yes'])).toMatchObject({ code: 0, applied: 2 });
    expect([...server.stock.values()]).toEqual([5, 5]);
  },
);

test.each([409, 429, 503, 403, 500])(
  'a lost answer followed by %i on a retry is unknown, never failed',
  async (status) => {
    await using server = await stockServer(shelves(1, () => 5));
    let writes = 0;
    server.misbehave = ({ method, quantity }, response) => {
      if (method !== 'PUT') return undefined;
      writes += 1;
      if (writes > 1) return refuse(response, status, 'no');
      server.stock.set('1', quantity ?? 0);
      response.destroy();
      return true;
    };
    const desk = stockDesk(server);
    desk.write('stock.csv', toCsv([[1, 6]]));
    const summary = await desk.summary(['apply', 'stock.csv', '--yes', '--retries', '1']);
    expect(summary).toMatchObject({ failed: 0, unknown: 1 });
    server.misbehave = undefined;
    await desk.summary(['undo', String(summary.run), '--yes']);
    expect(server.stock.get('1')).toBe(5);
  },
);

test('a lost answer followed by another quantity on a retry is unknown', async () => {
  await using server = await stockServer(shelves(1, () => 5));
  let writes = 0;
  server.misbehave = ({ method }, response) => {
    if (method !== 'PUT') return undefined;
    writes += 1;
    if (writes > 1) return reply(response, 200, { petId: 1, quantity: 5, status: 'sold' });
    response.destroy();
    return true;
  };
  const desk = stockDesk(server);
  desk.write('stock.csv', toCsv([[1, 6]]));
  expect(await desk.summary(['apply', 'stock.csv', '--yes'])).toMatchObject({ failed: 0, unknown: 1 });
});

test('does not call rows failed that are unknown when they stop the run', async () => {
  await using server = await stockServer(shelves(9, () => 5));
  server.misbehave = ({ method }, response) => {
    if (method !== 'PUT') return undefined;
    response.destroy();
    return true;
  };
  const desk = stockDesk(server);
  desk.write('stock.csv', toCsv(shelves(9, () => 6)));
  const words = ['apply', 'stock.csv', '--yes', '--retries', '0', '--concurrency', '1', '--max-errors', '3'];
  const summary = await desk.summary(words);
  expect(summary).toMatchObject({ code: 1, failed: 0, unknown: 3, unprocessed: 6 });
  expect(summary.stopped).toBe('3 rows have failed or are unknown, as many as --max-errors allows');
});

test.each([
  ['about another pet', { petId: 7, quantity: 6, status: 'sold' }],
  ['with the body of an error', { code: 'broken', message: 'it is broken', status: 500 }],
])('a 200 %s is not success', async (_, body) => {
  await using server = await stockServer(shelves(1, () => 5));
  server.misbehave = ({ method }, response) => (method === 'PUT' ? reply(response, 200, body) : undefined);
  const desk = stockDesk(server);
  desk.write('stock.csv', toCsv([[1, 6]]));
  expect(await desk.summary(['apply', 'stock.csv', '--yes'])).toMatchObject({ applied: 0, unknown: 1 });
});

test('a count of another pet is never taken for the one that was asked for', async () => {
  await using server = await stockServer(shelves(2, () => 5));
  server.misbehave = ({ method, petId }, response) =>
    method === 'GET' && petId === '2'
      ? reply(response, 200, { petId: 7, quantity: 777, status: 'sold' })
      : undefined;
  const desk = stockDesk(server);
  desk.write('stock.csv', toCsv(shelves(2, () => 6)));
  expect(await desk.summary(['apply', 'stock.csv', '--yes'])).toMatchObject({ code: 6 });
  expect(server.writes()).toEqual([]);
  expect((await desk.inventory(['runs', '-o', 'ids'])).stdout).toBe('');
});

test('a plan that cannot be read whole leaves nothing, and sends nothing', async () => {
  await using server = await stockServer(shelves(25, () => 5));
  server.misbehave = ({ method, petId }, response) =>
    method === 'GET' && petId === '20' ? refuse(response, 500, 'broken') : undefined;
  const desk = stockDesk(server);
  desk.write('stock.csv', toCsv(shelves(25, () => 6)));
  const words = ['apply', 'stock.csv', '--yes', '--max-errors', '1', '--retries', '0', '--create-missing'];
  const refused = await desk.inventory(words);
  expect(refused).toMatchObject({ code: 6, stdout: '' });
  expect(server.writes()).toEqual([]);
  expect(desk.files()).toEqual(['state', 'stock.csv']);
  expect((await desk.inventory(['runs', '-o', 'ids'])).stdout).toBe('');
});

test('sends nothing if the service offers no way to read counts', async () => {
  const { runCli } = await import('../helpers/run-cli.ts');
  await using server = await stockServer(shelves(2, () => 1));
  const desk = stockDesk(server);
  const env = { PETSTORE_CONFIG_DIR: join(desk.folder, 'config') };
  const spec = JSON.parse((await runCli(['api', 'spec', '-o', 'json'])).stdout);
  delete spec.paths['/store/inventory/{petId}'].get;
  delete spec.paths['/store/inventory'].get;
  desk.write('service.json', JSON.stringify(spec));
  await runCli(['api', 'bind', join(desk.folder, 'service.json'), '--base-url', server.url], { env });
  desk.write('stock.csv', toCsv(shelves(2, () => 2)));
  const refused = await desk.inventory(['apply', 'stock.csv', '--yes'], { env });
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain('the service offers neither getInventory nor listInventory');
  expect(server.writes()).toEqual([]);
});

test('writes invalid rows into the rejects, with their reason', async () => {
  await using server = await stockServer(shelves(3, () => 5));
  const desk = stockDesk(server);
  desk.write('stock.csv', 'name,petId,quantity\nRex,1,6\nTom,2,x\nAna,3\n');
  await desk.summary(['apply', 'stock.csv', '--yes', '--skip-invalid']);
  expect(desk.read('stock.rejects.csv')).toBe(
    'name,petId,quantity,_line,_state,_status,_code,_message,_attempts,_request_id,_run\n' +
      'Tom,2,x,3,invalid,,invalid,"quantity ""x"": must be a whole number from 0 to 9007199254740991, in digits alone",,,r1\n' +
      'Ana,3,,4,invalid,,invalid,"the row has 2 cells, the header has 3",,,r1\n',
  );
});

test("reports the service's request id, makes control characters visible, and says whether a retry may help", async () => {
  await using server = await stockServer(shelves(2, () => 5));
  server.misbehave = ({ method, petId }, response) =>
    method === 'PUT' && petId === '2'
      ? reply(
          response,
          409,
          { code: 'no', message: '\u001b[2Jgone\u202e', status: 409 },
          { 'x-request-id': 'r-77' },
        )
      : undefined;
  const desk = stockDesk(server);
  desk.write('stock.csv', '_line,petId,quantity\n8,1,6\n9,2,6\n');
  const summary = await desk.summary(['apply', 'stock.csv', '--yes']);
  expect(summary).toMatchObject({ retryable: false, failures: [{ example: { requestId: 'r-77' } }] });
  const rejects = desk.read('stock.rejects.csv');
  expect(rejects).toMatch(/^2,6,9,failed,409,no,.*\\x1b\[2Jgone\\u202e.*,1,r-77,r1$/m);
  server.misbehave = ({ method }, response) => (method === 'PUT' ? refuse(response, 503, 'busy') : undefined);
  const busy = await desk.summary(['apply', 'stock.csv', '--yes', '--retries', '0']);
  expect(busy).toMatchObject({ unknown: 1, retryable: true });
});

test('does not overwrite a link whose target is missing', async () => {
  await using server = await stockServer([]);
  const desk = stockDesk(server);
  desk.write('stock.csv', toCsv([[1, 2]]));
  symlinkSync('/nonexistent/place', join(desk.folder, 'stock.rejects.csv'));
  const summary = await desk.summary(['apply', 'stock.csv', '--yes']);
  expect(summary).toMatchObject({ code: 1, failed: 1, rejects: 'stock.rejects.2.csv' });
  expect(existsSync('/nonexistent/place')).toBe(false);
});

test('shows a short summary on a terminal', async () => {
  await using server = await stockServer(shelves(5, () => 1));
  const desk = stockDesk(server);
  desk.write('stock.csv', toCsv(shelves(5, () => 2)));
  const { stdout } = await desk.inventory(['apply', 'stock.csv', '--yes'], {
    terminals: ['stdout'],
    env: { NO_COLOR: '1' },
  });
  expect(stdout).toMatch(/^applied 5 of 5 rows in \d\.\d\d s, 10 requests\nrun r1\n$/);
});

test('holds back retries too when the service is overloaded, and keeps to --rate after a pause', async () => {
  let [inFlight, most, refusals] = [0, 0, 0];
  const times: number[] = [];
  const server = createServer((request, response) => {
    request.resume();
    const petId = request.url?.split('/').at(-1);
    times.push(performance.now());
    if (request.method === 'GET') {
      reply(response, 200, `{"petId":${petId},"quantity":1,"status":"sold"}`);
      return;
    }
    inFlight += 1;
    if (refusals >= 8) most = Math.max(most, inFlight);
    setTimeout(() => {
      inFlight -= 1;
      if (refusals < 8) {
        refusals += 1;
        refuse(response, 429, 'slow', { 'retry-after': '0' });
      } else reply(response, 200, '{}');
    }, 30);
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.on('listening', resolve));
  const desk = stockDesk({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
  desk.write('stock.csv', toCsv(shelves(8, () => 2)));
  const summary = await desk.summary(['apply', 'stock.csv', '--yes', '--concurrency', '8']);
  expect(summary).toMatchObject({ code: 0, applied: 8 });
  expect(most).toBeLessThanOrEqual(5);
  refusals = 0;
  times.length = 0;
  const paced = ['--rate', '50', '--concurrency', '16'];
  await desk.summary(['apply', 'stock.csv', '--yes', ...paced]);
  server.close();
  // A process that stalls may read two requests at once that were sent apart, but never three.
  const spans = times.slice(2).map((at, index) => at - (times[index] ?? 0));
  expect(spans.filter((span) => span < 15)).toEqual([]);
});
