import type { Program } from '../../src/cli/program.ts';
import { type Action, type Group, isGroup } from '../../src/cli/verb.ts';

interface Place {
  readonly path: readonly string[];
  readonly command: Action | Group;
}

/** Every command of the program, with the words that lead to it. */
export async function* commandsOf({ entries }: Program): AsyncGenerator<Place> {
  for (const entry of entries) yield* below([entry.name], await entry.load());
}

function* below(path: readonly string[], command: Action | Group): Generator<Place> {
  yield { path, command };
  if (isGroup(command)) for (const verb of command.verbs) yield* below([...path, verb.name], verb);
}
