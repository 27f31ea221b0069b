import { type Io, withWrite } from './io.ts';
import type { Secrets } from './mask.ts';
import type { OutputStream } from './output-stream.ts';
import { createCommandBreaker } from './text.ts';

/**
 * The same process, but its stdout and stderr mask the secrets and, in a CI job, break up text that the runner would
 * obey. Mask a text with `mask` before you cut or wrap it: half a secret is not recognised.
 */
export function safeIo(io: Io, secrets: Secrets): Io {
  const { env } = io;
  const isCiJob = Boolean(env.GITHUB_ACTIONS || env.GITLAB_CI || env.TF_BUILD);
  const safe = (output: OutputStream): OutputStream => {
    const breakCommands = isCiJob ? createCommandBreaker() : undefined;
    return withWrite(output, (data, options) => {
      const toShown = (text: string) => {
        const shown = secrets.mask(text);
        return breakCommands && !options?.commands ? breakCommands(shown) : shown;
      };
      if (typeof data === 'string') return output.write(toShown(data));
      // Latin-1 keeps every byte, whatever the encoding.
      const text = Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('latin1');
      const shown = toShown(text);
      return output.write(shown === text ? data : Buffer.from(shown, 'latin1'));
    });
  };
  return { ...io, mask: secrets.mask, stdout: safe(io.stdout), stderr: safe(io.stderr) };
}
