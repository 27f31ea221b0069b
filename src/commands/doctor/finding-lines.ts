import { fold } from '../../output/fold.ts';
import { paintStatus, type Style } from '../../output/style.ts';
import { sanitize } from '../../text.ts';
import { checkNames, type Finding } from './finding.ts';

const stateWidth = 'fail'.length;
const nameWidth = Math.max(...checkNames.map((name) => name.length));
const indent = stateWidth + nameWidth + 4;

/** A finding as a person reads it: state, check and what was found, and under a bad one what to do. */
export function findingLines(finding: Finding, style: Style, columns: number | undefined): string {
  const { state, check } = finding;
  const reason = fold(sanitize(finding.reason), { columns, indent });
  const paint = state === 'skip' ? style.dim : (text: string) => text;
  const line = `${paintStatus(style, state)(state.padEnd(stateWidth))}  ${check.padEnd(nameWidth)}  ${paint(reason)}\n`;
  if (finding.hint === null) return line;
  const hint = fold(sanitize(finding.hint), { columns, indent });
  return `${line}${' '.repeat(stateWidth + 2)}${style.cyan('hint'.padEnd(nameWidth))}  ${hint}\n`;
}
