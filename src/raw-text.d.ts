/** The text of a file; the build puts it into the bundle. */
declare module '*?raw' {
  const text: string;
  // biome-ignore lint/style/noDefaultExport: what `?raw` gives, in Vite too.
  export default text;
}
