import { expect, test } from 'vitest';
import { createStock, type StockErrorCode, type StockStore } from '../../products/stock/index.ts';

const refused = (code: StockErrorCode) => expect.objectContaining({ code });

/** The store as a process sees it that stands still before the first call of which `when` is true, until it goes on or dies. */
export function stopping(store: StockStore, when: (call: keyof StockStore, op?: string) => boolean) {
  const reached = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  let passed = false;
  const guarded =
    <A extends readonly unknown[], T>(call: keyof StockStore, act: (...args: A) => Promise<T>) =>
    async (...args: A): Promise<T> => {
      const op = call === 'step' ? (args[2] as readonly { readonly op: string }[])[0]!.op : undefined;
      if (!passed && when(call, op)) {
        passed = true;
        reached.resolve();
        await gate.promise;
      }
      return act(...args);
    };
  const slow: StockStore = {
    ...store,
    layout: guarded('layout', store.layout),
    relayout: guarded('relayout', store.relayout),
    step: guarded('step', store.step),
    clear: guarded('clear', store.clear),
  };
  return { slow, reached: reached.promise, go: () => gate.resolve(), die: () => gate.reject(new Error('it died')) };
}

/** Laws of a product that is removed and made anew under its name, for any store. */
export function madeAnew(storeOf: () => StockStore): void {
  let last = 0;
  const fresh = () => `anew ${++last}`;

  /** Sells all there is; how many that was. */
  async function soldOut(store: StockStore, name: string): Promise<number> {
    const product = await createStock(store).open(name);
    for (let sold = 0; ; sold++) {
      try {
        await product.take();
      } catch (error) {
        expect(error).toEqual(refused('STOCK_SOLD_OUT'));
        expect(await product.audit()).toMatchObject({ right: true, transit: 0, sold });
        return sold;
      }
    }
  }

  test('units on their way when a product is removed do not arrive in the one that is made anew under its name', async () => {
    const store = storeOf();
    const [stock, name] = [createStock(store), fresh()];
    await stock.create(name, { units: 10, segments: 1, reserve: 1 });
    const { slow, reached, go } = stopping(store, (_, op) => op === 'receive');
    const buyer = (await createStock(slow).open(name)).take();
    await reached;
    await stock.remove(name);
    await stock.create(name, { units: 10, segments: 1, reserve: 1 });
    go();
    await expect(buyer, 'of the product that was removed').rejects.toThrow(refused('STOCK_UNKNOWN'));
    expect(await soldOut(store, name), 'sold of 10').toBe(10);
  });

  test('who was still making the product before puts nothing in, and takes nothing away from the new one', async () => {
    const store = storeOf();
    const [stock, name] = [createStock(store), fresh()];
    const { slow, reached, go } = stopping(store, (_, op) => op === 'open');
    const maker = createStock(slow)
      .create(name, { units: 7, segments: 2, reserve: 1 })
      .catch((error: unknown) => error);
    await reached;
    await stock.open(name); // finishes it
    await stock.remove(name);
    go();
    expect(await maker).toEqual(refused('STOCK_UNKNOWN'));
    await stock.create(name, { units: 50, segments: 2, reserve: 1 });
    expect(await soldOut(store, name), 'sold of 50').toBe(50);
  });

  test('sold out for good is not said of the product that was made anew under the name', async () => {
    const store = storeOf();
    const [stock, name] = [createStock(store), fresh()];
    const before = await stock.create(name, { units: 0, segments: 2 });
    await before.closeRestocking();
    await expect(before.take()).rejects.toMatchObject({ code: 'STOCK_SOLD_OUT', final: true });
    await stock.remove(name);
    await expect(before.take(), 'removed').rejects.toThrow(refused('STOCK_UNKNOWN'));
    await stock.create(name, { units: 50, segments: 2 });
    for (const act of [() => before.take(), () => before.levels(), () => before.audit(), () => before.restock(1)]) {
      await expect(act(), 'of the product before').rejects.toThrow(refused('STOCK_UNKNOWN'));
    }
    expect(await soldOut(store, name)).toBe(50);
  });

  test('a ref of the product before settles nothing of the new one, whoever asks', async () => {
    const store = storeOf();
    const [stock, name] = [createStock(store), fresh()];
    const order = { buyer: 'a', request: 'r' };
    const old = await (await stock.create(name, { units: 2, segments: 1 })).reserve(order);
    await stock.remove(name);
    const product = await stock.create(name, { units: 2, segments: 1 });
    const kept = await product.reserve(order);
    expect(kept.repeated).toBe(false);
    await expect(product.cancel(old.ref)).rejects.toThrow(refused('STOCK_UNKNOWN'));
    await expect(product.confirm(old.ref)).rejects.toThrow(refused('STOCK_UNKNOWN'));
    await product.confirm(kept.ref);
    expect(await product.audit()).toMatchObject({ right: true, sold: 1, reserved: 0 });
  });

  test('a removal and a resize that were overtaken leave the product alone that was made since', async () => {
    const store = storeOf();
    const [stock, name] = [createStock(store), fresh()];
    await stock.create(name, { units: 5, segments: 3 });
    const remover = stopping(store, (call) => call === 'clear');
    const resizer = stopping(store, (call) => call === 'relayout');
    const resized = (await createStock(resizer.slow).open(name)).resize(2).catch((error: unknown) => error);
    await resizer.reached; // before the removal has begun, which a resize would see
    const removed = createStock(remover.slow).remove(name);
    await remover.reached;
    await stock.remove(name);
    const product = await stock.create(name, { units: 5, segments: 3 });
    await product.take();
    remover.go();
    resizer.go();
    await removed;
    expect(await resized).toEqual(refused('STOCK_UNKNOWN'));
    expect((await product.levels()).segments).toHaveLength(3);
    expect(await product.audit()).toMatchObject({ right: true, put: 5, sold: 1 });
  });

  test('a removal that broke off leaves a product that nobody can sell, and that can be removed', async () => {
    const store = storeOf();
    const [stock, name] = [createStock(store), fresh()];
    const product = await stock.create(name, { units: 5, segments: 3 });
    const { slow, reached, die } = stopping(store, (call) => call === 'clear');
    const broken = createStock(slow).remove(name);
    await reached;
    die();
    await expect(broken).rejects.toThrow('it died');
    await expect(stock.open(name)).rejects.toThrow(/being removed/);
    await expect(stock.create(name, { units: 1 })).rejects.toThrow(refused('STOCK_EXISTS'));
    await expect(product.resize(4)).rejects.toThrow(refused('STOCK_UNKNOWN'));
    await stock.remove(name);
    await expect(stock.remove(name)).rejects.toThrow(refused('STOCK_UNKNOWN'));
    await stock.create(name, { units: 1 });
    expect(await soldOut(store, name)).toBe(1);
  });
}
