import { invalid } from '../../core/contract/errors.ts';
import type { EngineUrl } from '../engine.ts';
import { several } from '../several.ts';
import { redisUrl } from './redis.ts';

const SCHEMES: Readonly<Record<string, string>> = { 'redlock+redis': 'redis', 'redlock+rediss': 'rediss' };

/** Each host is a Redis, with the same user, password, database and prefix. */
export const redlockUrl: EngineUrl = {
  schemes: Object.keys(SCHEMES),
  example: 'redlock+redis://host1,host2,host3',
  params: redisUrl.params,
  async open(address) {
    const { hosts } = address;
    if (hosts.length < 3)
      throw invalid(`${address.scheme}: needs at least three independent servers, as in redlock+redis://h1,h2,h3`);
    const places = new Set(hosts.map(({ host, port = 6_379 }) => `${host}:${port}`));
    if (places.size < hosts.length) throw invalid(`${address.scheme}: names a server twice`);
    const scheme = SCHEMES[address.scheme]!;
    return several(hosts.map((host) => redisUrl.open({ ...address, scheme, hosts: [host] })));
  },
};
