import { resolve } from 'node:path';

/**
 * What conf imports for options that this program does not use. These take half of its time to load:
 * - ajv, ajv-formats: `schema`. semver: `migrations`. debounce-fn: `watch`. node:crypto: `encryptionKey`. env-paths: no `cwd`.
 * - node:assert: whether `defaults` differ from the file.
 * - node:process: SNAP, with which conf does not replace the file but overwrites it.
 */
const unused = {
  'ajv/dist/2020.js': '{}',
  'ajv-formats': '{}',
  semver: '{}',
  'debounce-fn': '{}',
  'env-paths': '{}',
  'node:crypto': '{}',
  'node:assert': '{ deepEqual() {} }',
  'node:process': '{ env: {}, platform: process.platform }',
};

/**
 * What takes the place of atomically. On a full disk atomically replaces the file with a part of the new text, and says
 * nothing. It also brings when-exit, which sends every signal to this process a second time.
 */
export const writer = resolve('src/process/files.ts');

/** Bundles conf without what this program does not use. */
export const leanConf = {
  name: 'lean conf',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^[a-z]/ }, ({ path, importer }) => {
      if (!/node_modules[\\/]conf[\\/]/.test(importer)) return undefined;
      if (path === 'atomically') return { path: writer };
      return path in unused ? { path, namespace: 'unused' } : undefined;
    });
    onLoad({ filter: /.*/, namespace: 'unused' }, ({ path }) => ({
      contents: `module.exports = ${unused[path]};`,
    }));
  },
};
