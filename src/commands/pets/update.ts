import type { Context } from '../../context.ts';
import { idArgument } from '../arguments.ts';
import { verb } from '../command.ts';
import { updateRecords } from '../update-records.ts';
import { categoryFlag, givenPet, nameFlag, statusFlag } from './flags.ts';
import { pets } from './noun.ts';

export function updatePet(context: Context) {
  return verb('update', {
    summary: 'Change a pet',
    description: 'Reads a pet, changes what the flags name and writes it back; all else stays as it is.',
    operation: 'updatePet',
    write: true,
    examples: ['petstore pets update 3 --status sold', 'petstore pets update 3 --name Rexy --category Dogs'],
  })
    .addArgument(idArgument('the pet'))
    .addOption(nameFlag())
    .addOption(categoryFlag('its category'))
    .addOption(statusFlag('its status'))
    .action((id, flags) => updateRecords(context, pets, { ids: [id], given: givenPet(flags) }));
}
