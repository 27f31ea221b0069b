import { expect, test } from 'vitest';
import { smoke } from './run.ts';
import { startService, withFields } from './service.ts';

/** The result of a life-cycle check of an operation that answers with these headers. */
async function judged(
  operation: 'getPet' | 'listPets',
  fields: Readonly<Record<string, string | undefined>>,
  flags: readonly string[] = [],
) {
  const target = operation === 'listPets' ? '/pets' : '/pets/1';
  await using service = await startService({
    spoil: (seen, answer) => (seen.target === target ? withFields(answer, fields) : answer),
  });
  return (await smoke(service.url, ['--only', `lifecycle/${operation}`, ...flags])).check(
    `lifecycle/${operation}`,
  );
}

const inThePast = '@1735689600';
const inTheFuture = 'Wed, 31 Dec 2098 00:00:00 GMT';

test('headers that agree with the description pass', async () => {
  expect(await judged('getPet', { deprecation: inThePast, sunset: inTheFuture })).toMatchObject({
    result: 'pass',
    reason: 'deprecated since 2025-01-01, sunset 2098-12-31',
  });
  expect(await judged('listPets', {})).toMatchObject({ result: 'pass', reason: 'not deprecated' });
});

test('a header on an operation that the description does not mark fails', async () => {
  expect(await judged('listPets', { deprecation: inThePast })).toMatchObject({
    result: 'fail',
    expected: 'no Deprecation header',
    got: inThePast,
  });
});

test('a mark without a header is a warning', async () => {
  expect(await judged('getPet', { deprecation: undefined, sunset: undefined })).toMatchObject({
    result: 'warn',
    reason: 'deprecated by the description, not by a header',
  });
});

test('the older form of the header is a warning, a malformed one fails', async () => {
  expect(await judged('getPet', { deprecation: 'true' })).toMatchObject({ result: 'warn', got: 'true' });
  expect(await judged('getPet', { deprecation: 'Fri, 11 Nov 2022 23:59:59 GMT' })).toMatchObject({
    result: 'warn',
  });
  expect(await judged('getPet', { deprecation: 'soon' })).toMatchObject({
    result: 'fail',
    reason: 'the Deprecation header is malformed',
  });
  expect(await judged('getPet', { sunset: '2098-12-31' })).toMatchObject({
    result: 'fail',
    reason: 'the Sunset header is malformed',
    got: '2098-12-31',
  });
});

test('a Sunset before the Deprecation fails', async () => {
  const sunset = 'Tue, 31 Dec 2024 00:00:00 GMT';
  expect(await judged('getPet', { deprecation: inThePast, sunset })).toMatchObject({
    result: 'fail',
    expected: 'a date not before 2025-01-01T00:00:00.000Z (RFC 9745)',
    got: sunset,
  });
});

test('a sunset that has passed is a warning', async () => {
  const fields = { deprecation: inThePast, sunset: 'Thu, 02 Jan 2025 00:00:00 GMT' };
  expect(await judged('getPet', fields)).toMatchObject({
    result: 'warn',
    reason: 'its sunset passed on 2025-01-02',
  });
  expect(await judged('getPet', fields, ['--fail-on', 'warn'])).toMatchObject({ result: 'fail' });
});

test('an operation that is gone after its sunset is a warning, one that is gone before it a failure', async () => {
  const gone = async (sunset: string) => {
    await using service = await startService({
      spoil: ({ target }, answer) =>
        target === '/pets/1' ? { ...withFields(answer, { sunset }), status: 410 } : answer,
    });
    return (await smoke(service.url, ['--only', 'op/getPet'])).check('op/getPet').result;
  };
  expect(await gone('Thu, 02 Jan 2025 00:00:00 GMT')).toBe('warn');
  expect(await gone(inTheFuture)).toBe('fail');
});
