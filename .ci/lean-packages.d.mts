import type { Plugin } from 'esbuild';

export declare const writer: string;
export declare const leanPackages: Plugin;
