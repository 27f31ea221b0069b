// `inventory apply` against other programs that send the same PUTs to the same server: wrk, curl under xargs, curl -Z.
// It also measures the memory and the time of a million rows.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compare, printHeader } from './ratio.mjs';
import { startServer } from './start-server.mjs';

const folder = mkdtempSync(join(tmpdir(), 'petstore-bench-'));
const rows = 20_000;
const preload = `--require ${join(import.meta.dirname, 'peak-memory.cjs')}`;
const env = { ...process.env, PETSTORE_STATE_DIR: join(folder, 'state'), PETSTORE_CONFIG_DIR: folder };
delete env.NODE_EXTRA_CA_CERTS;

const server = await startServer(rows);
env.PETSTORE_BASE_URL = server.url;
try {
  await throughput();
  await memory();
  await million();
} finally {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}

/** Applies two files of other counts in turn, so that all rows differ each time. */
function applying(files, count, concurrency, measure = petstore) {
  let turn = 0;
  return async (build) => {
    const file = files[turn % files.length];
    turn += 1;
    const words = ['inventory', 'apply', file, '--yes', '-q', '--concurrency', String(concurrency)];
    return (count * 1000) / (await measure(words, build));
  };
}

async function throughput() {
  const files = [stock('one.csv', rows, 0), stock('other.csv', rows, 1)];
  const few = stock('few.csv', 400, 0);
  printHeader('Bulk, rows a second, whole process with its plan', 'baseline', '`inventory apply`');
  if (has('wrk'))
    await compare({
      name: '20,000 rows, 16 at once, against `wrk -t1 -c16`',
      baseline: wrk,
      figure: applying(files, rows, 16),
      pairs: 5,
      unit: '/s',
      target: '>= 0.45',
      targetOfBefore: '>= 1.6',
    });
  if (has('curl') && has('xargs'))
    await compare({
      name: '20,000 rows, 8 at once, against `xargs -P 8 curl` of 400',
      baseline: async () => (400 * 1000) / (await curls(few)),
      figure: applying(files, rows, 8),
      pairs: 5,
      unit: '/s',
      target: '>= 55',
    });
  if (has('curl'))
    await compare({
      name: '20,000 rows, 16 at once, against `curl -Z --parallel-max 16`',
      baseline: async () => (rows * 1000) / (await parallelCurl()),
      figure: applying(files, rows, 16),
      pairs: 5,
      unit: '/s',
    });
}

async function memory() {
  const count = 100_000;
  const large = await startServer(count);
  env.PETSTORE_BASE_URL = large.url;
  const { peak } = await petstoreWithPeak([
    'inventory',
    'apply',
    stock('hundred.csv', count, 1),
    '--yes',
    '-q',
  ]);
  console.log(`\n100,000 rows of \`inventory apply\`: peak memory ${peak} MB, target <= 150 MB`);
  await large.stop();
}

async function million() {
  const count = 1_000_000;
  const large = await startServer(count);
  env.PETSTORE_BASE_URL = large.url;
  try {
    const files = [
      await bigStock('one-million.csv', count, 0),
      await bigStock('other-million.csv', count, 1),
    ];
    const [file] = files;
    printHeader('1,000,000 rows, seconds', '`inventory export`', 'the command');
    await compare({
      name: '`inventory diff`, most of them differ, as csv',
      baseline: () => petstore(['inventory', 'export']),
      figure: (build) => petstore(['inventory', 'diff', file, '-o', 'csv'], build, 8),
      pairs: 3,
      target: '<= 1.6',
    });
    const peaks = [];
    const measure = async (words, build) => {
      const { peak, ms } = await petstoreWithPeak(words, build);
      if (build === '.') peaks.push(peak);
      return ms;
    };
    printHeader('1,000,000 rows a second, whole process with its plan', 'baseline', '`inventory apply`');
    await compare({
      name: '16 at once, against `wrk -t1 -c16`',
      baseline: wrk,
      figure: applying(files, count, 16, measure),
      pairs: 3,
      unit: '/s',
    });
    console.log(`\npeak memory ${Math.max(...peaks)} MB, target <= 450 MB`);
  } finally {
    await large.stop();
  }
}

function stock(name, count, shift) {
  const path = join(folder, name);
  const lines = Array.from({ length: count }, (_, at) => `${at + 1},${(at % 900) + shift}\n`);
  writeFileSync(path, `petId,quantity\n${lines.join('')}`);
  return path;
}

async function bigStock(name, count, shift) {
  const path = join(folder, name);
  const file = createWriteStream(path);
  file.write('petId,quantity\n');
  for (let id = 1; id <= count; id += 1)
    if (!file.write(`${id},${1 + shift + (id % 900)}\n`)) await once(file, 'drain');
  file.end();
  await once(file, 'close');
  return path;
}

async function petstore(words, build = '.', expected = 0) {
  const started = performance.now();
  await run(process.execPath, [join(build, 'bin/petstore.js'), ...words], { expected });
  return performance.now() - started;
}

async function petstoreWithPeak(words, build = '.') {
  const started = performance.now();
  const said = await run(process.execPath, [join(build, 'bin/petstore.js'), ...words], {
    NODE_OPTIONS: preload,
  });
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

/** Measures the same work without this program: a curl for each row of the file, eight at a time. */
async function curls(file) {
  const started = performance.now();
  const put = `curl -sf -o /dev/null -X PUT -H 'content-type: application/json' -d "{\\"quantity\\":$2}" ${server.url}/store/inventory/$1`;
  await run('sh', [
    '-c',
    `tail -n +2 ${file} | tr , ' ' | xargs -P 8 -n 2 sh -c '${put.replaceAll("'", "'\\''")}' _`,
  ]);
  return performance.now() - started;
}

async function parallelCurl() {
  const config = join(folder, 'curl.config');
  const one = (id) =>
    `url = "${server.url}/store/inventory/${id}"\nrequest = "PUT"\nheader = "content-type: application/json"\ndata = "{\\"quantity\\":${id % 900}}"\noutput = "/dev/null"\n`;
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

function has(command) {
  const isThere = !spawnSync(command, ['--version']).error;
  if (!isThere) console.log(`\n${command} is not here`);
  return isThere;
}
