import { builtInContract, type Contract, notDescribed } from '../../api/contract.ts';
import type { OperationId } from '../../api/nouns.ts';
import { operationIds, operations } from '../../api/operations.ts';
import type { Context } from '../../context.ts';
import { propertyColumns, type View } from '../../output/columns.ts';
import type { Output, PreparedCommand } from '../../output/printer.ts';
import { UsageError } from '../../process/errors.ts';
import { printJson } from '../../process/exact-json.ts';

const view: View<ReturnType<typeof toOperationRecord>> = {
  plural: 'operations',
  columns: [
    ...propertyColumns(['operation', 'method', 'path', 'stability', 'deprecated']),
    ...propertyColumns(['tag', 'source', 'sunset', 'tryIt', 'why']).map(
      (column) => ({ ...column, isHidden: true }) as const,
    ),
  ],
};

/** Lists the state of each operation of the table in the active contract. @param all true to show every column. */
export function listOperations(context: Context, all: boolean): PreparedCommand {
  const shown = all ? { ...view, columns: view.columns.map(({ isHidden: _, ...column }) => column) } : view;
  return {
    view: shown,
    async run() {
      const contract = await context.contract();
      return {
        pages: [operationIds.map((id) => toOperationRecord(id, contract))],
        notes: [...contract.missing].flatMap(([id, why]) =>
          why === notDescribed ? [] : `note: ${id}: ${why}`,
        ),
      };
    },
  };
}

/** If the service lacks the operation, only its tag and the reason are known. */
function toOperationRecord(id: OperationId, contract: Contract) {
  const operation = contract.operations.get(id);
  return {
    operation: id,
    method: operation?.method ?? null,
    path: operation?.path ?? null,
    tag: (operation ?? operations[id]).tag,
    source: operation?.source ?? 'missing',
    stability: operation?.stability ?? null,
    deprecated: operation?.isDeprecated ?? null,
    sunset: operation?.sunset ?? null,
    tryIt: operation ? !operation.hidesTryIt : null,
    why: operation?.why ?? contract.missing.get(id),
  };
}

/**
 * Finds an operation by its name, ignoring case.
 *
 * @param subject the flag that names the operation, for the message.
 * @throws UsageError that lists all names.
 */
export function findOperation(name: string, subject: string): OperationId {
  const id = operationIds.find((operationId) => operationId.toLowerCase() === name.toLowerCase());
  if (id) return id;
  throw new UsageError(`${subject} ${name}: there is no such operation`, `one of ${operationIds.join(', ')}`);
}

/** Returns the OpenAPI document of the built-in contract. */
export async function readSpec(context: Context): Promise<Output> {
  const { flags, settings, io } = context;
  const { output = 'json' } = flags;
  if (output !== 'json' && output !== 'yaml')
    throw new UsageError(`--output ${output}: an OpenAPI document is json or yaml`);
  if ((await context.contract()) !== builtInContract)
    await context.printWarning(
      'this is the built-in contract, and the service is bound to another description',
    );
  const { toOpenApi } = await import('../../api/openapi.ts');
  const { localSunset } = await import('../../server/app.ts');
  const document = toOpenApi({ serverUrl: settings.baseUrl, sunset: localSunset });
  return { documents: [document], text: `${printJson(document, io.stdout.isTerminal ? 2 : 0)}\n` };
}
