import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { refusal } from '../helpers/recording-server.ts';
import { trouble } from '../helpers/stock-server.ts';
import { stockShop } from '../helpers/stock-shop.ts';
import { answering, counts, file, healed, type Scene, stories } from './story.ts';

// A delivery adds to counts, so booking it twice is wrong.

const deliver = 'inventory apply d.csv --relative --delivery LS-1 --yes';
const oneByOne = '--concurrency 1';

const changes = (rows: string) => `petId,change\n${rows.replaceAll(' ', '\n')}\n`;
const delivery = (rows: string) => ({ 'd.csv': changes(rows) });
/** Somebody corrects the file of the delivery. */
const corrected = (rows: string): Scene => file('d.csv', changes(rows));
const largest = 9007199254740991;

stories({
  'adds to the counts, and fails a row that would go below 0 or above what a count can be': [
    { counts: [5, 5, 5, 5, largest], files: delivery('1,+24 2,-3 3,-6 4,0 5,1') },
    [deliver, '3: applied 2, unchanged 1, failed 2'],
    ({ read }) =>
      expect(read('d.rejects.csv')).toMatch(/^3,-6,4,failed,,below_zero,[\s\S]*^5,1,6,failed,,too_large,/m),
    counts(29, 2, 5, 5, largest),
  ],
  'a delivery is simply applied again: what is missing is booked, and nothing twice': [
    { counts: [5, 5, 5, 5], files: { ...delivery('1,+1 2,x 3,-9'), 'other.jsonl': '{"id":1,"delta":1}\n' } },
    [`${deliver} --skip-invalid`, '3: applied 1, invalid 1, failed 1'],
    // Somebody corrects the invalid rows in the file, and adds a row.
    corrected('1,+1 2,+2 3,-3 4,+4'),
    [deliver, '0: applied 3, booked 1'],
    [deliver, '0: applied 0, booked 4'],
    [deliver.replace('d.csv', 'other.jsonl'), '0: applied 0, booked 1'],
    corrected('1,+1'),
    [`${deliver} --again`, '0: applied 1'],
    counts(7, 7, 2, 9),
  ],
  'a shard of a delivery that is not finished keeps back the whole file, not the other shards': [
    { counts: [5, 5, 5, 5, 5], files: delivery('1,+1 2,+1 3,+1 4,+1 5,+1') },
    answering({ 1: 401, 2: 401, 3: 401, 4: 401, 5: 401 }),
    [`${deliver} --shard 1/2`, '4: applied 0'],
    healed,
    [deliver, '2:', /petstore resume r1/],
    [`${deliver} --shard 2/2`, '0: applied 3'],
    ['resume r1 --yes', '0: applied 2', /resuming r1: apply d.csv, .*, 2 of 5 rows/],
    counts(6, 6, 6, 6, 6),
    // Another machine may have booked the other shards, so shards of another number could book rows twice.
    [`${deliver} --shard 1/3`, '2:', /its run r\d was shard \d\/2/, /--shard <i>\/2/],
    [deliver, '2:', /its run r\d was shard \d\/2/],
    [`${deliver} --shard 1/2`, '0: applied 0, booked 2'],
  ],
  'the rejects of a shard of a delivery are delivered as the same shard': [
    { counts: [5, 5, 5, 5, 5], files: delivery('1,-9 2,-9 3,-9 4,-9 5,-9') },
    [`${deliver} --shard 1/2`, '1: applied 0', /can be .*apply \S*d\.rejects\.csv --relative .*--shard 1\/2/],
    ({ read, write }) => write('d.rejects.csv', read('d.rejects.csv').replaceAll('-9', '-1')),
    [`${deliver.replace('d.csv', 'd.rejects.csv')} --shard 1/2`, '0: applied 2'],
    // An invalid record that is corrected may belong to another shard.
    corrected('x,-1 y,-1'),
    [`${deliver} --shard 2/2 --skip-invalid`, '1:', /--shard '?<i>\/2/],
    // Two records of one id are both in its shard.
    corrected('1,-1 2,-1 2,-2'),
    [`${deliver} --shard 2/2 --skip-invalid --again`, '0: applied 1, invalid 0'],
    [`${deliver} --shard 1/2 --skip-invalid --again`, '1: applied 0, invalid 2'],
  ],
  'a row that its delivery booked with another change is failed, and says both': [
    { counts: [5, 5], files: delivery('1,+1 2,+2') },
    [deliver, '0: applied 2'],
    corrected('1,+1 2,+3'),
    [deliver, '3: applied 0, booked 1, failed 1', /\+2.*\+3.*petstore undo r1 and apply/],
    counts(6, 7),
  ],
  'a delivery of which a run has rows left is refused, and names the command that ends that run': [
    { counts: [5, 5], files: delivery('1,+1 2,+2') },
    answering({ 2: 401 }),
    [`${deliver} ${oneByOne}`, '4: applied 1'],
    healed,
    [deliver, '2:', 'r1', /petstore resume r1/],
    counts(6, 5),
    ['resume r1 --yes', '0: applied 2'],
    [deliver, '0: booked 2'],
    counts(6, 7),
  ],
  'a delivery whose undo has not ended is refused, and names that undo': [
    { counts: [5, 5], files: delivery('1,+1 2,+2') },
    [deliver, '0: applied 2'],
    answering({ 2: 401 }),
    [`undo r1 --yes ${oneByOne}`, '4: applied 1'],
    healed,
    [deliver, '2:', /petstore undo r1/],
    ['undo r1 --yes', '0: applied 2'],
    [deliver, '0: applied 2'],
    counts(6, 7),
  ],
  'several rows of one pet are refused, or added up with --sum; their rejects are the rows': [
    { counts: [5, 5], files: delivery('1,+5 2,+1 1,+7') },
    answering({ 1: 409 }),
    [deliver, '2:'],
    [`${deliver} --sum`, '3: applied 1, failed 1'],
    ({ read }) =>
      expect(read('d.rejects.csv').match(/^\d.*?failed/gm)).toEqual(['1,+5,2,failed', '1,+7,2,failed']),
    counts(5, 6),
  ],
  'the rejects hold only rows that are final; resume takes the others': [
    { counts: [5, 5, 5, 5, 5], files: delivery('1,+1 2,+2 3,+3 4,+4 9,+1 5,x') },
    answering({ 2: 409, 3: 429, 4: 503 }),
    [`${deliver} --retries 0 --skip-invalid`, '3: applied 1, failed 3, unknown 1, invalid 1'],
    ({ read }) => expect(read('d.rejects.csv').match(/^\d+,/gm)).toEqual(['2,', '9,', '5,']),
    healed,
    ['resume --yes', '3: applied 3, failed 2, invalid 1'],
    ({ files }) => expect(files()).not.toContain('d.rejects.2.csv'),
    ({ read, write }) => write('d.rejects.csv', read('d.rejects.csv').replace(/^(9|5),.*\n/gm, '')),
    [deliver.replace('d.csv', 'd.rejects.csv'), '0: applied 1'],
    counts(6, 7, 8, 9, 5),
  ],
  'a change needs the number of its delivery; diff and a dry run need none, and show what is booked': [
    { counts: [5, 5], files: delivery('1,+1 2,+2') },
    ['inventory apply d.csv --relative --yes', '2:', '--delivery'],
    counts(5, 5),
    ['inventory diff d.csv --relative', '8:'],
    ['inventory apply d.csv --relative --dry-run', '0:'],
    [deliver, '0: applied 2'],
    [`inventory diff d.csv --relative --delivery LS-1`, '0:'],
    [`${deliver} --dry-run`, '0:'],
    counts(6, 7),
  ],
});

test('a delivery asks to change counts, not to set them, and names each run that has booked rows', async () => {
  await using shop = await stockShop([5, 5], delivery('1,+1'));
  const asked = await shop.run(deliver.replace(' --yes', ''));
  expect(asked.stderr).toContain('error: change 1 count: this needs a confirmation');
  await shop.run(deliver);
  shop.write('d.csv', changes('1,+1 2,+2'));
  await shop.run(deliver);
  const { stderr } = await shop.run(deliver);
  expect(stderr).toMatch(/2 rows are left out: booked by r1, 20\S+ \S+, booked by r2, 20\S+ \S+; apply/);
});

test('a delivery is one whatever the spelling of the address, and the case, spaces and dashes of its number', async () => {
  await using shop = await stockShop([5], delivery('1,+1'));
  const forms = ['LS-1', ' LS-1 ', 'ls-1', 'LS\u20131', 'LS\u22121', 'LS-\u200b1', '\uff2c\uff33-1'];
  for (const [at, number] of forms.entries()) {
    const words = ['inventory', 'apply', 'd.csv', '--relative', '--delivery', number, '--yes'];
    words.push('--base-url', at < 4 ? shop.url : shop.url.replace('127.0.0.1', 'LOCALHOST'));
    const outcome = at === 0 ? { applied: 1 } : { booked: 1 };
    expect(await shop.report(words)).toMatchObject({ code: 0, ...outcome });
  }
  expect(shop.stock.get('1')).toBe(6);
});

test('two services behind one address are two if their profiles name a tenant, and else refused', async () => {
  await using shop = await stockShop([5], delivery('1,+1'));
  const env = { ...shop.env, PETSTORE_CONFIG_DIR: `${shop.folder}/config`, PETSTORE_BASE_URL: '' };
  const run = (words: string) => shop.report(words, { env });
  for (const name of ['north', 'south'])
    expect((await shop.run(`profile create ${name} --base-url ${shop.url}`, { env })).code).toBe(0);
  expect(await run(`${deliver} --profile north`)).toMatchObject({ code: 0, applied: 1 });
  for (const words of [deliver, 'undo r1 --yes', 'resume r1 --yes'])
    expect(await run(`${words} --profile south`)).toMatchObject({
      code: 2,
      error: { code: 'other_profile', hint: expect.stringMatching(/--profile north;.* --profile south$/) },
    });
  for (const name of ['north', 'south'])
    await shop.run(`config set tenant ${name} --profile ${name}`, { env });
  expect(await run(`${deliver} --profile south`)).toMatchObject({ code: 0, applied: 1 });
  // With another tenant a profile would not know what it has booked.
  expect(await run(`${deliver} --profile north`)).toMatchObject({
    code: 2,
    error: { code: 'other_profile' },
  });
  await shop.run('config unset tenant --profile north', { env });
  expect(await run(`${deliver} --profile north`)).toMatchObject({ code: 0, booked: 1 });
  expect(shop.stock.get('1')).toBe(7);
});

test('a delivery to a shop that sells all the time succeeds at once, and loses no sale', async () => {
  await using shop = await stockShop([50, 50, 50], delivery('1,+1 2,+2 3,+3'));
  shop.sendsETags = true;
  let sold = 0;
  shop.misbehave = ({ method, petId = '' }) => {
    // A till sells one between the reading and the write, nine times.
    if (method === 'PUT' && sold < 9) {
      sold += 1;
      shop.stock.set(petId, (shop.stock.get(petId) ?? 0) - 1);
    }
    return undefined;
  };
  expect(await shop.report(deliver)).toMatchObject({ code: 0, applied: 3 });
  expect([...shop.stock.values()].reduce((sum, count) => sum + count)).toBe(150 + 6 - 9);
});

test('only a person settles an unknown row whose record a later run has planned', async () => {
  await using shop = await stockShop([10], { ...delivery('1,5'), 'e.csv': changes('1,5') });
  trouble(shop, () => 'lost');
  // The record cannot be read afterwards, so the row stays unknown.
  const { misbehave } = shop;
  let isLost = false;
  shop.misbehave = (request) => {
    isLost ||= request.method !== 'GET';
    return isLost && request.method === 'GET' ? refusal(500) : misbehave?.(request);
  };
  expect(await shop.report(`${deliver} --retries 0`)).toMatchObject({ unknown: 1 });
  shop.misbehave = undefined;
  const later = deliver.replace('d.csv', 'e.csv').replace('LS-1', 'LS-2');
  expect((await shop.report(later)).code).toBe(0);
  // The count is as the first delivery wanted it, and the second one did that.
  expect(shop.stock.get('1')).toBe(15);
  expect((await shop.report(`${deliver} --again`)).code).toBe(0);
  expect(await shop.report('resume r1 --yes')).toMatchObject({ code: 6, unknown: 1 });
  const refused = await shop.report(deliver);
  expect(refused).toMatchObject({ code: 2, error: { hint: expect.stringContaining('settle r1 1') } });
  await shop.report('runs settle r1 1 --as failed');
  expect(await shop.report(deliver)).toMatchObject({ code: 0, booked: 1 });
});

test('an earlier run on a record does not hold up a row, even if the row is planned again', async () => {
  await using shop = await stockShop([10], { ...delivery('1,5'), 'e.csv': changes('1,5') });
  expect((await shop.report(deliver.replace('d.csv', 'e.csv').replace('LS-1', 'LS-2'))).code).toBe(0);
  // Some readings succeed, for a plan or a write: the service is down for all else.
  let readings = 2;
  shop.misbehave = ({ method }) => {
    if (method === 'GET' && readings > 0) readings -= 1;
    else return refusal(502);
    return undefined;
  };
  expect(await shop.report(`${deliver} --retries 0`)).toMatchObject({ unknown: 1 });
  readings = 1;
  expect(await shop.report('resume r2 --yes --retries 0')).toMatchObject({ unknown: 1 });
  shop.misbehave = undefined;
  expect(await shop.report('resume r2 --yes')).toMatchObject({ code: 0, applied: 1 });
  expect(shop.stock.get('1')).toBe(20);
});

test.each<[what: string, numbers: readonly string[], damage: (text: string) => string | Buffer]>([
  ['in its header', ['LS-1', 'LS-2'], (text) => text.replace(/^\{/, '{{')],
  ['everything', ['LS-1', 'LS-2'], () => 'garbage'],
  ['all after some letters', ['LS-1', 'LS-2'], (text) => `${text.slice(0, 60)}${'\0'.repeat(99)}`],
  ['a missing target', ['LS-1', 'LS-2'], (text) => text.replace(/"target":\{[^}]*\},/, '')],
  ['a number of rows that is a text', ['LS-1'], (text) => text.replace('"skipped":0', '"skipped":"0"')],
  // Rows of another delivery rest on no outcome of this one.
  ['in an outcome', ['LS-1'], (text) => text.replace('"kind":"applied"', '"kind":applied')],
  [
    'a text that is not UTF-8',
    ['LS-1'],
    (text) => Buffer.from(text.replace('"text":"1', '"text":"\xe9'), 'latin1'),
  ],
])(
  'a journal with damage (%s) stops the deliveries %s and its undo, and is named',
  async (_, numbers, damage) => {
    await using shop = await stockShop([5, 5], delivery('1,+1 2,+2'));
    await shop.report(deliver);
    const path = shop.journal('r1');
    writeFileSync(path, damage(readFileSync(path, 'utf8')));
    shop.write('d.csv', changes('1,+3'));
    const deliveries = numbers.map((number) => deliver.replace('LS-1', number));
    for (const line of [...deliveries, 'undo r1 --yes']) {
      const refused = await shop.report(line);
      expect(refused.code).toBe(2);
      expect(refused.error?.message).toContain(`${path}: this journal cannot be read: `);
    }
    expect([...shop.stock.values()]).toEqual([6, 7]);
    // Counts can be set nevertheless.
    shop.write('stock.csv', 'petId,quantity\n1,9\n');
    expect(await shop.report('inventory apply stock.csv --yes')).toMatchObject({ code: 0, id: 'r2' });
  },
);

test.each([
  [6, (header: object) => ({ header })],
  [5, (header: object) => header],
])(
  'an earlier journal, %i, of this delivery stops it, and names the file and who finishes it',
  async (journal, toLine) => {
    await using shop = await stockShop([5], delivery('1,+1'));
    await shop.report(deliver);
    const path = shop.journal('r1');
    const [begin = ''] = readFileSync(path, 'utf8').split('\n');
    const { header } = JSON.parse(begin);
    const line = toLine({ ...header, target: header.target.address });
    writeFileSync(path, `${JSON.stringify({ journal, run: 'r1', ...line })}\n`);
    const problem = `${path}: this journal cannot be read: an earlier version of petstore wrote it`;
    const refused = { code: 2, error: { message: problem, hint: expect.stringContaining('that version') } };
    for (const line of ['undo --yes', 'resume r1 --yes'])
      expect(await shop.report(line)).toMatchObject(refused);
    expect(await shop.report(deliver)).toMatchObject(refused);
    expect(await shop.report(deliver.replace('LS-1', 'LS-2'))).toMatchObject({ code: 0 });
    expect((await shop.run('runs')).stderr).toBe(`warning: ${problem}\n`);
    // A run that sets counts does not ask what was booked, and an earlier run has not planned its records.
    shop.write('stock.csv', 'petId,quantity\n1,9\n');
    for (const line of ['inventory apply stock.csv --yes', 'undo --yes'])
      expect((await shop.run(line)).code).toBe(0);
  },
);
