/** A process as `holdfast torture` has it, but with the clients of node-redis: by itself it opens those of ioredis. */

import { work } from '../../products/torture/process/work.ts';
import { type Address, parseAddress } from '../../src/connect/url.ts';
import { createLocks } from '../../src/locks.ts';
import { clusterFleet, sentinelFleet } from '../backends/redis/clients.ts';
import { Fleet } from '../backends/redis/fleet.ts';

const ports = ({ hosts }: Address): { readonly port: number }[] => hosts.map(({ port }) => ({ port: port! }));
const FLEETS: Readonly<Record<string, (address: Address) => Fleet>> = {
  redis: (address) => new Fleet(ports(address)[0]!.port),
  'redis+sentinel': (address) => sentinelFleet({ sentinels: ports(address), name: address.path }),
  'redis+cluster': (address) => clusterFleet(ports(address)),
};

work(async ({ url, label }) => {
  const address = parseAddress(url);
  return createLocks(await FLEETS[address.scheme]!(address).backend('node-redis'), { label });
});
