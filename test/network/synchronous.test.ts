import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { build } from 'esbuild';
import { expect, test } from 'vitest';
import { runWithinTime } from '../../src/process/deadline.ts';
import { nodeBinary } from '../helpers/spawn-cli.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

function runForever(): never {
  for (;;);
}

test('synchronous work ends when its time is over, and gives its value otherwise', () => {
  expect(runWithinTime(20, runForever, () => 'late')).toBe('late');
  expect(runWithinTime(10_000, () => 'value', runForever)).toBe('value');
  const fail = () => JSON.parse('{');
  expect(() => runWithinTime(10_000, fail, runForever)).toThrow(SyntaxError);
});

const forever = "{ writeSync(1, 'working'); for (;;); }";

test.each([
  ['SIGINT', `runWithinTime(600000, () => ${forever}, () => {}, { endsOnCtrlC: true })`, [130, null]],
  ['SIGTERM', `whileKillable(() => ${forever})`, [null, 'SIGTERM']],
  ['SIGHUP', `whileKillable(() => ${forever})`, [null, 'SIGHUP']],
] as const)('synchronous work ends at %s', async (signal, work, end) => {
  const outfile = join(temporaryFolder(), 'work.cjs');
  const contents = `
    import { writeSync } from 'node:fs';
    import { whileKillable } from './src/process/io.ts';
    import { runWithinTime } from './src/process/deadline.ts';
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(name, () => {});
    try {
      ${work};
    } catch (error) {
      process.exit(error.exitCode);
    }`;
  const stdin = { contents, resolveDir: process.cwd(), loader: 'ts' } as const;
  await build({ stdin, bundle: true, platform: 'node', outfile, logLevel: 'error' });
  const child = spawn(nodeBinary, [outfile]);
  const exit = once(child, 'exit');
  await once(child.stdout, 'data');
  child.kill(signal);
  expect(await exit).toEqual(end);
});
