import type { Contract } from '../../api/contract.ts';
import { type OperationId, operationIds, operations } from '../../api/operations.ts';
import type { Context } from '../../context.ts';
import { UsageError } from '../../errors.ts';
import { printJson } from '../../json.ts';
import type { View } from '../../output/columns.ts';

/** An operation of the table in the active contract; without method and path if the service lacks it. */
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

/** Prints the state of each operation of the table in the active contract. */
export async function listOperations(context: Context): Promise<void> {
  const contract = await context.contract();
  await (await context.printer()).records([operationIds.map((id) => toRow(id, contract))], view);
}

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
    tag: operations[id].tag,
    source: 'missing',
    stability: null,
    deprecated: null,
    sunset: null,
    tryIt: null,
    why,
  };
}

/**
 * The operation of this name, ignoring case.
 *
 * @throws UsageError that lists similar names, or all.
 */
export function findOperation(name: string, what: string): OperationId {
  const found = operationIds.find((id) => id.toLowerCase() === name.toLowerCase());
  if (found) return found;
  const noun = name.replace(/^[a-z]+(?=[A-Z])/, '').toLowerCase();
  const near = operationIds.filter((id) => noun !== '' && id.toLowerCase().includes(noun.slice(0, 3)));
  throw new UsageError(
    `${what} ${name}: there is no such operation`,
    `one of ${(near.length > 0 ? near : operationIds).join(', ')}`,
  );
}

/** Prints the OpenAPI document of the built-in contract. */
export async function printSpec(context: Context): Promise<void> {
  const { output } = context.flags;
  if (output !== undefined && output !== 'json' && output !== 'yaml')
    throw new UsageError(`--output ${output}: an OpenAPI document is json or yaml`);
  const settings = await context.settings();
  const { toOpenApi } = await import('../../api/openapi.ts');
  const document = toOpenApi({ serverUrl: settings.offline ? undefined : settings.get('base-url') });
  const isYaml = (output ?? settings.get('output')) === 'yaml';
  await context.io.stdout.write(isYaml ? await toYaml(document) : toJson(document, context));
}

function toJson(document: unknown, { io }: Context): string {
  return `${printJson(document, io.stdout.isTerminal ? 2 : 0)}\n`;
}

async function toYaml(document: unknown): Promise<string> {
  const { loadYaml } = await import('../../yaml.ts');
  return (await loadYaml()).print(document);
}
