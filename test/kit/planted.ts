import { cpSync, existsSync, renameSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { memory } from '../../src/backends/memory.ts';
import type { quorum } from '../../src/backends/quorum/index.ts';
import type { register } from '../../src/backends/register/index.ts';
import type { createLocks } from '../../src/locks.ts';

/** A fault in the library: something takes the place of one function of it, which is named and not quoted. */
export interface Fault {
  /** The file of the module, below `src`. */
  readonly module: string;
  /** What is replaced: `deadlineOf` is exported by the module, `Hold.leave` is a method or a getter of a class that it exports. */
  readonly at: string;
  /** Makes what takes its place. */
  readonly planted: (real: never) => unknown;
}

/** A bug: its faults, and how a sentence about the broken library goes on. */
export interface PlantedBug {
  readonly bug: string;
  readonly faults: readonly Fault[];
}

type InstanceOf<Class> = Class extends { prototype: infer Instance } ? Instance : never;

/** A method, or a getter as a function. */
type Method<Instance, Name extends keyof Instance> = Instance[Name] extends (...args: infer Args) => infer Result
  ? (this: Instance, ...args: Args) => Result
  : (this: Instance) => Instance[Name];

/** Makes faults in one module. The compiler checks their names: a function with a better name takes its faults along. */
interface FaultyModule<Module> {
  /** Replaces an exported function, class or constant for all other modules. Its own module goes on with the real one. */
  exported<Name extends keyof Module & string>(name: Name, planted: (real: Module[Name]) => Module[Name]): Fault;
  /** Replaces a method or a getter, in all instances and subclasses. */
  method<Class extends keyof Module & string, Name extends keyof InstanceOf<Module[Class]> & string>(
    className: Class,
    name: Name,
    planted: (real: Method<InstanceOf<Module[Class]>, Name>) => Method<InstanceOf<Module[Class]>, Name>,
  ): Fault;
  /** Replaces a static method. */
  static<Class extends keyof Module & string, Name extends Exclude<keyof Module[Class], 'prototype'> & string>(
    className: Class,
    name: Name,
    planted: (real: Module[Class][Name]) => Module[Class][Name],
  ): Fault;
}

/** @param module its file below `src`; the type parameter is the type of that module */
export function moduleOf<Module>(module: string): FaultyModule<Module> {
  return {
    exported: (name, planted) => ({ module, at: name, planted }),
    method: (className, name, planted) => ({ module, at: `${className}.${name}`, planted }),
    static: (className, name, planted) => ({ module, at: `${className}.${name}`, planted }),
  };
}

/** Gives what looks like `real` but for some properties. Its methods see the real thing. */
export function seenAs<T extends object>(real: T, different: Partial<T>): T {
  return new Proxy(real, {
    get(target, name) {
      if (Object.hasOwn(different, name)) return different[name as keyof T];
      const value = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

/** Tells whether code runs in the first turn of a function, and makes that function tell so. */
export class Turn {
  #depth = 0;

  get isOn(): boolean {
    return this.#depth > 0;
  }

  of<This, Args extends unknown[], Result>(
    real: (this: This, ...args: Args) => Result,
  ): (this: This, ...args: Args) => Result {
    const begin = (): number => ++this.#depth;
    const end = (): number => --this.#depth;
    return function (...args) {
      begin();
      try {
        return real.apply(this, args);
      } finally {
        end();
      }
    };
  }
}

/** The parts of the library that a simulation is made of. */
export interface Planted {
  readonly createLocks: typeof createLocks;
  readonly quorum: typeof quorum;
  readonly memory: typeof memory;
  readonly register: typeof register;
}

const SOURCE = join(import.meta.dirname, '..', '..', 'src');

type Exports = Readonly<Record<string, unknown>>;
type Classes = Readonly<Record<string, { readonly prototype?: object }>>;
/** The modules of a copy find here what they export instead of the real things. */
const REGISTRY = 'holdfast.planted';
const replacements = new Map<string, (real: Exports) => Exports>();
Object.assign(globalThis, { [REGISTRY]: replacements });

/** Imports a module of a copy. @param module its file below `src` */
type Load = <Module>(module: string) => Promise<Module>;

/** Gives the library with a bug, so that the sound one stays as it is. @param folder gets a copy of the sources */
export async function plant(faults: readonly Fault[], folder: string): Promise<Planted> {
  const load = await copyWith(faults, folder);
  const { createLocks } = await load<Planted>('locks.ts');
  const { quorum } = await load<Planted>('backends/quorum/index.ts');
  const { memory } = await load<Planted>('backends/memory.ts');
  const { register } = await load<Planted>('backends/register/index.ts');
  return { createLocks, quorum, memory, register };
}

/** Copies the sources, and plants faults in the copy. */
export async function copyWith(faults: readonly Fault[], folder: string): Promise<Load> {
  cpSync(SOURCE, folder, { recursive: true });
  const load: Load = (module) => import(/* @vite-ignore */ pathToFileURL(join(folder, module)).href);
  for (const [module, all] of Map.groupBy(faults, (fault) => fault.module)) {
    if (!existsSync(join(folder, module))) throw new Error(`src has no ${module}, in which a bug is to be planted`);
    const exported = all.filter(({ at }) => !at.includes('.'));
    if (exported.length > 0) replaceExports(exported, module, folder);
  }
  for (const fault of faults) if (fault.at.includes('.')) replaceMethod(fault, await load<Classes>(fault.module));
  return load;
}

/** Puts a module between the real one and all others, which exports what is planted. */
function replaceExports(faults: readonly Fault[], module: string, folder: string): void {
  const file = join(folder, module);
  const real = file.replace(/\.ts$/, '.real.ts');
  renameSync(file, real);
  replacements.set(file, (sound) => Object.fromEntries(faults.map((fault) => [fault.at, inPlaceOf(fault, sound)])));
  const from = JSON.stringify(`./${basename(real)}`);
  writeFileSync(
    file,
    [
      `import * as real from ${from};`,
      `export * from ${from};`,
      `const planted = globalThis[${JSON.stringify(REGISTRY)}].get(${JSON.stringify(file)})(real);`,
      ...faults.map(({ at }) => `export const ${at} = planted.${at};`),
    ].join('\n'),
  );
}

function inPlaceOf({ module, at, planted }: Fault, exports: Exports): unknown {
  if (!(at in exports)) throw new Error(`${module} exports no ${at}, which a planted bug replaces`);
  return planted(exports[at] as never);
}

function replaceMethod(
  { module, at, planted }: Fault,
  exports: Readonly<Record<string, { prototype?: object }>>,
): void {
  const [className, name] = at.split('.') as [string, string];
  const owners = [exports[className]?.prototype, exports[className]];
  const owner = owners.find((each) => each && Object.hasOwn(each, name));
  if (!owner) throw new Error(`${module} has no ${at}, which a planted bug replaces`);
  const { value, get, ...rest } = Object.getOwnPropertyDescriptor(owner, name)!;
  const faulty = planted((value ?? get) as never);
  Object.defineProperty(owner, name, value ? { ...rest, value: faulty } : { ...rest, get: faulty as () => unknown });
}
