// `petstore serve` against a bare node:http server that answers the same bytes, under wrk; how soon it answers, how long
// a large store takes to load, and whether a page of a large one costs more.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { Agent, get, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compare, median, printHeader, printRow } from './ratio.mjs';

const seconds = Number(process.env.BENCH_SECONDS ?? 2);
const folder = mkdtempSync(join(tmpdir(), 'petstore-bench-'));
const env = { ...process.env };
delete env.NODE_EXTRA_CA_CERTS;
const children = [];
const pageSize = 20;
const pageRounds = 3000;

const workloads = [
  { name: 'GET one pet', path: '/pets/1' },
  { name: 'list 20 pets', path: '/pets?limit=20' },
  { name: 'PUT inventory', path: '/store/inventory/1', body: '{"quantity":7}' },
];

try {
  if (spawnSync('wrk', ['--version']).error) console.log('\nServer: wrk is not here (apt-get install wrk)');
  else await throughput();
  await pages();
  await firstAnswer();
  await load();
} finally {
  for (const child of children) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
}

async function throughput() {
  const servers = new Map();
  const serverOf = async (build) => {
    if (!servers.has(build)) servers.set(build, await serve([], build));
    return servers.get(build);
  };
  const petstore = await serverOf('.');
  const bare = await startBare(await Promise.all(workloads.map((work) => answerOf(petstore, work))));
  printHeader('Server, requests a second under `wrk -t1 -c32`', 'bare node:http', 'petstore serve');
  for (const { name, path, body } of workloads) {
    await compare({
      name,
      baseline: () => wrk(bare + path, body),
      figure: async (build) => wrk((await serverOf(build)) + path, body),
      pairs: 5,
      unit: '/s',
      targetOfBefore: body ? '>= 1.2' : '>= 1.1',
    });
  }
}

/** Reads the same page of a small and of a large store alternately, over one connection each; returns the medians. */
async function pages() {
  printHeader(`A page of ${pageSize} pets, one request`, '1,000 pets', '1,000,000 pets');
  const servers = [];
  for (const pets of [1000, 1_000_000])
    servers.push({ pets, url: await serve(['--pets', String(pets)]), agent: new Agent({ keepAlive: true }) });
  for (const filter of ['', 'status=sold', 'categoryId=3', 'status=sold&categoryId=3'])
    for (const place of ['first', 'middle', 'last']) {
      const times = servers.map(() => []);
      for (let round = -200; round < pageRounds; round += 1)
        for (const [at, server] of servers.entries()) {
          const ms = await timed(() => getPage(server, filter, place));
          if (round >= 0) times[at].push(ms);
        }
      const [small, large] = times.map((all) => median(all) * 1000);
      const name = `${place} page${filter && `, \`${filter}\``}`;
      const cells = [`${small.toFixed(0)} µs`, `${large.toFixed(0)} µs`, `${(large / small).toFixed(2)} x`];
      printRow([name, ...cells, 'about 1']);
    }
  for (const { agent } of servers) agent.destroy();
}

/** Requests a page. The last page of a filter begins early enough to have as many pets as the other pages. */
function getPage({ pets, url, agent }, filter, place) {
  const after = { first: 0, middle: pets / 2, last: pets - (filter ? 450 : pageSize) }[place];
  return new Promise((resolve, reject) => {
    get(`${url}/pets?limit=${pageSize}&after=${after}&${filter}`, { agent }, (response) => {
      response.resume().on('end', resolve);
    }).on('error', reject);
  });
}

async function firstAnswer() {
  // The first server writes the code caches when it ends, as after Ctrl-C.
  const firstOf = async (build) => {
    const taken = await timed(async () => answerOf(await serve([], build), { path: '/pets/1' }));
    const child = children.at(-1);
    child.kill('SIGTERM');
    await once(child, 'close');
    return taken;
  };
  printHeader('Time to the first answer of `serve`', 'node -e 0', 'petstore serve');
  await compare({
    name: '`petstore serve`',
    baseline: () => timed(() => once(spawn(process.execPath, ['-e', '0'], { env }), 'close')),
    figure: firstOf,
    target: '<= 2.6',
    targetOfBefore: '<= 0.75',
  });
}

async function load() {
  const file = join(folder, 'store.json');
  const url = await serve(['--pets', '100000']);
  const words = ['bin/petstore.js', 'offline', 'pull', '--base-url', url, '--to', file];
  await once(spawn(process.execPath, words, { env, stdio: 'ignore' }), 'close');
  console.log('\n## Loading 100,000 pets, seconds to the URL\n');
  printRow(['what', 'seconds', 'target']);
  printRow(['---', '---', '---']);
  for (const [name, words] of [
    ['`serve --pets 100000`', ['--pets', '100000']],
    [`\`serve --data\`, ${Math.round(statSync(file).size / 1e6)} MB`, ['--data', file]],
  ]) {
    const times = [];
    for (let run = 0; run < 5; run += 1) times.push(await timed(() => serve(words)));
    printRow([name, (median(times) / 1000).toFixed(2), '<= 2']);
  }
}

/** Starts `petstore serve` and returns its URL. Servers that run already stay. */
async function serve(words, build = '.') {
  const child = spawn(process.execPath, [join(build, 'bin/petstore.js'), 'serve', '--port', '0', ...words], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  const [line] = await once(child.stdout, 'data');
  return String(line).trim();
}

/** Starts a server that only sends the bytes of these answers, and returns its URL. */
async function startBare(answers) {
  const file = join(folder, 'bare.cjs');
  const responses = Object.fromEntries(workloads.map(({ path }, at) => [path, answers[at]]));
  writeFileSync(
    file,
    `const responses = ${JSON.stringify(responses)};
    const server = require('node:http').createServer((request, response) => {
      const { status, headers, body } = responses[request.url];
      const answer = () => response.writeHead(status, headers).end(body);
      if (request.method === 'GET') answer();
      else request.resume().on('end', answer);
    });
    server.listen(0, '127.0.0.1', () => console.log('http://127.0.0.1:' + server.address().port));`,
  );
  const child = spawn(process.execPath, [file], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  const [line] = await once(child.stdout, 'data');
  return String(line).trim();
}

function answerOf(url, { path, body }) {
  return new Promise((resolve, reject) => {
    const options = body
      ? { method: 'PUT', headers: { 'content-type': 'application/json', 'content-length': body.length } }
      : {};
    request(url + path, { agent: false, ...options }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () =>
        resolve({ status: response.statusCode, headers: headersOfApp(response), body: text }),
      );
    })
      .on('error', reject)
      .end(body);
  });
}

/** Removes the headers that every node:http server adds. */
function headersOfApp({ headers: { date: _, connection: __, 'keep-alive': ___, ...headers } }) {
  return headers;
}

/** Measures successful requests a second under wrk. */
function wrk(url, body) {
  const script = join(folder, 'put.lua');
  writeFileSync(
    script,
    `wrk.method = "PUT" wrk.body = '${body}' wrk.headers["Content-Type"] = "application/json"`,
  );
  const words = ['-t1', '-c32', `-d${seconds}s`, ...(body ? ['-s', script] : []), url];
  return new Promise((resolve, reject) => {
    const child = spawn('wrk', words);
    let text = '';
    child.stdout.on('data', (chunk) => {
      text += chunk;
    });
    child.on('close', () => {
      const rate = Number(/Requests\/sec:\s+([\d.]+)/.exec(text)?.[1]);
      if (rate > 0 && !text.includes('Non-2xx')) resolve(rate);
      else reject(new Error(text));
    });
  });
}

async function timed(work) {
  const started = performance.now();
  await work();
  return performance.now() - started;
}
