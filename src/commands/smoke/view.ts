import type { JsonObject } from '../../json.ts';
import type { View } from '../../output/columns.ts';
import { type Check, idOf } from '../../smoke/check.ts';

const columns = ['id', 'result', 'seconds', 'reason'] as const;
const more = [
  'group',
  'name',
  'flaky',
  'operation',
  'expected',
  'got',
  'pointer',
  'method',
  'url',
  'status',
] as const;

/** Results of checks as records, for the formats that programs read. */
export const checksView: View<JsonObject> = {
  noun: 'checks',
  columns: [
    ...columns.map((name) => ({ name, value: (check: JsonObject) => check[name] })),
    ...more.map((name) => ({ name, value: (check: JsonObject) => check[name], extra: true as const })),
  ],
};

/** Checks that have not run. */
export const plannedView: View<Check> = {
  noun: 'checks',
  columns: [
    { name: 'id', value: idOf },
    { name: 'operation', value: ({ operation }) => operation?.id },
    { name: 'stability', value: ({ operation }) => operation?.stability },
  ],
};
