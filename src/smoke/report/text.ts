import { sanitize } from '../../text.ts';
import type { CheckResult } from '../check.ts';

/**
 * Foreign text for one line of a log: controls become visible, and what a CI runner would take for a command (`##[`,
 * `##vso[`) is broken up.
 */
export function lineText(text: string): string {
  return breakCommands(sanitize(text), '#\\x23');
}

/** Breaks up commands of CI runners, which look for them anywhere in a line. */
export function breakCommands(text: string, replacement: string): string {
  return text.replace(/##(?=\w*\[)/g, () => replacement);
}

/** What more there is to say of a result, each with its label; for a failure what was expected, what came, and where. */
export function labelledDetails(result: CheckResult): [label: string, text: string][] {
  const { expected, got, pointer, method, url } = result;
  const request = url === undefined ? undefined : `${method ?? 'GET'} ${url}`;
  const all: [string, string | undefined][] = [
    ['expected', expected],
    ['got', got],
    ['at', pointer === '' ? 'the whole body' : pointer],
    ['request', request],
  ];
  return all
    .filter((each): each is [string, string] => each[1] !== undefined)
    .map(([label, text]) => [label, lineText(text)]);
}

/** A failure in one line. */
export function headline({ reason, expected, got }: CheckResult): string {
  const more = [expected && `expected ${expected}`, got && `got ${got}`].filter(Boolean).join(', ');
  return lineText(more ? `${reason}: ${more}` : reason);
}
