import { RunStore } from '../../bulk/run-store.ts';
import { resolvePaths } from '../../config/paths.ts';
import type { Context } from '../../context.ts';
import { verb } from '../command.ts';
import type { Entry } from '../entry.ts';
import { runOptions } from './bulk/flags.ts';
import { resumeRun } from './bulk/resume-run.ts';

export function declare(context: Context, entry: Entry) {
  const command = verb(entry, {
    description:
      'Goes on with a run of apply or undo that was stopped or killed: sends what is not known to be done, from the same input. Past one hour the current counts are read again first, and you are asked again.',
    write: 'planned',
    examples: ['petstore inventory resume', 'petstore inventory resume 20271121-0215'],
  }).argument('[run]', 'its id, or how the id begins (default: the newest unfinished run of this service)');
  for (const option of runOptions()) command.addOption(option);
  return command.action((run, flags) =>
    resumeRun(context, new RunStore(resolvePaths(context.io).stateDir), { run, flags }),
  );
}
