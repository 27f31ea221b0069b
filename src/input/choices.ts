import { sanitize } from '../text.ts';

/** One of several answers to a question. */
export interface Choice<Value> {
  readonly name: string;
  readonly value: Value;
  readonly description?: string | undefined;
}

/** The choice as a terminal may show it. */
export function readable<Value>({ name, value, description }: Choice<Value>) {
  const readableName = sanitize(name);
  return description === undefined
    ? { name: readableName, value }
    : { name: readableName, value, description: sanitize(description) };
}

/** Choices whose name holds the term, upper and lower case alike; those that begin with it first. */
export function matching<Named extends { readonly name: string }>(
  choices: readonly Named[],
  term: string,
): Named[] {
  const wanted = term.toLowerCase();
  const rank = ({ name }: Named) => name.toLowerCase().indexOf(wanted);
  const found = choices.filter((choice) => rank(choice) !== -1);
  return found.sort((one, other) => Math.min(rank(one), 1) - Math.min(rank(other), 1));
}
