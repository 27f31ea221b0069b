import { spawn } from 'node:child_process';

/**
 * Runs a baseline and a candidate alternately (A B A B ...) and prints their medians and the median of the ratios of
 * the pairs, because absolute times mean little on a shared machine.
 *
 * @param row.name the name of the measured property.
 * @param row.baseline measures the baseline, and returns a value such as milliseconds or requests a second.
 * @param row.figure measures the candidate, and returns the same kind of value.
 * @param row.unit the unit of the values.
 * @param row.target the ratio to reach, such as `<= 1.4` or `>= 0.6`; undefined if there is no target.
 */
export async function compare({ name, baseline, figure, pairs = 15, unit = 'ms', target }) {
  const baselines = [];
  const figures = [];
  await baseline();
  await figure();
  for (let pair = 0; pair < pairs; pair += 1) {
    baselines.push(await baseline());
    figures.push(await figure());
  }
  const ratio = median(figures.map((value, at) => value / baselines[at]));
  printRow([
    name,
    format(median(baselines), unit),
    format(median(figures), unit),
    `${ratio.toFixed(2)} x`,
    target ?? '',
  ]);
  return ratio;
}

export function printHeader(title, baseline, figure = 'figure') {
  console.log(`\n## ${title}\n`);
  printRow(['what', baseline, figure, 'ratio', 'target']);
  printRow(['---', '---', '---', '---', '---']);
}

export function printRow(cells) {
  console.log(`| ${cells.join(' | ')} |`);
}

/** Measures the milliseconds of a whole process. Reads and discards its output. */
export function timeOf(command, args, { env = process.env, cwd, input } = {}) {
  return new Promise((resolve, reject) => {
    const started = performance.now();
    const child = spawn(command, args, {
      env,
      cwd,
      stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    });
    child.stdout.resume();
    let complaint = '';
    child.stderr.on('data', (chunk) => {
      complaint += chunk;
    });
    if (input !== undefined) child.stdin.end(input);
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve(performance.now() - started);
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
