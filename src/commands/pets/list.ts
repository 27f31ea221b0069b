import { petStatuses } from '../../api/schemas.ts';
import type { Context } from '../../context.ts';
import { Option, verb } from '../command.ts';
import { petsView } from './view.ts';

export function listPets(context: Context) {
  return verb('list', {
    summary: 'List pets',
    operation: 'listPets',
    aliases: ['ls'],
    examples: [
      'petstore pets list',
      'petstore pets list --status available --category Dogs',
      'petstore pets ls -o csv',
    ],
  })
    .addOption(new Option('--status <status>', 'only pets of this status').choices(petStatuses))
    .option('--limit <n>', 'at most so many (default: all)')
    .action(async ({ status }) => {
      const client = await context.client();
      const printer = await context.printer();
      await printer.records(client.list('listPets', { status }), petsView(new Map()));
    });
}
