import { fstatSync, writeSync } from 'node:fs';
import {
  asksForHelp,
  findHelp,
  findUnknown,
  locate,
  offersAt,
  printOffers,
  readPage,
  readTable,
} from './cli/command-words.ts';
import { isColored } from './output/style.ts';

/**
 * Answers a line without loading the program: help, a completion of fixed words, or an unknown command. bin/petstore.js calls it
 * before it reads the bundle.
 *
 * @param dist the folder of the bundle.
 * @returns the exit code; undefined if the program must answer.
 */
export function answer(words: readonly string[], dist: string): number | undefined {
  const table = readTable(dist);
  if (words[0] === '__complete') {
    const offered = offersAt(table, words.slice(words[1] === '--' ? 2 : 1));
    return 'kind' in offered ? undefined : write(1, printOffers(offered), 0);
  }
  // Other flags may ask for colours, or for an error in JSON.
  if (words.some((word) => word.startsWith('-') && word !== '--help' && word !== '-h')) return undefined;
  if (asksForHelp(words)) {
    const help = findHelp(table, words);
    if (help.kind === 'page') return write(1, readPage(dist, help.name, isStyled(1)), 0);
    return refuse(help);
  }
  const { command, operands } = locate(table, words);
  const unknown = findUnknown(table, command, operands);
  if (unknown) return refuse(unknown);
  if (command.acts) return undefined;
  return write(2, readPage(dist, command.path, isStyled(2)), 2);
}

function refuse({ message, hint }: { readonly message: string; readonly hint: string }): number | undefined {
  const { PETSTORE_OUTPUT, PETSTORE_TOKEN = '' } = process.env;
  // The program makes any other text safe to show, and can print the error as JSON.
  const isPlain =
    /^[\w .:`'?-]*$/.test(message) && (PETSTORE_TOKEN === '' || !message.includes(PETSTORE_TOKEN));
  if (PETSTORE_OUTPUT || !isPlain || isStyled(2)) return undefined;
  return write(2, `error: ${message}\nhint: ${hint}\n`, 2);
}

/** Returns true if a stream shows colours. Only a device can be a terminal, and to ask it loads Node's terminals. */
function isStyled(descriptor: number): boolean {
  const stream = descriptor === 1 ? 'stdout' : 'stderr';
  const isTerminal = fstatSync(descriptor).isCharacterDevice() && process[stream].isTTY;
  return isColored({ isTerminal }, process.env, 'auto');
}

/** @returns undefined if the stream does not take the text, and the program must say why. */
function write(descriptor: number, text: string, code: number): number | undefined {
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
