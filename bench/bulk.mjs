// `inventory apply` against other programs that send the same PUTs to the same server: wrk, curl under xargs, curl -Z.
// Also the memory and the time of a million rows.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compare, median, printHeader, printRow } from './ratio.mjs';
import { startShop } from './shop.mjs';

const folder = mkdtempSync(join(tmpdir(), 'petstore-bench-'));
const rows = 20_000;
const blindly = ['--yes', '--blind', '--restart', '--concurrency'];
const preload = `--require ${join(import.meta.dirname, 'peak-memory.cjs')}`;
const env = { ...process.env, PETSTORE_STATE_DIR: join(folder, 'state'), PETSTORE_CONFIG_DIR: folder };
delete env.NODE_EXTRA_CA_CERTS;

const shop = await startShop(rows);
env.PETSTORE_BASE_URL = shop.url;
try {
  await throughput();
  await memory();
  await million();
} finally {
  await shop.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function throughput() {
  const file = stock('stock.csv', rows);
  const few = stock('few.csv', 400);
  const apply = (name, count, concurrency) => async () =>
    (count * 1000) / (await petstore(['inventory', 'apply', name, ...blindly, String(concurrency)]));
  printHeader('Bulk, rows a second, whole process', 'baseline', '`inventory apply --blind`');
  if (has('wrk'))
    await compare({
      name: '20,000 rows, 16 at once, against `wrk -t1 -c16`',
      baseline: wrk,
      figure: apply(file, rows, 16),
      pairs: 5,
      unit: '/s',
      target: '>= 0.4',
    });
  if (has('curl') && has('xargs'))
    await compare({
      name: '20,000 rows, 8 at once, against `xargs -P 8 curl` of 400',
      baseline: async () => (400 * 1000) / (await curls(few)),
      figure: apply(file, rows, 8),
      pairs: 5,
      unit: '/s',
      target: '>= 50',
    });
  if (has('curl'))
    await compare({
      name: '20,000 rows, 16 at once, against `curl -Z --parallel-max 16`',
      baseline: async () => (rows * 1000) / (await parallelCurl()),
      figure: apply(file, rows, 16),
      pairs: 5,
      unit: '/s',
    });
}

/** The cost of validating and planning; a plan of a blind run needs no service. */
async function memory() {
  const [small, large] = [await bigStock('200k.csv', 200_000), await bigStock('1m.csv', 1_000_000)];
  const read = (file) => petstoreWithPeak(['inventory', 'apply', file, '--blind', '--dry-run', '-o', 'csv']);
  await read(small);
  const [few, many] = [await times(3, () => read(small)), await times(3, () => read(large))];
  const peaks = [few, many].map((runs) => median(runs.map(({ peak }) => peak)));
  console.log('\n## Reading and checking csv, plan printed\n');
  printRow(['rows', 'seconds', 'peak memory', 'target']);
  printRow(['---', '---', '---', '---']);
  printRow(['200,000', seconds(few), `${peaks[0]} MB`, '']);
  printRow(['1,000,000', seconds(many), `${peaks[1]} MB`, '< 150 MB']);
}

async function million() {
  const large = await startShop(1_000_000);
  env.PETSTORE_BASE_URL = large.url;
  try {
    const file = await bigStock('million.csv', 1_000_000);
    printHeader('`inventory diff` of 1,000,000 rows', '`inventory export`', '`inventory diff`');
    await compare({
      name: 'most of them differ, as csv',
      baseline: () => petstore(['inventory', 'export']),
      figure: () => petstore(['inventory', 'diff', file, '-o', 'csv'], 8),
      pairs: 3,
      target: '<= 1.4',
    });
    // Last, because it writes the counts of the file, and then nothing would differ.
    if (has('wrk')) {
      printHeader(
        'Bulk of 1,000,000 rows, rows a second, whole process',
        'baseline',
        '`inventory apply --blind`',
      );
      await compare({
        name: '1,000,000 rows, 16 at once, against `wrk -t1 -c16`',
        baseline: wrk,
        figure: async () => 1_000_000_000 / (await petstore(['inventory', 'apply', file, ...blindly, '16'])),
        pairs: 3,
        unit: '/s',
        target: '>= 0.65',
      });
    }
  } finally {
    await large.stop();
  }
}

function stock(name, count) {
  const path = join(folder, name);
  const lines = Array.from({ length: count }, (_, at) => `${at + 1},${at % 900}\n`);
  writeFileSync(path, `petId,quantity\n${lines.join('')}`);
  return path;
}

async function bigStock(name, count) {
  const path = join(folder, name);
  const file = createWriteStream(path);
  file.write('petId,quantity\n');
  for (let id = 1; id <= count; id += 1)
    if (!file.write(`${id},${1 + (id % 900)}\n`)) await once(file, 'drain');
  file.end();
  await once(file, 'close');
  return path;
}

async function petstore(words, expected = 0) {
  const started = performance.now();
  await run(process.execPath, ['bin/petstore.js', ...words], { expected });
  return performance.now() - started;
}

async function petstoreWithPeak(words) {
  const started = performance.now();
  const said = await run(process.execPath, ['bin/petstore.js', ...words], { NODE_OPTIONS: preload });
  return { peak: Number(/peak (\d+) MB/.exec(said)[1]), ms: performance.now() - started };
}

async function wrk() {
  const script = join(folder, 'put.lua');
  writeFileSync(
    script,
    `wrk.method = "PUT"
wrk.headers["content-type"] = "application/json"
local id = 0
request = function()
  id = id % ${rows} + 1
  return wrk.format(nil, "/store/inventory/" .. id, nil, '{"quantity":' .. (id % 900) .. '}')
end
`,
  );
  const said = await run('wrk', ['-t1', '-c16', '-d2s', '-s', script, env.PETSTORE_BASE_URL], {
    output: 'stdout',
  });
  return Number(/Requests\/sec:\s+([\d.]+)/.exec(said)[1]);
}

/** The alternative without this tool: one curl for each row of the file, eight at a time. */
async function curls(file) {
  const started = performance.now();
  const put = `curl -sf -o /dev/null -X PUT -H 'content-type: application/json' -d "{\\"quantity\\":$2}" ${shop.url}/store/inventory/$1`;
  await run('sh', [
    '-c',
    `tail -n +2 ${file} | tr , ' ' | xargs -P 8 -n 2 sh -c '${put.replaceAll("'", "'\\''")}' _`,
  ]);
  return performance.now() - started;
}

async function parallelCurl() {
  const config = join(folder, 'curl.config');
  const one = (id) =>
    `url = "${shop.url}/store/inventory/${id}"\nrequest = "PUT"\nheader = "content-type: application/json"\ndata = "{\\"quantity\\":${id % 900}}"\noutput = "/dev/null"\n`;
  writeFileSync(config, Array.from({ length: rows }, (_, at) => one(at + 1)).join('next\n'));
  const started = performance.now();
  await run('curl', ['-sZ', '--parallel-max', '16', '-K', config]);
  return performance.now() - started;
}

/** Runs a program to its end and returns its stderr, or its stdout. */
function run(command, words, { NODE_OPTIONS = '', expected = 0, output = 'stderr' } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, words, {
      env: { ...env, NODE_OPTIONS },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const said = { stdout: '', stderr: '' };
    child.stdout.on('data', (chunk) => {
      if (output === 'stdout') said.stdout += chunk;
    });
    child.stderr.on('data', (chunk) => {
      said.stderr += chunk;
    });
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === expected) resolve(said[output]);
      else
        reject(
          new Error(
            `${command} ${words.join(' ').slice(0, 200)} exited ${code}: ${said.stderr.slice(0, 500)}`,
          ),
        );
    });
  });
}

async function times(count, work) {
  const results = [];
  for (let turn = 0; turn < count; turn += 1) results.push(await work());
  return results;
}

function seconds(runs) {
  return (median(runs.map(({ ms }) => ms)) / 1000).toFixed(1);
}

function has(command) {
  const isThere = !spawnSync(command, ['--version']).error;
  if (!isThere) console.log(`\n${command} is not here`);
  return isThere;
}
