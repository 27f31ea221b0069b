import { expect, test } from 'vitest';
import { errorJson, errorText } from '../../src/output/error.ts';
import { createStyle } from '../../src/output/style.ts';
import { CliError, ManyError, UsageError } from '../../src/process/errors.ts';
import { fakeIo } from '../helpers/run-cli.ts';

const notFound = new CliError('not-found', 'pet 7 does not exist', {
  status: 404,
  code: 'not_found',
  method: 'GET',
  url: 'http://127.0.0.1:4010/pets/7',
  attempts: [{}],
  retryable: false,
  hint: 'list pets with `petstore pets list`',
});

test('an error is one line, and its hint another', () => {
  expect(errorText(notFound)).toBe(
    'error: pet 7 does not exist (GET http://127.0.0.1:4010/pets/7: 404 not_found)\nhint: list pets with `petstore pets list`\n',
  );
  expect(errorText(new CliError('failed', 'it: broke'))).toBe('error: it: broke\n');
});

test('as JSON it is one object with every known detail', () => {
  expect(errorJson(notFound)).toBe(
    `${JSON.stringify({
      error: {
        kind: 'not-found',
        message: 'pet 7 does not exist',
        code: 'not_found',
        status: 404,
        method: 'GET',
        url: 'http://127.0.0.1:4010/pets/7',
        attempts: 1,
        retryable: false,
        hint: 'list pets with `petstore pets list`',
      },
    })}\n`,
  );
});

test('many errors are printed one by one as text, with a shared hint once, and as one object in JSON', () => {
  const many = new ManyError('2 of 3 pets failed', [notFound, new CliError('auth', 'pet 8 is not yours')], 1);
  expect(errorText(many)).toBe(
    'error: pet 7 does not exist (GET http://127.0.0.1:4010/pets/7: 404 not_found)\nerror: pet 8 is not yours\nhint: list pets with `petstore pets list`\n',
  );
  expect(JSON.parse(errorJson(many))).toMatchObject({
    error: { kind: 'partial', errors: [{ kind: 'not-found', status: 404 }, { kind: 'auth' }] },
  });
  expect(
    errorText(new ManyError('2 of 2 pets failed', [notFound, notFound], 0)).match(/hint:/g),
  ).toHaveLength(1);
});

test('foreign text in a message or hint becomes visible escapes', () => {
  const error = new UsageError('bad \x1b[2J\nname\u202e', 'try\x07');
  expect(errorText(error)).toBe('error: bad \\x1b[2J\\x0aname\\u202e\nhint: try\\x07\n');
  expect(errorJson(error)).toBe(
    '{"error":{"kind":"usage","message":"bad \\u001b[2J\\nname\\u202e","code":"invalid_flag","hint":"try\\u0007"}}\n',
  );
});

test('the words error and hint are coloured on a terminal', async () => {
  const io = fakeIo({ terminals: ['stderr'] });
  const style = await createStyle(io.stderr, io.env, 'auto');
  expect(errorText(notFound, style)).toMatch(/^\x1b\[31merror:\x1b\[39m pet 7.*\n\x1b\[36mhint:\x1b\[39m/);
});
