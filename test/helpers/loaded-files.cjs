// Preloaded into a run of the program: writes the files, the chunks of its packs and the modules of Node that it loaded to
// the file that LOADED_FILES names.
const before = new Set(process.moduleLoadList);

process.on('exit', () => {
  const files = Object.keys(require.cache);
  const main = files.find((file) => file.endsWith('main.js'));
  const chunks = main ? [...require(main).modules.keys()] : [];
  const builtIn = process.moduleLoadList
    .filter((module) => !before.has(module))
    .map((module) => module.replace(/^NativeModule /, 'node:'));
  require('node:fs').writeFileSync(process.env.LOADED_FILES, [...files, ...chunks, ...builtIn].join('\n'));
});
