import { spawn } from 'node:child_process';

/**
 * Runs a baseline and a figure in turn (A B A B ...) and prints their medians and the median of the ratios, pair by pair:
 * absolute times mean little on a shared machine.
 *
 * @param row.name what is measured.
 * @param row.baseline, row.figure take a turn each, and give what they measured (milliseconds, requests a second).
 * @param row.unit of what they give.
 * @param row.target the ratio to reach, as `<= 1.4` or `>= 0.6`; undefined where it is only told.
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

/** Milliseconds that a whole process takes, its output read and thrown away. */
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
