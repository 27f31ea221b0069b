import { expect, test } from 'vitest';
import { runCli } from '../helpers/run-cli.ts';

const get = (words: string) => runCli(`--offline pets get ${words}`);

test('prints one pet as a lone record, and several in the order of the ids as a list', async () => {
  const bella = '{"id":1,"name":"Bella","categoryId":1,"status":"available"}\n';
  expect(await get('1 -o json')).toMatchObject({ code: 0, stdout: bella });
  const { code, stdout } = await get('3 1 3 -o json');
  expect(code).toBe(0);
  expect(JSON.parse(stdout).map(({ id }: { id: number }) => id)).toEqual([3, 1, 3]);
});

test('prints the pets that exist, names each that does not, and exits 3', async () => {
  const { code, stdout, stderr } = await get('998 1 nobody 999 -o ids -q');
  expect({ code, stdout }).toEqual({ code: 3, stdout: '1\n' });
  expect(stderr.match(/^error: pet 99[89] does not exist .*$/gm)).toHaveLength(2);
  expect(stderr).toContain("pet 'nobody': no pet has this name");
  const json = await get('1 999 -o json -q');
  expect(JSON.parse(json.stdout)).toHaveLength(1);
  expect(JSON.parse(json.stderr).error).toMatchObject({
    kind: 'partial',
    errors: [
      { kind: 'not-found', message: 'pet 999 does not exist', code: 'not_found', status: 404, method: 'GET' },
    ],
  });
});

test('exits with the code of the failure if all failed for the same reason', async () => {
  expect(await get('998 999')).toMatchObject({ code: 5, stdout: '' });
  const single = await get('999 -o json -q');
  expect(single).toMatchObject({ code: 5, stdout: '' });
  const service = { code: 'not_found', status: 404, method: 'GET' };
  expect(JSON.parse(single.stderr).error).toMatchObject({
    ...{ kind: 'not-found', ...service, attempts: 1, retryable: false },
  });
});
