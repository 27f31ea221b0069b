import { access, appendFile, constants, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { UsageError } from '../../process/errors.ts';
import { ensureFolder, writeFileAtomic } from '../../process/files.ts';
import { fileError } from '../../process/system-error.ts';
import { toJsonReport, toJunitReport, toStepSummary } from './machine-reports.ts';
import type { SmokeReport } from './smoke-report.ts';

/** The formats of reports in files: how to print one, and how its file is usually named. */
const formats = {
  junit: { print: toJunitReport, fileName: 'smoke.xml' },
  json: { print: (report: SmokeReport) => toJsonReport(report, 2), fileName: 'smoke.json' },
} as const;

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
 * Makes the folders of the reports, before the checks run.
 *
 * @throws UsageError if a report is a folder. CliError if a folder cannot be made or written to.
 */
export async function prepareReports({ files }: Reports): Promise<void> {
  for (const { format, path } of files) {
    const folder = dirname(path);
    await ensureFolder(folder);
    const status = await stat(path).catch(() => undefined);
    if (status?.isDirectory())
      throw new UsageError(
        `--report: ${path} is a folder`,
        `name a file in it, such as --report ${format}=${join(path, formats[format].fileName)}`,
      );
    if (!status || status.isFile()) await requireWritable(folder);
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
