import { value } from '../../cli/flag.ts';
import { verb } from '../../cli/verb.ts';
import { createRecords } from '../../records/create-records.ts';
import { deleteRecords } from '../../records/delete-records.ts';
import { getRecords } from '../../records/get-records.ts';
import { listRecords } from '../../records/list-records.ts';
import { given } from '../../records/noun.ts';
import { updateRecords } from '../../records/update-records.ts';
import { fromFlag, idArgument, idsArgument, limitFlag, parseText } from '../arguments.ts';
import { categories } from './noun.ts';

export const examples = [
  'petstore categories list',
  'petstore categories create --name Amphibians --description "Frogs, toads and newts"',
];

const fieldFlags = {
  name: value('--name <name>', 'its name', parseText('--name')),
  description: value('--description <text>', 'its description'),
};

const list = verb({
  name: 'list',
  aliases: ['ls'],
  summary: 'List categories',
  operation: 'listCategories',
  examples: ['petstore categories list', 'petstore categories ls --sort name -o json'],
  flags: { limit: limitFlag },
  run: (context, { limit }) =>
    listRecords(context, categories, { operation: 'listCategories', where: {}, limit }),
});

const get = verb({
  name: 'get',
  summary: 'Get one or several categories',
  operation: 'getCategory',
  examples: ['petstore categories get 1', 'petstore categories get 1 2 -o json'],
  args: { ids: idsArgument('categories') },
  run: (context, { ids }) => getRecords(context, categories, ids),
});

const create = verb({
  name: 'create',
  summary: 'Create a category, or many from a file',
  description:
    'Creates a category, or one for each record of a file. On a terminal it asks for what is missing.',
  operation: 'createCategory',
  write: true,
  examples: [
    'petstore categories create --name Amphibians --description "Frogs, toads and newts"',
    'petstore categories create --from categories.json',
  ],
  flags: { ...fieldFlags, from: fromFlag(['name', 'description']) },
  run: (context, { from, name, description }) =>
    createRecords(context, categories, { from, given: given({ name, description }) }),
});

const update = verb({
  name: 'update',
  summary: 'Change a category',
  description: 'Reads a category, changes what the flags name and writes it back; all else stays as it is.',
  operation: 'updateCategory',
  write: true,
  examples: ['petstore categories update 1 --description "Large and small"'],
  args: { id: idArgument('the category') },
  flags: fieldFlags,
  run: (context, { id, name, description }) =>
    updateRecords(context, categories, { ids: [id], given: given({ name, description }) }),
});

const remove = verb({
  name: 'delete',
  aliases: ['rm'],
  summary: 'Delete categories that have no pets, after asking',
  operation: 'deleteCategory',
  write: true,
  examples: ['petstore categories delete 6', 'petstore categories rm 6 7 --yes'],
  args: { ids: idsArgument('categories') },
  run: (context, { ids }) => deleteRecords(context, categories, ids),
});

export const verbs = [list, get, create, update, remove];

export const columns = async () => categories.view.columns.map(({ name }) => name);
