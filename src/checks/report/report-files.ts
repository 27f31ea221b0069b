import { access, appendFile, constants, readFile, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { UsageError } from '../../process/errors.ts';
import { isJsonObject, parseJson } from '../../process/exact-json.ts';
import { ensureFolder, writeFileAtomic } from '../../process/files.ts';
import { fileError } from '../../process/system-error.ts';
import { toJsonReport, toJunitReport, toolName, toStepSummary } from './machine-reports.ts';
import type { SmokeReport } from './smoke-report.ts';

/** How to print a report in each format, and how to recognise a report in a file. */
const formats = {
  junit: { print: toJunitReport, isReport: isJunitReport },
  json: { print: (report: SmokeReport) => toJsonReport(report, 2), isReport: isJsonReport },
} as const;

const endings = { junit: 'xml', json: 'json' } as const;

interface FileReport {
  readonly format: keyof typeof formats;
  readonly path: string;
}

/** The reports that `--report` asks for, besides the report for people. */
export interface Reports {
  readonly files: readonly FileReport[];
  /** Whether to print annotations for GitHub's log, and a step summary. */
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
 * Makes the folders of the reports, before the checks run. A report may replace a file that is empty or a report of the
 * same format.
 *
 * @throws UsageError if a report is a folder, or would replace another file, unless `force`. CliError if a folder cannot be
 * made or written to.
 */
export async function prepareReports({ files }: Reports, force: boolean): Promise<void> {
  for (const file of files) {
    const folder = dirname(file.path);
    await ensureFolder(folder);
    const status = await stat(file.path).catch(() => undefined);
    if (status?.isDirectory())
      throw new UsageError(
        `--report: ${file.path} is a folder`,
        `name a file in it, such as --report ${file.format}=${join(file.path, `smoke.${endings[file.format]}`)}`,
      );
    if (!status || status.isFile()) await requireWritable(folder);
    if (!force && !(await mayReplace(file)))
      throw new UsageError(
        `--report: ${file.path} exists and is not a ${file.format} report`,
        'name another file, or give --force to replace it',
        'file_exists',
      );
  }
}

/** @throws CliError if no file can be made in a folder. */
async function requireWritable(folder: string): Promise<void> {
  await access(folder, constants.W_OK | constants.X_OK).catch((error) => {
    throw fileError('write', folder, error);
  });
}

/** Writes the reports into their files. An error does not keep the next report from its file. @returns the errors. */
export async function writeReports(report: SmokeReport, { files }: Reports): Promise<Error[]> {
  const settlements = await Promise.allSettled(
    files.map(({ format, path }) => writeFileAtomic(path, formats[format].print(report), 0o644)),
  );
  return settlements.flatMap((settlement) =>
    settlement.status === 'rejected' ? [settlement.reason as Error] : [],
  );
}

/** Appends the report to the step summary of GitHub. @throws CliError if the file cannot be written. */
export async function addStepSummary(report: SmokeReport, path: string): Promise<void> {
  await appendFile(path, toStepSummary(report)).catch((error) => {
    throw fileError('write', path, error);
  });
}

/** A file that is larger is not a report. */
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

/** Whether a text is a JUnit report of any tool, judged by its root element. */
function isJunitReport(text: string): boolean {
  return /^\s*(<\?xml[^>]*\?>\s*)?<testsuites?[\s>]/.test(text) && /<\/testsuites?>\s*$/.test(text);
}
