import { expect, test } from 'vitest';
import { recordingServer } from '../helpers/recording-server.ts';
import { failed, type Line, runAt } from '../helpers/run-cli.ts';

const noId = (text: string) => `id '${text}': must be a whole number from 0 to 9223372036854775807`;
const noChange = (text: string) =>
  `change '${text}': must be a whole number with or without a sign in front, such as 24, +24 or -3`;
const noCount = (text: string) => `quantity '${text}': must be a whole number from 0 to 9007199254740991`;

/** Command lines that are wrong, and what the error says. */
const wrong: readonly (readonly [Line, string])[] = [
  ['pets get', "pets get: missing required argument 'id or name'\n"],
  ['pets get -5', noId('-5')],
  ['pets get 1.0', noId('1.0')],
  ['pets get 9223372036854775808', noId('9223372036854775808')],
  [['pets', 'get', ''], noId('')],
  [['pets', 'get', ' 1'], noId(' 1')],
  ['pets create --status sold', 'pets create: --name and --category are missing\n'],
  ['pets create --from - --name Rex', '--from cannot be used with --name\n'],
  [
    'pets create --name Rex --category 1 --field colour=red',
    'createPet of the service has no field colour\nhint: its fields are name, categoryId, status\n',
  ],
  ['pets create --name Rex --category 1 --field colour=red -o json', '"code":"unbound"'],
  ['pets update 3', 'nothing to change\nhint: give one or more of --name, --category, --status\n'],
  [['pets', 'update', '3', '--name', 'A', '-H', 'If-Match:1'], '--header: the command sets If-Match itself'],
  [['inventory', 'set', '3', '1', '-H', 'content-type:a/b'], 'hint: `petstore api request` sends any'],
  ['pets update --status sold', 'pets update: no id is given'],
  [['pets', 'update', '1', '--name', ''], "--name '': must not be empty"],
  ['pets delete 1', 'hint: use --yes\n'],
  ['pets list --status lost', "--status 'lost': must be one of available, pending, sold"],
  ['pets create --name A --category 1 --status lost', 'must be one of available, pending, sold'],
  ['pets list --limit ten', "--limit 'ten': must be a whole number from 1 to 9007199254740991\n"],
  [
    'pets list --sort -colour',
    "--sort: pets have no field 'colour'; they have id, name, category, status, categoryId",
  ],
  [['pets', 'list', '--category', ''], "--category '': must not be empty"],
  ['pets list --category 99999999999999999999', 'must be a whole number from 0 to 9223372036854775807'],
  ['pets list --watch', '--watch prints a table on a terminal only'],
  ['pets list --watch 500ms', "--watch '500ms': must be a duration of at least 1s"],
  ['categories create', 'categories create: --name is missing\n'],
  ['categories update 1', 'categories update: nothing to change\n'],
  ['orders create', 'orders create: --pet and --quantity are missing\n'],
  ['orders create --pet 1', 'orders create: --quantity is missing\n'],
  ['orders create --pet 1.5', "--pet '1.5': must be a whole number from 0 to 9223372036854775807"],
  ['orders create --pet 1 --quantity -1', "--quantity '-1': must be a whole number from 0"],
  ['orders create --pet 1 --ship-date 2027-02-30', "--ship-date '2027-02-30': must be a date such as"],
  ['orders create --pet 1 --ship-date yesterday', "--ship-date 'yesterday': must be a date such as"],
  ['orders list --open --complete', '--open cannot be used with --complete\n'],
  ['orders update 1', 'orders update: nothing to change\n'],
  ['inventory set 4', "inventory set: missing required argument 'quantity'\n"],
  ['inventory adjust 4 −1', noChange('−1')],
  ['inventory set 4 -1', noCount('-1')],
  [['inventory', 'set', '4', ''], noCount('')],
  ['inventory set 4 9007199254740992', noCount('9007199254740992')],
  ['inventory set -1 1', "petId '-1': must be a whole number from 0 to 9223372036854775807\n"],
  ['inventory adjust 4 five', `${noChange('five')}\n`],
  ['inventory list --below -1', "--below '-1': must be a whole number from 0 to 9007199254740991\n"],
  ['overview -o csv', 'petstore overview: -o csv: must be one of table, json, jsonl, yaml'],
  ['pets get 003', noId('003')],
  ['api spec --fields help', 'api spec: --fields and --sort do not apply'],
];

test.each(wrong)('%j is refused with exit 2, and nothing is sent', async (line, message) => {
  await using server = await recordingServer({});
  expect(await runAt(server, line, { stdin: 'y\n' })).toMatchObject(failed(2, message));
  expect(server.requests).toEqual([]);
});
