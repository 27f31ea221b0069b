import { type OperationId, operationIds } from '../../api/operations.ts';
import type { Target } from '../../binding/bind.ts';
import { UsageError } from '../../errors.ts';

/**
 * The values of `--map`, as `updateInventory=PATCH /stock/{petId}`.
 *
 * @throws UsageError for another form, an operation that is not known or one that is named twice.
 */
export function readTargets(values: readonly string[]): ReadonlyMap<OperationId, Target> {
  const targets = new Map<OperationId, Target>();
  for (const value of values) {
    const [, name = '', method = '', path = ''] =
      /^\s*(\w+)\s*=\s*([A-Za-z]+)\s+(\/\S*)\s*$/.exec(value) ?? [];
    if (name === '')
      throw new UsageError(
        `--map ${value}: must be <operation>=<METHOD> <path>`,
        "as in --map updateInventory='PATCH /stock/{petId}'",
      );
    const id = findOperation(name, '--map');
    if (targets.has(id)) throw new UsageError(`--map ${id}: is given twice`);
    targets.set(id, { method: method.toUpperCase(), path });
  }
  return targets;
}

/**
 * The operation of this name, whatever its case.
 *
 * @throws UsageError that names those that are near, or all.
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
