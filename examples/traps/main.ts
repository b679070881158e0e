/** `npm run example:trap -- robbed`: the mistake and its remedy, on a Redis of its own. Without a name: what there is. */
import { traps } from './index.ts';
import { Scene } from './scene.ts';

const name = process.argv[2] ?? '';
const trap = Object.hasOwn(traps, name) ? traps[name] : undefined;

if (trap) {
  console.log(trap.title);
  for (const way of ['naive', 'holdfast'] as const) {
    await using scene = await Scene.start();
    const { right, seen } = await trap[way](scene);
    console.log(`  ${way.padEnd(9)} ${right ? 'right' : 'WRONG'}  ${seen}`);
  }
} else {
  console.log('npm run example:trap -- <name>\n');
  for (const [known, { title }] of Object.entries(traps)) console.log(`  ${known.padEnd(17)} ${title}`);
  process.exitCode = name === '' ? 0 : 1;
}
