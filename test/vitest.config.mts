import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { writer } from '../.ci/lean-packages.mjs';

// The program's own settings of the shell that runs the tests reach no test.
for (const name of Object.keys(process.env)) if (/^PETSTORE_(?!TEST_)/.test(name)) delete process.env[name];

/** Begins with the simulator, which takes the longest and would be alone at the end. */
class SimulatorFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]) {
    const sorted = await super.sort(files);
    const simulator = sorted.filter(({ moduleId }) => moduleId.endsWith('/simulator.test.ts'));
    return [...new Set([...simulator, ...sorted])];
  }
}

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: 'test/helpers/global-setup.ts',
    setupFiles: 'test/helpers/short-delays.ts',
    sequence: { sequencer: SimulatorFirst },
    // What tests depend on, whatever the shell has that runs them.
    env: {
      TZ: 'UTC',
      LANG: 'C.UTF-8',
      LC_ALL: '',
      TERM: 'xterm-256color',
      CI: '',
      HTTP_PROXY: '',
      HTTPS_PROXY: '',
      ALL_PROXY: '',
      NO_PROXY: '',
    },
    // conf writes with the same function as in the build.
    alias: { atomically: writer },
    server: { deps: { inline: ['conf'] } },
    // Files share a process and its modules, which halves the time of all. So no file may leave anything behind.
    isolate: false,
    // Most tests wait for a process or a timer: more of them than there are processors go on beside each other.
    maxWorkers: 3,
    // The tests take a tenth less processor time.
    execArgv: ['--max-semi-space-size=64'],
    // These limits only end what hangs: real processes take their time on a busy machine.
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
