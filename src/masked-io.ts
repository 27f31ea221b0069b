import { type Io, withWrite } from './io.ts';
import type { Secrets } from './mask.ts';
import type { OutputStream } from './output-stream.ts';

/** The same process, but that no secret of this run leaves by stdout or stderr. */
export function maskedIo(io: Io, secrets: Secrets): Io {
  return { ...io, stdout: masked(io.stdout, secrets), stderr: masked(io.stderr, secrets) };
}

function masked(output: OutputStream, secrets: Secrets): OutputStream {
  return withWrite(output, (data) => {
    if (typeof data === 'string') return output.write(secrets.mask(data));
    // Latin-1 keeps every byte, whatever the bytes are.
    const text = Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('latin1');
    const shown = secrets.mask(text);
    return output.write(shown === text ? data : Buffer.from(shown, 'latin1'));
  });
}
