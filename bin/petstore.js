#!/usr/bin/env node
if (!process.version.startsWith('v20.')) require('node:module').enableCompileCache();
require('../dist/main.js');
