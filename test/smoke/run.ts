import { type RunOptions, runCli } from '../helpers/run-cli.ts';

/** The JSON report: the fields that tests look at. */
interface Report {
  readonly exitCode: number;
  readonly runs: number;
  readonly totals: Readonly<Record<string, number>>;
  readonly checks: readonly Check[];
}

interface Check {
  readonly id: string;
  readonly result: string;
  readonly reason: string;
  readonly expected?: string;
  readonly got?: string;
  readonly pointer?: string;
  readonly status?: number;
  readonly url?: string;
  readonly hint?: string;
  readonly first?: string;
  readonly requestId?: string;
  readonly cache?: string;
  readonly left?: readonly string[];
  readonly runs?: number;
  readonly failures?: number;
  readonly latency?: Readonly<Record<string, number>>;
}

interface SmokeRun extends Report {
  readonly code: number;
  readonly stderr: string;
  /** Ids of the checks with a result. */
  ids(result: string): string[];
  check(id: string): Check;
}

/** Runs `petstore smoke` in this process against a URL and gives its JSON report. */
export async function smoke(
  baseUrl: string,
  flags: readonly string[] = [],
  options: RunOptions = {},
): Promise<SmokeRun> {
  const run = await runCli(['smoke', '--base-url', baseUrl, '-o', 'json', ...flags], options);
  if (run.stdout === '') throw new Error(`no report: ${run.stderr}`);
  const report = JSON.parse(run.stdout) as Report;
  return {
    ...report,
    code: run.code,
    stderr: run.stderr,
    ids: (result) => report.checks.filter((each) => each.result === result).map(({ id }) => id),
    check(id) {
      const found = report.checks.find((each) => each.id === id);
      if (!found) throw new Error(`no check ${id} in ${report.checks.map((each) => each.id).join(' ')}`);
      return found;
    },
  };
}
