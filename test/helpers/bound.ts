import { expect } from 'vitest';
import { type Runner, runnerWith } from './run-cli.ts';
import { temporaryFolder } from './temporary-folder.ts';

export interface Bound {
  readonly home: string;
  /** The environment of a command with this binding. */
  readonly env: Readonly<Record<string, string>>;
  /** Runs a command against the service, by default without retries. */
  readonly run: Runner;
  /** Runs a command that must succeed, and returns its stdout. */
  done(...run: Parameters<Runner>): Promise<string>;
}

interface BindOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly maps?: readonly string[] | undefined;
}

/**
 * Binds a service in a new configuration, and then forgets the requests that the binding has sent.
 *
 * @param description the description to bind to; undefined if the service serves its own.
 */
export async function bindTo(
  service: { readonly url: string; readonly requests: unknown[] },
  description?: unknown,
  { env: furtherEnv = {}, maps = [] }: BindOptions = {},
): Promise<Bound> {
  const home = temporaryFolder();
  const env = {
    PETSTORE_CONFIG_DIR: home,
    PETSTORE_STATE_DIR: `${home}/state`,
    PETSTORE_OFFLINE_STORE: `${home}/store.json`,
    PETSTORE_BASE_URL: service.url,
    ...furtherEnv,
  };
  const run = runnerWith({ env: { PETSTORE_RETRIES: '0', ...env } });
  const text = typeof description === 'string' ? description : JSON.stringify(description ?? '');
  const flags = maps.flatMap((map) => ['--map', map]);
  const source = description === undefined ? [] : ['-'];
  const binding = await run(['api', 'bind', ...source, ...flags], { stdin: text });
  expect(binding.stderr).toContain('operations bound');
  service.requests.length = 0;
  return {
    home,
    env,
    run,
    async done(line, options) {
      const { code, stdout, stderr } = await run(line, options);
      expect({ line, code, stderr: code === 0 ? '' : stderr }).toEqual({ line, code: 0, stderr: '' });
      return stdout;
    },
  };
}
