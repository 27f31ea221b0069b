import { appendFile, open, stat, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { UsageError } from '../../errors.ts';
import { ensureFolder, writeFileAtomic } from '../../files.ts';
import { fileError } from '../../system-error.ts';
import { toHtmlReport } from './html.ts';
import { toJsonReport } from './json.ts';
import { toJunitReport } from './junit.ts';
import { toMarkdownReport } from './markdown.ts';
import type { SmokeReport } from './report.ts';
import { toTapReport } from './tap.ts';

const writers = {
  junit: toJunitReport,
  tap: async (report: SmokeReport) => toTapReport(report),
  json: async (report: SmokeReport) => toJsonReport(report, 2),
  markdown: async (report: SmokeReport) => toMarkdownReport(report),
  html: async (report: SmokeReport) => toHtmlReport(report),
} as const;

type FileFormat = keyof typeof writers;

const formats = Object.keys(writers)
  .map((format) => `${format}=<file>`)
  .join(', ');

/** The destination of a report: a file, or annotations in the log. */
type ReportTarget = { readonly format: FileFormat; readonly path: string } | { readonly format: 'github' };

/**
 * Reads the values of `--report`: `<format>=<file>`, or `github`.
 *
 * @throws UsageError for anything else, and for two reports in one file.
 */
export function parseReports(values: readonly string[], cwd: string): ReportTarget[] {
  const targets = values.map((value) => parseReport(value, cwd));
  const paths = targets.flatMap((target) => ('path' in target ? [target.path] : []));
  const twice = paths.find((path, index) => paths.indexOf(path) !== index);
  if (twice) throw new UsageError(`--report: ${twice} is named twice`, 'give each report a file of its own');
  return targets;
}

/**
 * Makes the folders of the reports, before the checks run. A file that exists may be replaced if it is a report
 * of an earlier run, or empty.
 *
 * @throws UsageError for another file, unless `force`.
 */
export async function prepareTargets(targets: readonly ReportTarget[], force: boolean): Promise<void> {
  for (const target of targets) {
    if (!('path' in target)) continue;
    await ensureFolder(dirname(target.path));
    if (!force && !(await mayReplace(target.path)))
      throw new UsageError(
        `--report: ${target.path} exists and is not a report of an earlier run`,
        'name another file, or give --force to replace it',
      );
  }
}

/** Writes every report that goes to a file; a failure does not stop the others. @returns the errors. */
export async function writeReports(
  report: SmokeReport,
  targets: readonly ReportTarget[],
  summaryFile: string | undefined,
): Promise<Error[]> {
  const written = await Promise.allSettled(
    targets.map(async (target) => {
      if (target.format === 'github') return appendSummary(report, summaryFile);
      return write(target.path, await writers[target.format](report));
    }),
  );
  return written.flatMap((each) => (each.status === 'rejected' ? [each.reason as Error] : []));
}

function parseReport(value: string, cwd: string): ReportTarget {
  if (value === 'github') return { format: 'github' };
  const [, format, path] = /^(\w+)=(.+)$/s.exec(value) ?? [];
  if (!format || !Object.hasOwn(writers, format) || !path)
    throw new UsageError(`--report '${value}': must be github or one of ${formats}`);
  if (path === '-')
    throw new UsageError(`--report: ${value}: a report goes to a file`, 'for JSON on stdout use -o json');
  return { format: format as FileFormat, path: resolve(cwd, path) };
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

async function appendSummary(report: SmokeReport, file: string | undefined): Promise<void> {
  if (!file) return;
  await appendFile(file, toMarkdownReport(report)).catch((error) => {
    throw fileError('write', file, error);
  });
}
