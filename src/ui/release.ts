import { isLockError } from '../core/contract/errors.ts';
import type { Locks } from '../locks.ts';
import type { Verdict } from './guard.ts';
import type { ReleaseAnswer, ReleaseOrder } from './wire.ts';

/** The longest reason, in characters. */
const LONGEST_REASON = 500;

/** Reads what the page asks for, or says what is wrong with it. */
export function orderOf(body: string): ReleaseOrder | string {
  let order: Partial<ReleaseOrder> | null;
  try {
    order = JSON.parse(body);
  } catch {
    return 'the request is not JSON';
  }
  const { key, token, reason } = order ?? {};
  if (typeof key !== 'string' || key === '') return 'the key is missing';
  if (typeof token !== 'string' || !/^\d{1,40}$/.test(token)) return 'the token of the holder is missing';
  if (typeof reason !== 'string' || reason.trim() === '') return 'a reason is needed: it will be in the log';
  return { key, token, reason: reason.trim().slice(0, LONGEST_REASON).toWellFormed() };
}

/** Evicts the one holder that the page has shown. A later holder keeps the key. */
export async function release(locks: Locks, { key, token, reason }: ReleaseOrder): Promise<ReleaseAnswer> {
  try {
    return { evicted: (await locks.forceRelease(key, { reason, token: BigInt(token) })) > 0 };
  } catch (error) {
    if (isLockError(error)) return { error: error.message };
    throw error;
  }
}

const SENTENCES = {
  token: [
    'This page opens by its whole address',
    'Open the address that <code>holdfast ui</code> printed in its terminal. It ends in a random word, which is another one each time it is started.',
    '请使用完整的地址：<code>holdfast ui</code> 启动时在终端里打印的地址，末尾带有一个随机词；每次启动都不同。',
  ],
  host: [
    'This page is for this machine alone',
    'It answers to <code>127.0.0.1</code> and <code>localhost</code>, and to no other name. From another machine, use a tunnel: <code>ssh -L 8080:127.0.0.1:PORT host</code>, then open <code>http://127.0.0.1:8080/</code> with the rest of the address.',
    '本页只供本机使用：只接受 <code>127.0.0.1</code> 与 <code>localhost</code>。从其他机器访问请用 SSH 隧道。',
  ],
  site: [
    'Another site has asked for this',
    'Only the page itself may ask for what is behind it. Open the address that <code>holdfast ui</code> printed in its terminal.',
    '请求来自其他网站，已被拒绝。请直接打开 <code>holdfast ui</code> 在终端里打印的地址。',
  ],
  method: ['This is not how it is asked', 'There is nothing here for this kind of request.', '不支持这种请求。'],
} as const satisfies Record<(Verdict & { allowed: false })['why'], readonly [string, string, string]>;

/** A simple page that says why the request is refused, and what to do. It contains nothing of the request. */
export function refusalPage(why: (Verdict & { allowed: false })['why']): string {
  const [title, english, chinese] = SENTENCES[why];
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark"><title>holdfast: ${title}</title>
<h1>${title}</h1><p>${english}</p><p lang="zh-Hans">${chinese}</p></html>
`;
}
