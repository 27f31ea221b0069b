import { RunStore } from '../../bulk/run-store.ts';
import { resolvePaths } from '../../config/paths.ts';
import type { Context } from '../../context.ts';
import { verb } from '../command.ts';
import type { Entry } from '../entry.ts';
import { runOptions } from './bulk/flags.ts';
import { undoRun } from './bulk/undo-run.ts';

export function declare(context: Context, entry: Entry) {
  const command = verb(entry, {
    description:
      'Sets every count that a run changed back to what it was before, and removes the entries that its --create-missing made, where the count is still the one that the run set: what somebody has changed since is left alone, and reported as failed. A --blind run read no counts to go back to and cannot be undone. An undo is a run too: it can be resumed, and undone, which makes removed entries again.',
    write: 'planned',
    examples: [
      'petstore inventory undo 20271121-021530123-3f2a9c',
      'petstore inventory undo 20271121-0215 --dry-run',
    ],
  }).argument('<run>', 'its id, or how the id begins');
  for (const option of runOptions()) command.addOption(option);
  return command.action(async (run, flags) => {
    const runs = new RunStore(resolvePaths(context.io).stateDir);
    await undoRun(context, runs, { run: await runs.resolve(run), flags });
  });
}
