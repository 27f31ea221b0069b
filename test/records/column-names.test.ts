import { expect, test } from 'vitest';
import { openShop } from '../helpers/shop.ts';

test('--map names the columns of a file of records, or numbers them without a header', async () => {
  using shop = openShop();
  const stdin = 'Nr,Tier\n1,Bellissima\n';
  const run = await shop.run('pets update --from - --yes --map id=Nr,name=Tier', { stdin });
  expect(run).toMatchObject({ code: 0 });
  expect(await shop.json('pets get 1')).toMatchObject({ name: 'Bellissima' });
  const numbered = await shop.run('pets update --from - --yes --map id=2,name=1', { stdin: 'Maxi,2\n' });
  expect(numbered).toMatchObject({ code: 0 });
  expect(await shop.json('pets get 2')).toMatchObject({ name: 'Maxi' });
});

test('--map names the members of JSON records too', async () => {
  using shop = openShop();
  const stdin = '[{"Nr":1,"Tier":"Bellissima"},{"Nr":2}]';
  expect(await shop.run('pets update --from - --yes --map id=Nr,name=Tier', { stdin })).toMatchObject({
    code: 0,
  });
  expect(await shop.json('pets get 1')).toMatchObject({ name: 'Bellissima' });
});

test.each([
  ['name', "--map 'name': must be <field>=<column>"],
  ['name=Titel', 'no column Titel, which --map names'],
])('--map %s is refused if it names nothing', async (map, message) => {
  using shop = openShop();
  const run = await shop.run(`pets update --from - --yes --map ${map}`, { stdin: 'id,name\n1,x\n' });
  expect(run.code).toBe(2);
  expect(run.stderr).toContain(message);
});
