export const shells = ['bash', 'zsh', 'fish', 'powershell'] as const;
export type Shell = (typeof shells)[number];

/** What each shell's script is called in `completions/`; `_petstore` is the name that zsh looks for. */
export const scriptNames: Readonly<Record<Shell, string>> = {
  bash: 'petstore.bash',
  zsh: '_petstore',
  fish: 'petstore.fish',
  powershell: 'petstore.ps1',
};
