// The printing of long lists, measured over the whole process. Do ten times the rows take ten times the time? Does the first
// byte wait for the last row? Does memory grow with the rows?

import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { compare, printHeader } from './ratio.mjs';
import { startServer } from './start-server.mjs';

const few = await startServer(10_000);
const many = await startServer(100_000);
const most = await startServer(300_000);
const preload = `--require ${join(import.meta.dirname, 'peak-memory.cjs')}`;

/** Lists all pets, and returns the milliseconds to the first byte and to the end, and the peak of memory in MB. */
function list(server, format, build = '.') {
  return new Promise((resolve, reject) => {
    const started = performance.now();
    const child = spawn(process.execPath, [join(build, 'bin/petstore.js'), 'pets', 'list', '-o', format], {
      env: { ...process.env, PETSTORE_BASE_URL: server.url, NODE_OPTIONS: preload },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let firstByte;
    let said = '';
    child.stdout.on('data', () => {
      firstByte ??= performance.now() - started;
    });
    child.stderr.on('data', (chunk) => {
      said += chunk;
    });
    child.on('error', reject);
    child.on('close', (code) => {
      const peak = /peak (\d+) MB/.exec(said);
      if (code !== 0 || !peak) reject(new Error(`pets list -o ${format} exited ${code}: ${said}`));
      else resolve({ firstByte, whole: performance.now() - started, peak: Number(peak[1]) });
    });
  });
}

async function measure(format, key, { unit = 'ms', target, large = many }) {
  const take = (server) => async (build) => (await list(server, format, build))[key];
  await compare({ name: format, baseline: take(few), figure: take(large), pairs: 5, unit, target });
}

try {
  printHeader('Output: whole time', '10,000 rows', '100,000 rows');
  for (const format of ['table', 'json', 'jsonl', 'csv', 'tsv', 'yaml'])
    await measure(format, 'whole', { target: '<= 10' });
  printHeader('Output: first byte', '10,000 rows', '100,000 rows');
  for (const format of ['table', 'jsonl']) await measure(format, 'firstByte', { target: '<= 1.2' });
  for (const [large, rows] of [
    [many, '100,000'],
    [most, '300,000'],
  ]) {
    printHeader('Output: peak memory', '10,000 rows', `${rows} rows`);
    for (const format of ['jsonl', 'csv'])
      await measure(format, 'peak', { unit: 'MB', target: '<= 1.2', large });
  }
} finally {
  for (const server of [few, many, most]) await server.stop();
}
