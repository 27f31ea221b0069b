import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { builtInContract, type Contract } from '../../../src/api/contract.ts';
import type { OperationId } from '../../../src/api/operations.ts';
import { bindContract } from '../../../src/binding/bind.ts';
import { readDescription } from '../../../src/binding/description.ts';
import { describeQuestion, questionsOf } from '../../../src/commands/api/question.ts';
import { warehouse } from '../../helpers/descriptions.ts';

function asked(id: OperationId, contract: Contract = builtInContract): string[] {
  return questionsOf(contract.operations.get(id)!).map(
    (question) => `${question.name}: ${describeQuestion(question)}`,
  );
}

function read(id: OperationId, name: string, text: string): unknown {
  return questionsOf(builtInContract.operations.get(id)!)
    .find((question) => question.name === name)
    ?.read(text);
}

test('asks for each parameter and field with its type, bounds and default', () => {
  expect(asked('listPets')).toEqual([
    'status: string, optional',
    'categoryId: integer, at least 0, optional',
    'limit: integer, 1 to 1000, default 100, optional',
    'after: integer, at least 0, optional',
  ]);
  expect(asked('updateOrder')).toEqual([
    'orderId: integer, at least 0',
    'petId: integer, optional',
    'quantity: integer, at least 0, optional',
    'shipDate: string, optional',
    'complete: boolean, optional',
  ]);
  expect(asked('createPet')[0]).toBe('name: string');
});

test('follows the description that the profile is bound to', async () => {
  const source = { url: 'http://x.test/', text: warehouse, read: () => Promise.reject(new Error('none')) };
  const { contract } = bindContract(await readDescription(source), new Map());
  expect(asked('createPet', contract)).toEqual([
    'name: string, at most 40 characters',
    'categoryId: integer, 1 to 9223372036854775807',
    'status: string',
  ]);
  expect(asked('listPets', contract)).not.toContain('api-version');
  expect(asked('updatePet', contract)[1]).toBe('name: string, at most 40 characters, optional');
});

test('asks for what the description has instead: an id in the body, a category object, fields of its own', async () => {
  const text = await readFile('test/fixtures/swagger-petstore.yaml', 'utf8');
  const source = { url: 'http://x.test/', text, read: () => Promise.reject(new Error('none')) };
  const { contract } = bindContract(await readDescription(source), new Map());
  expect(asked('updatePet', contract)).toEqual([
    'petId: integer, at least 0',
    'name: string',
    'category: JSON such as {"id":1,"name":"Dogs"}, optional',
    'status: string, optional',
    'photoUrls: JSON such as []',
  ]);
  const photoUrls = questionsOf(contract.operations.get('createPet')!).at(-1);
  expect(photoUrls?.read('["a"]')).toEqual(['a']);
  expect(() => photoUrls?.read('a,b')).toThrow('must be JSON');
});

test('accepts a text for a required filter or header, and an id outside the path', async () => {
  const schema = { type: 'array', items: { $ref: '#/components/schemas/Pet' } };
  const answers = (content: object) => ({
    200: { description: 'ok', content: { 'application/json': content } },
  });
  const text = JSON.stringify({
    openapi: '3.0.3',
    paths: {
      '/pets': {
        get: {
          parameters: [
            { name: 'status', in: 'query', required: true, schema: { enum: ['available', 'sold'] } },
            { name: 'X-Region', in: 'header', required: true, schema: { type: 'string' } },
          ],
          responses: answers({ schema }),
        },
      },
      '/pet': {
        get: {
          parameters: [{ name: 'id', in: 'query', required: true, schema: { type: 'integer' } }],
          responses: answers({ schema: { $ref: '#/components/schemas/Pet' } }),
        },
      },
    },
    components: { schemas: { Pet: { type: 'object', properties: { id: {}, name: {} } } } },
  });
  const source = { url: 'http://x.test/', text, read: () => Promise.reject(new Error('none')) };
  const { contract } = bindContract(await readDescription(source), new Map());
  expect(asked('listPets', contract)).toEqual(['status: string', 'X-Region: string']);
  const [status, region] = questionsOf(contract.operations.get('listPets')!);
  expect([status?.read('sold'), region?.read('eu')]).toEqual(['sold', 'eu']);
  const [petId] = questionsOf(contract.operations.get('getPet')!);
  expect(petId).toMatchObject({ name: 'petId', place: 'id' });
});

describe('an answer', () => {
  test('is converted to its type, with all digits of an id', () => {
    expect(read('getPet', 'petId', '9223372036854775807')).toBe(9223372036854775807n);
    expect(read('createOrder', 'petId', '9007199254740993')).toBe(9007199254740993n);
    expect(read('createOrder', 'quantity', '3')).toBe(3);
    expect(read('createOrder', 'complete', 'true')).toBe(true);
    expect(read('listOrders', 'complete', 'false')).toBe(false);
    expect(read('createPet', 'name', '007')).toBe('007');
  });

  test.each([
    ['getPet', 'petId', '-1', 'must be an integer from 0'],
    ['createOrder', 'quantity', 'three', 'must be an integer'],
    ['createOrder', 'quantity', '-3', 'must be an integer from 0'],
    ['createOrder', 'shipDate', 'tomorrow', 'must be an RFC 3339 date-time'],
    ['listPets', 'limit', '1001', 'must be an integer from 1 to 1000'],
  ] as const)('of %s %s %j is refused', (id, name, text, why) => {
    expect(() => read(id, name, text)).toThrow(why);
  });
});
