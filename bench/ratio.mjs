import { spawn, spawnSync } from 'node:child_process';
import { constants, mkdtempSync, openSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The program under trial, and an earlier build of it if `PETSTORE_BENCH_BEFORE` names its folder. */
const builds = ['.', process.env.PETSTORE_BENCH_BEFORE].filter((folder) => folder !== undefined);

/**
 * Runs a baseline and each build in turn (A B C A B C ...) and prints the medians and the medians of the ratios of each
 * round, because absolute times mean little on a shared machine.
 *
 * @param row.name the name of the measured property.
 * @param row.baseline measures the baseline, and returns a value such as milliseconds or requests a second.
 * @param row.figure measures a build, whose folder it gets, and returns the same kind of value.
 * @param row.unit the unit of the values.
 * @param row.target the ratio to the baseline to reach, such as `<= 1.4` or `>= 0.6`; undefined if there is no target.
 * @param row.targetOfBefore the same for the ratio to the earlier build.
 */
export async function compare({ name, baseline, figure, pairs = 15, unit = 'ms', target, targetOfBefore }) {
  const measures = [baseline, ...builds.map((folder) => () => figure(folder))];
  for (const measure of measures) await measure();
  const rounds = [];
  for (let round = 0; round < pairs; round += 1) {
    const values = [];
    for (const measure of measures) values.push(await measure());
    rounds.push(values);
  }
  const ratioTo = (at) => `${median(rounds.map((values) => values[1] / values[at])).toFixed(2)} x`;
  const medianOf = (at) => format(median(rounds.map((values) => values[at])), unit);
  printRow([
    name,
    medianOf(0),
    medianOf(1),
    ratioTo(0),
    target ?? '',
    ...(builds.length > 1 ? [ratioTo(2), targetOfBefore ?? ''] : []),
  ]);
}

export function printHeader(title, baseline, figure = 'figure') {
  console.log(`\n## ${title}\n`);
  const cells = ['what', baseline, figure, 'ratio', 'target'];
  if (builds.length > 1) cells.push('of the earlier build', 'target');
  printRow(cells);
  printRow(cells.map(() => '---'));
}

export function printRow(cells) {
  console.log(`| ${cells.join(' | ')} |`);
}

/** Opens a pipe as that of a shell, whose content is discarded. The pipes that Node gives to a child are sockets. */
function openPipe() {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-bench-'));
  const pipe = join(folder, 'stdout');
  spawnSync('mkfifo', [pipe]);
  new Socket({ fd: openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK) }).resume().unref();
  const end = openSync(pipe, 'w');
  rmSync(folder, { recursive: true });
  return end;
}

const stdout = openPipe();

/** Measures the milliseconds of a whole process. Reads and discards its output. */
export function timeOf(command, args, { env = process.env, cwd, input, expected = 0 } = {}) {
  return new Promise((resolve, reject) => {
    const started = performance.now();
    const child = spawn(command, args, {
      env,
      cwd,
      stdio: [input === undefined ? 'ignore' : 'pipe', stdout, 'pipe'],
    });
    let complaint = '';
    child.stderr.on('data', (chunk) => {
      complaint += chunk;
    });
    if (input !== undefined) child.stdin.end(input);
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === expected) resolve(performance.now() - started);
      else reject(new Error(`${command} ${args.join(' ')} exited ${code}: ${complaint}`));
    });
  });
}

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}

function format(value, unit) {
  return `${value >= 100 ? Math.round(value) : value.toFixed(1)} ${unit}`;
}
