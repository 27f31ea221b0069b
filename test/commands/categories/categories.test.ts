import { expect, test } from 'vitest';
import { runCli } from '../../helpers/run-cli.ts';
import { openShop } from '../../helpers/shop.ts';

test('lists id, name and description', async () => {
  const { stdout } = await runCli(['--offline', 'category', 'ls', '-o', 'csv', '--limit', '2']);
  expect(stdout).toBe(
    'id,name,description\n1,Dogs,Puppies and grown dogs of every size\n2,Cats,"Kittens and cats, long and short hair"\n',
  );
});

test('creates, gets, updates and deletes a category', async () => {
  using shop = openShop();
  const created = await shop.json('categories', 'create', '--name', 'Amphibians', '--description', 'Frogs');
  expect(created).toEqual({ id: 7, name: 'Amphibians', description: 'Frogs' });
  expect(await shop.json('categories', 'get', '7')).toEqual(created);
  const updated = await shop.json('categories', 'update', '7', '--description', 'Frogs and newts');
  expect(updated).toEqual({ id: 7, name: 'Amphibians', description: 'Frogs and newts' });
  expect(await shop.run(['categories', 'rm', '7', '-y'])).toEqual({
    code: 0,
    stdout: '',
    stderr: 'deleted category 7\n',
  });
  expect((await shop.run(['categories', 'get', '7'])).code).toBe(5);
});

test('asks a person for a name, and for a description that may be left out', async () => {
  using shop = openShop();
  const run = await shop.typing(
    ['categories', 'create', '-o', 'json'],
    [
      ['Name', 'Insects\r'],
      ['Description', '\r'],
    ],
  );
  expect(run).toMatchObject({ code: 0, stdout: '{"id":7,"name":"Insects"}\n' });
});

test('creates many from a file', async () => {
  using shop = openShop();
  const stdin = '[{"name":"A"},{"name":"B","description":"b"}]';
  const run = await shop.run(['categories', 'create', '--from', '-', '-o', 'ids'], { stdin });
  expect(run).toEqual({ code: 0, stdout: '7\n8\n', stderr: '' });
});

test('does not delete a category with pets, and names it in the question', async () => {
  using shop = openShop();
  const run = await shop.typing(['categories', 'delete', '1'], [['Delete category 1 (Dogs)?', 'y\r']]);
  expect(run).toMatchObject({ code: 1, stdout: '' });
  expect(run.stderr).toContain('409 in_use');
  expect(run.stderr).toContain('see what uses it: petstore pets list --category 1 --offline\n');
});

test.each([
  [['create'], 'error: create category: --name is missing\n'],
  [['create', '--name', ''], 'error: --name: must not be empty\n'],
  [['update', '1'], 'error: update category: nothing to change\n'],
  [['get', '1.5'], "error: id '1.5': must be"],
])('refuses %j with exit 2', async (words, message) => {
  const run = await runCli(['--offline', 'categories', ...words]);
  expect(run).toMatchObject({ code: 2, stdout: '' });
  expect(run.stderr).toContain(message);
});

test('an empty --description empties the description', async () => {
  using shop = openShop();
  expect(await shop.json('categories', 'update', '1', '--description', '')).toMatchObject({
    id: 1,
    name: 'Dogs',
    description: '',
  });
});
