// Preloaded into a run of the program: writes the files that it loaded to the file that LOADED_FILES names.
process.on('exit', () => {
  require('node:fs').writeFileSync(process.env.LOADED_FILES, Object.keys(require.cache).join('\n'));
});
