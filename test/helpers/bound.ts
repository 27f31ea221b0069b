import { expect } from 'vitest';
import { type Line, type Run, runCli } from './run-cli.ts';
import { temporaryFolder } from './temporary-folder.ts';

export interface Bound {
  /** The folder of its configuration. */
  readonly home: string;
  readonly env: Readonly<Record<string, string>>;
  /** Runs a command against the service, without retries. `words` is its stderr with single spaces. */
  run(line: Line, stdin?: string): Promise<Run & { readonly words: string }>;
  /** The same for a command that must succeed; gives what it prints. */
  done(line: Line, stdin?: string): Promise<string>;
}

/**
 * Binds a service, in a configuration of its own, to the description that it has itself or to a given one, and forgets the
 * requests that it got for that.
 */
export async function bindTo(
  service: { readonly url: string; readonly seen: unknown[] },
  description?: unknown,
  more: Readonly<Record<string, string>> = {},
  maps: readonly string[] = [],
): Promise<Bound> {
  const home = temporaryFolder();
  const env = {
    PETSTORE_CONFIG_DIR: home,
    PETSTORE_STATE_DIR: `${home}/state`,
    PETSTORE_OFFLINE_STORE: `${home}/store.json`,
    PETSTORE_BASE_URL: service.url,
    PETSTORE_RETRIES: '0',
    ...more,
  };
  const run: Bound['run'] = async (line, stdin = '') => {
    const ran = await runCli(line, { env, stdin });
    return { ...ran, words: ran.stderr.replace(/\s+/g, ' ') };
  };
  const text = typeof description === 'string' ? description : JSON.stringify(description ?? '');
  const flags = maps.flatMap((map) => ['--map', map]);
  const binding = await run(['api', 'bind', ...(description === undefined ? [] : ['-']), ...flags], text);
  expect(binding.stderr).toContain('operations bound');
  service.seen.length = 0;
  return {
    home,
    env,
    run,
    async done(line, stdin) {
      const { code, stdout, stderr } = await run(line, stdin);
      expect({ line, code, stderr: code === 0 ? '' : stderr }).toEqual({ line, code: 0, stderr: '' });
      return stdout;
    },
  };
}
