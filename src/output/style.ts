import type { Io, OutputStream } from '../process/io.ts';

/** Values of `--color` and of the setting `color`. */
export const colorModes = ['auto', 'always', 'never'] as const;
export type ColorMode = (typeof colorModes)[number];

/**
 * Finds the common variable that switches colour on or off.
 *
 * @see https://force-color.org: FORCE_COLOR takes precedence, and `0` and `false` switch colour off.
 * @see https://no-color.org
 */
export function colorVariable({ FORCE_COLOR, NO_COLOR }: NodeJS.ProcessEnv) {
  if (FORCE_COLOR)
    return { name: 'FORCE_COLOR', value: /^(0|false)$/i.test(FORCE_COLOR) ? 'never' : 'always' } as const;
  return NO_COLOR ? ({ name: 'NO_COLOR', value: 'never' } as const) : undefined;
}

type Paint = (text: string) => string;

/** The colours of one stream. On a stream without colour each function returns its text unchanged. */
export type Style = Readonly<Record<'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan', Paint>>;

const leaveUnpainted: Paint = (text) => text;

/** Removes the colour sequences from a text. */
export function withoutColor(text: string): string {
  return text.replace(/\x1b\[[\d;]*m/g, '');
}

/** The style of a stream that shows no colour. */
export const plainStyle: Style = {
  bold: leaveUnpainted,
  dim: leaveUnpainted,
  red: leaveUnpainted,
  green: leaveUnpainted,
  yellow: leaveUnpainted,
  cyan: leaveUnpainted,
};

/** Creates the style of a stream. It loads chalk only if the stream shows colour. */
export async function createStyle(stream: OutputStream, env: Io['env'], mode: ColorMode): Promise<Style> {
  if (!isColored(stream, env, mode)) return plainStyle;
  const { Chalk } = await import('chalk');
  // Level 1 has the 16 colours of the terminal, which users can choose to fit their background.
  return new Chalk({ level: 1 });
}

/** The colour of each state: good is green, waiting or unknown yellow, failed red, and dim where nothing happens any more. */
const stateColors = new Map<string, 'green' | 'yellow' | 'red' | 'dim'>([
  ['available', 'green'],
  ['pending', 'yellow'],
  ['sold', 'dim'],
  ['pass', 'green'],
  ['flaky', 'yellow'],
  ['warn', 'yellow'],
  ['fail', 'red'],
  ['error', 'red'],
  ['skip', 'dim'],
  ['finished', 'green'],
  ['open', 'yellow'],
  ['undone', 'dim'],
  ['partly undone', 'yellow'],
  ['applied', 'green'],
  ['unchanged', 'dim'],
  ['booked', 'dim'],
  ['failed', 'red'],
  ['invalid', 'red'],
  ['unknown', 'yellow'],
  ['uncertain', 'yellow'],
  ['unsettled', 'yellow'],
  ['unprocessed', 'yellow'],
  ['overdue', 'red'],
]);

/** Paints a text, by default the state itself, in the colour of a state. */
export function paintState(style: Style, state: string, text = state): string {
  const color = stateColors.get(state);
  return color ? style[color](text) : text;
}

/** Returns true if a stream shows colour. `--color` takes precedence, then FORCE_COLOR, NO_COLOR and the terminal. */
export function isColored(
  { isTerminal }: Pick<OutputStream, 'isTerminal'>,
  env: Io['env'],
  mode: ColorMode,
): boolean {
  const colorMode = mode === 'auto' ? colorVariable(env)?.value : mode;
  if (colorMode !== undefined) return colorMode === 'always';
  return isTerminal && env.TERM !== 'dumb';
}
