import { appendFile, readFile, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { UsageError } from '../../process/errors.ts';
import { isJsonObject, parseJson } from '../../process/exact-json.ts';
import { ensureFolder, writeFileAtomic } from '../../process/files.ts';
import { fileError } from '../../process/system-error.ts';
import { toJsonReport, toJunitReport, toolName, toStepSummary } from './machine-reports.ts';
import type { SmokeReport } from './smoke-report.ts';

/** How a report of each format is made, and how one is recognised in a file. */
const formats = {
  junit: { print: toJunitReport, isReport: isJunitReport },
  json: { print: (report: SmokeReport) => toJsonReport(report, 2), isReport: isJsonReport },
} as const;

interface FileReport {
  readonly format: keyof typeof formats;
  readonly path: string;
}

/** The reports that `--report` asks for, beside the one for people. */
export interface Reports {
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
  const duplicate = paths.find((path, index) => paths.indexOf(path) !== index);
  if (duplicate)
    throw new UsageError(`--report: ${duplicate} is named twice`, 'give each report a file of its own');
  return { files, github: values.includes('github') };
}

function parseFile(value: string, cwd: string): FileReport {
  const [, format = '', path = ''] = /^(\w+)=(.+)$/s.exec(value) ?? [];
  if (!Object.hasOwn(formats, format)) {
    const choices = Object.keys(formats).map((name) => `${name}=<file>`);
    throw new UsageError(`--report '${value}': must be github or one of ${choices.join(', ')}`);
  }
  if (path === '-')
    throw new UsageError(`--report: ${value}: a report goes to a file`, 'for JSON on stdout use -o json');
  return { format: format as FileReport['format'], path: resolve(cwd, path) };
}

/**
 * Makes the folders of the reports, before the checks run. A file that exists may be replaced if it is empty or parses
 * as a report of that kind.
 *
 * @throws UsageError for another file, unless `force`.
 */
export async function prepareReports({ files }: Reports, force: boolean): Promise<void> {
  for (const file of files) {
    await ensureFolder(dirname(file.path));
    if (!force && !(await mayReplace(file)))
      throw new UsageError(
        `--report: ${file.path} exists and is not a ${file.format} report`,
        'name another file, or give --force to replace it',
        'file_exists',
      );
  }
}

/** Writes every report that goes to a file. An error does not stop the others. @returns the errors. */
export async function writeReports(report: SmokeReport, { files }: Reports): Promise<Error[]> {
  const outcomes = await Promise.allSettled(
    files.map(({ format, path }) => writeFileAtomic(path, formats[format].print(report), 0o644)),
  );
  return outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as Error] : []));
}

/** Adds the report to GitHub's step summary. @throws CliError if it cannot be written. */
export async function addStepSummary(report: SmokeReport, path: string): Promise<void> {
  await appendFile(path, toStepSummary(report)).catch((error) => {
    throw fileError('write', path, error);
  });
}

/** A larger file is not a report. */
const maxBytes = 64 * 1024 * 1024;

async function mayReplace({ format, path }: FileReport): Promise<boolean> {
  const status = await stat(path).catch(() => undefined);
  if (!status?.isFile() || status.size === 0) return true;
  if (status.size > maxBytes) return false;
  const text = await readFile(path, 'utf8').catch((error) => {
    throw fileError('read', path, error);
  });
  return formats[format].isReport(text);
}

function isJsonReport(text: string): boolean {
  try {
    const document = parseJson(text);
    if (!isJsonObject(document) || document.tool !== toolName) return false;
    return isJsonObject(document.totals) && Array.isArray(document.checks);
  } catch {
    return false;
  }
}

/** Whether a text is a JUnit report of any tool: its root elements say so. */
function isJunitReport(text: string): boolean {
  return /^\s*(<\?xml[^>]*\?>\s*)?<testsuites?[\s>]/.test(text) && /<\/testsuites?>\s*$/.test(text);
}
