import { type Action, type Group, isGroup, loadCommand } from '../../src/cli/verb.ts';

interface Place {
  readonly path: readonly string[];
  readonly command: Action | Group;
}

/** Every command of the program, with the words that lead to it. */
export async function* commandsOf(group: Group, path: readonly string[] = []): AsyncGenerator<Place> {
  for (const verb of group.verbs) {
    const command = await loadCommand(verb);
    yield { path: [...path, verb.name], command };
    if (isGroup(command)) yield* commandsOf(command, [...path, verb.name]);
  }
}
