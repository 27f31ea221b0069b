import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse as parseCsv } from 'csv-parse/sync';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { type JsonObject, type JsonValue, parseJson, printJson } from '../../src/process/exact-json.ts';
import { randomOf } from '../helpers/random.ts';
import { recordingServer } from '../helpers/recording-server.ts';
import { runAt } from '../helpers/run-cli.ts';
import { serve } from '../helpers/serving.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

// What `list` prints is read back: by `create --from` and `update --from` to the same records, and by readers of other
// projects to the same values. A service of fixed answers prints the records, and an embedded store takes them.

const seed = Number(process.env.PETSTORE_TEST_SEED ?? 1);
const int64Max = 9223372036854775807n;

/** Texts that formats, spreadsheets, databases or programs take for something else. */
const pieces = [
  ...`a Z é e\u0301 猫 ペット א ½ ٣ 😀 👩\u200d👩\u200d👧 👍🏽 می\u200cخواهم क्\u200dष`.split(' '),
  ..."007 12E4 1.0 1,234 -5 +49 0x1f 1e3 12,50 1:30 2027-01-01 .inf _line id << =1+1 '=x ''=x :red".split(
    ' ',
  ),
  ...`= + - @ ' '' ＝ " "" , ; | : # ? ! % & * ~ \` \\ \\n \\t \\N \\" { } [ ] < > null true NaN yes no on y`.split(
    ' ',
  ),
  ...[' ', '  ', '\t', '\n', '\r', '\r\n', '\0', '\x01', '\x1b[2J', '\x7f', '\x85', '\x9b', '\xa0', '\xad'],
  ...'\u200b \u200d \u202e \u2066 \u2028 \u2029 \ufeff \u{e0041} ::warning::x ##[x]'.split(' '),
];

interface Records {
  readonly categories: readonly JsonObject[];
  readonly pets: readonly JsonObject[];
  readonly orders: readonly JsonObject[];
  readonly inventory: readonly JsonObject[];
}

function randomRecords(): Records {
  const random = randomOf(seed);
  const text = () => Array.from({ length: 1 + random.below(4) }, () => random.pick(pieces)).join('');
  const ids = [0n, 1n, 2n ** 53n - 1n, 2n ** 53n + 1n, 10n ** 18n, int64Max - 1n, int64Max];
  const idAt = (at: number) => ids[at] ?? 2n ** 53n + 2n * BigInt(at);
  const texts = [...pieces, ...Array.from({ length: 40 }, text)];
  const count = () => random.pick([0n, 1n, 7n, 1234n, 2n ** 53n - 1n]);
  const orNull = <Value>(value: Value) => (random.below(4) === 0 ? null : value);
  const status = () => random.pick(['available', 'pending', 'sold']);
  const categories = texts.map((name, at) => ({ id: idAt(at), name, description: orNull(text()) }));
  const pets = texts.map((name, at) => {
    return { id: idAt(at), name, categoryId: idAt(random.below(texts.length)), status: status() };
  });
  const dates = ['2027-01-15T09:00:00Z', '2027-01-15T09:00:00.123+05:30', '2000-02-29T23:59:59-08:00'];
  // These two have no texts: fewer have every kind of value.
  const orders = texts.slice(0, 40).map((_, at) => ({
    id: idAt(at),
    petId: orNull(idAt(random.below(texts.length))),
    quantity: orNull(count()),
    shipDate: orNull(random.pick(dates)),
    complete: at % 2 === 0,
  }));
  const inventory = pets.slice(0, 40).map(({ id, status }) => ({ petId: id, quantity: count(), status }));
  return { categories, pets, orders, inventory };
}

const records = randomRecords();
type NounName = keyof Records;
const nounNames: readonly NounName[] = ['categories', 'pets', 'orders', 'inventory'];
const shared = { categories: '/categories', pets: '/pets' };
const paths = { ...shared, orders: '/store/orders', inventory: '/store/inventory' };

async function print(noun: NounName, flags: string): Promise<string> {
  const documents = nounNames.map((name) => [paths[name], printJson(records[name])] as const);
  await using service = await recordingServer(Object.fromEntries(documents));
  const { code, stdout, stderr } = await runAt(service, `${noun} list ${flags}`);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout;
}

/** Runs a command at a service with these records, and gives it a text. Returns the records of the noun that it has then. */
async function runAtService(
  lists: Partial<Records>,
  noun: NounName,
  words: string,
  stdin: string,
): Promise<readonly JsonObject[]> {
  const folder = temporaryFolder();
  const store = Object.entries(lists).map(([list, items]) => [list, items.map((record) => valuesOf(record))]);
  writeFileSync(join(folder, 'store.json'), printJson(Object.fromEntries(store)));
  await using service = await serve(`--data ${join(folder, 'store.json')}`);
  const env = { PETSTORE_STATE_DIR: join(folder, 'state') };
  const { code, stderr } = await runAt(service, `${words} --yes -q`, { cwd: folder, env, stdin });
  const others = stderr.replace(/^(plan: |warning: .* is read as text).*\n/gm, '').slice(0, 1000);
  expect({ code, stderr: others }, `seed ${seed}`).toEqual({ code: 0, stderr: '' });
  const answer = await fetch(`${service.url}${paths[noun]}?limit=1000`);
  return parseJson(await answer.text()) as JsonObject[];
}

/** The fields of a record that have a value. */
function valuesOf(record: Readonly<Record<string, JsonValue | undefined>>, without?: string): JsonObject {
  const entries = Object.entries(record).map(([name, value = null]): [string, JsonValue] => {
    return [name, typeof value === 'number' ? BigInt(value) : value];
  });
  return Object.fromEntries(entries.filter(([name, value]) => value !== null && name !== without));
}

/** Records in an order that their values decide, because a service has an order of its own. */
function inOrder(list: readonly JsonObject[], without?: string): string[] {
  return list.map((record) => printJson(valuesOf(record, without))).sort();
}

const formats = ['csv', 'tsv', 'json', 'jsonl'] as const;

test.each(formats)('create reads what list printed as %s', async (format) => {
  for (const noun of ['categories', 'pets', 'orders'] as const) {
    const text = await print(noun, `-o ${format}`);
    const store = { ...records, orders: [], inventory: [], [noun]: [] };
    const lists = noun === 'categories' ? { ...store, pets: [] } : store;
    const created = await runAtService(lists, noun, `${noun} create --from -`, text);
    expect(inOrder(created, 'id'), `${noun}, seed ${seed}`).toEqual(inOrder(records[noun], 'id'));
  }
});

test.each(formats)('update reads what list printed as %s, with every id', async (format) => {
  const blank = {
    categories: records.categories.map((record) => ({ ...valuesOf(record), name: 'blank' })),
    pets: records.pets.map((record) => ({ ...record, name: 'blank' })),
    orders: records.orders.map(({ id, shipDate, complete, ...order }) => {
      return valuesOf({ ...order, id, complete: !complete });
    }),
  };
  for (const noun of ['categories', 'pets', 'orders'] as const) {
    const text = await print(noun, `-o ${format}`);
    // Names of categories stand for ids in the rows of pets.
    const referring = noun === 'categories' && { orders: [], inventory: [] };
    const lists = { ...records, [noun]: blank[noun], ...referring } as Partial<Records>;
    const updated = await runAtService(lists, noun, `${noun} update --from -`, text);
    expect(inOrder(updated), `${noun}, seed ${seed}`).toEqual(inOrder(records[noun]));
  }
});

test.each(formats)('apply reads what inventory list printed as %s', async (format) => {
  const text = await print('inventory', `-o ${format}`);
  const words = 'inventory apply - --create-missing --allow-zero';
  const stored = await runAtService({ ...records, inventory: [] }, 'inventory', words, text);
  expect(inOrder(stored), `seed ${seed}`).toEqual(inOrder(records.inventory));
});

const names = () => records.pets.map(({ name }) => String(name));

test('csv-parse reads every name of csv, with the guard of a formula', async () => {
  const rows: string[][] = parseCsv(await print('pets', '-o csv'), { relax_quotes: false });
  const guarded = (name: string) => (/^'*[=+\-@＝＋－＠\t\r\n]/.test(name) ? `'${name}` : name);
  const cells = rows.slice(1).map(([id, name]) => [id, name]);
  const expected = records.pets.map(({ id, name }) => [String(id), guarded(String(name))]);
  expect(cells, `seed ${seed}`).toEqual(expected);
});

test('csv-parse reads every line of tsv without quotes, and four escapes give the names', async () => {
  const text = await print('pets', '-o tsv');
  const format = { delimiter: '\t', quote: false, escape: null, record_delimiter: '\n' } as const;
  const rows: string[][] = parseCsv(text, format);
  const signs: Record<string, string> = { t: '\t', n: '\n', r: '\r', '\\': '\\', '"': '"' };
  const unescaped = rows.slice(1).map(([, name]) => name?.replace(/\\(.)/g, (_, sign) => signs[sign] ?? '?'));
  expect(unescaped, `seed ${seed}`).toEqual(names());
});

test.each(['1.1', '1.2'] as const)(
  'a reader of YAML %s reads every text of yaml as that text',
  async (version) => {
    const text = await print('categories', '-o yaml');
    const categories = parse(text, { version }) as { name: string; description: string | null }[];
    const textsOf = ({ name, description }: { name?: unknown; description?: unknown }) => [name, description];
    expect(categories.map(textsOf), `seed ${seed}`).toEqual(records.categories.map(textsOf));
  },
);

test('ids are one a line, and delete takes them', async () => {
  const text = await print('orders', '-o ids');
  expect(text).toBe(records.orders.map(({ id }) => `${id}\n`).join(''));
  const lists = { ...records, inventory: [] };
  expect(await runAtService(lists, 'orders', 'orders delete --from -', text)).toEqual([]);
});
