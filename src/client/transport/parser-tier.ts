import { setFlagsFromString } from 'node:v8';
import { v8Version } from '../../io.ts';

/** What V8 11 has where nobody asks for another one, in about bytes of code that were run. */
const usualBudget = 1_800_000;
/** About a thousand answers. */
const lateBudget = 2_000_000_000;

/**
 * Does what makes undici's parser, which is WebAssembly, so that V8 optimises it late. V8 11, which Node 20 has, would do
 * that after the first answer already, and the process cannot end before it is done: 130 ms, for a run of ten rows too.
 * The flag is put back at once, for V8 refuses code caches that were made under other flags.
 */
export function withLateTier(makeParser: () => void): void {
  if (!v8Version().startsWith('11.')) {
    makeParser();
    return;
  }
  setFlagsFromString(`--wasm-tiering-budget=${lateBudget}`);
  try {
    makeParser();
  } finally {
    setFlagsFromString(`--wasm-tiering-budget=${usualBudget}`);
  }
}
