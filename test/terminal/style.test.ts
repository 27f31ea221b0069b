import { expect, test } from 'vitest';
import { runCli } from '../helpers/run-cli.ts';

test.each<[isTerminal: boolean, env: Record<string, string>, isColored: boolean]>([
  [true, {}, true],
  [false, {}, false],
  [true, { NO_COLOR: '1' }, false],
  [true, { NO_COLOR: '' }, true],
  [true, { TERM: 'dumb' }, false],
  [true, { TERM: 'xterm-256color' }, true],
  [false, { FORCE_COLOR: '1' }, true],
  [true, { FORCE_COLOR: '0' }, false],
  [true, { FORCE_COLOR: 'false' }, false],
  [false, { FORCE_COLOR: '' }, false],
  [true, { FORCE_COLOR: '1', NO_COLOR: '1', TERM: 'dumb' }, true],
])('terminal %s with %j has colour: %s; --color decides otherwise', async (isTerminal, env, isColored) => {
  // Each stream has its own colour: stderr is the other kind.
  for (const stream of ['stdout', 'stderr'] as const) {
    const other = stream === 'stdout' ? 'stderr' : 'stdout';
    const terminals = [isTerminal ? stream : other];
    const colors = async (flags: string) => {
      const run = await runCli(`--offline pets get 1 999 -q${flags}`, { terminals, env });
      return run[stream].includes('\x1b[');
    };
    expect(await colors('')).toBe(isColored);
    expect(await colors(' --color always')).toBe(true);
    expect(await colors(' --color never')).toBe(false);
  }
});
