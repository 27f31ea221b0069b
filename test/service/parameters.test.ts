import { expect, test } from 'vitest';
import { createRandom, pick as pickFrom } from '../../src/server/seed.ts';
import { bindTo } from '../helpers/bound.ts';
import { type Shape, shapedService } from '../helpers/shaped-service.ts';

// The name and the type of a parameter decide its role in a list. These descriptions have parameters of any
// name and type. At most one parameter has each role.

interface Parameter {
  readonly name: string;
  readonly in: 'query';
  readonly required?: boolean;
  readonly schema: Readonly<Record<string, unknown>>;
}

const sizes = ['limit', 'size', 'per_page', 'page_size', 'pageSize', 'take'];
const positions = ['page', 'offset', 'skip', 'cursor', 'after', 'page_token', 'pageToken'];
const others = ['since', 'before', 'q', 'sort', 'status', 'categoryId', 'petId', 'complete', 'pet_status'];
/** Types that give a parameter no role, whatever its name is. */
const strange = [
  { type: 'string', format: 'date' },
  { type: 'string', format: 'date-time' },
  { type: 'array', items: { type: 'string', format: 'date' } },
  { type: 'integer', enum: [10, 20] },
];
const notPosition = [...strange, { type: 'boolean' }, { type: 'string', enum: ['a', 'b'] }];
const notSize = [...notPosition, { type: 'string' }, { type: 'string', default: '7' }];

type Kind = 'none' | 'page' | 'offset' | 'cursor' | 'link';

interface Case {
  readonly kind: Kind;
  readonly parameters: readonly Parameter[];
  readonly size: string | undefined;
  readonly position: string | undefined;
}

function makeCase(seed: number): Case {
  const random = createRandom(seed);
  const pick = <Item>(items: readonly Item[]): Item => pickFrom(random, items);
  const parameters = new Map<string, Parameter>();
  const add = (name: string, schema: Parameter['schema'], required = false) => {
    if (!parameters.has(name))
      parameters.set(name, { name, in: 'query', schema, ...(required && { required }) });
  };
  const kind = pick<Kind>(['none', 'page', 'offset', 'cursor', 'link']);
  const position =
    kind === 'page'
      ? 'page'
      : kind === 'offset'
        ? pick(['offset', 'skip'])
        : kind === 'cursor'
          ? pick(['cursor', 'after', 'page_token', 'pageToken'])
          : undefined;
  if (position !== undefined) {
    const plain =
      kind === 'cursor' ? { type: 'string' } : { type: 'integer', minimum: kind === 'page' ? 1 : 0 };
    add(position, plain, kind !== 'cursor' && random() < 0.3);
  }
  // If several parameters can be the page size, the first in the order of `sizes` is.
  const meant = sizes.filter(() => random() < 0.25);
  for (const name of meant)
    add(name, { type: 'integer', minimum: 1, maximum: kind === 'none' ? 50 : pick([2, 3, 50]) });
  for (const name of sizes) if (random() < 0.4) add(name, pick(notSize));
  for (const name of positions) if (random() < 0.4) add(name, pick(notPosition));
  for (const name of others) if (random() < 0.4) add(name, pick(strange));
  if (random() < 0.3) add('api-version', { type: 'string', enum: ['2'] }, true);
  const shuffled = [...parameters.values()].sort(() => random() - 0.5);
  return { kind, parameters: shuffled, size: meant[0], position };
}

/** The service of a case. It answers two records a page, or all records if its list has no pages. */
function shapeOf({ kind, parameters, size, position }: Case): Shape {
  const at = kind === 'link' ? 'next' : position;
  const range = (url: URL): [start: number, end: number] => {
    const numberIn = (name = '', fallback = 0) => Number(url.searchParams.get(name) ?? fallback);
    const length = numberIn(size, kind === 'none' ? 50 : 2);
    const first = kind === 'page' ? (numberIn(at, 1) - 1) * length : numberIn(at);
    return [first, first + length];
  };
  return {
    parameters,
    documented: kind === 'link' ? ['Link'] : [],
    page: (records, url) => records.slice(...range(url)),
    headers: (records, url) => {
      const [, end] = range(url);
      if (kind !== 'link' || end >= records.length) return {};
      const next = new URL(url);
      next.searchParams.set('next', `${end}`);
      return { link: `<${next.pathname}${next.search}>; rel="next"` };
    },
    ...(kind === 'cursor' && {
      list: (data: object[], _noun: string, url: URL, all: object[]) => {
        const [, end] = range(url);
        return { data, next_cursor: end < all.length ? `${end}` : null };
      },
    }),
  };
}

/** Finds the reason why a description forbids a query. */
function fault({ kind, parameters, size }: Case, path: string): string | undefined {
  const query = [...new URL(path, 'http://service.test').searchParams];
  const sent = query.map(([name]) => name);
  const lacking = parameters.find(({ name, required }) => required && !sent.includes(name));
  if (lacking) return `${lacking.name} is required`;
  if (new Set(sent).size < sent.length) return 'a parameter twice';
  const several = sent.filter((name) => sizes.includes(name) && name !== size);
  if (several.length > 0) return `${several} is not the page size`;
  for (const [name, value] of query) {
    if (kind === 'link' && name === 'next') continue;
    const schema = parameters.find((parameter) => parameter.name === name)?.schema;
    if (!schema) return `${name} is unknown`;
    const { type, format, minimum = 0, maximum = 1e9, enum: choices } = schema;
    const isWrong =
      format !== undefined ||
      type === 'array' ||
      (Array.isArray(choices) && !choices.map(String).includes(value)) ||
      (type === 'boolean' && !/^(true|false)$/.test(value)) ||
      (type === 'integer' &&
        !(/^\d+$/.test(value) && +value >= Number(minimum) && +value <= Number(maximum)));
    if (isWrong) return `${name} may not be ${value}`;
  }
  return undefined;
}

test.each(Array.from({ length: 30 }, (_, at) => at + 1))(
  'at most one parameter has each role, and the description allows every request: case %i',
  async (seed) => {
    const scene = makeCase(seed);
    await using service = await shapedService(shapeOf(scene));
    const { run } = await bindTo(service);
    for (const [line, ids] of [
      ['pets list -o ids', '1\n2\n3\n4\n5\n'],
      ['pets list --status sold -o ids', '2\n5\n'],
      ['pets list --limit 3 -o ids', '1\n2\n3\n'],
      ['pets get Pet5 -o ids', '5\n'],
    ] as const) {
      service.seen.length = 0;
      const { code, stdout, stderr } = await run(line);
      const faults = service.seen
        .filter(({ path }) => /^\/\w+(\?|$)/.test(path))
        .map(({ path }) => fault(scene, path))
        .filter((why) => why !== undefined);
      expect({ line, scene, code, stdout, stderr, faults }).toEqual({
        ...{ line, scene, code: 0, stdout: ids, stderr: '' },
        faults: [],
      });
    }
  },
);

const inQuery = (name: string, schema: object, more: object = {}) => ({ name, in: 'query', schema, ...more });
const integer = { type: 'integer' };

test('a date is not a cursor: names are found without a warning', async () => {
  const date = { type: 'string', format: 'date' };
  const parameters = [inQuery('since', date), inQuery('before', date), inQuery('after', date)];
  await using service = await shapedService({ parameters });
  const { run } = await bindTo(service);
  expect(await run('pets get Pet5 -o ids')).toMatchObject({ code: 0, stdout: '5\n', stderr: '' });
});

test('an operation stays unbound if a required parameter has no role', async () => {
  const limits = [inQuery('limit', integer), inQuery('size', { type: 'string' }, { required: true })];
  await using service = await shapedService({ parameters: limits });
  const { run } = await bindTo(service);
  const refused = await run('pets list');
  expect(refused).toMatchObject({ code: 2, stdout: '' });
  expect(refused.words).toContain('it needs the query parameter size, which petstore has no value for');
});

test('no page beyond the largest number of the description is requested', async () => {
  const parameters = [inQuery('page', { ...integer, minimum: 1, maximum: 2 }), inQuery('size', integer)];
  const page: Shape['page'] = (records, url) => {
    const at = Number(url.searchParams.get('page') ?? 1) - 1;
    return records.slice(at * 2, at * 2 + 2);
  };
  await using service = await shapedService({ parameters, page });
  const { run } = await bindTo(service);
  const list = await run('pets list -o ids');
  expect(list).toMatchObject({ code: 0, stdout: '1\n2\n3\n4\n' });
  expect(list.words).toContain('there may be more records: its page may not go beyond 2');
});
