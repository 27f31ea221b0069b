import { applied, type Outcome, type Planned, type RowState } from './decide.ts';

// The states of rows are values that nobody changes, so rows with the same counts can share them. The counts of shelves are
// small and repeat: of a million rows that are written, this saves 100 MB. @see bench/README.md

interface SharedStates {
  readonly planned: RowState;
  readonly applied: RowState;
}

/** Larger counts are not shared. */
const maxCount = 2 ** 20;
/** The most pairs of counts. A file with more of them has an object for each row beyond. */
const maxPairs = 50_000;
const statesByPair = new Map<number, SharedStates>();

/** The state of a row that a plan wants to write. */
export function plannedState(planned: Planned): RowState {
  return sharedStates(planned)?.planned ?? toPlannedState(planned);
}

/** The state of a row that has its outcome. @param planned what the last plan wanted to write. */
export function settledState(outcome: Outcome, planned: Planned | undefined): RowState {
  const shared = outcome === applied && planned ? sharedStates(planned) : undefined;
  return shared?.applied ?? { at: 'settled', outcome, planned };
}

function sharedStates(values: Planned): SharedStates | undefined {
  const { action, before, after } = values;
  if (action !== 'set' || !isShared(before) || !isShared(after)) return undefined;
  const pair = before * maxCount + after;
  let states = statesByPair.get(pair);
  if (!states && statesByPair.size < maxPairs) {
    const planned = toPlannedState(values);
    states = { planned, applied: { at: 'settled', outcome: applied, planned: { action, before, after } } };
    statesByPair.set(pair, states);
  }
  return states;
}

function isShared(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value < maxCount && Number.isInteger(value);
}

function toPlannedState({ action, before, after }: Planned): RowState {
  return { at: 'planned', action, before, after };
}
