import { verb } from '../../cli/verb.ts';
import { createRecords } from '../../records/create-records.ts';
import { deleteRecords } from '../../records/delete-records.ts';
import { getRecords } from '../../records/get-records.ts';
import { listRecords } from '../../records/list-records.ts';
import { updateRecords } from '../../records/update-records.ts';
import { fromFlag, idArgument, idsArgument, limitFlag } from '../arguments.ts';
import { resolveCategory } from './categories.ts';
import { categoryFlag, givenPet, nameFlag, statusFlag } from './flags.ts';
import { pets } from './noun.ts';

export const examples = [
  'petstore pets list --status available',
  'petstore pets create --name Rex --category Dogs',
  'petstore pets update 3 --status sold',
];

const list = verb({
  name: 'list',
  aliases: ['ls'],
  summary: 'List pets',
  operation: 'listPets',
  examples: [
    'petstore pets list',
    'petstore pets list --status available --category Dogs',
    'petstore pets list --sort -id --limit 10',
    'petstore pets ls -o csv > pets.csv',
  ],
  flags: {
    status: statusFlag('only pets of this status'),
    category: categoryFlag('only pets of this category'),
    limit: limitFlag,
  },
  async run(context, { status, category, limit }) {
    const categoryId =
      category === undefined ? undefined : await resolveCategory(await context.client(), category);
    await listRecords(context, pets, { operation: 'listPets', where: { status, categoryId }, limit });
  },
});

const get = verb({
  name: 'get',
  summary: 'Get one or several pets',
  operation: 'getPet',
  examples: ['petstore pets get 3', 'petstore pets get 3 4 5 -o json'],
  args: { ids: idsArgument('pets', 'pet') },
  run: (context, { ids }) => getRecords(context, pets, ids),
});

const create = verb({
  name: 'create',
  summary: 'Create a pet, or many from a file',
  description: 'Creates a pet, or one for each record of a file. On a terminal it asks for what is missing.',
  operation: 'createPet',
  write: true,
  examples: [
    'petstore pets create --name Rex --category Dogs',
    'petstore pets create --from pets.jsonl',
    'petstore pets create --name Rex --category 1 --status pending --dry-run',
  ],
  flags: {
    name: nameFlag,
    category: categoryFlag('its category'),
    status: statusFlag('its status (default: available)'),
    from: fromFlag(['name', 'category', 'status']),
  },
  run: (context, { from, ...flags }) => createRecords(context, pets, { from, given: givenPet(flags) }),
});

const update = verb({
  name: 'update',
  summary: 'Change a pet',
  description: 'Reads a pet, changes what the flags name and writes it back; all else stays as it is.',
  operation: 'updatePet',
  write: true,
  examples: ['petstore pets update 3 --status sold', 'petstore pets update 3 --name Rexy --category Dogs'],
  args: { id: idArgument('the pet', 'pet') },
  flags: { name: nameFlag, category: categoryFlag('its category'), status: statusFlag('its status') },
  run: (context, { id, ...flags }) => updateRecords(context, pets, { ids: [id], given: givenPet(flags) }),
});

const remove = verb({
  name: 'delete',
  aliases: ['rm'],
  summary: 'Delete pets, after asking',
  operation: 'deletePet',
  write: true,
  examples: ['petstore pets delete 3', 'petstore pets rm 3 4 5 --yes'],
  args: { ids: idsArgument('pets', 'pet') },
  run: (context, { ids }) => deleteRecords(context, pets, ids),
});

export const verbs = [list, get, create, update, remove];

export const columns = async () => pets.view.columns.map(({ name }) => name);
