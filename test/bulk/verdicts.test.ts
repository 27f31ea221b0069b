import { expect, test } from 'vitest';
import { type RecordRequest, type RecordShop, recordShop } from '../helpers/record-shop.ts';
import type { Reaction } from '../helpers/recording-server.ts';

// One function writes: for the same service, a command on one record and a run give the same verdict, and a true one.

type Verdict = 'applied' | 'failed' | 'unknown';

/** What the service, or a gateway before it, does with a write. */
interface Behaviour {
  /** Undefined if the connection is closed. */
  readonly status?: number;
  readonly isDone: boolean;
  /** A text is a page of a gateway. Undefined: the service's own error, or no body of a success. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

const html = '<html><title>Backend fetch failed</title></html>';
const busy = { 'retry-after': '0' };
const shown = { success: true };

/** A behaviour, with the verdict on a write that replaces, on one that makes, and on one that removes a record. */
const behaviours: readonly (readonly [Behaviour, replace: Verdict, create: Verdict, remove: Verdict])[] = [
  ...[400, 403, 404, 405, 409, 410, 412, 422, 429, 501, 505].map(
    (status) => [{ status, isDone: false }, 'failed', 'failed', 'failed'] as const,
  ),
  [{ status: 307, isDone: false, headers: { location: '/elsewhere' } }, 'failed', 'failed', 'failed'],
  ...[500, 502, 503, 504].flatMap((status) => [
    [{ status, isDone: true }, 'applied', 'unknown', 'applied'] as const,
    [{ status, isDone: false }, 'unknown', 'unknown', 'unknown'] as const,
  ]),
  ...[404, 410, 403, 502, 504].flatMap((status) => [
    [{ status, isDone: true, body: html }, 'applied', 'unknown', 'applied'] as const,
    [{ status, isDone: false, body: html }, 'unknown', 'unknown', 'unknown'] as const,
  ]),
  [{ status: 404, isDone: false, body: '' }, 'unknown', 'unknown', 'unknown'],
  [{ status: 503, isDone: true, body: html, headers: busy }, 'applied', 'unknown', 'applied'],
  [{ status: 503, isDone: false, body: html, headers: busy }, 'unknown', 'unknown', 'unknown'],
  [{ isDone: true }, 'applied', 'unknown', 'applied'],
  [{ isDone: false }, 'unknown', 'unknown', 'unknown'],
  [{ status: 303, isDone: true, headers: { location: '/elsewhere' } }, 'applied', 'unknown', 'applied'],
  [{ status: 200, isDone: true, body: shown }, 'applied', 'unknown', 'applied'],
  [{ status: 200, isDone: false, body: shown }, 'unknown', 'unknown', 'unknown'],
  [{ status: 200, isDone: true, body: html }, 'applied', 'unknown', 'applied'],
  [{ status: 202, isDone: true, body: shown }, 'unknown', 'unknown', 'unknown'],
  [{ status: 206, isDone: false, body: shown }, 'unknown', 'unknown', 'unknown'],
  ...[406, 499].map((status) => [{ status, isDone: true }, 'applied', 'unknown', 'applied'] as const),
  [{ status: 204, isDone: true, body: '' }, 'applied', 'unknown', 'applied'],
];

interface Write {
  readonly kind: 'replace' | 'create' | 'remove';
  /** Of a command on one record, and of a run. */
  readonly lines: readonly [single: string, run: string];
  readonly file: string;
}

const writes: Readonly<Record<string, Write>> = {
  'a count that is set': {
    kind: 'replace',
    lines: ['inventory set 1 8', 'inventory apply file.csv'],
    file: 'petId,quantity\n1,8\n',
  },
  'a count that is added to': {
    kind: 'replace',
    lines: ['inventory adjust 1 +3', 'inventory apply file.csv --relative --delivery LS-1'],
    file: 'petId,change\n1,+3\n',
  },
  'a field that is changed': {
    kind: 'replace',
    lines: ['pets update 1 --name Rex', 'pets update --from file.csv'],
    file: 'id,name\n1,Rex\n',
  },
  'a pet that is made': {
    kind: 'create',
    lines: ['pets create --name Rex --category 1', 'pets create --from file.csv'],
    file: 'name,categoryId\nRex,1\n',
  },
  'a pet that is removed': {
    kind: 'remove',
    lines: ['pets delete 1', 'pets delete --from file.csv'],
    file: 'id\n1\n',
  },
};

/** The first write meets the behaviour, and all is well afterwards. */
function misbehave({ status, isDone, body, headers }: Behaviour) {
  let isOver = false;
  return ({ method, perform }: RecordRequest): Reaction | undefined => {
    if (method === 'GET' || isOver) return undefined;
    isOver = true;
    if (isDone) perform();
    if (status === undefined) return 'reset';
    const type = body === '' ? undefined : typeof body === 'string' ? 'text/html' : 'application/json';
    const error = { code: `no_${status}`, message: 'no', status };
    return { status, body: body ?? error, headers: { 'content-type': type, ...headers } };
  };
}

async function openRecords(file: string): Promise<RecordShop> {
  const shop = await recordShop({
    '/pets': [{ id: 1, name: 'Luna', categoryId: 1, status: 'available' }],
    '/categories': [{ id: 1, name: 'Dogs' }],
    '/store/inventory': [{ petId: 1, quantity: 5, status: 'available' }],
  });
  shop.write('file.csv', file);
  return shop;
}

async function verdictOfSingle(shop: RecordShop, line: string): Promise<Verdict> {
  const { code, error } = await shop.report(`${line} --yes --retries 0`);
  if (code === 0) return 'applied';
  return (error as { applied?: string } | undefined)?.applied === 'unknown' ? 'unknown' : 'failed';
}

async function verdictOfRun(shop: RecordShop, line: string): Promise<Verdict> {
  const report = await shop.report(`${line} --yes --retries 0`);
  const verdicts = (['applied', 'failed', 'unknown'] as const).filter((state) => report[state] === 1);
  expect(verdicts, JSON.stringify(report)).toHaveLength(1);
  return verdicts[0] as Verdict;
}

const cases = Object.entries(writes).flatMap(([what, write]) =>
  behaviours.map(([behaviour, replace, create, remove]) => {
    const { status, isDone, body, headers } = behaviour;
    const answer = status === undefined ? 'a closed connection' : `${status}`;
    const detail = [body === undefined ? '' : JSON.stringify(body), headers ? Object.keys(headers)[0] : ''];
    const name = `${answer} ${detail.join(' ')}, ${isDone ? 'done' : 'not done'}`;
    return { what, name, write, behaviour, verdict: { replace, create, remove }[write.kind] };
  }),
);

test.each(cases)('$what, answered $name, is $verdict', async ({ write, behaviour, verdict }) => {
  const [single, run] = write.lines;
  const verdicts: string[] = [];
  for (const [verdictOf, line] of [[verdictOfSingle, single] as const, [verdictOfRun, run] as const]) {
    await using shop = await openRecords(write.file);
    shop.misbehave = misbehave(behaviour);
    verdicts.push(await verdictOf(shop, line));
  }
  expect(verdicts).toEqual([verdict, verdict]);
});
