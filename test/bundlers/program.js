// A server in short: a lock on each engine that is named, the page of all locks, and a thread for renewal. Prints what came of each.
import { createServer } from 'node:http';
import { connect } from 'holdfast/connect';
import { uiHandler } from 'holdfast/ui';

const token = async (locks) => String(await locks.mutex('order').run((lease) => lease.held && lease.token));

async function page(locks) {
  const server = createServer(uiHandler(locks)).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const url = `http://127.0.0.1:${server.address().port}/`;
  const answers = await Promise.all([fetch(url), fetch(`${url}page.js`)]);
  const texts = await Promise.all(answers.map((answer) => answer.text()));
  server.close();
  server.closeAllConnections();
  return texts[0].includes('<div id="page">') && texts[1].length > 10_000;
}

async function thread(url) {
  try {
    const locks = await connect(url, { renewal: 'worker' });
    const held = await locks.mutex('thread').run((lease) => lease.held);
    await locks.close();
    return held ? 'held' : 'lost';
  } catch ({ code, message }) {
    return `${code}: ${message}`;
  }
}

async function main() {
  const [redis, file] = process.argv.slice(2);
  const told = {};
  for (const [name, url] of Object.entries({ memory: 'memory:', file, redis })) {
    const locks = await connect(url);
    told[name] = BigInt(await token(locks)) > 0n;
    if (name === 'memory') told.page = await page(locks);
    await locks.close();
  }
  told.absent = await connect('postgres://127.0.0.1:1/none').catch(({ message }) => message);
  told.thread = await thread(redis);
  console.log(JSON.stringify(told));
}

main();
