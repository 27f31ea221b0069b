import type { Context } from '../../context.ts';
import { exitCodes } from '../../errors.ts';
import { openSource } from '../../input/source.ts';
import { verb } from '../command.ts';
import type { Entry } from '../entry.ts';
import { readJob } from './bulk/apply-input.ts';
import { inputOptions, readingOptions } from './bulk/flags.ts';
import { showDifferences } from './bulk/run.ts';

export function declare(context: Context, entry: Entry) {
  const command = verb(entry, {
    description:
      'Compares the counts of a file with the current ones and prints those that differ; changes nothing. Exits 0 where none does, 8 where some do.',
    examples: [
      'petstore inventory diff stock.csv',
      'petstore inventory diff - -o jsonl < feed.jsonl',
      'petstore inventory diff stock.csv > /dev/null || echo "the shelves and the service disagree"',
    ],
  }).argument('<file>', 'the counts; - for stdin');
  for (const option of [...inputOptions(), ...readingOptions()]) command.addOption(option);
  return command.action(async (file, flags) => {
    const source = await openSource(context.io, file);
    try {
      // A pet without an entry differs too, whatever apply would do with it.
      const job = await readJob(context, source, { ...flags, createMissing: true });
      if (await showDifferences(context, job, flags)) context.exitCode = exitCodes.differs;
    } finally {
      await source.close();
    }
  });
}
