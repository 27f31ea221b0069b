import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';

/** What packages import for features that this program does not use, and what they get instead. It takes long to load. */
const unused = {
  // For subcommands that are other programs.
  commander: { 'node:child_process': '{}' },
  /**
   * - ajv, ajv-formats: `schema`. semver: `migrations`. debounce-fn: `watch`. env-paths: no `cwd`.
   * - node:crypto, uint8array-extras: `encryptionKey`. node:assert: whether `defaults` differ from the file.
   * - node:process: SNAP, with which conf does not replace the file but overwrites it.
   */
  conf: {
    'ajv/dist/2020.js': '{}',
    'ajv-formats': '{}',
    semver: '{}',
    'debounce-fn': '{}',
    'env-paths': '{}',
    'node:crypto': '{}',
    'uint8array-extras': '{}',
    'node:assert': '{ deepEqual() {} }',
    'node:process': '{ env: {}, platform: process.platform }',
  },
  // For HTTP/2.
  undici: { 'node:http2': '{ constants: {} }' },
};

/**
 * What takes the place of atomically. On a full disk atomically replaces the file with a part of the new text, and says
 * nothing. It also brings when-exit, which sends every signal to this process a second time.
 */
export const writer = resolve('src/process/files.ts');

/** Bundles packages without what this program does not use. */
export const leanPackages = {
  name: 'lean packages',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^[a-z]/ }, ({ path, importer }) => {
      const [, name] = /node_modules[\\/]([^\\/]+)/.exec(importer) ?? [];
      if (name === 'conf' && path === 'atomically') return { path: writer };
      const value = unused[name]?.[path];
      return value && { path: `${name}/${path}`, namespace: 'unused', pluginData: value };
    });
    // For a default import of a module of Node esbuild copies all its properties at each start.
    onLoad({ filter: /[\\/]conf[\\/]dist[\\/]source[\\/]index\.js$/ }, async ({ path }) => ({
      contents: (await readFile(path, 'utf8')).replace(
        /^import (\w+) from ('node:\w+');/gm,
        'const $1 = require($2);',
      ),
    }));
    onLoad({ filter: /.*/, namespace: 'unused' }, ({ pluginData }) => ({
      contents: `module.exports = ${pluginData};`,
    }));
  },
};
