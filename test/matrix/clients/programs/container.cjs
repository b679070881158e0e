// What a process manager puts before an application: https://pm2.keymetrics.io/docs/usage/cluster-mode/
const { pathToFileURL } = require('node:url');

import(pathToFileURL(process.env.pm_exec_path).href);
