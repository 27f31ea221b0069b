// Preloaded into a run of the program: writes the files and the modules of Node that it loaded to the file that LOADED_FILES
// names.
const before = new Set(process.moduleLoadList);

process.on('exit', () => {
  const builtIn = process.moduleLoadList
    .filter((module) => !before.has(module))
    .map((module) => module.replace(/^NativeModule /, 'node:'));
  require('node:fs').writeFileSync(
    process.env.LOADED_FILES,
    [...Object.keys(require.cache), ...builtIn].join('\n'),
  );
});
