// The prompts in use. The whole package would also bring its editor prompt, with many encodings.
export { confirm, input, select } from '@inquirer/prompts';
