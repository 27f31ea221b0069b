import { nouns } from '../api/nouns.ts';
import { value } from '../cli/flag.ts';
import { type Group, verb } from '../cli/verb.ts';
import { foldCase } from '../process/text.ts';
import { recordView } from '../records/access.ts';
import { parseText } from '../records/record-fields.ts';
import { recordVerbs } from './record-verbs.ts';
import { listFlags, referenceFlag, statusesFlag } from './shared-flags.ts';

const { pets } = nouns;

const list = verb({
  name: 'list',
  aliases: ['ls'],
  summary: 'List pets',
  examples: [
    'petstore pets list --status available --category Dogs',
    'petstore pets list --name luna',
    'petstore pets list --sort -id --limit 10',
    'petstore pets ls -o csv > pets.csv',
  ],
  flags: {
    status: statusesFlag('only pets of this status'),
    category: referenceFlag('categories', 'only pets of this category'),
    name: value('--name <text>', 'only pets whose name contains this', { parse: parseText }),
    ...listFlags,
  },
  view: (context) => recordView(context, pets, 'list'),
  async run(context, { status, category, name, ...flags }) {
    const part = name === undefined ? undefined : foldCase(name);
    return (await import('../records/list-and-get.ts')).listRecords(context, pets, {
      status,
      where: { categoryId: category },
      matches: part === undefined ? undefined : ({ name }) => foldCase(`${name}`).includes(part),
      ...flags,
    });
  },
});

const { get, create, update, edit, remove } = recordVerbs(pets, {
  get: ['petstore pets get 3', 'petstore pets get Luna', 'petstore pets get 3 4 5 -o json'],
  create: [
    'petstore pets create --name Rex --category Dogs',
    'petstore pets create --from pets.csv',
    'petstore pets create --name Rex --category 1 --status pending --dry-run',
  ],
  update: [
    'petstore pets update 3 5 9 --status sold',
    'petstore pets update Luna --name Lunette --category Dogs',
    'petstore pets update --from pets.csv',
  ],
  delete: [
    'petstore pets delete 3',
    'petstore pets rm 3 4 5 --yes',
    'petstore pets list --status sold -o ids | petstore pets delete --from - --yes',
  ],
});

export const petCommands: Group = {
  examples: [
    'petstore pets list --status available',
    'petstore pets create --name Rex --category Dogs',
    'petstore pets update 3 --status sold',
  ],
  verbs: [list, get, create, update, edit, remove],
};
