import type { Contract } from '../api/contract.ts';
import { type NounName, nouns } from '../api/nouns.ts';
import type { Operation } from '../api/operations.ts';
import type { Settings } from '../config/settings.ts';
import { UsageError } from '../process/errors.ts';
import type { ListedRun } from './list-runs.ts';

// A run continues only with its binding and profile. A delivery that an earlier run has begun is booked only with those of that run.

/** Where the writes of a noun go: the route of each write, the name of each field, and the constants of its requests. */
export type Binding = Readonly<Record<string, string>>;

/**
 * Describes the binding of a noun: `updateInventory` is `PUT /store/inventory/{} store=7`, and `quantity` is `quantity`. `parameter store`
 * is `7`, because readings of another store are no readings of these records either.
 */
export function bindingOf({ operations }: Contract, noun: NounName): Binding {
  const { fields, operations: ids } = nouns[noun];
  const ofNoun = [...operations.values()].filter((operation) => operation.noun === noun);
  const constantsOf = ({ parameters }: Operation) =>
    parameters.flatMap(({ wireName, constant }) => (constant === undefined ? [] : [[wireName, constant]]));
  const writes = ofNoun.filter(({ id }) => id !== ids.get && id !== ids.list);
  const routes = writes.map((operation) => {
    // The name of a path parameter means nothing.
    const route = `${operation.method} ${operation.path.replace(/\{[^}]*\}/g, '{}')}`;
    return [operation.id, [route, ...constantsOf(operation).map((pair) => pair.join('='))].join(' ')];
  });
  const names = writes.flatMap(({ body }) =>
    fields.flatMap(({ name }) => {
      const field = body?.fields[name];
      return field ? [[name, field.wireName]] : [];
    }),
  );
  const constants = ofNoun.flatMap(constantsOf).map(([name, value]) => [`parameter ${name}`, value]);
  return Object.fromEntries([...routes, ...names, ...constants]);
}

/** Finds an operation or a field that both bindings have, but not alike, and returns its name. */
function differenceOfBindings(binding: Binding, other: Binding): string | undefined {
  return Object.keys(binding).find((name) => (other[name] ?? binding[name]) !== binding[name]);
}

/**
 * Checks that this command has the profile and the binding of a run. Another profile that still exists may be for another service at
 * the same address, and another binding may write another field. A profile that is gone does not matter.
 *
 * @throws UsageError `other_profile`.
 */
export function requireSameService(
  info: Pick<ListedRun, 'id' | 'header'>,
  { profile, profileNames }: Pick<Settings, 'profile' | 'profileNames'>,
  contract: Contract,
): void {
  const { profile: other, binding, noun } = info.header;
  const difference = differenceOfBindings(binding, bindingOf(contract, noun));
  if (difference !== undefined)
    throw new UsageError(`run ${info.id} was made with another binding; nothing was sent`, {
      hint: `bind the service as it was: ${difference} was ${binding[difference]}`,
      code: 'other_profile',
    });
  if (other === undefined || other === profile?.value || !profileNames.includes(other)) return;
  // The hint does not change the tenant of the other profile, which would then no longer find its own runs.
  const setTenant = profile
    ? `: petstore config set tenant <name> --profile ${profile.value}`
    : ', in a profile of its own';
  throw new UsageError(`run ${info.id} was made with the profile ${other}; nothing was sent`, {
    hint: `if this is the same service, give --profile ${other}; else set a tenant for this service${setTenant}`,
    code: 'other_profile',
  });
}
