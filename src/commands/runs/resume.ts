import { prepareSession } from '../../bulk/continue-run.ts';
import { argument } from '../../cli/flag.ts';
import { action } from '../../cli/verb.ts';
import { parseRunId, resumeFlags } from '../shared-flags.ts';

const args = {
  run: argument('[run]', 'its id, such as r7 (default: the last run on this service)', {
    parse: parseRunId,
    offers: 'run',
  }),
};

export const resume = sessionVerb(
  'resume',
  'Continues a run that was stopped or killed: reads the records of the rows that are left, compares them with the plan, asks, and writes what is missing. It needs no file.',
  ['petstore resume', 'petstore resume r7'],
);

export const undo = sessionVerb(
  'undo',
  'Takes back what a run wrote. It sets back each value that is still as the run left it, adds the opposite of what the run added, so that sales in between stay, and removes records that the run created. It leaves alone and reports what somebody has changed since. An undo that stopped goes on if it is started again. Only runs can be undone, not commands with ids.',
  ['petstore undo', 'petstore undo r7 --dry-run'],
);

function sessionVerb(verb: 'resume' | 'undo', description: string, examples: readonly string[]) {
  return action({
    description,
    write: 'run',
    examples,
    args,
    flags: resumeFlags,
    prepare: (context, { run, ...flags }) => prepareSession(context, verb, run, flags),
  });
}
