import { appendFile, open, stat, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { UsageError } from '../../process/errors.ts';
import { ensureFolder, writeFileAtomic } from '../../process/files.ts';
import { fileError } from '../../process/system-error.ts';
import { toHtmlReport } from './html.ts';
import { toJsonReport } from './json.ts';
import { toJunitReport } from './junit.ts';
import { toMarkdownReport } from './markdown.ts';
import type { SmokeReport } from './report.ts';
import { toTapReport } from './tap.ts';

const writers = {
  junit: toJunitReport,
  tap: toTapReport,
  json: (report: SmokeReport) => toJsonReport(report, 2),
  markdown: toMarkdownReport,
  html: toHtmlReport,
} as const;

type FileFormat = keyof typeof writers;

const formats = Object.keys(writers)
  .map((format) => `${format}=<file>`)
  .join(', ');

interface FileReport {
  readonly format: FileFormat;
  readonly path: string;
}

/** The reports that `--report` asks for, beside the one for people. */
interface Reports {
  readonly files: readonly FileReport[];
  /** Annotations in the log, and the step summary. */
  readonly github: boolean;
}

/**
 * Reads the values of `--report`: `<format>=<file>`, or `github`.
 *
 * @throws UsageError for anything else, and for two reports in one file.
 */
export function parseReports(values: readonly string[], cwd: string): Reports {
  const files = values.filter((value) => value !== 'github').map((value) => parseFile(value, cwd));
  const paths = files.map(({ path }) => path);
  const twice = paths.find((path, index) => paths.indexOf(path) !== index);
  if (twice) throw new UsageError(`--report: ${twice} is named twice`, 'give each report a file of its own');
  return { files, github: values.includes('github') };
}

function parseFile(value: string, cwd: string): FileReport {
  const [, format, path] = /^(\w+)=(.+)$/s.exec(value) ?? [];
  if (!format || !Object.hasOwn(writers, format) || !path)
    throw new UsageError(`--report '${value}': must be github or one of ${formats}`);
  if (path === '-')
    throw new UsageError(`--report: ${value}: a report goes to a file`, 'for JSON on stdout use -o json');
  return { format: format as FileFormat, path: resolve(cwd, path) };
}

/**
 * Makes the folders of the reports, before the checks run. A file that exists may be replaced if it is a report
 * of an earlier run, or empty.
 *
 * @throws UsageError for another file, unless `force`.
 */
export async function prepareReports({ files }: Reports, force: boolean): Promise<void> {
  for (const { path } of files) {
    await ensureFolder(dirname(path));
    if (!force && !(await mayReplace(path)))
      throw new UsageError(
        `--report: ${path} exists and is not a report of an earlier run`,
        'name another file, or give --force to replace it',
        'file_exists',
      );
  }
}

/** Writes every report that goes to a file; a failure does not stop the others. @returns the errors. */
export async function writeReports(
  report: SmokeReport,
  { files, github }: Reports,
  summaryFile: string | undefined,
): Promise<Error[]> {
  const written = await Promise.allSettled([
    ...files.map(async ({ format, path }) => write(path, await writers[format](report))),
    ...(github && summaryFile ? [append(summaryFile, toMarkdownReport(report))] : []),
  ]);
  return written.flatMap((each) => (each.status === 'rejected' ? [each.reason as Error] : []));
}

/** A text near the start of every report of this program. */
const mark = 'petstore smoke';

async function mayReplace(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  if (!found?.isFile() || found.size === 0) return true;
  const file = await open(path, 'r').catch((error) => {
    throw fileError('read', path, error);
  });
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(200), 0, 200, 0);
    return buffer.toString('utf8', 0, bytesRead).includes(mark);
  } finally {
    await file.close();
  }
}

/** A pipe or a device is written to; a file is replaced atomically. */
async function write(path: string, text: string): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (!found || found.isFile()) return writeFileAtomic(path, text, 0o644);
  await writeFile(path, text).catch((error) => {
    throw fileError('write', path, error);
  });
}

async function append(path: string, text: string): Promise<void> {
  await appendFile(path, text).catch((error) => {
    throw fileError('write', path, error);
  });
}
