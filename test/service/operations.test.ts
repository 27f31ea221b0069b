import { describe, expect, test } from 'vitest';
import { toOpenApi } from '../../src/api/openapi.ts';
import { operationIds } from '../../src/api/operations.ts';
import { loadYaml } from '../../src/process/exact-yaml.ts';
import { localSunset } from '../../src/server/app.ts';
import { runCli } from '../helpers/run-cli.ts';

describe('api operations', () => {
  test('shows every operation with its source and life cycle', async () => {
    const { code, stdout } = await runCli(['api', 'operations', '--all', '-o', 'csv']);
    const lines = stdout.split('\n');
    expect(code).toBe(0);
    expect(lines[0]).toBe('operation,method,path,source,stability,deprecated,tag,sunset,tryIt,why');
    expect(lines).toContain('getPet,GET,/pets/{petId},stated,stable,true,Pets,,true,');
    expect(lines).toContain('listOrders,GET,/store/orders,stated,stable,false,Store,,false,');
    expect(lines).toContain('updateOrder,PUT,/store/orders/{orderId},chosen,beta,false,Store,,true,');
    expect(lines).toContain(
      'deleteInventory,DELETE,/store/inventory/{petId},chosen,experimental,false,Store,,true,',
    );
    const usual = await runCli(['api', 'operations', '-o', 'csv']);
    expect(usual.stdout.split('\n')[0]).toBe('operation,method,path,source,stability,deprecated');
    expect((await runCli(['api', 'operations', '-o', 'ids'])).stdout.trim().split('\n')).toEqual(
      operationIds,
    );
  });
});

describe('api spec', () => {
  test('prints the document of the table as JSON, compact in a pipe and indented on a terminal', async () => {
    const piped = await runCli(['api', 'spec']);
    expect(piped).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(piped.stdout)).toEqual(toOpenApi({ sunset: localSunset }));
    expect(piped.stdout.split('\n')).toHaveLength(2);
    const printed = await runCli(['api', 'spec'], { terminals: ['stdout'] });
    expect(printed.stdout).toMatch(/^\{\n {2}"openapi": "3\.0\.3",\n/);
  });

  test('names the schemas as the specification does', () => {
    const { components } = toOpenApi();
    expect(Object.keys(components.schemas).join(' ')).toBe(
      'PetStatus NewPet Pet NewCategory Category Order InventoryItem InventoryUpdate Pets Error',
    );
    expect(components.schemas.NewPet).toEqual({
      type: 'object',
      properties: {
        name: { type: 'string' },
        categoryId: { type: 'integer', format: 'int64' },
        status: { $ref: '#/components/schemas/PetStatus' },
      },
      required: ['name', 'categoryId'],
    });
  });

  test('prints the same as YAML', async () => {
    const { stdout } = await runCli(['api', 'spec', '-o', 'yaml']);
    expect((await loadYaml()).parse(stdout)).toEqual(toOpenApi({ sunset: localSunset }));
    const { stdout: other } = await runCli(['api', 'spec'], { env: { PETSTORE_OUTPUT: 'yaml' } });
    expect(other).toBe(stdout);
  });

  test('names the base URL as its server', async () => {
    const { stdout } = await runCli(['api', 'spec', '--base-url', 'http://mine.test/v1']);
    expect(JSON.parse(stdout).servers).toEqual([{ url: 'http://mine.test/v1' }]);
  });
});
