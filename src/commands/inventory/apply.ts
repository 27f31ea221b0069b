import type { Context } from '../../context.ts';
import { verb } from '../command.ts';
import type { Entry } from '../entry.ts';
import { applyInput } from './bulk/apply-input.ts';
import { inputOptions, planOptions, runOptions } from './bulk/flags.ts';

export function declare(context: Context, entry: Entry) {
  const command = verb(entry, {
    description:
      'Reads a CSV, JSON or JSONL file of petId and quantity (- is stdin), checks all of it, compares it with the current counts, asks, and sets those that differ. What it does is kept in a journal: a run that was stopped can be resumed, and one that was wrong undone.',
    write: 'planned',
    examples: [
      'petstore inventory apply stock.csv',
      'petstore inventory apply stock.csv --dry-run',
      'petstore inventory apply - --yes < feed.jsonl',
      'petstore inventory apply stock.csv --yes --max-changes 10% --max-delta 500',
      'petstore inventory apply stock.csv --yes --blind --concurrency 16 --rate 200',
      'petstore inventory apply stock.csv --yes --map petId=SKU --map "quantity=On hand"',
    ],
  }).argument('<file>', 'the counts; - for stdin');
  for (const option of [...inputOptions(), ...planOptions(), ...runOptions()]) command.addOption(option);
  return command.action((file, flags) => applyInput(context, file, flags));
}
