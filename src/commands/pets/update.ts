import type { Context } from '../../context.ts';
import { updateRecords } from '../../records/update-records.ts';
import { idArgument } from '../arguments.ts';
import { verb } from '../command.ts';
import type { Entry } from '../entry.ts';
import { categoryFlag, givenPet, nameFlag, statusFlag } from './flags.ts';
import { pets } from './noun.ts';

export function declare(context: Context, entry: Entry) {
  return verb(entry, {
    description: 'Reads a pet, changes what the flags name and writes it back; all else stays as it is.',
    write: true,
    examples: ['petstore pets update 3 --status sold', 'petstore pets update 3 --name Rexy --category Dogs'],
  })
    .addArgument(idArgument('the pet'))
    .addOption(nameFlag())
    .addOption(categoryFlag('its category'))
    .addOption(statusFlag('its status'))
    .action((id, flags) => updateRecords(context, pets, { ids: [id], given: givenPet(flags) }));
}
