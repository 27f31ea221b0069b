import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { WordTable } from './command-words.ts';

// The build writes these files beside the bundle, with the functions of `prepare.ts`.
const tableFile = 'words.json';
/** The commands, one a line: bin/petstore.js names a code cache after the first that a line names. */
const commandsFile = 'commands.txt';
const pageFiles = { plain: 'help.txt', styled: 'help-styled.txt' } as const;

/** The mark before each page of a file. A page has no form feed. */
const pageMark = '\f';

/** Reads the table of commands, flags and fixed values. @param dist the folder of the bundle. */
export function readTable(dist: string): WordTable {
  return JSON.parse(readFileSync(join(dist, tableFile), 'utf8'));
}

/** Reads a page of help. @param isStyled whether its titles are bold. */
export function readPage(dist: string, name: string, isStyled: boolean): string {
  const text = readFileSync(join(dist, pageFiles[isStyled ? 'styled' : 'plain']), 'utf8');
  const heading = `${pageMark}${name}\n`;
  const start = text.indexOf(heading);
  if (start === -1) throw new Error(`help has no page '${name}'`);
  const end = text.indexOf(pageMark, start + 1);
  return text.slice(start + heading.length, end === -1 ? undefined : end);
}

/** The files as the build writes them, by their names. */
export function preparedFiles(
  table: WordTable,
  pages: Readonly<Record<keyof typeof pageFiles, readonly (readonly [name: string, text: string])[]>>,
): Readonly<Record<string, string>> {
  const joined = (kind: keyof typeof pageFiles) =>
    pages[kind].map(([name, text]) => `${pageMark}${name}\n${text}`).join('');
  const acting = Object.values(table.commands).flatMap(({ path, acts }) => (acts ? path : []));
  return {
    [tableFile]: JSON.stringify(table),
    // `pets list` comes before `runs`, which is a command and a group.
    [commandsFile]: acting.sort((one, other) => other.split(' ').length - one.split(' ').length).join('\n'),
    [pageFiles.plain]: joined('plain'),
    [pageFiles.styled]: joined('styled'),
  };
}
