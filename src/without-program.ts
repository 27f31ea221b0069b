import { fstatSync, writeSync } from 'node:fs';
import {
  asksForHelp,
  completionOf,
  findHelp,
  findUnknown,
  meaningOfLine,
  offersText,
  readPage,
  readTable,
  type WordTable,
} from './cli/command-words.ts';
import { colorModes, isColored } from './output/style.ts';

/**
 * Answers a line without loading the program: help, a completion of fixed words, or an unknown command. bin/petstore.js calls this
 * function first, unless two words of the line name a code cache that exists. Then bin/petstore.js runs the bundle at once.
 *
 * @param dist the folder of the bundle.
 * @returns the exit code, unless the program must answer; and the command of the line, such as `pets-list`, which names the code
 *   cache of the program. `help`, `complete` and `other` stand for lines without a command.
 */
export function answerLine(
  words: readonly string[],
  dist: string,
): { readonly code: number | undefined; readonly command: string } {
  const table = readTable(dist);
  if (words[0] === '__complete') {
    const line = words.slice(words[1] === '--' ? 2 : 1);
    const { offers, stem } = completionOf(table, line);
    if (typeof offers === 'string' && offers !== 'file') return { code: undefined, command: 'complete' };
    return { code: writeAll(1, offersText(offers, stem, line.at(-1) ?? ''), 0), command: 'complete' };
  }
  // Other flags may ask for colours, or for an error in JSON.
  const hasOnlyHelpFlags = words.every((word) => !word.startsWith('-') || word === '--help' || word === '-h');
  if (asksForHelp(words))
    return { code: hasOnlyHelpFlags ? showHelp(table, words, dist) : undefined, command: 'help' };
  const meaning = meaningOfLine(table, words);
  const { command } = meaning;
  const name = command.path.replaceAll(' ', '-') || 'other';
  const unknown = findUnknown(table, meaning);
  if (!hasOnlyHelpFlags || (command.canRunAlone && !unknown)) return { code: undefined, command: name };
  const code = unknown ? refuse(unknown) : writeAll(2, readPage(dist, command.path, isStyled(2)), 2);
  return { code, command: name };
}

function showHelp(table: WordTable, words: readonly string[], dist: string): number | undefined {
  const help = findHelp(table, words);
  return typeof help === 'string' ? writeAll(1, readPage(dist, help, isStyled(1)), 0) : refuse(help);
}

function refuse({ message, hint }: { readonly message: string; readonly hint: string }): number | undefined {
  const { PETSTORE_OUTPUT, PETSTORE_TOKEN = '' } = process.env;
  // The program makes any other text safe to show, and can print the error as JSON.
  const isPlain =
    /^[\w .:`'?-]*$/.test(message) && (PETSTORE_TOKEN === '' || !message.includes(PETSTORE_TOKEN));
  if (PETSTORE_OUTPUT || !isPlain || isStyled(2)) return undefined;
  return writeAll(2, `error: ${message}\nhint: ${hint}\n`, 2);
}

/** Returns true if a stream shows colours. Only a device can be a terminal, and only then Node's terminals are loaded to ask. */
function isStyled(descriptor: number): boolean {
  const stream = descriptor === 1 ? 'stdout' : 'stderr';
  const isTerminal = fstatSync(descriptor).isCharacterDevice() && process[stream].isTTY;
  const mode = colorModes.find((each) => each === process.env.PETSTORE_COLOR) ?? 'auto';
  return isColored({ isTerminal }, process.env, mode);
}

/** Writes a text. @returns the exit code, or undefined if the stream takes nothing, because the program must then report why. */
function writeAll(descriptor: number, text: string, code: number): number | undefined {
  const bytes = Buffer.from(text);
  let written = 0;
  try {
    while (written < bytes.length) written += writeSync(descriptor, bytes, written);
  } catch {
    if (written === 0) return undefined;
    // A slow reader has not taken all of it yet.
    const stream = descriptor === 1 ? process.stdout : process.stderr;
    stream.on('error', () => {}).write(bytes.subarray(written));
  }
  return code;
}
