// A delivery while another client sells, and smoke of one large answer.

import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compare, printHeader, timeOf } from './ratio.mjs';
import { startServer } from './start-server.mjs';

const folder = mkdtempSync(join(tmpdir(), 'petstore-bench-'));
const env = { ...process.env, PETSTORE_STATE_DIR: join(folder, 'state'), PETSTORE_CONFIG_DIR: folder };

try {
  await delivery();
  await smoke();
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function delivery() {
  const count = 5000;
  const file = join(folder, 'delivery.csv');
  const lines = Array.from({ length: count }, (_, at) => `${at + 1},1`);
  writeFileSync(file, `petId,change\n${lines.join('\n')}\n`);
  const server = await startServer(count);
  let number = 0;
  const deliver = (build) => {
    number += 1;
    const words = ['inventory', 'apply', file, '--relative', '--delivery', `B-${number}`, '--yes', '-q'];
    const options = { env: { ...env, PETSTORE_BASE_URL: server.url } };
    return timeOf(process.execPath, [join(build, 'bin/petstore.js'), ...words], options);
  };
  printHeader('A delivery of 5,000 rows while another client sells', 'without sales', 'with sales');
  await compare({
    name: '25 sales a second',
    baseline: () => deliver('.'),
    figure: async (build) => {
      const before = await sumOfCounts(server.url);
      const seller = startSeller(server.url, count);
      const ms = await deliver(build);
      const sold = await seller.stop();
      const sum = await sumOfCounts(server.url);
      if (sum !== before + count - sold) throw new Error(`${before} + ${count} - ${sold} is not ${sum}`);
      return ms;
    },
    pairs: 5,
    target: '<= 1.2',
  });
  await server.stop();
}

/** Sells one of a random pet 25 times a second, each sale with the tag of its reading. */
function startSeller(url, count) {
  let sold = 0;
  const sales = new Set();
  const sell = async () => {
    const entry = `${url}/store/inventory/${1 + Math.floor(Math.random() * count)}`;
    for (;;) {
      const { body, headers } = await send('GET', entry);
      const tag = { 'content-type': 'application/json', 'if-match': headers.etag };
      const { status } = await send('PUT', entry, tag, JSON.stringify({ quantity: body.quantity - 1 }));
      if (status === 412) continue;
      if (status !== 200) throw new Error(`the sale was answered ${status}`);
      sold += 1;
      return;
    }
  };
  const timer = setInterval(() => {
    const sale = sell().finally(() => sales.delete(sale));
    sales.add(sale);
  }, 40);
  return {
    async stop() {
      clearInterval(timer);
      await Promise.all(sales);
      return sold;
    },
  };
}

async function sumOfCounts(url) {
  let sum = 0;
  for (let page = `${url}/store/inventory?limit=100`; page; ) {
    const { body, headers } = await send('GET', page);
    for (const { quantity } of body) sum += quantity;
    const next = /<([^>]*)>; *rel="?next"?/.exec(headers.link ?? '')?.[1];
    page = next && new URL(next, page).href;
  }
  return sum;
}

async function send(method, url, headers = {}, content = undefined) {
  const sending = request(url, { method, headers });
  sending.end(content);
  const [answer] = await once(sending, 'response');
  let text = '';
  for await (const chunk of answer) text += chunk;
  return { status: answer.statusCode, headers: answer.headers, body: JSON.parse(text) };
}

async function smoke() {
  const records = Array.from({ length: 60_000 }, (_, at) => ({
    id: at + 1,
    name: `Pet ${at + 1}`,
    categoryId: 1,
    status: 'available',
  }));
  let list = '';
  const server = createServer(({ url }, response) => {
    const id = /^\/pets\/(.*)$/.exec(url)?.[1];
    const record = id === undefined ? undefined : records[Number(id) - 1];
    const status = id === undefined || record ? 200 : /^\d+$/.test(id) ? 404 : 400;
    const error = JSON.stringify({ code: 'no_pet', message: 'there is no such pet' });
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(id === undefined ? list : record ? JSON.stringify(record) : error);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${server.address().port}`;
  const words = ['smoke', '--base-url', url, '--only', 'op/listPets', '--only', 'op/getPet'];
  const smokeOf = async (count, build) => {
    list = JSON.stringify(records.slice(0, count));
    return timeOf(process.execPath, [join(build, 'bin/petstore.js'), ...words], { env });
  };
  printHeader('Smoke of one answer with all pets', '6,000 pets', '60,000 pets');
  await compare({
    name: 'the checks of pets',
    baseline: () => smokeOf(6000, '.'),
    figure: (build) => smokeOf(60_000, build),
    pairs: 5,
    target: '<= 3000 ms',
  });
  server.close();
  server.closeAllConnections();
}
