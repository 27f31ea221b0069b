import type { Contract } from '../../api/contract.ts';
import { type OperationId, operationIds, rowOf } from '../../api/operations.ts';
import { verb } from '../../cli/verb.ts';
import type { View } from '../../output/columns.ts';

/** An operation of the table as the active contract has it; one that the service lacks has no method and no path. */
interface Row {
  readonly operation: OperationId;
  readonly method: string | null;
  readonly path: string | null;
  readonly tag: string;
  readonly source: 'stated' | 'chosen' | 'bound' | 'missing';
  readonly stability: string | null;
  readonly deprecated: boolean | null;
  readonly sunset: string | null;
  readonly tryIt: boolean | null;
  /** Why it is missing. */
  readonly why?: string | undefined;
}

const view: View<Row> = {
  noun: 'operations',
  columns: [
    { name: 'operation', value: (row) => row.operation },
    { name: 'method', value: (row) => row.method },
    { name: 'path', value: (row) => row.path },
    { name: 'tag', value: (row) => row.tag, spare: true },
    { name: 'source', value: (row) => row.source },
    { name: 'stability', value: (row) => row.stability },
    { name: 'deprecated', value: (row) => row.deprecated, spare: true },
    { name: 'sunset', value: (row) => row.sunset, spare: true },
    { name: 'tryIt', value: (row) => row.tryIt, spare: true },
    { name: 'why', value: (row) => row.why, extra: true },
  ],
};

export const operations = verb({
  name: 'operations',
  aliases: ['ls'],
  summary: 'List the operations of the service and where each comes from',
  description:
    'Lists the operations of the service. The source says where an operation comes from: stated by the service document, chosen by this program, bound to the description of a service, or missing from it.',
  examples: [
    'petstore api operations',
    'petstore api operations --fields operation,source -o csv',
    'petstore api operations --fields operation,source,why',
  ],
  async run(context) {
    const contract = await context.contract();
    await (await context.printer()).records([operationIds.map((id) => toRow(id, contract))], view);
  },
});

function toRow(id: OperationId, { operations: offered, missing: reasons }: Contract): Row {
  const operation = offered.get(id);
  if (!operation) return missing(id, reasons.get(id));
  return {
    operation: id,
    method: operation.method,
    path: operation.path,
    tag: operation.tag,
    source: operation.source,
    stability: operation.stability,
    deprecated: operation.deprecated,
    sunset: operation.sunset ?? null,
    tryIt: !operation.hideTryIt,
  };
}

function missing(id: OperationId, why: string | undefined): Row {
  return {
    operation: id,
    method: null,
    path: null,
    tag: rowOf(id).tag,
    source: 'missing',
    stability: null,
    deprecated: null,
    sunset: null,
    tryIt: null,
    why,
  };
}
