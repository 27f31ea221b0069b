import type { Io } from '../process/io.ts';
import type { OutputStream } from '../process/output-stream.ts';
import type { Secrets } from '../process/secrets.ts';
import { breakRunnerCommands } from '../process/text.ts';
import { createLiveLine, type LiveLine } from './live-line.ts';

/**
 * Opens a live line, and makes stdout and stderr safe to write to: they erase the live line first, and in a CI job break up
 * text that the runner would obey. Data, which is written as `isRaw`, stays as it is. stderr also masks the secrets; stdout
 * carries records, which are never masked. Mask a text with `mask` before you cut or wrap it, because half a secret is not
 * recognised.
 */
export function openStreams(io: Io, { mask }: Secrets): { readonly io: Io; readonly liveLine: LiveLine } {
  const { env } = io;
  const isCiJob = Boolean(env.GITHUB_ACTIONS || env.GITLAB_CI || env.TF_BUILD);
  const liveLine = createLiveLine({ ...io, mask });
  const toSafe = (output: OutputStream, maskText: (text: string) => string): OutputStream => {
    const write: OutputStream['write'] = (data, options) => {
      if (output.isTerminal) liveLine.clear();
      if (typeof data !== 'string') return output.write(data);
      const text = maskText(data);
      return output.write(isCiJob && !options?.isRaw ? breakRunnerCommands(text) : text);
    };
    // The other properties are read only when they are used, because asking a terminal takes time.
    return Object.create(output, { write: { value: write } });
  };
  return {
    io: { ...io, mask, stdout: toSafe(io.stdout, (text) => text), stderr: toSafe(io.stderr, mask) },
    liveLine,
  };
}
