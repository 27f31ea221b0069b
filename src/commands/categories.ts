import { nouns } from '../api/nouns.ts';
import { type Group, verb } from '../cli/verb.ts';
import { recordView } from '../records/access.ts';
import { recordVerbs } from './record-verbs.ts';
import { listFlags } from './shared-flags.ts';

const { categories } = nouns;

const list = verb({
  name: 'list',
  aliases: ['ls'],
  summary: 'List categories',
  examples: ['petstore categories list', 'petstore categories ls --sort name -o json'],
  flags: listFlags,
  view: (context) => recordView(context, categories, 'list'),
  run: async (context, flags) =>
    (await import('../records/list-and-get.ts')).listRecords(context, categories, flags),
});

const { get, create, update, edit, remove } = recordVerbs(categories, {
  get: ['petstore categories get 1', 'petstore categories get Dogs Cats -o json'],
  create: [
    'petstore categories create --name Amphibians --description "Frogs, toads and newts"',
    'petstore categories create --from categories.json',
  ],
  update: [
    'petstore categories update 1 --description "Large and small"',
    'petstore categories update --from categories.csv',
  ],
  delete: ['petstore categories delete 6', 'petstore categories rm 6 7 --yes'],
});

export const categoryCommands: Group = {
  examples: [
    'petstore categories list',
    'petstore categories create --name Amphibians --description "Frogs, toads and newts"',
  ],
  verbs: [list, get, create, update, edit, remove],
};
