import { expect, test } from 'vitest';
import { bindTo } from '../helpers/bound.ts';
import { inQuery, pagesOfTwo, type Shape, shapedService } from '../helpers/shaped-service.ts';

// The name and the type of a parameter decide its role in a list. A parameter has at most one, and a role at most one.

const integer = { type: 'integer' };
const text = { type: 'string' };
/** Types that give a parameter no role, whatever its name is. */
const strange = [
  { ...text, format: 'date' },
  { ...text, format: 'date-time' },
  { type: 'array', items: { ...text, format: 'date' } },
  { type: 'integer', enum: [10, 20] },
  { type: 'boolean' },
];

test.each<[what: string, Shape, queries: readonly string[]]>([
  [
    'a constant',
    { parameters: [inQuery('api-version', { ...text, enum: ['2'] }, { required: true })] },
    ['api-version'],
  ],
  ...strange.map((schema, at): [string, Shape, string[]] => [
    `names of another type, ${at}`,
    {
      parameters: ['limit', 'page', 'offset', 'cursor', 'after', 'status', 'petId'].map((name) =>
        inQuery(name, schema),
      ),
    },
    [],
  ]),
])('a list is read to its end with %s, and no other parameter is sent', async (_, shape, queries) => {
  await using service = await shapedService(shape);
  const { run } = await bindTo(service);
  for (const [line, ids] of [
    ['pets list -o ids', '1\n2\n3\n4\n5\n'],
    ['pets list --status sold -o ids', '2\n5\n'],
    ['pets get Pet5 -o ids', '5\n'],
  ])
    expect({ line, ...(await run(line ?? '')) }).toMatchObject({ line, code: 0, stdout: ids, stderr: '' });
  const lists = service.calls().filter((call) => /^GET \/\w+(\?|$)/.test(call));
  const sent = lists.flatMap((call) => [...new URL(call.slice(4), 'http://x').searchParams.keys()]);
  expect([...new Set(sent)].sort()).toEqual(queries);
});

test('no page beyond the largest number of the description is requested', async () => {
  const parameters = [inQuery('page', { ...integer, minimum: 1, maximum: 2 }), inQuery('size', integer)];
  await using service = await shapedService({ parameters, page: pagesOfTwo });
  const { run } = await bindTo(service);
  const list = await run('pets list -o ids');
  expect(list).toMatchObject({ code: 0, stdout: '1\n2\n3\n4\n' });
  expect(list.stderr).toContain('there may be more records: its page may not go beyond 2');
});
