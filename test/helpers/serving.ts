import { vi } from 'vitest';
import { main } from '../../src/main.ts';
import { type FakeIo, fakeIo } from './run-cli.ts';

export interface Serving extends AsyncDisposable {
  readonly url: string;
  readonly io: FakeIo;
  /** Raises a signal, and returns the exit code. */
  stop(signal?: 'SIGINT' | 'SIGTERM'): Promise<number>;
}

/** Runs `petstore serve` in this process on a free port, and returns when it accepts connections. */
export async function serve(line = '', io: FakeIo = fakeIo()): Promise<Serving> {
  const words = line.split(' ').filter((word) => word !== '');
  const code = main(['serve', '--port', '0', ...words], io);
  const accepts = vi.waitUntil(() => io.written('stdout').endsWith('\n'), { timeout: 10_000 });
  await Promise.race([accepts, code]);
  const stop: Serving['stop'] = (signal = 'SIGINT') => {
    io.raise(signal);
    return code;
  };
  return {
    url: io.written('stdout').trim(),
    io,
    stop,
    async [Symbol.asyncDispose]() {
      await stop();
    },
  };
}
