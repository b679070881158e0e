/** Builds the site with the packages of its own, which it installs at the first time. Arguments go to VitePress. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));
const vitepress = `${root}site/node_modules/vitepress/bin/vitepress.js`;
const run = (command, ...args) => {
  const { status } = spawnSync(command, args, { cwd: root, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
};

if (!existsSync(vitepress)) run(process.platform === 'win32' ? 'npm.cmd' : 'npm', 'ci', '--prefix', 'site');
run(process.execPath, vitepress, 'build', 'site', ...process.argv.slice(2));
