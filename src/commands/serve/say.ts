import type { Context } from '../../context.ts';
import { sanitize } from '../../text.ts';

/** A line that also --quiet leaves. */
export function say({ io }: Context, line: string): void {
  io.stderr.write(`${sanitize(line)}\n`).catch(() => {});
}
