import { petStatuses } from '../api/values.ts';
import { choice, value } from '../cli/flag.ts';
import { verb } from '../cli/verb.ts';
import { parseIdOrName, parseText } from '../records/values.ts';
import { fieldFlag, fromFlag, idOrNameArgument, listFlags, statusesFlag, untilFlag } from './arguments.ts';

const noun = async () => (await import('../records/pets.ts')).pets;

export const examples = [
  'petstore pets list --status available',
  'petstore pets create --name Rex --category Dogs',
  'petstore pets update 3 --status sold',
];

const nameFlag = value('--name <name>', 'its name', { parse: parseText });

function categoryFlag(summary: string) {
  return value('--category <id or name>', summary, { parse: parseIdOrName, offers: 'category' });
}

function statusFlag(summary: string) {
  return choice('--status <status>', summary, petStatuses);
}

const list = verb({
  name: 'list',
  aliases: ['ls'],
  summary: 'List pets',
  operation: 'listPets',
  examples: [
    'petstore pets list --status available --category Dogs',
    'petstore pets list --name luna',
    'petstore pets list --sort -id --limit 10',
    'petstore pets ls -o csv > pets.csv',
  ],
  flags: {
    status: statusesFlag('only pets of this status'),
    category: categoryFlag('only pets of this category'),
    name: value('--name <text>', 'only pets whose name contains this', { parse: parseText }),
    ...listFlags,
  },
  async run(context, { status, category, name, ...flags }) {
    const wanted = name?.toLowerCase();
    return (await import('../records/list.ts')).listRecords(context, await noun(), {
      where: { status, categoryId: category },
      matches: wanted === undefined ? undefined : (pet) => pet.name.toLowerCase().includes(wanted),
      ...flags,
    });
  },
});

const get = verb({
  name: 'get',
  summary: 'Get one or several pets',
  operation: 'getPet',
  examples: ['petstore pets get 3', 'petstore pets get Luna', 'petstore pets get 3 4 5 -o json'],
  args: { ids: idOrNameArgument('<id or name...>', 'ids or names of pets', 'pet') },
  flags: { until: untilFlag },
  run: async (context, { ids, until }) =>
    (await import('../records/get.ts')).getRecords(context, await noun(), ids, until),
});

const create = verb({
  name: 'create',
  summary: 'Create a pet, or many from a file',
  description: 'Creates a pet, or one for each record of a file. On a terminal it asks for what is missing.',
  operation: 'createPet',
  write: true,
  examples: [
    'petstore pets create --name Rex --category Dogs',
    'petstore pets create --from pets.csv',
    'petstore pets create --name Rex --category 1 --status pending --dry-run',
  ],
  flags: {
    name: nameFlag,
    category: categoryFlag('its category'),
    status: statusFlag('its status (default: available)'),
    field: fieldFlag,
    from: fromFlag('create a pet for each record of this file', ['name', 'category', 'status']),
  },
  run: async (context, given) =>
    (await import('../records/create.ts')).createRecords(context, await noun(), given),
});

const update = verb({
  name: 'update',
  summary: 'Change pets',
  description: 'Reads each pet, changes what the flags name and writes it back; all else stays as it is.',
  operation: 'updatePet',
  write: true,
  examples: [
    'petstore pets update 3 --status sold',
    'petstore pets update 3 5 9 --status sold',
    'petstore pets update Luna --name Lunette --category Dogs',
    'petstore pets update --from pets.csv',
  ],
  args: { ids: idOrNameArgument('[id or name...]', 'ids or names of pets', 'pet') },
  flags: {
    name: nameFlag,
    category: categoryFlag('its category'),
    status: statusFlag('its status'),
    field: fieldFlag,
    from: fromFlag('change the pets of this file, each by its id'),
  },
  run: async (context, given) =>
    (await import('../records/update.ts')).updateRecords(context, await noun(), given),
});

const edit = verb({
  name: 'edit',
  summary: 'Edit a pet as YAML in an editor',
  description:
    'Opens the pet as YAML in $VISUAL, $EDITOR or vi. Saved unchanged or empty, nothing is sent. An invalid text is opened again with the reason on top. Text that is not sent is kept in a file.',
  operation: 'updatePet',
  write: true,
  examples: ['petstore pets edit 3', 'EDITOR=nano petstore pets edit Luna'],
  args: { id: idOrNameArgument('<id or name>', 'id or name of the pet', 'pet') },
  run: async (context, { id }) => (await import('../records/edit.ts')).editRecord(context, await noun(), id),
});

const remove = verb({
  name: 'delete',
  aliases: ['rm'],
  summary: 'Delete pets, after asking',
  operation: 'deletePet',
  write: true,
  examples: [
    'petstore pets delete 3',
    'petstore pets rm 3 4 5 --yes',
    'petstore pets list --status sold -o ids | petstore pets delete --from - --yes',
  ],
  args: { ids: idOrNameArgument('[id or name...]', 'ids or names of pets', 'pet') },
  flags: { from: fromFlag('delete the pets whose ids this file has') },
  run: async (context, given) =>
    (await import('../records/delete.ts')).deleteGiven(context, await noun(), given),
});

export const verbs = [list, get, create, update, edit, remove];

export const columns = async () => (await noun()).columns(new Map()).map(({ name }) => name);
