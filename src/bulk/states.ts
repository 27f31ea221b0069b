/** What may become of a row; every row is in one of them at any time, so that a summary always adds up. */
export const states = [
  'unprocessed',
  'applied',
  'unchanged',
  'failed',
  'unknown',
  'invalid',
  'skipped',
] as const;
export type State = (typeof states)[number];

/** A state as one byte of the row store. */
export const stateCodes = Object.fromEntries(states.map((state, code) => [state, code])) as Readonly<
  Record<State, number>
>;

export function stateOf(code: number): State {
  return states[code] ?? 'unprocessed';
}
