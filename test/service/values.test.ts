import { expect, test } from 'vitest';
import { bindTo } from '../helpers/bound.ts';
import { describeLines } from '../helpers/corpus.ts';
import type { Description } from '../helpers/own-description.ts';
import { recordingServer } from '../helpers/recording-server.ts';
import { failed } from '../helpers/run-cli.ts';
import { inQuery } from '../helpers/shaped-service.ts';
import { type Fields, storeRecords } from '../helpers/stored-records.ts';

// The values of a field are the description's: a text stays text, a word is one of its enumeration, a day has no time.

const text = { type: 'string' };
const integer = { type: 'integer' };

/** A service of pets and orders that stores what it is sent. @param further the schemas of further fields of a pet */
async function serve(
  further: Fields = {},
  records: Fields = {},
  more: { order?: Fields; filter?: Fields; isSilent?: boolean } = {},
) {
  const lines = Object.entries({ pets: 'Pet', orders: 'Order' }).flatMap(([noun, name]) => [
    name === 'Pet' ? 'Pet: id#! name!' : 'Order: id# petId# quantity# shipDate complete?',
    `GET /${noun} -> ${name}[]`,
    `POST /${noun} ${name} -> ${name}`,
    `GET /${noun}/{id} -> ${name}`,
    `PUT /${noun}/{id} ${name} -> ${name}`,
  ]);
  const description = describeLines(...lines) as unknown as Description;
  const { paths, components } = description;
  Object.assign(components.schemas.Pet?.properties ?? {}, further);
  Object.assign(components.schemas.Order?.properties ?? {}, more.order);
  if (more.filter) Object.assign(paths['/pets']?.get ?? {}, { parameters: [inQuery('status', more.filter)] });
  const { stored, recordsOf, answer } = storeRecords(
    {
      '/pets': [{ id: 1, name: 'Luna', ...records }],
      '/orders': [{ id: 1, petId: 1, quantity: 2, shipDate: '2027-01-15', complete: false }],
    },
    // No answer has the write-only field `pin`.
    { show: ({ pin: _, ...record }) => record },
  );
  const server = await recordingServer({ '/openapi.json': description }, (request) => {
    const reply = answer(request);
    return more.isSilent && request.method === 'PUT' ? { status: 204 } : reply;
  });
  return Object.assign(server, {
    stored,
    pets: () => recordsOf('/pets'),
    order: () => stored.get('/orders/1'),
  });
}

const cases: readonly (readonly [what: string, schema: object, old: unknown, text: string, sent: unknown])[] =
  [
    ['a text of digits', text, '4711', '67890', '67890'],
    ['a text like a number', text, 'A', '12E4', '12E4'],
    ['a text like null', text, 'A', 'null', 'null'],
    ['a text like true', { ...text, nullable: true }, 'A', 'true', 'true'],
    ['a text with zeros', text, '1', '007', '007'],
    ['an integer', integer, 1, '42', 42],
    ['an integer that is a text now', integer, '1', '42', 42],
    ['a number', { type: 'number' }, 1, '1.5', 1.5],
    ['a boolean', { type: 'boolean' }, false, 'TRUE', true],
    ['a list', { type: 'array', items: text }, [], '["a"]', ['a']],
    ['an object', { type: 'object' }, {}, '{"a":1}', { a: 1 }],
    ['a number in place of a number', {}, 4711, '67890', 67890],
    ['a text in place of a text', {}, '4711', '67890', '67890'],
    ['a boolean in place of a boolean', {}, true, 'false', false],
    ['a text that is no number in place of a number', {}, 4711, 'A', 'A'],
    ['a new text', {}, undefined, '67890', '67890'],
  ];

test.each(cases)(
  'a cell and --field have the type of the description, or of the value before: %s',
  async (_, schema, old, cell, sent) => {
    await using service = await serve({ sku: schema }, old === undefined ? {} : { sku: old });
    const { done } = await bindTo(service);
    const quoted = `"${cell.replaceAll('"', '""')}"`;
    await done('pets update --from - --yes', { stdin: `id,sku\n1,${quoted}\n` });
    const member = JSON.stringify({ sku: sent }).slice(1, -1);
    const lastPut = () => service.writes('PUT').at(-1)?.body;
    expect(lastPut()).toContain(member);
    service.stored.set('/pets/1', { id: 1, name: 'Luna', ...(old === undefined ? {} : { sku: old }) });
    await done(['pets', 'update', '1', '--field', `sku=${cell}`]);
    expect(lastPut()).toContain(member);
  },
);

test.each([
  [integer, 'sku=abc', "'sku=abc': must be an integer"],
  [{ type: 'boolean' }, 'sku=2', "'sku=2': must be true or false"],
  [{ type: 'array' }, 'sku=a', "'sku=a': must be an array in JSON"],
  [{}, 'sku:=abc', "'sku:=abc': must be JSON"],
])('a value of another type is a usage error before any request: %j %s', async (schema, field, why) => {
  await using service = await serve({ sku: schema });
  const { run } = await bindTo(service);
  const refused = await run(['pets', 'update', '1', '--field', field]);
  expect([refused.code, refused.stderr, service.calls()]).toEqual([2, expect.stringContaining(why), []]);
});

test.each(['12', 'null', 'true', '["a"]', '"12"'])('--field name:=%s is JSON', async (json) => {
  await using service = await serve({ sku: {} });
  const { done } = await bindTo(service);
  await done(['pets', 'create', '--name', 'Rex', '--field', `sku:=${json}`]);
  expect(service.pets().at(-1)).toMatchObject({ sku: JSON.parse(json) });
});

test('the table of a list that is fed back unchanged changes nothing', async () => {
  const columns: Readonly<Record<string, readonly [value: unknown, schema: object]>> = {
    sku: ['12E4', text],
    code: ['007', text],
    word: ['null', text],
    count: [3, integer],
    tags: [['a', 'b'], {}],
    size: [{ w: 1 }, {}],
    free: ['true', {}],
    open: [true, {}],
  };
  const each = (at: 0 | 1) => Object.entries(columns).map(([name, column]) => [name, column[at]] as const);
  await using service = await serve(Object.fromEntries(each(1)), Object.fromEntries(each(0)));
  const { done } = await bindTo(service);
  const csv = await done(`pets list --fields id,name,${Object.keys(columns).join()} -o csv`);
  expect(await done('pets update --from - --yes', { stdin: csv })).toContain('nothing to do');
  const orders = await done('orders list -o csv');
  expect(await done('orders update --from - --yes', { stdin: orders })).toContain('nothing to do');
  expect(service.writes()).toEqual([]);
});

const words = ['AVAILABLE', 'RESERVED', 'SOLD'];
const status = { ...text, enum: words };

/** A bound service with one pet that is sold, whose statuses are `words`. */
async function withStatuses() {
  const service = await serve({ status }, { status: 'SOLD' }, { filter: status });
  const statuses = () => service.pets().map((pet) => pet.status);
  return Object.assign(service, await bindTo(service), { statuses });
}

test.each(['sold', 'SOLD', 'Sold'])('--status %s filters by a status of the description', async (word) => {
  await using shop = await withStatuses();
  expect(await shop.done(`pets list --status ${word} -o ids`)).toBe('1\n');
  expect(shop.calls()).toEqual(['GET /pets?status=SOLD']);
});

test('flags and files write the statuses of the description', async () => {
  await using shop = await withStatuses();
  await shop.done('pets update 1 --status reserved');
  expect(shop.statuses()).toEqual(['RESERVED']);
  await shop.done('pets update --from - --yes', { stdin: 'id,status\n1,Available\n' });
  expect(shop.statuses()).toEqual(['AVAILABLE']);
  await shop.done('pets update --from - --yes', { stdin: '[{"id":1,"status":"sold"}]' });
  await shop.done('pets create --name Rex --status reserved');
  expect(shop.statuses()).toEqual(['SOLD', 'RESERVED']);
});

test('completions have the statuses of the description, and the overview those of the pets', async () => {
  await using shop = await withStatuses();
  expect(JSON.parse(await shop.done('overview -o json')).pets).toEqual([{ status: 'SOLD', total: 1 }]);
  // A completion gives up after 300 ms, which the first load of its modules may take.
  const complete = (line: string) =>
    expect.poll(() => shop.done(['__complete', '--', ...line.split(' ')]), { timeout: 20_000 });
  await complete('pets list --status ').toBe('AVAILABLE\nRESERVED\nSOLD\n');
  await complete('pets update 1 --status r').toBe('RESERVED\n');
});

test.each([
  [text, ''],
  [{ ...text, default: 'asleep' }, '1\n'],
])('a pet without a status has the default of the description, or none: %j', async (schema, ids) => {
  await using service = await serve({ status: schema }, { status: null });
  const { done, run } = await bindTo(service);
  expect(await done('pets list --status asleep -o ids')).toBe(ids);
  await done('pets create --from - --yes', { stdin: 'name,status\nRex,asleep\n' });
  expect(await run('undo --yes')).toMatchObject(failed(2, 'the service offers no way to delete a pet'));
});

test.each([
  ['pets list --status pending', ''],
  ['pets update 1 --status pending', ''],
  ['pets create --name Rex --status pending', ''],
  ['pets update --from - --yes', 'id,status\n1,pending\n'],
])('%s %j has a status that the description lacks, and is refused', async (line, stdin) => {
  await using shop = await withStatuses();
  expect(await shop.run(line, { stdin })).toMatchObject(
    failed(2, "status 'pending': must be one of AVAILABLE, RESERVED, SOLD"),
  );
  expect(shop.calls()).toEqual([]);
});

test('a filter may spell statuses in another way, and without an enumeration any word is one', async () => {
  await using spelled = await serve(
    { status },
    { status: 'SOLD' },
    { filter: { ...text, enum: ['sold', 'reserved'] } },
  );
  const { done, run } = await bindTo(spelled);
  spelled.stored.set('/pets/2', { id: 2, name: 'Rex', status: 'sold' });
  expect(await done('pets list --status Sold -o ids')).toBe('2\n');
  expect(spelled.calls()).toEqual(['GET /pets?status=sold']);
  expect((await run('pets list --status available -o ids')).code).toBe(0);
  await using free = await serve({ status: text }, { status: 'asleep' });
  const bound = await bindTo(free);
  expect(await bound.done('pets list --status Asleep -o ids')).toBe('1\n');
  await bound.done('pets update 1 --status awake');
  expect(free.pets()[0]).toMatchObject({ status: 'awake' });
});

test('a date field takes a day, a date-time field an instant, and any other what it has', async () => {
  const day = { shipDate: { ...text, format: 'date' } };
  await using days = await serve({}, {}, { order: day });
  const { done, run } = await bindTo(days);
  await done('orders update 1 --ship-date 2027-03-01');
  expect(days.order()).toMatchObject({ shipDate: '2027-03-01' });
  const instant = await run('orders update 1 --ship-date 2027-03-01T09:00:00Z');
  expect(instant).toMatchObject(failed(2, 'must be a day such as 2027-01-15'));
  await done('orders update --from - --yes', { stdin: 'id,shipDate\n1,2027-04-01\n' });
  expect(days.order()).toMatchObject({ shipDate: '2027-04-01' });
  expect(
    (await run('orders update --from - --yes', { stdin: '[{"id":1,"shipDate":"2027-04-01T00:00:00Z"}]' }))
      .code,
  ).toBe(2);

  await using local = await serve();
  Object.assign(local.order() ?? {}, { shipDate: '2027-01-15T09:00:00' });
  const { done: doLocal } = await bindTo(local);
  const stdin = (await doLocal('orders list -o csv')).replace(',2,2027', ',3,2027');
  await doLocal('orders update --from - --yes', { stdin });
  expect(local.order()).toMatchObject({ quantity: 3, shipDate: '2027-01-15T09:00:00' });

  await using instants = await serve({}, {}, { order: { shipDate: { ...text, format: 'date-time' } } });
  const other = await bindTo(instants);
  await other.done('orders update 1 --ship-date 2027-03-01');
  expect(instants.order()).toMatchObject({ shipDate: '2027-03-01T00:00:00Z' });

  // Without a format the form of the date that is replaced is kept.
  await using unstated = await serve();
  await (await bindTo(unstated)).done('orders update 1 --ship-date 2027-03-01');
  expect(unstated.order()).toMatchObject({ shipDate: '2027-03-01' });
});

test.each([false, true])(
  'a write-only field is sent, and never compared: an answer without a body: %s',
  async (isSilent) => {
    await using service = await serve({ pin: { ...text, writeOnly: true } }, {}, { isSilent });
    const { run, done } = await bindTo(service);
    await done('pets create --name Rex --field pin=abcd');
    await done('pets update 1 --field pin=efgh');
    expect(service.pets()).toMatchObject([{ pin: 'efgh' }, { name: 'Rex', pin: 'abcd' }]);
    const runs = await done('pets update --from - --yes', {
      stdin: 'id,name,pin\n1,Luna,1111\n2,Max,0002\n',
    });
    expect(runs).toContain('applied 2 of 2 rows');
    expect(service.pets()).toMatchObject([{ pin: '1111' }, { name: 'Max', pin: '0002' }]);
    const undone = await run('undo --yes');
    expect(undone.code).toBe(3);
    expect(undone.stderr).toContain('the service does not show pin, so the earlier value is not known');
    expect(await done('pets list --fields id,name -o csv')).toBe('id,name\n1,Luna\n2,Max\n');
  },
);

test('the error of missing fields names their flags, which take the type of the field', async () => {
  await using service = await serve({ code: text, count: integer, tags: {} });
  const description = JSON.parse(await (await fetch(`${service.url}/openapi.json`)).text());
  description.components.schemas.Pet.required.push('code', 'count', 'tags');
  const { run, done } = await bindTo(service, description);
  const refused = await run('pets create --name Rex');
  expect(refused.stderr).toContain(
    '--field code=<value> and --field count=<value> and --field tags=<value> are missing',
  );
  await done('pets create --name Rex --field code=text --field count=7 --field tags:=["a"]');
  expect(service.pets().at(-1)).toMatchObject({ code: 'text', count: 7, tags: ['a'] });
});
