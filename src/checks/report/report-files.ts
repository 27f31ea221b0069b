import { appendFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { UsageError } from '../../process/errors.ts';
import { ensureFolder, writeFileAtomic } from '../../process/files.ts';
import { fileError } from '../../process/system-error.ts';
import { toJsonReport, toJunitReport, toStepSummary } from './machine-reports.ts';
import type { SmokeReport } from './smoke-report.ts';

/** How to print a report into a file, by its format. */
const formats = {
  junit: toJunitReport,
  json: (report: SmokeReport) => toJsonReport(report, 2),
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

/** Makes the folders of the reports, before the checks run. @throws CliError if a folder cannot be made. */
export async function prepareReports({ files }: Reports): Promise<void> {
  for (const { path } of files) await ensureFolder(dirname(path));
}

/**
 * Writes the reports into their files. An error does not keep the next report from its file.
 *
 * @param summaryPath the step summary of GitHub, to which the report is appended; undefined if there is none.
 * @returns the errors.
 */
export async function writeReports(
  report: SmokeReport,
  { files, github }: Reports,
  summaryPath: string | undefined,
): Promise<Error[]> {
  const writes = files.map(({ format, path }) => writeFileAtomic(path, formats[format](report), 0o644));
  if (github && summaryPath)
    writes.push(
      appendFile(summaryPath, toStepSummary(report)).catch((error) => {
        throw fileError('write', summaryPath, error);
      }),
    );
  const settlements = await Promise.allSettled(writes);
  return settlements.flatMap((settlement) =>
    settlement.status === 'rejected' ? [settlement.reason as Error] : [],
  );
}
