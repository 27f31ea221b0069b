/** The text of a file; the build puts it into the bundle. */
declare module '*?raw' {
  const text: string;
  // biome-ignore lint/style/noDefaultExport: what `?raw` gives, in Vite too.
  export default text;
}

declare namespace NodeJS {
  interface Process {
    /** Node 22.15 and later has it, but not on Windows. */
    execve?(file: string, args: readonly string[], env: Readonly<Record<string, string>>): never;
  }
}
