import type { Context } from '../../context.ts';
import { createRecords } from '../../records/create-records.ts';
import { fromFlag } from '../arguments.ts';
import { verb } from '../command.ts';
import type { Entry } from '../entry.ts';
import { categoryFlag, givenPet, nameFlag, statusFlag } from './flags.ts';
import { pets } from './noun.ts';

export function declare(context: Context, entry: Entry) {
  return verb(entry, {
    description:
      'Creates a pet, or one for each record of a file. On a terminal it asks for what is missing.',
    write: true,
    examples: [
      'petstore pets create --name Rex --category Dogs',
      'petstore pets create --from pets.jsonl',
      'petstore pets create --name Rex --category 1 --status pending --dry-run',
    ],
  })
    .addOption(nameFlag())
    .addOption(categoryFlag('its category'))
    .addOption(statusFlag('its status (default: available)'))
    .addOption(fromFlag(['name', 'category', 'status']))
    .action(({ from, ...flags }) => createRecords(context, pets, { from, given: givenPet(flags) }));
}
