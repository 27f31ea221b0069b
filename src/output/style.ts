import type { ColorMode } from '../config/values.ts';
import type { Io } from '../io.ts';
import type { OutputStream } from '../output-stream.ts';

type Paint = (text: string) => string;

/** Colours of one stream; where it has none, each gives its text back. */
export interface Style {
  readonly bold: Paint;
  readonly dim: Paint;
  readonly red: Paint;
  readonly green: Paint;
  readonly yellow: Paint;
  readonly cyan: Paint;
}

const same: Paint = (text) => text;

/** The style of a stream that shows no colour. */
export const plainStyle: Style = { bold: same, dim: same, red: same, green: same, yellow: same, cyan: same };

/** The style of a stream; chalk is loaded only where there is colour. */
export async function createStyle(stream: OutputStream, env: Io['env'], mode: ColorMode): Promise<Style> {
  if (!isColored(stream, env, mode)) return plainStyle;
  const { Chalk } = await import('chalk');
  // 16 colours: the terminal's own, chosen by its user to be read on its background.
  const { bold, dim, red, green, yellow, cyan } = new Chalk({ level: 1 });
  // chalk would join further arguments, such as those of `map`.
  const alone =
    (paint: Paint): Paint =>
    (text) =>
      paint(text);
  return {
    bold: alone(bold),
    dim: alone(dim),
    red: alone(red),
    green: alone(green),
    yellow: alone(yellow),
    cyan: alone(cyan),
  };
}

/** The colour of each word that tells a state: what is well green, what waits yellow, what failed red, what is over dim. */
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
  ['killed', 'red'],
]);

/** The colour of a state, that of a pet first of all. */
export function paintStatus(style: Style, status: string): Paint {
  const color = stateColors.get(status);
  return color ? style[color] : same;
}

/** `--color` decides, then FORCE_COLOR, then NO_COLOR, then whether the stream is a terminal that knows colour. */
export function isColored({ isTerminal }: OutputStream, env: Io['env'], mode: ColorMode): boolean {
  if (mode !== 'auto') return mode === 'always';
  if (env.FORCE_COLOR) return env.FORCE_COLOR !== '0' && env.FORCE_COLOR !== 'false';
  return isTerminal && !env.NO_COLOR && env.TERM !== 'dumb';
}
