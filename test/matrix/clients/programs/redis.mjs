import { readFileSync } from 'node:fs';
import { redis } from 'holdfast/redis';

/** @param cell url (or urls of a Cluster, or those of sentinels and the name), ca, options of the client */
export async function open(cell) {
  const ca = cell.ca && readFileSync(cell.ca);
  const connect = OPENERS[cell.client] ?? OPENERS[cell.client.split('-')[0]];
  return {
    async backend(prefix) {
      const { client, end } = await connect(cell, ca);
      return { backend: redis(client, { prefix }), end };
    },
  };
}

const address = (url) => ({ host: new URL(url).hostname, port: Number(new URL(url).port) });

async function ioredis({ client: name, url, urls, sentinels, group, options = {} }, ca) {
  const { Redis, Cluster } = await import(name);
  if (urls) {
    const client = new Cluster(urls.map(address), { redisOptions: { socketTimeout: 1_500 }, ...options });
    await new Promise((resolve) => client.once('ready', resolve));
    return { client, end: () => client.disconnect() };
  }
  const server = sentinels ? { sentinels: sentinels.map(address), name: group } : address(url);
  const client = new Redis({ ...server, ...(ca && { tls: { ca } }), ...options });
  client.on('error', () => {});
  if (options.enableOfflineQueue === false) await new Promise((resolve) => client.once('ready', resolve));
  return { client, end: () => client.disconnect() };
}

async function nodeRedis({ client: name, url, urls, sentinels, group, options = {} }, ca) {
  const { createClient, createCluster, createSentinel } = await import(name);
  const client = urls
    ? createCluster({ rootNodes: urls.map((url) => ({ url })), ...options })
    : sentinels
      ? createSentinel({ name: group, sentinelRootNodes: sentinels.map(address), ...options })
      : createClient({ url, ...(ca && { socket: { tls: true, ca } }), ...options });
  client.on('error', () => {});
  await client.connect();
  return { client, end: () => (client.isOpen ? client.destroy() : undefined) };
}

async function glide({ url, urls, options = {} }, ca) {
  const { GlideClient, GlideClusterClient } = await import('@valkey/valkey-glide');
  const settings = {
    addresses: (urls ?? [url]).map(address),
    ...(ca && { useTLS: true, advancedConfiguration: { tlsAdvancedConfiguration: { rootCertificates: ca } } }),
    ...options,
  };
  const client = await (urls ? GlideClusterClient : GlideClient).createClient(settings);
  return { client, end: () => client.close() };
}

async function bun({ url, options = {} }, ca) {
  const client = new Bun.RedisClient(url, { ...(ca && { tls: { ca } }), ...options });
  await client.connect();
  return { client, end: () => client.close() };
}

const OPENERS = { ioredis, iovalkey: ioredis, redis: nodeRedis, '@valkey/valkey-glide': glide, 'Bun.redis': bun };
