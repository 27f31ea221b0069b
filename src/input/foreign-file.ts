import { extname } from 'node:path';
import { InputError } from '../process/errors.ts';
import { shellWord } from '../process/text.ts';

/** The number of bytes at the start of a file that tell what it is. */
export const signatureLength = 512;

/** What a file is that is not an input, as the end of a sentence, and the command that converts it. */
interface ForeignFile {
  readonly what: string;
  readonly hint: (name: string) => string;
}

const gunzip: ForeignFile = {
  what: 'compressed by gzip',
  hint: (name) => conversion('gunzip -c', name),
};
const spreadsheet = (what: string): ForeignFile => ({ what, hint: spreadsheetHint });

/** Files by the bytes that they begin with, as Latin-1. */
const signatures: readonly (readonly [RegExp, ForeignFile])[] = [
  [/^\x1f\x8b/, gunzip],
  [/^BZh[1-9]/, { what: 'compressed by bzip2', hint: (name) => conversion('bunzip2 -c', name) }],
  [/^\xfd7zXZ/, { what: 'compressed by xz', hint: (name) => conversion('xz -dc', name) }],
  [/^\x28\xb5\x2f\xfd/, { what: 'compressed by zstd', hint: (name) => conversion('zstd -dc', name) }],
  [/^%PDF-/, { what: 'a PDF', hint: () => 'export the table as CSV from the program that made the PDF' }],
  [
    /^PK\x03\x04.*(vnd\.oasis\.opendocument|content\.xml|META-INF\/manifest)/s,
    spreadsheet('an OpenDocument file'),
  ],
  [/^PK\x03\x04.*(\[Content_Types\]|_rels\/|docProps\/|xl\/)/s, spreadsheet('an Excel workbook')],
  [/^PK[\x03\x05]/, { what: 'a ZIP archive', hint: unzip }],
  [/^\xd0\xcf\x11\xe0/, spreadsheet('an Excel workbook of the old format')],
  [/^(\xef\xbb\xbf)?\s*<\?xml/, spreadsheet('XML')],
  [/^(\xef\xbb\xbf)?\s*</, spreadsheet('HTML, whatever its name says')],
];

/** Only funzip reads an archive from a pipe. */
function unzip(name: string): string {
  return conversion(name === 'stdin' ? 'funzip' : 'unzip -p', name);
}

function spreadsheetHint(name: string): string {
  const [file, then] = name === 'stdin' ? ['<file>', 'save it in a file, then '] : [shellWord(name), ''];
  return `${then}save it as CSV UTF-8: libreoffice --headless --convert-to csv:"Text - txt - csv (StarCalc)":44,34,76 ${file}`;
}

/** Refuses files of other formats, and text that is not UTF-8. @param head their first bytes @throws InputError. */
export function rejectForeignFile(head: Uint8Array, name: string): void {
  const start = Buffer.from(head.subarray(0, signatureLength)).toString('latin1');
  const [, foreign] = signatures.find(([pattern]) => pattern.test(start)) ?? [];
  if (foreign)
    throw new InputError(`${name}: not CSV or JSON: the file is ${foreign.what}`, foreign.hint(name));
  const encoding = /^(\xff\xfe|\xfe\xff)/.test(start) ? 'UTF-16' : unmarkedUtf16(head);
  if (encoding)
    throw new InputError(`${name}: not UTF-8: the file looks like UTF-16`, toUtf8(encoding, name));
}

/** Detects UTF-16 by the zero byte before or after the first letter. Undefined if the text does not begin with a letter. */
function unmarkedUtf16([first, second]: Uint8Array): string | undefined {
  if (second === undefined || (first === 0) === (second === 0)) return undefined;
  return first === 0 ? 'UTF-16BE' : 'UTF-16LE';
}

/** Returns a hint that sends a file through a command that converts it. */
export function conversion(command: string, name: string, ending = endingOf(name)): string {
  if (name === 'stdin') return `send it through: ${command}`;
  return `convert it: ${command} ${shellWord(name)} > converted${ending}`;
}

/** Returns the ending of a name, without that of a compression: `.csv` for `stock.csv.gz`. */
function endingOf(name: string): string {
  return extname(name.replace(/\.(gz|bz2|xz|zst|zip)$/i, ''));
}

/** Returns the hint for text in another encoding. */
export function toUtf8(encoding: string, name: string): string {
  return conversion(`iconv -f ${encoding} -t UTF-8`, name);
}
