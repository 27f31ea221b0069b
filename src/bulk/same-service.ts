import type { Contract } from '../api/contract.ts';
import type { NounName } from '../api/nouns.ts';
import type { Settings } from '../config/settings.ts';
import { UsageError } from '../process/errors.ts';
import type { RunBegin } from './run.ts';

// A run continues only with its binding and profile. A delivery that an earlier run has begun is booked only with those of that run.

/** Where the requests of a noun go, by operation, and the names of their fields: the part of a contract that a run keeps. */
type Routes = Readonly<Record<string, string>>;

/**
 * Returns the routes of a noun: `updateInventory` is `PUT /store/inventory/{petId} store=7`, with its constant
 * parameters, and `quantity of updateInventory` is `count`.
 */
export function routesOf({ operations }: Contract, noun: NounName): Routes {
  const ofNoun = [...operations.values()].filter((operation) => operation.noun === noun);
  const entries = ofNoun.flatMap(({ id, method, path, parameters, body }) => {
    const constants = parameters.flatMap(({ wireName, constant }) =>
      constant === undefined ? [] : [`${wireName}=${constant}`],
    );
    const names = Object.entries(body?.fields ?? {}).map(([name, { wireName }]) => [
      `${name} of ${id}`,
      wireName,
    ]);
    return [[id, [method, path, ...constants].join(' ')], ...names];
  });
  return Object.fromEntries(entries);
}

/** Finds an operation or a field that both have, but not alike, and returns its name. */
function differenceOfRoutes(routes: Routes, other: Routes): string | undefined {
  return Object.keys(routes).find((name) => (other[name] ?? routes[name]) !== routes[name]);
}

/**
 * Checks that this command has the profile and the binding of a run. Another profile that still exists may be for another service at
 * the same address, and another binding may write another field. A profile that is gone does not matter.
 *
 * @throws UsageError `other_profile`.
 */
export function requireSameService(
  { id, header }: RunBegin,
  { profile, profileNames }: Pick<Settings, 'profile' | 'profileNames'>,
  contract: Contract,
): void {
  const { profile: other, routes, noun } = header;
  const difference = differenceOfRoutes(routes, routesOf(contract, noun));
  if (difference !== undefined)
    throw new UsageError(
      `run ${id} was made with another binding; nothing was sent`,
      `bind the service as it was: ${difference} was ${routes[difference]}`,
      'other_profile',
    );
  if (other === undefined || other === profile?.value || !profileNames.includes(other)) return;
  // The hint does not change the tenant of the other profile, which would then no longer find its own runs.
  const setTenant = profile
    ? `: petstore config set tenant <name> --profile ${profile.value}`
    : ', in a profile of its own';
  throw new UsageError(
    `run ${id} was made with the profile ${other}; nothing was sent`,
    `if this is the same service, give --profile ${other}; else set a tenant for this service${setTenant}`,
    'other_profile',
  );
}
