import { toBash } from './bash.ts';
import { toFish } from './fish.ts';
import { toPowershell } from './powershell.ts';
import { scriptNames, shells } from './shells.ts';
import { toTables } from './tables.ts';
import type { Tree } from './tree.ts';
import { toZsh } from './zsh.ts';

const writers = { bash: toBash, zsh: toZsh, fish: toFish, powershell: toPowershell } as const;

/** The files of `completions/` by name, made from the command tree. */
export function completionFiles(tree: Tree): ReadonlyMap<string, string> {
  const tables = toTables(tree);
  return new Map(shells.map((shell) => [scriptNames[shell], writers[shell](tables)]));
}
