import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createApp } from '../../src/server/app.ts';
import { seedStore } from '../../src/server/seed.ts';
import { listen, type RunningServer } from '../../src/server/server.ts';
import { withDocuments } from '../../src/server/wrappers.ts';
import { cliPath, nodeBinary } from './spawn-cli.ts';
import { temporaryFolder } from './temporary-folder.ts';
import { plainText } from './terminal.ts';

/** Bash in a folder of its own, where `petstore` is on the path, and a deployment of the service. */
interface Shell extends AsyncDisposable {
  readonly folder: string;
  /** The address of the deployment, which runs `commit`. */
  readonly url: string;
  write(name: string, text: string): void;
  /** Runs a command line in bash. `output` has stdout and stderr. */
  run(line: string, options?: RunOptions): Promise<{ readonly code: number | null; readonly output: string }>;
}

interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Whether to run it in a terminal of 100 columns instead of a pipe. */
  readonly isTerminal?: boolean;
}

export const commit = '4f2a9c1';

export async function openShell(): Promise<Shell> {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'bin'));
  writeFileSync(join(folder, 'bin/petstore'), `#!/bin/sh\nexec '${nodeBinary}' '${cliPath}' "$@"\n`, {
    mode: 0o755,
  });
  const deployment = await deploy();
  const shell: Shell = {
    folder,
    url: deployment.url,
    write: (name, text) => writeFileSync(join(folder, name), text),
    async run(line, { env = {}, isTerminal = false } = {}) {
      const words = isTerminal
        ? ['script', '-qefc', `stty cols 100 rows 50; ${line}`, '/dev/null']
        : ['bash', '-c', line];
      const child = spawn(words[0] ?? '', words.slice(1), {
        cwd: folder,
        env: {
          PATH: `${folder}/bin:${process.env.PATH}`,
          HOME: folder,
          SHELL: '/bin/bash',
          TERM: 'xterm',
          NO_COLOR: '1',
          PETSTORE_CONFIG_DIR: join(folder, 'config'),
          PETSTORE_STATE_DIR: join(folder, 'state'),
          ...env,
        },
      });
      child.stdin.end();
      let output = '';
      for (const stream of [child.stdout, child.stderr])
        stream.setEncoding('utf8').on('data', (text: string) => {
          output += text;
        });
      const [code] = (await once(child, 'close')) as [number | null];
      return { code, output: plainText(withoutErasedLines(output)) };
    },
    [Symbol.asyncDispose]: () => deployment.close(),
  };
  return shell;
}

/** Removes erased lines: how often a live line is drawn and erased depends on the load of the machine. */
function withoutErasedLines(output: string): string {
  return output.replaceAll(/[^\n]*\r\x1b\[K/g, '');
}

/** Starts the local server as a deployment that says its commit: in a header, and at /version. */
async function deploy(): Promise<RunningServer> {
  const store = seedStore();
  // The open orders of the seed become overdue some day. These never do.
  for (const { id, record } of store.orders.all)
    if (!record.complete) store.orders.put(id, { ...record, shipDate: '2099-12-01T09:00:00Z' });
  const app = withDocuments(createApp(() => store));
  return listen(
    async (request) => {
      if (request.url.endsWith('/version'))
        return {
          status: 200,
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ commit }),
        };
      const response = await app(request);
      return { ...response, headers: { ...response.headers, 'x-commit': commit } };
    },
    { host: '127.0.0.1', port: 0 },
  );
}
