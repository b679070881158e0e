import type { Words } from './words.ts';

export const zh: Words = {
  title: '到底归谁？',
  lead: '许多人在同一瞬间点击。同样的抢购看两遍：一遍不加锁，一遍加锁。',
  scenes: '场景',
  scene: {
    orders: { name: '司机抢单', words: '18 名司机，3 个订单，每个订单只能归一名司机。' },
    sale: { name: '秒杀', words: '15 名买家，6 件商品，一件也不能卖两次。' },
    paused: { name: '迟到的写入', words: '持有锁的进程被暂停，醒来时已经太晚。' },
  },
  strategies: '右边怎样轮流',
  strategy: {
    orders: {
      none: { name: '不加锁', words: '读、核价、写，没有人轮流。' },
      url: { name: '每个订单一把锁', words: '一人进入，其余排队休眠；离开的人唤醒下一位。' },
      'url-spin': { name: '同样的锁，靠轮询', words: '没有人被唤醒，等待者反复询问。结果正确，只是更慢。' },
      'in-process': { name: '每个进程各一把锁', words: '普通的互斥锁，别的进程看不见它。' },
    },
    sale: {
      none: { name: '不加锁', words: '读库存、收款、写库存。' },
      'segments-3': { name: '库存分段', words: '三个货架各有一把锁，三个人可以同时付款。' },
      'one-lock': { name: '只用一把锁', words: '一次一位买家。结果正确，但所有人排一条队。' },
      'reserve-3': { name: '先预留，再付款', words: '一步就预留一件，付款时不用占着锁。' },
      'in-process': { name: '每个进程各一把锁', words: '普通的互斥锁，别的进程看不见它。' },
    },
    paused: {
      none: { name: '有锁，但不检查令牌', words: '这一行接受任何写入。' },
      token: { name: '隔离令牌', words: '每次授予锁，号码都更大；这一行拒绝更小的号码。' },
    },
  },
  unsafe: '会出错：',
  engine: (scheme) => (scheme === 'file' ? '锁放在本机的一个文件里。' : `锁放在 ${scheme} 上。`),
  again: '再来一次',
  tenMore: '再来十轮',
  running: '各进程正在运行……',
  failed: (message) => `这一轮失败了：${message}`,
  without: { orders: '不加锁', sale: '不加锁', paused: '有锁，没有令牌' },
  with: '使用',
  right: '正确',
  wrong: '出错',

  order: (thing) => `订单 ${thing}`,
  free: '空闲',
  segment: (thing) => `货架 ${thing + 1}`,
  shelf: '一个货架',
  process: (process) => `进程 ${process + 1}`,
  who: (scene, number) => (scene === 'sale' ? `买家 ${number}` : `司机 ${number}`),
  read: (scene, count, left) =>
    scene === 'sale' ? `${count} 人读到：剩 ${left} 件` : `${count} 人读到：${left > 0 ? '空闲' : '已被抢'}`,
  token: (token) => `令牌 ${token}`,
  line: '队列',
  doing: {
    home: '还没点击',
    waiting: '正在排队',
    inside: '正在处理',
    paused: '进程被暂停',
    won: '得到了',
    wrong: '被错误地告知成功',
    refused: '写入被拒绝',
    lost: '被告知没有抢到',
  },

  play: '播放',
  pause: '暂停',
  back: '后退一步',
  forward: '前进一步',
  time: '时间',
  clock: (ms, of) => `${ms.toFixed(0)} / ${of.toFixed(0)} 毫秒`,
  speed: '速度',
  slower: (factor) => (factor === 1 ? '实际速度' : `慢 ${factor} 倍`),

  holds: (token) => `持有锁，令牌 ${token}`,
  stopped: (token) => `令牌 ${token}，被暂停`,
  lease: '租约',
  leaseOver: '租约已到期',
  newest: (token) => `最新令牌：${token}`,
  refusedToken: (token) => `令牌 ${token} 被拒绝`,
  overwritten: '被覆盖了',

  sentence(scene, strategy, { things, people, given, wrong, fewest, most, units, refused, ms, right }) {
    if (scene === 'paused') {
      return right && refused > 0
        ? '司机 1 醒得太晚，它的写入带着旧令牌，被这一行拒绝：订单仍归司机 2。'
        : '司机 1 醒得太晚，覆盖了司机 2 的写入。两人都被告知成功，其中一人白跑一趟。';
    }
    if (scene === 'sale') {
      if (wrong > 0) return `${given} 名买家为 ${units} 件商品付了款：其中 ${wrong} 人什么也拿不到。`;
      if (!right) return `${units} 件中有 ${units - given} 件没有卖出。`;
      return `${units} 件商品，${given} 名买家，一件不多。其余 ${people - given} 人被告知“已售罄”。共用 ${ms.toFixed(0)} 毫秒。`;
    }
    const each = fewest === most ? `${most}` : `${fewest} 到 ${most}`;
    if (strategy === 'in-process' && wrong > 0) {
      return `${things} 个订单各归了 ${each} 名司机：每个进程一名，因为进程之间看不见彼此的锁。`;
    }
    if (wrong > 0) return `${things} 个订单各归了 ${each} 名司机，其中 ${wrong} 人白跑一趟。`;
    if (!right) return '有一个订单没有归任何人。';
    return `${things} 个订单各有一名司机。其余 ${people - given} 人依次等到自己，读到“已被抢”，并得到了答复。`;
  },
  happening(scene, { what, thing, token, left, won, ttl }, number) {
    const who = scene === 'sale' ? `买家 ${number} ` : `司机 ${number} `;
    const where = scene === 'sale' ? `货架 ${(thing ?? 0) + 1}` : `订单 ${thing}`;
    switch (what) {
      case 'taps':
        return scene === 'sale' ? `${who}点击。` : `${who}点击${where}。`;
      case 'waits':
        return `${who}在${where} 的队列里等待。`;
      case 'enters':
        if (token === undefined) return `${where} 的一件商品为${who}预留。`;
        return `${who}得到${where} 的锁，令牌 ${token}${ttl ? `，为期 ${ttl} 毫秒` : ''}。`;
      case 'reads':
        if (scene === 'sale') return `${who}读到：剩 ${left} 件。`;
        return `${who}读到：${where} ${left ? '空闲' : '已被抢'}。`;
      case 'pauses':
        return `${who}看过租约，一切正常；随后它的进程被暂停。`;
      case 'wakes':
        return `${who}醒来，不知道时间已经过去。`;
      case 'writes':
        return scene === 'sale' ? `${who}为${where} 的一件商品付了款。` : `${who}写入：${where} 是我的。`;
      case 'refused':
        return `${who}带着令牌 ${token} 写入；这一行见过更新的令牌，拒绝了它。`;
      case 'told':
        if (won) return `${who}被告知：归你了。`;
        return `${who}被告知：${scene === 'sale' ? '已售罄' : '已被抢'}。`;
    }
  },
  tally: '各轮结果',
  rounds: (rounds, wrong) => `${rounds} 轮中 ${wrong} 轮出错`,
  log: '各进程的记录',
  real: (processes) =>
    `没有任何表演：${processes} 个 Node 进程、真实的表、真实的锁引擎。页面只是放慢重放它们记下的事情。`,
  legend: '绿色：归他们了。红色：被告知成功，却什么也没有。灰色：被告知没有抢到。',
};
