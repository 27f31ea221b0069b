import { type ColorMode, colorVariable } from '../config/setting-values.ts';
import type { Io } from '../process/io.ts';
import type { OutputStream } from '../process/output-stream.ts';

type Paint = (text: string) => string;

/** The colours of one stream; without colour each function returns its text unchanged. */
export interface Style {
  readonly bold: Paint;
  readonly dim: Paint;
  readonly red: Paint;
  readonly green: Paint;
  readonly yellow: Paint;
  readonly cyan: Paint;
}

const same: Paint = (text) => text;

/** A text without colour sequences. */
export function withoutColor(text: string): string {
  return text.replace(/\x1b\[[\d;]*m/g, '');
}

/** The style of a stream that shows no colour. */
export const plainStyle: Style = { bold: same, dim: same, red: same, green: same, yellow: same, cyan: same };

/** The style of a stream; loads chalk only if there is colour. */
export async function createStyle(stream: OutputStream, env: Io['env'], mode: ColorMode): Promise<Style> {
  if (!isColored(stream, env, mode)) return plainStyle;
  const { Chalk } = await import('chalk');
  // 16 colours: the terminal's own, which the user can read on their background.
  return new Chalk({ level: 1 });
}

/** The colour of each state: good is green, waiting yellow, failed red, finished dim. */
const stateColors = new Map<string, 'green' | 'yellow' | 'red' | 'dim'>([
  ['available', 'green'],
  ['pending', 'yellow'],
  ['sold', 'dim'],
  ['ok', 'green'],
  ['warn', 'yellow'],
  ['fail', 'red'],
  ['skip', 'dim'],
  ['finished', 'green'],
  ['running', 'yellow'],
  ['stopped', 'yellow'],
  ['overdue', 'red'],
]);

/** A text in the colour of a state, by default the text itself; if a word is also a pet status, the colour is that of the pet. */
export function paintStatus(style: Style, state: string, text = state): string {
  const color = stateColors.get(state);
  return color ? style[color](text) : text;
}

/** `--color` decides, then FORCE_COLOR, then NO_COLOR, then whether the stream is a terminal with colour. */
function isColored({ isTerminal }: OutputStream, env: Io['env'], mode: ColorMode): boolean {
  const colorMode = mode === 'auto' ? colorVariable(env)?.value : mode;
  if (colorMode !== undefined) return colorMode === 'always';
  return isTerminal && env.TERM !== 'dumb';
}
