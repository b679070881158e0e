import { askRedis } from '../kit/redis.ts';
import { ALL_SITES, type Site, type SitePlan } from '../kit/sites.ts';

export type Opened = Pick<Site, 'url' | keyof AsyncDisposable>;

/** A server at an address that can have a password. */
export interface Address extends SitePlan {
  readonly name: string;
  /** Nobody listens there. */
  readonly dead: string;
}

export const ADDRESSES: readonly Address[] = Object.entries(ALL_SITES).flatMap(([name, site]) =>
  site.dead === undefined ? [] : [{ ...site, name, dead: site.dead }],
);

/** `url` with this password, which is wrong. */
export const refused = (url: string, password: string): string =>
  url.replace(/\/\/(?:[^@]*@)?/, `//nobody:${encodeURIComponent(password)}@`);

/** `url` with one more parameter. */
export const plus = (url: string, param: string): string => `${url}${url.includes('?') ? '&' : '?'}${param}`;

/** How many clients a Redis has, this question not counted. */
export async function clientsOf(port: number): Promise<number> {
  const list = await askRedis(port, 'CLIENT LIST');
  return list.split('\n').filter((line) => line.startsWith('id=')).length - 1;
}
