import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { build } from 'esbuild';
import { expect, test } from 'vitest';
import { withinTime } from '../../src/process/within-time.ts';
import { nodeBinary } from '../helpers/spawn-cli.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

function runForever(): never {
  for (;;);
}

test('synchronous work ends when its time is over, and gives its value otherwise', () => {
  expect(withinTime(20, runForever, () => 'late')).toBe('late');
  expect(withinTime(10_000, () => 'value', runForever)).toBe('value');
  expect(() =>
    withinTime(
      10_000,
      () => {
        throw new Error('its own');
      },
      runForever,
    ),
  ).toThrow('its own');
});

test('synchronous work ends at Ctrl-C', async () => {
  const outfile = join(temporaryFolder(), 'work.cjs');
  const contents = `
    import { writeSync } from 'node:fs';
    import { withinTime } from './src/process/within-time.ts';
    try {
      withinTime(600000, () => { writeSync(1, 'working'); for (;;); }, () => {}, { endsOnCtrlC: true });
    } catch (error) {
      process.exitCode = error.exitCode;
    }`;
  const stdin = { contents, resolveDir: process.cwd(), loader: 'ts' } as const;
  await build({ stdin, bundle: true, platform: 'node', outfile, logLevel: 'error' });
  const child = spawn(nodeBinary, [outfile]);
  const exit = once(child, 'exit');
  await once(child.stdout, 'data');
  child.kill('SIGINT');
  expect(await exit).toEqual([130, null]);
});
