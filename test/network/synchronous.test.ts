import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { build } from 'esbuild';
import { expect, test } from 'vitest';
import { nodeBinary } from '../helpers/spawn-cli.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('synchronous work ends at %s', async (signal) => {
  const outfile = join(temporaryFolder(), 'work.cjs');
  const contents = `
    import { writeSync } from 'node:fs';
    import { whileKillable } from './src/process/io.ts';
    process.on('${signal}', () => {});
    whileKillable(() => { writeSync(1, 'working'); for (;;); });`;
  const stdin = { contents, resolveDir: process.cwd(), loader: 'ts' } as const;
  await build({ stdin, bundle: true, platform: 'node', outfile, logLevel: 'error' });
  const child = spawn(nodeBinary, [outfile]);
  const exit = once(child, 'exit');
  await once(child.stdout, 'data');
  child.kill(signal);
  expect(await exit).toEqual([null, signal]);
});
