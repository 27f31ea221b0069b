import { value } from '../cli/flag.ts';
import { verb } from '../cli/verb.ts';
import { parseText } from '../records/values.ts';
import { fieldFlag, fromFlag, idOrNameArgument, listFlags, untilFlag } from './arguments.ts';

const noun = async () => (await import('../records/categories.ts')).categories;

export const examples = [
  'petstore categories list',
  'petstore categories create --name Amphibians --description "Frogs, toads and newts"',
];

const bodyFlags = {
  name: value('--name <name>', 'its name', { parse: parseText }),
  description: value('--description <text>', 'its description'),
  field: fieldFlag,
};

const list = verb({
  name: 'list',
  aliases: ['ls'],
  summary: 'List categories',
  operation: 'listCategories',
  examples: ['petstore categories list', 'petstore categories ls --sort name -o json'],
  flags: listFlags,
  run: async (context, flags) =>
    (await import('../records/list.ts')).listRecords(context, await noun(), { where: {}, ...flags }),
});

const get = verb({
  name: 'get',
  summary: 'Get one or several categories',
  operation: 'getCategory',
  examples: ['petstore categories get 1', 'petstore categories get Dogs Cats -o json'],
  args: { ids: idOrNameArgument('<id or name...>', 'ids or names of categories', 'category') },
  flags: { until: untilFlag },
  run: async (context, { ids, until }) =>
    (await import('../records/get.ts')).getRecords(context, await noun(), ids, until),
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
  flags: {
    ...bodyFlags,
    from: fromFlag('create a category for each record of this file', ['name', 'description']),
  },
  run: async (context, given) =>
    (await import('../records/create.ts')).createRecords(context, await noun(), given),
});

const update = verb({
  name: 'update',
  summary: 'Change categories',
  description:
    'Reads each category, changes what the flags name and writes it back; all else stays as it is.',
  operation: 'updateCategory',
  write: true,
  examples: [
    'petstore categories update 1 --description "Large and small"',
    'petstore categories update --from categories.csv',
  ],
  args: { ids: idOrNameArgument('[id or name...]', 'ids or names of categories', 'category') },
  flags: {
    ...bodyFlags,
    from: fromFlag('change the categories of this file, each by its id'),
  },
  run: async (context, given) =>
    (await import('../records/update.ts')).updateRecords(context, await noun(), given),
});

const edit = verb({
  name: 'edit',
  summary: 'Edit a category as YAML in an editor',
  description:
    'Opens the category as YAML in $VISUAL, $EDITOR or vi. Saved unchanged or empty, nothing is sent. An invalid text is opened again with the reason on top. Text that is not sent is kept in a file.',
  operation: 'updateCategory',
  write: true,
  examples: ['petstore categories edit 1', 'EDITOR=nano petstore categories edit Dogs'],
  args: { id: idOrNameArgument('<id or name>', 'id or name of the category', 'category') },
  run: async (context, { id }) => (await import('../records/edit.ts')).editRecord(context, await noun(), id),
});

const remove = verb({
  name: 'delete',
  aliases: ['rm'],
  summary: 'Delete categories that have no pets, after asking',
  operation: 'deleteCategory',
  write: true,
  examples: ['petstore categories delete 6', 'petstore categories rm 6 7 --yes'],
  args: { ids: idOrNameArgument('[id or name...]', 'ids or names of categories', 'category') },
  flags: { from: fromFlag('delete the categories whose ids this file has') },
  run: async (context, given) =>
    (await import('../records/delete.ts')).deleteGiven(context, await noun(), given),
});

export const verbs = [list, get, create, update, edit, remove];

export const columns = async () => (await noun()).columns(new Map()).map(({ name }) => name);
